//! Elementary functions written without branches, so that a loop over them becomes vector code.
//!
//! The standard library's functions are calls into libm, one element at a time. These are inlined, and a loop
//! that runs under [`vectorized`] is compiled once for each instruction set and chosen at run time. Accuracy is
//! about one unit in the last place; the bits depend on the instruction set only through fused
//! multiply-adds, and never on an element's position in the loop.

mod exp;
mod ln;
mod sin_cos;
mod special;

use std::sync::LazyLock;

pub use exp::exp;
pub use ln::ln;
pub use sin_cos::sin_cos_turns;
pub use special::{digamma, ln_gamma};

static ARCH: LazyLock<pulp::Arch> = LazyLock::new(pulp::Arch::new);

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
