//! What a user chooses; what they leave open is chosen by the size of the data.

use crate::{Effort, Error, Roles};
use serde::{Deserialize, Serialize};

/// Folds of a cross-validation, at most.
const MOST_FOLDS: u64 = 1000;

/// The model and its training; fields without a value follow from the data ([`Settings`](crate::Settings) has them all).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Choices {
    /// How much work the fit is worth: the sizes that are not chosen follow from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The family of models, by its name in the [`Registry`](dkp::Registry).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The family's posterior, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posterior: Option<String>,
    /// Hidden layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<u64>,
    /// Kernels by name: one for all layers, or one for each hidden layer and the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel: Vec<String>,
    /// Features of a deep Gaussian process's layers, or the width of a deep Wishart process's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// How targets scatter, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<String>,
    /// What the input layer draws, where the family leaves that open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_layer: Option<InputLayer>,
    /// Inducing points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inducing: Option<u64>,
    /// Whether each feature has a learned scale and bias.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_features: Option<bool>,
    /// Whether all outputs share the noise of their pseudo-targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_noise: Option<bool>,
    /// Steps of training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Posterior draws a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    /// Rows a step; 0 for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// The highest learning rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Steps over which the learning rate rises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_warm_up: Option<u64>,
    /// The fraction of the run after which the learning rate falls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay_from: Option<f64>,
    /// What the learning rate falls to, relative to the highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_rate: Option<f64>,
    /// Steps over which the divergences' weight in the bound rises to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kl_warm_up: Option<u64>,
    /// The weight of divergences in training: 1 is the bound, and with less targets count as several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Steps of the limit that is trained first, as the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_steps: Option<u64>,
    /// Where δ of the hidden layers starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// Where γ of the hidden layers' posteriors starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// Where δ of the input layer starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_delta: Option<f64>,
    /// Where γ of the input layer's posterior starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_gamma: Option<f64>,
    /// The seed of everything random: the same seed gives the same bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Parameters that are set before training: NAME=VALUE for all their elements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Parameters that stay as they start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub freeze: Vec<String>,
    /// Parameters that share the values of others: NAME=OTHER.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tie: Vec<String>,
    /// Posterior draws for the held-out rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_draws: Option<u64>,
    /// Seconds between checkpoints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_every: Option<f64>,
}

/// Both, as a TOML file has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which columns are what.
    pub table: Roles,
    /// The model and its training.
    pub model: Choices,
}

/// How features become the first Gram matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputLayer {
    /// As they are.
    Fixed,
    /// A random matrix Ω mixes them.
    Omega,
    /// Their Gram matrix is random itself, of which Ω is the cause: for more features than inducing points.
    Gram,
}

impl Config {
    /// Values that a setting cannot have, and settings that exclude each other.
    pub fn check(&self) -> Result<(), Error> {
        let (t, m) = (&self.table, &self.model);
        let given = [
            ("test", t.test.is_some()),
            ("group", t.group.is_some()),
            ("time", t.time.is_some()),
            ("holdout", t.holdout.is_some() && t.test.is_some()),
        ];
        let mut given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        if let (Some(first), Some(second)) = (given.next(), given.next()) {
            return Err(Error::Both { first, second });
        }
        let others = [("test", t.test.is_some()), ("holdout", t.holdout.is_some())];
        if let Some((second, _)) = others.into_iter().find(|(_, given)| *given && t.folds.is_some()) {
            return Err(Error::Both { first: "folds", second });
        }
        if t.folds.is_some_and(|k| !(2..=MOST_FOLDS).contains(&k)) {
            return Err(Error::range("folds", format!("must be from 2 to {MOST_FOLDS}")));
        }
        let fractions = [("holdout", t.holdout), ("decay_from", m.decay_from)];
        if let Some((name, _)) = fractions.iter().find(|(_, v)| v.is_some_and(|v| !(0.0..1.0).contains(&v))) {
            return Err(Error::range(name, "must be at least 0 and less than 1"));
        }
        let rates = [
            ("rate", m.rate),
            ("last_rate", m.last_rate),
            ("checkpoint_every", m.checkpoint_every),
            ("temperature", m.temperature),
        ];
        let starts =
            [("delta", m.delta), ("gamma", m.gamma), ("input_delta", m.input_delta), ("input_gamma", m.input_gamma)];
        let mut positive = rates.into_iter().chain(starts);
        if let Some((name, _)) = positive.find(|(_, v)| v.is_some_and(|v| !(v > 0.0 && v.is_finite()))) {
            return Err(Error::range(name, "must be positive"));
        }
        let sizes = [("inducing", m.inducing, 5000), ("width", m.width, 1000), ("steps", m.steps, 100_000_000)];
        let draws = [("draws", m.draws, 10_000), ("evaluation_draws", m.evaluation_draws, 100_000)];
        let mut sizes = sizes.into_iter().chain(draws);
        if let Some((name, _, most)) = sizes.find(|(_, v, most)| v.is_some_and(|v| !(1..=*most).contains(&v))) {
            return Err(Error::range(name, format!("must be from 1 to {most}")));
        }
        if m.layers.is_some_and(|l| l > 50) {
            return Err(Error::range("layers", "must be at most 50"));
        }
        if t.delimiter.is_some_and(|d| !d.is_ascii()) {
            return Err(Error::range("delimiter", "must be one ASCII character"));
        }
        Ok(())
    }
}
