//! The distribution that is predicted for one target at one point.

use super::Prediction;
use crate::likelihoods::{Mixture, Moments};
use std::f64::consts::{SQRT_2, TAU};

/// Newton's steps of a search before bisection alone goes on, and steps in all.
const NEWTON: usize = 12;
const MOST: usize = 200;
/// How near P(target ≤ quantile) is to what it should be: the rounding of a sum.
const NEAREST: f64 = 1e-15;
/// How near a rough quantile is, in the deviations of a normal.
const ROUGH: f64 = 0.2;

/// The distribution of one target at one point, ready for any number of questions.
///
/// ```
/// # use dkp::{data::Dataset, kernels::SquaredExponential, likelihoods::Gaussian, model::Architecture, train::{Start, initialise}};
/// # use std::sync::Arc;
/// # let x = faer::Mat::from_fn(1, 20, |_, n| n as f64 / 10.0 - 1.0);
/// # let data = Dataset::new(x.as_ref(), x.as_ref()).unwrap();
/// # let architecture = Architecture::nngp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(1)));
/// # let model = initialise(architecture, &data, Start { inducing: 5, ..Start::default() }).unwrap();
/// let prediction = model.predict(x.as_ref(), 10, dkp_tape::random::Key::new(0))?;
/// let first = prediction.marginal(0, 0);
/// let [low, high] = [0.05, 0.95].map(|p| first.quantile(p));
/// assert!((first.cdf(high) - first.cdf(low) - 0.9).abs() < 1e-12);
/// # Ok::<(), dkp::model::Error>(())
/// ```
pub struct Marginal<'a> {
    prediction: &'a Prediction,
    point: usize,
    target: usize,
    moments: Moments,
    /// Where it is a mixture of normals.
    mixture: Option<Mixture>,
}

impl<'a> Marginal<'a> {
    pub(super) fn new(prediction: &'a Prediction, point: usize, target: usize) -> Marginal<'a> {
        let (moments, mixture) = (prediction.moments(point, target), prediction.mixture(point, target));
        Marginal { prediction, point, target, moments, mixture }
    }

    /// Mean, and variances of model and noise.
    pub fn moments(&self) -> Moments {
        self.moments
    }

    /// The standard deviation.
    pub fn deviation(&self) -> f64 {
        (self.moments.model + self.moments.noise).sqrt()
    }

    /// Whether targets are whole numbers.
    pub fn is_discrete(&self) -> bool {
        self.prediction.is_discrete()
    }

    /// log p(y), or the logarithm of a whole number's probability.
    pub fn log_density(&self, y: f64) -> f64 {
        let mut targets = vec![f64::NAN; self.prediction.targets()];
        targets[self.target] = y;
        self.prediction.log_density(self.point, &targets)
    }

    /// P(target ≤ y).
    pub fn cdf(&self, y: f64) -> f64 {
        self.cdf_and_density(y).0
    }

    /// P(target ≤ y), and its derivative where that is known.
    fn cdf_and_density(&self, y: f64) -> (f64, Option<f64>) {
        match &self.mixture {
            Some(mixture) => {
                let (below, density) = mixture.at(y);
                (below, Some(density))
            }
            None => (self.prediction.mean_cdf(self.point, self.target, y), None),
        }
    }

    /// The y with P(target ≤ y) = p, or the least whole number with P(target ≤ y) ≥ p where targets are such; infinite for p ≤ 0 and p ≥ 1.
    pub fn quantile(&self, p: f64) -> f64 {
        let wanted = probit(p);
        // dz = dp/φ(z)
        self.search(p, NEAREST * TAU.sqrt() * (0.5 * wanted * wanted).exp())
    }

    /// About [`quantile`](Marginal::quantile).
    pub(crate) fn rough_quantile(&self, p: f64) -> f64 {
        self.search(p, ROUGH)
    }

    /// A y where z = Φ⁻¹(P(target ≤ y)) is nearer than `enough` to Φ⁻¹(p).
    ///
    /// z is linear in y for one normal and nearly so for a mixture of similar ones: Newton's method for it, or secants where the density is not
    /// known, safeguarded by bisection.
    fn search(&self, p: f64, enough: f64) -> f64 {
        if p.is_nan() || p <= 0.0 || p >= 1.0 {
            return if p.is_nan() { p } else { f64::INFINITY.copysign(p - 0.5) };
        }
        if self.is_discrete() {
            return self.whole_quantile(p);
        }
        let deviation = self.deviation().max(f64::MIN_POSITIVE);
        let (mut low, mut high, mut stride) = (f64::NEG_INFINITY, f64::INFINITY, deviation);
        let wanted = probit(p);
        let mut y = self.moments.mean + deviation * wanted;
        let mut last: Option<[f64; 2]> = None;
        for step in 0..MOST {
            let (below, density) = self.cdf_and_density(y);
            if below < p {
                low = y
            } else {
                high = y
            }
            let z = probit(below);
            if (wanted - z).abs() <= enough || high - low < 1e-13 * deviation {
                return y;
            }
            // z' = p(y)/φ(z)
            let slope = match density {
                Some(density) => density * TAU.sqrt() * (0.5 * z * z).exp(),
                None => last.map_or(f64::NAN, |[y0, z0]| (z - z0) / (y - y0)),
            };
            let slope = if slope > 0.0 && slope.is_finite() { slope } else { deviation.recip() };
            let next = y + (wanted - z) / slope;
            last = Some([y, z]);
            y = match (low.is_finite(), high.is_finite()) {
                _ if step < NEWTON && low < next && next < high && next.is_finite() => next,
                (true, true) => 0.5 * (low + high),
                (true, false) => low + stride,
                _ => high - stride,
            };
            stride *= 2.0;
        }
        y
    }

    /// By doubling and halving over whole numbers, from 0.
    fn whole_quantile(&self, p: f64) -> f64 {
        let reaches = |y: f64| self.cdf(y) >= p;
        let (mut below, mut high) = (-1.0, 0.0);
        while !reaches(high) && high < 1e15 {
            (below, high) = (high, 2.0 * high + 1.0);
        }
        while high - below > 1.0 {
            let middle = (0.5 * (below + high)).floor();
            if reaches(middle) { high = middle } else { below = middle }
        }
        high
    }
}

/// Φ⁻¹(p), infinite at 0 and 1.
fn probit(p: f64) -> f64 {
    -SQRT_2 * statrs::function::erf::erfc_inv(2.0 * p)
}
