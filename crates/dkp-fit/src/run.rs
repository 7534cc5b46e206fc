//! The folder of a run: its settings, its course, and a checkpoint to go on from.

use crate::cross_validation::FoldModels;
use crate::fit::Course;
use crate::{Calibrated, Card, Config, Error, Fit, Prepared, Settings};
use dkp::Registry;
use dkp::file::{self, Companion, Loaded, write_atomically};
use dkp::model::Model;
use dkp::train::{State, Step};
use dkp_table::Table;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// What a run was told to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The table.
    pub data: PathBuf,
    /// Where the model goes.
    pub out: PathBuf,
    /// What the user chose.
    pub config: Config,
}

impl Order {
    /// An order with absolute paths, so that it can be followed from anywhere.
    pub fn new(data: &Path, out: &Path, mut config: Config) -> Result<Order, Error> {
        let absolute =
            |path: &Path| std::path::absolute(path).map_err(|source| Error::Write { path: path.to_path_buf(), source });
        for file in [&mut config.table.test, &mut config.table.target_file].into_iter().flatten() {
            *file = absolute(file)?;
        }
        Ok(Order { data: absolute(data)?, out: absolute(out)?, config })
    }

    /// What an unfinished run was told to do.
    pub fn read(folder: &Path) -> Result<Order, Error> {
        let wrong = |reason: String| Error::Run { folder: folder.to_path_buf(), reason };
        let text = std::fs::read_to_string(folder.join(SETTINGS));
        let text = text.map_err(|e| wrong(format!("there is no run here: {e}")))?;
        toml::from_str(&text).map_err(|e| wrong(format!("{SETTINGS}: {}", e.message().replace('\n', " "))))
    }

    /// The folder of the run that makes a model: the model's name with another ending.
    pub fn folder_for(out: &Path) -> PathBuf {
        match out.extension() {
            Some(extension) if extension == "dkp" || extension == "run" => out.with_extension("run"),
            _ => PathBuf::from(format!("{}.run", out.display())),
        }
    }

    /// Opens its tables and prepares them.
    pub fn prepare(&self, fit: &Fit) -> Result<Prepared, Error> {
        fit.prepare(&Table::open(&self.data, &self.config.table.data_options())?, None)
    }
}

/// A folder with settings.toml, metrics.jsonl and, until the run is finished, checkpoint.safetensors and the models of folds.
pub struct Run {
    folder: PathBuf,
    out: PathBuf,
    metrics: BufWriter<File>,
    /// Of the steps before it was resumed.
    pub(crate) course: Course,
}

/// Where an unfinished run can be gone on from.
pub struct Checkpoint {
    pub(crate) order: Order,
    pub(crate) folder: PathBuf,
    /// Folds that are finished.
    folds: usize,
    /// The model, if its training has begun.
    pub(crate) trained: Option<Trained>,
    /// The digest of its data.
    digest: String,
}

/// A model between two steps.
pub(crate) struct Trained {
    pub run: Run,
    pub model: Model,
    pub state: State,
    /// What was open in its settings.
    pub decided: Decided,
}

/// What a fit has decided before its first step: every setting, since defaults may change from version to version.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Decided {
    settings: Settings,
    noise: Option<String>,
    calibration: Option<Calibrated>,
}

impl Decided {
    fn of(card: &Card) -> Decided {
        let Card { settings, noise, calibration, .. } = card;
        Decided { settings: settings.clone(), noise: noise.clone(), calibration: calibration.clone() }
    }

    pub(crate) fn restore(self, card: &mut Card) {
        (card.settings, card.noise, card.calibration) = (self.settings, self.noise, self.calibration);
    }
}

const SETTINGS: &str = "settings.toml";
const METRICS: &str = "metrics.jsonl";
const CHECKPOINT: &str = "checkpoint.safetensors";

impl Run {
    /// Whether there is an unfinished run.
    pub fn is_unfinished(folder: &Path) -> bool {
        folder.join(CHECKPOINT).exists() || FoldModels::are_in(folder)
    }

    pub(crate) fn begin(folder: &Path, order: &Order) -> Result<Run, Error> {
        let folder = folder.to_path_buf();
        let failed = |source: std::io::Error| Error::Write { path: folder.clone(), source };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let _ = std::fs::remove_file(folder.join(CHECKPOINT));
        if order.config.table.folds.is_none() {
            FoldModels::forget(&folder);
        }
        let settings = toml::to_string(order).map_err(|e| failed(std::io::Error::other(e)))?;
        write_atomically(&folder.join(SETTINGS), settings.as_bytes()).map_err(failed)?;
        let metrics = BufWriter::new(File::create(folder.join(METRICS)).map_err(failed)?);
        Ok(Run { folder, out: order.out.clone(), metrics, course: Course::default() })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the model goes.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Adds a step to the course; δ of the layers is told where they have one.
    pub(crate) fn log(&mut self, step: &Step, deltas: &[f64]) -> Result<(), Error> {
        let bound = step.bound.as_ref();
        let line = json!({
            "step": step.step,
            "bound": bound.map(|b| b.total),
            "likelihood": bound.map(|b| b.likelihood),
            "gain": bound.map(|b| b.gain),
            "input": bound.map(|b| b.input),
            "layers": bound.map(|b| &b.layers),
            "output": bound.map(|b| b.output),
            "rate": step.rate,
            "gradient_norm": step.gradient_norm,
            "jitter": bound.map_or(0, |b| b.jitter.count),
            "delta": deltas.iter().filter(|d| !d.is_nan()).collect::<Vec<_>>(),
            "failure": step.failure.as_ref().map(dkp::model::explain),
            "rolled_back": step.rolled_back,
        });
        writeln!(self.metrics, "{line}").map_err(|source| Error::Write { path: self.folder.clone(), source })
    }

    /// Writes a checkpoint.
    pub(crate) fn checkpoint(&mut self, model: &Model, state: &State, digest: &str, card: &Card) -> Result<(), Error> {
        self.metrics.flush().map_err(|source| Error::Write { path: self.folder.clone(), source })?;
        let companion =
            Companion { metadata: json!({ "data": digest, "decided": Decided::of(card) }), ..Companion::default() };
        file::save_run(&self.folder.join(CHECKPOINT), model, state, &companion).map_err(Error::of_save)
    }

    /// The run is finished, and its model written.
    pub(crate) fn forget_checkpoint(&self) {
        FoldModels::forget(&self.folder);
        let _ = std::fs::remove_file(self.folder.join(CHECKPOINT));
    }
}

impl Checkpoint {
    /// Opens an unfinished run.
    pub fn open(folder: &Path, registry: &Registry) -> Result<Checkpoint, Error> {
        let order = Order::read(folder)?;
        if !Run::is_unfinished(folder) {
            let reason = match order.out.exists() {
                true => format!("there is no checkpoint: the run is finished, see {}", order.out.display()),
                false => "there is no checkpoint: the run stopped before its first; begin anew".to_string(),
            };
            return Err(Error::Run { folder: folder.to_path_buf(), reason });
        }
        let trained = folder.join(CHECKPOINT).exists().then(|| Trained::read(folder, &order, registry)).transpose()?;
        let (trained, digest) = match trained {
            Some((trained, digest)) => (Some(trained), digest),
            None => (None, FoldModels::of(folder).digest()?),
        };
        let folds = FoldModels::of(folder).finished();
        Ok(Checkpoint { order, folder: folder.to_path_buf(), folds, trained, digest })
    }

    /// The next step's number.
    pub fn step(&self) -> u64 {
        self.trained.as_ref().map_or(0, |t| t.state.step)
    }

    /// Folds of a cross-validation that need not be learned from again.
    pub fn folds(&self) -> usize {
        self.folds
    }

    /// Whether the data are those that the run began with.
    pub(crate) fn check(&self, prepared: &Prepared) -> Result<(), Error> {
        if prepared.digest() == self.digest {
            return Ok(());
        }
        let reason = format!("{} has changed since the run began", self.order.data.display());
        Err(Error::Run { folder: self.folder.clone(), reason })
    }
}

impl Trained {
    /// With the digest of its data.
    fn read(folder: &Path, order: &Order, registry: &Registry) -> Result<(Trained, String), Error> {
        let (Loaded { model, companion }, state) = file::load_run_with(&folder.join(CHECKPOINT), registry)?;
        let digest = companion.metadata["data"].as_str().unwrap_or_default().to_string();
        let decided = serde_json::from_value(companion.metadata["decided"].clone());
        let decided = decided.map_err(|_| {
            let reason = "the checkpoint is of another version of this program: begin anew".to_string();
            Error::Run { folder: folder.to_path_buf(), reason }
        })?;
        let path = folder.join(METRICS);
        let done = |l: &Value| l["step"].as_u64().is_some_and(|s| s < state.step);
        let lines: Vec<Value> = steps(folder)?.into_iter().filter(done).collect();
        let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
        let failed = |source| Error::Write { path: path.clone(), source };
        write_atomically(&path, text.as_bytes()).map_err(failed)?;
        let metrics = BufWriter::new(File::options().append(true).open(&path).map_err(failed)?);
        let run = Run { folder: folder.to_path_buf(), out: order.out.clone(), metrics, course: course(&lines) };
        Ok((Trained { run, model, state, decided }, digest))
    }
}

fn steps(folder: &Path) -> Result<Vec<Value>, Error> {
    let path = folder.join(METRICS);
    let file = File::open(&path)
        .map_err(|e| Error::Run { folder: folder.to_path_buf(), reason: format!("{METRICS}: {e}") })?;
    // a line that was cut off when the run was killed is no step
    Ok(BufReader::new(file).lines().map_while(Result::ok).filter_map(|l| serde_json::from_str(&l).ok()).collect())
}

fn course(lines: &[Value]) -> Course {
    let numbers = |l: &Value| -> Option<Vec<f64>> {
        let own = ["step", "bound", "likelihood", "input", "output", "rate"].iter().map(|k| l[*k].as_f64());
        own.chain(l["layers"].as_array()?.iter().map(Value::as_f64)).collect()
    };
    Course { rows: lines.iter().filter_map(numbers).collect() }
}

/// The course of a run that may still be going on.
pub(crate) fn course_of(folder: &Path) -> Result<Course, Error> {
    Ok(course(&steps(folder)?))
}
