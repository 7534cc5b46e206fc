//! Noise that varies with the inputs, normal or with heavier tails.

use super::normals::{LARGEST, log_sum, trapezoid};
use super::{
    Latent, Likelihood, LikelihoodParameter, Moments, Normal, Observed, ParameterStart, TargetKind, Tightening,
};
use dkp_tape::math::ln_gamma;
use dkp_tape::{Node, Tape};
use std::f64::consts::{PI, TAU};

/// The smallest variance of noise where g = 0, for targets of unit variance.
const FLOOR: f64 = 1e-6;
/// Where the scale of g starts.
const SPREAD: f64 = 1.0;
/// The deviation of g's pseudo-targets to begin with: they say little, and that g is 0.
const VAGUE: f64 = 1.0;
/// The lightest tails, as w = 1/(ν − 2): ν stays below 27. That costs normal noise less than 0.001 nats a point, and no number of points without
/// an outlier says that there will be none.
const LIGHTEST: f64 = 0.04;
/// Where w starts: at ν = 20.
const LIGHT: f64 = 1.0 / 18.0;
/// What the mean of log-noise stays within, and its variance below, in predictions: nothing is known of noise that is so uncertain.
const FARTHEST: f64 = 300.0;
const VAGUEST: f64 = 30.0;
/// The least variance of log-noise: a deviation of 1e-10 changes nothing.
const CERTAIN: f64 = 1e-20;

/// y ~ N(f, σ²e^{cg}) with two latent functions for each target, f and g, a learned variance σ² and a learned scale c of g.
///
/// With independent normal f ~ N(m, v) and cg ~ N(μ, s), E log p(y) = −½(log 2πσ² + μ + e), where e = ((y − m)² + v)/σ_t² and
/// σ_t² = σ²e^{μ−s/2}. The predictive density is a mixture over g.
///
/// With heavier tails, y = f + σe^{cg/2}·t with ν degrees of freedom, a normal whose precision has a factor λ ~ Gamma(½ν, ½ν). With a posterior of λ
/// for each point, independent of f and g, the best one, a gamma with mean λ̄ = (ν+1)/(ν+e), gives the bound
/// log Γ(½(ν+1)) − log Γ(½ν) − ½(log πνσ² + μ + (ν+1)·log(1 + e/ν)) of E log p(y), which is that of normal noise where ν → ∞.
#[derive(Clone, Copy, Debug)]
pub struct VaryingNoise {
    targets: usize,
    heavy: bool,
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
    /// Normal, for this many targets.
    pub fn new(targets: usize) -> VaryingNoise {
        VaryingNoise { targets, heavy: false }
    }

    /// With tails of Student's t, for this many targets.
    pub fn heavy(targets: usize) -> VaryingNoise {
        VaryingNoise { heavy: true, ..VaryingNoise::new(targets) }
    }

    /// e.
    fn misfit(tape: &mut Tape, observed: Observed, split: &Split, precision: Node) -> Node {
        let residual = tape.subtract(observed.values, split.mean);
        let squared = tape.square(residual);
        let expected = tape.add(squared, split.variance);
        tape.product(precision, expected)
    }

    /// ν, a row for each target.
    fn degrees(tape: &mut Tape, parameters: &[Node]) -> Node {
        let excess = tape.reciprocal(parameters[2]);
        tape.affine(excess, 1.0, 2.0)
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
        let mu = c * mean[self.targets + target];
        (mu.clamp(-FARTHEST, FARTHEST), (c * c * variance[self.targets + target]).min(VAGUEST))
    }
}

impl Likelihood for VaryingNoise {
    fn name(&self) -> String {
        let name = if self.heavy { "varying_t" } else { "varying" };
        if self.targets == 1 { name.to_string() } else { format!("{name}({})", self.targets) }
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
        let mut all = vec![
            LikelihoodParameter { name: "noise", rows, floor: FLOOR, start: ParameterStart::NoiseVariance },
            LikelihoodParameter { name: "spread", rows, floor: 0.0, start: ParameterStart::At(SPREAD) },
        ];
        if self.heavy {
            all.push(LikelihoodParameter { name: "tails", rows, floor: LIGHTEST, start: ParameterStart::At(LIGHT) });
        }
        all
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
        let precision = VaryingNoise::precision(tape, parameters[0], split.log_precision);
        let misfit = VaryingNoise::misfit(tape, observed, &split, precision);
        let log_noise = tape.ln(parameters[0]);
        let (fit, level) = if self.heavy {
            // (ν+1)·log(1 + e/ν), and log πνσ² + 2·log Γ(½ν) − 2·log Γ(½(ν+1))
            let nu = VaryingNoise::degrees(tape, parameters);
            let inverse = tape.reciprocal(nu);
            let ratio = tape.scale_rows(inverse, misfit);
            let grown = tape.affine(ratio, 1.0, 1.0);
            let log = tape.ln(grown);
            let next = tape.affine(nu, 1.0, 1.0);
            let [lower, upper] = [nu, next].map(|x| {
                let half = tape.affine(x, 0.5, 0.0);
                tape.ln_gamma(half)
            });
            let volume = tape.subtract(lower, upper);
            let volume = tape.affine(volume, 2.0, PI.ln());
            let log_nu = tape.ln(nu);
            let volume = tape.add(volume, log_nu);
            (tape.scale_rows(next, log), tape.add(volume, log_noise))
        } else {
            (misfit, tape.affine(log_noise, 1.0, TAU.ln()))
        };
        let ones = tape.constant(1, observed.values.cols(), &vec![1.0; observed.values.cols()]);
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
        if self.heavy {
            let a = 1.0 + 0.5 / parameters[2][target];
            let (law, mut logs) = (LogScale::new(a, s), Vec::new());
            trapezoid(
                a / (1.0 + a * s),
                |u| law.log_law(u, &mut logs),
                |u, log_weight| {
                    visit(Normal { log_weight, mean: mean[target], variance: variance[target] + noise * u.exp() });
                },
            );
            return true;
        }
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
        // ν/(ν − 2) = 1 + 2w
        let tails = if self.heavy { 1.0 + 2.0 * parameters[2][target] } else { 1.0 };
        let noise = tails * parameters[0][target] * (mu + 0.5 * s).exp();
        Moments { mean: mean[target], model: variance[target], noise }
    }
}

/// The logarithm of the density of z + v at u, up to what is the same for all u, for z ~ N(0, s) and λ = e^{−v} ~ Gamma(a, a): the trapezoid rule over z.
struct LogScale {
    a: f64,
    /// z, eᶻ, and the logarithms of weights.
    nodes: Vec<[f64; 3]>,
}

impl LogScale {
    fn new(a: f64, s: f64) -> LogScale {
        // the integrand is as narrow as both laws together; far out, z is a·s where most of it is
        let (deviation, step) = (s.sqrt(), 0.7 / (1.0 / s + a).sqrt());
        let (low, high) =
            (-(6.0 * deviation / step).ceil() as i32, ((6.0 * deviation + (a * s).min(LARGEST)) / step).ceil() as i32);
        let node = |k: i32| {
            let z = step * f64::from(k);
            [z, z.exp(), -0.5 * z * z / s + step.ln() - 0.5 * (TAU * s).ln()]
        };
        LogScale { a, nodes: (low..=high).map(node).collect() }
    }

    /// v's density is a^a/Γ(a)·exp(−a(v + e^{−v})).
    fn log_law(&self, u: f64, logs: &mut Vec<f64>) -> f64 {
        let small = (-u).exp();
        logs.clear();
        logs.extend(self.nodes.iter().map(|[z, grown, weight]| weight - self.a * (u - z + small * grown)));
        log_sum(logs) + self.a * self.a.ln() - ln_gamma(self.a)
    }
}

/// As for constant noise, with σ_t²/λ̄ in σ²'s place: given the posterior of λ the bound is linear in f's variance with that slope.
impl Tightening for VaryingNoise {
    fn gain(&self, tape: &mut Tape, parameters: &[Node], observed: Observed, latent: Latent, residual: Node) -> Node {
        let split = self.split(tape, parameters, latent);
        let mut precision = VaryingNoise::precision(tape, parameters[0], split.log_precision);
        if self.heavy {
            // λ̄ = (1 + 1/ν)/(1 + e/ν)
            let nu = VaryingNoise::degrees(tape, parameters);
            let inverse = tape.reciprocal(nu);
            let misfit = VaryingNoise::misfit(tape, observed, &split, precision);
            let ratio = tape.scale_rows(inverse, misfit);
            let grown = tape.affine(ratio, 1.0, 1.0);
            let shrunk = tape.reciprocal(grown);
            let most = tape.affine(inverse, 1.0, 1.0);
            let factor = tape.scale_rows(most, shrunk);
            precision = tape.product(factor, precision);
        }
        let ones = tape.constant(self.targets, 1, &vec![1.0; self.targets]);
        let residuals = tape.matmul(ones, residual);
        let ratio = tape.product(precision, residuals);
        super::gaussian::gain_of_ratio(tape, ratio, observed.present)
    }
}
