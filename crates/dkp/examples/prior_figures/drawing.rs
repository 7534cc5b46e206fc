//! Figures as lists of marks, panels with axes, and the files they become.

use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, TextStyle, WHITE, register_font as register};
use std::error::Error;
use std::path::Path;

pub use plotters::style::{BLACK, RGBColor};

/// The family of all text, as a list in which viewers of SVG find a substitute.
const FAMILY: &str = "DejaVu Sans, sans-serif";
/// Backends have whole coordinates: this many to a unit of a scene. PNG files average over as many rows and columns.
const FINE: u32 = 4;
/// Half the height of a digit, in ems.
const HALF_DIGIT: f64 = 0.365;

pub const GREY: RGBColor = RGBColor(110, 110, 110);
pub const TICK: f64 = 7.0;

/// Makes text possible: to be called once, before a figure is saved.
pub fn register_font() -> Result<(), Box<dyn Error>> {
    register(FAMILY, FontStyle::Normal, dejavu::sans::regular()).map_err(|_| "the font cannot be read".into())
}

/// Where a text's anchor is; vertically it is at half the height of its digits.
#[derive(Clone, Copy)]
pub enum Anchor {
    Left,
    Centre,
    Right,
    /// The centre of text that runs upwards.
    Upwards,
}

enum Mark {
    Fill { corners: [(f64, f64); 2], colour: RGBColor },
    Line { points: Vec<(f64, f64)>, width: f64, colour: RGBColor },
    Text { text: String, at: (f64, f64), size: f64, anchor: Anchor, colour: RGBColor },
}

/// A figure: marks in the order in which they are drawn, in units that are pixels of the PNG, y downwards.
pub struct Scene {
    size: (u32, u32),
    marks: Vec<Mark>,
}

impl Scene {
    pub fn new(width: u32, height: u32) -> Scene {
        Scene { size: (width, height), marks: Vec::new() }
    }

    pub fn fill(&mut self, corners: [(f64, f64); 2], colour: RGBColor) {
        self.marks.push(Mark::Fill { corners, colour });
    }

    pub fn line(&mut self, points: Vec<(f64, f64)>, width: f64, colour: RGBColor) {
        self.marks.push(Mark::Line { points, width, colour });
    }

    /// The four sides of a rectangle, with square corners.
    pub fn outline(&mut self, [(left, top), (right, bottom)]: [(f64, f64); 2]) {
        const THICKNESS: f64 = 1.5;
        const HALF: f64 = 0.5 * THICKNESS;
        for y in [top, bottom] {
            self.line(vec![(left - HALF, y), (right + HALF, y)], THICKNESS, BLACK);
        }
        for x in [left, right] {
            self.line(vec![(x, top), (x, bottom)], THICKNESS, BLACK);
        }
    }

    /// `size` is that of an em.
    pub fn text(&mut self, text: &str, at: (f64, f64), size: f64, anchor: Anchor, colour: RGBColor) {
        self.marks.push(Mark::Text { text: text.to_string(), at, size, anchor, colour });
    }

    /// Writes `name`.svg and `name`.png.
    pub fn save(&self, directory: &Path, name: &str) -> Result<(), Box<dyn Error>> {
        let path = |extension: &str| directory.join(format!("{name}.{extension}"));
        for (path, written) in [(path("svg"), self.save_svg(&path("svg"))), (path("png"), self.save_png(&path("png")))]
        {
            written.map_err(|e| format!("cannot write {}: {e}", path.display()))?;
            println!("{}", path.display());
        }
        Ok(())
    }

    fn save_svg(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let (width, height) = self.size;
        let (fine_width, fine_height) = (FINE * width, FINE * height);
        let mut svg = String::new();
        let backend = SVGBackend::with_string(&mut svg, (fine_width, fine_height));
        self.draw(backend.into_drawing_area(), Typesetting::SVG)?;
        // fine coordinates, shown at the size of the PNG
        let fine = format!("width=\"{fine_width}\" height=\"{fine_height}\" viewBox");
        let shown = format!("width=\"{width}\" height=\"{height}\" viewBox");
        Ok(std::fs::write(path, svg.replacen(&fine, &shown, 1))?)
    }

    fn save_png(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let (width, height) = self.size;
        let mut fine = vec![0; (3 * FINE * width * FINE * height) as usize];
        let backend = BitMapBackend::with_buffer(&mut fine, (FINE * width, FINE * height));
        self.draw(backend.into_drawing_area(), Typesetting::BITMAP)?;
        let pixels = average(&fine, self.size);
        let mut backend = BitMapBackend::new(path, self.size);
        backend.blit_bitmap((0, 0), self.size, &pixels)?;
        Ok(backend.present()?)
    }

    fn draw<B: DrawingBackend>(
        &self,
        area: DrawingArea<B, Shift>,
        typesetting: Typesetting,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let fine = |x: f64| (x * f64::from(FINE)).round() as i32;
        let point = |(x, y): (f64, f64)| (fine(x), fine(y));
        area.fill(&WHITE)?;
        for mark in &self.marks {
            match mark {
                Mark::Fill { corners, colour } => area.draw(&Rectangle::new(corners.map(point), colour.filled()))?,
                Mark::Line { points, width, colour } => {
                    let points: Vec<(i32, i32)> = points.iter().map(|&p| point(p)).collect();
                    area.draw(&PathElement::new(points, colour.stroke_width(fine(*width) as u32)))?;
                }
                Mark::Text { text, at, size, anchor, colour } => {
                    let font = (FAMILY, size * typesetting.size_of_em * f64::from(FINE));
                    let shift = size * (HALF_DIGIT - typesetting.baseline);
                    let (horizontal, turn, (dx, dy)) = match anchor {
                        Anchor::Left => (HPos::Left, FontTransform::None, (0.0, shift)),
                        Anchor::Centre => (HPos::Center, FontTransform::None, (0.0, shift)),
                        Anchor::Right => (HPos::Right, FontTransform::None, (0.0, shift)),
                        Anchor::Upwards => (HPos::Center, FontTransform::Rotate270, (shift, 0.0)),
                    };
                    let style = TextStyle::from(font).color(colour).pos(Pos::new(horizontal, VPos::Center));
                    area.draw_text(text, &style.transform(turn), point((at.0 + dx, at.1 + dy)))?;
                }
            }
        }
        area.present()
    }
}

/// Means of FINE×FINE blocks of an RGB image; `size` is that of the result.
fn average(fine: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let (width, height, n) = (width as usize, height as usize, FINE as usize);
    let mean = |row: usize, col: usize, channel: usize| {
        let block = (0..n * n).map(|k| (n * row + k / n) * n * width + n * col + k % n);
        let sum: usize = block.map(|pixel| usize::from(fine[3 * pixel + channel])).sum();
        ((sum + n * n / 2) / (n * n)) as u8
    };
    (0..height * width * 3).map(|i| mean(i / 3 / width, i / 3 % width, i % 3)).collect()
}

/// How a backend takes text that is centred vertically, for the same result from all.
#[derive(Clone, Copy)]
struct Typesetting {
    /// The backend's font size for an em of 1.
    size_of_em: f64,
    /// How far below the position it puts the baseline, in ems.
    baseline: f64,
}

impl Typesetting {
    /// Font size 1/1.24, baseline half an x-height (0.547 em) down.
    const SVG: Typesetting = Typesetting { size_of_em: 1.24, baseline: 0.274 };
    /// The font size is ascent plus descent, 1.164 em; the baseline is (1/2 − 1/2.48) of it down.
    const BITMAP: Typesetting = Typesetting { size_of_em: 1.164, baseline: 0.113 };
}

/// One axis: its range and its labelled ticks.
#[derive(Clone)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    fn fraction(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// A rectangle of a figure with axes.
pub struct Panel {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Axis,
    pub y: Axis,
}

impl Panel {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// A point of the axes in the scene.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + self.width * self.x.fraction(x), self.bottom() - self.height * self.y.fraction(y))
    }

    /// A polyline through points of the axes.
    pub fn curve(&self, scene: &mut Scene, points: impl Iterator<Item = (f64, f64)>, width: f64, colour: RGBColor) {
        scene.line(points.map(|(x, y)| self.at(x, y)).collect(), width, colour);
    }

    /// The frame and a tick at each label's place; to be drawn last.
    pub fn frame(&self, scene: &mut Scene) {
        let (left, bottom) = (self.left, self.bottom());
        scene.outline([(left, self.top), (self.right(), bottom)]);
        for (value, _) in &self.x.ticks {
            let (x, _) = self.at(*value, self.y.low);
            scene.line(vec![(x, bottom), (x, bottom + TICK)], 1.5, BLACK);
        }
        for (value, _) in &self.y.ticks {
            let (_, y) = self.at(self.x.low, *value);
            scene.line(vec![(left - TICK, y), (left, y)], 1.5, BLACK);
        }
    }

    pub fn x_tick_labels(&self, scene: &mut Scene, size: f64) {
        for (value, label) in self.x.ticks.iter().filter(|(_, label)| !label.is_empty()) {
            let (x, _) = self.at(*value, self.y.low);
            scene.text(label, (x, self.bottom() + TICK + 0.8 * size), size, Anchor::Centre, BLACK);
        }
    }

    pub fn y_tick_labels(&self, scene: &mut Scene, size: f64) {
        for (value, label) in &self.y.ticks {
            let (_, y) = self.at(self.x.low, *value);
            scene.text(label, (self.left - TICK - 0.35 * size, y), size, Anchor::Right, BLACK);
        }
    }

    pub fn title(&self, scene: &mut Scene, text: &str, size: f64) {
        scene.text(text, (self.left + 0.5 * self.width, self.top - 0.8 * size), size, Anchor::Centre, BLACK);
    }
}
