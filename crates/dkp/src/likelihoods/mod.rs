//! Likelihoods: how targets follow from latent functions.
//!
//! Given a draw of the Gram matrices the latent functions are Gaussian at every point, so a likelihood is asked two things: its
//! expected logarithm, which the bound needs, and the distribution of a target, a component of the predictive mixture.

mod bernoulli;
mod categorical;
mod gaussian;
mod mixture;
mod normals;
mod poisson;
mod scalar;
mod student_t;
mod varying;

use crate::Registry;
use dkp_tape::{Node, Tape};
use std::sync::Arc;

pub use crate::quadrature::Peak;
pub use bernoulli::Bernoulli;
pub use categorical::Categorical;
pub use gaussian::Gaussian;
pub(crate) use mixture::Mixture;
pub use normals::Normal;
use normals::log_sum;
pub use poisson::Poisson;
pub use scalar::{Density, DensityJet, Scalar};
pub use student_t::StudentT;
pub use varying::VaryingNoise;

/// A learned, positive parameter of a likelihood: a column.
#[derive(Clone, Debug, PartialEq)]
pub struct LikelihoodParameter {
    /// Its name.
    pub name: &'static str,
    /// Its length.
    pub rows: usize,
    /// What it stays above.
    pub floor: f64,
    /// Where it starts.
    pub start: ParameterStart,
}

/// Where a likelihood's parameter starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterStart {
    /// At a number.
    At(f64),
    /// At the variance of what neighbouring points' targets do not share.
    NoiseVariance,
    /// At its root.
    NoiseDeviation,
}

/// What targets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Numbers, which may be shifted and rescaled before a model sees them.
    Real,
    /// Whole numbers, which mean what they are.
    Count,
    /// Classes, by their numbers from 0.
    Class,
}

/// Targets at the points of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    /// y, targets×B; arbitrary where it is missing.
    pub values: Node,
    /// 1 where a target is there and 0 where it is missing, of the same shape.
    pub present: Node,
}

/// Latent functions at the points of a tile, independent and normal given a draw.
#[derive(Clone, Copy, Debug)]
pub struct Latent {
    /// Means, latents×B.
    pub mean: Node,
    /// Variances: latents×B, or a row for each of several groups of equally many latents.
    pub variance: Node,
}

impl Latent {
    /// The variances, latents×B.
    pub fn full_variance(&self, tape: &mut Tape) -> Node {
        if self.variance.rows() == self.mean.rows() {
            return self.variance;
        }
        let (latents, groups) = (self.mean.rows(), self.variance.rows());
        let belongs = |e: usize| f64::from(e % latents * groups / latents == e / latents);
        let groups = tape.constant(latents, groups, &(0..latents * groups).map(belongs).collect::<Vec<_>>());
        tape.matmul(groups, self.variance)
    }
}

/// A target's distribution given a draw, in the parts of which its variance is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// E y.
    pub mean: f64,
    /// Var E[y|f]: what the model does not know.
    pub model: f64,
    /// E Var[y|f]: noise.
    pub noise: f64,
}

/// A tighter bound: the posterior of f at the data points given f at the inducing points need not be the prior's, whose variances are d. The bound
/// gains where smaller ones explain the targets so much better that they are worth their divergence from the prior.
pub trait Tightening {
    /// What the bound gains, summed over the targets that are there, 1×1; `residual` is d, 1×B.
    fn gain(&self, tape: &mut Tape, parameters: &[Node], observed: Observed, latent: Latent, residual: Node) -> Node;
}

/// How targets follow from latent functions.
pub trait Likelihood: Send + Sync {
    /// What files call it, by default its type's name; a [`Registry`] finds it again.
    fn name(&self) -> String {
        crate::registry::name_of_type::<Self>()
    }

    /// What targets are.
    fn target_kind(&self) -> TargetKind;

    /// How many targets a point has.
    fn targets(&self) -> usize;

    /// How many latent functions there are.
    fn latents(&self) -> usize;

    /// What is learned.
    fn parameters(&self) -> Vec<LikelihoodParameter>;

    /// Whether a target can have this value, and else what it can have.
    fn accepts(&self, y: f64) -> Result<(), &'static str> {
        let _ = y;
        Ok(())
    }

    /// Whether the bound draws latents, so that it is random even where nothing else is.
    fn draws_latents(&self) -> bool {
        false
    }

    /// The same likelihood with more nodes for what predictions average over, where few posterior draws do it for each other; none where
    /// this makes no difference.
    fn refined(&self, draws: usize) -> Option<Arc<dyn Likelihood>> {
        let _ = draws;
        None
    }

    /// Latents come in groups of equally many, whose pseudo-targets at the inducing points share a noise: for each group the deviation at which that
    /// starts, given the one that the data suggest for targets.
    fn pseudo_noises(&self, deviation: f64) -> Vec<f64> {
        vec![deviation]
    }

    /// Where the latents of a point start, given its targets (0 where one is missing).
    fn initial(&self, y: &[f64]) -> Vec<f64>;

    /// Σ E[log p(y|f)] over the targets that are there, or a bound below it, 1×1.
    fn expected_log_density(&self, tape: &mut Tape, parameters: &[Node], observed: Observed, latent: Latent) -> Node;

    /// How the bound can be tightened, where that is known.
    fn tightening(&self) -> Option<&dyn Tightening> {
        None
    }

    /// The distribution of a target of one point as a mixture of normals, whose components are visited; answers whether it is one, and visits none
    /// otherwise. Everything that a prediction is asked for then follows quickly.
    fn normals(
        &self,
        parameters: &[Vec<f64>],
        target: usize,
        mean: &[f64],
        variance: &[f64],
        visit: &mut dyn FnMut(Normal),
    ) -> bool {
        let _ = (parameters, target, mean, variance, visit);
        false
    }

    /// log ∫ p(y|f)·N(f; mean, variance) df for one point, over the targets that are not NaN.
    ///
    /// # Panics
    ///
    /// This default is for likelihoods that have [`normals`](Likelihood::normals), and panics for others.
    fn log_density(&self, parameters: &[Vec<f64>], y: &[f64], mean: &[f64], variance: &[f64]) -> f64 {
        let term = |t: usize| {
            let mut logs = Vec::new();
            let is_one = self.normals(parameters, t, mean, variance, &mut |n| logs.push(n.log_density(y[t])));
            assert!(is_one, "{}: a likelihood without normals has a log-density of its own", self.name());
            log_sum(&logs)
        };
        (0..self.targets()).filter(|&t| !y[t].is_nan()).map(term).sum()
    }

    /// Moments of a target of one point.
    fn moments(&self, parameters: &[Vec<f64>], target: usize, mean: &[f64], variance: &[f64]) -> Moments;

    /// P(target ≤ y) for one point.
    ///
    /// # Panics
    ///
    /// This default is for likelihoods that have [`normals`](Likelihood::normals), and panics for others.
    fn cdf(&self, parameters: &[Vec<f64>], target: usize, y: f64, mean: &[f64], variance: &[f64]) -> f64 {
        let mixture = Mixture::of(|visit| self.normals(parameters, target, mean, variance, visit));
        mixture.expect("a likelihood without normals has a cdf of its own").at(y).0
    }

    /// Probabilities of the classes of one point, for likelihoods of one target that has classes. (The mean of each of several coins is its
    /// probability of 1.)
    fn probabilities(&self, parameters: &[Vec<f64>], mean: &[f64], variance: &[f64]) -> Option<Vec<f64>> {
        let _ = (parameters, mean, variance);
        None
    }
}

/// The likelihoods of this crate, by name; of one target, where nothing is said.
pub(crate) fn register(registry: &mut Registry) {
    let targets = |a: &crate::registry::Arguments<'_>| if a.is_empty() { Ok(1) } else { a.count(0, 1..=100_000) };
    registry.add_likelihood("gaussian[(targets)]", move |a| Ok(Arc::new(Gaussian::new(targets(a)?))));
    registry.add_likelihood("varying[(targets)]", move |a| Ok(Arc::new(VaryingNoise::new(targets(a)?))));
    registry.add_likelihood("varying_t[(targets)]", move |a| Ok(Arc::new(VaryingNoise::heavy(targets(a)?))));
    registry.add_likelihood("student_t[(targets)]", move |a| Ok(Arc::new(Scalar::several(StudentT, targets(a)?))));
    registry.add_likelihood("bernoulli[(targets)]", move |a| Ok(Arc::new(Scalar::several(Bernoulli, targets(a)?))));
    registry.add_likelihood("poisson[(targets)]", move |a| Ok(Arc::new(Scalar::several(Poisson, targets(a)?))));
    registry.add_likelihood("categorical(classes)", |a| Ok(Arc::new(Categorical::new(a.count(0, 2..=100_000)?))));
}

#[cfg(test)]
mod tests;
