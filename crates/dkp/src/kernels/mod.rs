//! Kernels as functions of a Gram matrix: K_ij depends on (G_ij, G_ii, G_jj) alone.
//!
//! Each is a [`KernelMap`](dkp_tape::KernelMap): its formula with derivatives at one element, written for vector loops; a
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

#[cfg(test)]
mod tests;
