//! Elementary functions written without branches, so that a loop over them becomes vector code.
//!
//! The standard library's functions are calls into libm, one element at a time. These are inlined, and a loop
//! that runs under [`vectorized`] is compiled once for each instruction set and chosen at run time. They are accurate to
//! two or three units in the last place, and an element's bits do not depend on its position in the loop.

mod arc;
mod erfc;
mod exp;
mod ln;
mod special;

use std::sync::LazyLock;

pub use arc::{acos, asin};
pub use erfc::{erfc, scaled_erfc};
pub use exp::exp;
pub use ln::ln;
pub(crate) use ln::ln_normal;
pub use special::{digamma, ln_gamma, trigamma};

static ARCH: LazyLock<pulp::Arch> = LazyLock::new(pulp::Arch::new);

/// max(x, 0), but NaN where x is NaN: the standard library's `max` would hide it. Negative zero stays.
///
/// ```
/// use dkp_tape::math::positive_part;
/// assert_eq!(positive_part(-1e-17), 0.0);
/// assert!(positive_part(f64::NAN).is_nan());
/// ```
#[inline(always)]
pub fn positive_part(x: f64) -> f64 {
    if 0.0 > x { 0.0 } else { x }
}

/// The instruction set found on this machine.
#[inline(always)]
pub(crate) fn arch() -> pulp::Arch {
    *ARCH
}

/// Runs `f` compiled for the best instruction set of this machine.
///
/// Mark the closure `#[inline(always)]` and keep what it calls inlinable: only inlined code is recompiled.
///
/// ```
/// use dkp_tape::math::{exp, vectorized};
/// let x = [0.0, 0.5, 1.0];
/// let mut y = [0.0; 3];
/// vectorized(|| {
///     for (y, x) in y.iter_mut().zip(x) {
///         *y = exp(-x);
///     }
/// });
/// assert!((y[2] - (-1.0_f64).exp()).abs() < 1e-16);
/// ```
#[inline(always)]
pub fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    arch().dispatch(f)
}
