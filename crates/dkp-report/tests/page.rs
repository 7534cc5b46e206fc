//! Pages as text: safe, the same every time, small, and there for any input.

mod samples;

use dkp_report::chart::{
    Axis, BarChart, Confusion, Content, Grid, HeatMap, Ink, LineChart, Mark, Panel, Plot, Series, Spacing,
};
use dkp_report::{ClassPrediction, Evaluation, Fact, LayerMatrix, Noise, NumberPrediction, Report, TracePoint, html};
use samples::Random;

/// Checks that every tag that is opened is closed, in order.
fn assert_balanced(markup: &str) {
    let mut open = Vec::new();
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or("");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name.to_string()), "before {}", rest.chars().take(80).collect::<String>());
        } else if !tag.ends_with('/') && !tag.starts_with('!') && name != "meta" {
            open.push(name.to_string());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(html(&samples::regression(300)), html(&samples::regression(300)));
}

#[test]
fn names_are_never_markup() {
    let evil = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>\"' onload=\"alert(1)";
    let text = || evil.to_string();
    let fact = || vec![Fact { label: text(), value: text(), explanation: text() }];
    for mut report in [samples::regression(5), samples::classification(5, &[evil, "b"]), samples::awkward()] {
        (report.title, report.model, report.data, report.task) = (text(), text(), text(), text());
        (report.summary, report.cross_validation) = (fact(), text());
        match report.evaluation.as_mut() {
            Some(
                Evaluation::Regression { target, metrics, .. } | Evaluation::Classification { target, metrics, .. },
            ) => {
                (*target, *metrics) = (text(), fact());
            }
            None => {}
        }
        report.layers.iter_mut().for_each(|l| (l.name, l.note) = (text(), text()));
        report.relevance = vec![(text(), 1.0)];
        report.settings = vec![(text(), text())];
        report.warnings = vec![text()];
        let page = html(&report);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("\" onload"));
        assert_balanced(&page);
    }
}

#[test]
fn a_page_loads_nothing() {
    let page = html(&samples::regression(2000)) + &html(&samples::classification(50, &["a", "b"]));
    for word in ["http:", "https:", "src=", "url(", "@import", "<script", "<link", "href=\"/"] {
        assert!(!page.contains(word), "{word}");
    }
    let references = page.split("href=\"").skip(1);
    assert!(references.into_iter().all(|r| r.starts_with('#') || r.starts_with("data:image/png;base64,")));
}

#[test]
fn large_reports_stay_small() {
    let mut report = samples::regression(10_000);
    let mut random = Random::new(5);
    report.layers = (0..20)
        .map(|i| LayerMatrix {
            name: format!("Layer {i}"),
            size: 400,
            gram: (0..160_000).map(|_| random.normal()).collect(),
            spectrum: (0..400).map(|_| random.even()).collect(),
            ..LayerMatrix::default()
        })
        .collect();
    report.trace =
        (0..100_000).map(|step| TracePoint { step, bound: random.normal(), ..TracePoint::default() }).collect();
    let size = html(&report).len();
    assert!(size < 2_000_000, "{size}");
    let many: Vec<String> = (0..300).map(|i| format!("class {i}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let size = html(&samples::classification(10_000, &many)).len();
    assert!(size < 2_000_000, "{size}");
}

#[test]
fn what_is_missing_is_left_out_with_a_reason() {
    let page = html(&Report::default());
    assert!(!page.contains("<svg"));
    for reason in ["No rows were held out", "No trace", "no weights of single features", "no learned Gram matrices"] {
        assert!(page.contains(reason), "{reason}");
    }
    assert_balanced(&page);
}

/// A number that charts must survive.
fn awkward(random: &mut Random) -> f64 {
    let values =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e308, -1e308, 1e300, 5e-324, -1.0, 0.5, 1.0, 1e9];
    values[(random.even() * values.len() as f64) as usize]
}

fn any_report(random: &mut Random) -> Report {
    let any = |random: &mut Random| (random.even() * 4.0) as usize;
    let a = awkward;
    let n = any(random);
    let evaluation = if random.even() < 0.5 {
        let mut point = || {
            let [observed, mean, sd, lower, upper, pit] = [(); 6].map(|()| a(random));
            NumberPrediction { observed, mean, sd, lower, upper, pit }
        };
        let points = (0..n).map(|_| point()).collect();
        let mut some = || (0..any(random)).map(|_| a(random)).collect::<Vec<f64>>();
        let (deviations, values) = (some(), some());
        let against = (random.even() < 0.5).then(|| ("column".to_string(), values));
        let noise = Some(Noise { deviations, against });
        Evaluation::Regression { target: String::new(), points, noise, metrics: vec![] }
    } else {
        let labels = vec!["x".to_string(); any(random)];
        let mut point = || {
            let probabilities = (0..any(random)).map(|_| a(random)).collect();
            ClassPrediction { observed: any(random), probabilities }
        };
        let points = (0..n).map(|_| point()).collect();
        Evaluation::Classification { target: String::new(), labels, points, metrics: vec![] }
    };
    let trace = (0..any(random)).map(|_| {
        let [bound, likelihood, input, output, rate] = [(); 5].map(|()| a(random));
        let layers = (0..any(random)).map(|_| a(random)).collect();
        TracePoint { step: usize::MAX * (any(random) / 3), bound, likelihood, input, layers, output, rate }
    });
    let trace = trace.collect();
    let layers = (0..any(random)).map(|_| LayerMatrix {
        delta: Some(a(random)),
        size: [0, 1, 2, usize::MAX][any(random)],
        gram: (0..[0, 1, 4, 3][any(random)]).map(|_| a(random)).collect(),
        spectrum: (0..any(random)).map(|_| a(random)).collect(),
        order: (0..any(random)).map(|_| any(random)).collect(),
        ..LayerMatrix::default()
    });
    let layers = layers.collect();
    let relevance = (0..any(random)).map(|_| ("feature".to_string(), a(random))).collect();
    Report { evaluation: Some(evaluation), trace, layers, relevance, ..Report::default() }
}

#[test]
fn any_numbers_give_a_page() {
    let mut random = Random::new(1);
    for _ in 0..3000 {
        let report = any_report(&mut random);
        let page = html(&report);
        assert_balanced(&page);
        assert!(!page.contains("NaN") && !page.contains("inf\"") && !page.contains("inf "), "{report:?}");
    }
}

#[test]
fn any_numbers_give_a_picture() {
    let mut random = Random::new(2);
    for round in 0..3000 {
        let n = round % 4;
        let mut pairs = || (0..n).map(|_| (awkward(&mut random), awkward(&mut random))).collect::<Vec<_>>();
        let series =
            vec![Series { name: "<&>".into(), points: pairs() }, Series { name: String::new(), points: pairs() }];
        let triples: Vec<(f64, f64, f64)> = pairs().into_iter().zip(pairs()).map(|(a, b)| (a.0, a.1, b.0)).collect();
        let (x, y) = (Axis::new("x").over(awkward(&mut random), awkward(&mut random)), Axis::new("y"));
        let y = y.spaced([Spacing::Linear, Spacing::Log, Spacing::Share, Spacing::Count][round / 4 % 4]);
        let (width, height) = (awkward(&mut random), awkward(&mut random));
        let lines = LineChart { x: x.clone(), y: y.clone(), series, width, height, ..LineChart::default() };
        let plot = Plot::new("all marks", x.clone(), y.clone())
            .with("a", Ink::Series(round), Mark::Band { points: triples.clone() })
            .with("b", Ink::Muted, Mark::Intervals { points: triples.clone(), width: 2.0 })
            .with("c", Ink::Muted, Mark::Bars { bars: triples.clone() })
            .with("d", Ink::Muted, Mark::Rule { from: (0.0, awkward(&mut random)), to: (1.0, 1.0) })
            .with("e", Ink::Muted, Mark::Points { points: vec![(awkward(&mut random), 1.0); 400 * n], radius: 2.0 });
        let values: Vec<f64> = triples.iter().map(|t| t.1).collect();
        let bars = BarChart { bars: values.iter().map(|v| ("bar".into(), *v)).collect(), ..BarChart::default() };
        let matrix = Content::Matrix { rows: 1, columns: n, values: values.clone() };
        let contents = vec![matrix, Content::Marks(plot.layers.clone())];
        let grid = Grid {
            panels: contents.into_iter().map(|content| Panel { title: "<&>".into(), content }).collect(),
            columns: [0, 1, 2, usize::MAX][n],
            value: x.clone(),
            headings: vec![("h".into(), n); n],
            rows: vec!["r\n<&>".into(); n],
            size: (width, height),
            x: x.clone(),
            y: y.clone(),
            ..Grid::default()
        };
        let nothing = Grid { panels: Vec::new(), ..grid.clone() };
        let heat = HeatMap { rows: 1, columns: n, values, x, y, ..HeatMap::default() };
        let huge = HeatMap { rows: usize::MAX, columns: usize::MAX, ..HeatMap::default() };
        let confusion = Confusion { labels: vec!["k".into(); n], counts: vec![round; n], ..Confusion::default() };
        let others = [bars.svg(), heat.svg(), huge.svg(), confusion.svg(), grid.svg(), nothing.svg()];
        for svg in [lines.svg(), plot.svg()].into_iter().chain(others) {
            assert_balanced(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("inf "), "{svg}");
        }
    }
}

#[test]
fn captions_state_what_was_measured() {
    let point = |i: usize| {
        let pit = if i < 20 { 0.02 } else { 0.5 };
        let observed = if i < 10 { 3.0 } else { 0.0 };
        NumberPrediction { observed, mean: 0.0, sd: 1.0, lower: -1.645, upper: 1.645, pit }
    };
    let points = (0..100).map(point).collect();
    let evaluation = Evaluation::Regression { target: "y".into(), points, noise: None, metrics: vec![] };
    let page = html(&Report { evaluation: Some(evaluation), ..Report::default() }).replace(['\u{202f}', '\u{a0}'], " ");
    assert!(page.contains("The 90 % interval held 80.0 % of 100 rows; chance allows 84.0 % to 95.0 %"));
    assert!(page.contains("90.0 % lie within ±2"));
    // all in two of ten bars: those two are too high, and the empty ones too low
    assert!(page.contains("10 of 10 bars lie outside the band"));

    let point = |i: usize| ClassPrediction { observed: usize::from(i < 3), probabilities: vec![0.8, 0.2] };
    let (labels, points) = (vec!["no".to_string(), "yes".to_string()], (0..10).map(point).collect());
    let evaluation = Evaluation::Classification { target: "y".into(), labels, points, metrics: vec![] };
    let page = html(&Report { evaluation: Some(evaluation), ..Report::default() }).replace(['\u{202f}', '\u{a0}'], " ");
    assert!(page.contains("70.0 % of 10 rows were right."));
    assert!(page.contains("<th scope=\"row\">no</th><td>7</td><td>100.0 %</td><td>70.0 %</td><td>80.0 %</td>"));
    assert!(page.contains("<th scope=\"row\">yes</th><td>3</td><td>0.0 %</td><td>–</td><td>20.0 %</td>"));
}

/// One noise is a sentence; noise that varies is a chart, against the column that is given, or else the predicted mean.
#[test]
fn noise_is_told_or_drawn() {
    let points: Vec<NumberPrediction> = (0..101)
        .map(|i| NumberPrediction { observed: 0.0, mean: f64::from(i), sd: 1.0, lower: -1.6, upper: 1.6, pit: 0.5 })
        .collect();
    let page = |deviations: Vec<f64>, against: Option<(String, Vec<f64>)>| {
        let noise = Some(Noise { deviations, against });
        let evaluation =
            Evaluation::Regression { target: "price".into(), points: points.clone(), noise, metrics: vec![] };
        html(&Report { evaluation: Some(evaluation), ..Report::default() }).replace(['\u{202f}', '\u{a0}'], " ")
    };
    let charts = |page: &str| page.matches("<svg class").count();
    let one = page(vec![0.25; 101], None);
    assert!(one.contains("Noise is the scatter of price that these columns do not explain"), "{one}");
    assert!(one.contains("Its standard deviation is 0.25 for every row."));

    let varying: Vec<f64> = (0..101).map(|i| 1.0 + f64::from(i)).collect();
    let against_mean = page(varying.clone(), None);
    assert!(against_mean.contains("lies between 6 and 96 for the middle 90 % of rows."));
    let column: Vec<f64> = (0..101).map(|i| f64::from(2 * i)).collect();
    let against_column = page(varying, Some(("a <b>".into(), column)));
    assert!(
        against_column.contains("of the columns of numbers it goes with a &lt;b&gt; most closely. Each dot is a row.")
    );
    assert_eq!(charts(&against_mean), charts(&one) + 1);
    assert_eq!(charts(&against_column), charts(&one) + 1);
    assert_balanced(&against_column);
}
