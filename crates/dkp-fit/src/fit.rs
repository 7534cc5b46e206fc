//! Training: from prepared data to a fitted model, watched.

use crate::choice::AUTO;
use crate::judge::Judged;
use crate::run::{Checkpoint, Order, Run, Trained};
use crate::targets::known_shares;
use crate::{Card, Choices, Config, Error, Fitted, Metrics, Prepared, Roles};
use dkp::Registry;
use dkp::data::Dataset;
use dkp::model::Model;
use dkp::train::{StartError, Started, Step, Trainer, initialise_with};
use dkp_table::Table;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Steps whose course is remembered, about: of longer runs some of every stretch.
const REMEMBERED: u64 = 1_000_000;

/// How a table is to be fitted.
///
/// ```
/// use dkp_fit::{Fit, Table};
/// // in memory: how warm and how far from the sea flats are, and their price
/// let warm: Vec<f64> = (0..60).map(|i| (i % 13) as f64).collect();
/// let place: Vec<&str> = (0..60).map(|i| ["sea", "town", "hill"][i % 3]).collect();
/// let price: Vec<f64> = (0..60).map(|i| 100.0 + 3.0 * (i % 13) as f64 - 20.0 * (i % 3) as f64).collect();
/// let columns = |warm: Vec<f64>, place: Vec<&'static str>| vec![("warm", warm.into()), ("place", place.into())];
/// let mut seen = columns(warm, place);
/// seen.push(("price", price.into()));
/// let mut fit = Fit::new("price");
/// fit.config.model.steps = Some(100);
/// let fitted = fit.run(&Table::from_columns(seen, &[])?)?;
/// let new = Table::from_columns(columns(vec![6.0], vec!["hill"]), &[])?;
/// let price = fitted.predict(&new, 50, 0)?;
/// assert!((price.mean(0, 0) - 78.0).abs() < 3.0 * price.deviation(0, 0) && price.quantile(0, 0, 0.9) > price.mean(0, 0));
/// # Ok::<(), dkp_fit::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Fit {
    /// What the user chose.
    pub config: Config,
    /// Names of kernels, likelihoods and families.
    pub registry: Registry,
    /// Threads, or as many as there are cores; they change no bit of any result.
    pub threads: Option<usize>,
    /// Whether a fit that is stopped after a step of the model, and has no folder, ends with what it has learned by then, neither judged nor calibrated
    /// by rows that it kept, instead of an error; and one that is stopped later ends as if it had not been.
    pub partial: bool,
}

/// What a fit is doing.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'a> {
    /// A fold of a cross-validation begins: what follows is about it, until it is judged.
    Fold {
        /// Its number, from 1.
        fold: usize,
        /// Of how many.
        folds: usize,
    },
    /// A fold is judged; nothing is told of one of which there is nothing to judge. The answer does not count.
    FoldJudged {
        /// Its number.
        fold: usize,
        /// Of how many.
        folds: usize,
        /// How good the predictions for its rows are.
        metrics: Option<&'a Metrics>,
    },
    /// The likelihood, or for classes how often labels count and the kernel, has been chosen: what it is better by. The answer does not count.
    Noise(&'a str),
    /// A step of an infinitely wide network by which something is decided.
    Try {
        /// What is tried with it.
        trial: Trial,
        /// The step.
        step: &'a Step,
        /// Of how many.
        steps: u64,
    },
    /// A step of the limit that is trained first.
    Start {
        /// The step.
        step: &'a Step,
        /// Of how many.
        steps: u64,
    },
    /// That limit could not be trained or followed: the model starts from the scales of the data alone. The answer does not count.
    ColdStart(&'a StartError),
    /// The start is over: from now on there is something to keep. The answer does not count.
    Begin,
    /// A step of the model.
    Train {
        /// The step.
        step: &'a Step,
        /// Of how many.
        steps: u64,
    },
    /// Training is over, and the held-out rows are judged.
    Judge {
        /// How many are judged.
        done: usize,
        /// Of how many.
        rows: usize,
    },
}

/// What is tried with an infinitely wide network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trial {
    /// A likelihood, by its name.
    Likelihood(&'static str),
    /// A temperature, by rows that are left out.
    Temperature(f64),
    /// A kernel, by the same.
    Kernel(&'static str),
}

/// Sees every moment of a fit, and says of every step whether to go on. A fit that is stopped ends with [`Error::Stopped`]: what the model had learned is in
/// its checkpoint, if it has a folder, and else lost.
pub type Watch<'a> = &'a mut (dyn FnMut(Moment<'_>) -> bool + Send);

impl Fit {
    /// Everything by default but the column to predict.
    pub fn new(target: &str) -> Fit {
        let table = Roles { targets: vec![target.to_string()], ..Roles::default() };
        Fit { config: Config { table, model: Choices::default() }, ..Fit::default() }
    }

    /// From a table to a fitted model.
    pub fn run(&self, table: &Table) -> Result<Fitted, Error> {
        self.train(self.prepare(table, None)?, &mut |_| true)
    }

    /// From prepared data to a fitted model.
    pub fn train(&self, prepared: Prepared, watch: Watch<'_>) -> Result<Fitted, Error> {
        on_threads(self.threads, || Ok(self.learn(prepared, Keeping::Nothing, watch)?.0))
    }

    /// The same with a folder for the course of training and for checkpoints; in the end the model is written.
    pub fn train_in_files(&self, prepared: Prepared, order: &Order, watch: Watch<'_>) -> Result<Fitted, Error> {
        on_threads(self.threads, || Ok(self.learn(prepared, Keeping::Begin(order), watch)?.0))
    }

    /// Goes on from a checkpoint, to the same bits as if the run had never stopped.
    pub fn resume(&self, prepared: Prepared, checkpoint: Checkpoint, watch: Watch<'_>) -> Result<Fitted, Error> {
        checkpoint.check(&prepared)?;
        on_threads(self.threads, || Ok(self.learn(prepared, Keeping::Resume(Box::new(checkpoint)), watch)?.0))
    }

    /// The model, and the rows that were held out from it.
    pub(crate) fn learn(
        &self,
        prepared: Prepared,
        keeping: Keeping<'_>,
        watch: Watch<'_>,
    ) -> Result<(Fitted, Option<Judged>), Error> {
        let digest = prepared.digest();
        let Prepared { train, held_out, names, mut card, folds } = prepared;
        let validated = self.cross_validate(folds, &train, &card, (&keeping, &digest), watch)?;
        // rows that are predicted by models that have not seen them
        let unseen = match &validated {
            Some(validated) => Some(train.of(&validated.places)),
            None => held_out.clone(),
        };
        let names = names.map(|names| validated.as_ref().map_or(names.clone(), |v| names.of_some(&v.places)));
        let (order, trained) = match keeping {
            Keeping::Nothing => (None, None),
            Keeping::Begin(order) => (Some((Order::folder_for(&order.out), order.clone())), None),
            Keeping::Resume(c) => (Some((c.folder, c.order)), c.trained),
        };
        match &trained {
            Some(trained) => trained.decided.clone().restore(&mut card),
            None => self.find_confidence(&mut card, &train, watch)?,
        }
        let (train, kept) = self.kept(&card.settings, train);
        card.known_shares = known_shares(&train);
        let (mut model, state, mut run) = match trained {
            Some(Trained { model, state, run, .. }) => (model, Some(state), Some(run)),
            None => (
                self.start(&mut card, &train, watch)?,
                None,
                order.map(|(folder, order)| Run::begin(&folder, &order)).transpose()?,
            ),
        };
        let options = card.settings.train_options();
        let mut course = run.as_mut().map_or(Course::default(), |run| std::mem::take(&mut run.course));
        let mut trainer = match state {
            None => Trainer::new(&mut model, &train, options)?,
            Some(state) => Trainer::resume(&mut model, &train, options, state)?,
        };
        watch(Moment::Begin);
        let every = Duration::from_secs_f64(card.settings.checkpoint_every);
        let mut saved = Instant::now();
        while trainer.state().step < options.steps {
            let step = trainer.step()?;
            course.add(&step, options.steps);
            if let Some(run) = &mut run {
                run.log(&step, &trainer.model().concentrations())?;
            }
            let stopped = !watch(Moment::Train { step: &step, steps: options.steps });
            if let Some(run) = run.as_mut().filter(|_| stopped || saved.elapsed() >= every) {
                run.checkpoint(trainer.model(), trainer.state(), &digest, &card)?;
                saved = Instant::now();
            }
            if stopped && self.partial && run.is_none() {
                let (done, steps) = (step.step + 1, options.steps);
                card.notes.push(format!("stopped after step {done} of {steps}"));
                drop(trainer);
                model.release_memory();
                let tensors = BTreeMap::from([(Course::NAME.to_string(), course.tensor())]);
                return Ok((Fitted { model, card, tensors, registry: self.registry.clone() }, None));
            }
            if stopped {
                return Err(Error::Stopped { step: step.step + 1, folder: run.map(|r| r.folder().to_path_buf()) });
            }
        }
        if let Some(run) = &mut run {
            // whatever happens to what follows, the run can be gone on with
            run.checkpoint(trainer.model(), trainer.state(), &digest, &card)?;
        }
        model.release_memory();
        let tensors = BTreeMap::from([(Course::NAME.to_string(), course.tensor())]);
        let mut fitted = Fitted { model, card, tensors, registry: self.registry.clone() };
        let rows = held_out.as_ref().map_or(0, Dataset::points);
        let folder = run.as_ref().map(|run| run.folder().to_path_buf());
        let whole = self.partial && run.is_none();
        let mut judging = |done| match watch(Moment::Judge { done, rows }) || whole {
            true => Ok(()),
            false => Err(Error::Stopped { step: options.steps, folder: folder.clone() }),
        };
        judging(0)?;
        let judged = fitted.conclude(&train, kept.as_ref(), held_out.as_ref(), &mut judging)?;
        if let Some(validated) = validated {
            validated.become_evaluation_of(&mut fitted);
        }
        if let Some(names) = names {
            fitted.explain(&train, unseen.as_ref(), &names);
        }
        if let Some(run) = run {
            fitted.save(run.out())?;
            run.forget_checkpoint();
        }
        Ok((fitted, judged))
    }

    /// The model before its first step; where the likelihood was open, it is no longer.
    fn start(&self, card: &mut Card, train: &Dataset, watch: Watch<'_>) -> Result<Model, Error> {
        if card.settings.likelihood == AUTO {
            let chosen = self.choose_noise(&card.settings, train, watch)?;
            watch(Moment::Noise(&chosen.line));
            card.settings.likelihood = chosen.likelihood;
            card.noise = Some(chosen.line);
        }
        let (settings, mut stopped) = (&card.settings, false);
        let architecture = settings.architecture(&self.registry)?;
        let each = |step: &Step| {
            stopped = !watch(Moment::Start { step, steps: settings.start_steps });
            !stopped
        };
        let started: Started = initialise_with(architecture, train, settings.start(), |p| settings.adjust(p), each)?;
        if stopped {
            return Err(Error::Stopped { step: 0, folder: None });
        }
        if let Some(error) = &started.without_limit {
            watch(Moment::ColdStart(error));
        }
        Ok(started.model)
    }
}

/// What a fit writes on the way.
pub(crate) enum Keeping<'a> {
    Nothing,
    Begin(&'a Order),
    Resume(Box<Checkpoint>),
}

/// Runs something on this many threads of its own, or on those that there are.
pub fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    match threads {
        None => work(),
        Some(count) if !(1..=10_000).contains(&count) => Err(Error::range("threads", "must be from 1 to 10000")),
        Some(count) => rayon::ThreadPoolBuilder::new().num_threads(count).build()?.install(work),
    }
}

/// The course of training: a row for each of its steps.
#[derive(Default)]
pub(crate) struct Course {
    /// step, bound, likelihood, input, output, rate, then the hidden layers.
    pub rows: Vec<Vec<f64>>,
}

impl Course {
    /// The tensor of a model file that holds it.
    pub const NAME: &'static str = "trace";
    /// Points that a model file keeps.
    const KEPT: usize = 400;

    fn add(&mut self, step: &Step, steps: u64) {
        let wanted = step.step.is_multiple_of(steps.div_ceil(REMEMBERED).max(1));
        if let Some(b) = step.bound.as_ref().filter(|_| wanted) {
            let own = [step.step as f64, b.total, b.likelihood, b.input, b.output, step.rate];
            self.rows.push(own.into_iter().chain(b.layers.iter().copied()).collect());
        }
    }

    /// Means over a few hundred stretches of the run.
    pub fn tensor(&self) -> dkp::file::Tensor {
        let width = self.rows.first().map_or(0, Vec::len);
        let stretch = self.rows.len().div_ceil(Course::KEPT).max(1);
        let mean = |rows: &[Vec<f64>], i: usize| rows.iter().map(|r| r[i]).sum::<f64>() / rows.len() as f64;
        let means = |rows: &[Vec<f64>]| (0..width).map(|i| mean(rows, i)).collect::<Vec<_>>();
        let values: Vec<f64> = self.rows.chunks(stretch).flat_map(means).collect();
        dkp::file::Tensor { shape: vec![values.len() / width.max(1), width], values }
    }
}
