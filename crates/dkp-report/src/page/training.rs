//! Training: the bound and its parts, step by step.

use super::{absent, figure, lead, loose_grid};
use crate::chart::{Axis, Ink, Mark, Plot, Spacing, drawable};
use crate::report::TracePoint;
use crate::statistics::{robust_range, with_air};
use crate::text::{escape, number};

/// Longer traces are averaged over so many stretches; the spread within each is a band.
const STRETCHES: usize = 160;
/// A tenth of training with fewer points says nothing.
const FEWEST: usize = 3;
/// A bound that rises by less in a tenth of training, in nats per row, has levelled off.
const RISE: f64 = 0.01;
/// Steps before this share of training do not choose the axis: the bound may start at minus millions.
const EARLY: f64 = 0.1;

/// Step, least, mean and greatest value of a stretch of training.
type Stretch = (f64, f64, f64, f64);

/// The section about training.
pub(super) fn body(trace: &[TracePoint]) -> String {
    if !trace.iter().any(|p| drawable(p.bound)) {
        return absent("No trace of training was recorded.");
    }
    let text = "Training raises a bound on how well the model explains its data. It should rise steeply, then level off; \
                a line that still rises at its end asks for more steps.";
    let figures = format!("{}{}", total(trace), parts(trace));
    lead(text) + &loose_grid(&figures)
}

fn stretches(trace: &[TracePoint], value: impl Fn(&TracePoint) -> f64) -> Vec<Stretch> {
    let size = trace.len().div_ceil(STRETCHES).max(1);
    let of = |chunk: &[TracePoint]| {
        let values: Vec<f64> = chunk.iter().map(&value).filter(|v| drawable(*v)).collect();
        let step = chunk.iter().map(|p| p.step as f64).sum::<f64>() / chunk.len() as f64;
        // each divided before it is added: sums of huge values stay finite
        let mean = if values.is_empty() { f64::NAN } else { values.iter().map(|v| v / values.len() as f64).sum() };
        let least = values.iter().copied().fold(f64::NAN, f64::min);
        (step, least, mean, values.iter().copied().fold(f64::NAN, f64::max))
    };
    trace.chunks(size).map(of).collect()
}

/// From what comes after the early steps.
fn robust_axis(stretches: &[Stretch]) -> Axis {
    let early = (stretches.len() as f64 * EARLY) as usize;
    let late = stretches.iter().skip(early).flat_map(|s| [s.1, s.3]);
    Axis { range: robust_range(late).and_then(with_air), ..Axis::default() }
}

fn line(stretches: &[Stretch], width: f64) -> Mark {
    Mark::Line { points: stretches.iter().map(|s| (s.0, s.2)).collect(), width }
}

fn total(trace: &[TracePoint]) -> String {
    let title = title(trace);
    let drawn = stretches(trace, |p| p.bound);
    let y = Axis { label: "bound, nats per row".into(), ..robust_axis(&drawn) };
    let last = trace.iter().rev().find(|p| drawable(p.bound)).map_or(f64::NAN, |p| p.bound);
    let mut caption = format!("Higher is better; the last value is {} nats per row.", number(last));
    if trace.len() > STRETCHES {
        caption.push_str(" The line is an average over neighbouring steps, the band their spread.");
    }
    if y.range.is_some_and(|r| drawn.iter().any(|s| s.2 < r.0)) {
        caption.push_str(" The lowest steps lie below the axis.");
    }
    let mut plot =
        Plot::new(title, Axis::new("step").spaced(Spacing::Count), y).sized(400.0, 270.0).described(&caption);
    if trace.len() > STRETCHES {
        let band = drawn.iter().map(|s| (s.0, s.1, s.3)).collect();
        plot = plot.with("", Ink::Series(0), Mark::Band { points: band });
    }
    figure(title, &plot.with("", Ink::Series(0), line(&drawn, 1.8)).inline(), &caption)
}

/// Whether the last tenth of training has raised the bound by more than a little, and by more than chance.
fn title(trace: &[TracePoint]) -> &'static str {
    let bounds: Vec<f64> = trace.iter().map(|p| p.bound).filter(|b| drawable(*b)).collect();
    let tenth = bounds.len() / 10;
    if tenth < FEWEST {
        return "The bound should level off";
    }
    let (before, last) = bounds[bounds.len() - 2 * tenth..].split_at(tenth);
    let moments = |values: &[f64]| {
        let mean = values.iter().map(|v| v / values.len() as f64).sum::<f64>();
        (mean, values.iter().map(|v| (v - mean).powi(2) / values.len() as f64).sum::<f64>() / values.len() as f64)
    };
    let ((before, spread), (last, narrow)) = (moments(before), moments(last));
    if last - before > RISE.max(3.0 * (spread + narrow).sqrt()) {
        "The bound still rises: more steps would help"
    } else {
        "The bound has levelled off"
    }
}

fn parts(trace: &[TracePoint]) -> String {
    let hidden = trace.iter().map(|p| p.layers.len()).max().unwrap_or(0);
    let mut panels = panel(trace, "Fit to the data", |p| p.likelihood, Ink::Series(2), robust_axis);
    panels += &panel(trace, "Input layer", |p| p.input, Ink::Series(3), robust_axis);
    for i in 0..hidden {
        let layer = |p: &TracePoint| p.layers.get(i).copied().unwrap_or(f64::NAN);
        panels += &panel(trace, &format!("Layer {}", i + 1), layer, Ink::Series(3), robust_axis);
    }
    panels += &panel(trace, "Output layer", |p| p.output, Ink::Series(3), robust_axis);
    panels += &panel(trace, "Learning rate", |p| p.rate, Ink::Series(4), rate_axis);
    if panels.is_empty() {
        return panels;
    }
    let caption = "By step, each on its own axis, in nats per row; the learning rate has no unit. The fit and the layers add up \
                   to the bound: a layer's line, mostly below zero, is what it pays for leaving its prior.";
    format!(
        "<figure class=\"parts\"><h3>What the bound is made of</h3><div class=\"panels\">{panels}</div>\
         <figcaption>{}</figcaption></figure>\n",
        escape(caption)
    )
}

/// From 0, or by powers of ten if rates differ by more than a hundred times.
fn rate_axis(stretches: &[Stretch]) -> Axis {
    let positive = stretches.iter().map(|s| s.2).filter(|v| *v > 0.0);
    let (least, most) = positive.fold((f64::MAX, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
    if most / 100.0 > least { Axis::default().spaced(Spacing::Log) } else { Axis::default().over(0.0, 1.1 * most) }
}

/// A small chart of one part; nothing if it is absent throughout.
fn panel(
    trace: &[TracePoint],
    name: &str,
    value: impl Fn(&TracePoint) -> f64,
    ink: Ink,
    axis: impl Fn(&[Stretch]) -> Axis,
) -> String {
    if !trace.iter().any(|p| drawable(value(p)) && value(p) != 0.0) {
        return String::new();
    }
    let drawn = stretches(trace, value);
    let plot = Plot::new(name, Axis::default().spaced(Spacing::Count), axis(&drawn)).sized(190.0, 120.0);
    let svg = plot.described("By step of training.").with("", ink, line(&drawn, 1.6)).inline();
    format!("<div><h4>{}</h4>{svg}</div>", escape(name))
}
