//! Every setting of a run, chosen: what the user said, and for the rest the library's defaults for data of this size.

use crate::choices::{Choices, Family};
use anyhow::{Context as _, bail};
use dkp::kernels::{self, Kernel};
use dkp::likelihoods;
use dkp::model::Architecture;
use dkp::params::Parameters;
use dkp::train::{Options, Schedule, Start};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Features of a deep Gaussian process's layers, if nothing is said: as many as the data have, at most this.
const WIDEST: usize = 30;

/// Settings without anything left open; fields are those of [`Choices`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub family: Family,
    pub layers: u64,
    pub kernel: Vec<String>,
    pub width: u64,
    pub likelihood: String,
    pub inducing: u64,
    pub scale_features: bool,
    pub share_precision: bool,
    pub steps: u64,
    pub draws: u64,
    pub batch: u64,
    pub rate: f64,
    pub rate_warm_up: u64,
    pub decay_from: f64,
    pub last_rate: f64,
    pub kl_warm_up: u64,
    pub start_steps: u64,
    pub delta: f64,
    pub gamma: f64,
    pub input_delta: f64,
    pub input_gamma: f64,
    pub seed: u64,
    pub set: Vec<String>,
    pub freeze: Vec<String>,
    pub tie: Vec<String>,
    pub evaluation_draws: u64,
    pub checkpoint_every: f64,
}

impl Settings {
    /// For data with this many points and features, and a likelihood.
    pub fn resolve(c: &Choices, points: usize, features: usize, likelihood: String) -> anyhow::Result<Settings> {
        let options = Options::for_points(points);
        let steps = c.steps.unwrap_or(options.steps);
        let start = Start::for_steps(steps);
        let layers = c.layers.unwrap_or(1);
        let kernel = match c.kernel.as_slice() {
            [] => vec!["sqexp".to_string()],
            given if given.len() == 1 || given.len() as u64 == layers + 1 => given.to_vec(),
            given => bail!(
                "--kernel was given {} times: give it once, or {} times for {layers} hidden layers and the output",
                given.len(),
                layers + 1
            ),
        };
        for name in &kernel {
            kernels::named(name).context("--kernel")?;
        }
        let width = features.min(WIDEST) as u64;
        Ok(Settings {
            family: c.family.unwrap_or(Family::Diwp),
            layers,
            kernel,
            width: c.width.unwrap_or(width),
            likelihood,
            inducing: c.inducing.unwrap_or(start.inducing as u64).min(points as u64),
            scale_features: c.scale_features.unwrap_or(true),
            share_precision: c.share_precision.unwrap_or(true),
            steps,
            draws: c.draws.unwrap_or(options.draws as u64),
            batch: c.batch.unwrap_or(options.batch.map_or(0, |b| b as u64)),
            rate: c.rate.unwrap_or(options.schedule.rate),
            rate_warm_up: c.rate_warm_up.unwrap_or(options.schedule.warm_up),
            decay_from: c.decay_from.unwrap_or(options.schedule.decay_from),
            last_rate: c.last_rate.unwrap_or(options.schedule.last),
            kl_warm_up: c.kl_warm_up.unwrap_or(options.kl_warm_up),
            start_steps: c.start_steps.unwrap_or(start.warm_up),
            delta: c.delta.unwrap_or(start.delta),
            gamma: c.gamma.unwrap_or(start.gamma),
            input_delta: c.input_delta.unwrap_or(start.input[0]),
            input_gamma: c.input_gamma.unwrap_or(start.input[1]),
            seed: c.seed.unwrap_or(options.seed),
            set: c.set.clone(),
            freeze: c.freeze.clone(),
            tie: c.tie.clone(),
            evaluation_draws: c.evaluation_draws.unwrap_or(100),
            checkpoint_every: c.checkpoint_every.unwrap_or(60.0),
        })
    }

    /// The model's parts.
    pub fn architecture(&self) -> anyhow::Result<Architecture> {
        let kernel = |i: usize| -> anyhow::Result<Arc<dyn Kernel>> {
            let name = self.kernel.get(i).or(self.kernel.first()).context("a kernel is needed")?;
            Ok(kernels::named(name).context("--kernel")?.into())
        };
        let likelihood = likelihoods::named(&self.likelihood).context("--likelihood")?.into();
        let layers = self.layers as usize;
        let mut architecture = match self.family {
            Family::Diwp => Architecture::diwp(kernel(layers)?, layers, likelihood),
            Family::Nngp => Architecture::nngp(kernel(layers)?, layers, likelihood),
            Family::Dgp => Architecture::dgp(kernel(layers)?, layers, self.width as usize, likelihood),
        };
        for (i, layer) in architecture.layers.iter_mut().enumerate() {
            layer.kernel = kernel(i)?;
        }
        architecture.scale_features = self.scale_features;
        architecture.share_precision = self.share_precision;
        Ok(architecture)
    }

    /// Where training starts.
    pub fn start(&self) -> Start {
        Start {
            inducing: self.inducing as usize,
            delta: self.delta,
            gamma: self.gamma,
            input: [self.input_delta, self.input_gamma],
            warm_up: self.start_steps,
            seed: self.seed,
        }
    }

    /// How it goes on.
    pub fn options(&self) -> Options {
        let schedule =
            Schedule { rate: self.rate, warm_up: self.rate_warm_up, decay_from: self.decay_from, last: self.last_rate };
        Options {
            steps: self.steps,
            draws: self.draws as usize,
            batch: (self.batch > 0).then_some(self.batch as usize),
            schedule,
            kl_warm_up: self.kl_warm_up,
            seed: self.seed,
        }
    }

    /// Sets, freezes and ties parameters.
    pub fn adjust(&self, parameters: &mut Parameters) -> anyhow::Result<()> {
        for text in &self.set {
            let (name, value) = text.split_once('=').with_context(|| format!("--set {text}: expected NAME=VALUE"))?;
            let value: f64 = value.trim().parse().with_context(|| format!("--set {text}: expected NAME=VALUE"))?;
            let count = parameters.get(name.trim()).with_context(|| format!("--set {text}"))?.len();
            parameters.set(name.trim(), &vec![value; count]).with_context(|| format!("--set {text}"))?;
        }
        for text in &self.tie {
            let (name, with) = text.split_once('=').with_context(|| format!("--tie {text}: expected NAME=OTHER"))?;
            parameters.tie(name.trim(), with.trim()).with_context(|| format!("--tie {text}"))?;
        }
        for name in &self.freeze {
            parameters.freeze(name, true).with_context(|| format!("--freeze {name}"))?;
        }
        Ok(())
    }

    /// The model in one line.
    pub fn description(&self) -> String {
        let family = match self.family {
            Family::Diwp => "deep inverse Wishart process",
            Family::Nngp => "infinitely wide network (NNGP)",
            Family::Dgp => "deep Gaussian process",
        };
        let layers = match self.layers {
            0 => "no hidden layer".to_string(),
            1 => "1 hidden layer".to_string(),
            n => format!("{n} hidden layers"),
        };
        format!("{family}, {layers}, {} kernel, {} inducing points", self.kernel.join(" / "), self.inducing)
    }
}
