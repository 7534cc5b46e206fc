//! Predictions in the targets' own units and with their labels.

use crate::Targets;
use dkp::model::Prediction;
use dkp_table::{Column, Kind, Texts, Unfamiliar};
use rayon::prelude::*;

/// The quantiles that are told if nothing is said.
pub const QUANTILES: [f64; 3] = [0.05, 0.5, 0.95];

/// What is predicted for some rows. All of it is of the mixture over posterior draws itself.
#[derive(Clone)]
pub struct Predictions {
    pub(crate) prediction: Prediction,
    /// What is 0 and what is 1 more in the model's scale of each target.
    pub(crate) units: Vec<(f64, f64)>,
    pub(crate) targets: Targets,
    /// Values that no training row had.
    pub unfamiliar: Unfamiliar,
}

impl Predictions {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.prediction.points()
    }

    /// What is predicted. Targets of numbers are counted from 0.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The classes' names, if classes are predicted.
    pub fn labels(&self) -> Option<&[String]> {
        self.targets.labels()
    }

    /// The mean of a target; of classes, that of their numbers.
    pub fn mean(&self, row: usize, target: usize) -> f64 {
        self.in_units(target, self.prediction.moments(row, target).mean)
    }

    /// The standard deviation of a target.
    pub fn deviation(&self, row: usize, target: usize) -> f64 {
        let m = self.prediction.moments(row, target);
        self.units[target].1 * (m.model + m.noise).sqrt()
    }

    /// The standard deviation of noise: the part of the deviation that more rows would not lower.
    pub fn noise(&self, row: usize, target: usize) -> f64 {
        self.units[target].1 * self.prediction.moments(row, target).noise.sqrt()
    }

    /// The value below which a target is with probability p.
    pub fn quantile(&self, row: usize, target: usize, p: f64) -> f64 {
        self.in_units(target, self.prediction.quantile(row, target, p))
    }

    /// P(target ≤ y).
    pub fn cdf(&self, row: usize, target: usize, y: f64) -> f64 {
        let (zero, unit) = self.units[target];
        self.prediction.cdf(row, target, (y - zero) / unit)
    }

    /// The logarithm of the density at y, which has all targets, NaN where one is not asked for; or of a class's probability.
    pub fn log_density(&self, row: usize, y: &[f64]) -> f64 {
        let scaled: Vec<f64> = y.iter().zip(&self.units).map(|(y, (zero, unit))| (y - zero) / unit).collect();
        self.log_density_of_scaled(row, &scaled)
    }

    /// The same at y in the model's scale.
    pub(crate) fn log_density_of_scaled(&self, row: usize, y: &[f64]) -> f64 {
        let known = y.iter().zip(&self.units).filter(|(y, _)| !y.is_nan());
        self.prediction.log_density(row, y) - known.map(|(_, (_, unit))| unit.ln()).sum::<f64>()
    }

    /// A number of the model's scale in the target's units.
    pub(crate) fn in_units(&self, target: usize, scaled: f64) -> f64 {
        let (zero, unit) = self.units[target];
        zero + unit * scaled
    }

    /// The probability of each class, if classes are predicted.
    pub fn probabilities(&self, row: usize) -> Option<Vec<f64>> {
        self.labels().and_then(|_| self.prediction.probabilities(row))
    }

    /// The most probable class, the first of equals, if classes are predicted.
    pub fn class(&self, row: usize) -> Option<&str> {
        let best = best(&self.probabilities(row)?);
        self.labels()?.get(best).map(String::as_str)
    }

    /// The columns that [`columns`](Predictions::columns) has, with the numbers of each target as `numbers` say; classes by name, or by number where there can
    /// be no text. Names of columns say which of several targets they are of.
    pub fn column_kinds(targets: &Targets, quantiles: &[f64], text: bool, numbers: &[Kind]) -> Vec<(String, Kind)> {
        let number = |t: usize| numbers.get(t).copied().unwrap_or(Kind::Number);
        let Some(labels) = targets.labels() else {
            let several = targets.count() > 1;
            let of_target = |(t, target): (usize, String)| {
                let moments = ["mean", "sd", "sd of model", "sd of noise"].map(str::to_string);
                let own = moments.into_iter().chain(quantiles.iter().map(|p| format!("quantile {p}")));
                own.map(move |name| (if several { format!("{target}: {name}") } else { name }, number(t)))
            };
            return targets.names().into_iter().enumerate().flat_map(of_target).collect();
        };
        let class = ("class".to_string(), if text { Kind::Text } else { Kind::Number });
        let probability = labels.iter().map(|l| (format!("probability of {l}"), number(0)));
        std::iter::once(class).chain(probability).collect()
    }

    /// Everything as columns: mean, deviations and quantiles of each target; or the most probable class and the probability of each.
    pub fn columns(&self, quantiles: &[f64], text: bool) -> Vec<(String, Column)> {
        let columns = match self.labels() {
            Some(labels) => self.classes(labels, text),
            None => (0..self.targets.count()).flat_map(|t| self.numbers(t, quantiles)).collect(),
        };
        let names = Predictions::column_kinds(&self.targets, quantiles, text, &[]).into_iter().map(|c| c.0);
        names.zip(columns).collect()
    }

    fn numbers(&self, target: usize, quantiles: &[f64]) -> Vec<Column> {
        let unit = self.units[target].1;
        let row = |n: usize| {
            let predicted = self.prediction.marginal(n, target);
            let m = predicted.moments();
            let deviations = [m.model + m.noise, m.model, m.noise].map(|v| unit * v.sqrt());
            let own = [self.in_units(target, m.mean)].into_iter().chain(deviations);
            own.chain(quantiles.iter().map(|&p| self.in_units(target, predicted.quantile(p)))).collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = (0..self.rows()).into_par_iter().map(row).collect();
        (0..4 + quantiles.len()).map(|i| Column::Numbers(rows.iter().map(|r| r[i]).collect())).collect()
    }

    fn classes(&self, labels: &[String], text: bool) -> Vec<Column> {
        let row = |n: usize| self.prediction.probabilities(n).unwrap_or_else(|| vec![f64::NAN; labels.len()]);
        let all: Vec<Vec<f64>> = (0..self.rows()).into_par_iter().map(row).collect();
        let class = match text {
            true => Column::Texts(all.iter().map(|p| labels.get(best(p)).map(String::as_str)).collect::<Texts>()),
            false => Column::Numbers(all.iter().map(|p| best(p) as f64).collect()),
        };
        let probability = |c: usize| Column::Numbers(all.iter().map(|p| p[c]).collect());
        std::iter::once(class).chain((0..labels.len()).map(probability)).collect()
    }
}

/// The place of the largest, the first of equals.
fn best(p: &[f64]) -> usize {
    (0..p.len()).fold(0, |b, c| if p[c] > p[b] { c } else { b })
}
