//! `dkp train`: from a table to a model.

use crate::failure::run_failed;
use crate::flags::{self, ModelFlags, RoleFlags};
use crate::folds::FoldWatcher;
use crate::interrupt;
use crate::outputs::{check_distinct, check_writable};
use crate::print::evaluation_lines;
use crate::progress::{Progress, Say, Status, duration, peak_memory};
use anyhow::{Context as _, bail};
use clap::Args;
use dkp_fit::{Checkpoint, Error, Fit, Fitted, Moment, Order, Prepared, Run, Task, Trial};
use dkp_table::{STANDARD, uncompressed};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Learn from a table.
///
/// Numbers as a target mean regression; text, or true and false, mean classification. Some rows are held out and judged in the end.
///
///     dkp train houses.csv --target price
///     dkp train patients.parquet --target outcome --id patient --group hospital
///     dkp train X.npy --target y.npy
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The table: .csv or .jsonl (perhaps with .gz or .zst), .xlsx (its first sheet), .parquet, .npy or .npz; - is standard input, as CSV.
    #[arg(required_unless_present = "resume")]
    data: Option<PathBuf>,
    /// Where the model goes [default: DATA with the ending .dkp].
    #[arg(long, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// A TOML file with settings; flags count for more (`dkp config` prints one).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Goes on with a run that was stopped, to the same bits.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["data", "out", "config", "force", "RoleFlags", "ModelFlags"])]
    resume: Option<PathBuf>,
    /// Begins anew where an unfinished run is.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    roles: RoleFlags,
    #[command(flatten)]
    choices: ModelFlags,
    /// Threads [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Says nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// The result as one JSON object on standard output.
    #[arg(long)]
    json: bool,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    interrupt::install();
    let say = Say { quiet: a.quiet || a.json };
    let (fitted, out) = match &a.resume {
        Some(folder) => resume(a, folder, say)?,
        None => begin(a, say)?,
    };
    if a.json {
        let result = json!({
            "model": out,
            "rows": { "trained": fitted.card.rows_trained, "held_out": fitted.card.rows_held_out },
            "bound": fitted.card.bound,
            "evaluation": fitted.card.evaluation,
            "cross_validation": fitted.card.cross_validation,
        });
        crate::print::text(&format!("{result}\n"))?;
    } else if !say.quiet {
        crate::print::text(&summary(&fitted, &out))?;
    }
    Ok(())
}

fn begin(a: &Arguments, say: Say) -> anyhow::Result<(Fitted, PathBuf)> {
    let mut config = flags::config(&a.roles, &a.choices, a.config.as_deref())?;
    let data = a.data.as_deref().context("DATA is missing")?;
    flags::target_file(&mut config.table, data);
    if data == Path::new(STANDARD) && a.out.is_none() {
        bail!("--out MODEL is needed where the table is standard input");
    }
    let out = a.out.clone().unwrap_or_else(|| uncompressed(data).with_extension("dkp"));
    let folder = Order::folder_for(&out);
    if out == folder {
        bail!("--out {}: names that end in .run are for the folders of runs", out.display());
    }
    if Run::is_unfinished(&folder) && !a.force {
        let folder = folder.display();
        bail!("{folder} is an unfinished run: go on with `dkp train --resume {folder}`, or begin anew with --force");
    }
    let fit = Fit { config: config.clone(), threads: a.threads, ..Fit::default() };
    // messages name files as the user did, and the run by their places
    let prepared = Order { data: data.to_path_buf(), out: out.clone(), config: config.clone() }.prepare(&fit)?;
    let inputs = [Some(data), config.table.target_file.as_deref(), config.table.test.as_deref(), a.config.as_deref()];
    check_distinct("--out", &out, &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    check_writable("--out", &out)?;
    let order = Order::new(data, &out, config)?;
    say_data(say, &fit, &prepared);
    if out.exists() {
        say.line(&format!("{} will be replaced", out.display()));
    }
    if !say.quiet {
        say_estimate(say, &fit, &prepared);
    }
    let mut progress = FoldWatcher::new(say, &prepared, 0);
    let fitted = fit.train_in_files(prepared, &order, &mut |moment| progress.sees(moment));
    Ok((told(fitted, &folder)?, out))
}

fn resume(a: &Arguments, folder: &Path, say: Say) -> anyhow::Result<(Fitted, PathBuf)> {
    let order = Order::read(folder).context("--resume")?;
    let fit = Fit { config: order.config.clone(), threads: a.threads, ..Fit::default() };
    let checkpoint = Checkpoint::open(folder, &fit.registry).context("--resume")?;
    let prepared = order.prepare(&fit)?;
    check_writable("--out", &order.out)?;
    match (prepared.folds.len(), checkpoint.step()) {
        (folds @ 1.., 0) => say.line(&format!("going on after {} of {folds} folds", checkpoint.folds())),
        (_, step) => say.line(&format!("going on from step {step}")),
    }
    let mut progress = FoldWatcher::new(say, &prepared, checkpoint.step());
    let fitted = fit.resume(prepared, checkpoint, &mut |moment| progress.sees(moment));
    Ok((told(fitted, folder)?, order.out))
}

/// Of a run that was stopped, how to go on.
fn told(fitted: Result<Fitted, Error>, folder: &Path) -> anyhow::Result<Fitted> {
    fitted.map_err(|error| {
        let place = match &error {
            Error::Stopped { folder: None, .. } => {
                return run_failed(anyhow::anyhow!("stopped before the model's first step; nothing was written"));
            }
            Error::Stopped { step, .. } => format!("after step {step}"),
            Error::Fold { fold, folds, error } if matches!(**error, Error::Stopped { .. }) => {
                format!("in fold {fold} of {folds}")
            }
            _ => return error.into(),
        };
        run_failed(anyhow::anyhow!("stopped {place}; go on with `dkp train --resume {}`", folder.display()))
    })
}

/// Shows how a fit is going on, and ends it at Ctrl-C.
pub struct Watcher {
    say: Say,
    log_unit: f64,
    first: u64,
    progress: Option<Progress>,
    status: Option<Status>,
    /// Networks that were tried.
    tried: usize,
}

impl Watcher {
    /// For a fit of prepared data that is at step `first`.
    pub fn new(say: Say, prepared: &Prepared, first: u64) -> Watcher {
        interrupt::watch();
        let log_unit = prepared.card.log_unit();
        Watcher { say, log_unit, first, progress: None, status: None, tried: 0 }
    }

    /// Whether to go on.
    pub fn sees(&mut self, moment: Moment<'_>) -> bool {
        let say = self.say;
        match moment {
            Moment::Try { trial, step, steps } => {
                self.tried += usize::from(step.step == 0);
                let what = match trial {
                    Trial::Likelihood(name) => format!("choosing the noise: {name}"),
                    Trial::Temperature(t) => format!("finding how sure to be: network {}, temperature {t}", self.tried),
                    Trial::Kernel(name) => format!("finding how sure to be: network {}, kernel {name}", self.tried),
                };
                self.tell(format!("{what}, step {} of {steps}", step.step + 1));
            }
            Moment::Noise(line) => {
                self.status = None;
                say.line(line);
            }
            Moment::Start { step, steps } => {
                self.progress.get_or_insert_with(|| Progress::of_start(say, steps)).step(step, self.log_unit);
            }
            Moment::ColdStart(error) => say.line(&format!("{error}; going on without it")),
            Moment::Begin => (self.progress, self.status) = (None, None),
            Moment::Train { step, steps } => {
                let first = self.first;
                self.progress.get_or_insert_with(|| Progress::new(say, first, steps)).step(step, self.log_unit);
            }
            Moment::Fold { .. } | Moment::FoldJudged { .. } => return true,
            Moment::Judge { done, rows } => {
                self.progress = None;
                self.tell(if rows > 0 { format!("judging {done} of {rows} held-out rows") } else { "judging".into() });
            }
        }
        !interrupt::requested()
    }

    fn tell(&mut self, what: String) {
        let say = self.say;
        self.status.get_or_insert_with(|| Status::new(say)).tell(what);
    }
}

/// What is said of the data and the model.
fn say_data(say: Say, fit: &Fit, prepared: &Prepared) {
    let card = &prepared.card;
    let plural = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let held_out = match (prepared.folds.len(), card.rows_held_out) {
        (folds @ 1.., _) => format!("in {folds} folds"),
        (_, 0) => "none held out".to_string(),
        (_, rows) => format!("{rows} held out"),
    };
    say.line(&format!(
        "{}: {} rows to learn from, {held_out}; {} from {}",
        card.data,
        card.rows_trained,
        plural(card.encoder.width(), "feature"),
        plural(card.columns().len(), "column"),
    ));
    card.notes.iter().for_each(|note| say.line(&format!("  {note}")));
    match (card.task, card.labels()) {
        (Task::Classification, Some(labels)) => {
            say.line(&format!("{}: {} classes (--task overrides)", card.task_name(), labels.len()));
        }
        _ => say.line(&format!("{} (--task overrides)", card.task_name())),
    }
    say.line(&card.settings.description(&fit.registry));
}

/// How long it will take; nothing where that cannot be measured.
fn say_estimate(say: Say, fit: &Fit, prepared: &Prepared) {
    let Ok(estimate) = fit.estimate(prepared) else { return };
    let threads = fit.threads.unwrap_or_else(rayon::current_num_threads);
    let memory = peak_memory().map_or(String::new(), |mb| format!("; {mb:.0} MB of memory"));
    let part = |(what, time): &(&str, std::time::Duration)| format!("{} {what}", duration(time.as_secs_f64()));
    let parts = estimate.parts.iter().map(part).collect::<Vec<_>>().join(", ");
    say.line(&format!("about {} on {threads} threads: {parts}{memory}", duration(estimate.total().as_secs_f64())));
}

fn summary(fitted: &Fitted, out: &Path) -> String {
    let mut text = String::new();
    if let Some(bound) = &fitted.card.bound {
        text += &format!("bound             {:>10.4} nats a row\n", bound.total);
    }
    if let Some(calibration) = &fitted.card.calibration {
        text += &format!("{}\n", calibration.line);
    }
    text += &evaluation_lines(&fitted.card);
    let path = out.display();
    text + &format!("model written to {path}\nnext: dkp report {path}   or   dkp predict {path} DATA\n")
}
