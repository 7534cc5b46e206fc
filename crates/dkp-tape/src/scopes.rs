//! Three nested programs on all cores: a step, its draws, their tiles.
//!
//! The step runs once. Every draw then runs on its own: forward, its tiles forward and backward, backward. Tiles form
//! contiguous chunks, whose number does not depend on the threads: within a chunk gradients add up in
//! place, and chunks, then draws, are added in order. So memory does not grow with the number of tiles, and the result is the
//! same to the bit on any number of threads.

mod plan;
mod pool;
mod sum;

pub use plan::{Fill, Plan, Totals, Visit, Visitor, Weights};

use crate::failure::Failure;
use crate::operation::Jitter;
use crate::program::{Gradient, Kind, Program};
use crate::random::Key;
use crate::workspace::{Buffer, Pass, Workspace, buffer};
use pool::Pool;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use sum::GradientSum;

/// A step program, a draw program nested in it, and a tile program nested in both, with the memory to run them.
///
/// ```
/// use dkp_tape::{Plan, Scopes, Tape, Weights, random::Key};
///
/// // f = mean over draws of Σ_n (a·x_n + z)², z ~ N(0, 1) for each draw
/// let mut step = Tape::new("step");
/// let a = step.leaf("a", 1, 1);
/// let mut draw = step.nested("draw");
/// let z = draw.normals(1, 1);
/// let mut tile = draw.nested("tile");
/// let x = tile.input("x", 1, 2);
/// let ax = tile.scale(a, x);
/// let ones = tile.constant(1, 2, &[1.0, 1.0]);
/// let zs = tile.scale(z, ones);
/// let sum = tile.add(ax, zs);
/// let f = tile.squared_norm(sum);
/// tile.output("f", f);
///
/// let mut scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
/// scopes.step().set_slice(a, &[2.0])?;
/// let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let weights = Weights { step: &[], draw: &[], tile: &[1.0 / 10.0] };
/// let totals = scopes.gradient(Plan { draws: 10, tiles: 3 }, Key::new(1), weights, &|t, run| {
///     run.set_slice(x, &data[2 * t..2 * t + 2])
/// })?;
/// assert!(totals.tile[0] > 0.0);
/// assert!(scopes.step().gradient(a)[(0, 0)].is_finite());
/// # Ok::<(), dkp_tape::Failure>(())
/// ```
pub struct Scopes {
    step: Workspace,
    draw_program: Arc<Program>,
    tile_program: Arc<Program>,
    draw_returns: Vec<Return>,
    tile_returns: Vec<Return>,
    /// Benches that are not in use.
    draw_benches: Pool<DrawBench>,
    tile_benches: Pool<Workspace>,
    results: Vec<Mutex<DrawResult>>,
    /// What all draws together have for the step's nodes that the draw program reads.
    draw_gradients: Mutex<GradientSum>,
    totals: Totals,
}

/// Where the gradient of a node read from an enclosing program goes.
struct Return {
    depth: usize,
    index: usize,
    /// In the gradients of the program that reads it.
    range: Range<usize>,
}

/// Memory for one draw in execution.
struct DrawBench {
    run: Workspace,
    chunks: Vec<Chunk>,
}

/// What a chunk of tiles adds up.
struct Chunk {
    gradients: Buffer,
    outputs: Vec<f64>,
    jitter: Jitter,
    failure: Option<Failure>,
}

/// What a draw leaves behind.
struct DrawResult {
    /// Gradients for the step's nodes that the draw program reads: this draw's, until they are added to the others'.
    draw_gradients: Buffer,
    /// Gradients for the step's nodes that tiles read directly.
    tile_gradients: Buffer,
    draw_outputs: Vec<f64>,
    tile_outputs: Vec<f64>,
    jitter: Jitter,
    failure: Option<Failure>,
}

/// What is to be computed, the same for all draws.
#[derive(Clone, Copy)]
struct Job<'a> {
    plan: Plan,
    key: Key,
    weights: Option<Weights<'a>>,
    fill: Fill<'a>,
    visitor: Visitor<'a>,
    /// Whether a draw's chunks run side by side.
    split_draws: bool,
}

impl Job<'_> {
    fn pass(&self) -> Pass {
        if self.weights.is_some() { Pass::Gradient } else { Pass::Value }
    }
}

impl Scopes {
    /// Puts the three together.
    ///
    /// # Panics
    ///
    /// If they are not nested in this order, or a draw or a tile has a leaf that wants a gradient (leaves belong to the step; data
    /// are inputs).
    #[track_caller]
    pub fn new(step: Arc<Program>, draw: Arc<Program>, tile: Arc<Program>) -> Scopes {
        assert!(step.ancestors.is_empty(), "Scopes: \"{}\" is nested, it cannot be the step", step.name);
        assert!(draw.ancestors == [step.id], "Scopes: \"{}\" is not nested in \"{}\" alone", draw.name, step.name);
        let nested = tile.ancestors == [step.id, draw.id];
        assert!(nested, "Scopes: \"{}\" is not nested in \"{}\" and \"{}\"", tile.name, step.name, draw.name);
        Scopes {
            step: step.workspace(),
            draw_returns: returns(&draw),
            tile_returns: returns(&tile),
            draw_program: draw,
            tile_program: tile,
            draw_benches: Pool::default(),
            tile_benches: Pool::default(),
            results: Vec::new(),
            draw_gradients: Mutex::default(),
            totals: Totals::default(),
        }
    }

    /// The step's workspace: set its leaves before a run, read its values and gradients after.
    pub fn step(&mut self) -> &mut Workspace {
        &mut self.step
    }

    /// The outputs' totals.
    pub fn evaluate(&mut self, plan: Plan, key: Key, fill: Fill<'_>) -> Result<&Totals, Failure> {
        self.run(plan, key, None, fill, &|_| ())
    }

    /// The outputs' totals; `visitor` sees every draw and every tile on the way.
    pub fn visit(&mut self, plan: Plan, key: Key, fill: Fill<'_>, visitor: Visitor<'_>) -> Result<&Totals, Failure> {
        self.run(plan, key, None, fill, visitor)
    }

    /// The outputs' totals, and the gradient of their weighted sum in the step's leaves.
    pub fn gradient(&mut self, plan: Plan, key: Key, weights: Weights<'_>, fill: Fill<'_>) -> Result<&Totals, Failure> {
        self.run(plan, key, Some(weights), fill, &|_| ())
    }

    fn run(
        &mut self,
        plan: Plan,
        key: Key,
        weights: Option<Weights<'_>>,
        fill: Fill<'_>,
        visitor: Visitor<'_>,
    ) -> Result<&Totals, Failure> {
        // With many draws a thread keeps to one; with few, threads share a draw's chunks.
        let split_draws = plan.chunks() > 1 && plan.draws < 2 * rayon::current_num_threads();
        let job = Job { plan, key, weights, fill, visitor, split_draws };
        self.prepare(&job);
        if weights.is_some() {
            self.step.renew_gradients();
        }
        self.step.forward(key, job.pass())?;

        // threads take draws in their order, so that gradients can be added in it while others still run
        let claimed = AtomicUsize::new(0);
        (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).for_each(|_| {
            loop {
                let d = claimed.fetch_add(1, Ordering::Relaxed);
                if d >= plan.draws {
                    break;
                }
                self.run_draw(&job, d);
            }
        });
        if let Some(failure) = self.results[..plan.draws].iter().find_map(|r| lock(r).failure.take()) {
            return Err(failure);
        }
        self.sum_outputs(plan);
        if let Some(weights) = weights {
            self.return_gradients(plan);
            self.step.backward(weights.step)?;
        }
        Ok(&self.totals)
    }

    /// Carries what draws and their tiles have for the step's nodes over to the step.
    fn return_gradients(&mut self, plan: Plan) {
        if let Some(sum) = lock(&self.draw_gradients).get() {
            for r in &self.draw_returns {
                self.step.add_adjoint(r.index, &sum[r.range.clone()]);
            }
        }
        for result in &self.results[..plan.draws] {
            let result = lock(result);
            for r in self.tile_returns.iter().filter(|r| r.depth == 0) {
                self.step.add_adjoint(r.index, &result.tile_gradients[r.range.clone()]);
            }
        }
    }

    /// Allocates what this job needs beyond what is there.
    fn prepare(&mut self, job: &Job<'_>) {
        let (draws, chunks) = (job.plan.draws, job.plan.chunks());
        let threads = rayon::current_num_threads();
        let (draw, tile) = (&self.draw_program, &self.tile_program);
        self.results.resize_with(self.results.len().max(draws), || {
            Mutex::new(DrawResult {
                draw_gradients: buffer(0),
                tile_gradients: buffer(0),
                draw_outputs: vec![0.0; draw.outputs.len()],
                tile_outputs: vec![0.0; tile.outputs.len()],
                jitter: Jitter::default(),
                failure: None,
            })
        });
        // an evaluation may have a thousand draws: gradients are not kept for those
        if job.weights.is_some() {
            lock(&self.draw_gradients).begin(draws, draw.gradients);
            for result in &self.results[..draws] {
                let result = &mut *lock(result);
                let grow = |b: &mut Buffer, len: usize| b.resize(b.len().max(len), 0.0);
                grow(&mut result.draw_gradients, draw.gradients);
                grow(&mut result.tile_gradients, tile.gradients);
            }
        }
        let buffers = if job.split_draws { chunks } else { 1 };
        let mut benches = std::mem::take(&mut self.draw_benches);
        benches.grow(draws.min(threads), || self.draw_bench(job));
        for (_, bench) in benches.all() {
            bench.chunks.resize_with(bench.chunks.len().max(buffers), || self.new_chunk());
        }
        self.draw_benches = benches;
        let tile = self.tile_program.clone();
        self.tile_benches.grow(threads, || tile.workspace());
    }

    fn draw_bench(&self, job: &Job<'_>) -> DrawBench {
        let buffers = if job.split_draws { job.plan.chunks() } else { 1 };
        DrawBench { run: self.draw_program.workspace(), chunks: (0..buffers).map(|_| self.new_chunk()).collect() }
    }

    fn new_chunk(&self) -> Chunk {
        let tile = &self.tile_program;
        let outputs = vec![0.0; tile.outputs.len()];
        Chunk { gradients: buffer(tile.gradients), outputs, jitter: Jitter::default(), failure: None }
    }

    fn run_draw(&self, job: &Job<'_>, d: usize) {
        let mut bench = self.draw_benches.take(|| self.draw_bench(job));
        let mut result = lock(&self.results[d]);
        result.failure = self.run_draw_in(job, d, &mut result, &mut bench).err();
        if let Some(failure) = &mut result.failure {
            failure.place.draw = Some(d);
        }
        if job.weights.is_some() {
            std::mem::swap(&mut bench.run.gradients, &mut result.draw_gradients);
            drop(result);
            lock(&self.draw_gradients).finish(d, &self.results);
        }
        self.draw_benches.put(bench);
    }

    fn run_draw_in(
        &self,
        job: &Job<'_>,
        d: usize,
        result: &mut DrawResult,
        bench: &mut DrawBench,
    ) -> Result<(), Failure> {
        let DrawBench { run, chunks } = bench;
        let (key, gradient) = (job.key.draw(d as u32), job.weights.is_some());
        if gradient {
            run.renew_gradients();
            for r in self.tile_returns.iter().filter(|r| r.depth == 0) {
                result.tile_gradients[r.range.clone()].fill(0.0);
            }
        }
        run.forward_within(&[&self.step], key, job.pass())?;
        (job.visitor)(Visit::Draw { draw: d, run });
        result.jitter = run.jitter();
        result.tile_outputs.fill(0.0);
        if job.split_draws {
            let chunks = &mut chunks[..job.plan.chunks()];
            let work = chunks.par_iter_mut().enumerate().with_max_len(1);
            work.for_each(|(c, chunk)| self.run_chunk(job, (d, key), c, chunk, run));
            for chunk in chunks {
                self.add_chunk(chunk, run, result, gradient)?;
            }
        } else {
            for c in 0..job.plan.chunks() {
                self.run_chunk(job, (d, key), c, &mut chunks[0], run);
                self.add_chunk(&mut chunks[0], run, result, gradient)?;
            }
        }
        result.draw_outputs.iter_mut().zip(run.outputs()).for_each(|(total, value)| *total = value);
        if let Some(weights) = job.weights {
            run.backward_within(&[&self.step], weights.draw)?;
        }
        Ok(())
    }

    fn run_chunk(&self, job: &Job<'_>, (d, key): (usize, Key), c: usize, chunk: &mut Chunk, draw: &Workspace) {
        let mut tile = self.tile_benches.take(|| self.tile_program.workspace());
        std::mem::swap(&mut tile.gradients, &mut chunk.gradients);
        if job.weights.is_some() {
            tile.renew_gradients();
        }
        chunk.outputs.fill(0.0);
        chunk.jitter = Jitter::default();
        chunk.failure = None;
        let outer = [&self.step, draw];
        for t in job.plan.chunk(c) {
            if let Err(mut failure) = self.run_tile(job, key, t, &mut tile, &outer) {
                failure.place.tile = Some(t);
                chunk.failure = Some(failure);
                break;
            }
            (job.visitor)(Visit::Tile { draw: d, tile: t, run: &tile });
            chunk.outputs.iter_mut().zip(tile.outputs()).for_each(|(total, value)| *total += value);
            chunk.jitter.merge(tile.jitter());
        }
        // a chunk without tiles has had no backward pass
        tile.complete_gradients();
        std::mem::swap(&mut tile.gradients, &mut chunk.gradients);
        self.tile_benches.put(tile);
    }

    fn run_tile(
        &self,
        job: &Job<'_>,
        key: Key,
        t: usize,
        tile: &mut Workspace,
        outer: &[&Workspace],
    ) -> Result<(), Failure> {
        tile.forget();
        (job.fill)(t, tile)?;
        tile.forward_within(outer, key, job.pass())?;
        match job.weights {
            Some(weights) => tile.backward_within(outer, weights.tile),
            None => Ok(()),
        }
    }

    /// Adds a chunk's outputs and gradients to its draw, and what is the step's to the draw's result.
    fn add_chunk(
        &self,
        chunk: &mut Chunk,
        draw: &mut Workspace,
        result: &mut DrawResult,
        gradient: bool,
    ) -> Result<(), Failure> {
        if let Some(failure) = chunk.failure.take() {
            return Err(failure);
        }
        result.tile_outputs.iter_mut().zip(&chunk.outputs).for_each(|(total, value)| *total += value);
        result.jitter.merge(chunk.jitter);
        let returns = if gradient { self.tile_returns.as_slice() } else { &[] };
        for r in returns {
            let gradient = &chunk.gradients[r.range.clone()];
            if r.depth == 1 {
                draw.add_adjoint(r.index, gradient);
            } else {
                let total = &mut result.tile_gradients[r.range.clone()];
                total.iter_mut().zip(gradient).for_each(|(t, g)| *t += g);
            }
        }
        Ok(())
    }

    fn sum_outputs(&mut self, plan: Plan) {
        let Totals { step, draw, tile, jitter } = &mut self.totals;
        *jitter = self.step.jitter();
        step.clear();
        step.extend(self.step.outputs());
        draw.clear();
        draw.resize(self.draw_program.outputs.len(), 0.0);
        tile.clear();
        tile.resize(self.tile_program.outputs.len(), 0.0);
        for result in &self.results[..plan.draws] {
            let result = lock(result);
            draw.iter_mut().zip(&result.draw_outputs).for_each(|(t, v)| *t += v);
            tile.iter_mut().zip(&result.tile_outputs).for_each(|(t, v)| *t += v);
            jitter.merge(result.jitter);
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(|e| e.into_inner())
}

/// The nodes that a program reads from those around it and that want a gradient.
#[track_caller]
fn returns(program: &Program) -> Vec<Return> {
    let mut returns = Vec::new();
    for (slot, kind) in program.slots.iter().zip(&program.kinds) {
        let Gradient::Leaf(offset) = slot.gradient else { continue };
        let Kind::Outer { depth, index } = *kind else {
            panic!(
                "Scopes: {} of \"{}\" wants a gradient; only the step has such leaves",
                kind.describe(),
                program.name
            )
        };
        returns.push(Return { depth, index, range: offset..offset + slot.rows * slot.cols });
    }
    returns
}

#[cfg(test)]
mod tests;
