//! The output layer: a Gaussian process with global inducing points.
//!
//! ```
//! use dkp::gram::{Block, Gram};
//! use dkp::kernels::Relu;
//! use dkp::output::Posterior;
//! use dkp_tape::{Pass, Tape, random::Key};
//!
//! // pseudo-targets 1 and 2 with noise of deviation 0.1 at two inducing points, and a data point that is the first of them
//! let mut tape = Tape::new("output");
//! let (inducing, data) = (tape.constant(2, 2, &[1.0, 0.0, 0.0, 1.0]), tape.constant(2, 1, &[1.0, 0.0]));
//! let (targets, deviations) = (tape.constant(2, 1, &[1.0, 2.0]), tape.constant(2, 1, &[0.1, 0.1]));
//! let below = tape.constant(2, 2, &[0.0; 4]);
//! let noise = tape.lower(deviations, below);
//! let posterior = Posterior::new(&mut tape, targets, &[noise]);
//! let ii = Block::from_features(&mut tape, inducing);
//! let k_ii = ii.kernel(&mut tape, &Relu, &[]);
//! let kernel = Gram::from_features(&mut tape, ii, inducing, data).kernel(&mut tape, k_ii, &Relu, &[]);
//! let (mean, variance) = posterior.given(&mut tape, k_ii).marginals(&mut tape, &kernel);
//!
//! let mut run = tape.finish().workspace();
//! run.forward(Key::new(0), Pass::Value)?;
//! assert!((run.scalar(mean) - 1.0).abs() < 0.02 && run.scalar(variance) < 0.011);
//! # Ok::<(), dkp_tape::Failure>(())
//! ```

mod posterior;
mod residual;

pub use posterior::{Given, Posterior};
pub use residual::Residual;

#[cfg(test)]
mod tests;
