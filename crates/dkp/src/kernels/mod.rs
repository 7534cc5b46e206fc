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
mod rational_quadratic;
mod squared_exponential;

use crate::Registry;
use std::sync::Arc;

pub use arc_cosine::{ArcCosine0, ArcCosine2, Relu};
pub use arcsine::Arcsine;
pub use identity::Identity;
pub use kernel::{Kernel, Product, Scaled, Sum};
pub use leaky_relu::LeakyRelu;
pub use linear::Linear;
pub use matern::{Matern12, Matern32, Matern52};
pub use rational_quadratic::RationalQuadratic;
pub use squared_exponential::SquaredExponential;

/// The kernels of this crate, by name.
pub(crate) fn register(registry: &mut Registry) {
    registry.add_kernel("sqexp", |_| Ok(Arc::new(SquaredExponential)));
    registry.add_kernel("matern12", |_| Ok(Arc::new(Matern12)));
    registry.add_kernel("matern32", |_| Ok(Arc::new(Matern32)));
    registry.add_kernel("matern52", |_| Ok(Arc::new(Matern52)));
    registry.add_kernel("rational_quadratic", |_| Ok(Arc::new(RationalQuadratic)));
    registry.add_kernel("relu", |_| Ok(Arc::new(Relu)));
    registry.add_kernel("leaky_relu(slope)", |a| Ok(Arc::new(LeakyRelu { slope: a.number(0)? })));
    registry.add_kernel("arccos0", |_| Ok(Arc::new(ArcCosine0)));
    registry.add_kernel("arccos2", |_| Ok(Arc::new(ArcCosine2)));
    registry.add_kernel("arcsine", |_| Ok(Arc::new(Arcsine)));
    registry.add_kernel("linear", |_| Ok(Arc::new(Linear)));
    registry.add_kernel("identity", |_| Ok(Arc::new(Identity)));
    registry.add_kernel("scaled(kernel)", |a| Ok(Arc::new(Scaled(a.kernel(0)?))));
    registry.add_kernel("sum(kernel, kernel)", |a| Ok(Arc::new(Sum(a.kernel(0)?, a.kernel(1)?))));
    registry.add_kernel("product(kernel, kernel)", |a| Ok(Arc::new(Product(a.kernel(0)?, a.kernel(1)?))));
}

#[cfg(test)]
mod tests;
