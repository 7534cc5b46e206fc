//! The bound on the log marginal likelihood, its parts and its gradient.

use super::record::{Recorded, Term};
use super::{Dataset, Error, Model, tile_width};
use crate::likelihoods::Observed;
use dkp_tape::random::Key;
use dkp_tape::{Failure, Jitter, Plan, Totals, Visit, Weights, Workspace};
use std::sync::Mutex;

/// Points that a step sees: all of them, or some.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The data.
    pub data: &'a Dataset,
    /// Points of the batch, or none for all.
    pub rows: Option<&'a [usize]>,
}

impl Batch<'_> {
    fn len(&self) -> usize {
        self.rows.map_or(self.data.points(), <[usize]>::len)
    }

    fn row(&self, i: usize) -> usize {
        self.rows.map_or(i, |rows| rows[i])
    }

    /// Sets a tile's points; the last tile is padded with its first point, whose targets are then missing.
    fn fill(&self, recorded: (dkp_tape::Node, Observed), tile: usize, run: &mut Workspace) -> Result<(), Failure> {
        let (x, targets) = recorded;
        let (width, first) = (x.cols(), tile * x.cols());
        let count = width.min(self.len() - first);
        let rows: Vec<u64> = (0..width).map(|j| self.row(first + if j < count { j } else { 0 }) as u64).collect();
        debug_assert!(self.data.features() == x.rows() && self.data.targets() == targets.values.rows());
        run.set_with(x, |xs| {
            let points = xs.chunks_exact_mut(x.rows()).zip(&rows);
            points.for_each(|(x, &n)| x.copy_from_slice(self.data.x(n as usize)));
        })?;
        // all targets, and whether their points are of the batch
        let data = || (0..width).flat_map(|j| self.data.y(rows[j] as usize).iter().map(move |&y| (y, j < count)));
        run.set_with(targets.values, |ys| {
            ys.iter_mut().zip(data()).for_each(|(own, (y, _))| *own = if y.is_nan() { 0.0 } else { y });
        })?;
        run.set_with(targets.present, |present| {
            present.iter_mut().zip(data()).for_each(|(own, (y, there))| *own = f64::from(there && !y.is_nan()));
        })?;
        run.set_point_ids(&rows);
        Ok(())
    }
}

/// The bound per data point, in the scale of the targets as the model sees them, and what it is made of.
///
/// total = likelihood + input + Σ layers + output.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The bound.
    pub total: f64,
    /// The standard error of the total over draws; NaN where it was not asked for.
    pub standard_error: f64,
    /// Σ_n E log p(y_n|f_n), with the gain.
    pub likelihood: f64,
    /// What a tighter bound gains over the usual one, where the [likelihood](crate::likelihoods::Tightening) has one.
    pub gain: f64,
    /// log P(Ω) − log Q(Ω), or of G₁.
    pub input: f64,
    /// log P(G) − log Q(G) of each hidden layer.
    pub layers: Vec<f64>,
    /// E log P(f) − log Q(f) of the output layer: −KL(Q‖P).
    pub output: f64,
    /// Matrices that needed jitter.
    pub jitter: Jitter,
}

/// What a step does with the [gain](Bound::gain) of a tighter bound.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gain {
    /// It is computed, and its gradient counts this many times.
    Weighted(f64),
    /// It is this number, of an earlier step.
    Carried(f64),
}

/// Weights of the bound's parts in the sum that a step differentiates.
struct BoundWeights {
    draw: Vec<f64>,
    /// Of the likelihood and, where it is computed, the gain.
    tile: Vec<f64>,
}

impl BoundWeights {
    /// Per data point, with the divergences weighted by `kl` and the gain by `gain`.
    fn new(recorded: &Recorded, draws: usize, batch: &Batch<'_>, kl: f64, gain: f64) -> BoundWeights {
        let (s, n) = (draws as f64, batch.data.points() as f64);
        let one = 1.0 / (s * batch.len() as f64);
        let tile = if recorded.points.are_tight() { vec![one, gain * one] } else { vec![one] };
        BoundWeights { draw: vec![kl / (s * n); recorded.terms.len()], tile }
    }
}

impl Model {
    /// The bound from `draws` draws, or one if every draw is the same.
    pub fn bound(&self, data: &Dataset, draws: usize, key: Key) -> Result<Bound, Error> {
        self.check(data)?;
        let draws = self.draws(draws);
        let batch = Batch { data, rows: None };
        let layers = self.architecture.layers.len();
        let mut lent = self.prepared(tile_width(data.points()), true)?;
        let recorded = &mut *lent;
        let plan = plan(recorded, &batch, draws);
        let weights = BoundWeights::new(recorded, draws, &batch, 1.0, 1.0);
        let inputs = (recorded.x, recorded.targets.expect("points one by one"));
        // terms of each draw: from the draw itself, and from its tiles
        let terms = Mutex::new(vec![0.0; draws * (1 + plan.tiles)]);
        let visitor = |visit: Visit<'_>| {
            let (slot, value) = match visit {
                Visit::Draw { draw, run } => (draw * (1 + plan.tiles), dot(&weights.draw, run)),
                Visit::Tile { draw, tile, run } => (draw * (1 + plan.tiles) + 1 + tile, dot(&weights.tile, run)),
            };
            terms.lock().unwrap_or_else(|e| e.into_inner())[slot] = value;
        };
        let totals = recorded.scopes.visit(plan, key, &|t, run| batch.fill(inputs, t, run), &visitor)?;
        let terms = terms.lock().unwrap_or_else(|e| e.into_inner());
        let of_draws: Vec<f64> = terms.chunks(1 + plan.tiles).map(|c| c.iter().sum::<f64>() * draws as f64).collect();
        let mut bound = assemble(totals, &recorded.terms, &weights, layers, 1.0, Gain::Weighted(1.0));
        let mean = of_draws.iter().sum::<f64>() / draws as f64;
        let variance = of_draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (draws as f64 - 1.0).max(1.0);
        // one draw of a random model says nothing of the others
        let known = draws > 1 || self.bound_is_exact();
        bound.standard_error = if known { (variance / draws as f64).sqrt() } else { f64::NAN };
        Ok(bound)
    }

    /// The bound of a batch of data that the model fits, and its gradient in the free parameters, in their order; divergences are
    /// weighted by `kl` in the gradient (but for the one in the gain), and `gain` says what becomes of the gain of a tighter bound.
    pub(crate) fn gradient(
        &self,
        batch: Batch<'_>,
        draws: usize,
        key: Key,
        kl: f64,
        gain: Gain,
        gradient: &mut [Vec<f64>],
    ) -> Result<Bound, Failure> {
        let draws = self.draws(draws);
        let layers = self.architecture.layers.len();
        let free: Vec<bool> = {
            let names: Vec<&str> = self.parameters.free().map(|p| p.name.as_str()).collect();
            self.parameters.iter().map(|p| names.contains(&p.name.as_str())).collect()
        };
        let (tight, weight) = match gain {
            Gain::Weighted(weight) => (true, weight),
            Gain::Carried(_) => (false, 0.0),
        };
        let mut lent = self.prepared(tile_width(batch.len()), tight)?;
        let recorded = &mut *lent;
        let plan = plan(recorded, &batch, draws);
        let weights = BoundWeights::new(recorded, draws, &batch, kl, weight);
        let inputs = (recorded.x, recorded.targets.expect("points one by one"));
        let scope_weights = Weights { step: &[], draw: &weights.draw, tile: &weights.tile };
        let totals = recorded.scopes.gradient(plan, key, scope_weights, &|t, run| batch.fill(inputs, t, run))?;
        let bound = assemble(totals, &recorded.terms, &weights, layers, kl, gain);
        let mut slots = gradient.iter_mut();
        for &(i, leaf) in recorded.leaves.iter().filter(|(i, _)| free[*i]) {
            let slot = slots.next().unwrap_or_else(|| panic!("no slot for the gradient of parameter {i}"));
            let values = recorded.scopes.step().gradient(leaf);
            slot.clear();
            for column in values.col_iter() {
                slot.extend_from_slice(column.try_as_col_major().expect("columns are contiguous").as_slice());
            }
        }
        Ok(bound)
    }

    /// One draw is enough where all are the same.
    fn draws(&self, draws: usize) -> usize {
        if self.bound_is_exact() { 1 } else { draws.max(1) }
    }

    /// Whether nothing in the bound is random.
    pub(crate) fn bound_is_exact(&self) -> bool {
        self.architecture.is_deterministic() && !self.architecture.likelihood.draws_latents()
    }
}

fn plan(recorded: &Recorded, batch: &Batch<'_>, draws: usize) -> Plan {
    Plan { draws, tiles: batch.len().div_ceil(recorded.x.cols()) }
}

/// Σ weight·output of a run.
fn dot(weights: &[f64], run: &Workspace) -> f64 {
    weights.iter().zip(run.outputs()).map(|(w, v)| w * v).sum()
}

fn assemble(totals: &Totals, terms: &[Term], weights: &BoundWeights, layers: usize, kl: f64, gain: Gain) -> Bound {
    let gain = match gain {
        Gain::Weighted(_) => totals.tile.get(1).map_or(0.0, |gain| weights.tile[0] * gain),
        Gain::Carried(gain) => gain,
    };
    let mut bound = Bound {
        total: 0.0,
        standard_error: f64::NAN,
        likelihood: weights.tile[0] * totals.tile[0] + gain,
        gain,
        input: 0.0,
        layers: vec![0.0; layers],
        output: 0.0,
        jitter: totals.jitter,
    };
    for ((term, weight), total) in terms.iter().zip(&weights.draw).zip(&totals.draw) {
        let value = weight / kl * total;
        match term {
            Term::Input => bound.input = value,
            Term::Layer(i) => bound.layers[*i] = value,
            Term::Output => bound.output = value,
        }
    }
    bound.total = bound.likelihood + bound.input + bound.layers.iter().sum::<f64>() + bound.output;
    bound
}
