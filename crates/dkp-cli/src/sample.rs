//! `dkp sample`: functions and Gram matrices drawn from the prior of any model.

use crate::failure::{of_table, run_failed};
use anyhow::{Context as _, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use dkp::Registry;
use dkp::file::write_atomically;
use dkp::model::{Prior, PriorDraw, PriorFamily, PriorKernel};
use dkp_report::chart::{Axis, HeatMap, LineChart, Series};
use dkp_table::{Column, Format, Frame, Kind, Writer};
use dkp_tape::random::Key;
use faer::Mat;
use std::path::{Path, PathBuf};

/// Draw from the prior of a model, on a line of inputs.
///
/// Writes a picture (.svg) or a table (.csv, .jsonl, .parquet, .npy, .npz).
///
///     dkp sample --family diwp --layers 2 --delta 5 --out functions.svg
///     dkp sample --family bnn --width 20 --what gram --out gram.npy
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The family.
    #[arg(long, value_parser = priors(), default_value = dkp_fit::FAMILY)]
    family: String,
    /// What to write: functions, or the last layer's Gram matrix.
    #[arg(long, value_enum, default_value_t = What::Functions)]
    what: What,
    /// Hidden layers.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=50))]
    layers: u64,
    /// The kernel of every layer; bnn has its own.
    #[arg(long, value_name = "KERNEL", default_value = dkp_fit::KERNEL)]
    kernel: String,
    /// The kernel's parameters, in its order [default: 1 each].
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    parameters: Vec<f64>,
    /// δ of inverse-Wishart layers.
    #[arg(long, value_name = "δ", default_value_t = PriorFamily::DELTA)]
    delta: f64,
    /// Width of finite layers.
    #[arg(long, value_name = "N", default_value_t = PriorFamily::WIDTH)]
    width: usize,
    /// How many functions.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    functions: u64,
    /// Inputs on the line.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=5000))]
    points: u64,
    /// Where the line begins and ends.
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 2, default_values_t = [-3.0, 3.0], allow_negative_numbers = true)]
    range: Vec<f64>,
    /// The seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Where it goes; its ending says the format.
    #[arg(long, value_name = "FILE", default_value = "sample.svg")]
    out: PathBuf,
    /// Says nothing but errors.
    #[arg(long)]
    quiet: bool,
}

/// The names of families, with what they are.
fn priors() -> PossibleValuesParser {
    let value = |p: &PriorFamily| PossibleValue::new(p.name).help(p.title);
    PossibleValuesParser::new(Registry::default().priors().iter().map(value).collect::<Vec<_>>())
}

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Functions, all from one draw of the Gram matrices.
    Functions,
    /// The Gram matrix after the last hidden layer.
    Gram,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    let [from, to] = *a.range.as_slice() else { bail!("--range: expected two numbers") };
    if !(from < to && from.is_finite() && to.is_finite()) {
        bail!("--range {from},{to}: expected two numbers, the smaller first");
    }
    let count = a.points as usize;
    let place = |j: usize| from + (to - from) * j as f64 / (count - 1) as f64;
    // a second feature that is constant: kernels of networks need a bias
    let x = Mat::from_fn(2, count, |i, j| if i == 0 { place(j) } else { 1.0 });
    let draw = prior(a)?.draw(x.as_ref(), a.functions as usize, Key::new(a.seed))?;
    let places: Vec<f64> = (0..count).map(place).collect();
    if a.out.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg")) {
        let picture = match a.what {
            What::Functions => functions(&draw, &places),
            What::Gram => gram(&draw, from, to),
        };
        let named = || format!("--out {}", a.out.display());
        write_atomically(&a.out, picture.as_bytes()).with_context(named).map_err(run_failed)?;
    } else {
        table(a, &draw, &places)?;
    }
    if !a.quiet {
        eprintln!("sample written to {}", a.out.display());
    }
    Ok(())
}

fn prior(a: &Arguments) -> anyhow::Result<Prior> {
    let registry = Registry::default();
    let kernel = registry.kernel(&a.kernel).context("--kernel")?;
    let parameters = if a.parameters.is_empty() { vec![1.0; kernel.parameters().len()] } else { a.parameters.clone() };
    let family = registry.priors().iter().find(|p| p.name == a.family).context("--family")?;
    Ok((family.prior)(PriorKernel::of(kernel, &parameters), a.layers as usize, a.delta, a.width))
}

fn functions(draw: &PriorDraw, places: &[f64]) -> String {
    let series = draw
        .functions
        .col_iter()
        .map(|f| Series { name: String::new(), points: places.iter().copied().zip(f.iter().copied()).collect() });
    LineChart {
        title: "Functions drawn from the prior".to_string(),
        x: Axis::new("x"),
        y: Axis::new("f(x)"),
        series: series.collect(),
        ..LineChart::default()
    }
    .svg()
}

/// The Gram matrix after the last hidden layer.
fn last(draw: &PriorDraw) -> Mat<f64> {
    draw.grams.last().cloned().unwrap_or_else(Mat::new)
}

fn gram(draw: &PriorDraw, from: f64, to: f64) -> String {
    let gram = last(draw);
    HeatMap {
        title: "A Gram matrix drawn from the prior".to_string(),
        rows: gram.nrows(),
        columns: gram.ncols(),
        values: gram.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect(),
        x: Axis::new("x").over(from, to),
        y: Axis::new("x′").over(from, to),
        value: "G(x, x′)".to_string(),
        ..HeatMap::default()
    }
    .svg()
}

fn table(a: &Arguments, draw: &PriorDraw, places: &[f64]) -> anyhow::Result<()> {
    let matrix = if a.what == What::Functions { draw.functions.clone() } else { last(draw) };
    let letter = if a.what == What::Functions { "f" } else { "g" };
    let x = (a.what == What::Functions).then(|| ("x".to_string(), Column::Numbers(places.to_vec())));
    let own = matrix
        .col_iter()
        .enumerate()
        .map(|(j, c)| (format!("{letter}{j}"), Column::Numbers(c.iter().copied().collect())));
    let columns: Vec<(String, Column)> = x.into_iter().chain(own).collect();
    let kinds: Vec<(String, Kind)> = columns.iter().map(|c| (c.0.clone(), Kind::Number)).collect();
    let mut writer =
        Writer::create(Path::new(&a.out), Format::of_name(&a.out).context("--out")?, &kinds).map_err(of_table)?;
    writer.write(&Frame::new(0, columns)?).map_err(of_table)?;
    writer.finish().map_err(of_table)
}
