//! A model for tables: it predicts, is judged, written and read.

use crate::confidence::calibrate;
use crate::fit::Course;
use crate::judge::Judged;
use crate::noise::noise_columns;
use crate::report;
use crate::targets::{EncodedTargets, columns_there};
use crate::{BoundParts, Card, Error, Metrics, Predictions};
use dkp::Registry;
use dkp::data::Dataset;
use dkp::file::{self, Companion, Tensor};
use dkp::model::{self, Calibration, Model};
use dkp_table::{Decimal, Frame, Origin, ReadOptions, Table, Unfamiliar};
use dkp_tape::random::Key;
use faer::{Mat, MatRef};
use serde::Deserialize as _;
use std::collections::BTreeMap;
use std::path::Path;

/// Points × draws of the bound that is reported, about.
const BOUND_WORK: usize = 1_000_000;
/// Rows that are judged at once, after which is told how far it is: so many that the draws, made anew for them, cost little.
pub(crate) const JUDGED_ROWS: usize = 1_024;
/// Rows that are drawn jointly, at most: that takes memory with their square, and time with their cube.
const JOINT_ROWS: usize = 5_000;

/// A fitted model with what it takes to use it on tables. Several threads may share it.
pub struct Fitted {
    /// The model, in its own scales.
    pub model: Model,
    /// How it came about, and how tables are read for it.
    pub card: Card,
    /// Numbers kept beside it: the course of training, held-out predictions.
    pub(crate) tensors: BTreeMap<String, Tensor>,
    pub(crate) registry: Registry,
}

/// How good a model's predictions for a table are.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The metrics.
    pub metrics: Metrics,
    /// Values that no training row had.
    pub unfamiliar: Unfamiliar,
    /// Rows of classes that no training row had, which are left out.
    pub unseen_classes: usize,
}

/// A table has no target by which a model could be judged.
pub(crate) fn no_target(origin: &Origin, card: &Card, by: &str) -> Error {
    let names = card.targets.names();
    let columns = if names.len() == 1 { "column" } else { "columns" };
    let names: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
    Error::data(origin, format!("{columns} {}: there is no known target {by}", names.join(", ")))
}

/// A parameter that is one number, or one for each target.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedNumber {
    /// The parameter's name.
    pub name: String,
    /// The one of several targets that it is of.
    pub target: Option<usize>,
    /// Its value.
    pub value: f64,
}

/// The rows of a table, judged.
pub(crate) struct JudgedTable {
    pub judged: Judged,
    pub unfamiliar: Unfamiliar,
    pub unseen_classes: usize,
}

impl Fitted {
    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Fitted, Error> {
        Fitted::load_with(path, Registry::default())
    }

    /// [`load`](Fitted::load) for models whose parts a registry knows.
    pub fn load_with(path: &Path, registry: Registry) -> Result<Fitted, Error> {
        let loaded = file::load_with(path, &registry)?;
        let foreign = |reason: String| file::Error::Foreign { path: path.to_path_buf(), expected: "model", reason };
        let card = Card::deserialize(&loaded.companion.metadata);
        let card = card.map_err(|e| foreign(format!("it describes no table: {e}")))?;
        card.check(&loaded.model).map_err(|reason| foreign(reason.to_string()))?;
        Ok(Fitted { model: loaded.model, card, tensors: loaded.companion.tensors, registry })
    }

    /// Writes a model file; the same model gives the same bytes.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let failed = |e: serde_json::Error| Error::Write { path: path.to_path_buf(), source: e.into() };
        let metadata = serde_json::to_value(&self.card).map_err(failed)?;
        let companion = Companion { metadata, tensors: self.tensors.clone() };
        file::save(path, &self.model, &companion).map_err(Error::of_save)
    }

    /// The names that its parts go by.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The model in one line.
    pub fn description(&self) -> String {
        self.card.settings.description(&self.registry)
    }

    /// How a file is read for this model: what meant a missing value in training does here, and more if said so, and numbers are written as they were there
    /// if nothing else is said.
    pub fn read_options(&self, delimiter: Option<char>, na: &[String], decimal: Option<Decimal>) -> ReadOptions {
        let na = self.card.na.iter().chain(na).cloned().collect();
        ReadOptions { delimiter: delimiter.map(|c| c as u8), na, decimal, beside: None }
    }

    /// Predicts the rows of a table. Columns are found by name; others are not looked at.
    pub fn predict(&self, table: &Table, draws: usize, seed: u64) -> Result<Predictions, Error> {
        self.predict_frame(&table.read(&self.card.columns())?, draws, seed)
    }

    /// Predicts the rows of a frame. A row's prediction is the same to the bit whatever other rows there are.
    pub fn predict_frame(&self, frame: &Frame, draws: usize, seed: u64) -> Result<Predictions, Error> {
        let (x, unfamiliar) = self.features(frame)?;
        let x = MatRef::from_column_major_slice(&x, self.card.encoder.width(), frame.rows());
        self.predictions(x, draws, seed, unfamiliar).map_err(|error| match error {
            Error::Model(model::Error::NotFinite { point }) => Error::FarRow { row: frame.first() + point + 1 },
            other => other,
        })
    }

    /// The rows of a frame as the model sees them, one after the other.
    fn features(&self, frame: &Frame) -> Result<(Vec<f64>, Unfamiliar), Error> {
        let (mut x, unfamiliar) = self.card.encoder.encode(frame)?;
        x.chunks_exact_mut(self.card.encoder.width()).for_each(|point| self.card.feature_scale.apply(point));
        Ok((x, unfamiliar))
    }

    /// Targets of numbers drawn jointly for the rows of a table, in their units: for each draw those of the first row, of the second, and so on.
    pub fn sample(&self, table: &Table, draws: usize, seed: u64) -> Result<Vec<Vec<f64>>, Error> {
        if let Some(labels) = self.card.labels() {
            let reason = format!("{} classes are predicted: their probabilities say all", labels.len());
            return Err(Error::data(table.origin(), reason));
        }
        let frame = table.read(&self.card.columns())?;
        if frame.rows() > JOINT_ROWS {
            let reason = format!("{} rows; at most {JOINT_ROWS} are drawn jointly", frame.rows());
            return Err(Error::data(table.origin(), reason));
        }
        let (x, _) = self.features(&frame)?;
        let x = MatRef::from_column_major_slice(&x, self.card.encoder.width(), frame.rows());
        let calibration = self.card.calibration.as_ref().map_or(Calibration::NONE, |c| c.latents);
        let drawn = self.model.sample(x, draws, calibration, Key::new(seed))?;
        let in_units = |draw: &Mat<f64>| {
            let value = |(t, v): (usize, &f64)| self.card.units(t).0 + self.card.units(t).1 * v;
            draw.col_iter().flat_map(|point| point.iter().enumerate().map(value).collect::<Vec<f64>>()).collect()
        };
        Ok(drawn.iter().map(in_units).collect())
    }

    /// The course of training, averaged over stretches of it: step, bound and its parts, in nats a row and the targets' units.
    pub fn history(&self) -> Vec<dkp_report::TracePoint> {
        self.tensors.get(Course::NAME).map_or(Vec::new(), |t| report::course(t, self.card.log_unit()))
    }

    pub(crate) fn predictions(
        &self,
        x: MatRef<'_, f64>,
        draws: usize,
        seed: u64,
        unfamiliar: Unfamiliar,
    ) -> Result<Predictions, Error> {
        let latents = self.card.calibration.as_ref().map_or(Calibration::NONE, |c| c.latents);
        let prediction = self.model.predict(x, draws, Key::new(seed))?.calibrated(latents);
        let targets = self.card.targets.clone();
        let units = (0..targets.count()).map(|t| self.card.units(t)).collect();
        Ok(Predictions { prediction, units, targets, unfamiliar })
    }

    /// Judges the model on a table with known targets.
    pub fn evaluate(&self, table: &Table, draws: usize, seed: u64) -> Result<Evaluated, Error> {
        self.evaluate_watched(table, draws, seed, |_| ())
    }

    /// The same, where `watch` is told now and then how many rows are judged.
    pub fn evaluate_watched(
        &self,
        table: &Table,
        draws: usize,
        seed: u64,
        watch: impl FnMut(usize),
    ) -> Result<Evaluated, Error> {
        let all = self.judge_table(table, draws, seed, |_| true, watch)?;
        let metrics = all.judged.metrics();
        if metrics.rows() == 0 {
            return Err(no_target(table.origin(), &self.card, "to judge by"));
        }
        Ok(Evaluated { metrics, unfamiliar: all.unfamiliar, unseen_classes: all.unseen_classes })
    }

    /// Judges the targets of a table that count, by their place from 0: row by row, and in each row target by target.
    pub(crate) fn judge_table(
        &self,
        table: &Table,
        draws: usize,
        seed: u64,
        counts: impl Fn(usize) -> bool,
        mut watch: impl FnMut(usize),
    ) -> Result<JudgedTable, Error> {
        let (card, origin) = (&self.card, table.origin());
        let mut columns = card.columns();
        columns.extend(columns_there(&card.targets.columns(), table));
        let likelihood = &*self.model.architecture().likelihood;
        let (mut unfamiliar, mut unseen_classes, mut all) = (Unfamiliar::default(), 0, None);
        for frame in table.frames(&columns, JUDGED_ROWS)? {
            let frame = frame?;
            let EncodedTargets { mut y, unseen } = card.targets.encode(&frame)?;
            card.targets.check(likelihood, &y, frame.first(), origin)?;
            unseen_classes += unseen.len();
            let count = card.targets.count();
            y.chunks_exact_mut(count).for_each(|row| card.target_scale.apply(row));
            let first = frame.first() * count;
            y.iter_mut().enumerate().filter(|(i, _)| !counts(first + i)).for_each(|(_, v)| *v = f64::NAN);
            let predictions = self.predict_frame(&frame, draws, seed)?;
            unfamiliar.add(&predictions.unfamiliar);
            Judged::append(&mut all, Judged::new(&predictions, &y));
            watch(frame.first() + frame.rows());
        }
        let judged = all.ok_or_else(|| Error::data(origin, "there are no rows"))?;
        Ok(JudgedTable { judged, unfamiliar, unseen_classes })
    }

    /// The bound, what rows that are kept for it say of calibration, and the held-out rows' predictions and metrics; `watch` is told how many of these are
    /// judged, and may end it.
    pub(crate) fn conclude(
        &mut self,
        train: &Dataset,
        kept: Option<&Dataset>,
        held_out: Option<&Dataset>,
        watch: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<Option<Judged>, Error> {
        let draws = Fitted::bound_draws(train);
        let bound = self.model.bound(train, draws, Key::new(self.card.settings.seed).step(u64::MAX))?;
        self.card.bound = Some(BoundParts::new(&bound, self.card.log_unit()));
        if let Some(kept) = kept {
            self.card.calibration = Some(calibrate(&self.model, kept, self.card.settings.seed)?);
        }
        let judged = held_out.map(|rows| self.judge(rows, watch)).transpose()?.flatten();
        if let (Some(judged), Some(rows)) = (&judged, held_out) {
            self.card.evaluation = Some(judged.metrics());
            let kept = judged.kept();
            self.tensors.extend(noise_columns(&self.card, rows, &kept));
            self.tensors.extend(kept);
        }
        Ok(judged)
    }

    /// Posterior draws of the bound that is reported.
    pub(crate) fn bound_draws(train: &Dataset) -> usize {
        (BOUND_WORK / train.points()).clamp(2, 100)
    }

    /// Judges rows in their order, some at a time; none if there are none.
    pub(crate) fn judge(
        &self,
        rows: &Dataset,
        watch: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<Option<Judged>, Error> {
        let (draws, seed) = (self.card.settings.evaluation_draws as usize, self.card.settings.seed);
        let (x, mut all) = (rows.inputs(), None);
        for first in (0..rows.points()).step_by(JUDGED_ROWS) {
            let count = JUDGED_ROWS.min(rows.points() - first);
            let predictions = self.predictions(x.as_ref().subcols(first, count), draws, seed, Unfamiliar::default());
            let predictions = predictions.map_err(|error| match error {
                Error::Model(model::Error::NotFinite { point }) => {
                    model::Error::NotFinite { point: first + point }.into()
                }
                other => other,
            })?;
            let y: Vec<f64> = (first..first + count).flat_map(|n| rows.y(n).iter().copied()).collect();
            Judged::append(&mut all, Judged::new(&predictions, &y));
            watch(first + count)?;
        }
        Ok(all)
    }

    /// Parameters that are one number, or one for each of several targets.
    pub fn learned_numbers(&self) -> Vec<LearnedNumber> {
        let (parameters, targets) = (self.model.parameters(), self.card.targets.names());
        let mut numbers = Vec::new();
        for name in parameters.iter().map(|p| p.name.clone()) {
            match parameters.get(&name).as_deref() {
                Ok([value]) => numbers.push(LearnedNumber { name, target: None, value: *value }),
                Ok(values) if name.starts_with("likelihood.") && values.len() == targets.len() => {
                    let of = |(t, v): (usize, &f64)| LearnedNumber { name: name.clone(), target: Some(t), value: *v };
                    numbers.extend(values.iter().enumerate().map(of));
                }
                _ => {}
            }
        }
        numbers
    }
}
