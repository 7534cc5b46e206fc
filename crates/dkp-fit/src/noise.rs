//! The columns with which noise goes: what pictures of it are drawn against.

use crate::Card;
use crate::judge::{HELD_OUT, kept_of};
use dkp::data::Dataset;
use dkp::file::Tensor;
use dkp_table::Kind;
use std::collections::BTreeMap;

/// Stretches into which rows are divided by a column's value, at most, and the rows of one, at least.
const STRETCHES: usize = 10;
const ROWS: usize = 10;
/// Noises whose logarithms have a smaller variance are one noise.
const SAME: f64 = 1e-12;

/// What the name of the tensor of a target's column begins with.
pub(crate) fn column_of(target: usize) -> String {
    if target == 0 { format!("{HELD_OUT}column.") } else { format!("{HELD_OUT}{target}.column.") }
}

/// For each target the column of numbers that explains more of the noise of held-out rows than any other, and than their predicted means; in the table's
/// units. None where noise is the same everywhere.
pub(crate) fn noise_columns(card: &Card, held_out: &Dataset, kept: &BTreeMap<String, Tensor>) -> Vec<(String, Tensor)> {
    (0..card.targets.count()).filter_map(|t| noise_column(card, held_out, kept, t)).collect()
}

fn noise_column(
    card: &Card,
    held_out: &Dataset,
    kept: &BTreeMap<String, Tensor>,
    target: usize,
) -> Option<(String, Tensor)> {
    let [noise, mean] = ["noise", "mean"].map(|name| kept_of(kept, name, target));
    // rows of which the target is known
    let known: Vec<usize> = (0..noise.len()).filter(|&n| !noise[n].is_nan()).collect();
    let of = |f: &dyn Fn(usize) -> f64| known.iter().map(|&n| f(n)).collect::<Vec<f64>>();
    let logs = of(&|n| noise[n].ln());
    let (columns, features) = (card.columns(), card.encoder.features());
    let is_number = |name: &str| {
        columns.iter().any(|(column, kind)| column == name && matches!(kind, Kind::Number | Kind::Written(_)))
    };
    let mut best = (None, explained(&of(&|n| mean[n]), &logs)?);
    for (i, feature) in features.iter().enumerate().filter(|(_, f)| is_number(&f.name)) {
        let value = |n: usize| card.feature_scale.value(i, held_out.x(n)[i]);
        let share = explained(&of(&value), &logs)?;
        if share > best.1 {
            let values = (0..noise.len()).map(value).collect();
            best = (Some((column_of(target) + &feature.name, Tensor::vector(values))), share);
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
