//! Pages as text: safe, the same every time, small, and there for any input.

mod samples;

use dkp_report::chart::{
    Axis, BarChart, Confusion, Content, Grid, HeatMap, Ink, LineChart, Mark, Panel, Plot, Series, Spacing,
};
use dkp_report::{
    ClassPrediction, Curve, Effect, Evaluation, Explanation, Fact, LayerMatrix, Noise, NumberPrediction, Pair, Place,
    Report, Surprise, TracePoint, html,
};
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
        for evaluation in &mut report.evaluations {
            let (Evaluation::Regression { target, metrics, .. } | Evaluation::Classification { target, metrics, .. }) =
                evaluation;
            (*target, *metrics) = (text(), fact());
        }
        report.layers.iter_mut().for_each(|l| (l.name, l.note) = (text(), text()));
        let explanation = &mut report.explanations[0];
        explanation.target = text();
        explanation.effects.iter_mut().for_each(|e| e.column = text());
        explanation.effects.iter_mut().flat_map(|e| &mut e.curves).for_each(|c| c.class = text());
        explanation.effects.iter_mut().flat_map(|e| &mut e.at).for_each(|p| {
            if let Place::Level(level) = p {
                *level = text();
            }
        });
        explanation.pair.iter_mut().flat_map(|p| &mut p.columns).for_each(|c| c.0 = text());
        for surprise in &mut explanation.surprises {
            (surprise.id, surprise.values) = (vec![(text(), text())], vec![(text(), Place::Level(text()))]);
        }
        // several targets
        report.explanations.push(report.explanations[0].clone());
        report.evaluations.push(report.evaluations[0].clone());
        report.relevance = vec![(text(), 1.0)];
        report.settings = vec![(text(), text())];
        report.warnings = vec![text()];
        let page = html(&report);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("\" onload"));
        assert_balanced(&page);
        assert_eq!(page.matches("<h3 class=\"target\">&lt;/title").count(), 6);
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
    let explanation = any_explanation(random);
    Report {
        evaluations: vec![evaluation],
        trace,
        layers,
        relevance,
        explanations: vec![explanation],
        ..Report::default()
    }
}

fn any_explanation(random: &mut Random) -> Explanation {
    let any = |random: &mut Random| (random.even() * 4.0) as usize;
    let place = |random: &mut Random| match any(random) {
        0 => Place::Number(awkward(random)),
        1 => Place::Date(awkward(random)),
        2 => Place::Clock(awkward(random)),
        _ => Place::Level("level".into()),
    };
    // places of one kind, rising, as often as of any
    let places = |random: &mut Random| match any(random) {
        0 => samples::places(any(random)).0,
        n => (0..n).map(|_| place(random)).collect(),
    };
    let numbers = |random: &mut Random, n: usize| (0..n).map(|_| awkward(random)).collect::<Vec<f64>>();
    let effect = |random: &mut Random| {
        let at = places(random);
        let length = if random.even() < 0.9 { at.len() } else { any(random) };
        let band = if random.even() < 0.5 { 0 } else { length };
        let curve = |random: &mut Random| Curve {
            class: ["", "class"][any(random) / 2].into(),
            mean: numbers(random, length),
            model: numbers(random, band),
            total: numbers(random, band),
        };
        let curves = (0..any(random)).map(|_| curve(random)).collect();
        Effect { column: "column".into(), at, rows: vec![any(random); any(random)], curves }
    };
    let columns = [(); 2].map(|()| ("column".to_string(), places(random)));
    let cells = columns[0].1.len() * columns[1].1.len();
    let pair = Pair {
        columns,
        class: String::new(),
        mean: numbers(random, cells),
        rows: vec![any(random); if random.even() < 0.5 { cells } else { 1 }],
        share: awkward(random),
    };
    let surprise = |random: &mut Random| Surprise {
        point: any(random),
        log_density: awkward(random),
        values: vec![("column".into(), place(random))],
        ..Surprise::default()
    };
    Explanation {
        target: String::new(),
        effects: (0..any(random)).map(|_| effect(random)).collect(),
        pair: Some(pair),
        surprises: (0..any(random)).map(|_| surprise(random)).collect(),
    }
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
    let page =
        html(&Report { evaluations: vec![evaluation], ..Report::default() }).replace(['\u{202f}', '\u{a0}'], " ");
    assert!(page.contains("The 90 % interval held 80.0 % of 100 rows; there the band goes from 81.0 % to 97.0 %."));
    assert!(page.contains("90.0 % lie within ±2"));
    // all in two of ten bars: those two are too high, and the empty ones too low
    assert!(page.contains("10 of 10 bars lie outside the band"));

    let point = |i: usize| ClassPrediction { observed: usize::from(i < 3), probabilities: vec![0.8, 0.2] };
    let (labels, points) = (vec!["no".to_string(), "yes".to_string()], (0..10).map(point).collect());
    let evaluation = Evaluation::Classification { target: "y".into(), labels, points, metrics: vec![] };
    let page =
        html(&Report { evaluations: vec![evaluation], ..Report::default() }).replace(['\u{202f}', '\u{a0}'], " ");
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
        html(&Report { evaluations: vec![evaluation], ..Report::default() }).replace(['\u{202f}', '\u{a0}'], " ")
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

/// A page about numbers whose observations lie where `pit` says in normal predictions of deviation 1, at means from 0 to 1.
fn page_of_numbers(rows: usize, pit: impl Fn(f64, f64) -> f64) -> String {
    let mut random = Random::new(3);
    let mut point = || {
        let (mean, u) = (random.even(), random.even());
        let pit = pit(u, mean);
        // the logistic distribution is near enough to the normal
        let observed = mean + 0.5513 * (pit / (1.0 - pit)).ln();
        NumberPrediction { observed, mean, sd: 1.0, lower: mean - 1.645, upper: mean + 1.645, pit }
    };
    let points = (0..rows).map(|_| point()).collect();
    let evaluation = Evaluation::Regression { target: "y".into(), points, noise: None, metrics: vec![] };
    html(&Report { evaluations: vec![evaluation], ..Report::default() })
}

fn assert_titles(page: &str, titles: &[&str]) {
    for title in titles {
        assert!(
            page.contains(&format!("<h3>{title}")),
            "{title}: {:?}",
            page.split("<h3>").map(|h| h.split('<').next()).collect::<Vec<_>>()
        );
    }
}

/// Titles praise a model of numbers only where its rows bear that out, and say what is wrong where they do.
#[test]
fn titles_of_numbers_are_borne_out() {
    assert_titles(
        &page_of_numbers(400, |u, _| u),
        &[
            "Within the band: its uncertainty is right",
            "Level bars: neither too sure nor",
            "Even scatter: nothing left",
        ],
    );
    assert_titles(
        &page_of_numbers(60, |u, _| u),
        &["Within the band, as far as so few", "Level bars, as far as so few", "No pattern, as far as so few"],
    );
    // observations far out, in the middle, low, or otherwise spread
    let ends = |u: f64| if u < 0.5 { 2.0 * u * u } else { 1.0 - 2.0 * (1.0 - u) * (1.0 - u) };
    assert_titles(&page_of_numbers(400, |u, _| ends(u)), &["Below the band: it is surer", "High ends: it is surer"]);
    let middle = |u: f64| 0.5 + 0.5 * (u - 0.5);
    assert_titles(
        &page_of_numbers(400, |u, _| middle(u)),
        &["Above the band: it is less", "A high middle: it is less"],
    );
    assert_titles(&page_of_numbers(400, |u, _| u * u), &["High on the left: it predicts too much"]);
    assert_titles(&page_of_numbers(400, |u, _| u.sqrt()), &["High on the right: it predicts too little"]);
    // errors that go with the prediction, and sizes that do
    assert_titles(&page_of_numbers(400, |u, m| 0.8 * u + 0.2 * m), &["Uneven: high predictions err"]);
    assert_titles(&page_of_numbers(400, |u, m| 0.5 + (u - 0.5) * m), &["A funnel: how sure it is"]);
}

/// The first title says how much of the differences between rows is predicted: 1 − 1/100 here, and nothing.
#[test]
fn the_first_title_says_how_much_is_predicted() {
    let page = |error: f64| {
        let point = |i: usize| {
            let observed = f64::from(i as u32 % 2) * 2.0 - 1.0;
            let mean = observed * (1.0 - error);
            NumberPrediction { observed, mean, sd: 1.0, lower: -1.0, upper: 1.0, pit: 0.5 }
        };
        let points = (0..100).map(point).collect();
        let evaluation = Evaluation::Regression { target: "y".into(), points, noise: None, metrics: vec![] };
        html(&Report { evaluations: vec![evaluation], ..Report::default() })
    };
    assert_titles(&page(0.1), &["Near the dashed line: 99\u{202f}% explained"]);
    assert_titles(&page(0.7), &["Around the dashed line: 51\u{202f}% explained"]);
    assert_titles(&page(1.0), &["No nearer to the dashed line than the average is"]);
}

/// A page about two classes, of which the first has probabilities evenly over 0 to 1 and is there as often as `chance` says.
fn page_of_classes(rows: usize, chance: impl Fn(f64) -> f64) -> String {
    let mut random = Random::new(4);
    let mut point = || {
        let p = random.even();
        let observed = usize::from(random.even() > chance(p));
        ClassPrediction { observed, probabilities: vec![p, 1.0 - p] }
    };
    let (labels, points) = (vec!["no".to_string(), "yes".to_string()], (0..rows).map(|_| point()).collect());
    let evaluation = Evaluation::Classification { target: "y".into(), labels, points, metrics: vec![] };
    html(&Report { evaluations: vec![evaluation], ..Report::default() })
}

#[test]
fn titles_of_classes_are_borne_out() {
    let frequent = "Each class is as frequent as it was said to be";
    assert_titles(&page_of_classes(2000, |p| p), &["Dots within bars: its probabilities are right", frequent]);
    assert_titles(
        &page_of_classes(60, |p| p),
        &["Dots within bars, as far as so few", "Frequencies as stated, as far as so few"],
    );
    // less sure of both classes, surer of both, and too seldom the first
    assert_titles(&page_of_classes(2000, |p| 0.5 + 0.5 * (p - 0.5)), &["Dots below bars: it is surer", frequent]);
    let surer = |p: f64| if p < 0.5 { 0.0 } else { 1.0 };
    assert_titles(&page_of_classes(2000, surer), &["Dots above bars: it is less sure", frequent]);
    assert_titles(&page_of_classes(2000, |p| p * p), &["Dots outside bars: classes that are said"]);
}

/// Curves say which way they go, unless the model does not know; texts are one below the other, dates on an axis of dates.
#[test]
fn effects_say_what_the_model_learned() {
    let effect = |kind: usize, mean: fn(f64) -> f64, doubt: f64| {
        let (at, rows) = samples::places(kind);
        let n = at.len();
        let mean = (0..n).map(|i| mean(i as f64 / (n - 1) as f64)).collect();
        let curve = Curve { mean, model: vec![doubt; n], total: vec![2.0 * doubt; n], ..Curve::default() };
        Effect { column: "age".into(), at, rows, curves: vec![curve] }
    };
    let page = |effect: Effect| {
        let explanation = Explanation { target: "price".into(), effects: vec![effect], ..Explanation::default() };
        html(&Report { explanations: vec![explanation], ..Report::default() })
    };
    let rising = page(effect(0, |x| 3.0 + x, 0.1));
    assert_titles(&rising, &["age: price rises with it"]);
    assert!(rising.contains("Mean from 3 at 0 to 4 at 47.5."));
    assert_titles(&page(effect(0, |x| 3.0 - x, 0.1)), &["age: price falls with it"]);
    assert_titles(&page(effect(0, |x| (6.0 * x).sin(), 0.1)), &["age: price rises and falls"]);
    assert_titles(&page(effect(0, |x| 3.0 + x, 0.6)), &["age: price hardly goes with it on average"]);
    let towns = page(effect(2, |x| 3.0 + x, 0.1));
    assert_titles(&towns, &["age: price is highest for Rye"]);
    assert!(towns.contains(">Leeds · 51\u{202f}%<") && towns.contains(">Rye · 1\u{202f}%<"), "{towns}");
    let dates = page(effect(1, |x| x, 0.1));
    assert!(dates.contains(">2023<") && dates.contains("Mean from 0 at 2022-01-08 to 1 at "), "{dates}");
    assert!(page(effect(3, |x| x, 0.1)).contains(">12:00<"));
    assert!(!html(&Report::default()).contains("training rows lie"));
}

/// A pair that is more than a sum works together; another does not, whatever its colours.
#[test]
fn a_pair_says_how_much_it_does_together() {
    let page = |share: f64| {
        let columns = [("age".to_string(), samples::places(0).0), ("town".to_string(), samples::places(2).0)];
        let pair = Pair { mean: vec![1.0; 80], rows: vec![2; 80], columns, class: String::new(), share };
        html(&Report {
            explanations: vec![Explanation { pair: Some(pair), ..Explanation::default() }],
            ..Report::default()
        })
    };
    let strong = page(0.31);
    assert_titles(&strong, &["age and town work together"]);
    assert!(strong.contains("31.0\u{202f}% of what both do together") && strong.matches("<circle").count() == 80);
    assert_titles(&page(0.02), &["age and town: even this pair hardly works together"]);
}

/// What was, what was predicted and how far out it lies, with what names the row and its values.
#[test]
fn surprising_rows_are_told() {
    let point = NumberPrediction { observed: 50.0, mean: 20.0, sd: 5.0, lower: 12.0, upper: 28.0, pit: 0.9995 };
    let surprise = Surprise {
        point: 0,
        row: Some(381),
        id: vec![("house".into(), "H-7 <b>".into())],
        log_density: -9.0,
        values: vec![("rooms".into(), Place::Number(4.97)), ("sold".into(), Place::Date(19_797.0))],
    };
    let explanation = Explanation { surprises: vec![surprise.clone()], ..Explanation::default() };
    let numbers = Evaluation::Regression { target: "price".into(), points: vec![point], noise: None, metrics: vec![] };
    let page = |evaluation: Evaluation| {
        let report =
            Report { evaluations: vec![evaluation], explanations: vec![explanation.clone()], ..Report::default() };
        html(&report).replace(['\u{202f}', '\u{a0}'], " ")
    };
    let expected = "<th scope=\"rowgroup\">H-7 &lt;b&gt;<br/>row 381</th><td>50</td><td>20 (12 to 28)</td><td>one row in 1000</td></tr>\
                    <tr><td colspan=\"4\">rooms <b>4.97</b>, sold <b>2024-03-15</b></td></tr>";
    let told = page(numbers);
    assert!(told.contains(expected), "{told}");
    let point = ClassPrediction { observed: 1, probabilities: vec![0.98, 0.02] };
    let labels = vec!["no".to_string(), "yes".to_string()];
    let told = page(Evaluation::Classification { target: "y".into(), labels, points: vec![point], metrics: vec![] });
    assert!(told.contains("<td>yes</td><td>no (98.0 %)</td><td>2.0 %</td>"), "{told}");
    assert!(!page_of_numbers(60, |u, _| u).contains("id=\"surprises\""));
}

/// A bound that rises to the end, one that does not, and one that scatters; spectra that fall steeply and slowly.
#[test]
fn titles_of_training_and_layers_are_borne_out() {
    let mut random = Random::new(6);
    let mut page = |rise: f64, scatter: f64, fall: f64| {
        let bound = |i: usize, random: &mut Random| rise * i as f64 / 400.0 + scatter * random.normal();
        let trace = (0..400).map(|step| TracePoint { step, bound: bound(step, &mut random), ..TracePoint::default() });
        let trace = trace.collect();
        let spectrum = (0..40).map(|i| (-fall * f64::from(i)).exp()).collect();
        let layers = vec![LayerMatrix { spectrum, ..LayerMatrix::default() }];
        html(&Report { trace, layers, ..Report::default() })
    };
    assert_titles(&page(1.0, 0.02, 1.0), &["The bound still rises", "A steep fall: few directions"]);
    assert_titles(&page(0.05, 0.01, 0.01), &["The bound has levelled off", "Many directions carry"]);
    assert_titles(&page(0.2, 0.5, 0.01), &["The bound has levelled off"]);
    let short = (0..20).map(|step| TracePoint { step, bound: step as f64, ..TracePoint::default() }).collect();
    assert_titles(&html(&Report { trace: short, ..Report::default() }), &["The bound should level off"]);
}
