//! Trains on the UCI splits and prints test log-likelihoods, one JSON object a split.
//!
//! `DKP_UCI=…/uci cargo run --release -p dkp --example uci -- --dataset yacht --family diwp --layers 2 --splits 0-4`

mod splits;

use dkp::Registry;
use dkp::data::Dataset;
use dkp::model::{FamilyOptions, Model};
use dkp::processes::Input;
use dkp::train::{Schedule, Start, TrainOptions, Trainer, initialise};
use dkp_tape::random::Key;
use faer::Mat;
use std::collections::HashMap;
use std::error::Error;
use std::str::FromStr;
use std::time::Instant;

/// Every flag, with its default.
const FLAGS: [(&str, &str); 24] = [
    ("dataset", "yacht"),
    ("splits", "0-4"),
    ("family", "diwp"),
    ("posterior", ""),
    ("likelihood", "gaussian"),
    ("kernel", "sqexp"),
    ("layers", "2"),
    ("steps", "8000"),
    ("start-steps", ""),
    ("omega", "true"),
    ("m", "100"),
    ("s", "10"),
    ("seed", "0"),
    ("delta", "1000"),
    ("gamma", "1e-3"),
    ("input-delta", "5"),
    ("input-gamma", "500"),
    ("rate", "1e-2"),
    ("warm-up", "100"),
    ("decay-from", "0.5"),
    ("last", "1e-2"),
    ("kl-warm-up", "0"),
    ("bound-draws", "300"),
    ("lines", "8"),
];

/// What was said on the command line.
struct Flags(HashMap<&'static str, String>);

impl Flags {
    fn new(arguments: &[String]) -> Result<Flags, String> {
        let mut flags: HashMap<&str, String> = FLAGS.into_iter().map(|(name, v)| (name, v.to_string())).collect();
        for pair in arguments.chunks(2) {
            let known = FLAGS.iter().find(|(name, _)| pair[0].strip_prefix("--") == Some(name));
            let names = || FLAGS.map(|(name, _)| format!("--{name}")).join(" ");
            let (name, _) = known.ok_or_else(|| format!("{}: the flags are {}", pair[0], names()))?;
            let value = pair.get(1).ok_or_else(|| format!("--{name}: a value is missing"))?;
            flags.insert(name, value.clone());
        }
        Ok(Flags(flags))
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    fn get<T: FromStr>(&self, name: &str) -> Result<T, String> {
        let text = self.text(name);
        text.parse().map_err(|_| format!("--{name} {text}: expected a number"))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let flags = Flags::new(&std::env::args().skip(1).collect::<Vec<_>>())?;
    let (first, last) = flags.text("splits").split_once('-').ok_or("--splits: expected A-B")?;
    let registry = Registry::default();
    let family = registry.family(flags.text("family"))?;
    let kernel = registry.kernel(flags.text("kernel"))?;
    let (layers, steps): (usize, u64) = (flags.get("layers")?, flags.get("steps")?);
    let mut all = Vec::new();
    for split in first.parse::<usize>()?..=last.parse()? {
        let (train, test) = splits::load(flags.text("dataset"), split)?;
        let (sx, sy) = train.scales();
        let (train, test) = (train.scaled(&sx, &sy), test.scaled(&sx, &sy));
        let options = FamilyOptions {
            posterior: flags.text("posterior"),
            width: train.features(),
            hidden: [flags.get("delta")?, flags.get("gamma")?],
            drawn: if flags.get("omega")? { Input::Omega(()) } else { Input::Fixed },
            input: [flags.get("input-delta")?, flags.get("input-gamma")?],
        };
        let kernels = vec![kernel.clone(); layers + 1];
        let architecture = family.architecture(&options, &kernels, registry.likelihood(flags.text("likelihood"))?);
        let seed = 100 * flags.get::<u64>("seed")? + split as u64;
        let warm_up = if flags.text("start-steps").is_empty() { steps } else { flags.get("start-steps")? };
        let mut model =
            initialise(architecture, &train, Start { inducing: flags.get("m")?, warm_up, seed, ..Start::default() })?;
        let schedule = Schedule {
            rate: flags.get("rate")?,
            warm_up: flags.get("warm-up")?,
            decay_from: flags.get("decay-from")?,
            last: flags.get("last")?,
        };
        let (draws, kl_warm_up) = (flags.get("s")?, flags.get("kl-warm-up")?);
        let options = TrainOptions { steps, draws, schedule, kl_warm_up, seed, ..TrainOptions::default() };
        let begun = Instant::now();
        let every = (options.steps / flags.get::<u64>("lines")?.max(1)).max(1);
        let (mut skipped, mut jitters, mut rollbacks) = (0, 0, 0);
        let mut trainer = Trainer::new(&mut model, &train, options)?;
        while trainer.state().step < steps {
            let r = trainer.step()?;
            skipped += u64::from(r.failure.is_some());
            rollbacks += u64::from(r.rolled_back);
            jitters += r.bound.as_ref().map_or(0, |b| b.jitter.count);
            if let Some(f) = &r.failure {
                eprintln!("step {}: {f}", r.step);
            }
            if let (0, Some(b)) = (r.step % every, &r.bound) {
                eprintln!(
                    "{:6} {:9.4} likelihood {:.4} input {:.4} layers {:.4?} output {:.4} δ {:.1?}",
                    r.step,
                    b.total,
                    b.likelihood,
                    b.input,
                    b.layers,
                    b.output,
                    trainer.model().concentrations()
                );
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        let bound = model.bound(&train, flags.get("bound-draws")?, Key::new(1000))?;
        let (log_likelihood, rmse) = evaluate(&model, &test, sy.deviation[0])?;
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
fn evaluate(model: &Model, test: &Dataset, deviation: f64) -> Result<(f64, f64), Box<dyn Error>> {
    let x = Mat::from_fn(test.features(), test.points(), |i, n| test.x(n)[i]);
    let prediction = model.predict(x.as_ref(), 100, Key::new(2000))?;
    let n = test.points() as f64;
    let total: f64 = (0..test.points()).map(|i| prediction.log_density(i, test.y(i))).sum();
    let squares: f64 = (0..test.points()).map(|i| (prediction.moments(i, 0).mean - test.y(i)[0]).powi(2)).sum();
    Ok((total / n - deviation.ln(), (squares / n).sqrt() * deviation))
}
