//! Differentiable programs over dense matrices, recorded once and executed many times.
//!
//! A [`Tape`] records operations on [`Node`]s, which are matrices of fixed shape. The finished [`Program`] runs in a [`Workspace`]: a
//! forward pass computes every node, a backward pass the gradients of the outputs in the leaves. Shapes and memory are
//! fixed when recording, so that a run allocates nothing; arithmetic is [faer]'s, on one thread for each workspace.
//!
//! Programs nest. A training step is three of them, each reading nodes of those around it: a *step* (what depends on
//! parameters alone), *draws* (the inducing part of a posterior draw) and *tiles* (some data points each). [`Scopes`] runs the
//! three on all cores; the same seed gives the same bits on any number of them.
//!
//! Random numbers are addressed, not generated in sequence: see [`random`]. Every operation's gradient is tested against
//! finite differences by [`gradcheck`], which later layers use too.
//!
//! Symmetric matrices: an operation that reads a matrix as symmetric (`cholesky`, `kernel_symmetric`) returns a gradient that
//! is right for symmetric changes, and `symmetric_product` accepts any gradient. Of a [`Lower`] matrix's gradient only the
//! lower triangle has a meaning.
//!
//! # Products and quotients of triangles
//!
//! The name of an operation is its formula, read from left to right, and its arguments stand in that order. `lower` is a [`Lower`] matrix, and a
//! general matrix is not named; `times` is a product, `solve` one with an inverse on its left, `over` one with an inverse on its right. Where both
//! are triangular, so is the result. A name that goes on with another operation's (`_squared_norm`, `_row_norms`) does both in one.
//!
//! | formula | for a matrix X | for a triangle B |
//! |---|---|---|
//! | L·X, Lᵀ·X | [`lower_times(l, x)`](Tape::lower_times), [`lower_transposed_times(l, x)`](Tape::lower_transposed_times) | |
//! | X·L, X·Lᵀ | [`times_lower(x, l)`](Tape::times_lower), [`times_lower_transposed(x, l)`](Tape::times_lower_transposed) | |
//! | L⁻¹·X, L⁻ᵀ·X | [`lower_solve(l, x)`](Tape::lower_solve), [`lower_transposed_solve(l, x)`](Tape::lower_transposed_solve) | [`lower_solve_lower(l, b)`](Tape::lower_solve_lower) |
//! | ‖L⁻¹·B‖² | | [`lower_solve_lower_squared_norm(l, b)`](Tape::lower_solve_lower_squared_norm) |
//! | X·L⁻ᵀ | [`over_lower_transposed(x, l)`](Tape::over_lower_transposed) | |
//! | its rows' squared norms | [`over_lower_transposed_row_norms(x, l)`](Tape::over_lower_transposed_row_norms) | |
//! | B·L⁻¹ | | [`lower_over_lower(b, l)`](Tape::lower_over_lower) |
//! | X·Xᵀ | [`symmetric_product(x)`](Tape::symmetric_product) | [`symmetric_product_lower(b)`](Tape::symmetric_product_lower) |
//! | s·X | [`scale(s, x)`](Tape::scale) | [`scale_lower(s, b)`](Tape::scale_lower) |
//!
//! # Example
//!
//! ```
//! use dkp_tape::{Pass, Tape, random::Key};
//!
//! // log N(y; 0, K) with K = XXᵀ + σ²I, and its gradient in σ²
//! let mut tape = Tape::new("Gaussian");
//! let (x, y) = (tape.input("x", 3, 2), tape.input("y", 3, 1));
//! let noise = tape.leaf("noise", 1, 1);
//! let linear = tape.symmetric_product(x);
//! let k = tape.add_diagonal(linear, noise);
//! let l = tape.cholesky(k);
//! let white = tape.lower_solve(l, y);
//! let (fit, volume) = (tape.squared_norm(white), tape.log_det(l));
//! let twice = tape.add(fit, volume);
//! let log_density = tape.affine(twice, -0.5, -1.5 * std::f64::consts::TAU.ln());
//! tape.output("log density", log_density);
//!
//! let mut run = tape.finish().workspace();
//! run.set_slice(x, &[1.0, 0.0, 1.0, 0.0, 1.0, 1.0])?;
//! run.set_slice(y, &[0.3, -0.2, 0.5])?;
//! run.set_slice(noise, &[0.1])?;
//! run.forward(Key::new(0), Pass::Gradient)?;
//! run.backward(&[1.0])?;
//! assert!(run.scalar(log_density) < 0.0);
//! assert!(run.gradient(noise)[(0, 0)].is_finite());
//! # Ok::<(), dkp_tape::Failure>(())
//! ```

mod dense;
mod failure;
pub mod gradcheck;
mod layout;
pub mod math;
mod node;
pub mod operation;
mod ops;
mod program;
pub mod random;
mod scopes;
mod tape;
mod workspace;

pub use failure::{Failure, Place, Problem};
pub use node::{Lower, Node, Operand};
pub use operation::Jitter;
pub use ops::{
    Angular, Element, Exponential, Form, General, Jet, KernelMap, MOST_PARAMETERS, Point, Profile, Stationary,
};
pub use program::Program;
pub use scopes::{Fill, Plan, Scopes, Totals, Visit, Visitor, Weights};
pub use tape::{Memory, Tape};
pub use workspace::{Pass, Workspace};
