//! A plot: marks between two axes.

use super::colour::Ink;
use super::legend::Legend;
use super::mark::{Canvas, Mark};
use super::scale::{Axis, Scale};
use super::svg::{Anchor, FONT, Picture};
use crate::text::{fit, width};
use std::fmt::Write;

/// Marks of one kind, in one ink.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its name in the legend; empty for none.
    pub name: String,
    /// What it is drawn with.
    pub ink: Ink,
    /// What is drawn.
    pub mark: Mark,
}

/// Marks between two axes.
///
/// ```
/// use dkp_report::chart::{Axis, Ink, Layer, Mark, Plot};
/// let curve = (0..50).map(|i| f64::from(i) / 10.0).map(|x| (x, x.sin())).collect();
/// let plot = Plot::new("A sine", Axis::new("x"), Axis::new("y"))
///     .with("sin x", Ink::Series(0), Mark::Line { points: curve, width: 1.5 });
/// assert!(plot.svg().starts_with("<svg xmlns="));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What to look for.
    pub title: String,
    /// What is shown, for those who cannot see it.
    pub description: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// From the back to the front.
    pub layers: Vec<Layer>,
    /// In the units of the picture, text being 12.5 high.
    pub width: f64,
    /// In the units of the picture.
    pub height: f64,
}

/// Greatest width and height.
const MOST: f64 = 4000.0;

/// Where the area between the axes lies.
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Plot {
    /// No marks yet, 400 wide and 260 high.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Plot {
        Plot { title: title.into(), description: String::new(), x, y, layers: Vec::new(), width: 400.0, height: 260.0 }
    }

    /// With more marks in front; an empty name is not in the legend.
    pub fn with(mut self, name: impl Into<String>, ink: Ink, mark: Mark) -> Plot {
        self.layers.push(Layer { name: name.into(), ink, mark });
        self
    }

    /// Of another size.
    pub fn sized(self, width: f64, height: f64) -> Plot {
        Plot { width, height, ..self }
    }

    /// With a description for those who cannot see it.
    pub fn described(self, description: impl Into<String>) -> Plot {
        Plot { description: description.into(), ..self }
    }

    /// A stand-alone picture, on white.
    pub fn svg(&self) -> String {
        self.picture().stand_alone()
    }

    /// A picture for a page that has the style sheet of reports.
    pub fn inline(&self) -> String {
        self.picture().inline()
    }

    fn picture(&self) -> Picture {
        let size = |asked: f64, least: f64| asked.max(least).min(MOST);
        let (wide, tall) = (size(self.width, 80.0), size(self.height, 60.0));
        let mut picture = Picture::new(wide, tall, &self.title, &self.description);
        let legend = Legend::new(self.layers.iter(), picture.width);
        let label = if self.y.label.is_empty() { 0.0 } else { 1.0 };
        // 12: half a tick label, and some air below the legend
        let top = 12.0 + 17.0 * label + legend.height();
        let bottom = if self.x.label.is_empty() { 20.0 } else { 38.0 };
        let height = (picture.height - top - bottom).max(20.0);

        let y_values = || self.layers.iter().flat_map(|l| l.mark.ys());
        let y = Scale::new(&self.y, y_values(), (height / 42.0).clamp(2.0, 6.0) as usize);
        let left = 8.0 + y.widest_label();
        let (x, right) = self.across(picture.width - left);
        let area = Area { left, top, width: (picture.width - left - right).max(20.0), height };

        if label > 0.0 {
            picture.text(0.0, 12.0, Anchor::Start, true, &fit(&self.y.label, picture.width / FONT));
        }
        legend.draw(&mut picture, 0.0, 12.0 + 17.0 * label);
        draw_axes(&mut picture, &area, &x, &y, &self.x.label);
        let mut canvas = Canvas { x: &x, y: &y, width: area.width, height: area.height, out: String::new() };
        self.layers.iter().for_each(|layer| canvas.draw(&layer.mark, layer.ink));
        let [l, t, w, h] = [area.left, area.top, area.width, area.height].map(super::svg::at);
        // a nested picture cuts off what leaves the area
        let _ = write!(picture.body, "<svg x=\"{l}\" y=\"{t}\" width=\"{w}\" height=\"{h}\">{}</svg>", canvas.out);
        picture
    }

    /// The scale across with as many ticks as have room, and the margin its last label needs.
    fn across(&self, room: f64) -> (Scale, f64) {
        let scale = |count| Scale::new(&self.x, self.layers.iter().flat_map(|l| l.mark.xs()), count);
        let margin = |s: &Scale| {
            let last = s.ticks.last().and_then(|t| Some((s.place(t.0)?, FONT * width(&t.1))));
            last.map_or(2.0, |(place, wide)| (wide / 2.0 - (1.0 - place) * (room - wide / 2.0)).max(2.0))
        };
        let fits = |s: &Scale| {
            let between = s.ticks.windows(2).filter_map(|w| Some(s.place(w[1].0)? - s.place(w[0].0)?));
            between.fold(1.0, f64::min) * (room - margin(s)) > s.widest_label() + 10.0
        };
        let chosen = (1..=6).rev().map(scale).find(fits).unwrap_or_else(|| scale(1));
        let right = margin(&chosen);
        (chosen, right)
    }
}

fn draw_axes(picture: &mut Picture, area: &Area, x: &Scale, y: &Scale, x_label: &str) {
    let (right, bottom) = (area.left + area.width, area.top + area.height);
    for (value, label) in &y.ticks {
        let Some(place) = y.place(*value) else { continue };
        let at = bottom - place * area.height;
        picture.grid((area.left, at), (right, at));
        picture.text(area.left - 6.0, at + 4.3, Anchor::End, false, label);
    }
    for (value, label) in &x.ticks {
        let Some(place) = x.place(*value) else { continue };
        let at = area.left + place * area.width;
        picture.grid((at, area.top), (at, bottom + 4.0));
        // the first label may reach under those of the other axis, never out of the picture
        let half = FONT * width(label) / 2.0;
        picture.text(at.max(half), bottom + 17.0, Anchor::Middle, false, label);
    }
    if !x_label.is_empty() {
        let label = fit(x_label, picture.width / FONT);
        let half = FONT * width(&label) / 2.0;
        let middle = (area.left + area.width / 2.0).min(picture.width - half).max(half);
        picture.text(middle, bottom + 34.0, Anchor::Middle, true, &label);
    }
}
