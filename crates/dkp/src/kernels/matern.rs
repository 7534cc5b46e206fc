//! The Matérn kernels, of r = √R/ℓ.

use super::stationary;
use dkp_tape::{Jet, KernelMap, math};

/// Matérn ½, the exponential kernel: K = h²·e^{−r}, with parameters h and ℓ.
///
/// ∂k/∂R = −h²·e^{−r}/(2ℓ√R) is infinite at R = 0 and returned as 0 there.
#[derive(Clone, Copy, Debug)]
pub struct Matern12;

/// Matérn 3/2: K = h²·(1 + √3r)·e^{−√3r}, with parameters h and ℓ; ∂k/∂R = −3h²/(2ℓ²)·e^{−√3r}.
#[derive(Clone, Copy, Debug)]
pub struct Matern32;

/// Matérn 5/2: K = h²·(1 + √5r + 5r²/3)·e^{−√5r}, with parameters h and ℓ; ∂k/∂R = −5h²/(6ℓ²)·(1 + √5r)·e^{−√5r}.
#[derive(Clone, Copy, Debug)]
pub struct Matern52;

impl KernelMap for Matern12 {
    type Parameters = [f64; 2];
    const NAMES: &'static [&'static str] = &["height", "lengthscale"];
    const OF_DISTANCE: bool = true;
    const HAS_HEIGHT: bool = true;

    fn name(&self) -> String {
        "matern12".to_string()
    }

    #[inline(always)]
    fn at(&self, parameters: &[f64; 2], g: f64, row: f64, col: f64) -> Jet<[f64; 2]> {
        stationary(parameters, g, row, col, |u| {
            let r = u.sqrt();
            let decay = math::exp(-r);
            (decay, if r == 0.0 { 0.0 } else { -0.5 * decay / r })
        })
    }
}

impl KernelMap for Matern32 {
    type Parameters = [f64; 2];
    const NAMES: &'static [&'static str] = &["height", "lengthscale"];
    const OF_DISTANCE: bool = true;
    const HAS_HEIGHT: bool = true;

    fn name(&self) -> String {
        "matern32".to_string()
    }

    #[inline(always)]
    fn at(&self, parameters: &[f64; 2], g: f64, row: f64, col: f64) -> Jet<[f64; 2]> {
        stationary(parameters, g, row, col, |u| {
            let r = (3.0 * u).sqrt();
            let decay = math::exp(-r);
            ((1.0 + r) * decay, -1.5 * decay)
        })
    }
}

impl KernelMap for Matern52 {
    type Parameters = [f64; 2];
    const NAMES: &'static [&'static str] = &["height", "lengthscale"];
    const OF_DISTANCE: bool = true;
    const HAS_HEIGHT: bool = true;

    fn name(&self) -> String {
        "matern52".to_string()
    }

    #[inline(always)]
    fn at(&self, parameters: &[f64; 2], g: f64, row: f64, col: f64) -> Jet<[f64; 2]> {
        stationary(parameters, g, row, col, |u| {
            let r = (5.0 * u).sqrt();
            let decay = math::exp(-r);
            ((r * r).mul_add(1.0 / 3.0, 1.0 + r) * decay, -5.0 / 6.0 * (1.0 + r) * decay)
        })
    }
}
