//! A likelihood in one file: Laplace noise with a learned scale b, p(y|f) = exp(−|y − f|/b)/(2b).

use dkp::likelihoods::{Density, DensityJet, LikelihoodParameter, ParameterStart, Peak};

#[derive(Clone, Copy)]
pub struct Laplace;

impl Density for Laplace {
    fn name(&self) -> String {
        "laplace".to_string()
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        vec![LikelihoodParameter { name: "scale", rows: 1, floor: 1e-4, start: ParameterStart::NoiseDeviation }]
    }

    fn log_density(&self, b: &[f64], y: f64, f: f64) -> DensityJet {
        let (b, r) = (b[0], y - f);
        let value = -(2.0 * b).ln() - r.abs() / b;
        DensityJet { value, f: r.signum() / b, parameters: [r.abs() / (b * b) - 1.0 / b, 0.0, 0.0, 0.0] }
    }

    fn mean_and_variance(&self, b: &[f64], f: f64) -> (f64, f64) {
        (f, 2.0 * b[0] * b[0])
    }

    fn cdf(&self, b: &[f64], y: f64, f: f64) -> f64 {
        let z = (y - f) / b[0];
        if z < 0.0 { 0.5 * z.exp() } else { 1.0 - 0.5 * (-z).exp() }
    }

    fn peak(&self, b: &[f64], y: f64) -> Option<Peak> {
        Some(Peak { centre: y, width: b[0] })
    }
}
