//! How long a fit will take: a few steps of each of its parts are timed before it begins.

use crate::choice::AUTO;
use crate::{Error, Fit, Fitted, Prepared, Settings, explain, on_threads};
use dkp::data::Dataset;
use dkp::model::Model;
use dkp::train::{Start, TIGHTEN_EVERY, TrainOptions, Trainer, initialise_with};
use dkp_tape::random::Key;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Steps that are timed: a first one, which also makes room in memory, and at least a round of those after it, one of which computes a tighter bound.
const FEWEST: usize = 1 + TIGHTEN_EVERY as usize;
/// More of them where they are quick, for about so long.
const ENOUGH: Duration = Duration::from_millis(200);
/// Rows by which bounds and predictions are timed, at most, and posterior draws.
const ROWS: usize = 1_024;
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
    /// How long [`train`](Fit::train) will take with this data. That takes about a hundredth of the time itself, and a second or less with small tables.
    pub fn estimate(&self, prepared: &Prepared) -> Result<Estimate, Error> {
        on_threads(self.threads, || self.measure(prepared))
    }

    fn measure(&self, prepared: &Prepared) -> Result<Estimate, Error> {
        let Prepared { train, held_out, card, folds, .. } = prepared;
        let mut card = card.clone();
        let mut parts = Vec::new();
        if let Some(fold) = folds.first() {
            parts.push(("to cross-validate", self.measure(&fold.prepared)?.total() * folds.len() as u32));
        }
        let decided = self.measure_choice(&mut card.settings, train)?;
        parts.extend(Some(("to choose the noise", decided)).filter(|d| !d.1.is_zero()));
        let confidence = self.measure_confidence(&card.settings, train)?;
        parts.extend(Some(("to find how sure to be", confidence)).filter(|c| !c.1.is_zero()));
        let (start, mut model) = self.measure_start(&card.settings, train)?;
        parts.push(("to start", start));
        let options = card.settings.train_options();
        parts.push(("to train", measure_steps(&mut model, train, options)?));
        let begun = Instant::now();
        let sample = train.of(&train.sample(ROWS, Key::new(card.settings.seed)));
        model.bound(&sample, DRAWS, Key::new(card.settings.seed))?;
        let bound = begun
            .elapsed()
            .mul_f64((Fitted::bound_draws(train) * train.points()) as f64 / (DRAWS * sample.points()) as f64);
        let draws = card.settings.evaluation_draws;
        card.settings.evaluation_draws = draws.min(DRAWS as u64);
        let fitted = Fitted { model, card, tensors: BTreeMap::new(), registry: self.registry.clone() };
        let begun = Instant::now();
        fitted.judge(&sample, &mut |_| Ok(()))?;
        let each = begun.elapsed().div_f64((sample.points() * draws.min(DRAWS as u64) as usize) as f64);
        let held_out = held_out.as_ref().map_or(0, Dataset::points) * draws as usize;
        let explained = explain::work(fitted.card.labels().is_some(), fitted.card.columns().len());
        parts.push(("to judge and explain", bound + each.mul_f64((held_out + explained) as f64)));
        Ok(Estimate { parts })
    }

    /// The choice of a likelihood; in the settings the last that is compared takes its place.
    fn measure_choice(&self, settings: &mut Settings, train: &Dataset) -> Result<Duration, Error> {
        let mut all = Duration::ZERO;
        if settings.likelihood == AUTO {
            for likelihood in settings.candidates(self) {
                settings.likelihood = likelihood.to_string();
                let (small, options) = settings.small();
                all += self.measure_network(&small, options, train)?;
            }
        }
        Ok(all)
    }

    fn measure_confidence(&self, settings: &Settings, train: &Dataset) -> Result<Duration, Error> {
        let Some((networks, left_out)) = self.trials(settings, train) else { return Ok(Duration::ZERO) };
        let (network, options) = settings.trial();
        Ok(self.measure_network(&network, options, &train.without(&left_out).0)? * networks as u32)
    }

    fn measure_network(&self, settings: &Settings, options: TrainOptions, train: &Dataset) -> Result<Duration, Error> {
        let mut clock = Clock::start();
        match self.network(settings, options, train, |_| clock.tick()) {
            Ok(_) | Err(Error::Stopped { .. }) => Ok(clock.total(options.steps)),
            Err(error) => Err(error),
        }
    }

    fn measure_start(&self, settings: &Settings, train: &Dataset) -> Result<(Duration, Model), Error> {
        let mut clock = Clock::start();
        let architecture = settings.architecture(&self.registry)?;
        let start: Start = settings.start();
        let started = initialise_with(architecture, train, start, |p| settings.adjust(p), |_| clock.tick())?;
        Ok((clock.total(settings.start_steps), started.model))
    }
}

fn measure_steps(model: &mut Model, train: &Dataset, options: TrainOptions) -> Result<Duration, Error> {
    let mut clock = Clock::start();
    Trainer::new(model, train, options)?.run(|_| clock.tick())?;
    Ok(clock.total(options.steps))
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
