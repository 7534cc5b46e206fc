//! Every setting of a fit, chosen: what the user said, and for the rest the defaults for data of this size.

use crate::{Choices, Error, InputLayer, Scaling};
use dkp::Registry;
use dkp::kernels::Kernel;
use dkp::likelihoods::TargetKind;
use dkp::model::{Architecture, FamilyOptions};
use dkp::params::Parameters;
use dkp::processes::{Input, InverseWishart};
use dkp::train::{Schedule, Start, TrainOptions};
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::Arc;

/// The family, if nothing is said.
pub const FAMILY: &str = "diwp";
/// The same where classes are learned.
const FAMILY_OF_CLASSES: &str = "nngp";
/// The kernel, if nothing is said.
pub const KERNEL: &str = "sqexp";
/// Hidden layers.
const LAYERS: u64 = 1;
/// Ω is learned where there are so many rows for each of its elements: where there are fewer, the bound is better without it.
const ROWS_PER_ELEMENT: usize = 20;
/// Features of a deep Gaussian process's layers, or the width of a deep Wishart process's: as many as the data have, at most this.
const WIDEST: usize = 30;
/// Posterior draws for the held-out rows, and for judging a table.
pub const EVALUATION_DRAWS: u64 = 100;
/// Posterior draws for predictions.
pub const PREDICTION_DRAWS: u64 = 50;
/// Seconds between checkpoints.
const CHECKPOINT_EVERY: f64 = 60.0;

/// Settings without anything left open; fields are those of [`Choices`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // they are those of Choices
pub struct Settings {
    pub family: String,
    pub posterior: String,
    pub layers: u64,
    pub kernel: Vec<String>,
    pub width: u64,
    pub likelihood: String,
    #[serde(default = "with_omega", alias = "omega", deserialize_with = "kind_or_omega")]
    pub input_layer: InputLayer,
    pub inducing: u64,
    pub scale_features: bool,
    pub share_noise: bool,
    pub steps: u64,
    pub draws: u64,
    pub batch: u64,
    pub rate: f64,
    pub rate_warm_up: u64,
    pub decay_from: f64,
    pub last_rate: f64,
    pub kl_warm_up: u64,
    #[serde(default = "temperate")]
    pub temperature: f64,
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

/// Models had Ω before it was a choice.
fn with_omega() -> InputLayer {
    InputLayer::Omega
}

/// Then they said whether they had it.
fn kind_or_omega<'de, D: Deserializer<'de>>(from: D) -> Result<InputLayer, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Kind(InputLayer),
        Omega(bool),
    }
    Ok(match Either::deserialize(from)? {
        Either::Kind(kind) => kind,
        Either::Omega(true) => InputLayer::Omega,
        Either::Omega(false) => InputLayer::Fixed,
    })
}

/// Nor was temperature.
fn temperate() -> f64 {
    1.0
}

impl Settings {
    /// For data with this many points and features, in this scaling, and a likelihood by its full name.
    pub fn resolve(
        c: &Choices,
        registry: &Registry,
        points: usize,
        features: usize,
        scaling: Scaling,
        likelihood: String,
    ) -> Result<Settings, Error> {
        let named = registry.likelihood(&likelihood).ok();
        let of_classes = named.is_some_and(|l| l.target_kind() == TargetKind::Class);
        let family = c.family.as_deref().unwrap_or(if of_classes { FAMILY_OF_CLASSES } else { FAMILY });
        let family = registry.family(family).map_err(|e| Error::named("family", e))?;
        let posterior = c.posterior.as_deref().unwrap_or(family.posteriors[0]);
        if !family.posteriors.contains(&posterior) {
            let reason = format!("{} has {}", family.name, family.posteriors.join(", "));
            return Err(Error::setting("posterior", posterior, reason));
        }
        let options = TrainOptions::default();
        let sizes = c.effort.unwrap_or_default().sizes(points, of_classes);
        let layers = c.layers.unwrap_or(LAYERS);
        let kernel = match c.kernel.as_slice() {
            [] => vec![KERNEL.to_string()],
            given if given.len() == 1 || given.len() as u64 == layers + 1 => given.to_vec(),
            given => {
                let (given, all) = (given.len(), layers + 1);
                let reason = format!(
                    "was given {given} times: give it once, or {all} times for {layers} hidden layers and the output"
                );
                return Err(Error::range("kernel", reason));
            }
        };
        Ok(Settings {
            family: family.name.to_string(),
            posterior: posterior.to_string(),
            layers,
            kernel,
            width: c.width.unwrap_or(features.min(WIDEST) as u64),
            likelihood,
            input_layer: c.input_layer.unwrap_or(match ROWS_PER_ELEMENT * features * (features + 1) / 2 <= points {
                true => InputLayer::Omega,
                false => InputLayer::Fixed,
            }),
            inducing: c.inducing.unwrap_or(sizes.inducing).min(points as u64),
            scale_features: c.scale_features.unwrap_or(scaling != Scaling::Shared),
            share_noise: c.share_noise.unwrap_or(true),
            steps: c.steps.unwrap_or(sizes.steps),
            draws: c.draws.unwrap_or(sizes.draws),
            batch: c.batch.unwrap_or(sizes.batch),
            rate: c.rate.unwrap_or(sizes.rate),
            rate_warm_up: c.rate_warm_up.unwrap_or(options.schedule.warm_up),
            decay_from: c.decay_from.unwrap_or(options.schedule.decay_from),
            last_rate: c.last_rate.unwrap_or(options.schedule.last),
            kl_warm_up: c.kl_warm_up.unwrap_or(options.kl_warm_up),
            temperature: c.temperature.unwrap_or(1.0),
            start_steps: c.start_steps.unwrap_or(sizes.start_steps),
            delta: c.delta.unwrap_or(InverseWishart::HIDDEN.delta),
            gamma: c.gamma.unwrap_or(InverseWishart::HIDDEN.gamma),
            input_delta: c.input_delta.unwrap_or(InverseWishart::INPUT.delta),
            input_gamma: c.input_gamma.unwrap_or(InverseWishart::INPUT.gamma),
            seed: c.seed.unwrap_or(options.seed),
            set: c.set.clone(),
            freeze: c.freeze.clone(),
            tie: c.tie.clone(),
            evaluation_draws: c.evaluation_draws.unwrap_or(EVALUATION_DRAWS),
            checkpoint_every: c.checkpoint_every.unwrap_or(CHECKPOINT_EVERY),
        })
    }

    /// The model's parts.
    pub fn architecture(&self, registry: &Registry) -> Result<Architecture, Error> {
        let named = |name: &String| registry.kernel(name).map_err(|e| Error::named("kernel", e));
        let given: Vec<Arc<dyn Kernel>> = self.kernel.iter().map(named).collect::<Result<_, _>>()?;
        let layers = self.layers as usize;
        let kernels = match given.as_slice() {
            [one] => vec![one.clone(); layers + 1],
            all => all.to_vec(),
        };
        let family = registry.family(&self.family).map_err(|e| Error::named("family", e))?;
        let likelihood = registry.likelihood(&self.likelihood);
        let likelihood = likelihood.map_err(|e| Error::named("likelihood", e))?;
        let options = FamilyOptions {
            posterior: &self.posterior,
            width: self.width as usize,
            hidden: [self.delta, self.gamma],
            drawn: match self.input_layer {
                InputLayer::Fixed => Input::Fixed,
                InputLayer::Omega => Input::Omega(()),
                InputLayer::Gram => Input::Gram(()),
            },
            input: [self.input_delta, self.input_gamma],
        };
        let mut architecture = family.architecture(&options, &kernels, likelihood);
        architecture.scale_features = self.scale_features;
        architecture.share_noise = self.share_noise;
        Ok(architecture)
    }

    /// Where training starts.
    pub fn start(&self) -> Start {
        Start {
            inducing: self.inducing as usize,
            warm_up: self.start_steps,
            temperature: self.temperature,
            seed: self.seed,
        }
    }

    /// How it goes on.
    pub fn train_options(&self) -> TrainOptions {
        let schedule =
            Schedule { rate: self.rate, warm_up: self.rate_warm_up, decay_from: self.decay_from, last: self.last_rate };
        TrainOptions {
            steps: self.steps,
            draws: self.draws as usize,
            batch: (self.batch > 0).then_some(self.batch as usize),
            schedule,
            kl_warm_up: self.kl_warm_up,
            temperature: self.temperature,
            seed: self.seed,
        }
    }

    /// Sets, freezes and ties parameters.
    pub fn adjust(&self, parameters: &mut Parameters) -> Result<(), Error> {
        for text in &self.set {
            let wrong = |reason: &dyn ToString| Error::setting("set", text, reason.to_string());
            let expected = || wrong(&"expected NAME=VALUE");
            let (name, value) = text.split_once('=').ok_or_else(expected)?;
            let value: f64 = value.trim().parse().map_err(|_| expected())?;
            let count = parameters.get(name.trim()).map_err(|e| wrong(&e))?.len();
            parameters.set(name.trim(), &vec![value; count]).map_err(|e| wrong(&e))?;
        }
        for text in &self.tie {
            let wrong = |reason: &dyn ToString| Error::setting("tie", text, reason.to_string());
            let (name, with) = text.split_once('=').ok_or_else(|| wrong(&"expected NAME=OTHER"))?;
            parameters.tie(name.trim(), with.trim()).map_err(|e| wrong(&e))?;
        }
        for name in &self.freeze {
            parameters.freeze(name, true).map_err(|e| Error::setting("freeze", name, e))?;
        }
        Ok(())
    }

    /// The model in one line.
    pub fn description(&self, registry: &Registry) -> String {
        let family = registry.family(&self.family).map_or(self.family.as_str(), |f| f.title);
        let layers = match self.layers {
            0 => "no hidden layer".to_string(),
            1 => "1 hidden layer".to_string(),
            n => format!("{n} hidden layers"),
        };
        format!("{family}, {layers}, {} kernel, {} inducing points", self.kernel.join(" / "), self.inducing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of models that came before say it otherwise.
    #[test]
    fn the_input_layer_of_older_files_is_read() {
        let choices = Choices::default();
        let settings =
            Settings::resolve(&choices, &Registry::default(), 100, 10, Scaling::Own, "gaussian".into()).unwrap();
        let mut value = serde_json::to_value(&settings).unwrap();
        let own = value.as_object_mut().unwrap();
        assert_eq!(own.remove("input_layer"), Some("fixed".into()));
        let mut read = |omega: Option<bool>| {
            let own = value.as_object_mut().unwrap();
            own.remove("omega");
            own.extend(omega.map(|o| ("omega".to_string(), o.into())));
            serde_json::from_value::<Settings>(value.clone()).unwrap().input_layer
        };
        assert_eq!(
            [read(None), read(Some(true)), read(Some(false))],
            [InputLayer::Omega, InputLayer::Omega, InputLayer::Fixed]
        );
    }

    #[test]
    fn sizes_follow_from_rows_features_and_classes() {
        let resolve = |points, features, scaling, likelihood: &str| {
            let choices = Choices::default();
            Settings::resolve(&choices, &Registry::default(), points, features, scaling, likelihood.into()).unwrap()
        };
        let digits = resolve(1437, 64, Scaling::Shared, "categorical(10)");
        assert_eq!((digits.inducing, digits.input_layer, digits.scale_features), (300, InputLayer::Fixed, false));
        let numbers = resolve(1437, 11, Scaling::Own, "gaussian");
        assert_eq!((numbers.inducing, numbers.input_layer, numbers.scale_features), (300, InputLayer::Omega, true));
        assert_eq!(resolve(1437, 13, Scaling::Own, "gaussian").input_layer, InputLayer::Fixed);
        // where classes are learned an infinitely wide network is better
        assert_eq!((digits.family.as_str(), numbers.family.as_str()), ("nngp", FAMILY));
        let large = [("gaussian", 400, 4000), ("bernoulli", 300, 3000), ("categorical(24)", 300, 3000)];
        for (likelihood, inducing, steps) in large {
            let settings = resolve(10_000, 10, Scaling::Own, likelihood);
            assert_eq!((settings.inducing, settings.steps, settings.rate), (inducing, steps, 1e-2), "{likelihood}");
        }
    }
}
