//! Legends: what the marks are called.

use super::mark::Mark;
use super::plot::Layer;
use super::svg::{Anchor, FONT, Picture, fill, stroke};
use crate::text::{fit, width};

/// Height of a row.
const ROW: f64 = 17.0;

/// The named layers, in rows that fit.
pub(crate) struct Legend<'a> {
    /// Layer, name and place in its row.
    rows: Vec<Vec<(&'a Layer, String, f64)>>,
}

impl<'a> Legend<'a> {
    /// Of layers in a given width.
    pub fn new(layers: impl Iterator<Item = &'a Layer>, room: f64) -> Legend<'a> {
        let mut rows: Vec<Vec<(&Layer, String, f64)>> = Vec::new();
        let mut used = f64::INFINITY;
        for layer in layers.filter(|l| !l.name.is_empty()) {
            let name = fit(&layer.name, (room - 26.0) / FONT);
            let wide = 22.0 + FONT * width(&name) + 12.0;
            if used + wide - 12.0 > room {
                rows.push(Vec::new());
                used = 0.0;
            }
            if let Some(row) = rows.last_mut() {
                row.push((layer, name, used));
            }
            used += wide;
        }
        Legend { rows }
    }

    /// Of all rows.
    pub fn height(&self) -> f64 {
        ROW * self.rows.len() as f64
    }

    /// Draws it; `first` is the baseline of the first row.
    pub fn draw(&self, picture: &mut Picture, left: f64, first: f64) {
        for (i, row) in self.rows.iter().enumerate() {
            let y = first + ROW * i as f64;
            for (layer, name, place) in row {
                let x = left + place;
                picture.body.push_str(&swatch(layer, x, y));
                picture.text(x + 21.0, y, Anchor::Start, false, name);
            }
        }
    }
}

/// A piece of a layer's marks.
fn swatch(layer: &Layer, x: f64, y: f64) -> String {
    let ink = layer.ink;
    match &layer.mark {
        Mark::Band { .. } => {
            format!("<path{} fill-opacity=\"0.2\" d=\"M{x:.1} {:.1}h16v9h-16z\"/>", fill(ink), y - 9.0)
        }
        Mark::Bars { .. } => {
            format!("<path{} fill-opacity=\"0.75\" d=\"M{x:.1} {:.1}h16v9h-16z\"/>", fill(ink), y - 9.0)
        }
        Mark::Points { .. } => {
            format!("<circle{} cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"/>", fill(ink), x + 8.0, y - 4.5)
        }
        Mark::Intervals { .. } => {
            let (stroke, x, y) = (stroke(ink), x + 8.0, y - 9.5);
            format!("<path{stroke} stroke-width=\"5\" stroke-opacity=\"0.3\" d=\"M{x:.1} {y:.1}v10\"/>")
        }
        Mark::Rule { .. } => {
            format!("<path{} stroke-dasharray=\"4 3\" d=\"M{x:.1} {:.1}h16\"/>", stroke(ink), y - 4.5)
        }
        Mark::Line { .. } => {
            format!("<path{} stroke-width=\"2\" d=\"M{x:.1} {:.1}h16\"/>", stroke(ink), y - 4.5)
        }
    }
}
