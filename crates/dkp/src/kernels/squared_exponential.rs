//! The squared-exponential kernel.

use super::stationary;
use dkp_tape::{Jet, KernelMap, math};

/// K = h²·exp(−R/(2ℓ²)), with parameters h and ℓ.
#[derive(Clone, Copy, Debug)]
pub struct SquaredExponential;

impl KernelMap for SquaredExponential {
    type Parameters = [f64; 2];
    const NAMES: &'static [&'static str] = &["height", "lengthscale"];
    const OF_DISTANCE: bool = true;
    const HAS_HEIGHT: bool = true;
    const FROM_VALUE: bool = true;

    fn name(&self) -> String {
        "sqexp".to_string()
    }

    #[inline(always)]
    fn at(&self, parameters: &[f64; 2], g: f64, row: f64, col: f64) -> Jet<[f64; 2]> {
        stationary(parameters, g, row, col, |u| {
            let decay = math::exp(-0.5 * u);
            (decay, -0.5 * decay)
        })
    }

    #[inline(always)]
    fn again(&self, parameters: &[f64; 2], g: f64, row: f64, col: f64, value: f64) -> Jet<[f64; 2]> {
        let inverse = 1.0 / (parameters[0] * parameters[0]);
        stationary(parameters, g, row, col, |_| (inverse * value, -0.5 * inverse * value))
    }
}
