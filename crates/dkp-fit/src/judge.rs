//! How good predictions of known targets are: metrics, and what a model file keeps of them.

use crate::Predictions;
use dkp::file::Tensor;
use dkp::metrics::{ClassScore, Classification, LEVELS, Regression, Score, class_scores};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows whose predictions a model file keeps.
const KEPT: usize = 10_000;
/// Multiples of the golden ratio are spread evenly over 0 to 1.
const EVEN: f64 = 0.618_033_988_749_894_9;
/// The quantiles that are kept.
const TAILS: [f64; 2] = [0.05, 0.95];

/// How good predictions are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Metrics {
    /// Of numbers, in the target's units.
    Numbers(Regression),
    /// Of classes.
    Classes(Classification),
}

/// A metric for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// What it is called.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What it means.
    pub meaning: &'static str,
}

impl Metrics {
    /// Rows whose target was known.
    pub fn rows(&self) -> usize {
        match self {
            Metrics::Numbers(m) => m.rows,
            Metrics::Classes(m) => m.rows,
        }
    }

    /// Mean log-density or log-probability of what was observed.
    pub fn log_likelihood(&self) -> f64 {
        match self {
            Metrics::Numbers(m) => m.log_likelihood,
            Metrics::Classes(m) => m.log_likelihood,
        }
    }

    /// One after the other, with what each means.
    pub fn explained(&self) -> Vec<Explained> {
        let number = |name: &str, value: f64, meaning: &'static str| {
            let value = if value.is_finite() { format!("{value:.4}") } else { "not finite".to_string() };
            Explained { name: name.to_string(), value, meaning }
        };
        let log_likelihood = number(
            "log-likelihood",
            self.log_likelihood(),
            "how probable the observed values were, in nats a row; higher is better",
        );
        let calibrated = "how far stated probabilities are from frequencies: 0 is perfect";
        match self {
            Metrics::Numbers(m) => {
                let intervals = LEVELS.iter().zip(m.coverage).map(|(level, share)| Explained {
                    name: format!("{:.0}% interval", 100.0 * level),
                    value: format!("{:.1} %", 100.0 * share),
                    meaning: "the share of rows inside it",
                });
                let own = [
                    log_likelihood,
                    number("RMSE", m.rmse, "typical error of the mean, in the target's units"),
                    number("MAE", m.mae, "mean absolute error of the median, in the target's units"),
                    number("CRPS", m.crps, "error of the whole prediction, in the target's units"),
                    number("calibration error", m.calibration, calibrated),
                ];
                own.into_iter().chain(intervals).collect()
            }
            Metrics::Classes(m) => vec![
                log_likelihood,
                number("accuracy", m.accuracy, "the share of rows whose most probable class is right"),
                number("Brier score", m.brier, "squared error of the probabilities: 0 is perfect"),
                number("calibration error", m.calibration, calibrated),
            ],
        }
    }
}

/// Predictions beside what was observed.
pub enum Judged {
    /// Of numbers.
    Numbers {
        /// Of each row.
        scores: Vec<Score>,
        /// Deviation, the quantiles of 5 and 95 %, and the deviation of noise alone.
        spread: Vec<[f64; 4]>,
    },
    /// Of classes.
    Classes(Vec<ClassScore>),
}

impl Judged {
    /// `y` is in the model's scale of the target; NaN is unknown.
    pub(crate) fn new(predictions: &Predictions, y: &[f64]) -> Judged {
        let Predictions { prediction, zero, unit, .. } = predictions;
        if let Some(scores) = predictions.labels().and_then(|_| class_scores(prediction, y)) {
            return Judged::Classes(scores);
        }
        let known = (0..y.len()).into_par_iter().filter(|&n| !y[n].is_nan());
        let judge = |n: usize| {
            let predicted = prediction.marginal(n, 0);
            let [low, high] = TAILS.map(|p| zero + unit * predicted.quantile(p));
            (
                Score::new(&predicted, y[n], *zero, *unit),
                [unit * predicted.deviation(), low, high, predictions.noise(n)],
            )
        };
        let (scores, spread) = known.map(judge).unzip();
        Judged::Numbers { scores, spread }
    }

    /// Adds those of further rows to all before.
    pub(crate) fn append(all: &mut Option<Judged>, further: Judged) {
        match (all, further) {
            (Some(Judged::Numbers { scores, spread }), Judged::Numbers { scores: more, spread: wider }) => {
                scores.extend(more);
                spread.extend(wider);
            }
            (Some(Judged::Classes(scores)), Judged::Classes(more)) => scores.extend(more),
            (all, further) => *all = Some(further),
        }
    }

    /// What they come to.
    pub fn metrics(&self) -> Metrics {
        match self {
            Judged::Numbers { scores, .. } => Metrics::Numbers(Regression::of(scores)),
            Judged::Classes(scores) => Metrics::Classes(Classification::of(scores)),
        }
    }

    /// Tensors for the model file, by name.
    pub(crate) fn kept(&self) -> BTreeMap<String, Tensor> {
        let named = |name: &str, tensor: Tensor| (format!("held_out.{name}"), tensor);
        match self {
            Judged::Numbers { scores, spread } => {
                let of = |f: fn(&Score) -> f64| Tensor::vector(scores.iter().take(KEPT).map(f).collect());
                // where a prediction jumps, anywhere in the jump is as likely
                let pit = |(i, s): (usize, &Score)| s.pit + s.jump * ((i as f64 * EVEN).fract() - 0.5);
                let pits = scores.iter().take(KEPT).enumerate().map(pit).collect();
                let spread_of = |i: usize| Tensor::vector(spread.iter().take(KEPT).map(|s| s[i]).collect());
                BTreeMap::from([
                    named("observed", of(|s| s.observed)),
                    named("mean", of(|s| s.mean)),
                    named("pit", Tensor::vector(pits)),
                    named("log_density", of(|s| s.log_density)),
                    named("sd", spread_of(0)),
                    named("lower", spread_of(1)),
                    named("upper", spread_of(2)),
                    named("noise", spread_of(3)),
                ])
            }
            Judged::Classes(scores) => {
                let kept = &scores[..scores.len().min(KEPT)];
                let classes = kept.first().map_or(0, |s| s.probabilities.len());
                let probabilities = kept.iter().flat_map(|s| s.probabilities.iter().copied()).collect();
                BTreeMap::from([
                    named("observed", Tensor::vector(kept.iter().map(|s| s.observed as f64).collect())),
                    named("probabilities", Tensor { shape: vec![kept.len(), classes], values: probabilities }),
                ])
            }
        }
    }
}
