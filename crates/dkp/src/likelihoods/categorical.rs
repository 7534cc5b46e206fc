//! Several classes.

use super::{Latent, Likelihood, LikelihoodParameter, Moments, Observed, TargetKind};
use dkp_tape::operation::{Adjoint, Forward, Operation};
use dkp_tape::random::{Key, fill_normal};
use dkp_tape::{Memory, Node, Problem, Tape};
use std::sync::Arc;

/// Latent draws for a class's probability, for each of many posterior draws.
const DRAWS: usize = 128;
/// Latent draws in all, of which each posterior draw at each point takes some: errors then average out over posterior draws. Where there is
/// one posterior draw, it takes all, which leaves errors of a few thousandths of a probability at most.
const POOL: usize = 4096;

/// y is class c, from 0, with probability e^{f_c}/Σe^{f_k}: a latent function for each class.
///
/// There is one target. The bound draws the latents, one for each posterior draw and point; predictions average over 128 for each, or more
/// where there are few posterior draws.
#[derive(Clone, Debug)]
pub struct Categorical {
    classes: usize,
    /// Latent draws for each posterior draw.
    draws: usize,
    /// Standard normals, in pairs of opposite sign, classes × draws.
    normals: Arc<[f64]>,
}

impl Categorical {
    /// For this many classes, at least two.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[track_caller]
    pub fn new(classes: usize) -> Categorical {
        assert!(classes >= 2, "Categorical: {classes} classes; at least two are needed");
        let mut normals = vec![0.0; classes * POOL / 2];
        fill_normal(Key::new(0).stream(u32::MAX, 0), classes, |j| j as u64, &mut normals);
        // each followed by its opposite
        let pair = |z: &[f64]| z.iter().copied().chain(z.iter().map(|z| -z)).collect::<Vec<_>>();
        let normals = normals.chunks_exact(classes).flat_map(pair).collect();
        Categorical { classes, draws: DRAWS, normals }
    }

    /// E softmax(f), f ~ N(mean, variance).
    fn expected(&self, mean: &[f64], variance: &[f64]) -> Vec<f64> {
        let mut total = vec![0.0; self.classes];
        self.visit(mean, variance, |p| total.iter_mut().zip(p).for_each(|(t, p)| *t += p / self.draws as f64));
        total
    }

    /// Visits softmax(f) for draws of f.
    fn visit(&self, mean: &[f64], variance: &[f64], mut visit: impl FnMut(&[f64])) {
        let mut exponentials = vec![0.0; self.classes];
        // which part of the pool follows from the point and the posterior draw alone
        let mixed = mean.iter().fold(0_u64, |h, m| (h ^ m.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let part = (mixed >> 32) as usize % (POOL / self.draws);
        let own = self.draws * self.classes;
        for z in self.normals[part * own..(part + 1) * own].chunks_exact(self.classes) {
            let f = |c: usize| mean[c] + variance[c].max(0.0).sqrt() * z[c];
            let largest = (0..self.classes).map(f).fold(f64::NEG_INFINITY, f64::max);
            (0..self.classes).for_each(|c| exponentials[c] = (f(c) - largest).exp());
            let sum: f64 = exponentials.iter().sum();
            exponentials.iter_mut().for_each(|e| *e /= sum);
            visit(&exponentials);
        }
    }
}

impl Likelihood for Categorical {
    fn name(&self) -> String {
        format!("categorical({})", self.classes)
    }

    fn targets(&self) -> usize {
        1
    }

    fn latents(&self) -> usize {
        self.classes
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        Vec::new()
    }

    fn accepts(&self, y: f64) -> Result<(), &'static str> {
        let fits = y >= 0.0 && y.fract() == 0.0 && y < self.classes as f64;
        if fits { Ok(()) } else { Err("a class's number, from 0") }
    }

    fn target_kind(&self) -> TargetKind {
        TargetKind::Class
    }

    fn draws_latents(&self) -> bool {
        true
    }

    fn refined(&self, draws: usize) -> Option<Arc<dyn Likelihood>> {
        // so that all posterior draws together take the pool, or more; a power of two divides it
        let own = POOL.div_ceil(draws.max(1)).next_power_of_two().clamp(DRAWS, POOL);
        Some(Arc::new(Categorical { draws: own, ..self.clone() }))
    }

    fn initial(&self, y: &[f64]) -> Vec<f64> {
        (0..self.classes).map(|c| if y[0] == c as f64 { 1.0 } else { 0.0 }).collect()
    }

    fn expected_log_density(&self, tape: &mut Tape, _: &[Node], observed: Observed, latent: Latent) -> Node {
        let variance = latent.full_variance(tape);
        let deviation = tape.sqrt(variance);
        let normals = tape.point_normals(self.classes);
        let noise = tape.product(deviation, normals);
        let f = tape.add(latent.mean, noise);
        tape.record(
            Box::new(LogSoftmax),
            &[observed.values, observed.present, f],
            (1, 1),
            Memory { saved: f.len(), scratch: 0 },
        )
    }

    fn log_density(&self, _: &[Vec<f64>], y: &[f64], mean: &[f64], variance: &[f64]) -> f64 {
        match y[0] {
            y if y.is_nan() => 0.0,
            // a class that the model does not know
            y if self.accepts(y).is_err() => f64::NEG_INFINITY,
            y => self.expected(mean, variance)[y as usize].ln(),
        }
    }

    fn moments(&self, _: &[Vec<f64>], _: usize, mean: &[f64], variance: &[f64]) -> Moments {
        let moment = |p: &[f64], k: i32| p.iter().enumerate().map(|(c, p)| (c as f64).powi(k) * p).sum::<f64>();
        let (mut first, mut square_of_mean, mut second) = (0.0, 0.0, 0.0);
        self.visit(mean, variance, |p| {
            let own = moment(p, 1) / self.draws as f64;
            first += own;
            square_of_mean += own * own * self.draws as f64;
            second += moment(p, 2) / self.draws as f64;
        });
        let model = (square_of_mean - first * first).max(0.0);
        Moments { mean: first, model, noise: (second - square_of_mean).max(0.0) }
    }

    fn cdf(&self, _: &[Vec<f64>], _: usize, y: f64, mean: &[f64], variance: &[f64]) -> f64 {
        let p = self.expected(mean, variance);
        p.iter().enumerate().filter(|(c, _)| *c as f64 <= y).map(|(_, p)| p).sum::<f64>().min(1.0)
    }

    fn probabilities(&self, _: &[Vec<f64>], mean: &[f64], variance: &[f64]) -> Option<Vec<f64>> {
        Some(self.expected(mean, variance))
    }
}

/// Σ_n f_{y_n,n} − log Σ_c e^{f_{c,n}} over points whose class is known. Adjoint: f̄ += seed·(1[c = y] − softmax).
struct LogSoftmax;

impl Operation for LogSoftmax {
    fn name(&self) -> &'static str {
        "log softmax"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (y, present, f) = (run.inputs.slice(0), run.inputs.slice(1), run.inputs.slice(2));
        let classes = f.len() / y.len();
        let mut total = 0.0;
        for ((f, saved), (&y, &present)) in
            f.chunks_exact(classes).zip(run.saved.chunks_exact_mut(classes)).zip(y.iter().zip(present))
        {
            saved.fill(0.0);
            if present == 0.0 {
                continue;
            }
            let largest = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            saved.iter_mut().zip(f).for_each(|(s, f)| *s = (f - largest).exp());
            let sum: f64 = saved.iter().sum();
            let class = (y as usize).min(classes - 1);
            total += f[class] - largest - sum.ln();
            saved.iter_mut().for_each(|s| *s = -*s / sum);
            saved[class] += 1.0;
        }
        run.output[0] = total;
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let seed = run.seed[0];
        if let Some(target) = run.targets.get(2) {
            target.add1(run.saved, |d| seed * d);
        }
    }
}
