//! How good predictions of known targets are: metrics, and what a model file keeps of them.

use crate::Predictions;
use dkp::file::Tensor;
use dkp::metrics::{ClassScore, Classification, LEVELS, Regression, Score, class_scores};
use dkp_report::Better;
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
    /// What programs call it.
    pub key: &'static str,
    /// What it is called.
    pub name: String,
    /// Its value.
    pub number: f64,
    /// The same, as it is written.
    pub value: String,
    /// Which values are better, where this can be said.
    pub better: Option<Better>,
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
        let of = |key, name: &str, number: f64, better, meaning| {
            let own = Explained { key, name: name.to_string(), number, value: String::new(), better, meaning };
            Explained { value: own.written(number), ..own }
        };
        let log_likelihood = of(
            "log_likelihood",
            "log-likelihood",
            self.log_likelihood(),
            Some(Better::Higher),
            "how probable the observed values were, in nats a row; higher is better",
        );
        let calibration = |v| {
            let meaning = "how far stated probabilities are from frequencies: 0 is perfect";
            of("calibration", "calibration error", v, Some(Better::Lower), meaning)
        };
        let error = |key, name, v, meaning| of(key, name, v, Some(Better::Lower), meaning);
        match self {
            Metrics::Numbers(m) => {
                let intervals = COVERAGES.iter().zip(m.coverage).map(|(key, share)| {
                    of(key, &format!("{key} interval"), share, None, "the share of rows inside it")
                });
                let own = [
                    log_likelihood,
                    error("rmse", "RMSE", m.rmse, "typical error of the mean, in the target's units"),
                    error("mae", "MAE", m.mae, "mean absolute error of the median, in the target's units"),
                    error("crps", "CRPS", m.crps, "error of the whole prediction, in the target's units"),
                    calibration(m.calibration),
                ];
                own.into_iter().chain(intervals).collect()
            }
            Metrics::Classes(m) => {
                let right = "the share of rows whose most probable class is right";
                vec![
                    log_likelihood,
                    of("accuracy", "accuracy", m.accuracy, Some(Better::Higher), right),
                    error("brier", "Brier score", m.brier, "squared error of the probabilities: 0 is perfect"),
                    calibration(m.calibration),
                ]
            }
        }
    }
}

/// Coverages by the names of their [`LEVELS`].
const COVERAGES: [&str; 3] = ["50%", "90%", "95%"];

impl Explained {
    /// A value of the metric, or a difference of two, as it is written.
    pub fn written(&self, value: f64) -> String {
        match value {
            v if !v.is_finite() => "not finite".to_string(),
            v if COVERAGES.contains(&self.key) => format!("{:.1} %", 100.0 * v),
            v => format!("{v:.4}"),
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

    /// What each row adds to a metric that is a mean over rows, by its key: the difference of two means has the error of the mean of these differences.
    /// RMSE is no mean, but its changes are, of e²/2·RMSE, as far as they are small. A calibration error is none.
    pub(crate) fn terms(&self, key: &str) -> Option<Vec<f64>> {
        match self {
            Judged::Numbers { scores, .. } => {
                let of = |f: &dyn Fn(&Score) -> f64| Some(scores.iter().map(f).collect());
                match key {
                    "log_likelihood" => of(&|s| s.log_density),
                    "rmse" => {
                        let rmse = Regression::of(scores).rmse;
                        of(&|s| if rmse > 0.0 { s.squared_error() / (2.0 * rmse) } else { 0.0 })
                    }
                    "mae" => of(&Score::absolute_error),
                    "crps" => of(&|s| s.crps),
                    _ => {
                        let level = LEVELS[COVERAGES.iter().position(|c| *c == key)?];
                        of(&|s| f64::from(s.is_inside(level)))
                    }
                }
            }
            Judged::Classes(scores) => {
                let of = |f: fn(&ClassScore) -> f64| Some(scores.iter().map(f).collect());
                match key {
                    "log_likelihood" => of(ClassScore::log_probability),
                    "accuracy" => of(|s| f64::from(s.is_right())),
                    "brier" => of(ClassScore::squared_distance),
                    _ => None,
                }
            }
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
