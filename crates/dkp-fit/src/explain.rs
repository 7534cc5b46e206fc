//! Why predictions are what they are: how they go with the columns that matter most, the two of these that work together most, and the
//! held-out rows that surprised the model most.
//!
//! The mean prediction when columns A are set to x_A (Friedman's partial dependence): F_A(x_A) = ⟨E\[y | x_A, x_rest\]⟩ over training rows.
//! How much columns j and k work together (Friedman & Popescu 2008): H² = Σ (F_jk − F_j − F_k)²/Σ F_jk² over training rows, each F
//! less its mean; the pair with the greatest Σ (F_jk − F_j − F_k)² is shown.

use crate::columns_of_features::FeatureColumn;
use crate::judge::{HELD_OUT, kept_of};
use crate::{Fitted, RowNames};
use dkp::data::Dataset;
use dkp_report::{Curve, Effect, Explanation, Pair, Place, Surprise};
use dkp_table::Unfamiliar;
use dkp_tape::random::Key;
use faer::MatRef;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Targets that are explained: the first.
const TARGETS: usize = 6;
/// Columns that are looked at.
const COLUMNS: usize = 4;
/// Rows over which predictions are averaged, of one column and of two; fewer of classes, whose probabilities take thousands of draws a row.
const ROWS: [usize; 2] = [100, 40];
const ROWS_OF_CLASSES: [usize; 2] = [40, 20];
/// Values of a column, of one of a pair, and texts.
const VALUES: usize = 25;
const CELLS: usize = 14;
const LEVELS: usize = 8;
/// Equal parts of a column in which rows are counted.
const PARTS: usize = 30;
/// Classes whose probabilities are drawn.
const CLASSES: usize = 5;
/// Posterior draws.
pub(crate) const DRAWS: usize = 16;
/// Surprising rows, at most.
const SURPRISES: usize = 8;
/// A row surprises if it lies in the outermost tenth of its prediction, or is of another class than the most probable one.
const OUTERMOST: f64 = 0.1;

/// Predictions that explaining takes, at most.
pub(crate) fn predictions(of_classes: bool, targets: usize, columns: usize) -> usize {
    let columns = columns.min(COLUMNS);
    let [one, two] = if of_classes { ROWS_OF_CLASSES } else { ROWS };
    let pairs = columns * columns.saturating_sub(1) / 2;
    targets.min(TARGETS) * (columns * VALUES * one + (columns + pairs) * two * two + CELLS * CELLS * two)
}

/// The values of a column, each with a training row that has it.
type Values = Vec<(Place, usize)>;

/// The mean over rows of what is predicted.
struct Average {
    /// Of the target in its units, or of each class's probability.
    mean: Vec<f64>,
    /// Variances of model and noise.
    model: f64,
    noise: f64,
}

/// A model and the rows that it has learned from.
struct Learned<'a> {
    fitted: &'a Fitted,
    train: &'a Dataset,
    /// Some of the rows, for one column and for two.
    background: [Vec<usize>; 2],
    /// The target that is explained.
    target: usize,
    /// Classes that are shown; of numbers, the target alone.
    shown: Vec<usize>,
}

impl Fitted {
    /// Keeps how predictions go with columns, as curves without rows, and the rows that surprised the model.
    pub(crate) fn explain(&mut self, train: &Dataset, held_out: Option<&Dataset>, names: &RowNames) {
        let rows = if self.card.labels().is_some() { ROWS_OF_CLASSES } else { ROWS };
        let background = rows.map(|n| train.sample(n, Key::new(self.card.settings.seed).step(u64::MAX - 4)));
        let columns: Vec<FeatureColumn> = self.columns_that_matter();
        let explain = |(t, target): (usize, String)| {
            let learned =
                Learned { fitted: self, train, background: background.clone(), target: t, shown: self.shown(train) };
            let effects: Vec<Effect> = columns.iter().filter_map(|c| learned.effect(c)).collect();
            let pair = learned.strongest(&columns);
            let surprises = held_out.map_or(Vec::new(), |rows| self.surprises(t, rows, names, &columns));
            Explanation { target, effects, pair, surprises }
        };
        self.card.explanations = self.card.targets.names().into_iter().take(TARGETS).enumerate().map(explain).collect();
    }

    /// The columns with the most relevance, the first of which has most.
    fn columns_that_matter(&self) -> Vec<FeatureColumn> {
        let of = |name: &str| FeatureColumn::of(&self.card, name);
        let relevance = self.relevance().unwrap_or_default();
        relevance.iter().take(COLUMNS).filter_map(|(name, _)| of(name)).collect()
    }

    /// The commonest classes; of two the second alone, as the other is the rest. Of numbers, the target.
    fn shown(&self, train: &Dataset) -> Vec<usize> {
        let classes = self.card.labels().map_or(1, <[String]>::len);
        let mut rows = vec![0_usize; classes];
        for n in 0..train.points() {
            if let Some(count) = rows.get_mut(train.y(n)[0] as usize) {
                *count += 1;
            }
        }
        let mut order: Vec<usize> = (0..classes).collect();
        order.sort_by_key(|&k| std::cmp::Reverse(rows[k]));
        if classes == 2 { vec![1] } else { order.into_iter().take(CLASSES).collect() }
    }

    /// The held-out rows of the least density, with their values in some columns.
    fn surprises(&self, t: usize, rows: &Dataset, names: &RowNames, columns: &[FeatureColumn]) -> Vec<Surprise> {
        // the evaluation has no points of rows that lack the target
        let known: Vec<usize> = (0..rows.points()).filter(|&n| !rows.y(n)[t].is_nan()).collect();
        let mut order: Vec<(usize, f64)> = self.log_densities_outside(t);
        order.retain(|(n, log)| *n < rows.points() && !log.is_nan());
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let value = |c: &FeatureColumn, n: usize| {
            (c.name.clone(), c.place(&self.card, rows.x(n)).unwrap_or(Place::Level("(missing)".to_string())))
        };
        let surprise = |&(n, log): &(usize, f64)| Surprise {
            point: known.partition_point(|&k| k < n),
            row: names.row(n),
            id: names.id(n),
            // a file has no word for what is not finite
            log_density: log.max(f64::MIN),
            values: columns.iter().map(|c| value(c, n)).collect(),
        };
        order.iter().take(SURPRISES).map(surprise).collect()
    }

    /// Held-out rows that lie outside their predictions, with the logarithms of their densities or probabilities.
    fn log_densities_outside(&self, t: usize) -> Vec<(usize, f64)> {
        let [logs, pits, observed] = ["log_density", "pit", "observed"].map(|name| kept_of(&self.tensors, name, t));
        let Some(labels) = self.card.labels() else {
            let tails = pits.iter().map(|p| 2.0 * p.min(1.0 - p));
            let outside = logs.iter().zip(tails).enumerate().filter(|(_, (_, tails))| *tails < OUTERMOST);
            return outside.map(|(n, (log, _))| (n, *log)).collect();
        };
        let class = |(observed, p): (&f64, &[f64])| {
            let own = *p.get(*observed as usize)?;
            p.iter().any(|other| *other > own).then(|| own.ln())
        };
        let probabilities = self.tensors.get(&format!("{HELD_OUT}probabilities")).map_or(&[][..], |p| &p.values);
        let logs = observed.iter().zip(probabilities.chunks(labels.len().max(1))).map(class);
        logs.enumerate().filter_map(|(n, log)| Some((n, log?))).collect()
    }
}

impl Learned<'_> {
    fn place(&self, column: &FeatureColumn, row: usize) -> Option<Place> {
        column.place(&self.fitted.card, self.train.x(row))
    }

    /// What is predicted for background rows whose columns are set to those of a row, setting by setting; none if that is beyond the model.
    fn averages(&self, background: &[usize], settings: &[Vec<(&FeatureColumn, usize)>]) -> Option<Vec<Average>> {
        let set = |row: &usize, setting: &Vec<(&FeatureColumn, usize)>| {
            let mut x = self.train.x(*row).to_vec();
            for (column, from) in setting {
                x[column.features.clone()].copy_from_slice(&self.train.x(*from)[column.features.clone()]);
            }
            x
        };
        let x: Vec<f64> = settings.iter().flat_map(|s| background.iter().flat_map(move |row| set(row, s))).collect();
        let (width, count) = (self.train.features(), background.len());
        let x = MatRef::from_column_major_slice(&x, width, settings.len() * count);
        let seed = self.fitted.card.settings.seed;
        let predictions = self.fitted.predictions(x, DRAWS, seed, Unfamiliar::default()).ok()?;
        let (zero, unit) = self.fitted.card.units(self.target);
        let average = |s: usize| {
            let points = || s * count..(s + 1) * count;
            let mut average = Average { mean: vec![0.0; self.shown.len()], model: 0.0, noise: 0.0 };
            for n in points() {
                match predictions.probabilities(n) {
                    Some(p) => average.mean.iter_mut().zip(&self.shown).for_each(|(m, k)| *m += p[*k] / count as f64),
                    None => {
                        let moments = predictions.prediction.moments(n, self.target);
                        average.mean[0] += (zero + unit * moments.mean) / count as f64;
                        average.model += unit * unit * moments.model / count as f64;
                        average.noise += unit * unit * moments.noise / count as f64;
                    }
                }
            }
            average
        };
        let averages: Vec<Average> = (0..settings.len()).into_par_iter().map(average).collect();
        averages.iter().all(|a| a.mean.iter().all(|m| m.is_finite()) && a.model.is_finite()).then_some(averages)
    }

    /// The names of the shown classes; one empty name for numbers.
    fn classes(&self) -> Vec<String> {
        match self.fitted.card.labels() {
            Some(labels) => self.shown.iter().map(|&k| labels[k].clone()).collect(),
            None => vec![String::new()],
        }
    }

    /// What is predicted along a column.
    fn effect(&self, column: &FeatureColumn) -> Option<Effect> {
        let known = self.known(column);
        let (values, rows) = match Numbers::of(&known) {
            None => levels(&known),
            Some(numbers) => {
                let values = numbers.values(VALUES);
                let rows = numbers.counts(values.first()?.0.clone(), values.last()?.0.clone());
                (values, rows)
            }
        };
        let settings: Vec<Vec<(&FeatureColumn, usize)>> = values.iter().map(|(_, row)| vec![(column, *row)]).collect();
        let averages = self.averages(&self.background[0], &settings)?;
        let of_classes = self.fitted.card.labels().is_some();
        let deviation = |variance: fn(&Average) -> f64| {
            let all: Vec<f64> = averages.iter().map(|a| variance(a).sqrt()).collect();
            if of_classes || all.iter().any(|d| !d.is_finite()) { Vec::new() } else { all }
        };
        let curve = |(k, class): (usize, String)| Curve {
            class,
            mean: averages.iter().map(|a| a.mean[k]).collect(),
            model: deviation(|a| a.model),
            total: deviation(|a| a.model + a.noise),
        };
        let curves = self.classes().into_iter().enumerate().map(curve).collect();
        let at = values.into_iter().map(|v| v.0).collect();
        (settings.len() > 1).then(|| Effect { column: column.name.clone(), at, rows, curves })
    }

    /// The values of all rows that have one.
    fn known(&self, column: &FeatureColumn) -> Values {
        (0..self.train.points()).filter_map(|n| Some((self.place(column, n)?, n))).collect()
    }

    /// The pair of columns that does most together, as a map.
    fn strongest(&self, columns: &[FeatureColumn]) -> Option<Pair> {
        let rows = &self.background[1];
        let along = |columns: &[&FeatureColumn]| {
            let setting = |row: &usize| columns.iter().map(|c| (*c, *row)).collect();
            let averages = self.averages(rows, &rows.iter().map(setting).collect::<Vec<_>>())?;
            Some((0..self.shown.len()).map(|k| centred(averages.iter().map(|a| a.mean[k]))).collect::<Vec<Vec<f64>>>())
        };
        let single: Vec<Vec<Vec<f64>>> = columns.iter().map(|c| along(&[c])).collect::<Option<_>>()?;
        let mut best: Option<(f64, usize, usize, Vec<f64>, f64)> = None;
        for k in 1..columns.len() {
            for j in 0..k {
                let both = along(&[&columns[j], &columns[k]])?;
                let own = |c: usize| {
                    let sums = single[j][c].iter().zip(&single[k][c]).map(|(a, b)| a + b);
                    both[c].iter().zip(sums).map(|(f, sum)| (f - sum).powi(2)).sum::<f64>()
                };
                let own: Vec<f64> = (0..both.len()).map(own).collect();
                let (together, all) = (own.iter().sum::<f64>(), both.iter().flatten().map(|f| f * f).sum::<f64>());
                if best.as_ref().is_none_or(|b| together > b.0) {
                    best = Some((together, j, k, own, together / all.max(f64::MIN_POSITIVE)));
                }
            }
        }
        let (_, j, k, own, share) = best?;
        let class = (0..own.len()).fold(0, |best, c| if own[c] > own[best] { c } else { best });
        self.map([&columns[j], &columns[k]], class, share.min(1.0))
    }

    /// The mean prediction over pairs of values.
    fn map(&self, columns: [&FeatureColumn; 2], class: usize, share: f64) -> Option<Pair> {
        let known = columns.map(|c| self.known(c));
        let [first, second] = [&known[0], &known[1]].map(|known| match Numbers::of(known) {
            None => levels(known).0,
            Some(numbers) => numbers.cells(CELLS),
        });
        let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a.1, b.1)));
        let settings: Vec<_> = pairs.map(|(a, b)| vec![(columns[0], a), (columns[1], b)]).collect();
        let mean = self.averages(&self.background[1], &settings)?.iter().map(|a| a.mean[class]).collect();
        let mut rows = vec![0; settings.len()];
        for n in 0..self.train.points() {
            let nearest = |i: usize, values: &Values| nearest(values, &self.place(columns[i], n)?);
            if let (Some(a), Some(b)) = (nearest(0, &first), nearest(1, &second)) {
                rows[a * second.len() + b] += 1;
            }
        }
        let named = |i: usize, values: Values| (columns[i].name.clone(), values.into_iter().map(|v| v.0).collect());
        let class = self.classes().swap_remove(class);
        (settings.len() > 1).then(|| Pair { columns: [named(0, first), named(1, second)], class, mean, rows, share })
    }
}

fn centred(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.into_iter().map(|v| v - mean).collect()
}

/// The most frequent texts, each with a row that has it, and how many rows have each.
fn levels(known: &Values) -> (Values, Vec<usize>) {
    let mut found: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (place, row) in known {
        if let Place::Level(text) = place {
            found.entry(text).or_insert((*row, 0)).1 += 1;
        }
    }
    let mut levels: Vec<(&str, (usize, usize))> = found.into_iter().collect();
    levels.sort_by_key(|(_, (_, count))| std::cmp::Reverse(*count));
    let level = |(text, (row, count)): (&str, (usize, usize))| ((Place::Level(text.to_string()), row), count);
    levels.into_iter().take(LEVELS).map(level).unzip()
}

/// Numbers, dates or times of day in rising order, each with its row.
struct Numbers {
    sorted: Vec<(f64, usize)>,
    /// What makes a place of one.
    place: fn(f64) -> Place,
}

impl Numbers {
    /// None of texts, or of nothing.
    fn of(known: &Values) -> Option<Numbers> {
        let place: fn(f64) -> Place = match known.first()?.0 {
            Place::Number(_) => Place::Number,
            Place::Date(_) => Place::Date,
            Place::Clock(_) => Place::Clock,
            Place::Level(_) => return None,
        };
        let mut sorted: Vec<(f64, usize)> = known.iter().filter_map(|(p, n)| Some((value(p)?, *n))).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Numbers { sorted, place })
    }

    /// Each value once, if there are at most so many.
    fn distinct(&self, most: usize) -> Option<Vec<(f64, usize)>> {
        let mut distinct: Vec<(f64, usize)> = Vec::new();
        for v in &self.sorted {
            if distinct.last().is_none_or(|last| last.0 < v.0) {
                distinct.push(*v);
                if distinct.len() > most {
                    return None;
                }
            }
        }
        Some(distinct)
    }

    /// From the quantile of 1 % to that of 99 %: beyond there are too few rows to say anything.
    fn ends(&self) -> (f64, f64) {
        let last = self.sorted.len() - 1;
        let at = |share: f64| self.sorted[(share * last as f64).round() as usize].0;
        let (low, high) = (at(0.01), at(0.99));
        if high > low { (low, high) } else { (self.sorted[0].0, self.sorted[last].0) }
    }

    /// The value that is there nearest to a number.
    fn nearest(&self, number: f64) -> (f64, usize) {
        let above = self.sorted.partition_point(|v| v.0 < number);
        let near = [above.checked_sub(1), Some(above)].into_iter().flatten().filter_map(|i| self.sorted.get(i));
        let distance = |v: &(f64, usize)| (v.0 - number).abs();
        *near.min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("there is at least one value")
    }

    /// All values that are there, or so many of them, about evenly spaced.
    fn values(&self, most: usize) -> Values {
        let values = self.distinct(most).unwrap_or_else(|| {
            let mut values: Vec<(f64, usize)> = even(self.ends(), most).map(|v| self.nearest(v)).collect();
            values.dedup_by(|a, b| a.0 == b.0);
            values
        });
        values.into_iter().map(|(v, row)| ((self.place)(v), row)).collect()
    }

    /// Evenly spaced numbers, at most so many, each with the row whose value is nearest.
    fn cells(&self, most: usize) -> Values {
        let few = self.distinct(most);
        let (count, ends) = match &few {
            Some(values) => (values.len(), (values[0].0, values[values.len() - 1].0)),
            None => (most, self.ends()),
        };
        even(ends, count).map(|v| ((self.place)(v), self.nearest(v).1)).collect()
    }

    /// Rows in equal parts between two values.
    fn counts(&self, from: Place, to: Place) -> Vec<usize> {
        let (Some(low), Some(high)) = (value(&from), value(&to)) else { return Vec::new() };
        let mut counts = vec![0; PARTS];
        for (v, _) in self.sorted.iter().filter(|v| v.0 >= low && v.0 <= high) {
            counts[(((v - low) / (high - low) * PARTS as f64) as usize).min(PARTS - 1)] += 1;
        }
        counts
    }
}

fn value(place: &Place) -> Option<f64> {
    match place {
        Place::Number(v) | Place::Date(v) | Place::Clock(v) => Some(*v),
        Place::Level(_) => None,
    }
}

/// So many numbers from one to another.
fn even((low, high): (f64, f64), count: usize) -> impl Iterator<Item = f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(move |i| low + (high - low) * (i as f64 / last))
}

/// Which of evenly spaced values, or of texts, a value belongs to.
fn nearest(values: &Values, place: &Place) -> Option<usize> {
    let Some(v) = value(place) else { return values.iter().position(|known| known.0 == *place) };
    let (low, high) = (value(&values.first()?.0)?, value(&values.last()?.0)?);
    let at = if high > low { (v - low) / (high - low) * (values.len() - 1) as f64 } else { 0.0 };
    let cell = at.round();
    (cell >= 0.0 && cell < values.len() as f64).then_some(cell as usize)
}
