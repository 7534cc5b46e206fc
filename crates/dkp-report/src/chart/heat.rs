//! Heat maps: a matrix as an image, with its colours explained.

use super::colour::TEXT;
use super::matrix::{Cells, Colours};
use super::scale::{Axis, Scale, Spacing, drawable};
use super::svg::{Anchor, FONT, Picture, at};
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
    /// How much lies in each cell, in the same order, drawn as dots; empty for none.
    pub dots: Vec<f64>,
    /// Across; without a range, columns count from 1.
    pub x: Axis,
    /// Down; without a range, rows count from 1.
    pub y: Axis,
    /// What the colours mean.
    pub value: String,
}

const WIDTH: f64 = 400.0;
/// Height of a name.
const LINE: f64 = 18.0;
/// Radii of dots.
const LARGEST_DOT: f64 = 7.0;
const SMALLEST_DOT: f64 = 1.1;

impl HeatMap {
    /// A stand-alone picture, on white.
    pub fn svg(&self) -> String {
        self.picture().stand_alone()
    }

    /// A picture for a page that has the style sheet of reports.
    pub fn inline(&self) -> String {
        self.picture().inline()
    }

    fn picture(&self) -> Picture {
        let cells = Cells::of(self.rows, self.columns, &self.values);
        let colours = Colours::of(cells.values.iter().copied());
        let scale = colours.scale();
        let numbered = |axis: &Axis, n: usize| {
            let counted = || axis.clone().over(0.5, n.max(1) as f64 + 0.5).spaced(Spacing::Count);
            let axis = if axis.range.is_none() { counted() } else { axis.clone() };
            Scale::new(&axis, std::iter::empty(), 4)
        };
        let (x, y) = (numbered(&self.x, self.columns), numbered(&self.y, self.rows));
        let (left, right) = (8.0 + y.widest_label(), 14.0 + Colours::bar_width(&scale));
        let side = (WIDTH - left - right).max(40.0);
        let shape = cells.rows as f64 / cells.columns.max(1) as f64;
        let tall = if cells.columns == 0 { side } else { side * shape.clamp(0.25, 1.25) };
        // names down need their lines
        let tall = tall.max(LINE * self.y.names.len() as f64);
        let (top, bottom) = (26.0, if self.x.label.is_empty() { 20.0 } else { 38.0 });
        let mut picture = Picture::new(WIDTH, top + tall + bottom, &self.title, &self.description);

        let half = WIDTH / 2.0 / FONT - 0.5;
        picture.text(0.0, 12.0, Anchor::Start, true, &fit(&self.y.label, half));
        picture.text(WIDTH, 12.0, Anchor::End, true, &fit(&self.value, half));
        let names = if self.x.names.is_empty() { WIDTH } else { side / self.columns.max(1) as f64 };
        ticks(&mut picture, (left, top), (side, tall), &x, &y, names);
        if !self.x.label.is_empty() {
            let label = fit(&self.x.label, WIDTH / FONT);
            let half = FONT * width(&label) / 2.0;
            let middle = (left + side / 2.0).min(WIDTH - half).max(half);
            picture.text(middle, top + tall + 34.0, Anchor::Middle, true, &label);
        }
        cells.draw(&mut picture, (left, top), (side, tall), &colours);
        self.draw_dots(&mut picture, (left, top), (side, tall));
        colours.draw_bar(&mut picture, (left + side + 14.0, top), tall, &scale);
        picture
    }

    /// Dots whose areas go with what lies in the cells.
    fn draw_dots(&self, picture: &mut Picture, (left, top): (f64, f64), (wide, tall): (f64, f64)) {
        let some = self.dots.iter().any(|v| drawable(*v) && *v > 0.0);
        if !some || self.rows.checked_mul(self.columns) != Some(self.dots.len()) {
            return;
        }
        let (across, down) = (wide / self.columns as f64, tall / self.rows as f64);
        let most = self.dots.iter().copied().filter(|v| drawable(*v)).fold(f64::MIN_POSITIVE, f64::max);
        let largest = (0.42 * across.min(down)).min(LARGEST_DOT);
        picture.open_marks("");
        for (i, dot) in self.dots.iter().enumerate().filter(|(_, v)| drawable(**v) && **v > 0.0) {
            let (column, row) = (i / self.rows, i % self.rows);
            let radius = (largest * (dot / most).sqrt()).max(SMALLEST_DOT);
            let [x, y] = [left + across * (column as f64 + 0.5), top + down * (row as f64 + 0.5)].map(at);
            let _ = write!(
                picture.body,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\" fill=\"#fff\" stroke=\"{TEXT}\" stroke-width=\"0.8\"/>",
                at(radius)
            );
        }
        picture.close();
    }
}

/// Names across are cut to `room`.
fn ticks(picture: &mut Picture, corner: (f64, f64), size: (f64, f64), x: &Scale, y: &Scale, room: f64) {
    let ((left, top), bottom) = (corner, corner.1 + size.1);
    for (value, label) in &x.ticks {
        let at = left + size.0 * x.place(*value).unwrap_or(0.0);
        picture.grid((at, bottom), (at, bottom + 4.0));
        picture.text(at, bottom + 17.0, Anchor::Middle, false, &fit(label, room / FONT));
    }
    for (value, label) in &y.ticks {
        let at = top + size.1 * y.place(*value).unwrap_or(0.0);
        picture.grid((left - 4.0, at), (left, at));
        picture.text(left - 6.0, at + 4.3, Anchor::End, false, label);
    }
}
