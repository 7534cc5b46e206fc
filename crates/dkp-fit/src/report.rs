//! A model, or a run, as the data of a report.

use crate::judge::{HELD_OUT, in_units, kept_of};
use crate::noise::column_of;
use crate::run::course_of;
use crate::{Card, Error, Explained, Fitted, Metrics, Order, Run, TargetMetrics};
use dkp::file::Tensor;
use dkp::metrics::Regression;
use dkp_report::{ClassPrediction, Evaluation, Fact, LayerMatrix, Noise, NumberPrediction, Report, TracePoint};
use dkp_tape::random::Key;
use faer::{Mat, Side};
use std::collections::BTreeMap;
use std::path::Path;

/// Posterior draws whose mean is shown as a layer's Gram matrix.
const DRAWS: usize = 20;
/// With fewer held-out rows the report warns.
const FEW_ROWS: usize = 30;

/// What is known of a run from its folder: its course and its settings; of a finished one, its model.
pub fn report_of_run(folder: &Path) -> Result<Report, Error> {
    let order = Order::read(folder)?;
    if !Run::is_unfinished(folder) && order.out.exists() {
        return Fitted::load(&order.out)?.report();
    }
    let name = |path: &Path| path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    let settings = toml::Table::try_from(&order.config.model).unwrap_or_default();
    Ok(Report {
        title: format!("{}: a run", name(&order.out)),
        model: "what a run has learned so far".to_string(),
        data: name(&order.data),
        task: format!("prediction of {}", order.config.table.targets.join(", ")),
        trace: course(&course_of(folder)?.tensor(), 0.0),
        settings: settings.into_iter().map(|(k, v)| (k, v.to_string())).collect(),
        warnings: vec![
            "This is a run, not a model: its layers and predictions are shown when it is finished.".to_string(),
            "Bounds are those of a target with deviation 1; the finished model's are in the target's units."
                .to_string(),
        ],
        ..Report::default()
    })
}

impl Fitted {
    /// Everything about the model, for [`dkp_report::html`].
    pub fn report(&self) -> Result<Report, Error> {
        let card = &self.card;
        let settings = toml::Table::try_from(&card.settings).unwrap_or_default();
        let settings =
            settings.into_iter().map(|(k, v)| (k.replace('_', " "), v.to_string().trim_matches('"').to_string()));
        let noise = card.noise.iter().map(|n| ("noise".to_string(), n.clone()));
        let calibration = card.calibration.iter().map(|c| ("calibration".to_string(), c.line.clone()));
        Ok(Report {
            title: format!("{}: {}", card.data, card.task_name()),
            model: self.description(),
            data: card.data.clone(),
            task: card.task_name(),
            rows_trained: card.rows_trained,
            rows_held_out: card.rows_held_out,
            summary: summary(card),
            trace: self.history(),
            evaluations: (0..card.targets.count()).filter_map(|t| evaluation(card, &self.tensors, t)).collect(),
            layers: self.layers()?,
            relevance: self.relevance()?,
            explanations: card.explanations.clone(),
            settings: settings
                .chain(noise)
                .chain(calibration)
                .chain(card.notes.iter().map(|n| ("table".to_string(), n.clone())))
                .collect(),
            cross_validation: card.cross_validation.as_ref().map_or(String::new(), |v| {
                format!(
                    "{} What follows is about their models; that of this page has learned from all rows.",
                    sentence(&v.line)
                )
            }),
            warnings: warnings(card),
        })
    }

    /// Posterior means of the Gram matrices at the inducing points.
    fn layers(&self) -> Result<Vec<LayerMatrix>, Error> {
        let draws = self.model.posterior_draws(DRAWS, Key::new(0))?;
        let deltas = self.model.concentrations();
        let layer = |(i, delta): (usize, f64)| {
            let size = draws[0].grams[i].nrows();
            let mut mean = Mat::zeros(size, size);
            draws.iter().for_each(|d| mean += faer::Scale(1.0 / draws.len() as f64) * &d.grams[i]);
            let name = if i == 0 { "input".to_string() } else { format!("layer {i}") };
            let (spectrum, order) = spectrum(&mean);
            let gram = mean.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect();
            let delta = Some(delta).filter(|d| !d.is_nan());
            LayerMatrix { name, delta, size, gram, spectrum, order, note: String::new() }
        };
        Ok(deltas.into_iter().enumerate().map(layer).collect())
    }
}

fn fact(label: &str, value: String, explanation: &str) -> Fact {
    Fact { label: label.to_string(), value, explanation: explanation.to_string() }
}

/// A line of output as a sentence.
fn sentence(line: &str) -> String {
    let mut letters = line.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect::<String>() + ".")
}

fn summary(card: &Card) -> Vec<Fact> {
    let mut facts = match &card.evaluation {
        None => Vec::new(),
        Some(Metrics::Numbers(m)) => of_numbers("", m),
        Some(Metrics::Several { targets, .. }) => {
            let of_target = |t: &TargetMetrics| of_numbers(&format!("{}: ", t.target), &t.metrics);
            targets.iter().filter(|t| t.metrics.rows > 0).flat_map(of_target).collect()
        }
        Some(Metrics::Classes(m)) => vec![
            fact("accuracy", percent(m.accuracy), "The share of unseen rows whose most probable class is right."),
            fact(
                "calibration error",
                percent(m.calibration),
                "How far stated probabilities are from frequencies, on average.",
            ),
        ],
    };
    if let Some(v) = card.evaluation.as_ref().map(Metrics::log_likelihood).filter(|v| v.is_finite()) {
        facts.push(fact("log-likelihood", format!("{v:.3}"), "How probable the unseen values were to the model, in nats a row: the higher the better, for comparing models on the same data."));
    }
    if let Some(bound) = &card.bound {
        facts.push(fact(
            "bound",
            format!("{:.3}", bound.total),
            "What training maximises, in nats a row: fit to the data less what the model had to be told.",
        ));
    }
    facts
}

/// Of a target of numbers.
fn of_numbers(which: &str, metrics: &Regression) -> Vec<Fact> {
    vec![
        fact(
            &format!("{which}typical error"),
            in_units(metrics.rmse),
            "Root mean squared error of the predicted mean on rows the model has not seen, in the target's units.",
        ),
        fact(
            &format!("{which}inside the 90 % interval"),
            percent(metrics.coverage_of(0.9)),
            "If the model knows what it does not know, this is close to 90 %.",
        ),
    ]
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn warnings(card: &Card) -> Vec<String> {
    let rows = card.rows_held_out;
    let few = format!("Only {rows} rows were held out: what is said of errors and calibration is uncertain.");
    if (1..FEW_ROWS).contains(&rows) { vec![few] } else { Vec::new() }
}

/// The course of training, in the target's units.
pub(crate) fn course(trace: &Tensor, log_unit: f64) -> Vec<TracePoint> {
    let [_, width] = *trace.shape.as_slice() else { return Vec::new() };
    let point = |row: &[f64]| match row {
        [step, bound, likelihood, input, output, rate, layers @ ..] => Some(TracePoint {
            step: *step as usize,
            bound: bound - log_unit,
            likelihood: likelihood - log_unit,
            input: *input,
            layers: layers.to_vec(),
            output: *output,
            rate: *rate,
        }),
        _ => None,
    };
    trace.values.chunks(width.max(1)).filter_map(point).collect()
}

/// Held-out predictions of a target as the file keeps them.
fn evaluation(card: &Card, tensors: &BTreeMap<String, Tensor>, t: usize) -> Option<Evaluation> {
    let of = |name: &str| kept_of(tensors, name, t);
    let target = card.targets.names().swap_remove(t);
    let over_folds = |m: &Explained| card.cross_validation.as_ref().and_then(|v| v.written(m));
    let explanation = |m: &Explained| {
        over_folds(m)
            .map_or(m.meaning.to_string(), |mean| format!("{}. Mean of folds, ± its standard error: {mean}", m.meaning))
    };
    let several = card.targets.count() > 1;
    let is_own = |m: &Explained| !several || m.target.as_ref() == Some(&target);
    let metrics = card.evaluation.as_ref()?.explained().into_iter().filter(is_own);
    let metrics = metrics.map(|m| fact(&m.name, m.value.clone(), &explanation(&m))).collect();
    let observed = of("observed");
    if let Some(labels) = card.labels() {
        let probabilities = tensors.get(&format!("{HELD_OUT}probabilities"))?.values.chunks(labels.len().max(1));
        let points = observed.iter().zip(probabilities);
        let points =
            points.map(|(o, p)| ClassPrediction { observed: *o as usize, probabilities: p.to_vec() }).collect();
        return Some(Evaluation::Classification { target, labels: labels.to_vec(), points, metrics });
    }
    let [mean, sd, lower, upper, pit, noise] = ["mean", "sd", "lower", "upper", "pit", "noise"].map(of);
    let length = [mean, sd, lower, upper, pit].iter().map(|v| v.len()).fold(observed.len(), usize::min);
    let known: Vec<usize> = (0..length).filter(|&i| !observed[i].is_nan()).collect();
    let point = |&i: &usize| NumberPrediction {
        observed: observed[i],
        mean: mean[i],
        sd: sd[i],
        lower: lower[i],
        upper: upper[i],
        pit: pit[i],
    };
    let of_known = |values: &[f64]| known.iter().filter_map(|&i| values.get(i).copied()).collect::<Vec<f64>>();
    // the column that the file keeps because noise goes with it
    let prefix = column_of(t);
    let against = tensors.iter().find_map(|(name, t)| Some((name.strip_prefix(&prefix)?, &t.values)));
    let noise = (!noise.is_empty()).then(|| Noise {
        deviations: of_known(noise),
        against: against.map(|(column, values)| (column.to_string(), of_known(values))),
    });
    Some(Evaluation::Regression { target, points: known.iter().map(point).collect(), noise, metrics })
}

/// Eigenvalues, and the order of the points along the second eigenvector, which puts similar points side by side.
fn spectrum(gram: &Mat<f64>) -> (Vec<f64>, Vec<usize>) {
    let Ok(eigen) = gram.self_adjoint_eigen(Side::Lower) else { return (Vec::new(), Vec::new()) };
    let size = gram.nrows();
    let values: Vec<f64> = (0..size).map(|i| eigen.S()[i]).collect();
    let second = size.saturating_sub(2);
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| eigen.U()[(a, second)].total_cmp(&eigen.U()[(b, second)]));
    (values, order)
}
