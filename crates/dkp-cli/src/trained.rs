//! A model with what it takes to use it on tables, and its file.

use crate::choices::Task;
use crate::failure::run_failed;
use crate::settings::Settings;
use anyhow::Context as _;
use dkp::data::Scaler;
use dkp::file::{self, Companion, Tensor};
use dkp::model::{Bound, Model, Prediction};
use dkp_table::{Encoder, Frame, Kind, Target, Unfamiliar};
use dkp_tape::random::Key;
use faer::MatRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What a model file says of how the model came about and how tables are read for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The name of the table's file.
    pub data: String,
    pub rows_trained: usize,
    pub rows_held_out: usize,
    pub task: Task,
    pub id: Vec<String>,
    pub na: Vec<String>,
    pub encoder: Encoder,
    pub target: Target,
    pub feature_scale: Scaler,
    pub target_scale: Scaler,
    pub settings: Settings,
    /// What was done to the table.
    pub notes: Vec<String>,
    /// The bound after training, in nats a row, in the target's own units.
    pub bound: Option<BoundRecord>,
    /// Metrics of the held-out rows.
    pub evaluation: Option<Value>,
}

/// A bound and its parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundRecord {
    pub total: f64,
    pub standard_error: f64,
    pub likelihood: f64,
    pub input: f64,
    pub layers: Vec<f64>,
    pub output: f64,
}

impl BoundRecord {
    /// From the bound in the model's scales, of which one is `unit` of the target's.
    pub fn new(bound: &Bound, unit: f64) -> BoundRecord {
        BoundRecord {
            total: bound.total - unit.ln(),
            standard_error: bound.standard_error,
            likelihood: bound.likelihood - unit.ln(),
            input: bound.input,
            layers: bound.layers.clone(),
            output: -bound.output,
        }
    }
}

impl Record {
    /// The target's name.
    pub fn target_name(&self) -> String {
        self.target.column().0
    }

    /// What is 0 and what is 1 in the model's scale of the target.
    pub fn target_scale(&self) -> (f64, f64) {
        (self.target_scale.mean[0], self.target_scale.deviation[0])
    }

    /// Names of classes, if they are predicted.
    pub fn labels(&self) -> Option<&[String]> {
        self.target.classes()
    }

    /// What is predicted, in words.
    pub fn task_name(&self) -> String {
        match self.task {
            Task::Regression => format!("regression of {}", self.target_name()),
            Task::Classification => format!("classification of {}", self.target_name()),
        }
    }
}

/// A model for tables.
pub struct Trained {
    pub model: Model,
    pub record: Record,
    /// Numbers kept beside it: the course of training, held-out predictions.
    pub tensors: BTreeMap<String, Tensor>,
}

impl Trained {
    pub fn load(path: &Path) -> anyhow::Result<Trained> {
        let loaded = file::load(path)?;
        let record: Record = serde_json::from_value(loaded.companion.metadata)
            .with_context(|| format!("{}: the file describes no table", path.display()))?;
        Ok(Trained { model: loaded.model, record, tensors: loaded.companion.tensors })
    }

    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        let companion = Companion { metadata: serde_json::to_value(&self.record)?, tensors: self.tensors.clone() };
        file::save(path, &self.model, &companion).map_err(run_failed)
    }

    /// Predicts the rows of a frame, in the model's scale of the target.
    pub fn predict(&mut self, frame: &Frame, draws: usize, seed: u64) -> anyhow::Result<(Prediction, Unfamiliar)> {
        let (mut x, unfamiliar) = self.record.encoder.encode(frame)?;
        let width = self.record.encoder.width();
        x.chunks_exact_mut(width).for_each(|point| self.record.feature_scale.apply(point));
        let x = MatRef::from_column_major_slice(&x, width, frame.rows());
        Ok((self.model.predict(x, draws, Key::new(seed)).map_err(run_failed)?, unfamiliar))
    }

    /// The columns of features, as they are read.
    pub fn columns(&self) -> Vec<(String, Kind)> {
        self.record.encoder.columns()
    }
}

/// A line for each column that has values the training rows did not have.
pub fn warn_of(unfamiliar: &Unfamiliar) {
    let values = |n: usize| if n == 1 { "1 value".to_string() } else { format!("{n} values") };
    for (column, n) in &unfamiliar.unseen {
        eprintln!("dkp: column \"{column}\": {} that no training row had, treated as no known level", values(*n));
    }
    for (column, n) in &unfamiliar.missing {
        eprintln!("dkp: column \"{column}\": {} missing, though no training row's was", values(*n));
    }
}
