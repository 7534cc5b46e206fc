//! Trains on the UCI splits and prints test log-likelihoods, one JSON object a split.
//!
//! `DKP_UCI=…/uci cargo run --release -p dkp --example uci -- --dataset yacht --family diwp --layers 2 --splits 0-4`

mod splits;

use dkp::data::Dataset;
use dkp::kernels::{Kernel, Matern32, Relu, SquaredExponential};
use dkp::likelihoods::Gaussian;
use dkp::model::Architecture;
use dkp::train::{Options, Schedule, Start, Trainer, initialise};
use dkp_tape::random::Key;
use faer::Mat;
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.len() % 2 == 1 {
        return Err("every flag takes a value: --dataset yacht --splits 0-4".into());
    }
    let flags: HashMap<&str, &str> =
        arguments.chunks(2).map(|c| (c[0].trim_start_matches("--"), c[1].as_str())).collect();
    let text = |name: &str, default: &str| flags.get(name).map_or(default.to_string(), |v| v.to_string());
    let number = |name: &str, default: f64| flags.get(name).map_or(Ok(default), |v| v.parse::<f64>());
    let (first, last) = text("splits", "0-4")
        .split_once('-')
        .map(|(a, b)| (a.parse::<usize>(), b.parse::<usize>()))
        .ok_or("splits: A-B")?;
    let kernel: Arc<dyn Kernel> = match text("kernel", "sqexp").as_str() {
        "relu" => Arc::new(Relu),
        "matern32" => Arc::new(Matern32),
        _ => Arc::new(SquaredExponential),
    };
    let (layers, steps) = (number("layers", 2.0)? as usize, number("steps", 8000.0)?);
    let mut all = Vec::new();
    for split in first?..=last? {
        let (train, test) = splits::load(&text("dataset", "yacht"), split)?;
        let (sx, sy) = train.scales();
        let (train, test) = (train.scaled(&sx, &sy), test.scaled(&sx, &sy));
        let likelihood = Arc::new(Gaussian::new(1));
        let architecture = match text("family", "diwp").as_str() {
            "nngp" => Architecture::nngp(kernel.clone(), layers, likelihood),
            "dgp" => Architecture::dgp(kernel.clone(), layers, train.features(), likelihood),
            _ => Architecture::diwp(kernel.clone(), layers, likelihood),
        };
        let seed = 100 * number("seed", 0.0)? as u64 + split as u64;
        let start = Start {
            inducing: number("m", 100.0)? as usize,
            delta: number("delta", 1000.0)?,
            gamma: number("gamma", 1e-3)?,
            input: [number("input-delta", 5.0)?, number("input-gamma", 500.0)?],
            warm_up: number("start-steps", steps)? as u64,
            seed,
        };
        let mut model = initialise(architecture, &train, start)?;
        let schedule = Schedule {
            rate: number("rate", 1e-2)?,
            warm_up: number("warm-up", 100.0)? as u64,
            decay_from: number("decay-from", 0.5)?,
            last: number("last", 1e-2)?,
        };
        let options = Options {
            steps: steps as u64,
            draws: number("s", 10.0)? as usize,
            schedule,
            kl_warm_up: number("kl-warm-up", 0.0)? as u64,
            seed,
            ..Options::default()
        };
        let begun = Instant::now();
        let every = (options.steps / number("lines", 8.0)? as u64).max(1);
        let (mut skipped, mut jitters, mut rollbacks) = (0, 0, 0);
        Trainer::new(&mut model, &train, options)?.run(|r| {
            skipped += u64::from(r.failure.is_some());
            rollbacks += u64::from(r.rolled_back);
            jitters += r.bound.as_ref().map_or(0, |b| b.jitter.count);
            if let Some(f) = &r.failure {
                eprintln!("step {}: {f}", r.step);
            }
            if let (0, Some(b)) = (r.step % every, &r.bound) {
                eprintln!(
                    "{:6} {:9.4} likelihood {:.4} input {:.4} layers {:.4?} output {:.4} δ {:.1?}",
                    r.step, b.total, b.likelihood, b.input, b.layers, b.output, r.deltas
                );
            }
            true
        })?;
        let seconds = begun.elapsed().as_secs_f64();
        let bound = model.bound(&train, number("bound-draws", 300.0)? as usize, Key::new(1000))?;
        let (log_likelihood, rmse) = evaluate(&mut model, &test, sy.deviation[0])?;
        let elbo = bound.total - sy.deviation[0].ln();
        println!(
            "{{\"split\":{split},\"log_likelihood\":{log_likelihood:.4},\"rmse\":{rmse:.4},\"elbo\":{elbo:.4},\"elbo_se\":{:.4},\"ms_per_step\":{:.2},\"skipped\":{skipped},\"rollbacks\":{rollbacks},\"jitters\":{jitters}}}",
            bound.standard_error,
            1e3 * seconds / options.steps as f64
        );
        all.push((log_likelihood, rmse, elbo));
    }
    let mean = |f: fn(&(f64, f64, f64)) -> f64| all.iter().map(f).sum::<f64>() / all.len() as f64;
    let error = |f: fn(&(f64, f64, f64)) -> f64, m: f64| {
        (all.iter().map(|a| (f(a) - m).powi(2)).sum::<f64>() / (all.len() as f64 - 1.0).max(1.0) / all.len() as f64)
            .sqrt()
    };
    let (ll, rmse, elbo) = (mean(|a| a.0), mean(|a| a.1), mean(|a| a.2));
    println!(
        "{{\"mean_log_likelihood\":{ll:.4},\"se\":{:.4},\"rmse\":{rmse:.4},\"elbo\":{elbo:.4},\"elbo_se\":{:.4}}}",
        error(|a| a.0, ll),
        error(|a| a.2, elbo)
    );
    Ok(())
}

/// Mean log-likelihood in the target's units, and root mean squared error, with 100 draws.
fn evaluate(model: &mut dkp::model::Model, test: &Dataset, deviation: f64) -> Result<(f64, f64), Box<dyn Error>> {
    let x = Mat::from_fn(test.features(), test.points(), |i, n| test.x(n)[i]);
    let prediction = model.predict(x.as_ref(), 100, Key::new(2000))?;
    let n = test.points() as f64;
    let total: f64 = (0..test.points()).map(|i| prediction.log_density(i, test.y(i))).sum();
    let squares: f64 = (0..test.points()).map(|i| (prediction.moments(i, 0).mean - test.y(i)[0]).powi(2)).sum();
    Ok((total / n - deviation.ln(), (squares / n).sqrt() * deviation))
}
