//! How predictions go with columns: one at a time, and the two that work together most.

use super::{figure, grid, lead, wide_figure};
use crate::chart::{Axis, HeatMap, Ink, Mark, Plot, Spacing, drawable};
use crate::explanation::{Curve, Effect, Explanation, Pair, Place};
use crate::text::{number, percent};

/// Deviations on each side of the mean that bands show.
const WIDTH: f64 = 2.0;
/// The share of a chart's height where rows are shown.
const FOOT: f64 = 0.14;
/// A mean that moves by less than so many of the model's deviations hardly moves.
const HARDLY: f64 = 2.0;
/// Of all that a mean moves, the part that goes one way when it rises or falls.
const ONE_WAY: f64 = 0.9;
/// Pairs with less are sums of what their columns do.
const TOGETHER: f64 = 0.05;
/// The ink of the same colour, dashed.
const DASHED: usize = 6;
/// Half the height of a bar, where texts are 1 apart.
const HALF: f64 = 0.24;
const SIZE: (f64, f64) = (400.0, 290.0);

/// The figures about columns; nothing where there are none.
pub(super) fn body(explanation: &Explanation) -> String {
    let target = if explanation.target.is_empty() { "target" } else { &explanation.target };
    let effects: Vec<&Effect> = explanation.effects.iter().filter(|e| usable(e)).collect();
    let pair = explanation.pair.as_ref().filter(|p| usable_pair(p)).map_or(String::new(), |p| map(target, p));
    if effects.is_empty() {
        return pair;
    }
    let of_classes = effects.iter().any(|e| e.curves.iter().any(|c| !c.class.is_empty()));
    let bands = if of_classes {
        ""
    } else {
        " The band is two deviations of what the model does not know of a row; between the dashed lines there is noise too."
    };
    let text = format!(
        "What the model predicts when one column is set to a value in many training rows and all else stays: the mean of \
         these rows.{bands} Below, in grey, where training rows lie. All have one scale. This is what the model has \
         learned, not what causes what."
    );
    let range = range(&effects);
    let figures: String = effects.iter().map(|e| effect_figure(target, e, range)).collect();
    lead(&text) + &grid(&figures) + &pair
}

/// Whether all curves have a number for each value.
fn usable(effect: &Effect) -> bool {
    let n = effect.at.len();
    let whole = |v: &[f64]| v.len() == n && v.iter().all(|v| drawable(*v));
    let bands = |c: &Curve| [&c.model, &c.total].into_iter().all(|v| v.is_empty() || whole(v));
    n > 0
        && one_kind(&effect.at)
        && !effect.curves.is_empty()
        && effect.curves.iter().all(|c| whole(&c.mean) && bands(c))
}

fn usable_pair(pair: &Pair) -> bool {
    let [first, second] = &pair.columns;
    let kinds = [first, second].into_iter().all(|(_, at)| !at.is_empty() && one_kind(at));
    kinds
        && (0.0..=1.0).contains(&pair.share)
        && first.1.len() * second.1.len() == pair.mean.len()
        && pair.mean.iter().all(|v| drawable(*v))
}

/// Whether all are texts, or all are rising numbers that can be drawn.
fn one_kind(at: &[Place]) -> bool {
    let values: Vec<f64> = at.iter().filter_map(Place::value).collect();
    values.is_empty() || (values.len() == at.len() && values.iter().all(|v| drawable(*v)) && values.is_sorted())
}

/// What all curves and bands need, in every chart; shares of classes start at 0.
fn range(effects: &[&Effect]) -> (f64, f64) {
    let curves = || effects.iter().flat_map(|e| &e.curves);
    let ends = |c: &Curve| {
        let widest = if c.total.is_empty() { &c.model } else { &c.total };
        let width = |i: usize| widest.get(i).map_or(0.0, |d| WIDTH * d);
        (0..c.mean.len()).flat_map(|i| [c.mean[i] - width(i), c.mean[i] + width(i)]).collect::<Vec<f64>>()
    };
    let (low, high) = curves()
        .flat_map(ends)
        .filter(|v| drawable(*v))
        .fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
    if curves().any(|c| !c.class.is_empty()) {
        return (0.0, high.clamp(0.01, 1.0));
    }
    if high > low { (low, high) } else { super::regression::around(low.min(high), low.max(high)) }
}

fn axis_of(column: &str, at: &[Place]) -> Axis {
    let spacing = match at.first() {
        Some(Place::Date(_)) => Spacing::Date,
        Some(Place::Clock(_)) => Spacing::Clock,
        _ => Spacing::Linear,
    };
    Axis::new(column).spaced(spacing)
}

fn effect_figure(target: &str, effect: &Effect, range: (f64, f64)) -> String {
    let (title, caption) = (title(target, effect), caption(effect));
    let of_classes = effect.curves.iter().any(|c| !c.class.is_empty());
    let spacing = if of_classes { Spacing::Share } else { Spacing::Linear };
    let label = if of_classes { format!("probability of {target}") } else { format!("predicted {target}") };
    let predicted = Axis::new(label).spaced(spacing);
    let values: Vec<f64> = effect.at.iter().filter_map(Place::value).collect();
    let plot =
        if values.is_empty() { levels(effect, predicted, range) } else { line(effect, &values, predicted, range) };
    figure(&title, &Plot { title: title.clone(), ..plot }.described(&caption).inline(), &caption)
}

/// Curves over a column of numbers or dates, with the rows at their feet.
fn line(effect: &Effect, values: &[f64], predicted: Axis, (low, high): (f64, f64)) -> Plot {
    let air = 0.04 * (high - low);
    let foot = low - air - FOOT * (high - low);
    let (first, last) = (values[0], values[values.len() - 1]);
    let ends = if last > first { (first, last) } else { super::regression::around(first, last) };
    let side = 0.02 * (ends.1 - ends.0);
    let x = axis_of(&effect.column, &effect.at).over(ends.0 - side, ends.1 + side);
    let mut plot = Plot::new("", x, predicted.over(foot, high + air)).sized(SIZE.0, SIZE.1);
    let most = effect.rows.iter().copied().max().unwrap_or(0).max(1) as f64;
    let edge = |i: usize| ends.0 + (ends.1 - ends.0) * i as f64 / effect.rows.len() as f64;
    let step = |(i, n): (usize, &usize)| {
        let top = foot + (0.95 * FOOT * (high - low)) * *n as f64 / most;
        [(edge(i), foot, top), (edge(i + 1), foot, top)]
    };
    let rows: Vec<(f64, f64, f64)> = effect.rows.iter().enumerate().flat_map(step).collect();
    if !rows.is_empty() {
        plot = plot.with("rows", Ink::Muted, Mark::Band { points: rows });
    }
    for (i, curve) in effect.curves.iter().enumerate() {
        let band = |deviations: &[f64]| {
            let around = curve.mean.iter().zip(deviations).map(|(m, d)| (m - WIDTH * d, m + WIDTH * d));
            Mark::Band { points: values.iter().zip(around).map(|(x, (low, high))| (*x, low, high)).collect() }
        };
        if !curve.total.is_empty() {
            for (name, sign) in [("with noise", -1.0), ("", 1.0)] {
                let end = curve.mean.iter().zip(&curve.total).map(|(m, d)| m + sign * WIDTH * d);
                let points = values.iter().copied().zip(end).collect();
                plot = plot.with(name, Ink::Series(i + DASHED), Mark::Line { points, width: 1.2 });
            }
        }
        if !curve.model.is_empty() {
            plot = plot.with("model", Ink::Series(i), band(&curve.model));
        }
        let points: Vec<(f64, f64)> = values.iter().copied().zip(curve.mean.iter().copied()).collect();
        let name = if curve.class.is_empty() { "mean" } else { &curve.class };
        let dots = points.len() <= 12;
        plot = plot.with(name, Ink::Series(i), Mark::Line { points: points.clone(), width: 2.0 });
        if dots {
            plot = plot.with("", Ink::Series(i), Mark::Points { points, radius: 2.4 });
        }
    }
    plot
}

/// A dot and its bands for each text, one below the other.
fn levels(effect: &Effect, predicted: Axis, (low, high): (f64, f64)) -> Plot {
    let all = effect.rows.iter().sum::<usize>().max(1) as f64;
    let share =
        |i: usize| effect.rows.get(i).map_or(String::new(), |n| format!(" · {:.0}\u{202f}%", 100.0 * *n as f64 / all));
    let name = |(i, place): (usize, &Place)| crate::text::fit(&place.text(), 8.0) + &share(i);
    let names: Vec<String> = effect.at.iter().enumerate().map(name).collect();
    let n = names.len();
    let air = 0.04 * (high - low);
    let y = Axis::named(format!("{} · share of rows", effect.column), &names).over(n as f64 - 0.5, -0.5);
    let height = (76.0 + 32.0 * n as f64).max(150.0);
    let mut plot = Plot::new("", predicted.over(low - air, high + air), y).sized(SIZE.0, height);
    for (k, curve) in effect.curves.iter().enumerate() {
        let ends = |i: usize, deviation: f64| [curve.mean[i] - WIDTH * deviation, curve.mean[i] + WIDTH * deviation];
        for (i, deviation) in curve.total.iter().enumerate() {
            let line = Mark::Line { points: ends(i, *deviation).map(|x| (x, i as f64)).into(), width: 1.2 };
            plot = plot.with(if i == 0 { "with noise" } else { "" }, Ink::Series(k + DASHED), line);
        }
        for (i, deviation) in curve.model.iter().enumerate() {
            let corners = ends(i, *deviation).map(|x| (x, i as f64 - HALF, i as f64 + HALF));
            let name = if i == 0 { "model" } else { "" };
            plot = plot.with(name, Ink::Series(k), Mark::Band { points: corners.into() });
        }
        let points = curve.mean.iter().enumerate().map(|(i, m)| (*m, i as f64)).collect();
        let name = if curve.class.is_empty() { "mean" } else { &curve.class };
        plot = plot.with(name, Ink::Series(k), Mark::Points { points, radius: 4.0 });
    }
    plot
}

/// Whether the mean rises, falls, does both, or hardly moves for all that the model knows.
fn title(target: &str, effect: &Effect) -> String {
    let column = &effect.column;
    let [curve] = effect.curves.as_slice() else { return format!("{target} by {column}") };
    let what =
        if curve.class.is_empty() { target.to_string() } else { format!("probability of “{}”", curve.class) };
    let mean = &curve.mean;
    let (least, most) = ends(mean);
    let doubt = curve.model.iter().sum::<f64>() / curve.model.len().max(1) as f64;
    if mean[most] - mean[least] < HARDLY * doubt {
        return format!("{column}: {what} hardly goes with it on average");
    }
    if effect.at.iter().any(|p| p.value().is_none()) {
        return format!("{column}: {what} is highest for {}", effect.at[most].text());
    }
    let moves: Vec<f64> = mean.windows(2).map(|w| w[1] - w[0]).collect();
    let [up, down] = [1.0, -1.0].map(|sign| moves.iter().map(|m| (sign * m).max(0.0)).sum::<f64>());
    match up / (up + down) {
        share if share >= ONE_WAY => format!("{column}: {what} rises with it"),
        share if share <= 1.0 - ONE_WAY => format!("{column}: {what} falls with it"),
        _ => format!("{column}: {what} rises and falls"),
    }
}

/// The places of the least and the greatest.
fn ends(values: &[f64]) -> (usize, usize) {
    let by = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
    ((0..values.len()).min_by(by).unwrap_or(0), (0..values.len()).max_by(by).unwrap_or(0))
}

fn caption(effect: &Effect) -> String {
    let shown = |curve: &Curve, v: f64| if curve.class.is_empty() { number(v) } else { percent(v) };
    let of = |curve: &Curve| {
        let (least, most) = ends(&curve.mean);
        let at = |i: usize| format!("{} at {}", shown(curve, curve.mean[i]), effect.at[i].text());
        let name = if curve.class.is_empty() { "Mean".to_string() } else { format!("{}:", curve.class) };
        format!("{name} from {} to {}.", at(least), at(most))
    };
    effect.curves.iter().map(of).collect::<Vec<String>>().join(" ")
}

/// The two columns together: the mean prediction as colours, with a dot where there are rows.
fn map(target: &str, pair: &Pair) -> String {
    // texts go down, where they have room
    let texts = |i: usize| pair.columns[i].1.iter().any(|p| p.value().is_none());
    let (across, down) = if texts(0) && !texts(1) { (1, 0) } else { (0, 1) };
    let ((x_name, xs), (y_name, ys)) = (&pair.columns[across], &pair.columns[down]);
    let place = |column: usize, row: usize| {
        let (first, second) = if across == 0 { (column, row) } else { (row, column) };
        first * pair.columns[1].1.len() + second
    };
    // greater numbers are higher up
    let row = |i: usize| if texts(down) { i } else { ys.len() - 1 - i };
    let cells = || (0..xs.len()).flat_map(|j| (0..ys.len()).map(move |i| (j, i)));
    let what = if pair.class.is_empty() { target.to_string() } else { format!("“{}”", pair.class) };
    let share = percent(pair.share);
    let title = if pair.share >= TOGETHER {
        format!("{x_name} and {y_name} work together")
    } else {
        format!("{x_name} and {y_name}: even this pair hardly works together")
    };
    let caption = format!(
        "Of all pairs of the columns above this one does most that is not the sum of what each does: {share} of what both do \
         together (Friedman's H²). Colours are the mean prediction of {what} with both set; dots are training rows, the larger \
         the more: where there are none, colours are guesses."
    );
    let chart = HeatMap {
        title: title.clone(),
        description: caption.clone(),
        rows: ys.len(),
        columns: xs.len(),
        values: cells().map(|(j, i)| pair.mean[place(j, row(i))]).collect(),
        dots: cells().map(|(j, i)| pair.rows.get(place(j, row(i))).map_or(0.0, |n| *n as f64)).collect(),
        x: axis_of_cells(x_name, xs, false),
        y: axis_of_cells(y_name, ys, true),
        value: if pair.class.is_empty() { format!("predicted {what}") } else { format!("probability of {what}") },
    };
    wide_figure(&title, &chart.inline(), &caption)
}

/// From the first cell's edge to the last one's; numbers that go down are greatest first.
fn axis_of_cells(column: &str, at: &[Place], down: bool) -> Axis {
    let values: Vec<f64> = at.iter().filter_map(Place::value).collect();
    if values.is_empty() {
        return Axis::named(column, &at.iter().map(Place::text).collect::<Vec<String>>());
    }
    let (first, last) = (values[0], values[values.len() - 1]);
    let half = if last > first { 0.5 * (last - first) / (values.len() - 1) as f64 } else { 0.5 };
    let (low, high) = (first - half, last + half);
    let axis = axis_of(column, at);
    if down { axis.over(high, low) } else { axis.over(low, high) }
}
