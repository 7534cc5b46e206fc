//! Cross-validation: every row is judged by a model that has not learned from it, and the model itself learns from all.

use crate::compare::standard_error;
use crate::fit::Keeping;
use crate::judge::Judged;
use crate::noise::noise_columns;
use crate::{Card, Error, Fit, Fitted, Fold, Metrics, Moment, Order, Roles, Run, Watch};
use dkp::data::Dataset;
use dkp::file::{Tensor, write_atomically};
use dkp::metrics::ClassScore;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a cross-validation went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossValidated {
    /// What was done, for people.
    pub line: String,
    /// Each fold's metrics.
    pub folds: Vec<Metrics>,
    /// Each metric over folds, by its [key](crate::Explained::key).
    pub over_folds: BTreeMap<String, OverFolds>,
}

/// A metric over folds; what is not finite is absent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverFolds {
    /// The mean of the folds' values.
    pub mean: Option<f64>,
    /// Its standard error, as if folds were independent: the deviation of their values over the root of their number.
    pub standard_error: Option<f64>,
}

impl CrossValidated {
    fn new(line: String, folds: Vec<Metrics>) -> CrossValidated {
        let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for metric in folds.iter().flat_map(Metrics::explained) {
            values.entry(metric.key()).or_default().push(metric.number);
        }
        let over = |values: Vec<f64>| OverFolds {
            mean: Some(values.iter().sum::<f64>() / values.len() as f64).filter(|m| m.is_finite()),
            standard_error: standard_error(&values).filter(|e| e.is_finite()),
        };
        let over_folds = values.into_iter().map(|(key, values)| (key, over(values))).collect();
        CrossValidated { line, folds, over_folds }
    }

    /// A metric as `mean ± standard error` over folds, as far as these are finite.
    pub fn written(&self, metric: &crate::Explained) -> Option<String> {
        let OverFolds { mean, standard_error } = self.over_folds.get(&metric.key())?;
        let error = standard_error.map_or(String::new(), |e| format!(" ± {}", metric.written(e)));
        Some(metric.written((*mean)?) + &error)
    }
}

/// What all folds together say of a model.
pub(crate) struct Validated {
    cross_validation: CrossValidated,
    evaluation: Option<Metrics>,
    tensors: BTreeMap<String, Tensor>,
    /// Rows that were judged, by their places among those that are learned from.
    pub places: Vec<usize>,
}

impl Validated {
    /// The model is evaluated by them.
    pub fn become_evaluation_of(self, fitted: &mut Fitted) {
        fitted.card.evaluation = self.evaluation;
        fitted.card.cross_validation = Some(self.cross_validation);
        fitted.tensors.extend(self.tensors);
    }
}

impl Fit {
    /// Learns from each fold's rows and judges the others; none if there are no folds. Models of folds that are finished are kept where the run is.
    pub(crate) fn cross_validate(
        &self,
        folds: Vec<Fold>,
        train: &Dataset,
        card: &Card,
        (keeping, digest): (&Keeping<'_>, &str),
        watch: Watch<'_>,
    ) -> Result<Option<Validated>, Error> {
        let count = folds.len();
        if count == 0 {
            return Ok(None);
        }
        let models = match keeping {
            Keeping::Nothing => None,
            Keeping::Begin(order) => {
                let run = Run::begin(&Order::folder_for(&order.out), order)?;
                Some(FoldModels::begin(run.folder(), digest)?)
            }
            Keeping::Resume(checkpoint) => Some(FoldModels::of(&checkpoint.folder)),
        };
        let mut judged: Vec<(Vec<usize>, Vec<String>, Judged)> = Vec::new();
        for (fold, Fold { prepared, places }) in (1..).zip(folds) {
            let labels = prepared.card.labels().map(<[String]>::to_vec).unwrap_or_default();
            let path = models.as_ref().map(|m| m.path(fold));
            let own = match path.filter(|path| path.exists()) {
                Some(path) => {
                    let fitted = Fitted::load_with(&path, self.registry.clone())?;
                    prepared.held_out.as_ref().map(|rows| fitted.judge(rows, &mut |_| Ok(()))).transpose()?.flatten()
                }
                None => {
                    if !watch(Moment::Fold { fold, folds: count }) {
                        return Err(Error::Stopped { step: 0, folder: None }.in_fold(fold, count));
                    }
                    // half a fold judges nothing
                    let whole = Fit { partial: false, ..self.clone() };
                    let learned = whole.learn(prepared, Keeping::Nothing, watch);
                    let (fitted, own) = learned.map_err(|error| error.in_fold(fold, count))?;
                    models.as_ref().map(|m| fitted.save(&m.path(fold))).transpose()?;
                    let metrics = own.as_ref().map(Judged::metrics);
                    watch(Moment::FoldJudged { fold, folds: count, metrics: metrics.as_ref() });
                    own
                }
            };
            judged.extend(own.map(|own| (places, labels, own)));
        }
        let places = sorted(judged.iter().flat_map(|(places, _, _)| places.clone()).collect());
        let line = line(&self.config.table, count, train.points() - places.len());
        let cross_validation = CrossValidated::new(line, judged.iter().map(|(_, _, own)| own.metrics()).collect());
        let Some(all) = together(judged, card.labels().unwrap_or_default()) else {
            return Ok(Some(Validated { cross_validation, evaluation: None, tensors: BTreeMap::new(), places }));
        };
        let mut tensors = all.kept();
        tensors.extend(noise_columns(card, &train.of(&places), &all.kept()));
        Ok(Some(Validated { cross_validation, evaluation: Some(all.metrics()), tensors, places }))
    }
}

/// What was done, in words.
fn line(roles: &Roles, count: usize, left_out: usize) -> String {
    let how = match (&roles.group, &roles.time) {
        (Some(group), _) => format!("of whole groups by \"{group}\", each judged by a model of the others"),
        (None, Some(time)) => format!("in the order of \"{time}\", each judged by a model of the rows before it"),
        (None, None) => "at random, each judged by a model of the others".to_string(),
    };
    let left_out = match left_out {
        0 => String::new(),
        1 => "; 1 row is not judged".to_string(),
        n => format!("; {n} rows are not judged"),
    };
    format!("cross-validated: {count} folds {how}{left_out}")
}

fn sorted(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places
}

/// The rows of all folds in the table's order; classes are those of `labels`, of which a fold may lack some.
fn together(folds: Vec<(Vec<usize>, Vec<String>, Judged)>, labels: &[String]) -> Option<Judged> {
    let (mut names, mut numbers, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    for (places, own, judged) in folds {
        match judged {
            Judged::Numbers { names: own, rows } => {
                names = own;
                numbers.extend(places.into_iter().zip(rows));
            }
            Judged::Classes(scores) => {
                let scores = scores.into_iter().map(|score| among(score, &own, labels));
                classes.extend(places.into_iter().zip(scores));
            }
        }
    }
    numbers.sort_by_key(|row| row.0);
    classes.sort_by_key(|row| row.0);
    match (numbers.is_empty(), classes.is_empty()) {
        (true, true) => None,
        (false, _) => Some(Judged::Numbers { names, rows: numbers.into_iter().map(|(_, row)| row).collect() }),
        (true, false) => Some(Judged::Classes(classes.into_iter().map(|(_, score)| score).collect())),
    }
}

/// A score among more classes: those that its model does not know have probability 0.
fn among(score: ClassScore, own: &[String], labels: &[String]) -> ClassScore {
    let place = |label: &String| own.iter().position(|l| l == label);
    let probability = |label: &String| place(label).map_or(0.0, |c| score.probabilities[c]);
    ClassScore {
        observed: labels.iter().position(|label| place(label) == Some(score.observed)).unwrap_or_default(),
        probabilities: labels.iter().map(probability).collect(),
    }
}

/// The models of finished folds, in a folder of the run's that is there until this is finished.
pub(crate) struct FoldModels(PathBuf);

const FOLDER: &str = "folds";
/// The digest of the data that folds are of.
const DIGEST: &str = "data";

impl FoldModels {
    /// Those of a run.
    pub fn of(run: &Path) -> FoldModels {
        FoldModels(run.join(FOLDER))
    }

    /// Whether a run has begun with its folds.
    pub fn are_in(run: &Path) -> bool {
        FoldModels::of(run).0.join(DIGEST).exists()
    }

    /// None yet.
    fn begin(run: &Path, digest: &str) -> Result<FoldModels, Error> {
        FoldModels::forget(run);
        let models = FoldModels::of(run);
        let failed = |source: std::io::Error| Error::Write { path: models.0.clone(), source };
        std::fs::create_dir_all(&models.0).map_err(failed)?;
        write_atomically(&models.0.join(DIGEST), digest.as_bytes()).map_err(failed)?;
        Ok(models)
    }

    /// The digest of their data.
    pub fn digest(&self) -> Result<String, Error> {
        let wrong = |e: std::io::Error| Error::Run { folder: self.0.clone(), reason: format!("{DIGEST}: {e}") };
        std::fs::read_to_string(self.0.join(DIGEST)).map_err(wrong)
    }

    /// How many there are.
    pub fn finished(&self) -> usize {
        (1..).take_while(|&fold| self.path(fold).exists()).count()
    }

    fn path(&self, fold: usize) -> PathBuf {
        self.0.join(format!("fold-{fold}.dkp"))
    }

    /// There are none any more.
    pub fn forget(run: &Path) {
        let _ = std::fs::remove_dir_all(run.join(FOLDER));
    }
}
