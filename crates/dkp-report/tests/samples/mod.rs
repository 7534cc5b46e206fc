//! Made-up reports that look like real ones.

use dkp_report::{
    ClassPrediction, Curve, Effect, Evaluation, Explanation, Fact, LayerMatrix, Noise, NumberPrediction, Pair, Place,
    Report, Surprise, TracePoint,
};

/// Even and normal numbers, the same on every machine (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn even(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal: the sum of twelve.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.even()).sum::<f64>() - 6.0
    }
}

fn fact(label: &str, value: &str, explanation: &str) -> Fact {
    Fact { label: label.into(), value: value.into(), explanation: explanation.into() }
}

/// The normal distribution function, to about 1e-4: enough for a picture.
fn normal_cdf(z: f64) -> f64 {
    1.0 / (1.0 + (-1.5976 * z - 0.070_566 * z.powi(3)).exp())
}

fn trace(steps: usize, random: &mut Random) -> Vec<TracePoint> {
    let point = |i: usize, random: &mut Random| {
        let t = i as f64 / steps as f64;
        let likelihood = -0.38 - 2.0 * (-9.0 * t).exp() - 900.0 * (-200.0 * t).exp() + 0.03 * random.normal();
        let input = -0.021 * (1.0 - (-6.0 * t).exp()) + 0.0015 * random.normal();
        let layers: Vec<f64> = [0.06, 0.031]
            .map(|w| -w * (1.0 - (-4.0 * t).exp()) - 0.2 * (-40.0 * t).exp() + 0.004 * random.normal())
            .into();
        let output = -0.09 * (1.0 - 0.6 * (-8.0 * t).exp()) + 0.002 * random.normal();
        let bound = likelihood + input + layers.iter().sum::<f64>() + output;
        let rate = 0.01 * (1.0 - t).max(0.02);
        TracePoint { step: 10 * i, bound, likelihood, input, layers, output, rate }
    };
    (0..steps).map(|i| point(i, random)).collect()
}

fn layer(name: &str, size: usize, delta: f64, width: f64, negative: bool, random: &mut Random) -> LayerMatrix {
    let place: Vec<f64> = (0..size).map(|_| (random.even() * 4.0).floor() + 0.6 * random.even()).collect();
    let entry = |a: f64, b: f64| {
        let near = (-(a - b).powi(2) / (2.0 * width * width)).exp();
        if negative { 1.3 * near * (1.4 * (a - b)).cos() } else { 0.9 * near + 0.1 }
    };
    let noise: Vec<f64> = (0..size).map(|_| 1.0 + 0.08 * random.normal()).collect();
    let cells = (0..size).flat_map(|j| (0..size).map(move |i| (i, j)));
    let gram = cells.map(|(i, j)| entry(place[i], place[j]) * noise[i] * noise[j]).collect();
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|a, b| place[*a].total_cmp(&place[*b]));
    let spectrum = (0..size).map(|i| size as f64 * 0.4 * (-0.23 * i as f64).exp() + 1e-4 * random.even()).collect();
    let note = "Mean of 100 posterior draws at the inducing points.".into();
    LayerMatrix { name: name.into(), delta: Some(delta), size, gram, spectrum, order, note }
}

/// A regression with so many rows held out.
pub fn regression(rows: usize) -> Report {
    let mut random = Random::new(7);
    let mut predict = || {
        let (x, z) = (random.even(), random.normal());
        let mean = 35.0 + 28.0 * (3.0 * x).sin() + 6.0 * random.normal();
        let sd = 3.0 + 4.0 * x;
        let observed = mean + sd * z;
        NumberPrediction { observed, mean, sd, lower: mean - 1.645 * sd, upper: mean + 1.645 * sd, pit: normal_cdf(z) }
    };
    let points: Vec<NumberPrediction> = (0..rows).map(|_| predict()).collect();
    let mean = |of: &dyn Fn(&NumberPrediction) -> f64| points.iter().map(of).sum::<f64>() / rows.max(1) as f64;
    let error = format!("{:.1} MPa", mean(&|p| (p.observed - p.mean).powi(2)).sqrt());
    let held = format!("{:.1} %", 100.0 * mean(&|p| f64::from(p.lower <= p.observed && p.observed <= p.upper)));
    let wide = format!("{:.1} MPa", mean(&|p| p.upper - p.lower));
    let names = ["cement", "age of the sample", "water", "blast furnace slag", "superplasticiser", "fly ash"];
    let mut relevance: Vec<(String, f64)> =
        names.iter().enumerate().map(|(i, n)| (n.to_string(), 1.4 * (-0.4 * i as f64).exp())).collect();
    relevance.extend((0..24).map(|i| (format!("sensor {i} / aggregate moisture"), 0.12 * (-0.1 * i as f64).exp())));
    let metrics = vec![
        fact("Typical error", &error, "On average a prediction is off by about this much."),
        fact("Log-likelihood", "−2.94 nats", "How much probability the model gave to what happened; higher is better."),
        fact("Coverage", &held, "So many true values fell into the 90 % intervals; close to 90 % is right."),
        fact("Interval width", &wide, "The 90 % intervals are so wide on average."),
    ];
    let summary = vec![
        fact("Explained variance", "0.91", "1 means perfect, 0 means no better than always saying the average."),
        fact("Typical error", &error, "On average a prediction is off by about this much."),
        fact("Is its doubt right?", "yes", &format!("Its 90 % intervals held {held} of the rows it had not seen.")),
        fact("Bound", "−0.58 nats", "Per row: what training raised. It compares models of the same data."),
    ];
    let noise = Noise {
        deviations: points.iter().map(|p| 0.9 * p.sd).collect(),
        against: Some(("age of the sample".into(), points.iter().map(|p| 12.0 * (p.sd - 3.0)).collect())),
    };
    let layers = vec![
        layer("Layer 1", 100, 12.4, 0.55, false, &mut random),
        layer("Layer 2", 100, 31.0, 1.1, true, &mut random),
    ];
    Report {
        title: "Strength of concrete".into(),
        model: "Deep inverse Wishart process, two hidden layers, squared exponential".into(),
        data: "concrete.csv".into(),
        task: "regression of strength".into(),
        rows_trained: 927,
        rows_held_out: rows,
        summary,
        trace: trace(800, &mut random),
        evaluations: vec![Evaluation::Regression {
            target: "strength (MPa)".into(),
            points,
            noise: Some(noise),
            metrics,
        }],
        layers,
        relevance,
        explanations: vec![explanation("strength (MPa)", &[], &names, rows)],
        cross_validation: String::new(),
        settings: settings(),
        warnings: vec!["Column “kiln” is constant in the training rows and was left out.".into()],
    }
}

/// Places of a column of one kind or another, and how many rows are there.
pub fn places(kind: usize) -> (Vec<Place>, Vec<usize>) {
    let towns = ["Leeds", "Stoke-on-Trent", "Newcastle upon Tyne", "Rye"];
    let at = |make: fn(f64) -> Place, unit: f64| (0..20).map(|i| make(unit * f64::from(i))).collect();
    match kind {
        0 => (at(Place::Number, 2.5), (0..30).map(|i| 30 - i).collect()),
        1 => (at(|v| Place::Date(19_000.0 + v), 73.0), vec![3; 30]),
        2 => (towns.map(|t| Place::Level(t.into())).into(), vec![40, 30, 7, 1]),
        _ => (at(Place::Clock, 0.05), (0..30).map(|i| i * i % 7).collect()),
    }
}

/// Effects of the first four columns, a pair, and up to two rows.
fn explanation(target: &str, classes: &[&str], columns: &[&str], rows: usize) -> Explanation {
    let effect = |(kind, column): (usize, &&str)| {
        let (at, rows) = places(kind);
        let wave = |i: usize, k: usize| (0.3 * i as f64 + k as f64).sin();
        let curve = |(k, class): (usize, &&str)| {
            let (middle, size) = if class.is_empty() { (35.0, 12.0) } else { (0.3, 0.2) };
            let band = |d: f64| if class.is_empty() { vec![d; at.len()] } else { Vec::new() };
            let mean = (0..at.len()).map(|i| middle + size * wave(i, k)).collect();
            Curve { class: class.to_string(), mean, model: band(2.0), total: band(6.0) }
        };
        let classes = if classes.is_empty() { &[""][..] } else { classes };
        let curves = classes.iter().enumerate().map(curve).collect();
        Effect { column: column.to_string(), at, rows, curves }
    };
    let of = |kind: usize| (columns[kind].to_string(), places(kind).0);
    let (first, second) = (of(2), of(0));
    let cells = first.1.len() * second.1.len();
    let pair = Pair {
        mean: (0..cells).map(|i| 30.0 + (0.2 * i as f64).cos()).collect(),
        rows: (0..cells).map(|i| i * i % 11).collect(),
        columns: [first, second],
        class: classes.first().map_or(String::new(), |c| c.to_string()),
        share: 0.23,
    };
    let surprise = |point: usize| Surprise {
        point,
        row: Some(40 + point),
        id: vec![("sample".into(), format!("S-{point}"))],
        log_density: -8.0 + point as f64,
        values: (0..4).map(|kind| (columns[kind].to_string(), places(kind).0[point].clone())).collect(),
    };
    let effects = columns.iter().take(4).enumerate().map(effect).collect();
    Explanation {
        target: target.into(),
        effects,
        pair: Some(pair),
        surprises: (0..rows.min(2)).map(surprise).collect(),
    }
}

fn settings() -> Vec<(String, String)> {
    let settings = [
        ("model", "diwp"),
        ("kernel", "squared exponential"),
        ("hidden layers", "2"),
        ("inducing points", "100"),
        ("likelihood", "Gaussian, noise floor 0.0001"),
        ("steps", "8000"),
        ("learning rate", "0.01, falling to 0.0002"),
        ("draws in training", "10"),
        ("seed", "1"),
    ];
    settings.map(|(a, b)| (a.to_string(), b.to_string())).into()
}

/// A classification with the given classes.
pub fn classification(rows: usize, labels: &[&str]) -> Report {
    let mut random = Random::new(11);
    let classes = labels.len();
    let mut predict = || {
        let truth = ((random.even() * random.even().sqrt()) * classes as f64) as usize;
        let sharp = 0.5 + 3.0 * random.even();
        let score = |k: usize, random: &mut Random| {
            let near = if k == truth {
                1.0
            } else if k.abs_diff(truth) == 1 {
                0.3
            } else {
                0.0
            };
            (sharp * (1.6 * near + 0.7 * random.normal())).exp()
        };
        let scores: Vec<f64> = (0..classes).map(|k| score(k, &mut random)).collect();
        let total: f64 = scores.iter().sum();
        ClassPrediction { observed: truth, probabilities: scores.iter().map(|s| s / total).collect() }
    };
    let points: Vec<ClassPrediction> = (0..rows).map(|_| predict()).collect();
    let best = |p: &ClassPrediction| (0..classes).max_by(|a, b| p.probabilities[*a].total_cmp(&p.probabilities[*b]));
    let right = points.iter().filter(|p| best(p) == Some(p.observed)).count();
    let accuracy = format!("{:.1} %", 100.0 * right as f64 / rows.max(1) as f64);
    let metrics = vec![
        fact("Accuracy", &accuracy, "So many of the rows it had not seen were given their true class."),
        fact("Log-likelihood", "−0.52 nats", "How much probability the model gave to what happened; higher is better."),
        fact("Calibration error", "2.1 %", "How far its probabilities are from how often it is right."),
    ];
    let summary = vec![
        fact("Accuracy", &accuracy, "So many of the rows it had not seen were given their true class."),
        fact("Always the commonest", "34.0 %", "What always naming the commonest class would reach."),
        fact("Bound", "−0.61 nats", "Per row: what training raised. It compares models of the same data."),
    ];
    Report {
        title: "Kinds of glass".into(),
        model: "Deep inverse Wishart process, one hidden layer, arc-cosine of order 1".into(),
        data: "glass.csv".into(),
        task: "classification of kind".into(),
        rows_trained: 4 * rows,
        rows_held_out: rows,
        summary,
        trace: trace(90, &mut random),
        evaluations: vec![Evaluation::Classification {
            target: "kind".into(),
            labels: labels.iter().map(|l| l.to_string()).collect(),
            points,
            metrics,
        }],
        layers: vec![
            layer("Input", 9, 4.0, 0.8, true, &mut random),
            layer("Layer 1", 60, 8.2, 0.7, false, &mut random),
        ],
        cross_validation: "Cross-validated: 5 folds at random.".to_string(),
        relevance: [("refractive index", 0.9), ("magnesium", 1.3), ("aluminium", 0.8), ("iron", 0.05), ("barium", 1.1)]
            .map(|(n, w)| (n.to_string(), w))
            .into(),
        explanations: vec![explanation(
            "kind",
            &labels[..classes.min(3)],
            &["magnesium", "cast", "maker", "hour"],
            rows,
        )],
        settings: settings(),
        warnings: Vec::new(),
    }
}

/// A classification with many classes, long names without spaces, markup in them, and numbers of all sizes.
pub fn awkward() -> Report {
    let long = "W".repeat(80);
    let labels: Vec<String> = (0..10).map(|i| format!("<b>{i}</b>{long}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let mut report = classification(10_000, &labels);
    for text in [&mut report.title, &mut report.model, &mut report.data, &mut report.task] {
        *text = format!("<script>alert(1)</script>{long}");
    }
    for (i, point) in report.trace.iter_mut().enumerate() {
        let wild = [f64::NAN, f64::INFINITY, -1e308, 1e-300][i % 4];
        (point.bound, point.likelihood, point.input) = (1e9 + 1e-3 * i as f64, wild, -1e7 * (i + 1) as f64);
        (point.output, point.rate) = (1e-9 * i as f64, 10_f64.powi(-(i as i32 % 12)));
    }
    report.relevance = (0..40).map(|i| (format!("{i}{long}"), 10_f64.powi(i - 20))).collect();
    report.relevance.push(("x".into(), f64::NAN));
    for layer in &mut report.layers {
        layer.gram.iter_mut().for_each(|v| *v *= -1.234_567e8);
        layer.spectrum = vec![1e-12, 3e250, f64::NAN, -1.0, 7.0];
        layer.note.push_str(&long);
    }
    let explanation = &mut report.explanations[0];
    explanation.target = long.clone();
    for effect in &mut explanation.effects {
        effect.column.push_str(&long);
        for curve in &mut effect.curves {
            curve.class.push_str(&long);
        }
    }
    for (name, at) in explanation.pair.iter_mut().flat_map(|p| &mut p.columns) {
        name.push_str(&long);
        at.iter_mut().for_each(|p| {
            if let Place::Level(text) = p {
                text.push_str(&long);
            }
        });
    }
    for (column, _) in explanation.surprises.iter_mut().flat_map(|s| &mut s.values) {
        column.push_str(&long);
    }
    report.warnings = vec![long.clone()];
    report.settings = vec![(long.clone(), long)];
    report
}
