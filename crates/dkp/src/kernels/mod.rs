//! Kernels as functions of a Gram matrix: K_ij depends on (G_ij, G_ii, G_jj) alone.
//!
//! Each is a [`KernelMap`](dkp_tape::KernelMap): its value and its derivatives at one element, written for vector loops; a
//! [`Kernel`] is what a model takes, and what sums, products and scalings of kernels are. With
//! R_ij = G_ii + G_jj − 2G_ij, clipped at 0, the stationary ones are functions of R. Their parameters are positive: the height
//! h, the lengthscale ℓ, and what else the formula names, in that order.
//!
//! Where a true derivative is infinite (Matérn ½ and the arc-cosine kernel of order 0 at coincident points, arc-cosine kernels
//! where one row is zero) it is returned as 0. Derivatives along the diagonal are exact: 0 for stationary kernels, 1 for the
//! ReLU kernel.
//!
//! ```
//! use dkp::kernels::SquaredExponential;
//! use dkp_tape::Tape;
//! let mut tape = Tape::new("kernel");
//! let x = tape.leaf("points", 2, 5);
//! let (h, l) = (tape.leaf("height", 1, 1), tape.leaf("lengthscale", 1, 1));
//! let gram = tape.symmetric_product(x.t());
//! let k = tape.kernel_symmetric(SquaredExponential, gram, &[h, l]);
//! assert_eq!((k.rows(), k.cols()), (5, 5));
//! ```

mod arc_cosine;
mod arcsine;
mod identity;
mod kernel;
mod leaky_relu;
mod linear;
mod matern;
mod named;
mod rational_quadratic;
mod squared_exponential;

use dkp_tape::Jet;
use dkp_tape::math::positive_part;

pub use arc_cosine::{ArcCosine0, ArcCosine2, Relu};
pub use arcsine::Arcsine;
pub use identity::Identity;
pub use kernel::{Kernel, Product, Scaled, Sum};
pub use leaky_relu::LeakyRelu;
pub use linear::Linear;
pub use matern::{Matern12, Matern32, Matern52};
pub use named::{KERNEL_NAMES, named};
pub use rational_quadratic::RationalQuadratic;
pub use squared_exponential::SquaredExponential;

/// A stationary kernel h²·ρ(u), u = R/ℓ², from a function that returns ρ(u) and ρ'(u).
#[inline(always)]
fn stationary([h, l]: &[f64; 2], g: f64, row: f64, col: f64, rho: impl FnOnce(f64) -> (f64, f64)) -> Jet<[f64; 2]> {
    // the same for all elements: not repeated in a loop
    let (inverse, height, twice) = (1.0 / l, h * h, 2.0 * h);
    let precision = inverse * inverse;
    let u = precision * positive_part(row + col - 2.0 * g);
    let (value, slope) = rho(u);
    Jet::of_distance(height * value, precision * height * slope, [twice * value, -2.0 * inverse * height * u * slope])
}

#[cfg(test)]
mod tests;
