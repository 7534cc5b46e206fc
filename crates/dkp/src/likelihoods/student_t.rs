//! Noise with heavy tails.

use super::normals::trapezoid;
use super::{Density, DensityJet, LikelihoodParameter, ParameterStart, Peak};
use dkp_tape::math::{digamma, ln_gamma};
use std::f64::consts::PI;

/// y = f + σ·t_ν: outliers cost little. Parameters σ and ν > 2, so that the noise has a variance.
#[derive(Clone, Copy, Debug)]
pub struct StudentT;

impl Density for StudentT {
    fn name(&self) -> String {
        "student_t".to_string()
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        vec![
            LikelihoodParameter { name: "scale", rows: 1, floor: 1e-3, start: ParameterStart::NoiseDeviation },
            LikelihoodParameter { name: "degrees of freedom", rows: 1, floor: 2.0, start: ParameterStart::At(4.0) },
        ]
    }

    /// log Γ((ν+1)/2) − log Γ(ν/2) − ½log(νπσ²)
    fn constant(&self, parameters: &[f64], _: f64) -> DensityJet {
        let (sigma, nu) = (parameters[0], parameters[1]);
        let value = ln_gamma(0.5 * (nu + 1.0)) - ln_gamma(0.5 * nu) - 0.5 * (nu * PI).ln() - sigma.ln();
        let by_nu = 0.5 * (digamma(0.5 * (nu + 1.0)) - digamma(0.5 * nu) - 1.0 / nu);
        DensityJet { value, f: 0.0, parameters: [-1.0 / sigma, by_nu, 0.0, 0.0] }
    }

    /// −½(ν+1)·log(1 + z²/ν), z = (y − f)/σ
    fn log_density(&self, parameters: &[f64], y: f64, f: f64) -> DensityJet {
        let (sigma, nu) = (parameters[0], parameters[1]);
        let z = (y - f) / sigma;
        let log = (z * z / nu).ln_1p();
        let pull = (nu + 1.0) * z / (nu + z * z);
        let by_nu = 0.5 * (pull * z / nu - log);
        DensityJet { value: -0.5 * (nu + 1.0) * log, f: pull / sigma, parameters: [pull * z / sigma, by_nu, 0.0, 0.0] }
    }

    fn mean_and_variance(&self, parameters: &[f64], f: f64) -> (f64, f64) {
        let (sigma, nu) = (parameters[0], parameters[1]);
        (f, sigma * sigma * nu / (nu - 2.0))
    }

    fn peak(&self, parameters: &[f64], y: f64) -> Option<Peak> {
        Some(Peak { centre: y, width: parameters[0] })
    }

    /// t is a mixture: y|f, λ ~ N(f, σ²/λ) with λ ~ Gamma(ν/2, ν/2), so that u = −log λ has the density aᵃ/Γ(a)·e^{−a(u + e^{−u})}, a = ν/2.
    fn noises(&self, parameters: &[f64], visit: &mut dyn FnMut(f64, f64)) -> bool {
        let (sigma, a) = (parameters[0], 0.5 * parameters[1]);
        let constant = a * a.ln() - ln_gamma(a);
        let log_law = |u: f64| constant - a * (u + (-u).exp());
        trapezoid(a, log_law, |u, log_weight| visit(log_weight, sigma * sigma * u.exp()));
        true
    }
}
