//! Grids of panels that share their axes.

use super::legend::Legend;
use super::mark::Canvas;
use super::matrix::{Cells, Colours};
use super::plot::Layer;
use super::scale::{Axis, Scale};
use super::svg::{Anchor, FONT, Picture, at};
use crate::text::{fit, width};
use std::fmt::Write;

/// What a panel holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Marks, from the back to the front.
    Marks(Vec<Layer>),
    /// A matrix that fills the panel, its first row on top. What is not finite is left blank; nothing is drawn of another
    /// number of values than rows × columns.
    Matrix {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// Column by column.
        values: Vec<f64>,
    },
}

/// One panel of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Above it; empty for none.
    pub title: String,
    /// What it holds.
    pub content: Content,
}

/// Panels of one size in rows and columns, with the same axes, legend and colours.
///
/// ```
/// use dkp_report::chart::{Axis, Content, Grid, Ink, Layer, Mark, Panel};
/// let wave = |frequency: f64| (0..50).map(|i| f64::from(i) / 8.0).map(|x| (x, (frequency * x).sin())).collect();
/// let panel = |frequency: f64| {
///     let mark = Mark::Line { points: wave(frequency), width: 1.6 };
///     let layers = vec![Layer { name: "a wave".to_string(), ink: Ink::Series(0), mark }];
///     Panel { title: format!("sin {frequency}x"), content: Content::Marks(layers) }
/// };
/// let grid = Grid { x: Axis::new("x"), columns: 2, panels: vec![panel(1.0), panel(2.0)], ..Grid::default() };
/// assert_eq!(grid.svg().matches(">a wave<").count(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// What to look for.
    pub title: String,
    /// What is shown, for those who cannot see it.
    pub description: String,
    /// Across, in every panel. With matrices, it should have a range.
    pub x: Axis,
    /// Up, in every panel. With matrices, it should have a range: from the greater value if those grow downwards.
    pub y: Axis,
    /// What the colours of matrices mean.
    pub value: Axis,
    /// Panels side by side.
    pub columns: usize,
    /// Row by row.
    pub panels: Vec<Panel>,
    /// Headings over the columns from the left, each over so many of them.
    pub headings: Vec<(String, usize)>,
    /// Names of the rows, beside them; each may have several lines.
    pub rows: Vec<String>,
    /// Width and height of a panel in the units of the picture, text being 12.5 high.
    pub size: (f64, f64),
}

impl Default for Grid {
    fn default() -> Grid {
        let (title, description, x, y) = (String::new(), String::new(), Axis::default(), Axis::default());
        let (value, panels, headings, rows) = (Axis::default(), Vec::new(), Vec::new(), Vec::new());
        Grid { title, description, x, y, value, columns: 1, panels, headings, rows, size: (200.0, 140.0) }
    }
}

/// Least and greatest width and height of a panel.
const SIZES: (f64, f64) = (40.0, 1000.0);
/// Between columns.
const GAP: f64 = 12.0;
/// Between rows: labels at the ends of two axes do not touch.
const ROW_GAP: f64 = 16.0;
/// Labels of a panel reach so far out of it: two neighbours' never touch.
const REACH: f64 = GAP / 2.0 - 2.0;
/// Least space between labels across.
const BETWEEN: f64 = 6.0;
/// A line of text.
const LINE: f64 = 17.0;
/// Length of a tick outside the panel.
const TICK: f64 = 4.0;

/// Where everything lies.
struct Layout {
    columns: usize,
    left: f64,
    /// Of each row's panels.
    tops: Vec<f64>,
    size: (f64, f64),
}

impl Layout {
    /// Of a panel, by number.
    fn corner(&self, panel: usize) -> (f64, f64) {
        (self.column(panel % self.columns), self.tops[panel / self.columns])
    }

    /// The left end of a column.
    fn column(&self, column: usize) -> f64 {
        self.left + column as f64 * (self.size.0 + GAP)
    }

    /// The right end of the last column.
    fn right(&self) -> f64 {
        self.column(self.columns) - GAP
    }

    /// The lower end of the last row.
    fn bottom(&self) -> f64 {
        self.tops.last().map_or(0.0, |top| top + self.size.1)
    }
}

impl Grid {
    /// A stand-alone picture, on white.
    pub fn svg(&self) -> String {
        self.picture().stand_alone()
    }

    /// A picture for a page that has the style sheet of reports.
    pub fn inline(&self) -> String {
        self.picture().inline()
    }

    fn picture(&self) -> Picture {
        let size = [self.size.0, self.size.1].map(|s| s.max(SIZES.0).min(SIZES.1));
        let values = |pick: fn(&Layer) -> Vec<f64>| self.layers().flat_map(pick);
        let x = across(&self.x, || values(|l| l.mark.xs()), size[0]);
        let y = Scale::new(&self.y, values(|l| l.mark.ys()), (size[1] / 42.0).clamp(2.0, 6.0) as usize);
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let inner = columns as f64 * (size[0] + GAP) - GAP;
        let legend = Legend::new(self.legend_layers().into_iter(), inner);
        let layout = self.layout(columns, (size[0], size[1]), &y, &legend);
        let colours = self.colours();
        let bar = colours.as_ref().map(|c| (c, c.scale()));
        let bar_width = bar.as_ref().map_or(0.0, |(_, s)| GAP + Colours::bar_width(s) + self.value_line());
        let below = TICK + 16.0 + if self.x.label.is_empty() { 0.0 } else { LINE + 1.0 };
        let (wide, tall) = (layout.right() + bar_width.max(REACH), layout.bottom() + below);

        let mut picture = Picture::new(wide, tall, &self.title, &self.description);
        legend.draw(&mut picture, layout.left, 12.0);
        self.draw_headings(&mut picture, &layout, 12.0 + legend.height());
        self.draw_names(&mut picture, &layout);
        for (i, panel) in self.panels.iter().enumerate() {
            draw_axes(&mut picture, &layout, i, &x, &y, self.panels.len());
            draw_panel(&mut picture, &layout, i, panel, (&x, &y), colours.as_ref());
        }
        if let (Some((colours, scale)), Some(&top)) = (&bar, layout.tops.first()) {
            let height = layout.bottom() - top;
            colours.draw_bar(&mut picture, (layout.right() + GAP, top), height, scale);
            if !self.value.label.is_empty() {
                picture.upwards(wide - 3.0, top + height / 2.0, &fit(&self.value.label, height / FONT));
            }
        }
        picture
    }

    /// All layers of all panels.
    fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.panels.iter().flat_map(|p| match &p.content {
            Content::Marks(layers) => layers.as_slice(),
            Content::Matrix { .. } => &[],
        })
    }

    /// The first layer of each name.
    fn legend_layers(&self) -> Vec<&Layer> {
        let mut named: Vec<&Layer> = Vec::new();
        for layer in self.layers() {
            if named.iter().all(|n| n.name != layer.name) {
                named.push(layer);
            }
        }
        named
    }

    /// One span of colours for all matrices, if there are any.
    fn colours(&self) -> Option<Colours> {
        let matrices = self.panels.iter().filter_map(|p| match &p.content {
            Content::Marks(_) => None,
            Content::Matrix { values, .. } => Some(values),
        });
        let values: Vec<f64> = matrices.flatten().copied().filter(|v| super::drawable(*v)).collect();
        let asked = self.value.range.filter(|(a, b)| super::drawable(*a) && super::drawable(*b) && a < b);
        let any = self.panels.iter().any(|p| matches!(p.content, Content::Matrix { .. }));
        any.then(|| asked.map_or_else(|| Colours::of(values.into_iter()), |(a, b)| Colours::over(a, b)))
    }

    /// Room for what the colours mean.
    fn value_line(&self) -> f64 {
        if self.value.label.is_empty() { 0.0 } else { LINE }
    }

    fn layout(&self, columns: usize, size: (f64, f64), y: &Scale, legend: &Legend<'_>) -> Layout {
        let label = if self.y.label.is_empty() { 0.0 } else { LINE };
        let left = self.names_width() + label + 6.0 + y.widest_label();
        let headings = if self.headings.is_empty() { 0.0 } else { LINE + 7.0 };
        // half a tick label
        let mut used = 6.0 + legend.height() + headings;
        let tops = self.panels.chunks(columns).map(|row| {
            let title = if row.iter().any(|p| !p.title.is_empty()) { LINE } else { 0.0 };
            let top = used + title;
            used = top + size.1 + ROW_GAP;
            top
        });
        Layout { columns, left, tops: tops.collect(), size }
    }

    /// Headings, each over a line as wide as its columns.
    fn draw_headings(&self, picture: &mut Picture, layout: &Layout, baseline: f64) {
        let mut first = 0_usize;
        for (text, count) in &self.headings {
            let last = first.saturating_add(*count).min(layout.columns);
            if last > first {
                let (left, right) = (layout.column(first), layout.column(last) - GAP);
                let text = fit(text, (right - left) / FONT);
                picture.text((left + right) / 2.0, baseline, Anchor::Middle, true, &text);
                picture.grid((left, baseline + 6.0), (right, baseline + 6.0));
            }
            first = last;
        }
    }

    /// Names of the axes and of the rows.
    fn draw_names(&self, picture: &mut Picture, layout: &Layout) {
        if !self.x.label.is_empty() && !self.panels.is_empty() {
            let middle = (layout.left + layout.right()) / 2.0;
            let label = fit(&self.x.label, (layout.right() - layout.left) / FONT);
            picture.text(middle, layout.bottom() + 34.0, Anchor::Middle, true, &label);
        }
        let room = (layout.size.1 + ROW_GAP) / FONT;
        for (i, top) in layout.tops.iter().enumerate() {
            let middle = top + layout.size.1 / 2.0;
            let name = self.rows.get(i).map_or("", String::as_str);
            for (line, text) in name.lines().enumerate() {
                picture.upwards(12.0 + LINE * line as f64, middle, &fit(text, room));
            }
            if !self.y.label.is_empty() {
                picture.upwards(12.0 + self.names_width(), middle, &fit(&self.y.label, room));
            }
        }
    }

    /// Room for the names of rows, apart from what follows.
    fn names_width(&self) -> f64 {
        let lines = self.rows.iter().map(|r| r.lines().count()).max().unwrap_or(0);
        if lines == 0 { 0.0 } else { LINE * lines as f64 + 8.0 }
    }
}

/// Where a label across has its middle: as near to its tick as its panel allows.
fn label_place(scale: &Scale, (value, label): &(f64, String), size: f64) -> Option<f64> {
    let half = FONT * width(label) / 2.0;
    Some((scale.place(*value)? * size).min(size + REACH - half).max(half - REACH))
}

/// The scale across with as many ticks as have room, if possible with no label that must be moved.
fn across<I: Iterator<Item = f64>>(axis: &Axis, values: impl Fn() -> I, size: f64) -> Scale {
    let scale = |count| Scale::new(axis, values(), count);
    let half = |label: &str| FONT * width(label) / 2.0;
    let fits = |s: &Scale| {
        s.ticks.windows(2).all(|w| match (label_place(s, &w[0], size), label_place(s, &w[1], size)) {
            (Some(a), Some(b)) => (b - a).abs() >= half(&w[0].1) + half(&w[1].1) + BETWEEN,
            _ => true,
        })
    };
    let stay = |s: &Scale| {
        let moved = |t: &(f64, String)| label_place(s, t, size) != s.place(t.0).map(|p| p * size);
        s.ticks.len() > 1 && !s.ticks.iter().any(moved)
    };
    let fitting: Vec<Scale> = (1..=6).rev().map(scale).filter(fits).collect();
    let chosen = fitting.iter().find(|s| stay(s)).or(fitting.first());
    chosen.cloned().unwrap_or_else(|| scale(1))
}

/// Grid lines of a panel; labels where no other panel is below or to the left.
fn draw_axes(picture: &mut Picture, layout: &Layout, panel: usize, x: &Scale, y: &Scale, panels: usize) {
    let ((left, top), (wide, tall)) = (layout.corner(panel), layout.size);
    let (right, bottom) = (left + wide, top + tall);
    for tick in &x.ticks {
        let Some(place) = x.place(tick.0) else { continue };
        let at = left + place * wide;
        picture.grid((at, top), (at, bottom + TICK));
        if let (true, Some(place)) = (panel + layout.columns >= panels, label_place(x, tick, wide)) {
            picture.text(left + place, bottom + 17.0, Anchor::Middle, false, &tick.1);
        }
    }
    for (value, label) in &y.ticks {
        let Some(place) = y.place(*value) else { continue };
        let at = bottom - place * tall;
        picture.grid((left - TICK, at), (right, at));
        if panel.is_multiple_of(layout.columns) {
            picture.text(left - 6.0, at + 4.3, Anchor::End, false, label);
        }
    }
}

fn draw_panel(
    picture: &mut Picture,
    layout: &Layout,
    i: usize,
    panel: &Panel,
    (x, y): (&Scale, &Scale),
    colours: Option<&Colours>,
) {
    let ((left, top), (width, height)) = (layout.corner(i), layout.size);
    let title = fit(&panel.title, (width + GAP) / FONT);
    if !title.is_empty() {
        picture.text(left + width / 2.0, top - 6.0, Anchor::Middle, true, &title);
    }
    match (&panel.content, colours) {
        (Content::Matrix { rows, columns, values }, Some(colours)) => {
            Cells::of(*rows, *columns, values).draw(picture, (left, top), (width, height), colours);
        }
        (Content::Matrix { .. }, None) => {}
        (Content::Marks(layers), _) => {
            let mut canvas = Canvas { x, y, width, height, out: String::new() };
            layers.iter().for_each(|layer| canvas.draw(&layer.mark, layer.ink));
            let [l, t, w, h] = [left, top, width, height].map(at);
            // a nested picture cuts off what leaves the area
            let _ = write!(picture.body, "<svg x=\"{l}\" y=\"{t}\" width=\"{w}\" height=\"{h}\">{}</svg>", canvas.out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ink, Mark};
    use super::*;

    fn lines(title: &str) -> Panel {
        let mark = Mark::Line { points: vec![(-5.0, -4.0), (5.0, 4.0)], width: 1.6 };
        let layers = vec![Layer { name: "line".into(), ink: Ink::Series(0), mark }];
        Panel { title: title.into(), content: Content::Marks(layers) }
    }

    fn count(svg: &str, text: &str) -> usize {
        svg.matches(&format!(">{text}<")).count()
    }

    #[test]
    fn axes_are_labelled_at_the_edge_and_names_are_written_once() {
        let (x, y) = (Axis::new("across").over(-5.0, 5.0), Axis::new("up").over(0.0, 80.0));
        let panels: Vec<Panel> = ["a", "b", "c", "d", "e"].map(lines).into();
        let rows = vec!["first\nrow".to_string(), "second".to_string()];
        let headings = vec![("left".to_string(), 1), ("right".to_string(), 9)];
        let svg = Grid { x, y, columns: 3, panels, rows, headings, ..Grid::default() }.svg();
        for once in ["line", "across", "a", "b", "c", "d", "e", "first", "row", "second", "left", "right"] {
            assert_eq!(count(&svg, once), 1, "{once}");
        }
        // each column has one lowest panel, each row one leftmost
        assert_eq!((count(&svg, "−4"), count(&svg, "80"), count(&svg, "up")), (3, 2, 2));
    }

    #[test]
    fn labels_stay_at_their_ticks_if_any_division_allows_it() {
        let none = std::iter::empty::<f64>;
        let labels = |low: f64, high: f64| {
            let scale = across(&Axis::new("").over(low, high), none, 124.0);
            scale.ticks.into_iter().map(|t| t.1).collect::<Vec<_>>()
        };
        assert_eq!(labels(-5.0, 5.0), ["−4", "−2", "0", "2", "4"]);
        assert_eq!(labels(-1.43, 1.43), ["−1", "0", "1"]);
        let scale = across(&Axis::new("").over(0.0, 1.0), none, 124.0);
        let last = scale.ticks.last().unwrap();
        let end = label_place(&scale, last, 124.0).unwrap() + FONT * width(&last.1) / 2.0;
        assert!(end <= 124.0 + REACH + 1e-9, "{end}");
    }

    #[test]
    fn matrices_share_their_colours() {
        let matrix = |value: f64| Panel {
            title: String::new(),
            content: Content::Matrix { rows: 1, columns: 1, values: vec![value] },
        };
        let grid = |panels| Grid { columns: 3, panels, value: Axis::new("").over(-2.0, 2.0), ..Grid::default() };
        let svg = grid(vec![matrix(1.0), matrix(1.0), matrix(-1.0)]).svg();
        let images: Vec<&str> = svg.split("href=\"").skip(1).map(|s| s.split('"').next().unwrap()).collect();
        // three matrices and one colour bar
        assert_eq!(images.len(), 4);
        assert!(images[0] == images[1] && images[0] != images[2]);
    }
}
