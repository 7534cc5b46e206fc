//! Noise: how far rows scatter whatever is known of them.

use super::regression::{around, outside};
use super::{lead, wide_figure};
use crate::chart::{Axis, DRAWN_SINGLY, Ink, Mark, Plot, drawable};
use crate::report::{Noise, NumberPrediction};
use crate::statistics::{quantile, robust_range, with_air};
use crate::text::rounded;

/// Noises that differ by less than this fraction are one.
const SAME: f64 = 1e-6;
/// Digits of a standard deviation.
const DIGITS: i32 = 2;
const SIZE: (f64, f64) = (400.0, 290.0);

/// A chart of noise that varies, a sentence about noise that does not, nothing where there is none.
pub(super) fn figure(target: &str, points: &[NumberPrediction], noise: &Noise) -> String {
    let mut sorted: Vec<f64> = noise.deviations.iter().copied().filter(|d| is_deviation(*d)).collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (quantile(&sorted, 0.05), quantile(&sorted, 0.95)) else { return String::new() };
    let meaning =
        format!("Noise is the scatter of {target} that these columns do not explain: more rows would not lower it.");
    let [least, most] = [low, high].map(|d| rounded(d, DIGITS));
    if sorted[sorted.len() - 1] - sorted[0] <= SAME * high {
        return lead(&format!("{meaning} Its standard deviation is {most} for every row."));
    }
    let between = format!("Its standard deviation lies between {least} and {most} for the middle 90\u{202f}% of rows");
    match &noise.against {
        Some((name, values)) => {
            let text = format!("{meaning} {between}; of the columns of numbers it goes with {name} most closely.");
            chart(target, name, values.iter().copied(), &noise.deviations, &text)
        }
        None => {
            let (label, means) = (format!("predicted {target}"), points.iter().map(|p| p.mean));
            chart(target, &label, means, &noise.deviations, &format!("{meaning} {between}."))
        }
    }
}

fn is_deviation(value: f64) -> bool {
    drawable(value) && value >= 0.0
}

/// Noise against something.
fn chart(target: &str, label: &str, across: impl Iterator<Item = f64>, deviations: &[f64], text: &str) -> String {
    let drawn = across.zip(deviations.iter().copied()).filter(|p| drawable(p.0) && is_deviation(p.1));
    let drawn: Vec<(f64, f64)> = drawn.collect();
    let Some(first) = drawn.first() else { return lead(text) };
    let range = robust_range(drawn.iter().map(|p| p.0)).and_then(with_air);
    let range = range.unwrap_or_else(|| around(first.0, first.0));
    let most = robust_range(drawn.iter().map(|p| p.1)).map_or(first.1, |r| r.1);
    let beyond = drawn.iter().filter(|p| p.0 < range.0 || p.0 > range.1 || p.1 > most).count();
    let singly = drawn.len() <= DRAWN_SINGLY;
    let rows = if singly { "Each dot is a row." } else { "The stronger the colour, the more rows." };
    let caption = format!("{text} {rows}{}", outside(beyond));
    let title = "High up: rows with much noise";
    let y = Axis::new(format!("standard deviation of noise in {target}")).over(0.0, 1.05 * most);
    let plot = Plot::new(title, Axis::new(label).over(range.0, range.1), y)
        .sized(SIZE.0, SIZE.1)
        .described(&caption)
        .with("", Ink::Series(0), Mark::Points { points: drawn, radius: 2.2 });
    wide_figure(title, &plot.inline(), &caption)
}
