//! Charts as SVG: each can be a picture of its own (`svg`) or part of a page (`inline`).

mod bars;
pub(crate) mod colour;
mod confusion;
mod grid;
mod heat;
mod image;
mod intervals;
mod legend;
mod line;
mod mark;
mod matrix;
mod plot;
mod scale;
pub(crate) mod svg;

pub use bars::BarChart;
pub use colour::Ink;
pub use confusion::Confusion;
pub use grid::{Content, Grid, Panel};
pub use heat::HeatMap;
pub use intervals::IntervalChart;
pub use line::{LineChart, Series};
pub use mark::{DRAWN_SINGLY, Mark};
pub use plot::{Layer, Plot};
pub use scale::{Axis, Spacing, drawable};
