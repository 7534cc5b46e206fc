//! Two classes.

use super::{Density, DensityJet, LikelihoodParameter, Peak, TargetKind};

/// y is 1 with probability 1/(1 + e^{−f}), else 0.
#[derive(Clone, Copy, Debug)]
pub struct Bernoulli;

impl Density for Bernoulli {
    fn name(&self) -> String {
        "bernoulli".to_string()
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        Vec::new()
    }

    fn log_density(&self, _: &[f64], y: f64, f: f64) -> DensityJet {
        // −log(1 + e^{−a}), a = ±f
        let sign = if y > 0.5 { 1.0 } else { -1.0 };
        let a = sign * f;
        let value = if a > 0.0 { -(-a).exp().ln_1p() } else { a - a.exp().ln_1p() };
        DensityJet { value, f: sign * logistic(-a), parameters: [0.0; 4] }
    }

    fn mean_and_variance(&self, _: &[f64], f: f64) -> (f64, f64) {
        (logistic(f), logistic(f) * logistic(-f))
    }

    fn cdf(&self, _: &[f64], y: f64, f: f64) -> f64 {
        match y {
            y if y < 0.0 => 0.0,
            y if y < 1.0 => logistic(-f),
            _ => 1.0,
        }
    }

    fn accepts(&self, y: f64) -> Result<(), &'static str> {
        if y == 0.0 || y == 1.0 { Ok(()) } else { Err("0 or 1") }
    }

    fn initial(&self, y: f64) -> f64 {
        2.0 * y - 1.0
    }

    fn peak(&self, _: &[f64], _: f64) -> Option<Peak> {
        // the logistic function's step, which a latent that is wider than it sees as a kink
        Some(Peak { centre: 0.0, width: 4.0 })
    }

    fn target_kind(&self) -> TargetKind {
        TargetKind::Class
    }
}

fn logistic(f: f64) -> f64 {
    1.0 / (1.0 + (-f).exp())
}
