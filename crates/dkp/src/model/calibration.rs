//! How sure predictions should be.

use super::Prediction;
use crate::data::Dataset;
use crate::likelihoods::TargetKind;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A latent f counts as scale·(m + doubt·(f − m)) in predictions, where m is its mean over the whole posterior: within draws and between them.
///
/// A posterior of latents of classes is broader than labels warrant: labels that are nearly always right are likelier than a softmax of broad latents
/// makes them, since hard cases were sorted out before anyone saw them (Aitchison, A statistical theory of cold posteriors, ICLR 2021). Training may make it
/// colder, and rows that were not learned from decide the rest.
///
/// The noise of numbers is multiplied too. Bounds are about each draw by itself, so that what a draw errs by, E(y − f)², is noise to them: what draws differ
/// by is counted in it, and again where they are mixed. Rows that were not learned from tell how much of the noise that is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Above 0: more than 1 makes probabilities more extreme.
    pub scale: f64,
    /// From 0, where the means alone count, to 1, where the posterior counts as it is.
    pub doubt: f64,
    /// Above 0: what the deviation of noise is multiplied by.
    #[serde(default = "as_it_is")]
    pub noise: f64,
}

/// Files had none for noise at first.
fn as_it_is() -> f64 {
    1.0
}

/// A calibration that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibrating {
    /// What was found.
    pub calibration: Calibration,
    /// The log-probability of what was observed without it and with it, in nats a point.
    pub scores: [f64; 2],
    /// The mean probability of the most probable class without it and with it.
    pub confidence: [f64; 2],
}

/// The deviation of log(scale) before any row is seen, so that a few rows that are all right do not make probabilities 0 and 1.
const SPREAD: f64 = 1.0;
/// The doubts that are compared.
const DOUBTS: [f64; 8] = [1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.07, 0.0];
/// What log(scale) and log(noise) are within.
const WIDEST: f64 = 3.0;
/// How precisely log(scale) and log(noise) are found.
const PRECISION: f64 = 0.05;

impl Calibration {
    /// Predictions as they are.
    pub const NONE: Calibration = Calibration { scale: 1.0, doubt: 1.0, noise: 1.0 };

    /// The one under which predictions make what was observed most probable: `parts` of the data, each with what a model that had not seen it said.
    pub fn of(parts: &[(Prediction, Dataset)]) -> Calibrating {
        let points = parts.iter().map(|(_, data)| data.points()).sum::<usize>().max(1) as f64;
        let score = |calibration: Calibration| {
            let prior = -0.5 * (calibration.scale.ln() / SPREAD).powi(2);
            let fit = |(predictions, data): &(Prediction, Dataset)| {
                let predictions = predictions.clone().calibrated(calibration);
                let log = |n: usize| predictions.log_density(n, data.y(n));
                (0..data.points()).into_par_iter().map(log).collect::<Vec<f64>>().iter().sum::<f64>()
            };
            (parts.iter().map(fit).sum::<f64>() + prior) / points
        };
        let before = score(Calibration::NONE);
        let mut best = (Calibration::NONE, before);
        for doubt in DOUBTS {
            let found =
                largest(-WIDEST, WIDEST, |log| score(Calibration { scale: log.exp(), doubt, ..Calibration::NONE }));
            if found.1 > best.1 {
                best = (Calibration { scale: found.0.exp(), doubt, ..Calibration::NONE }, found.1);
            } else if best.0.doubt > doubt {
                // less doubt has begun to be worse
                break;
            }
        }
        let confidence = [Calibration::NONE, best.0].map(|c| {
            let sum = |(predictions, _): &(Prediction, Dataset)| confidence(&predictions.clone().calibrated(c));
            parts.iter().map(sum).sum::<f64>() / points
        });
        Calibrating { calibration: best.0, scores: [before, best.1], confidence }
    }

    /// The noise under which numbers that a model has not seen are most probable, and their log-density without it and with it, in nats a point; none
    /// where targets are not numbers.
    pub fn of_noise(prediction: &Prediction, data: &Dataset) -> Option<(Calibration, [f64; 2])> {
        if prediction.target_kind() != TargetKind::Real || data.points() == 0 {
            return None;
        }
        let with = |noise: f64| Calibration { noise, ..Calibration::NONE };
        let score = |noise: f64| {
            let calibrated = prediction.clone().calibrated(with(noise));
            let log = |n: usize| calibrated.log_density(n, data.y(n));
            let logs = (0..data.points()).into_par_iter().map(log).collect::<Vec<f64>>();
            logs.iter().sum::<f64>() / data.points() as f64
        };
        let (log, best) = largest(-WIDEST, WIDEST, |log| score(log.exp()));
        Some((with(log.exp()), [score(1.0), best]))
    }
}

/// The probabilities of the most probable classes, summed over points; NaN where there are no classes.
fn confidence(predictions: &Prediction) -> f64 {
    let largest = |n: usize| predictions.probabilities(n).map_or(f64::NAN, |p| p.into_iter().fold(0.0, f64::max));
    (0..predictions.points()).map(largest).sum()
}

/// Where a function with one peak is largest, and its value there: golden sections.
fn largest(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let inner = |low: f64, high: f64| [high - ratio * (high - low), low + ratio * (high - low)];
    let [mut left, mut right] = inner(low, high).map(|x| (x, f(x)));
    while high - low > PRECISION {
        if left.1 > right.1 {
            (high, right) = (right.0, left);
            left = {
                let x = inner(low, high)[0];
                (x, f(x))
            };
        } else {
            (low, left) = (left.0, right);
            right = {
                let x = inner(low, high)[1];
                (x, f(x))
            };
        }
    }
    if left.1 > right.1 { left } else { right }
}
