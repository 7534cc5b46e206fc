//! Predictions of classes: whether their probabilities are right, and what is taken for what.

use super::{absent, figure, grid, lead, no_figure, tiles};
use crate::chart::{Axis, Confusion, HeatMap, Ink, Mark, Plot, Spacing};
use crate::report::{ClassPrediction, Fact};
use crate::statistics::{binomial_band, several};
use crate::text::{count, escape, fit, percent};

/// Bins of confidence.
const BINS: usize = 10;
/// Fewer rows bear out no judgement.
const TELLING: usize = 200;
/// Classes whose frequency is drawn.
const MOST_DRAWN: usize = 20;
/// Classes that the table names.
const MOST_CLASSES: usize = 30;

/// Longest name of a class, in units of its font size.
const LONGEST_NAME: f64 = 24.0;

/// A row: its class, the class predicted, the probability of each of the two.
struct Row {
    observed: usize,
    predicted: usize,
    given: f64,
    confidence: f64,
}

/// The section about predictions of classes.
pub(super) fn body(target: &str, labels: &[String], points: &[ClassPrediction], metrics: &[Fact]) -> String {
    if points.is_empty() {
        return tiles(metrics)
            + &absent("There are no rows held out, so there is nothing to compare predictions with.");
    }
    let rows: Vec<Row> = points.iter().filter_map(|p| row(p, labels.len())).collect();
    if rows.is_empty() {
        return tiles(metrics) + &absent("No row has a known class and probabilities between 0 and 1.");
    }
    let target = if target.is_empty() { "the class" } else { target };
    let mut text = format!("How the model predicts {target} for {} that it has never seen.", count(rows.len(), "row"));
    if rows.len() < points.len() {
        text.push_str(&format!(" {} without usable probabilities left out.", count(points.len() - rows.len(), "row")));
    }
    let usable: Vec<&ClassPrediction> = points.iter().filter(|p| row(p, labels.len()).is_some()).collect();
    let figures = [
        reliability(&rows),
        confidence(&rows),
        confusion(labels, &rows),
        frequencies(labels, &usable),
        per_class(labels, &rows),
    ];
    lead(&text) + &tiles(metrics) + &grid(&figures.concat())
}

/// A row that can be used: its class exists and its probabilities are probabilities. Of equal ones the first is predicted.
fn row(point: &ClassPrediction, classes: usize) -> Option<Row> {
    let p = &point.probabilities;
    let usable = point.observed < classes && p.len() == classes && p.iter().all(|v| (-1e-9..=1.0 + 1e-9).contains(v));
    let (predicted, confidence) =
        p.iter().enumerate().fold((0, f64::MIN), |best, (i, &v)| if v > best.1 { (i, v) } else { best });
    let given = p.get(point.observed).copied()?;
    usable.then_some(Row { observed: point.observed, predicted, given, confidence: confidence.clamp(0.0, 1.0) })
}

/// Rows by confidence: how many, how many right, sum of confidence.
fn bins(rows: &[Row]) -> [(usize, usize, f64); BINS] {
    let mut bins = [(0, 0, 0.0); BINS];
    for row in rows {
        let bin = &mut bins[((row.confidence * BINS as f64) as usize).min(BINS - 1)];
        bin.0 += 1;
        bin.1 += usize::from(row.observed == row.predicted);
        bin.2 += row.confidence;
    }
    bins
}

fn share(label: &str) -> Axis {
    Axis::new(label).over(0.0, 1.0).spaced(Spacing::Share)
}

fn reliability(rows: &[Row]) -> String {
    let filled: Vec<(usize, f64, f64)> = bins(rows)
        .into_iter()
        .filter(|b| b.0 > 0)
        .map(|(n, right, sum)| (n, right as f64 / n as f64, sum / n as f64))
        .collect();
    let band = |n: usize, mean: f64| {
        let (low, high) = binomial_band(n, mean, several(filled.len()));
        (low / n as f64, high / n as f64)
    };
    let expected = filled.iter().map(|&(n, _, mean)| (mean, band(n, mean).0, band(n, mean).1)).collect();
    let observed: Vec<(f64, f64)> = filled.iter().map(|&(_, right, mean)| (mean, right)).collect();
    let below = filled.iter().any(|&(n, right, mean)| right < band(n, mean).0);
    let above = filled.iter().any(|&(n, right, mean)| right > band(n, mean).1);
    let title = match (below, above) {
        (false, false) if rows.len() >= TELLING => "Dots within bars: its probabilities are right",
        (false, false) => "Dots within bars, as far as so few rows can tell",
        (true, false) => "Dots below bars: it is surer than it should be",
        (false, true) => "Dots above bars: it is less sure than it could be",
        (true, true) => "Dots outside bars: its probabilities are not right",
    };
    let caption = "Rows grouped by how sure the model was: of those at 80\u{202f}%, four in five should be right. \
                   Bars are what chance allows, wide where rows are few; all dots lie within them 19 times in 20.";
    let plot = Plot::new(title, share("how sure the model was"), share("share that was right"))
        .sized(400.0, 380.0)
        .described(caption)
        .with("", Ink::Muted, Mark::Rule { from: (0.0, 0.0), to: (1.0, 1.0) })
        .with("what chance allows", Ink::Muted, Mark::Intervals { points: expected, width: 9.0 })
        .with("", Ink::Series(0), Mark::Line { points: observed.clone(), width: 1.4 })
        .with("model", Ink::Series(0), Mark::Points { points: observed, radius: 3.6 });
    figure(title, &plot.inline(), caption)
}

/// How often each class was, and how often the probabilities of all rows say it should have been.
fn frequencies(labels: &[String], points: &[&ClassPrediction]) -> String {
    let n = points.len() as f64;
    let shown = labels.len().min(MOST_DRAWN);
    let tail = several(shown);
    // per class: stated and seen share, and a deviation of what chance allows: Σ p(1 − p)
    let class = |k: usize| {
        let stated = points.iter().map(|p| p.probabilities[k]).sum::<f64>() / n;
        let seen = points.iter().filter(|p| p.observed == k).count() as f64 / n;
        let variance = points.iter().map(|p| p.probabilities[k] * (1.0 - p.probabilities[k])).sum::<f64>();
        // as wide as that of so many equal trials with the same chance
        let (p, trials) = (stated.clamp(0.0, 1.0), n * stated * (1.0 - stated));
        let (low, high) = binomial_band(points.len(), p, tail);
        let narrower = if trials > 0.0 { (variance / trials).sqrt().min(1.0) } else { 0.0 };
        let end = |count: f64| stated + narrower * (count / n - stated);
        (stated, seen, end(low) - 0.5 / n, end(high) + 0.5 / n)
    };
    let classes: Vec<(f64, f64, f64, f64)> = (0..shown).map(class).collect();
    let out = |c: &&(f64, f64, f64, f64)| c.1 < c.2 || c.1 > c.3;
    let title = match classes.iter().filter(out).count() {
        0 if points.len() >= TELLING => "Each class is as frequent as it was said to be",
        0 => "Frequencies as stated, as far as so few rows can tell",
        _ => "Dots outside bars: classes that are said too often or too rarely",
    };
    let more = labels.len() - shown;
    let more = if more > 0 { format!(" {more} more classes are not shown.") } else { String::new() };
    let caption = format!(
        "Share of rows of each class; bars are what chance allows around the mean of the stated probabilities, and all \
         dots lie within them 19 times in 20.{more}"
    );
    let places = |i: usize| i as f64;
    let height = (46.0 + 26.0 * shown as f64 + 40.0).max(150.0);
    let most = classes.iter().map(|c| c.1.max(c.3)).fold(0.0, f64::max).clamp(0.01, 1.0);
    let x = Axis::new("share of rows").over(0.0, 1.06 * most).spaced(Spacing::Share);
    let y = Axis::named("", &labels[..shown]).over(shown as f64 - 0.5, -0.5);
    let mut plot = Plot::new(title, x, y).sized(400.0, height).described(&caption);
    for (i, &(_, _, low, high)) in classes.iter().enumerate() {
        let (low, high) = (low.max(0.0), high.min(1.0));
        let bar = Mark::Band { points: [low, high].map(|x| (x, places(i) - 0.3, places(i) + 0.3)).into() };
        plot = plot.with(if i == 0 { "what chance allows" } else { "" }, Ink::Muted, bar);
    }
    let seen = classes.iter().enumerate().map(|(i, c)| (c.1, places(i))).collect();
    let plot = plot.with("share that was", Ink::Series(0), Mark::Points { points: seen, radius: 3.6 });
    figure(title, &plot.inline(), &caption)
}

fn confidence(rows: &[Row]) -> String {
    let title = "How often the model was how sure";
    let edge = |i: usize| i as f64 / BINS as f64;
    let by_bin = bins(rows);
    let bars = |pick: fn(&(usize, usize, f64)) -> usize| Mark::Bars {
        bars: by_bin.iter().enumerate().map(|(i, b)| (edge(i), edge(i + 1), pick(b) as f64)).collect(),
    };
    let most = by_bin.iter().map(|b| b.0).max().unwrap_or(0).max(1) as f64;
    let rows_axis = Axis::new("rows").over(0.0, 1.08 * most).spaced(Spacing::Count);
    let right = rows.iter().filter(|r| r.observed == r.predicted).count();
    let caption = format!("{} of {} were right.", percent(right as f64 / rows.len() as f64), count(rows.len(), "row"));
    let plot = Plot::new(title, share("how sure the model was"), rows_axis)
        .sized(400.0, 380.0)
        .described(&caption)
        .with("all", Ink::Muted, bars(|b| b.0))
        .with("right", Ink::Series(0), bars(|b| b.1));
    figure(title, &plot.inline(), &caption)
}

fn confusion(labels: &[String], rows: &[Row]) -> String {
    let title = "Off the diagonal: what is taken for what";
    let classes = labels.len();
    if classes > 2000 {
        return no_figure(title, "There are too many classes for a table.");
    }
    let mut counts = vec![0; classes * classes];
    rows.iter().for_each(|r| counts[r.observed * classes + r.predicted] += 1);
    let mut caption = "Rows by observed and predicted class; ".to_string();
    if classes <= Confusion::MOST {
        caption.push_str("the stronger the colour, the larger the share of its line.");
        let (title_text, labels) = (title.to_string(), labels.to_vec());
        let chart = Confusion { title: title_text, description: caption.clone(), labels, counts };
        return figure(title, &chart.inline(), &caption);
    }
    caption.push_str("a good model is light on the diagonal and dark elsewhere.");
    let shares = (0..classes).flat_map(|j| (0..classes).map(move |i| (i, j)));
    let totals: Vec<usize> = counts.chunks(classes).map(|row| row.iter().sum::<usize>()).collect();
    let share = |(i, j): (usize, usize)| counts[i * classes + j] as f64 / totals[i].max(1) as f64;
    let chart = HeatMap {
        title: title.to_string(),
        description: caption.clone(),
        rows: classes,
        columns: classes,
        values: shares.map(share).collect(),
        x: Axis::new("predicted class, by number"),
        y: Axis::new("observed class"),
        value: "share of its line".to_string(),
        ..HeatMap::default()
    };
    figure(title, &chart.inline(), &caption)
}

fn per_class(labels: &[String], rows: &[Row]) -> String {
    let ratio =
        |part: usize, whole: usize| if whole == 0 { "–".to_string() } else { percent(part as f64 / whole as f64) };
    let mut body = String::new();
    for (class, label) in labels.iter().enumerate().take(MOST_CLASSES) {
        let observed = rows.iter().filter(|r| r.observed == class).count();
        let predicted = rows.iter().filter(|r| r.predicted == class).count();
        let both = rows.iter().filter(|r| r.observed == class && r.predicted == class).count();
        let given: f64 = rows.iter().filter(|r| r.observed == class).map(|r| r.given).sum();
        let mean = if observed == 0 { "–".to_string() } else { percent(given / observed as f64) };
        let (found, correct) = (ratio(both, observed), ratio(both, predicted));
        let label = escape(&fit(label, LONGEST_NAME));
        body += &format!(
            "<tr><th scope=\"row\">{label}</th><td>{observed}</td><td>{found}</td><td>{correct}</td><td>{mean}</td></tr>\n"
        );
    }
    let more = labels.len().saturating_sub(MOST_CLASSES);
    let more = if more > 0 { format!(" {more} more classes are not listed.") } else { String::new() };
    let caption = format!(
        "Found: share of a class that was predicted as it. Right: share of its predictions that were right. \
         Probability: what the model gave the true class on average.{more}"
    );
    format!(
        "<figure><h3>Class by class</h3><table class=\"classes\"><thead><tr><th scope=\"col\">Class</th>\
         <th scope=\"col\">Rows</th><th scope=\"col\">Found</th><th scope=\"col\">Right</th>\
         <th scope=\"col\">Probability</th></tr></thead><tbody>\n{body}</tbody></table>\
         <figcaption>{}</figcaption></figure>\n",
        escape(&caption)
    )
}
