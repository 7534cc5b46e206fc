//! `dkp bench`: what a training step costs.

use crate::flags::families;
use crate::progress::peak_memory;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use dkp::data::Dataset;
use dkp::train::{TIGHTEN_EVERY, Trainer, initialise};
use dkp_fit::{Choices, Registry, Scaling, Settings};
use dkp_tape::random::{Key, fill_normal};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// How long steps are measured, after some that warm up.
const MEASURED: Duration = Duration::from_secs(4);
const WARM_UP: usize = 3;
/// Columns of the matrix product that steps are compared with.
const PRODUCT_COLUMNS: usize = 455;

/// Training steps on synthetic data of a known problem's shape.
#[derive(Args)]
pub struct Arguments {
    /// The problem whose shape the data have.
    #[arg(long, value_enum, default_value_t = Workload::Boston)]
    problem: Workload,
    /// The family of models.
    #[arg(long, value_parser = families(), default_value = dkp_fit::FAMILY)]
    family: String,
    /// The family's posterior [default: its first].
    #[arg(long, value_name = "NAME")]
    posterior: Option<String>,
    /// The kernel of every layer: sqexp, relu, matern32, …
    #[arg(long, default_value = dkp_fit::KERNEL)]
    kernel: String,
    /// Hidden layers: inverse-Wishart ones after the input's for diwp.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=50))]
    layers: u64,
    /// Inducing points.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..100_000))]
    m: u64,
    /// Posterior draws a step [default: the problem's].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..100_000))]
    s: Option<u64>,
    /// Points a step [default: the problem's].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..1_000_000_000))]
    b: Option<u64>,
    /// Threads [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..10_000))]
    threads: Option<u64>,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Workload {
    Boston,
    Kin8nm,
    Protein,
}

impl Workload {
    /// Points, features, draws and batch.
    fn shape(self) -> (usize, usize, usize, usize) {
        match self {
            Workload::Boston => (455, 13, 10, 455),
            Workload::Kin8nm => (7372, 8, 1, 1000),
            Workload::Protein => (41_157, 9, 1, 5000),
        }
    }
}

/// A name as it is typed.
fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |v| v.get_name().to_string())
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let threads = arguments.threads.map_or(0, |t| t as usize);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("starting threads")?;
    pool.install(|| measure(arguments))
}

fn measure(a: &Arguments) -> anyhow::Result<()> {
    let (points, features, draws, batch) = a.problem.shape();
    let b = a.b.map_or(batch, |b| b as usize);
    let threads = rayon::current_num_threads();
    let data = synthetic(points.max(b), features)?;
    let choices = Choices {
        family: Some(a.family.clone()),
        posterior: a.posterior.clone(),
        layers: Some(a.layers),
        kernel: vec![a.kernel.clone()],
        width: Some(features as u64),
        inducing: Some(a.m),
        draws: Some(a.s.unwrap_or(draws as u64)),
        batch: Some(b as u64),
        steps: Some(u64::MAX),
        start_steps: Some(0),
        ..Choices::default()
    };
    let registry = Registry::default();
    let settings =
        Settings::resolve(&choices, &registry, data.points(), features, Scaling::Own, "gaussian".to_string())?;
    let architecture = settings.architecture(&registry)?;
    let s = if architecture.is_deterministic() { 1 } else { settings.draws as usize };
    let (m, layers) = (settings.inducing as usize, a.layers);
    let flops = architecture.flops(features, m, b, s);
    let mut model = initialise(architecture, &data, settings.start())?;
    let mut trainer = Trainer::new(&mut model, &data, settings.train_options())?;
    for _ in 0..WARM_UP {
        trainer.step()?;
    }
    let (mut steps, begun) = (0, Instant::now());
    while begun.elapsed() < MEASURED {
        // steps that compute the gain of the tighter bound, and others, as many as there are on average
        for _ in 0..TIGHTEN_EVERY {
            trainer.step()?;
        }
        steps += TIGHTEN_EVERY;
    }
    let seconds = begun.elapsed().as_secs_f64() / steps as f64;
    let rate = flops / seconds;
    let fraction = rate / product_rate(m, threads);
    let (problem, family, kernel) = (name(a.problem), &a.family, &a.kernel);
    let (milliseconds, gflops, memory) = (1e3 * seconds, 1e-9 * rate, peak_memory());
    let mut out = std::io::stdout().lock();
    if a.json {
        let memory = memory.map_or("null".to_string(), |mb| format!("{mb:.1}"));
        writeln!(
            out,
            "{{\"problem\":\"{problem}\",\"family\":\"{family}\",\"kernel\":\"{kernel}\",\"layers\":{layers},\"m\":{m},\
             \"s\":{s},\"b\":{b},\"threads\":{threads},\"ms_per_step\":{milliseconds:.3},\"gflops\":{gflops:.2},\
             \"gemm_fraction\":{fraction:.3},\"peak_rss_mb\":{memory}}}"
        )?;
    } else {
        writeln!(out, "{:<34} {:>9} {:>8} {:>8} {:>8}", "one training step", "ms", "GFLOP/s", "of gemm", "peak MB")?;
        let what = format!("{problem} {family} {kernel} L{layers} M{m} S{s} B{b} T{threads}");
        let memory = memory.map_or("?".to_string(), |mb| format!("{mb:.0}"));
        writeln!(out, "{what:<34} {milliseconds:>9.2} {gflops:>8.1} {fraction:>8.2} {memory:>8}")?;
    }
    Ok(())
}

/// Features that are normal and a smooth function of them with noise, in unit scales.
fn synthetic(points: usize, features: usize) -> anyhow::Result<Dataset> {
    let mut x = vec![0.0; points * features];
    fill_normal(Key::new(1).stream(0, 0), features, |n| n as u64, &mut x);
    let mut noise = vec![0.0; points];
    fill_normal(Key::new(1).stream(0, 1), points, |_| 0, &mut noise);
    let value = |n: usize| x[n * features..(n + 1) * features].iter().sum::<f64>().sin() + 0.1 * noise[n];
    let y: Vec<f64> = (0..points).map(value).collect();
    let data = Dataset::new(
        MatRef::from_column_major_slice(&x, features, points),
        MatRef::from_column_major_slice(&y, 1, points),
    )?;
    let (sx, sy) = data.scales();
    Ok(data.scaled(&sx, &sy))
}

/// Floating-point operations a second of plain products M×M by M×455, one a thread, all at once.
fn product_rate(m: usize, threads: usize) -> f64 {
    let seconds: Vec<f64> = (0..threads)
        .into_par_iter()
        .with_max_len(1)
        .map(|_| {
            let (a, x) =
                (Mat::from_fn(m, m, |i, j| (i + j) as f64), Mat::from_fn(m, PRODUCT_COLUMNS, |i, j| (i * j) as f64));
            let mut y = Mat::zeros(m, PRODUCT_COLUMNS);
            let begun = Instant::now();
            let mut count = 0;
            while begun.elapsed() < Duration::from_millis(200) {
                matmul(y.as_mut(), Accum::Replace, a.as_ref(), x.as_ref(), 1.0, Par::Seq);
                count += 1;
            }
            begun.elapsed().as_secs_f64() / count as f64
        })
        .collect();
    seconds.iter().map(|t| 2.0 * (m * m * PRODUCT_COLUMNS) as f64 / t).sum()
}
