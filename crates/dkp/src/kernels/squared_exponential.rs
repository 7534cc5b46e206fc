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
    fn again(&self, [h, l]: &[f64; 2], g: f64, row: f64, col: f64, value: f64) -> Jet<[f64; 2]> {
        // the same for all elements: not repeated in a loop
        let (inverse, twice) = (1.0 / l, 2.0 / h);
        let precision = inverse * inverse;
        let u = precision * math::positive_part(row + col - 2.0 * g);
        Jet::of_distance(value, -0.5 * precision * value, [twice * value, inverse * u * value])
    }
}
