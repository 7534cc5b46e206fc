//! `dkp train`: from a table to a model.

use crate::choices::{Choices, Config, Roles, Task};
use crate::failure::run_failed;
use crate::outputs::{check_distinct, check_writable};
use crate::prepare::{Prepared, prepare};
use crate::progress::{Progress, duration, peak_memory};
use crate::run::{Order, Run, forget_checkpoint};
use crate::trained::{BoundRecord, Record, Trained};
use crate::{interrupt, judge};
use anyhow::{Context as _, bail};
use clap::Args;
use dkp::data::Dataset;
use dkp::model::Model;
use dkp::params::Parameters;
use dkp::train::{Record as StepRecord, Start, State, Trainer, initialise, initialise_with};
use dkp_tape::random::Key;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Steps after which the time that a run will take is said.
const ESTIMATE_AFTER: u64 = 10;
/// Points × draws of the bound that is reported in the end, about.
const BOUND_WORK: usize = 1_000_000;

/// Learn from a table.
///
/// Numbers as a target mean regression; text, or true and false, mean classification. Some rows are held out and judged in the end.
///
///     dkp train houses.csv --target price
///     dkp train patients.parquet --target outcome --id patient --group hospital
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The table: .csv, .parquet, .npy or .npz.
    #[arg(required_unless_present = "resume")]
    data: Option<PathBuf>,
    /// Where the model goes [default: DATA with the ending .dkp].
    #[arg(long, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// A TOML file with settings; flags count for more (`dkp config` prints one).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Goes on with a run that was stopped, to the same bits.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["data", "out", "config", "force", "Roles", "Choices"])]
    resume: Option<PathBuf>,
    /// Begins anew where an unfinished run is.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    pub roles: Roles,
    #[command(flatten)]
    pub choices: Choices,
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

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    crate::use_threads(arguments.threads)?;
    interrupt::install();
    let quiet = arguments.quiet || arguments.json;
    let (trained, out) = match &arguments.resume {
        Some(folder) => resume(folder, quiet)?,
        None => begin(&arguments, quiet)?,
    };
    if arguments.json {
        let result = json!({
            "model": out,
            "rows": { "trained": trained.record.rows_trained, "held_out": trained.record.rows_held_out },
            "bound": trained.record.bound,
            "evaluation": trained.record.evaluation,
        });
        crate::print(&format!("{result}\n"))?;
    } else if !quiet {
        crate::print(&summary(&trained, &out))?;
    }
    Ok(())
}

fn begin(a: &Arguments, quiet: bool) -> anyhow::Result<(Trained, PathBuf)> {
    let config = Config { table: a.roles.clone(), model: a.choices.clone() }.over_file(a.config.as_deref())?;
    let data = a.data.as_deref().context("DATA is missing")?;
    let out = a.out.clone().unwrap_or_else(|| data.with_extension("dkp"));
    let folder = Run::folder_of(&out);
    if out == folder {
        bail!("--out {}: names that end in .run are for the folders of runs", out.display());
    }
    if Run::is_unfinished(&folder) && !a.force {
        let folder = folder.display();
        bail!("{folder} is an unfinished run: go on with `dkp train --resume {folder}`, or begin anew with --force");
    }
    let prepared = prepare(data, &config.table, &config.model)?;
    let inputs = [Some(data), config.table.test.as_deref(), a.config.as_deref()];
    check_distinct("--out", &out, &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    check_writable(&out)?;
    try_settings(&prepared.record, &prepared.train)?;
    let mut config = config;
    config.table.test = config.table.test.as_deref().map(absolute).transpose()?;
    let order = Order { data: absolute(data)?, out: absolute(&out)?, config };
    let say = Say(quiet);
    say.data(&prepared);
    if out.exists() {
        say.line(&format!("{} will be replaced", out.display()));
    }
    say.line("starting …");
    let model = start(&prepared.record, &prepared.train, quiet)?;
    let run = Run::begin(&folder, &order)?;
    let trained = train(prepared, model, None, run, &folder, &out, quiet)?;
    Ok((trained, out))
}

fn resume(folder: &Path, quiet: bool) -> anyhow::Result<(Trained, PathBuf)> {
    let order = Run::order(folder)?;
    let (run, model, state, digest) = Run::resume(folder)?;
    let prepared = prepare(&order.data, &order.config.table, &order.config.model)?;
    if digest_of(&prepared.train) != digest {
        bail!("--resume {}: {} has changed since the run began", folder.display(), order.data.display());
    }
    check_writable(&order.out)?;
    Say(quiet).line(&format!("going on from step {}", state.step));
    let trained = train(prepared, model, Some(state), run, folder, &order.out, quiet)?;
    Ok((trained, order.out))
}

/// Makes a model without training anything, so that a wrong setting is told at once.
fn try_settings(record: &Record, train: &Dataset) -> anyhow::Result<()> {
    let settings = &record.settings;
    let mut model = initialise(settings.architecture()?, train, Start { warm_up: 0, ..settings.start() })?;
    settings.adjust(model.parameters_mut())
}

/// The model before its first step.
pub fn start(record: &Record, train: &Dataset, quiet: bool) -> anyhow::Result<Model> {
    let (settings, unit) = (&record.settings, record.target_scale().1);
    let mut progress = Progress::of_start(quiet, settings.start_steps);
    let adjust = |parameters: &mut Parameters| settings.adjust(parameters);
    let model = initialise_with(settings.architecture()?, train, settings.start(), adjust, |step| {
        progress.step(step.step + 1, step.bound.as_ref().map(|b| b.total - unit.ln()), step.rate);
        say_rollback(&progress, step);
        true
    })?;
    progress.finish();
    Ok(model)
}

/// Says that a run went back, and why.
fn say_rollback(progress: &Progress, step: &StepRecord) {
    if step.rolled_back {
        let why = step.failure.as_ref().map_or("the bound fell".to_string(), |f| f.to_string());
        let done = step.step + 1;
        progress.say(&format!("step {done}: {why}; gone back to an earlier state, at half the learning rate"));
    }
}

fn train(
    prepared: Prepared,
    mut model: Model,
    state: Option<State>,
    mut run: Run,
    folder: &Path,
    out: &Path,
    quiet: bool,
) -> anyhow::Result<Trained> {
    let Prepared { train, held_out, record, .. } = prepared;
    let digest = digest_of(&train);
    let (options, unit) = (record.settings.options(), record.target_scale().1);
    let mut trainer = match state {
        None => Trainer::new(&mut model, &train, options)?,
        Some(state) => Trainer::resume(&mut model, &train, options, state)?,
    };
    let every = Duration::from_secs_f64(record.settings.checkpoint_every);
    let (first, begun, mut saved) = (trainer.state().step, Instant::now(), Instant::now());
    let mut progress = Progress::new(quiet, first, options.steps);
    interrupt::watch();
    while trainer.state().step < options.steps {
        let step = trainer.step().map_err(run_failed)?;
        let done = step.step + 1;
        run.log(&step)?;
        progress.step(done, step.bound.as_ref().map(|b| b.total - unit.ln()), step.rate);
        say_rollback(&progress, &step);
        if done == first + ESTIMATE_AFTER {
            let left = begun.elapsed().as_secs_f64() / ESTIMATE_AFTER as f64 * (options.steps - done) as f64;
            progress.say(&estimate(options.steps, left));
        }
        let stopped = interrupt::requested();
        if saved.elapsed() >= every || stopped {
            run.checkpoint(trainer.model(), trainer.state(), &digest)?;
            saved = Instant::now();
        }
        if stopped {
            progress.finish();
            let folder = folder.display();
            return Err(run_failed(anyhow::anyhow!(
                "stopped after step {done}; go on with `dkp train --resume {folder}`"
            )));
        }
    }
    interrupt::release();
    progress.finish();
    // whatever happens to the last step, writing the model, the run can be resumed
    run.checkpoint(trainer.model(), trainer.state(), &digest)?;
    let trace = run.finish()?;
    let mut trained = Trained { model, record, tensors: BTreeMap::from([("trace".to_string(), trace)]) };
    conclude(&mut trained, &train, held_out.as_ref())?;
    trained.save(out)?;
    forget_checkpoint(folder);
    Ok(trained)
}

/// The bound, and the held-out rows' predictions and metrics.
pub fn conclude(trained: &mut Trained, train: &Dataset, held_out: Option<&Dataset>) -> anyhow::Result<()> {
    let seed = trained.record.settings.seed;
    let draws = (BOUND_WORK / train.points()).clamp(2, 100);
    let bound = trained.model.bound(train, draws, Key::new(seed).step(u64::MAX)).map_err(run_failed)?;
    trained.record.bound = Some(BoundRecord::new(&bound, trained.record.target_scale().1));
    if let Some(held_out) = held_out {
        let draws = trained.record.settings.evaluation_draws as usize;
        let prediction =
            trained.model.predict(held_out.inputs().as_ref(), draws, Key::new(seed)).map_err(run_failed)?;
        let y: Vec<f64> = (0..held_out.points()).map(|n| held_out.y(n)[0]).collect();
        let judged = judge::Judged::new(&trained.record, &prediction, &y)?;
        trained.record.evaluation = Some(judged.metrics());
        trained.tensors.extend(judged.kept());
    }
    Ok(())
}

/// What is said of the data and the model.
struct Say(bool);

impl Say {
    fn line(&self, text: &str) {
        if !self.0 {
            eprintln!("{text}");
        }
    }

    fn data(&self, prepared: &Prepared) {
        let record = &prepared.record;
        let features = record.encoder.width();
        let held_out = match record.rows_held_out {
            0 => "none held out".to_string(),
            n => format!("{n} held out"),
        };
        self.line(&format!(
            "{}: {} rows to learn from, {held_out}; {features} feature{} from {} column{}",
            record.data,
            record.rows_trained,
            if features == 1 { "" } else { "s" },
            record.encoder.columns().len(),
            if record.encoder.columns().len() == 1 { "" } else { "s" },
        ));
        prepared.notes.iter().for_each(|note| self.line(&format!("  {note}")));
        match (record.task, record.labels()) {
            (Task::Classification, Some(labels)) => {
                self.line(&format!("{}: {} classes (--task overrides)", record.task_name(), labels.len()));
            }
            _ => self.line(&format!("{} (--task overrides)", record.task_name())),
        }
        self.line(&record.settings.description());
    }
}

fn estimate(steps: u64, seconds: f64) -> String {
    let memory = peak_memory().map_or(String::new(), |mb| format!(", {mb:.0} MB of memory"));
    format!("{steps} steps on {} threads: about {}{memory}", rayon::current_num_threads(), duration(seconds))
}

fn summary(trained: &Trained, out: &Path) -> String {
    let mut text = String::new();
    if let Some(bound) = &trained.record.bound {
        text += &format!("bound             {:>10.4} nats a row\n", bound.total);
    }
    if let Some(evaluation) = &trained.record.evaluation {
        text += &judge::lines(evaluation);
    }
    let path = out.display();
    text + &format!("model written to {path}\nnext: dkp report {path}   or   dkp predict {path} DATA\n")
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| path.display().to_string())
}

/// A digest of the points that are learned from.
fn digest_of(data: &Dataset) -> String {
    let mut hash = Sha256::new();
    for n in 0..data.points() {
        data.x(n).iter().chain(data.y(n)).for_each(|v| hash.update(v.to_le_bytes()));
    }
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}
