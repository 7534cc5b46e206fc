//! The Matérn kernels, of r = √R/ℓ.

use dkp_tape::{KernelMap, Profile, Stationary, math};

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
    type Form = Stationary<0>;

    fn name(&self) -> String {
        "matern12".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], u: f64) -> Profile<0> {
        let r = u.sqrt();
        let decay = math::exp(-r);
        Profile { value: decay, slope: if r == 0.0 { 0.0 } else { -0.5 * decay / r }, parameters: [] }
    }
}

impl KernelMap for Matern32 {
    type Form = Stationary<0>;

    fn name(&self) -> String {
        "matern32".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], u: f64) -> Profile<0> {
        let r = (3.0 * u).sqrt();
        let decay = math::exp(-r);
        Profile { value: (1.0 + r) * decay, slope: -1.5 * decay, parameters: [] }
    }
}

impl KernelMap for Matern52 {
    type Form = Stationary<0>;

    fn name(&self) -> String {
        "matern52".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], u: f64) -> Profile<0> {
        let r = (5.0 * u).sqrt();
        let decay = math::exp(-r);
        let value = (r * r).mul_add(1.0 / 3.0, 1.0 + r) * decay;
        Profile { value, slope: -5.0 / 6.0 * (1.0 + r) * decay, parameters: [] }
    }
}
