//! Predictions of numbers: against what was, whether their uncertainty is right, and what is left over.

use super::{absent, figure, grid, lead, no_figure, noise, tiles};
use crate::chart::{Axis, DRAWN_SINGLY, Ink, Mark, Plot, Spacing, drawable};
use crate::report::{Fact, Noise, NumberPrediction};
use crate::statistics::{CURVE, binomial_band, goes_with, histogram, robust_range, several, with_air};
use crate::text::{count, number, percent};

/// Fewer rows bear out no judgement.
const FEW: usize = 50;
/// A band that is wider at 50 % shows little: there are some 200 rows where it is not.
const TELLING: f64 = 0.2;
/// More intervals than this hide each other.
const MOST_INTERVALS: usize = 150;
const SQUARE: (f64, f64) = (400.0, 380.0);
const FLAT: (f64, f64) = (400.0, 270.0);

/// The section about predictions of numbers.
pub(super) fn body(target: &str, points: &[NumberPrediction], noise: Option<&Noise>, metrics: &[Fact]) -> String {
    let target = if target.is_empty() { "target" } else { target };
    if points.is_empty() {
        let reason = format!("No row held out has a known {target}, so there is nothing to compare predictions with.");
        return tiles(metrics) + &absent(&reason);
    }
    let rows = count(points.len(), "row");
    let text = format!("How the model predicts {target} for {rows} that it has never seen.");
    let pits: Vec<f64> = points.iter().map(|p| p.pit).filter(|p| (0.0..=1.0).contains(p)).collect();
    let figures = [against_observed(target, points), calibration(&pits), pit(&pits), residuals(target, points)];
    let noise = noise.map_or(String::new(), |n| noise::figure(target, points, n));
    lead(&text) + &tiles(metrics) + &grid(&figures.concat()) + &noise
}

fn against_observed(target: &str, points: &[NumberPrediction]) -> String {
    let drawn: Vec<&NumberPrediction> = points.iter().filter(|p| drawable(p.observed) && drawable(p.mean)).collect();
    if drawn.is_empty() {
        return no_figure("Predicted and observed", "No row has both a finite observation and a finite prediction.");
    }
    let share = share_explained(&drawn);
    let title = title_of_predictions(share, drawn.len());
    let with_intervals = drawn.len() <= MOST_INTERVALS;
    let centre = || drawn.iter().flat_map(|p| [p.observed, p.mean]);
    let ends = drawn.iter().filter(|_| with_intervals).flat_map(|p| [p.lower, p.upper]);
    let range = robust_range(centre().chain(ends)).and_then(with_air);
    let range = range.unwrap_or_else(|| around(drawn[0].observed, drawn[0].mean));
    let axis = |label: String| Axis::new(label).over(range.0, range.1);
    let mut plot = Plot::new(&title, axis(format!("observed {target}")), axis(format!("predicted {target}")))
        .sized(SQUARE.0, SQUARE.1)
        .with("", Ink::Muted, Mark::Rule { from: (range.0, range.0), to: (range.1, range.1) });
    if with_intervals {
        let bars = drawn.iter().map(|p| (p.observed, p.lower, p.upper)).collect();
        plot = plot.with("90 % interval", Ink::Series(0), Mark::Intervals { points: bars, width: 2.0 });
    }
    let radius = if with_intervals { 2.4 } else { 1.8 };
    let name = if with_intervals { "mean" } else { "" };
    let dots = drawn.iter().map(|p| (p.observed, p.mean)).collect();
    plot = plot.with(name, Ink::Series(0), Mark::Points { points: dots, radius });
    let caption = if with_intervals {
        "Each dot is a row; on the dashed line prediction and observation agree, and nine bars in ten should touch it."
    } else if drawn.len() > DRAWN_SINGLY {
        "The stronger the colour, the more rows; on the dashed line prediction and observation agree."
    } else {
        "Each dot is a row; on the dashed line prediction and observation agree."
    };
    let beyond = drawn.iter().filter(|p| [p.observed, p.mean].iter().any(|v| *v < range.0 || *v > range.1)).count();
    let explained = if share.is_finite() && drawn.len() >= FEW {
        format!(" {} of the variance of {target} is explained.", percent(share.max(0.0)))
    } else {
        String::new()
    };
    let caption = format!("{caption}{explained}{}", outside(beyond));
    figure(&title, &plot.described(format!("Predicted against observed {target}. {caption}")).inline(), &caption)
}

/// The share of observations' variance that predictions explain: 1 − Σ(y − m)²/Σ(y − ȳ)².
fn share_explained(points: &[&NumberPrediction]) -> f64 {
    // scaled, so that squares of huge values stay finite
    let largest = points.iter().fold(f64::MIN_POSITIVE, |m, p| m.max(p.observed.abs()).max(p.mean.abs()));
    let mean = points.iter().map(|p| p.observed / largest / points.len() as f64).sum::<f64>();
    let left: f64 = points.iter().map(|p| (p.observed / largest - p.mean / largest).powi(2)).sum();
    let all: f64 = points.iter().map(|p| (p.observed / largest - mean).powi(2)).sum();
    1.0 - left / all
}

fn title_of_predictions(share: f64, rows: usize) -> String {
    let rounded = format!("{:.0}\u{202f}%", 100.0 * share);
    match share {
        _ if rows < FEW || !share.is_finite() => "On the dashed line a prediction is right".to_string(),
        s if s >= 0.7 => format!("Near the dashed line: {rounded} explained"),
        s if s >= 0.05 => format!("Around the dashed line: {rounded} explained"),
        _ => "No nearer to the dashed line than the average is".to_string(),
    }
}

/// A range around values that hardly differ.
pub(super) fn around(a: f64, b: f64) -> (f64, f64) {
    let (low, high) = (a.min(b), a.max(b));
    let air = (0.1 * low.abs().max(high.abs())).max(0.5 * (high - low));
    let air = if air > 0.0 { air } else { 1.0 };
    (low - air, high + air)
}

/// How many rows a chart does not show.
pub(super) fn outside(rows: usize) -> String {
    match rows {
        0 => String::new(),
        1 => " One row lies beyond the axes.".to_string(),
        _ => format!(" {} lie beyond the axes.", count(rows, "row")),
    }
}

fn calibration(pits: &[f64]) -> String {
    if pits.is_empty() {
        return no_figure("Shares of rows in intervals", "No row has a probability of its observed value.");
    }
    let rows = pits.len() as f64;
    let covered = |nominal: f64| {
        let inside = pits.iter().filter(|p| (*p - 0.5).abs() <= nominal / 2.0 + 1e-12).count();
        inside as f64 / rows
    };
    let levels = || (0..=20).map(|i| f64::from(i) / 20.0);
    let band = |level: f64| {
        let (low, high) = binomial_band(pits.len(), level, CURVE);
        (level, low / rows, high / rows)
    };
    let out = |beyond: fn(f64, f64, f64) -> bool| {
        levels().map(band).any(|(level, low, high)| level > 0.0 && level < 1.0 && beyond(covered(level), low, high))
    };
    let (_, least, most) = band(0.5);
    let title = match (out(|share, low, _| share < low), out(|share, _, high| share > high)) {
        (false, false) if most - least <= TELLING => "Within the band: its uncertainty is right",
        (false, false) => "Within the band, as far as so few rows can tell",
        (true, false) => "Below the band: it is surer than it should be",
        (false, true) => "Above the band: it is less sure than it could be",
        (true, true) => "Out of the band: its uncertainty is not right",
    };
    let share = |label: &str| Axis::new(label).over(0.0, 1.0).spaced(Spacing::Share);
    let (_, low, high) = band(0.9);
    let caption = format!(
        "The 90\u{202f}% interval held {} of {}; there the band goes from {} to {}. If its uncertainty is right, the whole \
         curve stays in the band 19 times in 20.",
        percent(covered(0.9)),
        count(pits.len(), "row"),
        percent(low),
        percent(high)
    );
    let plot = Plot::new(title, share("share of rows that an interval should hold"), share("share that it held"))
        .sized(SQUARE.0, SQUARE.1)
        .described(&caption)
        .with("what chance allows (95 %)", Ink::Muted, Mark::Band { points: levels().map(band).collect() })
        .with("", Ink::Muted, Mark::Rule { from: (0.0, 0.0), to: (1.0, 1.0) })
        .with("model", Ink::Series(0), Mark::Line { points: levels().map(|l| (l, covered(l))).collect(), width: 2.0 });
    figure(title, &plot.inline(), &caption)
}

fn pit(pits: &[f64]) -> String {
    if pits.is_empty() {
        return no_figure("Where observations fell", "No row has a probability of its observed value.");
    }
    let parts = if pits.len() >= 500 { 20 } else { 10 };
    let counts = histogram(pits, parts);
    let (low, high) = binomial_band(pits.len(), 1.0 / parts as f64, several(parts));
    let expected = pits.len() as f64 / parts as f64;
    let edge = |i: usize| i as f64 / parts as f64;
    let bars = counts.iter().enumerate().map(|(i, n)| (edge(i), edge(i + 1), *n as f64)).collect();
    let out = counts.iter().filter(|n| (**n as f64) < low || (**n as f64) > high).count();
    let title = if out > 0 { shape(pits) } else { level(pits.len()) };
    let caption = format!(
        "Where observations fell within their predictions: high ends mean too sure, a high middle too careful, a slope \
         too high or too low. {out} of {parts} bars lie outside the band; by chance none does, 19 times in 20."
    );
    let x = Axis::new("probability predicted below the observed value").over(0.0, 1.0).spaced(Spacing::Share);
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let plot = Plot::new(title, x, Axis::new("rows").over(0.0, 1.1 * most.max(high)).spaced(Spacing::Count))
        .sized(FLAT.0, FLAT.1)
        .described(&caption)
        .with("", Ink::Series(0), Mark::Bars { bars })
        .with("what chance allows (95 %)", Ink::Muted, Mark::Band { points: vec![(0.0, low, high), (1.0, low, high)] })
        .with("expected", Ink::Muted, Mark::Rule { from: (0.0, expected), to: (1.0, expected) });
    figure(title, &plot.inline(), &caption)
}

/// What to say of bars that lie within their band.
fn level(rows: usize) -> &'static str {
    let (low, high) = binomial_band(rows, 0.5, CURVE);
    if high - low <= TELLING * rows as f64 {
        "Level bars: neither too sure nor too careful"
    } else {
        "Level bars, as far as so few rows can tell"
    }
}

/// What is wrong with probabilities that are not evenly spread: their mean, or their distance from the middle.
fn shape(pits: &[f64]) -> &'static str {
    // of even numbers u, u − ½ and 2|u − ½| − ½ have variance 1/12
    let deviations = |of: fn(f64) -> f64| pits.iter().map(|p| of(*p)).sum::<f64>() * (12.0 / pits.len() as f64).sqrt();
    let (bias, spread) = (deviations(|p| p - 0.5), deviations(|p| 2.0 * (p - 0.5).abs() - 0.5));
    match (bias, spread) {
        (b, s) if b.abs().max(s.abs()) < 2.0 => "Uneven bars: the shape of its predictions is not right",
        (b, s) if b.abs() > s.abs() && b > 0.0 => "High on the right: it predicts too little",
        (b, s) if b.abs() > s.abs() => "High on the left: it predicts too much",
        (_, s) if s > 0.0 => "High ends: it is surer than it should be",
        _ => "A high middle: it is less sure than it could be",
    }
}

fn residuals(target: &str, points: &[NumberPrediction]) -> String {
    let standardised = points.iter().map(|p| (p.mean, (p.observed - p.mean) / p.sd)).zip(points);
    let drawn = standardised.filter(|((m, r), p)| drawable(*m) && drawable(*r) && p.sd > 0.0);
    let drawn: Vec<(f64, f64)> = drawn.map(|(point, _)| point).collect();
    if drawn.is_empty() {
        return no_figure("Errors in deviations", "No row has a finite prediction with an uncertainty.");
    }
    let title = title_of_residuals(&drawn);
    let most = robust_range(drawn.iter().map(|p| p.1)).map_or(3.0, |(a, b)| a.abs().max(b.abs()));
    let most = (1.05 * most).clamp(3.0, 50.0);
    let x = Axis {
        range: robust_range(drawn.iter().map(|p| p.0)).and_then(with_air),
        ..Axis::new(format!("predicted {target}"))
    };
    let ends = x.range.unwrap_or_else(|| around(drawn[0].0, drawn[drawn.len() - 1].0));
    let within = drawn.iter().filter(|p| p.1.abs() <= 2.0).count() as f64 / drawn.len() as f64;
    let beyond = drawn.iter().filter(|p| p.1.abs() > most || p.0 < ends.0 || p.0 > ends.1).count();
    let caption = format!(
        "Error divided by the standard deviation that the model gave it; {} lie within ±{}, and about 95\u{202f}% should.{}",
        percent(within),
        number(2.0),
        outside(beyond)
    );
    let rule = |y: f64, ink: Ink| (ink, Mark::Rule { from: (ends.0, y), to: (ends.1, y) });
    let y = Axis::new("error in standard deviations").over(-most, most);
    let mut plot = Plot::new(title, Axis { range: Some(ends), ..x }, y).sized(FLAT.0, FLAT.1).described(&caption);
    plot = plot.with("", Ink::Series(0), Mark::Points { points: drawn, radius: 2.0 });
    for (ink, mark) in [rule(-2.0, Ink::Series(1)), rule(0.0, Ink::Muted), rule(2.0, Ink::Series(1))] {
        plot = plot.with("", ink, mark);
    }
    figure(title, &plot.inline(), &caption)
}

/// Whether errors, or their size, go with what was predicted.
fn title_of_residuals(points: &[(f64, f64)]) -> &'static str {
    let (predicted, errors): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    match (goes_with(&predicted, &errors), goes_with(&predicted, &sizes)) {
        (true, _) => "Uneven: high predictions err otherwise than low ones",
        (false, true) => "A funnel: how sure it is does not fit all predictions alike",
        (false, false) if points.len() >= 4 * FEW => "Even scatter: nothing left to learn",
        (false, false) => "No pattern, as far as so few rows can tell",
    }
}
