//! The column with which noise goes: what a picture of it is drawn against.

use crate::Card;
use dkp::data::Dataset;
use dkp::file::Tensor;
use dkp_table::Kind;
use std::collections::BTreeMap;

/// What the name of the column's tensor begins with.
pub(crate) const COLUMN: &str = "held_out.column.";
/// Stretches into which rows are divided by a column's value, at most, and the rows of one, at least.
const STRETCHES: usize = 10;
const ROWS: usize = 10;
/// Noises whose logarithms have a smaller variance are one noise.
const SAME: f64 = 1e-12;

/// The column of numbers that explains more of the noise of held-out rows than any other, and than their predicted means; in the table's
/// units. None if noise is the same everywhere.
pub(crate) fn noise_column(
    card: &Card,
    held_out: &Dataset,
    kept: &BTreeMap<String, Tensor>,
) -> Option<(String, Tensor)> {
    let [noise, mean] = ["held_out.noise", "held_out.mean"].map(|name| kept.get(name).map(|t| &t.values));
    let logs: Vec<f64> = noise?.iter().map(|d| d.ln()).collect();
    let (columns, features) = (card.columns(), card.encoder.features());
    let is_number = |name: &str| {
        columns.iter().any(|(column, kind)| column == name && matches!(kind, Kind::Number | Kind::Written(_)))
    };
    let mut best = (None, explained(mean?, &logs)?);
    for (i, feature) in features.iter().enumerate().filter(|(_, f)| is_number(&f.name)) {
        let value = |n: usize| card.feature_scale.value(i, held_out.x(n)[i]);
        let values: Vec<f64> = (0..logs.len()).map(value).collect();
        let share = explained(&values, &logs)?;
        if share > best.1 {
            best = (Some((format!("{COLUMN}{}", feature.name), Tensor::vector(values))), share);
        }
    }
    best.0
}

/// The share of the variance of y that lies between stretches of rows of similar x; none if y does not vary.
fn explained(x: &[f64], y: &[f64]) -> Option<f64> {
    let mut rows: Vec<usize> = (0..y.len()).collect();
    rows.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let mean = |rows: &[usize]| rows.iter().map(|&n| y[n]).sum::<f64>() / rows.len() as f64;
    let centre = mean(&rows);
    let total: f64 = y.iter().map(|v| (v - centre).powi(2)).sum();
    let stretches = (rows.len() / ROWS).clamp(2, STRETCHES);
    let between = rows.chunks(rows.len().div_ceil(stretches).max(1));
    let between: f64 = between.map(|part| part.len() as f64 * (mean(part) - centre).powi(2)).sum();
    (total > SAME * y.len() as f64).then_some(between / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column that y follows, one that it follows up and down, and one that it does not.
    #[test]
    fn what_goes_with_y_explains_it() {
        let x: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 200)).collect();
        let other: Vec<f64> = (0..200).map(|i| f64::from(i * 71 % 193)).collect();
        let bowl: Vec<f64> = x.iter().map(|x| (x - 100.0).powi(2)).collect();
        assert!(explained(&x, &x).unwrap() > 0.98 && explained(&x, &bowl).unwrap() > 0.95);
        assert!(explained(&other, &x).unwrap() < 0.2, "{:?}", explained(&other, &x));
        assert_eq!(explained(&x, &vec![3.0; 200]), None);
        assert_eq!(explained(&[], &[]), None);
    }
}
