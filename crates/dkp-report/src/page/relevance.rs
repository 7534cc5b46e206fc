//! Which features the model listens to.

use super::{absent, wide_figure};
use crate::chart::{BarChart, drawable};
use crate::text::count;

/// Bars that are drawn one by one; the rest is one bar.
const MOST_BARS: usize = 20;

/// The section about features.
pub(super) fn body(relevance: &[(String, f64)]) -> String {
    let mut weights: Vec<(String, f64)> =
        relevance.iter().filter(|r| drawable(r.1)).map(|(name, weight)| (name.clone(), weight.abs())).collect();
    if weights.is_empty() {
        return absent("The model has no weights of single features.");
    }
    let title = "Long bars are the features that matter most";
    // stable: equal weights stay in the order of the table
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rest = weights.split_off(weights.len().min(MOST_BARS));
    let muted = usize::from(!rest.is_empty());
    let mut caption = "How far a change of a feature by one standard deviation moves a row in the eyes of the model; \
                       a feature with a weight near zero is ignored."
        .to_string();
    if muted > 0 {
        let total = rest.iter().map(|r| r.1).sum();
        weights.push((format!("{} more, summed", rest.len()), total));
        caption.push_str(" The grey bar is the sum of all features that are not shown.");
    }
    let left_out = relevance.len() - rest.len() - (weights.len() - muted);
    if left_out > 0 {
        caption.push_str(&format!(" {} without a finite weight left out.", count(left_out, "feature")));
    }
    let chart = BarChart {
        title: title.into(),
        description: caption.clone(),
        label: "weight, without unit".into(),
        bars: weights,
        muted,
    };
    wide_figure(title, &chart.inline(), &caption)
}
