//! Normal noise.

use super::{
    Latent, Likelihood, LikelihoodParameter, Moments, Normal, Observed, ParameterStart, TargetKind, Tightening,
};
use dkp_tape::{Node, Tape};
use std::f64::consts::TAU;

/// The smallest variance of noise, for targets of unit variance: below it a model would trust rounding errors.
const FLOOR: f64 = 1e-6;

/// y ~ N(f, σ²), with a learned variance for each target.
///
/// E log p(y|f) = −½(log 2πσ² + ((y − m)² + s)/σ²).
#[derive(Clone, Copy, Debug)]
pub struct Gaussian {
    targets: usize,
}

impl Gaussian {
    /// For this many targets, each with a latent function of its own.
    pub fn new(targets: usize) -> Gaussian {
        Gaussian { targets }
    }
}

impl Likelihood for Gaussian {
    fn name(&self) -> String {
        if self.targets == 1 { "gaussian".to_string() } else { format!("gaussian({})", self.targets) }
    }

    fn target_kind(&self) -> TargetKind {
        TargetKind::Real
    }

    fn targets(&self) -> usize {
        self.targets
    }

    fn latents(&self) -> usize {
        self.targets
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        vec![LikelihoodParameter {
            name: "noise",
            rows: self.targets,
            floor: FLOOR,
            start: ParameterStart::NoiseVariance,
        }]
    }

    fn initial(&self, y: &[f64]) -> Vec<f64> {
        y.iter().map(|y| if y.is_nan() { 0.0 } else { *y }).collect()
    }

    fn expected_log_density(&self, tape: &mut Tape, parameters: &[Node], observed: Observed, latent: Latent) -> Node {
        let noise = parameters[0];
        let residual = tape.subtract(observed.values, latent.mean);
        let squared = tape.square(residual);
        let variance = latent.full_variance(tape);
        let expected = tape.add(squared, variance);
        let present = tape.product(observed.present, expected);
        // Σ_n ((y−m)² + s)/σ² for each target
        let ones = tape.constant(observed.values.cols(), 1, &vec![1.0; observed.values.cols()]);
        let (sums, counts) = (tape.matmul(present, ones), tape.matmul(observed.present, ones));
        let precision = tape.reciprocal(noise);
        let fit = tape.product(precision, sums);
        // Σ_n log 2πσ²
        let log_noise = tape.ln(noise);
        let level = tape.affine(log_noise, 1.0, TAU.ln());
        let level = tape.product(level, counts);
        let twice = tape.add(fit, level);
        let total = tape.sum(twice);
        tape.affine(total, -0.5, 0.0)
    }

    fn tightening(&self) -> Option<&dyn Tightening> {
        Some(self)
    }

    fn normals(
        &self,
        parameters: &[Vec<f64>],
        target: usize,
        mean: &[f64],
        variance: &[f64],
        visit: &mut dyn FnMut(Normal),
    ) -> bool {
        visit(Normal { log_weight: 0.0, mean: mean[target], variance: variance[target] + parameters[0][target] });
        true
    }

    fn moments(&self, parameters: &[Vec<f64>], target: usize, mean: &[f64], variance: &[f64]) -> Moments {
        Moments { mean: mean[target], model: variance[target], noise: parameters[0][target] }
    }
}

/// Let D, with the diagonal d, be the prior's covariance of f at the data points given the inducing variables. With D^½·diag(c)·D^½ instead the
/// sum of variances is Σ c·d, which costs Σ ½c·d/σ² of fit, and the divergence from the prior is Σ ½(c − 1 − log c). The best c is 1/(1 + d/σ²), and
/// a point then loses ½log(1 + d/σ²) instead of ½d/σ² (Titsias 2025; Bui, Ashman & Turner 2025).
impl Tightening for Gaussian {
    fn gain(&self, tape: &mut Tape, parameters: &[Node], observed: Observed, _: Latent, residual: Node) -> Node {
        let precision = tape.reciprocal(parameters[0]);
        let ratio = tape.matmul(precision, residual);
        gain_of_ratio(tape, ratio, observed.present)
    }
}

/// ½Σ(r − log(1 + r)) over the targets that are there, for r = d/σ².
pub(super) fn gain_of_ratio(tape: &mut Tape, ratio: Node, present: Node) -> Node {
    let grown = tape.affine(ratio, 1.0, 1.0);
    let loss = tape.ln(grown);
    let gain = tape.subtract(ratio, loss);
    let gain = tape.product(present, gain);
    let twice = tape.sum(gain);
    tape.affine(twice, 0.5, 0.0)
}
