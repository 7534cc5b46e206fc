//! Interval charts: named values with what chance allows around them, one below the other.

use super::colour::Ink;
use super::scale::{Axis, Scale};
use super::svg::{Anchor, FONT, Picture, at, fill, stroke};
use crate::text::{fit, width};
use std::fmt::Write;

/// Named values, each a dot on a line from a lower to an upper end, beside a dashed line at 0.
///
/// ```
/// use dkp_report::chart::{Axis, IntervalChart};
/// let rows = vec![("new model".into(), -0.3, -0.5, -0.1)];
/// let chart = IntervalChart { x: Axis::new("difference"), rows, ..IntervalChart::default() };
/// assert!(chart.svg().contains("new model"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalChart {
    /// What to look for.
    pub title: String,
    /// What is shown, for those who cannot see it.
    pub description: String,
    /// What the values are; 0 is always on it.
    pub x: Axis,
    /// Names, values, and lower and upper ends; what is not finite is left out.
    pub rows: Vec<(String, f64, f64, f64)>,
}

const WIDTH: f64 = 400.0;
const ROW: f64 = 26.0;
/// Names have at most so much room.
const NAMES: f64 = 150.0;
/// Between the names and the area, and right of it: half a tick label.
const GAP: f64 = 22.0;

impl IntervalChart {
    /// A stand-alone picture, on white.
    pub fn svg(&self) -> String {
        self.picture().stand_alone()
    }

    /// A picture for a page that has the style sheet of reports.
    pub fn inline(&self) -> String {
        self.picture().inline()
    }

    fn picture(&self) -> Picture {
        let (top, height) = (6.0, ROW * self.rows.len() as f64);
        let mut picture = Picture::new(WIDTH, top + height + 40.0, &self.title, &self.description);
        let names = self.rows.iter().map(|r| FONT * width(&r.0)).fold(0.0, f64::max).min(NAMES);
        let (left, right) = (names + GAP, WIDTH - GAP);
        let values = self.rows.iter().flat_map(|r| [r.1, r.2, r.3]).chain([0.0]);
        let scale = Scale::new(&self.x, values, 4);
        let across = |value: f64| scale.place(value).map(|place| left + place * (right - left));
        for (value, label) in &scale.ticks {
            let Some(x) = across(*value) else { continue };
            picture.grid((x, top), (x, top + height + 4.0));
            picture.text(x, top + height + 17.0, Anchor::Middle, false, label);
        }
        let label = fit(&self.x.label, (WIDTH - left) / FONT);
        picture.text((left + right) / 2.0, top + height + 34.0, Anchor::Middle, true, &label);
        if let Some(zero) = across(0.0) {
            let (x, end, stroke) = (at(zero), at(top + height), stroke(Ink::Muted));
            let _ = write!(picture.body, "<path{stroke} stroke-dasharray=\"4 3\" d=\"M{x} {}V{end}\"/>", at(top));
        }
        for (i, (name, value, low, high)) in self.rows.iter().enumerate() {
            let y = top + ROW * (i as f64 + 0.5);
            picture.text(names, y + 4.3, Anchor::End, true, &fit(name, names / FONT + 0.01));
            picture.open_marks("");
            if let (Some(low), Some(high)) = (across(*low), across(*high)) {
                let (a, b, y) = (at(low), at(high), at(y));
                let _ = write!(picture.body, "<path{} stroke-width=\"2\" d=\"M{a} {y}H{b}\"/>", stroke(Ink::Series(0)));
            }
            if let Some(x) = across(*value) {
                let (x, y) = (at(x), at(y));
                let _ = write!(picture.body, "<circle{} cx=\"{x}\" cy=\"{y}\" r=\"4\"/>", fill(Ink::Series(0)));
            }
            picture.close();
        }
        picture
    }
}
