//! Scales: from values to places on an axis, with ticks at round numbers.

use super::svg::FONT;
use crate::calendar;
use crate::text::{fit, fixed, power_of_ten, scientific, width};

/// How an axis is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    #[default]
    Linear,
    /// Evenly, with ticks at whole numbers only.
    Count,
    /// By powers of ten; values must be positive.
    Log,
    /// Evenly, from 0 to 1, written as percentages.
    Share,
    /// Evenly, by days since 1970-01-01, written as dates.
    Date,
    /// Evenly, by fractions of a day, written as times of day.
    Clock,
}

/// What an axis shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: String,
    /// From where to where, backwards if from the greater value; from the data if absent.
    pub range: Option<(f64, f64)>,
    /// How it is divided.
    pub spacing: Spacing,
    /// Names of 0, 1, and so on, where it shows no numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// An evenly divided axis over the data.
    pub fn new(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// The same axis over a given range.
    pub fn over(self, from: f64, to: f64) -> Axis {
        Axis { range: Some((from, to)), ..self }
    }

    /// An axis of names, the first at its beginning; long ones are cut.
    ///
    /// ```
    /// use dkp_report::chart::Axis;
    /// assert_eq!(Axis::named("town", &["Bath".into(), "Ely".into()]).range, Some((-0.5, 1.5)));
    /// ```
    pub fn named(label: impl Into<String>, names: &[String]) -> Axis {
        let names: Vec<String> = names.iter().map(|name| fit(name, LONGEST_NAME)).collect();
        let last = names.len().max(1) as f64 - 0.5;
        Axis { names, ..Axis::new(label).over(-0.5, last) }
    }

    /// The same axis, otherwise divided.
    pub fn spaced(self, spacing: Spacing) -> Axis {
        Axis { spacing, ..self }
    }
}

/// Values beyond this are not drawn: differences of two of them stay finite.
const LARGEST: f64 = 1e300;
/// Values below this count as 0.
const SMALLEST: f64 = 1e-300;
/// Longest name, in units of its font size.
const LONGEST_NAME: f64 = 13.0;
/// A range narrower than this, relative to its values, has no digits left for its ticks.
const NARROWEST: f64 = 1e-6;

/// Whether a value can be drawn.
pub fn drawable(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// A scale with its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    backwards: bool,
    /// Value and label of each tick, ascending.
    pub ticks: Vec<(f64, String)>,
}

impl Scale {
    /// The scale of an axis over data, with about `count` ticks, rarely fewer than half of that.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, count: usize) -> Scale {
        let log = axis.spacing == Spacing::Log;
        let usable = |v: &f64| drawable(*v) && (!log || *v >= SMALLEST);
        let asked = axis.range.filter(|(a, b)| usable(a) && usable(b) && a != b);
        let backwards = asked.is_some_and(|(a, b)| a > b);
        let ascending = asked.map(|(a, b)| (a.min(b), a.max(b)));
        let (low, high) = ascending.unwrap_or_else(|| padded(extent(values.filter(usable)), axis.spacing));
        let named = || axis.names.iter().enumerate().map(|(i, name)| (i as f64, name.clone())).collect();
        let ticks = |count: usize| match axis.spacing {
            _ if !axis.names.is_empty() => named(),
            Spacing::Date => calendar::dates(low, high, count).unwrap_or_else(|| linear_ticks(low, high, count)),
            Spacing::Clock => calendar::times(low, high, count).unwrap_or_else(|| linear_ticks(low, high, count)),
            Spacing::Linear => linear_ticks(low, high, count),
            Spacing::Count => whole_ticks(low, high, count),
            Spacing::Log => log_ticks(low, high, count),
            Spacing::Share => {
                let shares = round_numbers(low * 100.0, high * 100.0, count);
                shares.1.iter().map(|v| (v / 100.0, format!("{}\u{202f}%", fixed(*v, decimals(shares.0))))).collect()
            }
        };
        // round steps may leave few ticks in the range: a finer division then
        let enough = count / 2 + 1;
        let ticks = (count..count + 4).map(ticks).find(|t| t.len() >= enough).unwrap_or_else(|| ticks(count));
        Scale { low, high, log, backwards, ticks }
    }

    /// Where a value lies, 0 at the beginning and 1 at the end; nothing if it cannot be drawn.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !drawable(value) || (self.log && value < SMALLEST) {
            return None;
        }
        let [v, low, high] = [value, self.low, self.high].map(|v| if self.log { v.log10() } else { v });
        let place = (v - low) / (high - low);
        Some(if self.backwards { 1.0 - place } else { place })
    }

    /// What bars stand on: 0, or the low end of powers of ten.
    pub fn foot(&self) -> f64 {
        if self.log { self.low } else { 0.0 }
    }

    /// Width of the widest label, in the units of pictures.
    pub fn widest_label(&self) -> f64 {
        FONT * self.ticks.iter().map(|t| width(&t.1)).fold(0.0, f64::max)
    }
}

/// The least and the greatest value.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |e, v| Some(e.map_or((v, v), |(a, b): (f64, f64)| (a.min(v), b.max(v)))))
}

/// Some air on both sides; a range of its own for one value or none.
fn padded(extent: Option<(f64, f64)>, spacing: Spacing) -> (f64, f64) {
    const AIR: f64 = 0.04;
    let Some((low, high)) = extent else { return if spacing == Spacing::Log { (0.1, 10.0) } else { (0.0, 1.0) } };
    if spacing == Spacing::Log {
        let (a, b) = (low.log10(), high.log10());
        let air = if b - a < NARROWEST { 1.0 } else { AIR * (b - a) };
        return (10_f64.powf((a - air).max(-307.0)), 10_f64.powf((b + air).min(300.0)));
    }
    let size = low.abs().max(high.abs());
    let air = if size < SMALLEST {
        1.0
    } else if high - low > NARROWEST * size {
        AIR * (high - low)
    } else {
        0.1 * size
    };
    ((low - air).max(-LARGEST), (high + air).min(LARGEST))
}

/// A step of 1, 2 or 5 times a power of ten, and its multiples within the range.
fn round_numbers(low: f64, high: f64, count: usize) -> (f64, Vec<f64>) {
    let raw = ((high - low) / count.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(raw.log10().floor()).max(f64::MIN_POSITIVE);
    // the nearest by ratio: bounds are the geometric means of neighbours
    let nearest = [(1.414, 1.0), (3.162, 2.0), (7.071, 5.0)].into_iter().find(|(bound, _)| raw < bound * power);
    let step = power * nearest.map_or(10.0, |(_, multiple)| multiple);
    let slack = 1e-9;
    let (first, last) = ((low / step - slack).ceil(), (high / step + slack).floor());
    // at most a few more than asked for, whatever rounding does
    let ticks = (0..=2 * count + 2).map(|i| first + i as f64).take_while(|i| *i <= last);
    // + 0.0 turns −0 into 0
    (step, ticks.map(|i| i * step + 0.0).collect())
}

fn decimals(step: f64) -> usize {
    (-(step * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize
}

fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let (step, values) = round_numbers(low, high, count);
    let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let exponent = if largest > 0.0 { (largest * (1.0 + 1e-9)).log10().floor() as i32 } else { 0 };
    let label = |v: f64| {
        if v == 0.0 {
            "0".to_string()
        } else if (-3..6).contains(&exponent) {
            fixed(v, decimals(step))
        } else {
            let own = (v.abs() * (1.0 + 1e-9)).log10().floor() as i32;
            scientific(v, own, (f64::from(own) - step.log10().floor()).clamp(0.0, 6.0) as usize)
        }
    };
    values.into_iter().map(|v| (v, label(v))).collect()
}

/// Those of an even division that are whole.
fn whole_ticks(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let whole = |t: &(f64, String)| t.0.fract() == 0.0;
    let ticks = linear_ticks(low, high, count).into_iter().filter(whole);
    ticks.map(|(v, label)| (v, if v.abs() < 1e6 { fixed(v, 0) } else { label })).collect()
}

fn log_ticks(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let (first, last) = ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32);
    if last - first < 1 {
        return linear_ticks(low, high, count);
    }
    let stride = ((last - first) as usize / count.max(1) + 1) as i32;
    let powers = (first..=last).filter(|p| p.rem_euclid(stride) == 0);
    let label = |p: i32| if (-2..4).contains(&p) { crate::text::number(10_f64.powi(p)) } else { power_of_ten(p) };
    powers.map(|p| (10_f64.powi(p), label(p))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        Scale::new(axis, values.iter().copied(), 5).ticks.into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&Axis::new(""), &[0.0, 10.0]), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&Axis::new(""), &[-0.31, 0.22]), ["−0.3", "−0.2", "−0.1", "0", "0.1", "0.2"]);
        assert_eq!(labels(&Axis::new("").spaced(Spacing::Count), &[0.0, 2.0]), ["0", "1", "2"]);
        let share = Axis::new("").over(0.0, 1.0).spaced(Spacing::Share);
        assert_eq!(labels(&share, &[]), ["0", "20", "40", "60", "80", "100"].map(|s| format!("{s}\u{202f}%")));
        assert_eq!(labels(&Axis::new("").spaced(Spacing::Log), &[1e-4, 100.0]), ["10⁻⁴", "0.01", "1", "100"]);
    }

    #[test]
    fn an_axis_from_the_greater_value_runs_backwards() {
        let scale = Scale::new(&Axis::new("").over(3.0, -1.0), std::iter::empty(), 4);
        assert_eq!([3.0, 1.0, -1.0].map(|v| scale.place(v)), [Some(0.0), Some(0.5), Some(1.0)]);
        assert_eq!(scale.ticks.iter().map(|t| t.0).collect::<Vec<_>>(), [-1.0, 0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn no_values_make_a_scale_fail() {
        let awkward = [
            vec![],
            vec![f64::NAN],
            vec![f64::INFINITY, 1.0],
            vec![3.0],
            vec![0.0],
            vec![-1e308, 1e308],
            vec![-1e300, 1e300],
            vec![5e-324],
            vec![1e9, 1e9 + 1e-7],
            vec![-5e-324, 5e-324],
            vec![1e-320, 1e299],
        ];
        for values in awkward {
            for spacing in [Spacing::Linear, Spacing::Count, Spacing::Log, Spacing::Share] {
                let scale = Scale::new(&Axis::new("").spaced(spacing), values.iter().copied(), 5);
                assert!(scale.low < scale.high && scale.high.is_finite(), "{values:?} {spacing:?} {scale:?}");
                assert!(scale.ticks.len() <= 14, "{values:?} {spacing:?} {scale:?}");
                for v in &values {
                    assert!(scale.place(*v).is_none_or(f64::is_finite), "{values:?} {spacing:?} {scale:?}");
                }
            }
        }
    }
}
