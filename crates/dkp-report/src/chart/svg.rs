//! The SVG that all charts share: a picture with a title, and its elements.
//!
//! Colours are presentation attributes, which any style sheet overrides: pages set their own by class.

use super::colour::{GRID, Ink, MUTED, TEXT};
use crate::text::{escape, fit};
use std::fmt::Write;

/// Size of text in pictures, in their units.
pub(crate) const FONT: f64 = 12.5;
const FAMILY: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
/// Room for the title of a stand-alone picture.
const TITLE: f64 = 30.0;

/// Where a text is anchored.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in progress.
pub(crate) struct Picture {
    pub width: f64,
    pub height: f64,
    title: String,
    description: String,
    pub body: String,
}

/// A coordinate with one decimal; what cannot be drawn is at 0.
pub(crate) fn at(value: f64) -> String {
    let value = if value.is_finite() { (value * 10.0).round() / 10.0 + 0.0 } else { 0.0 };
    value.to_string()
}

impl Picture {
    pub fn new(width: f64, height: f64, title: &str, description: &str) -> Picture {
        let (title, description) = (title.to_string(), description.to_string());
        Picture { width, height, title, description, body: String::new() }
    }

    /// Opens a group of marks: what data look like, not what surrounds them.
    pub fn open_marks(&mut self, attributes: &str) {
        let _ = write!(self.body, "<g class=\"mark\"{attributes}>");
    }

    pub fn close(&mut self) {
        self.body.push_str("</g>");
    }

    /// A text in the ink of labels (`strong`) or of ticks.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, strong: bool, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (class, colour) = if strong { ("tx", TEXT) } else { ("tm", MUTED) };
        let (x, y, text) = (at(x), at(y), escape(text));
        let _ =
            write!(self.body, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor} fill=\"{colour}\">{text}</text>");
    }

    /// A text that runs upwards, centred at y with its baseline at x, in the ink of labels.
    pub fn upwards(&mut self, x: f64, y: f64, text: &str) {
        let (x, y, text) = (at(x), at(y), escape(text));
        let _ = write!(
            self.body,
            "<text class=\"tx\" transform=\"translate({x} {y})rotate(-90)\" text-anchor=\"middle\" fill=\"{TEXT}\">{text}</text>"
        );
    }

    /// A grid line.
    pub fn grid(&mut self, from: (f64, f64), to: (f64, f64)) {
        let [a, b, c, d] = [from.0, from.1, to.0, to.1].map(at);
        let _ = write!(self.body, "<path class=\"gr\" d=\"M{a} {b}L{c} {d}\" stroke=\"{GRID}\"/>");
    }

    /// For pages: no title of its own, colours from the page.
    pub fn inline(&self) -> String {
        let (w, h, label) = (at(self.width), at(self.height), self.label());
        let head = format!("<svg class=\"chart\" role=\"img\" aria-label=\"{label}\" viewBox=\"0 0 {w} {h}\"");
        format!("{head} font-size=\"{FONT}\"><title>{}</title>{}</svg>", escape(&self.title), self.body)
    }

    /// A file of its own, on white.
    pub fn stand_alone(&self) -> String {
        let top = if self.title.is_empty() { 0.0 } else { TITLE };
        let margin = 12.0;
        let (w, h) = (at(self.width + 2.0 * margin), at(self.height + top + 2.0 * margin));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\" font-family=\"{FAMILY}\" font-size=\"{FONT}\"><title>{}</title>\
             <path d=\"M0 0H{w}V{h}H0Z\" fill=\"#fff\"/>",
            self.label(),
            escape(&self.title)
        );
        if top > 0.0 {
            let title = escape(&fit(&self.title, self.width / 15.0));
            let _ = write!(
                out,
                "<text x=\"{margin}\" y=\"28\" font-size=\"15\" font-weight=\"600\" fill=\"{TEXT}\">{title}</text>"
            );
        }
        let _ = writeln!(out, "<g transform=\"translate({margin} {})\">{}</g></svg>", at(margin + top), self.body);
        out
    }

    fn label(&self) -> String {
        let separator = if self.title.is_empty() || self.description.is_empty() { "" } else { ". " };
        escape(&format!("{}{separator}{}", self.title, self.description))
    }
}

/// Class and colour of a stroke.
pub(crate) fn stroke(ink: Ink) -> String {
    format!(" class=\"l{}\" stroke=\"{}\"{}", ink.class(), ink.hex(), ink.dashes())
}

/// Class and colour of a fill.
pub(crate) fn fill(ink: Ink) -> String {
    format!(" class=\"f{}\" fill=\"{}\"", ink.class(), ink.hex())
}
