//! The training loop, as a state that takes steps.

use super::inducing::shuffled;
use super::{Adam, Schedule};
use crate::data::Dataset;
use crate::model::{Batch, Bound, Model};
use crate::params::Parameters;
use dkp_tape::Failure;
use dkp_tape::random::Key;

/// Failures in a row after which the run goes back.
const PATIENCE: u32 = 3;
/// Times that a run goes back before it gives up.
const ROLLBACKS: u32 = 3;
/// Steps between good states that are kept.
const KEEP_EVERY: u64 = 100;
/// A bound this many nats a point below the best mean means divergence.
const FALL: f64 = 10.0;
/// Decay of the running mean of the bound.
const MEMORY: f64 = 0.9;

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Steps in all.
    pub steps: u64,
    /// Posterior draws a step.
    pub draws: usize,
    /// Points a step, or all.
    pub batch: Option<usize>,
    /// Learning rates.
    pub schedule: Schedule,
    /// Steps over which the divergences' weight rises from 0 to 1.
    pub kl_warm_up: u64,
    /// The seed of everything random.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        let schedule = Schedule::default();
        Options { steps: 8000, draws: 10, batch: None, schedule, kl_warm_up: 0, seed: 0 }
    }
}

/// What a step was like.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number, from 0.
    pub step: u64,
    /// The bound of its batch, with its parts; none if the step failed and was skipped.
    pub bound: Option<Bound>,
    /// The learning rate.
    pub rate: f64,
    /// The norm of the gradient.
    pub gradient_norm: f64,
    /// δ of the input layer and of each hidden layer, where there is one.
    pub deltas: Vec<f64>,
    /// Why the step was skipped.
    pub failure: Option<Failure>,
    /// Whether the run went back to an earlier state after it.
    pub rolled_back: bool,
}

/// Why training stopped before its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// Steps kept failing.
    #[error(
        "training stopped at step {step} after going back {ROLLBACKS} times: {failure}; a lower learning rate, fewer layers or cleaner data would help"
    )]
    Failing {
        /// The step.
        step: u64,
        /// The last failure.
        failure: Failure,
    },
    /// The bound kept falling.
    #[error(
        "training stopped at step {step} after going back {ROLLBACKS} times: the bound fell from {best:.2} to {bound:.2} nats a point; a lower learning rate would help"
    )]
    Diverging {
        /// The step.
        step: u64,
        /// The bound's best running mean.
        best: f64,
        /// The bound.
        bound: f64,
    },
}

/// A training run: what it takes to go on from here.
#[derive(Clone, Debug, PartialEq)]
struct State {
    parameters: Parameters,
    adam: Adam,
    mean_bound: Option<f64>,
    best: f64,
}

/// Trains a model on data in unit scales, step by step.
pub struct Trainer<'a> {
    model: &'a mut Model,
    data: &'a Dataset,
    options: Options,
    step: u64,
    adam: Adam,
    gradient: Vec<Vec<f64>>,
    /// The factor that rollbacks have left of the rate.
    caution: f64,
    rollbacks: u32,
    failures: u32,
    mean_bound: Option<f64>,
    best: f64,
    good: State,
    /// The order of points in an epoch.
    epoch: Option<(u64, Vec<usize>)>,
}

impl<'a> Trainer<'a> {
    /// A run that begins.
    pub fn new(model: &'a mut Model, data: &'a Dataset, options: Options) -> Trainer<'a> {
        let sizes: Vec<usize> = model.parameters().free().map(|p| p.kept.len()).collect();
        let adam = Adam::new(&sizes);
        let good = State {
            parameters: model.parameters().clone(),
            adam: adam.clone(),
            mean_bound: None,
            best: f64::NEG_INFINITY,
        };
        Trainer {
            gradient: vec![Vec::new(); sizes.len()],
            model,
            data,
            options,
            step: 0,
            adam,
            caution: 1.0,
            rollbacks: 0,
            failures: 0,
            mean_bound: None,
            best: f64::NEG_INFINITY,
            good,
            epoch: None,
        }
    }

    /// Takes all steps; `watch` sees each and returns whether to go on.
    pub fn run(&mut self, mut watch: impl FnMut(&Record) -> bool) -> Result<(), TrainingError> {
        while self.step < self.options.steps {
            let record = self.step()?;
            if !watch(&record) {
                break;
            }
        }
        Ok(())
    }

    /// Takes one step.
    pub fn step(&mut self) -> Result<Record, TrainingError> {
        let step = self.step;
        let rate = self.caution * self.options.schedule.at(step, self.options.steps);
        let kl = ((step + 1) as f64 / (self.options.kl_warm_up as f64 + 1.0)).min(1.0);
        let rows = self.batch_rows(step);
        let batch = Batch { data: self.data, rows: rows.as_deref() };
        let key = Key::new(self.options.seed).step(step);
        let outcome = self.model.gradient(batch, self.options.draws, key, kl, &mut self.gradient);
        self.step += 1;
        let gradient_norm = self.gradient.iter().flatten().map(|g| g * g).sum::<f64>().sqrt();
        let mut record =
            Record { step, bound: None, rate, gradient_norm, deltas: Vec::new(), failure: None, rolled_back: false };
        match outcome {
            Ok(bound) => {
                let fell = self.mean_bound.is_some() && kl == 1.0 && bound.total < self.best - FALL;
                if fell {
                    let error = TrainingError::Diverging { step, best: self.best, bound: bound.total };
                    self.roll_back(error)?;
                    record.rolled_back = true;
                } else {
                    self.accept(rate, &bound, kl);
                }
                record.bound = Some(bound);
            }
            Err(failure) => {
                self.failures += 1;
                if self.failures >= PATIENCE {
                    self.roll_back(TrainingError::Failing { step, failure: failure.clone() })?;
                    record.rolled_back = true;
                }
                record.failure = Some(failure);
            }
        }
        record.deltas = self.deltas();
        Ok(record)
    }

    fn accept(&mut self, rate: f64, bound: &Bound, kl: f64) {
        self.failures = 0;
        let mean = self.mean_bound.map_or(bound.total, |m| MEMORY * m + (1.0 - MEMORY) * bound.total);
        self.mean_bound = Some(mean);
        if kl == 1.0 {
            self.best = self.best.max(mean);
        }
        // this gradient was taken here: the state is good
        if self.step % KEEP_EVERY == 1 {
            self.good = State {
                parameters: self.model.parameters().clone(),
                adam: self.adam.clone(),
                mean_bound: self.mean_bound,
                best: self.best,
            };
        }
        let (adam, gradient) = (&mut self.adam, &self.gradient);
        self.model.update(|p| adam.ascend(rate, p.free_mut().map(|p| &mut p.kept), gradient));
    }

    fn roll_back(&mut self, error: TrainingError) -> Result<(), TrainingError> {
        if self.rollbacks == ROLLBACKS {
            return Err(error);
        }
        self.rollbacks += 1;
        self.failures = 0;
        self.caution *= 0.5;
        let good = self.good.clone();
        self.model.update(|p| *p = good.parameters);
        (self.adam, self.mean_bound, self.best) = (good.adam, good.mean_bound, good.best);
        Ok(())
    }

    /// Points of a step: consecutive ones of an endless sequence of shuffled epochs.
    fn batch_rows(&mut self, step: u64) -> Option<Vec<usize>> {
        let points = self.data.points() as u64;
        let size = self.options.batch? as u64;
        if size >= points {
            return None;
        }
        let rows = (step * size..(step + 1) * size).map(|at| {
            let epoch = at / points;
            if self.epoch.as_ref().is_none_or(|e| e.0 != epoch) {
                let key = Key::new(self.options.seed).step(epoch);
                self.epoch = Some((epoch, shuffled(points as usize, key, 100)));
            }
            self.epoch.as_ref().map_or(0, |e| e.1[(at % points) as usize])
        });
        Some(rows.collect())
    }

    fn deltas(&self) -> Vec<f64> {
        let names = self.model.parameters().iter().filter(|p| p.name.ends_with(".delta"));
        names.map(|p| p.constraint.value(p.kept[0])).collect()
    }
}
