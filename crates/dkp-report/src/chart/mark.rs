//! Marks: how data look between two axes.

use super::colour::{Ink, density};
use super::image::data_uri;
use super::scale::Scale;
use super::svg::{at, fill, stroke};
use std::fmt::Write;

/// How data look. Values that are not finite are left out; lines break there.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line through points, in their order.
    Line {
        /// x and y.
        points: Vec<(f64, f64)>,
        /// Of the stroke.
        width: f64,
    },
    /// The area between two lines.
    Band {
        /// x, lower and upper y.
        points: Vec<(f64, f64, f64)>,
    },
    /// Dots; more than 600 are drawn as a density.
    Points {
        /// x and y.
        points: Vec<(f64, f64)>,
        /// Of a dot.
        radius: f64,
    },
    /// Upright bars from a lower to an upper value.
    Intervals {
        /// x, lower and upper y.
        points: Vec<(f64, f64, f64)>,
        /// Of the stroke.
        width: f64,
    },
    /// Bars that stand on 0, or on the low end of powers of ten.
    Bars {
        /// From x, to x, and y.
        bars: Vec<(f64, f64, f64)>,
    },
    /// A dashed straight line. It does not widen the axes.
    Rule {
        /// Its beginning.
        from: (f64, f64),
        /// Its end.
        to: (f64, f64),
    },
}

/// More dots than this are drawn as a density.
pub const DRAWN_SINGLY: usize = 600;
/// Lines keep the least and the greatest value of so many stretches.
const STRETCHES: usize = 400;
/// Intervals and bars beyond this are left out.
const MOST_BARS: usize = 2000;
/// Width and height of a cell of a density, in the units of the picture.
const CELL: f64 = 5.0;

impl Mark {
    /// All x that the axis should hold.
    pub(crate) fn xs(&self) -> Vec<f64> {
        match self {
            Mark::Line { points, .. } | Mark::Points { points, .. } => points.iter().map(|p| p.0).collect(),
            Mark::Band { points } | Mark::Intervals { points, .. } => points.iter().map(|p| p.0).collect(),
            Mark::Bars { bars } => bars.iter().flat_map(|b| [b.0, b.1]).collect(),
            Mark::Rule { .. } => Vec::new(),
        }
    }

    /// All y that the axis should hold.
    pub(crate) fn ys(&self) -> Vec<f64> {
        match self {
            Mark::Line { points, .. } | Mark::Points { points, .. } => points.iter().map(|p| p.1).collect(),
            Mark::Band { points } | Mark::Intervals { points, .. } => points.iter().flat_map(|p| [p.1, p.2]).collect(),
            Mark::Bars { bars } => bars.iter().map(|b| b.2).chain([0.0]).collect(),
            Mark::Rule { .. } => Vec::new(),
        }
    }
}

/// The area between the axes; its corner is (0, 0).
pub(crate) struct Canvas<'a> {
    pub x: &'a Scale,
    pub y: &'a Scale,
    pub width: f64,
    pub height: f64,
    pub out: String,
}

impl Canvas<'_> {
    /// Where a point lies, kept within a few sizes of the area: renderers fail on huge coordinates.
    fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x.place(x)?.clamp(-4.0, 5.0), self.y.place(y)?.clamp(-4.0, 5.0));
        Some((x * self.width, (1.0 - y) * self.height))
    }

    /// Draws marks in front of what is there.
    pub fn draw(&mut self, mark: &Mark, ink: Ink) {
        self.out.push_str(if matches!(mark, Mark::Rule { .. }) { "<g>" } else { "<g class=\"mark\">" });
        match mark {
            Mark::Line { points, width } => self.line(&thinned(points), *width, ink),
            Mark::Band { points } => self.band(points, ink),
            Mark::Points { points, .. } if points.len() > DRAWN_SINGLY => self.density(points),
            Mark::Points { points, radius } => self.points(points, *radius, ink),
            Mark::Intervals { points, width } => self.intervals(points, *width, ink),
            Mark::Bars { bars } => self.bars(bars, ink),
            Mark::Rule { from, to } => self.rule(*from, *to, ink),
        }
        self.out.push_str("</g>");
    }

    fn line(&mut self, points: &[(f64, f64)], width: f64, ink: Ink) {
        let mut path = String::new();
        let mut pen_is_down = false;
        for &(x, y) in points {
            let Some((x, y)) = self.place(x, y) else {
                pen_is_down = false;
                continue;
            };
            let _ = write!(path, "{}{} {}", if pen_is_down { 'L' } else { 'M' }, at(x), at(y));
            // a point alone shows as a dot
            path.push_str(if pen_is_down { "" } else { "h0" });
            pen_is_down = true;
        }
        let _ = write!(
            self.out,
            "<path{} fill=\"none\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\" d=\"{path}\"/>",
            stroke(ink),
            at(width)
        );
    }

    fn band(&mut self, points: &[(f64, f64, f64)], ink: Ink) {
        let corners = |pick: fn(&(f64, f64, f64)) -> f64| points.iter().map(move |p| (p.0, pick(p)));
        let drawn = |&(x, low, high): &(f64, f64, f64)| self.place(x, low).is_some() && self.place(x, high).is_some();
        let kept: Vec<bool> = points.iter().map(drawn).collect();
        let there = corners(|p| p.1).zip(&kept);
        let back = corners(|p| p.2).zip(&kept).rev();
        let outline = there.chain(back).filter(|p| *p.1).filter_map(|((x, y), _)| self.place(x, y));
        let outline: Vec<String> = outline.map(|(x, y)| format!("{} {}", at(x), at(y))).collect();
        if !outline.is_empty() {
            let _ = write!(self.out, "<path{} fill-opacity=\"0.2\" d=\"M{}z\"/>", fill(ink), outline.join("L"));
        }
    }

    fn points(&mut self, points: &[(f64, f64)], radius: f64, ink: Ink) {
        let dots: String = points
            .iter()
            .filter_map(|&(x, y)| self.place(x, y))
            .map(|(x, y)| format!("M{} {}h0", at(x), at(y)))
            .collect();
        let width = at(2.0 * radius);
        let _ =
            write!(self.out, "<path{} stroke-width=\"{width}\" stroke-linecap=\"round\" d=\"{dots}\"/>", stroke(ink));
    }

    fn intervals(&mut self, points: &[(f64, f64, f64)], width: f64, ink: Ink) {
        let places = points.iter().filter_map(|&(x, low, high)| Some((self.place(x, low)?, self.place(x, high)?)));
        let bars = places.take(MOST_BARS).map(|(a, b)| format!("M{} {}V{}", at(a.0), at(a.1), at(b.1)));
        let bars: String = bars.collect();
        let (stroke, width) = (stroke(ink), at(width));
        let _ = write!(self.out, "<path{stroke} stroke-width=\"{width}\" stroke-opacity=\"0.3\" d=\"{bars}\"/>");
    }

    fn bars(&mut self, bars: &[(f64, f64, f64)], ink: Ink) {
        let foot = self.y.foot();
        let places = bars.iter().filter_map(|&(from, to, y)| Some((self.place(from, foot)?, self.place(to, y)?)));
        let bars = places.take(MOST_BARS).map(|(a, b)| {
            let (left, right) = (a.0.min(b.0), a.0.max(b.0));
            // a gap between neighbours, as long as there is room for one
            let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
            [left + gap, right - gap, a.1, b.1].map(at)
        });
        let bars: Vec<[String; 4]> = bars.collect();
        let mut path = String::new();
        // bars that touch have one outline: no seams show between them
        for run in bars.chunk_by(|a, b| a[1] == b[0]) {
            let [left, _, foot, _] = &run[0];
            let heads: String = run.iter().map(|[_, right, _, head]| format!("V{head}H{right}")).collect();
            let _ = write!(path, "M{left} {foot}{heads}V{foot}z");
        }
        let _ = write!(self.out, "<path{} fill-opacity=\"0.75\" d=\"{path}\"/>", fill(ink));
    }

    fn rule(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        if let (Some(a), Some(b)) = (self.place(from.0, from.1), self.place(to.0, to.1)) {
            let [a, b, c, d] = [a.0, a.1, b.0, b.1].map(at);
            let path = format!("M{a} {b}L{c} {d}");
            let _ = write!(self.out, "<path{} stroke-dasharray=\"4 3\" d=\"{path}\"/>", stroke(ink));
        }
    }

    /// Points per cell, by the square root of their number so that few still show.
    fn density(&mut self, points: &[(f64, f64)]) {
        let (columns, rows) = ((self.width / CELL).ceil() as usize, (self.height / CELL).ceil() as usize);
        let mut counts = vec![0_u32; columns * rows];
        for (x, y) in points.iter().filter_map(|&(x, y)| self.place(x, y)) {
            if (0.0..self.width).contains(&x) && (0.0..self.height).contains(&y) {
                counts[(y / CELL) as usize * columns + (x / CELL) as usize] += 1;
            }
        }
        let most = f64::from(counts.iter().copied().max().unwrap_or(0).max(1));
        let pixels: Vec<u8> = counts
            .iter()
            .map(|&n| if n == 0 { 0 } else { (1.0 + 63.0 * (f64::from(n) / most).sqrt()) as u8 })
            .collect();
        let colours = (0..64).map(|i| density(f64::from(i) / 63.0));
        let palette: Vec<[u8; 4]> = std::iter::once([0; 4]).chain(colours).collect();
        let (w, h) = (columns as f64 * CELL, rows as f64 * CELL);
        let uri = data_uri(columns, rows, &pixels, &palette);
        let _ = write!(
            self.out,
            "<image width=\"{w}\" height=\"{h}\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"{uri}\"/>"
        );
    }
}

/// A long line by the least and the greatest value of each stretch, so that its outline stays.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 2 * STRETCHES {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(STRETCHES);
    let ends = points.chunks(stretch).flat_map(|chunk| {
        let by = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let finite = || chunk.iter().filter(|p| p.0.is_finite() && p.1.is_finite());
        match (finite().min_by(by), finite().max_by(by)) {
            (Some(&low), Some(&high)) if low.0 <= high.0 => [low, high],
            (Some(&low), Some(&high)) => [high, low],
            _ => [(f64::NAN, f64::NAN); 2],
        }
    });
    ends.collect()
}

#[cfg(test)]
mod tests {
    use super::super::scale::{Axis, Spacing};
    use super::*;

    /// The path of bars between 1 and 1000 across, 9 wide, and 0.1 and 10 up, 20 high, both by powers of ten.
    fn bars(bars: &[(f64, f64, f64)]) -> String {
        let axis = |low, high| Axis::new("").over(low, high).spaced(Spacing::Log);
        let scale = |low, high| Scale::new(&axis(low, high), std::iter::empty(), 3);
        let (x, y) = (scale(1.0, 1e3), scale(0.1, 10.0));
        let mut canvas = Canvas { x: &x, y: &y, width: 9.0, height: 20.0, out: String::new() };
        canvas.draw(&Mark::Bars { bars: bars.to_vec() }, Ink::Muted);
        canvas.out.split(" d=\"").nth(1).unwrap().split('"').next().unwrap().to_string()
    }

    #[test]
    fn bars_stand_on_the_low_end_of_powers_of_ten() {
        assert_eq!(bars(&[(1.0, 10.0, 1.0)]), "M0 20V10H3V20z");
        assert_eq!(bars(&[(1.0, 10.0, 0.0)]), "");
    }

    #[test]
    fn narrow_bars_that_touch_have_one_outline() {
        assert_eq!(bars(&[(1.0, 10.0, 1.0), (10.0, 100.0, 10.0)]), "M0 20V10H3V0H6V20z");
        assert_eq!(bars(&[(1.0, 10.0, 1.0), (100.0, 1000.0, 10.0)]), "M0 20V10H3V20zM6 20V0H9V20z");
        assert_eq!(bars(&[(1.0, 100.0, 1.0), (100.0, 1000.0, 10.0)]), "M1 20V10H5V20zM6 20V0H9V20z");
    }

    #[test]
    fn a_long_line_keeps_its_peaks() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 0.0)).collect();
        points[54_321].1 = 7.0;
        points[10].1 = f64::NAN;
        let kept = thinned(&points);
        assert!(kept.len() <= 2 * STRETCHES && kept.contains(&(54_321.0, 7.0)));
    }
}
