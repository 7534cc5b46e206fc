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
    /// Of several targets, which are numbers.
    Several {
        /// Rows of which a target was known.
        rows: usize,
        /// Mean log-density of all targets of a row together; none if it is not finite.
        log_likelihood: Option<f64>,
        /// Each target's, in its units.
        targets: Vec<TargetMetrics>,
    },
}

/// How good predictions of one of several targets are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetMetrics {
    /// The target.
    pub target: String,
    /// Its metrics.
    #[serde(flatten)]
    pub metrics: Regression,
}

/// A metric for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// What programs call it.
    pub metric: &'static str,
    /// The one of several targets that it is about; none if it is about all of them.
    pub target: Option<String>,
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
    /// Rows of which a target was known.
    pub fn rows(&self) -> usize {
        match self {
            Metrics::Numbers(m) => m.rows,
            Metrics::Classes(m) => m.rows,
            Metrics::Several { rows, .. } => *rows,
        }
    }

    /// Mean log-density or log-probability of what was observed.
    pub fn log_likelihood(&self) -> f64 {
        match self {
            Metrics::Numbers(m) => m.log_likelihood,
            Metrics::Classes(m) => m.log_likelihood,
            Metrics::Several { log_likelihood, .. } => log_likelihood.unwrap_or(f64::NAN),
        }
    }

    /// One after the other, with what each means; of several targets first what is about all, then target by target.
    pub fn explained(&self) -> Vec<Explained> {
        let of = |metric, name: &str, number: f64, better, meaning| {
            let (name, target) = (name.to_string(), None);
            let own = Explained { metric, target, name, number, value: String::new(), better, meaning };
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
            Metrics::Several { targets, .. } => {
                let of_target = |t: &TargetMetrics| {
                    let own = Metrics::Numbers(t.metrics.clone()).explained().into_iter();
                    let target = Some(t.target.clone());
                    own.map(move |e| Explained { target: target.clone(), ..e }).collect::<Vec<_>>()
                };
                let known = targets.iter().filter(|t| t.metrics.rows > 0);
                [log_likelihood].into_iter().chain(known.flat_map(of_target)).collect()
            }
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
    /// What tells it from all others, of other targets too.
    pub fn key(&self) -> String {
        self.target.as_ref().map_or(self.metric.to_string(), |target| format!("{} of {target}", self.metric))
    }

    /// A value of the metric, or a difference of two, as it is written.
    pub fn written(&self, value: f64) -> String {
        match value {
            v if !v.is_finite() => "not finite".to_string(),
            v if COVERAGES.contains(&self.metric) => format!("{:.1} %", 100.0 * v),
            v if ["rmse", "mae", "crps"].contains(&self.metric) => in_units(v),
            v => format!("{v:.4}"),
        }
    }
}

/// A number in a target's units, which may be anything.
pub fn in_units(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-2..1e7).contains(&size) => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    }
}

/// Predictions beside what was observed.
pub(crate) enum Judged {
    /// Of numbers.
    Numbers {
        /// The targets' names.
        names: Vec<String>,
        rows: Vec<NumbersRow>,
    },
    /// Of classes.
    Classes(Vec<ClassScore>),
}

/// A row of numbers.
#[derive(Clone, Debug)]
pub(crate) struct NumbersRow {
    /// The logarithm of the density at all targets that are known.
    pub log_density: f64,
    /// Target by target, those that are known.
    pub targets: Vec<Option<Predicted>>,
}

/// A number beside what was predicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predicted {
    pub score: Score,
    pub deviation: f64,
    /// The quantiles of 5 and 95 %.
    pub tails: [f64; 2],
    /// The deviation of noise alone.
    pub noise: f64,
}

impl Judged {
    /// `y` has all targets of each row, in the model's scale; NaN is unknown.
    pub fn new(predictions: &Predictions, y: &[f64]) -> Judged {
        let prediction = &predictions.prediction;
        if let Some(scores) = predictions.labels().and_then(|_| class_scores(prediction, y)) {
            return Judged::Classes(scores);
        }
        let count = predictions.targets.count();
        let of_target = |n: usize, t: usize, y: f64| {
            let (zero, unit) = predictions.units[t];
            let predicted = prediction.marginal(n, t);
            Predicted {
                score: Score::new(&predicted, y, zero, unit),
                deviation: unit * predicted.deviation(),
                tails: TAILS.map(|p| zero + unit * predicted.quantile(p)),
                noise: predictions.noise(n, t),
            }
        };
        let row = |(n, y): (usize, &[f64])| {
            let of_known = |(t, y): (usize, &f64)| (!y.is_nan()).then(|| of_target(n, t, *y));
            let targets: Vec<Option<Predicted>> = y.iter().enumerate().map(of_known).collect();
            let log_density = match targets.as_slice() {
                [Some(only)] => only.score.log_density,
                _ => predictions.log_density_of_scaled(n, y),
            };
            targets.iter().any(Option::is_some).then_some(NumbersRow { log_density, targets })
        };
        let rows = y.par_chunks(count).enumerate().filter_map(row).collect();
        Judged::Numbers { names: predictions.targets.names(), rows }
    }

    /// Adds those of further rows to all before.
    pub fn append(all: &mut Option<Judged>, further: Judged) {
        match (all, further) {
            (Some(Judged::Numbers { rows, .. }), Judged::Numbers { rows: more, .. }) => rows.extend(more),
            (Some(Judged::Classes(scores)), Judged::Classes(more)) => scores.extend(more),
            (all, further) => *all = Some(further),
        }
    }

    /// What they come to.
    pub fn metrics(&self) -> Metrics {
        match self {
            Judged::Numbers { names, rows } => match names.as_slice() {
                [_] => Metrics::Numbers(Regression::of(&scores(rows, 0))),
                names => Metrics::Several {
                    rows: rows.len(),
                    log_likelihood: Some(mean(rows.iter().map(|r| r.log_density))).filter(|l| l.is_finite()),
                    targets: (0..)
                        .zip(names)
                        .map(|(t, target)| TargetMetrics {
                            target: target.clone(),
                            metrics: Regression::of(&scores(rows, t)),
                        })
                        .collect(),
                },
            },
            Judged::Classes(scores) => Metrics::Classes(Classification::of(scores)),
        }
    }

    /// What each row adds to a metric that is a mean over rows: the difference of two means has the error of the mean of these differences. RMSE is no mean,
    /// but its changes are, of e²/2·RMSE, as far as they are small. A calibration error is none.
    pub fn terms(&self, metric: &Explained) -> Option<Vec<f64>> {
        match self {
            Judged::Numbers { names, rows } => {
                let target = match &metric.target {
                    None if names.len() > 1 => return Some(rows.iter().map(|r| r.log_density).collect()),
                    None => 0,
                    Some(target) => names.iter().position(|name| name == target)?,
                };
                let scores = scores(rows, target);
                let of = |f: &dyn Fn(&Score) -> f64| Some(scores.iter().map(f).collect());
                match metric.metric {
                    "log_likelihood" => of(&|s| s.log_density),
                    "rmse" => {
                        let rmse = Regression::of(&scores).rmse;
                        of(&|s| if rmse > 0.0 { s.squared_error() / (2.0 * rmse) } else { 0.0 })
                    }
                    "mae" => of(&Score::absolute_error),
                    "crps" => of(&|s| s.crps),
                    other => {
                        let level = LEVELS[COVERAGES.iter().position(|c| *c == other)?];
                        of(&|s| f64::from(s.is_inside(level)))
                    }
                }
            }
            Judged::Classes(scores) => {
                let of = |f: fn(&ClassScore) -> f64| Some(scores.iter().map(f).collect());
                match metric.metric {
                    "log_likelihood" => of(ClassScore::log_probability),
                    "accuracy" => of(|s| f64::from(s.is_right())),
                    "brier" => of(ClassScore::squared_distance),
                    _ => None,
                }
            }
        }
    }

    /// Tensors for the model file, by name; of several targets one after the other, with NaN where they are unknown.
    pub fn kept(&self) -> BTreeMap<String, Tensor> {
        let named = |name: &str, tensor: Tensor| (format!("{HELD_OUT}{name}"), tensor);
        match self {
            Judged::Numbers { names, rows } => {
                let rows = &rows[..rows.len().min(KEPT)];
                let of = |f: &dyn Fn(usize, &Predicted) -> f64| {
                    let value = |t: usize, i: usize| rows[i].targets[t].as_ref().map_or(f64::NAN, |p| f(i, p));
                    let values = (0..names.len()).flat_map(|t| (0..rows.len()).map(move |i| value(t, i))).collect();
                    let shape = if names.len() == 1 { vec![rows.len()] } else { vec![names.len(), rows.len()] };
                    Tensor { shape, values }
                };
                // where a prediction jumps, anywhere in the jump is as likely
                let pit = |i: usize, s: &Score| s.pit + s.jump * ((i as f64 * EVEN).fract() - 0.5);
                BTreeMap::from([
                    named("observed", of(&|_, p| p.score.observed)),
                    named("mean", of(&|_, p| p.score.mean)),
                    named("pit", of(&|i, p| pit(i, &p.score))),
                    named("log_density", of(&|_, p| p.score.log_density)),
                    named("sd", of(&|_, p| p.deviation)),
                    named("lower", of(&|_, p| p.tails[0])),
                    named("upper", of(&|_, p| p.tails[1])),
                    named("noise", of(&|_, p| p.noise)),
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

/// The scores of a target where it is known.
fn scores(rows: &[NumbersRow], target: usize) -> Vec<Score> {
    rows.iter().filter_map(|r| Some(r.targets[target].as_ref()?.score)).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// What the names of tensors about held-out rows begin with.
pub(crate) const HELD_OUT: &str = "held_out.";

/// What a model file keeps of a target of held-out rows; nothing where it keeps none.
pub(crate) fn kept_of<'a>(tensors: &'a BTreeMap<String, Tensor>, name: &str, target: usize) -> &'a [f64] {
    let Some(tensor) = tensors.get(&format!("{HELD_OUT}{name}")) else { return &[] };
    let rows = tensor.shape.last().copied().unwrap_or_default();
    tensor.values.chunks_exact(rows.max(1)).nth(target).unwrap_or_default()
}
