//! What small networks decide before a model is trained: which noise numbers have (`--likelihood auto`), by the bound on the rows that are learned from,
//! and how often labels of classes count (the temperature), by rows that are kept for it.

use crate::{Error, Fit, Settings};
use dkp::data::Dataset;
use dkp::model::{Bound, Calibration, Model};
use dkp::train::{Start, TrainOptions, Trainer, initialise};
use dkp_tape::random::Key;

/// The name that leaves the choice to the bound.
pub const AUTO: &str = "auto";
/// What is compared, from the simplest on.
const CANDIDATES: [&str; 3] = ["gaussian", "student_t", "varying_t"];
/// A likelihood must be better than simpler ones by this, in nats a row, and by one nat in all.
const MARGIN: f64 = 0.002;
/// The comparison is one of infinitely wide networks, which have nothing to draw: their inducing points, at most, steps, and rows a step.
const INDUCING: u64 = 100;
const STEPS: u64 = 1000;
const FEWEST_STEPS: u64 = 300;
const BATCH: usize = 1000;

/// Temperatures that are compared for classes: labels that nobody doubts count as several, noisy ones do not.
const TEMPERATURES: [f64; 2] = [1.0, 0.2];

/// A temperature that was chosen.
pub(crate) struct Temperature {
    pub value: f64,
    /// What it gives, for people.
    pub line: String,
}

/// A likelihood that was chosen.
pub(crate) struct Chosen {
    pub likelihood: String,
    /// What it is better by, for people.
    pub line: String,
}

impl Settings {
    /// Likelihoods among which `auto` chooses: those that have every parameter of a likelihood that is set, frozen or tied.
    pub(crate) fn candidates(&self, fit: &Fit) -> Vec<&'static str> {
        let named = self.set.iter().chain(&self.freeze).chain(&self.tie);
        let named: Vec<&str> = named.flat_map(|text| text.split('=')).map(str::trim).collect();
        let fits = |name: &&str| {
            let Ok(likelihood) = fit.registry.likelihood(name) else { return false };
            let has = |wanted: &str| likelihood.parameters().iter().any(|p| p.name == wanted);
            named.iter().filter_map(|n| n.strip_prefix("likelihood.")).all(has)
        };
        CANDIDATES.into_iter().filter(fits).collect()
    }
}

impl Fit {
    /// Trains an infinitely wide network with each candidate, and compares their bounds, without what a tighter bound gains, which not all have.
    pub(crate) fn choose_noise(&self, settings: &Settings, train: &Dataset) -> Result<Chosen, Error> {
        let mut bounds: Vec<(&str, f64)> = Vec::new();
        for name in settings.candidates(self) {
            if let Some(bound) = self.bound_with(name, settings, train)? {
                bounds.push((name, bound.total - bound.gain));
            }
        }
        let margin = MARGIN.max(1.0 / train.points() as f64);
        let first = bounds.first().copied().unwrap_or((CANDIDATES[0], 0.0));
        let better =
            |best: (&'static str, f64), next: (&'static str, f64)| if next.1 > best.1 + margin { next } else { best };
        let (name, bound) = bounds.iter().copied().fold(first, better);
        let what = match name {
            "student_t" => "noise has heavy tails",
            "varying_t" => "noise varies with the inputs",
            _ => "noise is the same everywhere",
        };
        let others = bounds.iter().filter(|(n, _)| *n != name).map(|(_, b)| *b);
        let line = match others.fold(f64::NEG_INFINITY, f64::max) {
            f64::NEG_INFINITY => format!("noise is taken to be {name}: nothing could be compared with it"),
            _ if name != first.0 => format!("{what}: {:+.2} nats a row", bound - first.1),
            next => format!("{what}: otherwise {:+.2} nats a row", next - bound),
        };
        Ok(Chosen { likelihood: name.to_string(), line })
    }

    /// The bound with one of them, if it can be trained.
    fn bound_with(&self, likelihood: &str, settings: &Settings, train: &Dataset) -> Result<Option<Bound>, Error> {
        let model = self.network(&Settings { likelihood: likelihood.to_string(), ..settings.clone() }, train)?;
        Ok(model.and_then(|model| model.bound(train, 1, Key::new(settings.seed)).ok()))
    }

    /// The temperature at which an infinitely wide network, calibrated, makes the classes of rows that were not learned from most probable.
    pub(crate) fn choose_temperature(
        &self,
        settings: &Settings,
        train: &Dataset,
        kept: &Dataset,
    ) -> Result<Temperature, Error> {
        let targets: Vec<&[f64]> = (0..kept.points()).map(|n| kept.y(n)).collect();
        let mut best = (1.0, f64::NEG_INFINITY);
        for value in TEMPERATURES {
            let network = self.network(&Settings { temperature: value, ..settings.clone() }, train)?;
            let Some(network) = network else { continue };
            let predictions = network.predict(kept.inputs().as_ref(), 1, Key::new(settings.seed))?;
            let score = Calibration::of(&predictions, &targets).scores[1];
            if score > best.1 {
                best = (value, score);
            }
        }
        let (value, score) = best;
        let count = match value {
            1.0 => "labels count once".to_string(),
            t => format!("labels count {:.0} times", 1.0 / t),
        };
        let line = format!("{count}: {score:.3} nats a row for {} rows that are kept to find that", kept.points());
        Ok(Temperature { value, line })
    }

    /// A small infinitely wide network, trained, if it can be.
    fn network(&self, settings: &Settings, train: &Dataset) -> Result<Option<Model>, Error> {
        let family = self.registry.family("nngp").map_err(|e| Error::named("family", e))?;
        let settings = Settings {
            family: family.name.to_string(),
            posterior: family.posteriors[0].to_string(),
            ..settings.clone()
        };
        let inducing = settings.inducing.min(INDUCING) as usize;
        let start = Start { inducing, warm_up: 0, ..settings.start() };
        let Ok(mut model) = initialise(settings.architecture(&self.registry)?, train, start) else { return Ok(None) };
        let (steps, seed) = (settings.start_steps.clamp(FEWEST_STEPS, STEPS), settings.seed);
        let temperature = settings.temperature;
        let options = TrainOptions { steps, seed, temperature, batch: Some(BATCH), ..TrainOptions::of_limit() };
        let trained = Trainer::new(&mut model, train, options)?.run(|_| true);
        Ok(trained.ok().map(|()| model))
    }
}
