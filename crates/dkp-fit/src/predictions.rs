//! Predictions in the target's own units and with its labels.

use dkp::model::Prediction;
use dkp_table::{Column, Kind, Texts, Unfamiliar};
use rayon::prelude::*;

/// The quantiles that are told if nothing is said.
pub const QUANTILES: [f64; 3] = [0.05, 0.5, 0.95];

/// What is predicted for some rows. All of it is of the mixture over posterior draws itself.
#[derive(Clone)]
pub struct Predictions {
    pub(crate) prediction: Prediction,
    /// What is 0 and what is 1 more in the model's scale.
    pub(crate) zero: f64,
    pub(crate) unit: f64,
    pub(crate) labels: Option<Vec<String>>,
    /// Values that no training row had.
    pub unfamiliar: Unfamiliar,
}

impl Predictions {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.prediction.points()
    }

    /// The classes' names, if classes are predicted.
    pub fn labels(&self) -> Option<&[String]> {
        self.labels.as_deref()
    }

    /// The mean; of classes, that of their numbers.
    pub fn mean(&self, row: usize) -> f64 {
        self.zero + self.unit * self.prediction.moments(row, 0).mean
    }

    /// The standard deviation.
    pub fn deviation(&self, row: usize) -> f64 {
        let m = self.prediction.moments(row, 0);
        self.unit * (m.model + m.noise).sqrt()
    }

    /// The standard deviation of noise: the part of the deviation that more rows would not lower.
    pub fn noise(&self, row: usize) -> f64 {
        self.unit * self.prediction.moments(row, 0).noise.sqrt()
    }

    /// The value below which the target is with probability p.
    pub fn quantile(&self, row: usize, p: f64) -> f64 {
        self.zero + self.unit * self.prediction.quantile(row, 0, p)
    }

    /// P(target ≤ y).
    pub fn cdf(&self, row: usize, y: f64) -> f64 {
        self.prediction.cdf(row, 0, (y - self.zero) / self.unit)
    }

    /// The logarithm of the density at y, or of a class's probability.
    pub fn log_density(&self, row: usize, y: f64) -> f64 {
        self.prediction.log_density(row, &[(y - self.zero) / self.unit]) - self.unit.ln()
    }

    /// The probability of each class, if classes are predicted.
    pub fn probabilities(&self, row: usize) -> Option<Vec<f64>> {
        self.labels.as_ref().and_then(|_| self.prediction.probabilities(row))
    }

    /// The most probable class, the first of equals, if classes are predicted.
    pub fn class(&self, row: usize) -> Option<&str> {
        let best = best(&self.probabilities(row)?);
        self.labels.as_ref()?.get(best).map(String::as_str)
    }

    /// The columns that [`columns`](Predictions::columns) has, with their numbers as `number` says; classes by name, or by number where there can be no text.
    pub fn column_kinds(labels: Option<&[String]>, quantiles: &[f64], text: bool, number: Kind) -> Vec<(String, Kind)> {
        let Some(labels) = labels else {
            let moments = ["mean", "sd", "sd of model", "sd of noise"].map(str::to_string);
            let quantiles = quantiles.iter().map(|p| format!("quantile {p}"));
            return moments.into_iter().chain(quantiles).map(|name| (name, number)).collect();
        };
        let class = ("class".to_string(), if text { Kind::Text } else { Kind::Number });
        let probability = labels.iter().map(|l| (format!("probability of {l}"), number));
        std::iter::once(class).chain(probability).collect()
    }

    /// Everything as columns: mean, deviations and quantiles; or the most probable class and the probability of each.
    pub fn columns(&self, quantiles: &[f64], text: bool) -> Vec<(String, Column)> {
        let columns = match &self.labels {
            Some(labels) => self.classes(labels, text),
            None => self.numbers(quantiles),
        };
        let names = Predictions::column_kinds(self.labels(), quantiles, text, Kind::Number).into_iter().map(|c| c.0);
        names.zip(columns).collect()
    }

    fn numbers(&self, quantiles: &[f64]) -> Vec<Column> {
        let unit = self.unit;
        let row = |n: usize| {
            let predicted = self.prediction.marginal(n, 0);
            let m = predicted.moments();
            let deviations = [m.model + m.noise, m.model, m.noise].map(|v| unit * v.sqrt());
            let own = [self.zero + unit * m.mean].into_iter().chain(deviations);
            own.chain(quantiles.iter().map(|&p| self.zero + unit * predicted.quantile(p))).collect::<Vec<f64>>()
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
