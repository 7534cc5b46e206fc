//! Several models judged on the same rows, and by how much they differ.

use crate::fitted::{JUDGED_ROWS, JudgedTable, no_target};
use crate::judge::Judged;
use crate::targets::columns_there;
use crate::{Error, Explained, Fitted, Metrics, Table, Task};
use dkp::likelihoods::TargetKind;
use dkp_table::Unfamiliar;
use serde::Serialize;
use std::collections::BTreeMap;

/// A model that is compared.
#[derive(Clone, Copy)]
pub struct Entrant<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The model.
    pub fitted: &'a Fitted,
    /// The rows, read with the model's own [options](Fitted::read_options).
    pub table: &'a Table,
}

/// How several models do on the same rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The table, without its folder.
    pub data: String,
    /// The columns that all predict.
    pub targets: Vec<String>,
    /// What is predicted.
    pub task: Task,
    /// Rows by which all are judged.
    pub rows: usize,
    /// Rows that are left out because their target is not known.
    pub without_target: usize,
    /// Rows that are left out because no training row had their class.
    pub unseen_classes: usize,
    /// The models, of which the first is what others are compared with.
    pub models: Vec<Compared>,
    /// What is to be known before the numbers are believed.
    pub warnings: Vec<String>,
}

/// How one of them does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// What it is called.
    pub name: String,
    /// The model in one line.
    pub description: String,
    /// Rows that it has learned from.
    pub rows_trained: usize,
    /// Its metrics.
    pub metrics: Metrics,
    /// How far they are above the first model's, by the [keys](Explained::key) of metrics; none for the first.
    pub differences: BTreeMap<String, Difference>,
    /// Values that none of its training rows had.
    #[serde(skip)]
    pub unfamiliar: Unfamiliar,
}

/// A metric less that of the first model, on the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The difference.
    pub value: f64,
    /// Its standard error, as if rows were independent: the deviation of the rows' own differences over the root of their number. A calibration error is no
    /// mean over rows and has none.
    pub standard_error: Option<f64>,
}

/// Judges models on the rows that all of them can judge. All predictions are made with the same draws and seed; `watch` is told the place of the model that
/// judges and how many rows it has seen.
///
/// ```
/// use dkp_fit::{Entrant, Fit, Table, compare};
/// let x: Vec<f64> = (0..40).map(|i| (i % 10) as f64).collect();
/// let y: Vec<f64> = (0..40).map(|i| ((i % 10) * (i % 10)) as f64 + (i % 3) as f64).collect();
/// let table = Table::from_columns(vec![("x", x.into()), ("y", y.into())], &[])?;
/// let fit = |kernel: &str| {
///     let mut fit = Fit::new("y");
///     let choices = &mut fit.config.model;
///     (choices.kernel, choices.steps, choices.start_steps) = (vec![kernel.to_string()], Some(20), Some(50));
///     fit.run(&table)
/// };
/// let (curved, straight) = (fit("sqexp")?, fit("linear")?);
/// let entrants = [("curved", &curved), ("straight", &straight)];
/// let entrants = entrants.map(|(name, fitted)| Entrant { name, fitted, table: &table });
/// let compared = compare(&entrants, 50, 0, |_, _| ())?;
/// let difference = compared.models[1].differences["rmse"];
/// assert!(difference.value > 2.0 * difference.standard_error.unwrap());
/// # Ok::<(), dkp_fit::Error>(())
/// ```
pub fn compare(
    entrants: &[Entrant<'_>],
    draws: usize,
    seed: u64,
    mut watch: impl FnMut(usize, usize),
) -> Result<Comparison, Error> {
    let [first, others @ ..] = entrants else { return Err(Error::range("models", "must be two or more")) };
    others.iter().try_for_each(|other| check_alike(first, other))?;
    let targets = entrants.iter().map(Known::of).collect::<Result<Vec<Known>, Error>>()?;
    others.iter().zip(&targets[1..]).try_for_each(|(other, t)| check_equal((first, &targets[0]), (other, t)))?;
    let of_row = first.fitted.card.targets.count();
    let total = targets[0].values.len() / of_row;
    let counts: Vec<bool> = (0..total * of_row).map(|i| targets.iter().all(|t| !t.values[i].is_nan())).collect();
    let rows = counts.chunks(of_row).filter(|row| row.contains(&true)).count();
    let unseen_classes = (0..total).filter(|n| targets.iter().any(|t| t.unseen.binary_search(n).is_ok())).count();
    let (card, origin) = (&first.fitted.card, first.table.origin());
    if rows == 0 {
        return Err(no_target(origin, card, "that all models can be judged by"));
    }
    let judge = |(place, entrant): (usize, &Entrant<'_>)| {
        let seen = |rows| watch(place, rows);
        entrant.fitted.judge_table(entrant.table, draws, seed, |i| counts[i], seen)
    };
    let judged = entrants.iter().enumerate().map(judge).collect::<Result<Vec<JudgedTable>, Error>>()?;
    let models = entrants.iter().zip(&judged).map(|(entrant, own)| {
        let comparable = is_of_counts(entrant.fitted) == is_of_counts(first.fitted);
        let differences = match std::ptr::eq(own, &judged[0]) {
            true => BTreeMap::new(),
            false => differences(&judged[0].judged, &own.judged, comparable),
        };
        Compared {
            name: entrant.name.to_string(),
            description: entrant.fitted.description(),
            rows_trained: entrant.fitted.card.rows_trained,
            metrics: own.judged.metrics(),
            differences,
            unfamiliar: own.unfamiliar.clone(),
        }
    });
    Ok(Comparison {
        data: crate::prepare::origin_name(origin),
        targets: card.targets.names(),
        task: card.task,
        rows,
        without_target: total - rows - unseen_classes,
        unseen_classes,
        models: models.collect(),
        warnings: warnings(first, others),
    })
}

impl Comparison {
    /// The metrics by name and meaning, each with its value for every model.
    pub fn measures(&self) -> Vec<Vec<Explained>> {
        let models: Vec<Vec<Explained>> = self.models.iter().map(|m| m.metrics.explained()).collect();
        let count = models.first().map_or(0, Vec::len);
        (0..count).map(|i| models.iter().map(|m| m[i].clone()).collect()).collect()
    }

    /// Rows that are left out, in words; empty if there are none.
    pub fn left_out(&self) -> String {
        let said = |n: usize, why: &str| (n > 0).then(|| format!("{n} {why}"));
        let parts = [
            said(self.without_target, "without a known target"),
            said(self.unseen_classes, "of classes that no training row had"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!("left out: {}", parts.join(", ")) }
    }

    /// Everything, for [`dkp_report::comparison_html`].
    pub fn report(&self) -> dkp_report::Comparison {
        let measure = |of_models: Vec<Explained>| {
            let difference = |m: &Compared| {
                let found = m.differences.get(&of_models[0].key())?;
                Some((found.value, found.standard_error?))
            };
            dkp_report::Measure {
                name: of_models[0].target.as_ref().map_or(String::new(), |t| format!("{t}: ")) + &of_models[0].name,
                explanation: of_models[0].meaning.to_string(),
                better: of_models[0].better,
                values: of_models.iter().map(|e| e.value.clone()).collect(),
                differences: self.models.iter().skip(1).map(difference).collect(),
            }
        };
        let contender = |m: &Compared| dkp_report::Contender {
            name: m.name.clone(),
            description: m.description.clone(),
            rows_trained: m.rows_trained,
        };
        let task = match self.task {
            Task::Regression => format!("regression of {}", self.targets.join(", ")),
            Task::Classification => format!("classification of {}", self.targets.join(", ")),
        };
        dkp_report::Comparison {
            title: format!("{}: {} models compared", self.data, self.models.len()),
            data: self.data.clone(),
            task,
            rows: self.rows,
            left_out: self.left_out(),
            models: self.models.iter().map(contender).collect(),
            measures: self.measures().into_iter().map(measure).collect(),
            warnings: self.warnings.clone(),
        }
    }
}

/// What a table says of a model's targets.
struct Known {
    /// Row by row, NaN where one is not known.
    values: Vec<f64>,
    /// Rows of classes that no training row had, ascending.
    unseen: Vec<usize>,
}

impl Known {
    fn of(entrant: &Entrant<'_>) -> Result<Known, Error> {
        let targets = &entrant.fitted.card.targets;
        let mut all = Known { values: Vec::new(), unseen: Vec::new() };
        for frame in entrant.table.frames(&columns_there(&targets.columns(), entrant.table), JUDGED_ROWS)? {
            let frame = frame?;
            let own = targets.encode(&frame)?;
            all.unseen.extend(own.unseen.iter().map(|n| frame.first() + n));
            all.values.extend(own.y);
        }
        Ok(all)
    }
}

/// Two models must predict the same.
fn check_alike(first: &Entrant<'_>, other: &Entrant<'_>) -> Result<(), Error> {
    let (a, b) = (&first.fitted.card, &other.fitted.card);
    let differ = |what: String| Err(Error::Unlike { first: first.name.into(), other: other.name.into(), what });
    if (a.task, a.targets.names()) != (b.task, b.targets.names()) {
        return differ(format!(
            "different tasks, {} and {}: only models of the same target compare",
            a.task_name(),
            b.task_name()
        ));
    }
    match (a.labels(), b.labels()) {
        (Some(own), Some(others)) if own != others => {
            let list = |labels: &[String]| labels.join(", ");
            differ(format!(
                "the classes {} and {}: train both on tables that have the same classes",
                list(own),
                list(others)
            ))
        }
        _ => Ok(()),
    }
}

/// Two models must take a row's target for the same.
fn check_equal(first: (&Entrant<'_>, &Known), other: (&Entrant<'_>, &Known)) -> Result<(), Error> {
    let (a, b) = (&first.1.values, &other.1.values);
    let differ = |what: String| Err(Error::Unlike { first: first.0.name.into(), other: other.0.name.into(), what });
    if a.len() != b.len() {
        let rows = |values: &[f64]| values.len() / first.0.fitted.card.targets.count();
        return differ(format!("tables of {} and of {} rows: give both the same", rows(a), rows(b)));
    }
    match a.iter().zip(b).position(|(a, b)| !a.is_nan() && !b.is_nan() && a != b) {
        Some(n) => {
            let names = first.0.fitted.card.targets.names();
            let (row, name) = (n / names.len() + 1, &names[n % names.len()]);
            differ(format!(
                "{} and {} as \"{name}\" of row {row}: they learned from tables that write numbers differently",
                a[n], b[n]
            ))
        }
        None => Ok(()),
    }
}

/// Whether a log-likelihood is one of whole numbers' probabilities, not of a density.
fn is_of_counts(fitted: &Fitted) -> bool {
    fitted.model.architecture().likelihood.target_kind() == TargetKind::Count
}

fn warnings(first: &Entrant<'_>, others: &[Entrant<'_>]) -> Vec<String> {
    let unlike = others.iter().filter(|o| is_of_counts(o.fitted) != is_of_counts(first.fitted));
    unlike
        .map(|o| {
            let (counts, density) = if is_of_counts(o.fitted) { (o.name, first.name) } else { (first.name, o.name) };
            format!("log-likelihoods of {counts} are of probabilities and those of {density} of densities: they do not compare")
        })
        .collect()
}

/// By how much metrics are above others.
fn differences(first: &Judged, own: &Judged, comparable: bool) -> BTreeMap<String, Difference> {
    let pairs = own.metrics().explained().into_iter().zip(first.metrics().explained());
    let pairs = pairs.filter(|(metric, _)| comparable || metric.metric != "log_likelihood");
    let difference = |(metric, before): (Explained, Explained)| {
        let terms = own.terms(&metric).zip(first.terms(&metric));
        let standard_error = terms.and_then(|(own, first)| paired_error(&own, &first));
        (metric.key(), Difference { value: metric.number - before.number, standard_error })
    };
    pairs.map(difference).collect()
}

/// sd(aᵢ − bᵢ)/√n, of two rows or more.
fn paired_error(a: &[f64], b: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    standard_error(&differences).filter(|e| e.is_finite())
}

/// The standard error of a mean, of two values or more.
pub(crate) fn standard_error(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (values.len() > 1).then(|| (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{NumbersRow, Predicted};
    use dkp::metrics::{ClassScore, Score};

    /// Uniform numbers from 0 to 1.
    fn uniform(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Rows with an error that two models share and one of each.
    fn two(rows: usize, seed: &mut u64) -> [Vec<Score>; 2] {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let [shared, own, other] = [(); 3].map(|()| uniform(seed) + uniform(seed) - 1.0);
            let score = |error: f64| Score {
                observed: 5.0,
                mean: 5.0 + error,
                median: 5.0 + 0.9 * error,
                log_density: -0.5 * error * error - 1.0,
                crps: 0.7 * error.abs(),
                pit: (0.5 + 0.4 * error).clamp(0.0, 1.0),
                jump: 0.0,
            };
            a.push(score(2.0 * shared + 0.3 * own));
            b.push(score(2.0 * shared + 0.9 * other));
        }
        [a, b]
    }

    fn numbers(scores: Vec<Score>) -> Judged {
        let row = |score: Score| {
            let predicted = Predicted { score, deviation: 0.0, tails: [0.0; 2], noise: 0.0 };
            NumbersRow { log_density: score.log_density, targets: vec![Some(predicted)] }
        };
        Judged::Numbers { names: vec!["y".to_string()], rows: scores.into_iter().map(row).collect() }
    }

    /// The standard errors of all metrics are those of the bootstrap, which draws rows anew and computes the metrics themselves, and are far from those of
    /// rows that are not paired.
    #[test]
    fn standard_errors_are_those_of_drawing_rows_anew() {
        let mut seed = 7;
        let rows = 400;
        let [a, b] = two(rows, &mut seed);
        let found = differences(&numbers(a.clone()), &numbers(b.clone()), true);
        let mut drawn: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for _ in 0..2000 {
            let places: Vec<usize> = (0..rows).map(|_| (uniform(&mut seed) * rows as f64) as usize).collect();
            let of = |scores: &[Score]| numbers(places.iter().map(|&n| scores[n]).collect()).metrics().explained();
            for (after, before) in of(&b).into_iter().zip(of(&a)) {
                drawn.entry(after.key()).or_default().push(after.number - before.number);
            }
        }
        let mut compared = 0;
        for (key, difference) in &found {
            let Some(error) = difference.standard_error else { continue };
            let values = &drawn[key];
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let bootstrap = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
            // 2000 draws tell a deviation to 1.6 %
            assert!((error / bootstrap - 1.0).abs() < 0.08, "{key}: {error} and {bootstrap}");
            compared += 1;
        }
        assert_eq!((compared, found["calibration"].standard_error), (7, None));
        let log_densities = |scores: &[Score]| scores.iter().map(|s| s.log_density).collect::<Vec<_>>();
        let apart: f64 = [&a, &b].map(|s| standard_error(&log_densities(s)).unwrap().powi(2)).iter().sum();
        assert!(found["log_likelihood"].standard_error.unwrap() < 0.8 * apart.sqrt());
    }

    /// By hand: four rows and two classes.
    #[test]
    fn classes_are_compared_row_by_row() {
        let judged = |p: [f64; 4]| {
            let score = |p: f64| ClassScore { observed: 1, probabilities: vec![1.0 - p, p] };
            Judged::Classes(p.map(score).to_vec())
        };
        let found = differences(&judged([0.5, 0.5, 0.8, 0.8]), &judged([0.25, 1.0, 0.8, 0.4]), true);
        // right: 0 0 1 1, then 0 1 1 0 (of equals the first class counts); differences 0 1 0 −1
        let accuracy = found["accuracy"];
        assert_eq!(accuracy.value, 0.0);
        assert!((accuracy.standard_error.unwrap() - (2.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        // ln ½, ln 2, 0, ln ½: mean −¼ ln 2, squares about it 9/16, 25/16, 1/16, 9/16 of ln² 2
        let (ln2, log_likelihood) = (std::f64::consts::LN_2, found["log_likelihood"]);
        assert!((log_likelihood.value + 0.25 * ln2).abs() < 1e-15);
        let expected = ln2 * (44.0_f64 / 16.0 / 3.0 / 4.0).sqrt();
        assert!((log_likelihood.standard_error.unwrap() - expected).abs() < 1e-15);
        assert!(!differences(&judged([0.5; 4]), &judged([0.6; 4]), false).contains_key("log_likelihood"));
        let one = |p: f64| Judged::Classes(vec![ClassScore { observed: 1, probabilities: vec![1.0 - p, p] }]);
        assert_eq!(differences(&one(0.5), &one(0.6), true)["brier"].standard_error, None);
    }
}
