//! The page about several models: safe, small, and there for any input.

use dkp_report::chart::{Axis, IntervalChart};
use dkp_report::{Better, Comparison, Contender, Measure, comparison_html};

fn comparison(models: usize, name: &str, values: &[f64]) -> Comparison {
    let contender = |_| Contender { name: name.into(), description: name.into(), rows_trained: 100 };
    let measure = |better| Measure {
        name: name.into(),
        explanation: name.into(),
        better,
        values: vec![name.into(); models],
        differences: (1..models)
            .map(|i| Some((values[i % values.len()], values[(i + 1) % values.len()].abs())))
            .collect(),
    };
    Comparison {
        title: name.into(),
        data: name.into(),
        task: name.into(),
        rows: 50,
        left_out: name.into(),
        models: (0..models).map(contender).collect(),
        measures: [Some(Better::Higher), Some(Better::Lower), None].map(measure).into(),
        warnings: vec![name.into()],
    }
}

#[test]
fn names_are_never_markup_and_nothing_is_loaded() {
    let evil = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>\"' onload=\"alert(1)";
    let page = comparison_html(&comparison(3, evil, &[0.1, 0.2]));
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("\" onload"));
    let plain = comparison_html(&comparison(3, "a.dkp", &[0.1, 0.2]));
    for word in ["http:", "https:", "src=", "url(", "@import", "<script", "<link"] {
        assert!(!plain.contains(word), "{word}");
    }
    assert_eq!(plain, comparison_html(&comparison(3, "a.dkp", &[0.1, 0.2])));
    // what has no better side is in the table and not drawn
    assert_eq!(plain.matches("<svg").count(), 2);
    assert!(plain.contains("a.dkp: better on the right") && plain.contains("a.dkp: better on the left"));
}

#[test]
fn nothing_is_too_odd_to_be_shown() {
    let odd = [f64::NAN, f64::INFINITY, -1e308, 1e308, 0.0, 5e-324, 1.0];
    for models in [0, 1, 2, 40] {
        let page = comparison_html(&comparison(models, "m", &odd));
        assert!(page.ends_with("</html>\n") && !page.contains("=\"NaN") && page.len() < 200_000);
    }
    assert!(comparison_html(&Comparison::default()).contains("No models were given."));
}

/// A dot lies where its value is between the ticks, on a line from end to end.
#[test]
fn intervals_lie_where_their_values_are() {
    let rows = vec![("a".to_string(), 0.5, 0.25, 0.75)];
    let svg = IntervalChart { x: Axis::new("x").over(0.0, 1.0), rows, ..IntervalChart::default() }.inline();
    let number = |after: &str, ends: &[char]| -> f64 {
        let text = svg.split(after).nth(1).unwrap();
        text[..text.find(ends).unwrap()].parse().unwrap()
    };
    let dot = number("cx=\"", &['"']);
    let (low, high) = (number("stroke-width=\"2\" d=\"M", &[' ']), number("H", &['"']));
    assert!((dot - 0.5 * (low + high)).abs() < 0.11 && low < dot, "{low} {dot} {high}");
    // the line is half of the axis, which 0 begins
    let zero = number("stroke-dasharray=\"4 3\" d=\"M", &[' ']);
    assert!((dot - zero - (high - low)).abs() < 0.21, "{zero} {low} {dot} {high}");
}
