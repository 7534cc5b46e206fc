//! Heat maps: a matrix as an image, with its colours explained.

use super::colour::{diverging, sequential};
use super::image::data_uri;
use super::scale::{Axis, Scale, Spacing, drawable};
use super::svg::{Anchor, FONT, Picture, at};
use crate::statistics::quantile;
use crate::text::{fit, width};
use std::fmt::Write;

/// A matrix as an image; its first row is on top.
///
/// Matrices without negative values run from dark to light; others from blue over white at 0 to rust.
///
/// ```
/// use dkp_report::chart::{Axis, HeatMap};
/// let gram = HeatMap {
///     title: "A Gram matrix".to_string(),
///     rows: 2,
///     columns: 2,
///     values: vec![1.0, 0.3, 0.3, 1.0],
///     ..HeatMap::default()
/// };
/// assert!(gram.svg().contains("data:image/png;base64,"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// What to look for.
    pub title: String,
    /// What is shown, for those who cannot see it.
    pub description: String,
    /// Rows of the matrix.
    pub rows: usize,
    /// Its columns.
    pub columns: usize,
    /// Column by column. What is not finite is left blank; nothing is drawn of another number of values.
    pub values: Vec<f64>,
    /// Across; without a range, columns count from 1.
    pub x: Axis,
    /// Down; without a range, rows count from 1.
    pub y: Axis,
    /// What the colours mean.
    pub value: String,
}

/// More rows or columns than this are averaged in blocks.
const MOST_PIXELS: usize = 240;
/// Colours of a map; one more is blank.
const COLOURS: usize = 254;
const WIDTH: f64 = 400.0;
const BAR: f64 = 12.0;

/// What values the colours span.
struct Colours {
    low: f64,
    high: f64,
    diverging: bool,
}

impl HeatMap {
    /// A stand-alone picture, on white.
    pub fn svg(&self) -> String {
        self.picture().stand_alone()
    }

    /// A picture for a page that has the style sheet of reports.
    pub fn inline(&self) -> String {
        self.picture().inline()
    }

    /// Rows, columns and values, row by row, of at most `MOST_PIXELS` a side.
    fn reduced(&self) -> (usize, usize, Vec<f64>) {
        if self.rows.checked_mul(self.columns) != Some(self.values.len()) {
            return (0, 0, Vec::new());
        }
        let block = |n: usize| n.div_ceil(MOST_PIXELS).max(1);
        let (down, across) = (block(self.rows), block(self.columns));
        let (rows, columns) = (self.rows.div_ceil(down), self.columns.div_ceil(across));
        let mean = |r: usize, c: usize| {
            let (mut sum, mut count) = (0.0, 0.0);
            for j in c * across..((c + 1) * across).min(self.columns) {
                for i in r * down..((r + 1) * down).min(self.rows) {
                    let v = self.values[j * self.rows + i];
                    if drawable(v) {
                        sum += v;
                        count += 1.0;
                    }
                }
            }
            if count > 0.0 { sum / count } else { f64::NAN }
        };
        let cells = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).map(|(r, c)| mean(r, c)).collect();
        (rows, columns, cells)
    }

    fn picture(&self) -> Picture {
        let (rows, columns, cells) = self.reduced();
        let colours = Colours::of(&cells);
        let scale = Scale::new(&Axis::new("").over(colours.low, colours.high), std::iter::empty(), 5);
        let numbered = |axis: &Axis, n: usize| {
            let counted = || axis.clone().over(0.5, n.max(1) as f64 + 0.5).spaced(Spacing::Count);
            let axis = if axis.range.is_none() { counted() } else { axis.clone() };
            Scale::new(&axis, std::iter::empty(), 4)
        };
        let (x, y) = (numbered(&self.x, self.columns), numbered(&self.y, self.rows));
        let widest = |s: &Scale| FONT * s.ticks.iter().map(|t| width(&t.1)).fold(0.0, f64::max);
        let (left, right) = (8.0 + widest(&y), BAR + 22.0 + widest(&scale));
        let side = (WIDTH - left - right).max(40.0);
        let tall = if columns == 0 { side } else { side * (rows as f64 / columns as f64).clamp(0.25, 1.25) };
        let (top, bottom) = (26.0, if self.x.label.is_empty() { 20.0 } else { 38.0 });
        let mut picture = Picture::new(WIDTH, top + tall + bottom, &self.title, &self.description);

        let half = WIDTH / 2.0 / FONT - 0.5;
        picture.text(0.0, 12.0, Anchor::Start, true, &fit(&self.y.label, half));
        picture.text(WIDTH, 12.0, Anchor::End, true, &fit(&self.value, half));
        ticks(&mut picture, (left, top), (side, tall), &x, &y);
        if !self.x.label.is_empty() {
            let label = fit(&self.x.label, WIDTH / FONT);
            let middle = (left + side / 2.0).max(FONT * width(&label) / 2.0);
            picture.text(middle, top + tall + 34.0, Anchor::Middle, true, &label);
        }
        let pixels: Vec<u8> = cells.iter().map(|v| colours.pixel(*v)).collect();
        let map = data_uri(columns, rows, &pixels, &colours.palette());
        image(&mut picture, (left, top), (side, tall), &map);
        let ramp: Vec<u8> = (1..=COLOURS as u8).rev().collect();
        let bar = left + side + 14.0;
        image(&mut picture, (bar, top), (BAR, tall), &data_uri(1, COLOURS, &ramp, &colours.palette()));
        for (value, label) in &scale.ticks {
            let y = top + tall * (1.0 - scale.place(*value).unwrap_or(0.0));
            picture.grid((bar + BAR, y), (bar + BAR + 4.0, y));
            picture.text(bar + BAR + 7.0, y + 4.3, Anchor::Start, false, label);
        }
        picture
    }
}

fn ticks(picture: &mut Picture, corner: (f64, f64), size: (f64, f64), x: &Scale, y: &Scale) {
    let ((left, top), bottom) = (corner, corner.1 + size.1);
    for (value, label) in &x.ticks {
        let at = left + size.0 * x.place(*value).unwrap_or(0.0);
        picture.grid((at, bottom), (at, bottom + 4.0));
        picture.text(at, bottom + 17.0, Anchor::Middle, false, label);
    }
    for (value, label) in &y.ticks {
        let at = top + size.1 * y.place(*value).unwrap_or(0.0);
        picture.grid((left - 4.0, at), (left, at));
        picture.text(left - 6.0, at + 4.3, Anchor::End, false, label);
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

impl Colours {
    /// A span that a few extreme values do not stretch.
    fn of(cells: &[f64]) -> Colours {
        let mut finite: Vec<f64> = cells.iter().copied().filter(|v| v.is_finite()).collect();
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
