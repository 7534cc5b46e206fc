//! Normal noise that varies with the inputs.

use super::normals::trapezoid;
use super::{
    Latent, Likelihood, LikelihoodParameter, Moments, Normal, Observed, ParameterStart, TargetKind, Tightening,
};
use dkp_tape::{Node, Tape};
use std::f64::consts::TAU;

/// The smallest variance of noise where g = 0, for targets of unit variance.
const FLOOR: f64 = 1e-6;
/// Where the scale of g starts.
const SPREAD: f64 = 1.0;
/// The deviation of g's pseudo-targets to begin with: they say little, and that g is 0.
const VAGUE: f64 = 1.0;
/// The least variance of log-noise: a deviation of 1e-10 changes nothing.
const CERTAIN: f64 = 1e-20;

/// y ~ N(f, σ²e^{cg}) with two latent functions for each target, f and g, a learned variance σ² and a learned scale c of g.
///
/// With independent normal f ~ N(m, v) and cg ~ N(μ, s), E log p(y) = −½(log 2πσ² + μ + ((y − m)² + v)/σ_t²), where σ_t² = σ²e^{μ−s/2}.
/// The predictive density is a mixture over g.
#[derive(Clone, Copy, Debug)]
pub struct VaryingNoise {
    targets: usize,
}

/// Latent functions of a tile's points, as nodes targets×B.
struct Split {
    mean: Node,
    variance: Node,
    /// μ.
    log_noise: Node,
    /// log(σ²/σ_t²) = s/2 − μ.
    log_precision: Node,
}

impl VaryingNoise {
    /// For this many targets.
    pub fn new(targets: usize) -> VaryingNoise {
        VaryingNoise { targets }
    }

    fn split(&self, tape: &mut Tape, parameters: &[Node], latent: Latent) -> Split {
        let (t, b) = (self.targets, latent.mean.cols());
        let all = latent.full_variance(tape);
        let half = |tape: &mut Tape, x: Node, i: usize| tape.slice(x, i * t..(i + 1) * t, 0..b);
        let (mean, variance) = (half(tape, latent.mean, 0), half(tape, all, 0));
        let (g, v) = (half(tape, latent.mean, 1), half(tape, all, 1));
        let spread = parameters[1];
        let log_noise = tape.scale_rows(spread, g);
        let once = tape.scale_rows(spread, v);
        let twice = tape.scale_rows(spread, once);
        let halved = tape.affine(twice, 0.5, 0.0);
        let log_precision = tape.subtract(halved, log_noise);
        Split { mean, variance, log_noise, log_precision }
    }

    /// 1/σ_t², targets×B.
    fn precision(tape: &mut Tape, noise: Node, log_precision: Node) -> Node {
        let relative = tape.exp(log_precision);
        let inverse = tape.reciprocal(noise);
        tape.scale_rows(inverse, relative)
    }

    /// μ and s of a target at one point.
    fn log_noise(&self, parameters: &[Vec<f64>], target: usize, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        let c = parameters[1][target];
        (c * mean[self.targets + target], c * c * variance[self.targets + target])
    }
}

impl Likelihood for VaryingNoise {
    fn name(&self) -> String {
        if self.targets == 1 { "varying".to_string() } else { format!("varying({})", self.targets) }
    }

    fn target_kind(&self) -> TargetKind {
        TargetKind::Real
    }

    fn targets(&self) -> usize {
        self.targets
    }

    fn latents(&self) -> usize {
        2 * self.targets
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        let rows = self.targets;
        vec![
            LikelihoodParameter { name: "noise", rows, floor: FLOOR, start: ParameterStart::NoiseVariance },
            LikelihoodParameter { name: "spread", rows, floor: 0.0, start: ParameterStart::At(SPREAD) },
        ]
    }

    fn pseudo_noises(&self, deviation: f64) -> Vec<f64> {
        vec![deviation, VAGUE]
    }

    fn initial(&self, y: &[f64]) -> Vec<f64> {
        let f = y.iter().map(|y| if y.is_nan() { 0.0 } else { *y });
        f.chain(std::iter::repeat_n(0.0, self.targets)).collect()
    }

    fn expected_log_density(&self, tape: &mut Tape, parameters: &[Node], observed: Observed, latent: Latent) -> Node {
        let split = self.split(tape, parameters, latent);
        let residual = tape.subtract(observed.values, split.mean);
        let squared = tape.square(residual);
        let expected = tape.add(squared, split.variance);
        let precision = VaryingNoise::precision(tape, parameters[0], split.log_precision);
        let fit = tape.product(precision, expected);
        // μ + log 2πσ²
        let log_noise = tape.ln(parameters[0]);
        let ones = tape.constant(1, observed.values.cols(), &vec![1.0; observed.values.cols()]);
        let level = tape.affine(log_noise, 1.0, TAU.ln());
        let level = tape.matmul(level, ones);
        let level = tape.add(level, split.log_noise);
        let twice = tape.add(fit, level);
        let counted = tape.product(observed.present, twice);
        let total = tape.sum(counted);
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
        let (mu, s) = self.log_noise(parameters, target, mean, variance);
        let (noise, s) = (parameters[0][target] * mu.exp(), s.max(CERTAIN));
        // cg = μ + u, u ~ N(0, s); a target that is far out narrows what u can be, which steps as for half of s allow for
        let constant = -0.5 * (TAU * s).ln();
        let log_law = |u: f64| constant - 0.5 * u * u / s;
        trapezoid(2.0 / s, log_law, |u, log_weight| {
            visit(Normal { log_weight, mean: mean[target], variance: variance[target] + noise * u.exp() });
        });
        true
    }

    fn moments(&self, parameters: &[Vec<f64>], target: usize, mean: &[f64], variance: &[f64]) -> Moments {
        let (mu, s) = self.log_noise(parameters, target, mean, variance);
        Moments { mean: mean[target], model: variance[target], noise: parameters[0][target] * (mu + 0.5 * s).exp() }
    }
}

/// As for constant noise, with σ_t² in σ²'s place: the bound is linear in f's variance with that slope.
impl Tightening for VaryingNoise {
    fn gain(&self, tape: &mut Tape, parameters: &[Node], present: Node, latent: Latent, residual: Node) -> Node {
        let split = self.split(tape, parameters, latent);
        let precision = VaryingNoise::precision(tape, parameters[0], split.log_precision);
        let ones = tape.constant(self.targets, 1, &vec![1.0; self.targets]);
        let residuals = tape.matmul(ones, residual);
        let ratio = tape.product(precision, residuals);
        super::gaussian::gain_of_ratio(tape, ratio, present)
    }
}
