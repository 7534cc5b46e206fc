//! Counts.

use super::{Density, DensityJet, LikelihoodParameter, Peak};
use dkp_tape::math::ln_gamma;

/// y is a count with rate e^f.
#[derive(Clone, Copy, Debug)]
pub struct Poisson;

/// The largest logarithm of a rate; a latent beyond it is a sign of divergence, and its rate must not overflow.
const LARGEST: f64 = 100.0;

impl Density for Poisson {
    fn name(&self) -> String {
        "poisson".to_string()
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        Vec::new()
    }

    fn log_density(&self, _: &[f64], y: f64, f: f64) -> DensityJet {
        let rate = f.min(LARGEST).exp();
        DensityJet { value: y * f - rate - ln_gamma(y + 1.0), f: y - rate, parameters: [0.0; 4] }
    }

    fn mean_and_variance(&self, _: &[f64], f: f64) -> (f64, f64) {
        let rate = f.min(LARGEST).exp();
        (rate, rate)
    }

    fn cdf(&self, _: &[f64], y: f64, f: f64) -> f64 {
        if y < 0.0 {
            return 0.0;
        }
        // P(Y ≤ k) is an incomplete gamma function of the rate
        let rate = f.min(LARGEST).exp().max(f64::MIN_POSITIVE);
        statrs::function::gamma::gamma_ur(y.floor() + 1.0, rate)
    }

    fn initial(&self, y: f64) -> f64 {
        (y + 0.5).ln()
    }

    fn peak(&self, _: &[f64], y: f64) -> Option<Peak> {
        Some(Peak { centre: self.initial(y.max(0.0)), width: (y.max(0.0) + 0.5).sqrt().recip() })
    }

    fn is_discrete(&self) -> bool {
        true
    }

    fn accepts(&self, y: f64) -> Result<(), &'static str> {
        if y >= 0.0 && y.fract() == 0.0 { Ok(()) } else { Err("a whole number, at least 0") }
    }
}
