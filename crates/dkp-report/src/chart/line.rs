//! Line charts of several series.

use super::colour::Ink;
use super::mark::Mark;
use super::plot::Plot;
use super::scale::Axis;

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend; empty for none.
    pub name: String,
    /// x and y, in the order of the line.
    pub points: Vec<(f64, f64)>,
}

/// Several lines between two axes, for example functions drawn from a prior.
///
/// ```
/// use dkp_report::chart::{Axis, LineChart, Series};
/// let line = |slope: f64| Series { name: String::new(), points: vec![(0.0, 0.0), (1.0, slope)] };
/// let chart = LineChart {
///     title: "Three draws".to_string(),
///     x: Axis::new("x"),
///     y: Axis::new("f(x)"),
///     series: vec![line(-1.0), line(0.5), line(2.0)],
///     ..LineChart::default()
/// };
/// assert_eq!(chart.svg().matches("class=\"mark\"").count(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// What to look for.
    pub title: String,
    /// What is shown, for those who cannot see it.
    pub description: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// In the units of the picture, text being 12.5 high.
    pub width: f64,
    /// In the units of the picture.
    pub height: f64,
}

impl Default for LineChart {
    fn default() -> LineChart {
        let (title, description) = (String::new(), String::new());
        let (x, y, series) = (Axis::default(), Axis::default(), Vec::new());
        LineChart { title, description, x, y, series, width: 560.0, height: 340.0 }
    }
}

impl LineChart {
    /// A stand-alone picture, on white.
    pub fn svg(&self) -> String {
        self.plot().svg()
    }

    /// A picture for a page that has the style sheet of reports.
    pub fn inline(&self) -> String {
        self.plot().inline()
    }

    fn plot(&self) -> Plot {
        let empty = Plot::new(&self.title, self.x.clone(), self.y.clone())
            .described(&self.description)
            .sized(self.width, self.height);
        self.series.iter().enumerate().fold(empty, |plot, (i, line)| {
            plot.with(&line.name, Ink::Series(i), Mark::Line { points: line.points.clone(), width: 1.6 })
        })
    }
}
