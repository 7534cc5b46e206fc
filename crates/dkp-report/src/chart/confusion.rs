//! Confusion matrices: what was, against what was predicted.

use super::colour::{Ink, TEXT};
use super::svg::{Anchor, FONT, Picture, at, fill};
use crate::text::{fit, fixed, width};
use std::fmt::Write;

/// How often each class was taken for which, as a coloured table.
///
/// ```
/// use dkp_report::chart::Confusion;
/// let chart = Confusion { labels: vec!["no".into(), "yes".into()], counts: vec![90, 10, 5, 45], ..Confusion::default() };
/// assert!(chart.svg().contains(">90<"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confusion {
    /// What to look for.
    pub title: String,
    /// What is shown, for those who cannot see it.
    pub description: String,
    /// Names of the classes.
    pub labels: Vec<String>,
    /// Row by row: how many of the observed class (row) were predicted as which (column).
    pub counts: Vec<usize>,
}

const WIDTH: f64 = 400.0;
/// Least width of a cell: four digits.
const CELL: f64 = 34.0;

impl Confusion {
    /// More classes than this do not fit; take a heat map for those.
    pub const MOST: usize = 10;

    /// A stand-alone picture, on white.
    pub fn svg(&self) -> String {
        self.picture().stand_alone()
    }

    /// A picture for a page that has the style sheet of reports.
    pub fn inline(&self) -> String {
        self.picture().inline()
    }

    fn picture(&self) -> Picture {
        let classes = self.labels.len().min(Confusion::MOST);
        let most = (WIDTH - CELL * classes as f64 - 8.0).min(130.0);
        // room for a number before the name
        let names = self.labels.iter().map(|l| FONT * (width(l) + 1.8)).fold(0.0, f64::max).min(most);
        let across = (WIDTH - names - 8.0) / classes.max(1) as f64;
        let down = across.clamp(CELL, 44.0);
        let (left, top) = (names + 8.0, 42.0);
        let mut picture = Picture::new(WIDTH, top + down * classes as f64 + 2.0, &self.title, &self.description);
        picture.text(0.0, 12.0, Anchor::Start, true, "observed ↓");
        picture.text(WIDTH, 12.0, Anchor::End, true, "predicted →");
        let numbered = self.labels.iter().any(|l| FONT * width(l) > across - 4.0);
        for (i, label) in self.labels.iter().enumerate().take(classes) {
            let (middle, row) = (left + across * (i as f64 + 0.5), top + down * i as f64);
            let (short, long) = if numbered {
                ((i + 1).to_string(), format!("{} {label}", i + 1))
            } else {
                (label.clone(), label.clone())
            };
            picture.text(middle, 34.0, Anchor::Middle, false, &short);
            picture.text(names, row + down / 2.0 + 4.3, Anchor::End, false, &fit(&long, names / FONT + 0.01));
            let count = |j: usize| self.counts.get(i * self.labels.len() + j).copied().unwrap_or(0);
            let total = (0..self.labels.len()).map(count).sum::<usize>().max(1);
            for j in 0..classes {
                let corner = (left + across * j as f64, row);
                cell(&mut picture, corner, (across, down), count(j), count(j) as f64 / total as f64);
            }
        }
        picture
    }
}

/// A cell: the larger its share of the row, the stronger its colour.
fn cell(picture: &mut Picture, corner: (f64, f64), size: (f64, f64), count: usize, share: f64) {
    let [x, y, w, h] = [corner.0 + 1.0, corner.1 + 1.0, size.0 - 2.0, size.1 - 2.0].map(at);
    let opacity = 0.06 + 0.94 * share;
    picture.open_marks("");
    let path = format!("M{x} {y}h{w}v{h}h-{w}z");
    let _ = write!(picture.body, "<path{} fill-opacity=\"{opacity:.2}\" d=\"{path}\"/>", fill(Ink::Series(0)));
    picture.close();
    if count == 0 {
        return;
    }
    let text = fit(&fixed(count as f64, 0), size.0 / FONT);
    let (x, y) = (at(corner.0 + size.0 / 2.0), at(corner.1 + size.1 / 2.0 + 4.3));
    // above this share the colour is nearer to the text than to the page
    let (class, ink) = if share > 0.66 { ("tb", "#fff") } else { ("tx", TEXT) };
    let attributes = format!("class=\"{class}\" text-anchor=\"middle\" fill=\"{ink}\"");
    let _ = write!(picture.body, "<text x=\"{x}\" y=\"{y}\" {attributes}>{text}</text>");
}
