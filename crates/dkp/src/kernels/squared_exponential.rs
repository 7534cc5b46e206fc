//! The squared-exponential kernel.

use dkp_tape::{Exponential, KernelMap, Profile};

/// K = h²·exp(−R/(2ℓ²)), with parameters h and ℓ.
#[derive(Clone, Copy, Debug)]
pub struct SquaredExponential;

impl KernelMap for SquaredExponential {
    type Form = Exponential<0>;

    fn name(&self) -> String {
        "sqexp".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], u: f64) -> Profile<0> {
        Profile { value: -0.5 * u, slope: -0.5, parameters: [] }
    }
}
