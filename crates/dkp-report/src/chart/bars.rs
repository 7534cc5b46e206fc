//! Bar charts: named amounts, one below the other.

use super::colour::Ink;
use super::svg::{Anchor, FONT, Picture, at, fill};
use crate::text::{fit, rounded, width};
use std::fmt::Write;

/// Named amounts as bars, in the order given.
///
/// ```
/// use dkp_report::chart::BarChart;
/// let chart = BarChart { bars: vec![("age".into(), 0.7), ("height".into(), 0.3)], ..BarChart::default() };
/// assert!(chart.svg().contains("height"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// What to look for.
    pub title: String,
    /// What is shown, for those who cannot see it.
    pub description: String,
    /// What the bars measure, with the unit.
    pub label: String,
    /// Names and amounts; those that are negative or not finite count as 0.
    pub bars: Vec<(String, f64)>,
    /// So many of the last bars are drawn in grey.
    pub muted: usize,
}

const WIDTH: f64 = 400.0;
const ROW: f64 = 20.0;
/// Significant digits of an amount.
const DIGITS: i32 = 2;

impl BarChart {
    /// A stand-alone picture, on white.
    pub fn svg(&self) -> String {
        self.picture().stand_alone()
    }

    /// A picture for a page that has the style sheet of reports.
    pub fn inline(&self) -> String {
        self.picture().inline()
    }

    fn picture(&self) -> Picture {
        let top = 24.0;
        let height = top + ROW * self.bars.len() as f64;
        let mut picture = Picture::new(WIDTH, height, &self.title, &self.description);
        let amount = |v: f64| if super::drawable(v) { v.max(0.0) } else { 0.0 };
        let most = self.bars.iter().map(|b| amount(b.1)).fold(0.0, f64::max);
        let names = self.bars.iter().map(|b| FONT * width(&b.0)).fold(0.0, f64::max).min(150.0);
        let numbers = self.bars.iter().map(|b| FONT * width(&rounded(b.1, DIGITS))).fold(0.0, f64::max).min(100.0);
        let (left, room) = (names + 8.0, WIDTH - names - numbers - 16.0);
        picture.text(left, 12.0, Anchor::Start, true, &fit(&self.label, (WIDTH - left) / FONT));
        for (i, (name, value)) in self.bars.iter().enumerate() {
            let y = top + ROW * i as f64;
            let long = if most > 0.0 { (room * (amount(*value) / most)).max(1.0) } else { 1.0 };
            let ink = if i + self.muted >= self.bars.len() { Ink::Muted } else { Ink::Series(0) };
            picture.text(names, y + 13.0, Anchor::End, true, &fit(name, names / FONT + 0.01));
            picture.open_marks("");
            let (l, t, w) = (at(left), at(y + 2.5), at(long));
            let _ = write!(picture.body, "<path{} fill-opacity=\"0.8\" d=\"M{l} {t}h{w}v14h-{w}z\"/>", fill(ink));
            picture.close();
            picture.text(left + long + 6.0, y + 13.0, Anchor::Start, false, &fit(&rounded(*value, DIGITS), 8.0));
        }
        picture
    }
}
