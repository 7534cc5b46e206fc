//! Matrices as images: cells, their colours, and the bar that explains them.

use super::colour::{diverging, sequential};
use super::image::data_uri;
use super::scale::{Axis, Scale, drawable};
use super::svg::{Anchor, Picture, at};
use crate::statistics::quantile;
use std::fmt::Write;

/// More rows or columns than this are averaged in blocks.
const MOST_PIXELS: usize = 240;
/// Colours of a map; one more is blank.
const COLOURS: usize = 254;
/// Width of a colour bar.
const BAR: f64 = 12.0;

/// A matrix of at most `MOST_PIXELS` a side.
pub(crate) struct Cells {
    pub rows: usize,
    pub columns: usize,
    /// Row by row.
    pub values: Vec<f64>,
}

impl Cells {
    /// Of a matrix, column by column; empty if it has another number of values.
    pub fn of(rows: usize, columns: usize, values: &[f64]) -> Cells {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Cells { rows: 0, columns: 0, values: Vec::new() };
        }
        let block = |n: usize| n.div_ceil(MOST_PIXELS).max(1);
        let (down, across) = (block(rows), block(columns));
        let mean = |r: usize, c: usize| {
            let (mut sum, mut count) = (0.0, 0.0);
            for j in c * across..((c + 1) * across).min(columns) {
                for i in r * down..((r + 1) * down).min(rows) {
                    let v = values[j * rows + i];
                    if drawable(v) {
                        sum += v;
                        count += 1.0;
                    }
                }
            }
            if count > 0.0 { sum / count } else { f64::NAN }
        };
        let (rows, columns) = (rows.div_ceil(down), columns.div_ceil(across));
        let values = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).map(|(r, c)| mean(r, c)).collect();
        Cells { rows, columns, values }
    }

    /// Draws them, the first row on top.
    pub fn draw(&self, picture: &mut Picture, corner: (f64, f64), size: (f64, f64), colours: &Colours) {
        let pixels: Vec<u8> = self.values.iter().map(|v| colours.pixel(*v)).collect();
        image(picture, corner, size, &data_uri(self.columns, self.rows, &pixels, &colours.palette()));
    }
}

/// What values the colours span. Without negative values they run from dark to light, otherwise from blue over white at 0 to rust.
pub(crate) struct Colours {
    low: f64,
    high: f64,
    diverging: bool,
}

impl Colours {
    /// A span that a few extreme values do not stretch.
    pub fn of(values: impl Iterator<Item = f64>) -> Colours {
        let mut finite: Vec<f64> = values.filter(|v| v.is_finite()).collect();
        finite.sort_by(f64::total_cmp);
        let (low, high) = (quantile(&finite, 0.005).unwrap_or(0.0), quantile(&finite, 0.995).unwrap_or(1.0));
        if low < -0.02 * high.abs() {
            let most = low.abs().max(high.abs());
            return Colours { low: -most, high: most, diverging: true };
        }
        let enough = high - low > 1e-6 * high.abs();
        let low = if enough { low } else { 0.0 };
        Colours { low, high: if high > low { high } else { low + 1.0 }, diverging: false }
    }

    /// A given span; with negative values it is made as wide on both sides of 0.
    pub fn over(low: f64, high: f64) -> Colours {
        let most = low.abs().max(high.abs());
        if low < 0.0 {
            return Colours { low: -most, high: most, diverging: true };
        }
        Colours { low, high, diverging: false }
    }

    /// The scale of their bar.
    pub fn scale(&self) -> Scale {
        Scale::new(&Axis::new("").over(self.low, self.high), std::iter::empty(), 5)
    }

    /// Width of a colour bar with its labels.
    pub fn bar_width(scale: &Scale) -> f64 {
        BAR + 8.0 + scale.widest_label()
    }

    /// Draws the bar.
    pub fn draw_bar(&self, picture: &mut Picture, (left, top): (f64, f64), height: f64, scale: &Scale) {
        let ramp: Vec<u8> = (1..=COLOURS as u8).rev().collect();
        image(picture, (left, top), (BAR, height), &data_uri(1, COLOURS, &ramp, &self.palette()));
        for (value, label) in &scale.ticks {
            let y = top + height * (1.0 - scale.place(*value).unwrap_or(0.0));
            picture.grid((left + BAR, y), (left + BAR + 4.0, y));
            picture.text(left + BAR + 7.0, y + 4.3, Anchor::Start, false, label);
        }
    }

    fn pixel(&self, value: f64) -> u8 {
        if !value.is_finite() {
            return 0;
        }
        let place = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        1 + (place * (COLOURS - 1) as f64).round() as u8
    }

    /// Blank, then from low to high.
    fn palette(&self) -> Vec<[u8; 4]> {
        let colour = |i: usize| {
            let t = i as f64 / (COLOURS - 1) as f64;
            let [r, g, b] = if self.diverging { diverging(2.0 * t - 1.0) } else { sequential(t) };
            [r, g, b, 255]
        };
        std::iter::once([0; 4]).chain((0..COLOURS).map(colour)).collect()
    }
}

fn image(picture: &mut Picture, corner: (f64, f64), size: (f64, f64), uri: &str) {
    let [x, y, w, h] = [corner.0, corner.1, size.0, size.1].map(at);
    picture.open_marks("");
    let _ = write!(
        picture.body,
        "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" preserveAspectRatio=\"none\" \
         style=\"image-rendering:pixelated\" href=\"{uri}\"/>"
    );
    picture.close();
}
