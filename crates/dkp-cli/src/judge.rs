//! How good predictions of known targets are: metrics, what a model file keeps of them, and lines for people.

use crate::trained::Record;
use anyhow::Context as _;
use dkp::file::Tensor;
use dkp::metrics::{ClassScore, Classification, LEVELS, Regression, Score, class_scores, scores};
use dkp::model::Prediction;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Held-out rows whose predictions a model file keeps.
const KEPT: usize = 10_000;
/// The quantiles that are kept.
const TAILS: [f64; 2] = [0.05, 0.95];

/// Predictions beside what was observed.
pub enum Judged {
    Numbers { scores: Vec<Score>, spread: Vec<[f64; 3]> },
    Classes(Vec<ClassScore>),
}

impl Judged {
    /// `y` is in the predictions' scale; NaN is unknown.
    pub fn new(record: &Record, prediction: &Prediction, y: &[f64]) -> anyhow::Result<Judged> {
        if record.labels().is_some() {
            return Ok(Judged::Classes(class_scores(prediction, y).context("the model has no classes")?));
        }
        let (zero, unit) = record.target_scale();
        let known: Vec<usize> = (0..y.len()).filter(|&n| !y[n].is_nan()).take(KEPT).collect();
        let spread = known.par_iter().map(|&n| {
            let moments = prediction.moments(n, 0);
            let [low, high] = TAILS.map(|p| zero + unit * prediction.quantile(n, 0, p));
            [unit * (moments.model + moments.noise).sqrt(), low, high]
        });
        Ok(Judged::Numbers { spread: spread.collect(), scores: scores(prediction, 0, y, zero, unit) })
    }

    /// Adds those of further rows.
    pub fn extend(&mut self, other: Judged) {
        match (self, other) {
            (Judged::Numbers { scores, .. }, Judged::Numbers { scores: more, .. }) => scores.extend(more),
            (Judged::Classes(scores), Judged::Classes(more)) => scores.extend(more),
            _ => {}
        }
    }

    /// As one JSON object.
    pub fn metrics(&self) -> Value {
        match self {
            Judged::Numbers { scores, .. } => {
                let m = Regression::of(scores);
                let names = LEVELS.map(|l| format!("{:.0}%", 100.0 * l));
                let coverage: BTreeMap<_, _> = names.into_iter().zip(m.coverage).collect();
                json!({
                    "rows": m.rows,
                    "log_likelihood": m.log_likelihood,
                    "rmse": m.rmse,
                    "mae": m.mae,
                    "crps": m.crps,
                    "coverage": coverage,
                    "calibration": m.calibration,
                })
            }
            Judged::Classes(scores) => json!(Classification::of(scores)),
        }
    }

    /// Tensors for the model file, by name.
    pub fn kept(&self) -> BTreeMap<String, Tensor> {
        let named = |name: &str, tensor: Tensor| (format!("held_out.{name}"), tensor);
        match self {
            Judged::Numbers { scores, spread } => {
                let of = |f: fn(&Score) -> f64| Tensor::vector(scores.iter().take(KEPT).map(f).collect());
                let spread_of = |i: usize| Tensor::vector(spread.iter().map(|s| s[i]).collect());
                BTreeMap::from([
                    named("observed", of(|s| s.observed)),
                    named("mean", of(|s| s.mean)),
                    named("pit", of(|s| s.pit)),
                    named("sd", spread_of(0)),
                    named("lower", spread_of(1)),
                    named("upper", spread_of(2)),
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

/// Metrics for people, a line each: name, value, meaning.
pub fn facts(metrics: &Value) -> Vec<(String, String, &'static str)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, key: &str, digits: usize, meaning: &'static str| {
        if let Some(value) = metrics.get(key) {
            let value = value.as_f64().map_or("not finite".to_string(), |v| format!("{v:.digits$}"));
            facts.push((name.to_string(), value, meaning));
        }
    };
    add(
        "log-likelihood",
        "log_likelihood",
        4,
        "how probable the observed values were, in nats a row; higher is better",
    );
    add("accuracy", "accuracy", 4, "the share of rows whose most probable class is right");
    add("RMSE", "rmse", 4, "typical error of the mean, in the target's units");
    add("MAE", "mae", 4, "mean absolute error of the median, in the target's units");
    add("CRPS", "crps", 4, "error of the whole prediction, in the target's units");
    add("Brier score", "brier", 4, "squared error of the probabilities: 0 is perfect");
    add("calibration error", "calibration", 4, "how far stated probabilities are from frequencies: 0 is perfect");
    if let Some(coverage) = metrics["coverage"].as_object() {
        for (level, share) in coverage {
            let share = 100.0 * share.as_f64().unwrap_or(f64::NAN);
            facts.push((format!("{level} interval"), format!("{share:.1} %"), "the share of rows inside it"));
        }
    }
    facts
}

/// The same as text.
pub fn lines(metrics: &Value) -> String {
    let rows = metrics["rows"].as_u64().unwrap_or(0);
    let head = format!("on {rows} held-out {}:\n", if rows == 1 { "row" } else { "rows" });
    facts(metrics)
        .iter()
        .fold(head, |text, (name, value, meaning)| text + &format!("  {name:<17} {value:>9}  {meaning}\n"))
}
