//! What a model file says of how the model came about and how tables are read for it.

use crate::roles::list_or_one;
use crate::{CrossValidated, FeatureScale, Metrics, Settings, Targets, Task};
use dkp::data::Scaler;
use dkp::model::{Bound, Calibration, Model};
use dkp_report::Explanation;
use dkp_table::{Decimal, Encoder, Kind, Notation};
use serde::{Deserialize, Serialize};

/// A model's card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The name of the table's file, without its folder.
    pub data: String,
    /// Rows that were learned from.
    pub rows_trained: usize,
    /// Rows that were held out.
    pub rows_held_out: usize,
    /// What is predicted.
    pub task: Task,
    /// Columns that name rows.
    pub id: Vec<String>,
    /// Texts that mean a missing value, beside the usual ones.
    pub na: Vec<String>,
    /// How columns become features.
    pub encoder: Encoder,
    /// How targets become numbers.
    #[serde(alias = "target")]
    pub targets: Targets,
    /// The scale in which the model sees features.
    pub feature_scale: FeatureScale,
    /// The scale in which it sees the targets.
    pub target_scale: Scaler,
    /// Of the rows that were learned from, the share in which each target is known; all, where nothing is said.
    #[serde(default)]
    pub known_shares: Vec<f64>,
    /// Every setting.
    pub settings: Settings,
    /// What was done to the table, a line each.
    pub notes: Vec<String>,
    /// Why the likelihood was chosen, or for classes how often labels count and the kernel, if these were not named.
    #[serde(default)]
    pub noise: Option<String>,
    /// How sure predictions are, compared with the posterior of training.
    #[serde(default)]
    pub calibration: Option<Calibrated>,
    /// The bound after training.
    pub bound: Option<BoundParts>,
    /// How good the predictions for held-out rows were.
    pub evaluation: Option<Metrics>,
    /// How predictions of each target go with columns, and where they were wrong.
    #[serde(default, alias = "explanation", deserialize_with = "list_or_one")]
    pub explanations: Vec<Explanation>,
    /// Of a model that was cross-validated, in which way, and how the folds differ; its evaluation is then that of rows that it has learned from itself, by
    /// models that had not.
    #[serde(default)]
    pub cross_validation: Option<CrossValidated>,
}

/// How sure predictions are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// How latents and numbers count.
    pub latents: Calibration,
    /// What it gains, for people.
    pub line: String,
}

/// A bound in nats a row, in the targets' own units: total = likelihood + input + Σ layers + output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundParts {
    /// The bound.
    pub total: f64,
    /// Its standard error over draws.
    pub standard_error: f64,
    /// Fit to the data, with the gain.
    pub likelihood: f64,
    /// What of it the tighter bound for normal noise has gained.
    pub gain: f64,
    /// The input layer's divergence, less than 0.
    pub input: f64,
    /// The hidden layers'.
    pub layers: Vec<f64>,
    /// The output layer's.
    pub output: f64,
}

impl BoundParts {
    /// From a bound in the model's scales, and the [logarithm](Card::log_unit) of their units.
    pub fn new(bound: &Bound, log_unit: f64) -> BoundParts {
        BoundParts {
            total: bound.total - log_unit,
            standard_error: bound.standard_error,
            likelihood: bound.likelihood - log_unit,
            gain: bound.gain,
            input: bound.input,
            layers: bound.layers.clone(),
            output: bound.output,
        }
    }
}

impl Card {
    /// Whether tables that are read by it suit a model.
    pub(crate) fn check(&self, model: &Model) -> Result<(), &'static str> {
        let (features, scaler) = (self.encoder.width(), &self.target_scale);
        let likelihood = &model.architecture().likelihood;
        let latents = likelihood.latents();
        let parameters: Vec<Vec<f64>> = likelihood.parameters().iter().map(|p| vec![1.0; p.rows]).collect();
        let classes = likelihood.probabilities(&parameters, &vec![0.0; latents], &vec![1.0; latents]);
        match () {
            () if features == 0 || features != model.features() => Err("its columns do not make the model's features"),
            () if !self.feature_scale.is_for(features) => Err("its scales do not fit its columns"),
            () if self.targets.count() != likelihood.targets() => Err("its targets are not the model's"),
            () if [&scaler.mean, &scaler.deviation].iter().any(|s| s.len() != likelihood.targets()) => {
                Err("its targets are not the model's")
            }
            () if !(0..likelihood.targets()).map(|t| self.units(t)).all(has_scale) => Err("its target has no scale"),
            () if classes.map(|p| p.len()) != self.labels().map(<[String]>::len) => {
                Err("its labels are not the model's classes")
            }
            () => Ok(()),
        }
    }

    /// The targets' names, one after the other.
    pub fn target_names(&self) -> String {
        self.targets.names().join(", ")
    }

    /// What is 0 and what is 1 more in the model's scale of a target.
    pub fn units(&self, target: usize) -> (f64, f64) {
        (self.target_scale.mean[target], self.target_scale.deviation[target])
    }

    /// By how much log-densities in the model's scales, in nats a row that is learned from, are above those in the targets' own units.
    pub fn log_unit(&self) -> f64 {
        let share = |t: usize| self.known_shares.get(t).copied().unwrap_or(1.0);
        self.target_scale.deviation.iter().enumerate().map(|(t, unit)| share(t) * unit.ln()).sum()
    }

    /// Names of classes, if they are predicted.
    pub fn labels(&self) -> Option<&[String]> {
        self.targets.labels()
    }

    /// The columns of features, as they are read.
    pub fn columns(&self) -> Vec<(String, Kind)> {
        self.encoder.columns()
    }

    /// How predicted numbers of each target are written: as it is, or with the decimals of some feature's.
    pub fn written(&self) -> Vec<Kind> {
        let comma = |c: &(String, Kind)| matches!(c.1, Kind::Written(n) if n.decimal() == Decimal::Comma);
        let commas = self.columns().iter().any(comma);
        let written = |(_, kind): (String, Kind)| match kind {
            Kind::Written(notation) => Kind::Written(notation),
            _ if commas => Kind::Written(Notation::new(Decimal::Comma)),
            _ => Kind::Number,
        };
        self.targets.columns().into_iter().map(written).collect()
    }

    /// What is predicted, in words.
    pub fn task_name(&self) -> String {
        match self.task {
            Task::Regression => format!("regression of {}", self.target_names()),
            Task::Classification => format!("classification of {}", self.target_names()),
        }
    }
}

fn has_scale((zero, unit): (f64, f64)) -> bool {
    unit > 0.0 && unit.is_finite() && zero.is_finite()
}
