//! Likelihoods of one latent function a target, from a density alone.

use super::{Latent, Likelihood, LikelihoodParameter, Mixture, Moments, Normal, Observed, TargetKind, log_sum};
use crate::quadrature::{Peak, Quadrature};
use dkp_tape::operation::{Adjoint, Forward, Operation};
use dkp_tape::{Memory, Node, Problem, Tape};

/// Parameters of a density, at most.
const MOST: usize = 4;
/// A peak narrower than this, in standard deviations of the latent, needs nodes of its own in densities and their logarithms.
const NARROW: f64 = 2.0;
/// The same for distribution functions, which are smoother.
const NARROW_STEP: f64 = 0.5;

/// A log-density and its derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DensityJet {
    /// log p(y|f).
    pub value: f64,
    /// ∂/∂f.
    pub f: f64,
    /// ∂/∂θ for each parameter θ, in order; unused ones are 0.
    pub parameters: [f64; MOST],
}

/// A density p(y|f) of a target given one latent value: all that a new likelihood needs.
///
/// ```
/// use dkp::likelihoods::{Density, DensityJet, Likelihood, LikelihoodParameter, ParameterStart, Scalar};
///
/// /// Laplace noise with a learned scale b: p(y|f) = exp(−|y − f|/b)/(2b).
/// #[derive(Clone, Copy)]
/// struct Laplace;
///
/// impl Density for Laplace {
///     fn parameters(&self) -> Vec<LikelihoodParameter> {
///         vec![LikelihoodParameter { name: "scale", rows: 1, floor: 1e-4, start: ParameterStart::NoiseDeviation }]
///     }
///     fn log_density(&self, b: &[f64], y: f64, f: f64) -> DensityJet {
///         let (b, r) = (b[0], y - f);
///         let value = -(2.0 * b).ln() - r.abs() / b;
///         DensityJet { value, f: r.signum() / b, parameters: [r.abs() / (b * b) - 1.0 / b, 0.0, 0.0, 0.0] }
///     }
///     fn mean_and_variance(&self, b: &[f64], f: f64) -> (f64, f64) {
///         (f, 2.0 * b[0] * b[0])
///     }
///     fn cdf(&self, b: &[f64], y: f64, f: f64) -> f64 {
///         let z = (y - f) / b[0];
///         if z < 0.0 { 0.5 * z.exp() } else { 1.0 - 0.5 * (-z).exp() }
///     }
/// }
///
/// let likelihood = Scalar::new(Laplace);
/// assert_eq!(likelihood.latents(), 1);
/// // b = ½: log p(1|f = 0) = −2; averaged over f ~ N(0, 0.01) the density is 0.1381
/// let log_density = |variance: f64| likelihood.log_density(&[vec![0.5]], &[1.0], &[0.0], &[variance]);
/// assert!((log_density(0.0) + 2.0).abs() < 1e-12);
/// assert!((log_density(0.01).exp() - 0.1381).abs() < 1e-4);
/// ```
pub trait Density: Clone + Send + Sync + 'static {
    /// What files call it: by default its type's name.
    fn name(&self) -> String {
        crate::registry::name_of_type::<Self>()
    }

    /// What is learned for a target, at most four numbers (`rows` is 1).
    fn parameters(&self) -> Vec<LikelihoodParameter>;

    /// What of log p(y|f) does not depend on f, with its derivatives, which is formed once a target: normalisers are slow.
    fn constant(&self, parameters: &[f64], y: f64) -> DensityJet {
        let _ = (parameters, y);
        DensityJet::default()
    }

    /// log p(y|f) without its [`constant`](Density::constant), with its derivatives.
    fn log_density(&self, parameters: &[f64], y: f64, f: f64) -> DensityJet;

    /// E[y|f] and Var[y|f].
    fn mean_and_variance(&self, parameters: &[f64], f: f64) -> (f64, f64);

    /// p(y|f) as a mixture of normals around f, if it is one: visits the logarithms of weights, and variances, and answers whether it is.
    fn noises(&self, parameters: &[f64], visit: &mut dyn FnMut(f64, f64)) -> bool {
        let _ = (parameters, visit);
        false
    }

    /// P(Y ≤ y|f).
    ///
    /// # Panics
    ///
    /// This default is for densities that have [`noises`](Density::noises), and panics for others.
    fn cdf(&self, parameters: &[f64], y: f64, f: f64) -> f64 {
        let mixture = Mixture::of(|visit| {
            self.noises(parameters, &mut |log_weight, variance| visit(Normal { log_weight, mean: f, variance }))
        });
        mixture.expect("a density without noises has a cdf of its own").at(y).0
    }

    /// Whether a target can have this value, and else what it can have.
    fn accepts(&self, y: f64) -> Result<(), &'static str> {
        let _ = y;
        Ok(())
    }

    /// Where the latent of a point starts, given its target.
    fn initial(&self, y: f64) -> f64 {
        y
    }

    /// Where the density of a target is high as a function of the latent, if that may be a narrow place: expectations then look there.
    fn peak(&self, parameters: &[f64], y: f64) -> Option<Peak> {
        let _ = (parameters, y);
        None
    }

    /// What targets are; of classes there are two, 0 and 1.
    fn target_kind(&self) -> TargetKind {
        TargetKind::Real
    }
}

/// A likelihood made of a [`Density`], with expectations by quadrature: of one target, or of several that all have this density. Targets of
/// different kinds have a [`Likelihood`] of one's own.
#[derive(Clone, Debug)]
pub struct Scalar<D> {
    density: D,
    targets: usize,
    quadrature: Quadrature,
}

impl<D: Density> Scalar<D> {
    /// For one target.
    ///
    /// # Panics
    ///
    /// If the density has more than four parameters.
    #[track_caller]
    pub fn new(density: D) -> Scalar<D> {
        Scalar::several(density, 1)
    }

    /// For this many targets, each with a latent function and parameters of its own.
    ///
    /// ```
    /// use dkp::likelihoods::{Likelihood, Poisson, Scalar};
    /// let counts = Scalar::several(Poisson, 3);
    /// assert_eq!((counts.latents(), counts.name().as_str()), (3, "poisson(3)"));
    /// ```
    ///
    /// # Panics
    ///
    /// If the density has more than four parameters.
    #[track_caller]
    pub fn several(density: D, targets: usize) -> Scalar<D> {
        assert!(density.parameters().len() <= MOST, "Scalar: a density has at most {MOST} parameters");
        Scalar { density, targets, quadrature: Quadrature::new() }
    }

    /// θ of a target.
    fn numbers(parameters: &[Vec<f64>], target: usize) -> [f64; MOST] {
        let mut numbers = [0.0; MOST];
        numbers.iter_mut().zip(parameters).for_each(|(n, p)| *n = p[target]);
        numbers
    }

    /// log ∫ p(y|f)·N(f; mean, variance) df for one target, or 0 where it is NaN.
    fn log_marginal(&self, theta: &[f64], y: f64, mean: f64, variance: f64) -> f64 {
        if y.is_nan() {
            return 0.0;
        }
        if self.density.accepts(y).is_err() {
            return f64::NEG_INFINITY;
        }
        let deviation = variance.max(0.0).sqrt();
        let constant = || self.density.constant(theta, y).value;
        let at = |z: f64| self.density.log_density(theta, y, mean + deviation * z).value;
        if deviation == 0.0 {
            return constant() + at(0.0);
        }
        let mut logs = Vec::new();
        if self.visit_normals(theta, mean, variance, &mut |normal| logs.push(normal.log_density(y))) {
            return log_sum(&logs);
        }
        let peak = self.density.peak(theta, y);
        self.quadrature.visit(mean, deviation, peak, NARROW, |z, w| logs.push(w.ln() + at(z)));
        constant() + log_sum(&logs)
    }

    /// N(f; mean, variance) and the density's noises.
    fn visit_normals(&self, theta: &[f64], mean: f64, variance: f64, visit: &mut dyn FnMut(Normal)) -> bool {
        self.density.noises(theta, &mut |log_weight, noise| {
            visit(Normal { log_weight, mean, variance: variance.max(0.0) + noise });
        })
    }
}

impl<D: Density> Likelihood for Scalar<D> {
    fn name(&self) -> String {
        match self.targets {
            1 => self.density.name(),
            n => format!("{}({n})", self.density.name()),
        }
    }

    fn targets(&self) -> usize {
        self.targets
    }

    fn latents(&self) -> usize {
        self.targets
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        let own = self.density.parameters().into_iter();
        own.map(|p| LikelihoodParameter { rows: self.targets, ..p }).collect()
    }

    fn accepts(&self, y: f64) -> Result<(), &'static str> {
        self.density.accepts(y)
    }

    fn target_kind(&self) -> TargetKind {
        self.density.target_kind()
    }

    fn initial(&self, y: &[f64]) -> Vec<f64> {
        y.iter().map(|&y| if y.is_nan() { 0.0 } else { self.density.initial(y) }).collect()
    }

    fn expected_log_density(&self, tape: &mut Tape, parameters: &[Node], observed: Observed, latent: Latent) -> Node {
        let variance = latent.full_variance(tape);
        let mut arguments = vec![observed.values, observed.present, latent.mean, variance];
        arguments.extend(parameters);
        // derivatives in means and variances, targets×B, and in the parameters, targets×MOST
        let saved = 2 * latent.mean.len() + self.targets * MOST;
        tape.record(Box::new(Expected(self.clone())), &arguments, (1, 1), Memory { saved, scratch: 0 })
    }

    fn normals(
        &self,
        parameters: &[Vec<f64>],
        target: usize,
        mean: &[f64],
        variance: &[f64],
        visit: &mut dyn FnMut(Normal),
    ) -> bool {
        self.visit_normals(&Self::numbers(parameters, target), mean[target], variance[target], visit)
    }

    fn log_density(&self, parameters: &[Vec<f64>], y: &[f64], mean: &[f64], variance: &[f64]) -> f64 {
        let term = |i: usize| self.log_marginal(&Self::numbers(parameters, i), y[i], mean[i], variance[i]);
        (0..self.targets).map(term).sum()
    }

    fn moments(&self, parameters: &[Vec<f64>], target: usize, mean: &[f64], variance: &[f64]) -> Moments {
        let theta = Self::numbers(parameters, target);
        let expect = |g: &dyn Fn(f64, f64) -> f64| {
            self.quadrature.expect(mean[target], variance[target], |f| {
                let (m, v) = self.density.mean_and_variance(&theta, f);
                g(m, v)
            })
        };
        let average = expect(&|m, _| m);
        Moments { mean: average, model: expect(&|m, _| (m - average).powi(2)), noise: expect(&|_, v| v) }
    }

    fn cdf(&self, parameters: &[Vec<f64>], target: usize, y: f64, mean: &[f64], variance: &[f64]) -> f64 {
        if !y.is_finite() {
            return if y.is_nan() { f64::NAN } else { f64::from(y > 0.0) };
        }
        if let Some(mixture) = Mixture::of(|visit| self.normals(parameters, target, mean, variance, visit)) {
            return mixture.at(y).0;
        }
        let theta = Self::numbers(parameters, target);
        let (mean, deviation) = (mean[target], variance[target].max(0.0).sqrt());
        if deviation == 0.0 {
            return self.density.cdf(&theta, y, mean);
        }
        let mut total = 0.0;
        let peak = self.density.peak(&theta, y);
        self.quadrature.visit(mean, deviation, peak, NARROW_STEP, |z, w| {
            total += w * self.density.cdf(&theta, y, mean + deviation * z);
        });
        total.clamp(0.0, 1.0)
    }

    fn probabilities(&self, parameters: &[Vec<f64>], mean: &[f64], variance: &[f64]) -> Option<Vec<f64>> {
        (self.targets == 1 && self.density.target_kind() == TargetKind::Class).then(|| {
            let [zero, one] = [0.0, 1.0].map(|y| self.log_density(parameters, &[y], mean, variance).exp());
            vec![zero / (zero + one), one / (zero + one)]
        })
    }
}

/// Σ E log p(y|f): with f = m + √s·z, ∂/∂m = E l' and ∂/∂s = E[l'·z]/(2√s).
///
/// y, m and s are targets×B, and each parameter has an element for each target.
struct Expected<D>(Scalar<D>);

impl<D: Density> Operation for Expected<D> {
    fn name(&self) -> &'static str {
        "expected log-density"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let Scalar { density, targets, quadrature } = &self.0;
        let [y, present, mean, variance] = [0, 1, 2, 3].map(|i| run.inputs.slice(i));
        let (by_mean, rest) = run.saved.split_at_mut(mean.len());
        let (by_variance, by_parameters) = rest.split_at_mut(mean.len());
        let mut total = 0.0;
        for target in 0..*targets {
            let (mut theta, mut by_theta) = ([0.0; MOST], [0.0; MOST]);
            (4..run.inputs.count()).for_each(|i| theta[i - 4] = run.inputs.slice(i)[target]);
            for n in (target..mean.len()).step_by(*targets) {
                (by_mean[n], by_variance[n]) = (0.0, 0.0);
                if present[n] == 0.0 {
                    continue;
                }
                let deviation = variance[n].max(f64::MIN_POSITIVE).sqrt();
                let mut add = |w: f64, jet: DensityJet| {
                    total += w * jet.value;
                    by_theta.iter_mut().zip(jet.parameters).for_each(|(t, d)| *t += w * d);
                };
                add(1.0, density.constant(&theta, y[n]));
                let peak = density.peak(&theta, y[n]);
                quadrature.visit(mean[n], deviation, peak, NARROW, |z, w| {
                    let jet = density.log_density(&theta, y[n], mean[n] + deviation * z);
                    by_mean[n] += w * jet.f;
                    by_variance[n] += w * jet.f * z / (2.0 * deviation);
                    add(w, jet);
                });
            }
            by_parameters.chunks_exact_mut(*targets).zip(by_theta).for_each(|(p, d)| p[target] = d);
        }
        run.output[0] = total;
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (seed, length) = (run.seed[0], run.inputs.slice(2).len());
        let (by_latent, by_parameters) = run.saved.split_at(2 * length);
        let by_parameters = by_parameters.chunks_exact(self.0.targets);
        for (i, derivatives) in (2..run.inputs.count()).zip(by_latent.chunks_exact(length).chain(by_parameters)) {
            if let Some(target) = run.targets.get(i) {
                target.add1(derivatives, |d| seed * d);
            }
        }
    }
}
