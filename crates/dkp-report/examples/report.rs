//! Writes reports about made-up models: `cargo run -p dkp-report --example report -- folder`.

#[path = "../tests/samples/mod.rs"]
mod samples;

use dkp_report::chart::{Axis, HeatMap, LineChart, Series};
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_string()));
    std::fs::create_dir_all(&folder)?;
    let kinds = ["float-processed window", "window", "container", "tableware", "headlamp", "vehicle"];
    let pages = [
        ("regression.html", dkp_report::html(&samples::regression(103))),
        ("regression-large.html", dkp_report::html(&samples::regression(10_000))),
        ("classification.html", dkp_report::html(&samples::classification(643, &kinds))),
        ("awkward.html", dkp_report::html(&samples::awkward())),
        ("empty.html", dkp_report::html(&dkp_report::Report::default())),
        ("prior.svg", prior().svg()),
        ("kernel.svg", kernel().svg()),
    ];
    for (name, content) in pages {
        std::fs::write(folder.join(name), &content)?;
        println!("{name}: {} kB", content.len() / 1000);
    }
    Ok(())
}

/// Sums of random waves, as if drawn from a prior.
fn prior() -> LineChart {
    let mut random = samples::Random::new(3);
    let mut draw = || {
        let waves: Vec<(f64, f64, f64)> =
            (0..8).map(|_| (random.normal(), 1.5 * random.normal(), 6.3 * random.even())).collect();
        let f = |x: f64| waves.iter().map(|(a, w, p)| a * (w * x + p).sin()).sum::<f64>() / 2.0;
        Series { name: String::new(), points: (-200..=200).map(|i| f64::from(i) / 50.0).map(|x| (x, f(x))).collect() }
    };
    LineChart {
        title: "Functions drawn from the prior".into(),
        x: Axis::new("x"),
        y: Axis::new("f(x)"),
        series: (0..6).map(|_| draw()).collect(),
        ..LineChart::default()
    }
}

fn kernel() -> HeatMap {
    let place = |i: usize| i as f64 / 20.0 - 4.0;
    let cells = (0..161).flat_map(|j| (0..161).map(move |i| (i, j)));
    HeatMap {
        title: "A squared exponential kernel".into(),
        rows: 161,
        columns: 161,
        values: cells.map(|(i, j)| (-(place(i) - place(j)).powi(2) / 2.0).exp()).collect(),
        x: Axis::new("x").over(-4.0, 4.0),
        y: Axis::new("x′").over(-4.0, 4.0),
        value: "k(x, x′)".into(),
        ..HeatMap::default()
    }
}
