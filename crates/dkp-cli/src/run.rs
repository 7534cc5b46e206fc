//! The folder of a run: its settings, its course, and a checkpoint to go on from.

use crate::choices::Config;
use crate::failure::run_failed;
use anyhow::{Context as _, bail};
use dkp::file::{self, Companion, Loaded, Tensor, write_atomically};
use dkp::model::Model;
use dkp::train::{Record as Step, State};
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
    pub config: Config,
}

/// A folder with settings.toml, metrics.jsonl and, until the run is finished, checkpoint.safetensors.
pub struct Run {
    folder: PathBuf,
    metrics: BufWriter<File>,
}

const SETTINGS: &str = "settings.toml";
const METRICS: &str = "metrics.jsonl";
const CHECKPOINT: &str = "checkpoint.safetensors";
/// Points of the course that a model file keeps.
const TRACE: usize = 400;

impl Run {
    /// The folder of the run that makes a model.
    pub fn folder_of(out: &Path) -> PathBuf {
        match out.extension() {
            Some(extension) if extension == "dkp" || extension == "run" => out.with_extension("run"),
            _ => PathBuf::from(format!("{}.run", out.display())),
        }
    }

    /// Whether there is an unfinished run.
    pub fn is_unfinished(folder: &Path) -> bool {
        folder.join(CHECKPOINT).exists()
    }

    /// Begins a run.
    pub fn begin(folder: &Path, order: &Order) -> anyhow::Result<Run> {
        let place = || folder.display().to_string();
        std::fs::create_dir_all(folder).with_context(place).map_err(run_failed)?;
        let _ = std::fs::remove_file(folder.join(CHECKPOINT));
        let settings = toml::to_string(order)?;
        write_atomically(&folder.join(SETTINGS), settings.as_bytes()).with_context(place).map_err(run_failed)?;
        let metrics = File::create(folder.join(METRICS)).with_context(place).map_err(run_failed)?;
        Ok(Run { folder: folder.to_path_buf(), metrics: BufWriter::new(metrics) })
    }

    /// What an unfinished run was told to do.
    pub fn order(folder: &Path) -> anyhow::Result<Order> {
        let path = folder.join(SETTINGS);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("{}: there is no run here", folder.display()))?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Opens an unfinished run: its model and state, and the digest of its data.
    pub fn resume(folder: &Path) -> anyhow::Result<(Run, Model, State, String)> {
        if !Run::is_unfinished(folder) {
            let (folder, out) = (folder.display(), Run::order(folder)?.out);
            match out.exists() {
                true => bail!("--resume {folder}: there is no checkpoint: the run is finished, see {}", out.display()),
                false => {
                    bail!("--resume {folder}: there is no checkpoint: the run stopped before its first; begin anew")
                }
            }
        }
        let (Loaded { model, companion }, state) = file::load_run(&folder.join(CHECKPOINT))?;
        let digest = companion.metadata["data"].as_str().unwrap_or_default().to_string();
        let path = folder.join(METRICS);
        let lines = steps(folder)?.into_iter().filter(|l| l["step"].as_u64().is_some_and(|s| s < state.step));
        let text: String = lines.map(|l| format!("{l}\n")).collect();
        let place = || path.display().to_string();
        write_atomically(&path, text.as_bytes()).with_context(place).map_err(run_failed)?;
        let metrics = File::options().append(true).open(&path).with_context(place).map_err(run_failed)?;
        Ok((Run { folder: folder.to_path_buf(), metrics: BufWriter::new(metrics) }, model, state, digest))
    }

    /// Adds a step to the course.
    pub fn log(&mut self, step: &Step) -> anyhow::Result<()> {
        let bound = step.bound.as_ref();
        let line = json!({
            "step": step.step,
            "bound": bound.map(|b| b.total),
            "likelihood": bound.map(|b| b.likelihood),
            "gain": bound.map(|b| b.gain),
            "input": bound.map(|b| b.input),
            "layers": bound.map(|b| &b.layers),
            "output": bound.map(|b| -b.output),
            "rate": step.rate,
            "gradient_norm": step.gradient_norm,
            "jitter": bound.map_or(0, |b| b.jitter.count),
            "delta": step.deltas,
            "failure": step.failure.as_ref().map(ToString::to_string),
            "rolled_back": step.rolled_back,
        });
        writeln!(self.metrics, "{line}").with_context(|| self.folder.display().to_string()).map_err(run_failed)
    }

    /// Writes a checkpoint.
    pub fn checkpoint(&mut self, model: &Model, state: &State, data: &str) -> anyhow::Result<()> {
        self.metrics.flush().with_context(|| self.folder.display().to_string()).map_err(run_failed)?;
        let companion = Companion { metadata: json!({ "data": data }), ..Companion::default() };
        file::save_run(&self.folder.join(CHECKPOINT), model, state, &companion).map_err(run_failed)
    }

    /// Ends the run: the course for the model file. The checkpoint goes once the model is written.
    pub fn finish(mut self) -> anyhow::Result<Tensor> {
        self.metrics.flush().with_context(|| self.folder.display().to_string()).map_err(run_failed)?;
        trace(&self.folder)
    }
}

/// Removes the checkpoint of a finished run.
pub fn forget_checkpoint(folder: &Path) {
    let _ = std::fs::remove_file(folder.join(CHECKPOINT));
}

fn steps(folder: &Path) -> anyhow::Result<Vec<Value>> {
    let path = folder.join(METRICS);
    let file = File::open(&path).with_context(|| path.display().to_string())?;
    // a line that was cut off when the run was killed is no step
    Ok(BufReader::new(file).lines().map_while(Result::ok).filter_map(|l| serde_json::from_str(&l).ok()).collect())
}

/// The course of a run, from its folder.
pub fn trace(folder: &Path) -> anyhow::Result<Tensor> {
    let numbers = |l: &Value| -> Option<Vec<f64>> {
        let own = ["step", "bound", "likelihood", "input", "output", "rate"].iter().map(|k| l[*k].as_f64());
        own.chain(l["layers"].as_array()?.iter().map(Value::as_f64)).collect()
    };
    Ok(averaged(&steps(folder)?.iter().filter_map(numbers).collect::<Vec<_>>()))
}

/// The course of a run, from its steps.
pub fn trace_of(steps: &[Step]) -> Tensor {
    let numbers = |s: &Step| {
        let b = s.bound.as_ref()?;
        let own = [s.step as f64, b.total, b.likelihood, b.input, -b.output, s.rate];
        Some(own.into_iter().chain(b.layers.iter().copied()).collect())
    };
    averaged(&steps.iter().filter_map(numbers).collect::<Vec<_>>())
}

/// step, bound, likelihood, input, output, rate, then the hidden layers, as means over a few hundred stretches of the run.
fn averaged(rows: &[Vec<f64>]) -> Tensor {
    let width = rows.first().map_or(0, Vec::len);
    let stretch = rows.len().div_ceil(TRACE).max(1);
    let mean = |rows: &[Vec<f64>], i: usize| rows.iter().map(|r| r[i]).sum::<f64>() / rows.len() as f64;
    let values: Vec<f64> =
        rows.chunks(stretch).flat_map(|c| (0..width).map(|i| mean(c, i)).collect::<Vec<_>>()).collect();
    Tensor { shape: vec![values.len() / width.max(1), width], values }
}
