//! The training loop, as a state that takes steps.

use super::{Adam, Schedule};
use crate::data::{Dataset, shuffled};
use crate::model::{Batch, Bound, Gain, Mismatch, Model, explain};
use crate::params::Parameters;
use dkp_tape::Failure;
use dkp_tape::random::Key;
use faer::ColRef;

/// Failures, or steps with a fallen bound, in a row after which the run goes back.
const PATIENCE: u32 = 3;
/// Times that a run goes back before it gives up.
const ROLLBACKS: u32 = 3;
/// Steps between good states that are kept.
const KEEP_EVERY: u64 = 100;
/// A bound this many nats a point below the best mean means divergence, or half of the best mean's size where that is more.
const FALL: f64 = 10.0;
/// Decay of the running mean of the bound.
const MEMORY: f64 = 0.9;
/// A gradient this many times as long as is typical is cut to that: a draw whose kernel is nearly singular where the posterior's is
/// not has a divergence, and a gradient, hundreds of times as large as others.
const LONGEST: f64 = 5.0;
/// Decay of the typical length of a gradient.
const NORM_MEMORY: f64 = 0.98;

/// Where the bound is random, the gain of a tighter one is computed every so many steps, and its gradient there counts as often.
pub const TIGHTEN_EVERY: u64 = 8;

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainOptions {
    /// Steps in all.
    pub steps: u64,
    /// Posterior draws a step.
    pub draws: usize,
    /// Points a step, or all.
    pub batch: Option<usize>,
    /// Learning rates.
    pub schedule: Schedule,
    /// Steps over which the divergences' weight rises from 0 to the temperature.
    pub kl_warm_up: u64,
    /// The weight of divergences: 1 is the bound; with less the posterior is colder, as if every target had been observed 1/temperature times.
    pub temperature: f64,
    /// The seed of everything random.
    pub seed: u64,
}

impl TrainOptions {
    /// For a model in which nothing is drawn: gradients are exact, or random by the choice of points alone, and steps may be longer.
    pub fn of_limit() -> TrainOptions {
        let schedule = Schedule { rate: 3e-2, ..Schedule::default() };
        TrainOptions { schedule, batch: Some(2000), ..TrainOptions::default() }
    }
}

impl Default for TrainOptions {
    fn default() -> TrainOptions {
        let schedule = Schedule::default();
        TrainOptions { steps: 8000, draws: 10, batch: None, schedule, kl_warm_up: 0, temperature: 1.0, seed: 0 }
    }
}

/// What a step was like.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its number, from 0.
    pub step: u64,
    /// The bound of its batch, with its parts; none if the step failed and was skipped. The gain may be that of an earlier step.
    pub bound: Option<Bound>,
    /// The learning rate.
    pub rate: f64,
    /// The norm of the gradient; NaN if the step failed.
    pub gradient_norm: f64,
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
    #[error("training stopped at step {step} after going back {ROLLBACKS} times. {}", explain(failure))]
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

/// What it takes to go on from a point of a run, to the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The next step's number.
    pub step: u64,
    /// The optimiser's moments.
    pub adam: Adam,
    /// What rollbacks have left of the learning rate.
    pub caution: f64,
    /// How often the run went back.
    pub rollbacks: u32,
    /// Steps that failed since the last one that did not.
    pub failures: u32,
    /// Steps in a row whose bound had fallen: one may be a rare draw.
    pub falls: u32,
    /// The bound's running mean, over the steps that compute its gain.
    pub mean_bound: Option<f64>,
    /// The best of it.
    pub best: f64,
    /// The typical length of a gradient in steps that carry a gain, and in those that compute it.
    pub typical_norms: [Option<f64>; 2],
    /// What a tighter bound gained when that was last computed.
    pub gain: f64,
    /// The parameters, the optimiser and the bound's mean to go back to.
    pub good: (Parameters, Adam, Option<f64>),
}

/// Trains a model on data in unit scales, step by step.
pub struct Trainer<'a> {
    model: &'a mut Model,
    data: &'a Dataset,
    options: TrainOptions,
    state: State,
    gradient: Vec<Vec<f64>>,
    /// The order of points in an epoch.
    epoch: Option<(u64, Vec<usize>)>,
}

impl<'a> Trainer<'a> {
    /// A run that begins.
    pub fn new(model: &'a mut Model, data: &'a Dataset, options: TrainOptions) -> Result<Trainer<'a>, Mismatch> {
        let sizes: Vec<usize> = model.parameters().free().map(|p| p.kept.len()).collect();
        let adam = Adam::new(&sizes);
        let state = State {
            step: 0,
            adam: adam.clone(),
            caution: 1.0,
            rollbacks: 0,
            failures: 0,
            falls: 0,
            mean_bound: None,
            best: f64::NEG_INFINITY,
            typical_norms: [None; 2],
            gain: 0.0,
            good: (model.parameters().clone(), adam, None),
        };
        Trainer::resume(model, data, options, state)
    }

    /// A run that goes on: with the model's parameters as they were when the state was taken.
    pub fn resume(
        model: &'a mut Model,
        data: &'a Dataset,
        options: TrainOptions,
        state: State,
    ) -> Result<Trainer<'a>, Mismatch> {
        model.check(data)?;
        let sizes = |moments: &[Vec<f64>]| moments.iter().map(Vec::len).collect::<Vec<_>>();
        let own: Vec<usize> = model.parameters().free().map(|p| p.kept.len()).collect();
        let fits = |adam: &Adam| own == sizes(&adam.first) && own == sizes(&adam.second);
        let shape = |p: &Parameters| p.iter().map(|p| (p.name.clone(), p.rows, p.cols)).collect::<Vec<_>>();
        let (parameters, adam, _) = &state.good;
        if !fits(&state.adam) || !fits(adam) || shape(parameters) != shape(model.parameters()) {
            return Err(Mismatch::State);
        }
        let gradient = own.iter().map(|&n| vec![0.0; n]).collect();
        Ok(Trainer { model, data, options, state, gradient, epoch: None })
    }

    /// Where the run is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The model as it is now.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// Takes all steps; `watch` sees each and returns whether to go on.
    pub fn run(&mut self, mut watch: impl FnMut(&Step) -> bool) -> Result<(), TrainingError> {
        while self.state.step < self.options.steps {
            let record = self.step()?;
            if !watch(&record) {
                break;
            }
        }
        Ok(())
    }

    /// Takes one step.
    pub fn step(&mut self) -> Result<Step, TrainingError> {
        let step = self.state.step;
        let rate = self.state.caution * self.options.schedule.at(step, self.options.steps);
        let warm = ((step + 1) as f64 / (self.options.kl_warm_up as f64 + 1.0)).min(1.0);
        let kl = warm * self.options.temperature;
        let rows = self.batch_rows(step);
        let batch = Batch { data: self.data, rows: rows.as_deref() };
        let key = Key::new(self.options.seed).step(step);
        let every = self.tighten_every();
        let fresh = step.is_multiple_of(every);
        let gain = if fresh { Gain::Weighted(every as f64) } else { Gain::Carried(self.state.gain) };
        let outcome = self.model.gradient(batch, self.options.draws, key, kl, gain, &mut self.gradient);
        self.state.step += 1;
        let mut record = Step { step, bound: None, rate, gradient_norm: f64::NAN, failure: None, rolled_back: false };
        match outcome {
            Ok(bound) => {
                let norm = self.gradient.iter().map(|g| ColRef::from_slice(g).squared_norm_l2()).sum::<f64>().sqrt();
                record.gradient_norm = norm;
                let low = self.state.best - FALL.max(0.5 * self.state.best.abs());
                let fell = self.state.mean_bound.is_some() && warm == 1.0 && bound.total < low;
                self.state.falls = if fell { self.state.falls + 1 } else { 0 };
                if self.state.falls >= PATIENCE {
                    let error = TrainingError::Diverging { step, best: self.state.best, bound: bound.total };
                    self.roll_back(error)?;
                    record.rolled_back = true;
                } else {
                    self.cut_gradient(norm, fresh);
                    self.accept(rate, &bound, fresh, warm);
                }
                record.bound = Some(bound);
            }
            Err(failure) => {
                self.state.failures += 1;
                if self.state.failures >= PATIENCE {
                    self.roll_back(TrainingError::Failing { step, failure: failure.clone() })?;
                    record.rolled_back = true;
                }
                record.failure = Some(failure);
            }
        }
        Ok(record)
    }

    /// Steps from one that computes the gain of a tighter bound to the next.
    fn tighten_every(&self) -> u64 {
        let thinned = !self.model.bound_is_exact() && self.model.architecture().likelihood.tightening().is_some();
        if thinned { TIGHTEN_EVERY } else { 1 }
    }

    /// Cuts a gradient that is much longer than is typical, of steps whose bound is `fresh` or of the others.
    fn cut_gradient(&mut self, norm: f64, fresh: bool) {
        let known = &mut self.state.typical_norms[usize::from(fresh)];
        let typical = known.filter(|t| *t > 0.0 && t.is_finite()).unwrap_or(norm);
        let allowed = norm.min(LONGEST * typical);
        *known = Some(NORM_MEMORY * typical + (1.0 - NORM_MEMORY) * allowed);
        if allowed < norm {
            let factor = allowed / norm;
            self.gradient.iter_mut().flatten().for_each(|g| *g *= factor);
        }
    }

    /// Moves along the gradient; the bound is `fresh` if its gain is this step's.
    fn accept(&mut self, rate: f64, bound: &Bound, fresh: bool, warm: f64) {
        let state = &mut self.state;
        state.failures = 0;
        if state.falls == 0 {
            state.gain = bound.gain;
        }
        let mean = match state.mean_bound {
            // a fallen bound says nothing of the others
            Some(m) if state.falls > 0 => m,
            // nor does one with an earlier step's gain
            Some(m) if !fresh => m,
            Some(m) => MEMORY * m + (1.0 - MEMORY) * bound.total,
            None => bound.total,
        };
        state.mean_bound = Some(mean);
        if warm == 1.0 {
            state.best = state.best.max(mean);
        }
        // this gradient was taken here: the state is good
        if state.step % KEEP_EVERY == 1 && state.falls == 0 {
            state.good = (self.model.parameters().clone(), state.adam.clone(), state.mean_bound);
        }
        let gradient = &self.gradient;
        self.model.update(|p| state.adam.ascend(rate, p.free_mut().map(|p| &mut p.kept), gradient));
    }

    fn roll_back(&mut self, error: TrainingError) -> Result<(), TrainingError> {
        let state = &mut self.state;
        let last = state.rollbacks == ROLLBACKS;
        state.rollbacks += 1;
        (state.failures, state.falls) = (0, 0);
        state.caution *= 0.5;
        let (parameters, adam, mean_bound) = state.good.clone();
        self.model.update(|p| *p = parameters);
        (state.adam, state.mean_bound) = (adam, mean_bound);
        state.best = mean_bound.unwrap_or(f64::NEG_INFINITY);
        if last { Err(error) } else { Ok(()) }
    }

    /// Points of a step: consecutive ones of an endless sequence of shuffled epochs.
    fn batch_rows(&mut self, step: u64) -> Option<Vec<usize>> {
        let points = self.data.points() as u64;
        let size = self.options.batch?.max(1) as u64;
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
}
