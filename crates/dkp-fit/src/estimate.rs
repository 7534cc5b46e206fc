//! How long a fit will take: a few steps of each of its parts are timed before it begins.

use crate::choice::AUTO;
use crate::columns::name_for;
use crate::confidence::calibrate;
use crate::fitted::JUDGED_ROWS;
use crate::{Card, Error, Fit, Fitted, Prepared, Settings, explain, on_threads};
use dkp::data::Dataset;
use dkp::model::Model;
use dkp::train::{Step, TIGHTEN_EVERY, TrainOptions, Trainer, initialise_with};
use dkp_table::Unfamiliar;
use dkp_tape::random::Key;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Steps that are timed: a first one, which also makes room in memory, and at least a round of those after it, one of which computes a tighter bound.
const FEWEST: usize = 1 + TIGHTEN_EVERY as usize;
/// More of them where they are quick, for about so long.
const ENOUGH: Duration = Duration::from_millis(200);
/// Rows by which bounds and predictions are timed, at most, and posterior draws.
const ROWS: usize = 1_024;
/// Rows by which it is timed what is done once for some of them.
const FEW_ROWS: usize = 64;
const DRAWS: usize = 8;

/// How long a fit will take.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// What is done, one after the other, and for how long.
    pub parts: Vec<(&'static str, Duration)>,
}

impl Estimate {
    /// In all.
    pub fn total(&self) -> Duration {
        self.parts.iter().map(|(_, time)| *time).sum()
    }
}

impl Fit {
    /// How long [`train`](Fit::train) will take with this data. That takes some per cent of the time itself, and seconds at most.
    pub fn estimate(&self, prepared: &Prepared) -> Result<Estimate, Error> {
        on_threads(self.threads, || self.measure(prepared))
    }

    fn measure(&self, prepared: &Prepared) -> Result<Estimate, Error> {
        let Prepared { train, held_out, card, folds, .. } = prepared;
        let mut parts = Vec::new();
        if let Some(fold) = folds.first() {
            parts.push(("to cross-validate", self.measure(&fold.prepared)?.total() * folds.len() as u32));
        }
        if let Some(time) = self.measure_confidence(&card.settings, train)? {
            parts.push(("to find how sure to be", time));
        }
        if card.settings.likelihood != AUTO {
            parts.extend(self.measure_model(card, train, held_out.as_ref())?);
            return Ok(Estimate { parts });
        }
        let candidates = card.settings.candidates(self);
        let with = |likelihood: &str| {
            let likelihood = name_for(&self.registry, likelihood, train.targets());
            let settings = Settings { likelihood, ..card.settings.clone() };
            Card { settings, ..card.clone() }
        };
        let mut choice = Duration::ZERO;
        for likelihood in &candidates {
            let (settings, options) = with(likelihood).settings.small();
            choice += self.measure_network(&settings, options, train)?.0;
        }
        parts.push(("to choose the noise", choice));
        // which of them the model will have is not known: the mean of the quickest and the slowest is far from neither
        let ends = [candidates.first(), candidates.last()].map(|c| with(c.unwrap_or(&"gaussian")));
        let [short, long] = ends.map(|card| self.measure_model(&card, train, held_out.as_ref()));
        parts.extend(short?.into_iter().zip(long?).map(|((what, a), (_, b))| (what, mean(a, b))));
        Ok(Estimate { parts })
    }

    /// Networks by which it is decided how sure to be, and what is made of each.
    fn measure_confidence(&self, settings: &Settings, train: &Dataset) -> Result<Option<Duration>, Error> {
        let Some((networks, left_out)) = self.trials(settings, train) else { return Ok(None) };
        let (network, options) = settings.trial();
        let (learned, kept) = train.without(&left_out);
        let (mut time, model) = self.measure_network(&network, options, &learned)?;
        if let Some(model) = model {
            let sample = kept.of(&kept.sample(FEW_ROWS, Key::new(settings.seed)));
            let begun = Instant::now();
            calibrate(&model, &sample, settings.seed)?;
            time += begun.elapsed().mul_f64(kept.points() as f64 / sample.points() as f64);
        }
        Ok(Some(time * networks as u32))
    }

    /// A network that takes so many steps, and one that has taken a few.
    fn measure_network(
        &self,
        settings: &Settings,
        options: TrainOptions,
        train: &Dataset,
    ) -> Result<(Duration, Option<Model>), Error> {
        let mut clock = Clock::start();
        let few = TrainOptions { steps: options.steps.min(FEWEST as u64), ..options };
        let each = |_: &Step| {
            clock.tick();
            true
        };
        let model = self.network(settings, few, train, each)?;
        Ok((clock.total(options.steps), model))
    }

    fn measure_model(
        &self,
        card: &Card,
        train: &Dataset,
        held_out: Option<&Dataset>,
    ) -> Result<[(&'static str, Duration); 3], Error> {
        let settings = &card.settings;
        let mut clock = Clock::start();
        let architecture = settings.architecture(&self.registry)?;
        let start = settings.start();
        let started = initialise_with(architecture, train, start, |p| settings.adjust(p), |_| clock.tick())?;
        let start = clock.total(settings.start_steps);
        let mut model = started.model;
        let options = settings.train_options();
        let mut clock = Clock::start();
        Trainer::new(&mut model, train, options)?.run(|_| clock.tick())?;
        model.release_memory();
        let (card, registry) = (card.clone(), self.registry.clone());
        let fitted = Fitted { model, card, tensors: BTreeMap::new(), registry };
        let end = measure_end(&fitted, train, held_out.map_or(0, Dataset::points))?;
        Ok([("to start", start), ("to train", clock.total(options.steps)), ("to judge and explain", end)])
    }
}

/// The geometric mean.
fn mean(a: Duration, b: Duration) -> Duration {
    Duration::from_secs_f64((a.as_secs_f64() * b.as_secs_f64()).sqrt())
}

/// The bound, predictions that explain, and those of held-out rows.
fn measure_end(fitted: &Fitted, train: &Dataset, held_out: usize) -> Result<Duration, Error> {
    let key = Key::new(fitted.card.settings.seed);
    let sample = |rows: usize| train.of(&train.sample(rows, key));
    // where nothing is drawn, draws cost nothing
    let fixed = fitted.model.architecture().is_deterministic();
    let work = |rows: usize, draws: usize| (rows * if fixed { 1 } else { draws }) as f64;

    // as many however few there are, so that what is done once for all is spread
    let few = sample(ROWS);
    let rows = few.of(&(0..ROWS).map(|i| i % few.points()).collect::<Vec<_>>());
    let each = |begun: Instant| begun.elapsed().div_f64(work(rows.points(), DRAWS));
    let begun = Instant::now();
    fitted.model.bound(&rows, DRAWS, key)?;
    let bound = each(begun);
    let begun = Instant::now();
    let predictions = fitted.predictions(rows.inputs().as_ref(), DRAWS, 0, Unfamiliar::default())?;
    (0..rows.points()).into_par_iter().for_each(|n| {
        predictions.probabilities(n).map_or_else(|| predictions.noise(n, 0), |p| p[0]);
    });
    let explained = each(begun);

    // each block of rows has its draws, which are made anew for it
    let judge = |rows: Dataset| {
        let begun = Instant::now();
        fitted.judge(&rows, &mut |_| Ok(())).map(|_| (begun.elapsed(), rows.points()))
    };
    let judged = match held_out {
        0 => Duration::ZERO,
        _ => {
            let ((short, few), (long, more)) = (judge(sample(FEW_ROWS))?, judge(sample(3 * FEW_ROWS))?);
            let row = long.saturating_sub(short).div_f64((more - few).max(1) as f64);
            let block = short.saturating_sub(row.mul_f64(few as f64));
            row.mul_f64(held_out as f64) + block.mul_f64(held_out.div_ceil(JUDGED_ROWS) as f64)
        }
    };
    let card = &fitted.card;
    let to_explain = explain::predictions(card.labels().is_some(), card.targets.count(), card.columns().len());
    Ok(bound.mul_f64(work(train.points(), Fitted::bound_draws(train)))
        + explained.mul_f64(work(to_explain, explain::DRAWS))
        + judged)
}

/// When steps ended.
struct Clock {
    begun: Instant,
    ends: Vec<Duration>,
}

impl Clock {
    fn start() -> Clock {
        Clock { begun: Instant::now(), ends: Vec::new() }
    }

    /// After a step: whether more must be timed.
    fn tick(&mut self) -> bool {
        self.ends.push(self.begun.elapsed());
        self.ends.len() < FEWEST || self.begun.elapsed() < ENOUGH
    }

    /// What so many steps take, with what stands before the first.
    fn total(&self, steps: u64) -> Duration {
        match self.ends[..] {
            [] => self.begun.elapsed(),
            [only] => only,
            [first, .., last] => {
                let each = (last - first) / (self.ends.len() - 1) as u32;
                first.saturating_sub(each) + each.mul_f64(steps as f64)
            }
        }
    }
}
