//! Matrix distributions: densities, draws, and both at once where that is cheaper.
//!
//! Each is written once, recorded on a [`Tape`] from nodes ([`MatrixDistribution`]), which is what processes are made of; a
//! [`Distribution`] is the same with numbers for parameters, checked when it is made.
//!
//! ```
//! use dkp::distributions::inverse_wishart;
//! use dkp_tape::random::Key;
//! use faer::mat;
//! let scale = mat![[2.0, 0.5], [0.5, 1.0]];
//! let g = inverse_wishart(scale.as_ref(), 6.5)?;
//! let (draw, log_density) = g.sample_with_log_density(Key::new(1))?;
//! assert!((g.log_density(draw.as_ref())? - log_density).abs() < 1e-12);
//! let error = inverse_wishart(scale.as_ref(), 1.0).unwrap_err();
//! assert_eq!(error.to_string(), "the degrees of freedom of a 2×2 inverse Wishart must be greater than 1 and at most 1e9, but are 1");
//! # Ok::<(), dkp::distributions::Error>(())
//! ```

mod bartlett;
mod error;
mod inverse_gamma;
mod inverse_wishart;
mod matrix_normal;
mod multivariate_t;
mod residual_wishart;
mod wishart;

use dkp_tape::random::Key;
use dkp_tape::{Node, Pass, Program, Tape, Workspace};
use faer::{Mat, MatRef};
use std::sync::Arc;

pub use bartlett::DegreesOfFreedom;
pub use error::Error;
pub use inverse_gamma::{InverseGamma, inverse_gamma};
pub use inverse_wishart::{InverseWishart, InverseWishartDraw, inverse_wishart};
pub use matrix_normal::{MatrixNormal, matrix_normal};
pub use multivariate_t::{MultivariateT, multivariate_t};
pub use residual_wishart::ResidualWishart;
pub use wishart::{SingularWishart, Wishart, wishart};

/// A distribution over matrices whose parameters are nodes.
pub trait MatrixDistribution {
    /// Rows and columns of a draw.
    fn shape(&self) -> (usize, usize);

    /// The log-density at `x`, 1×1.
    fn log_density(&self, tape: &mut Tape, x: Node) -> Node;

    /// A draw.
    fn draw(&self, tape: &mut Tape) -> Node;

    /// A draw and its log-density.
    fn draw_with_log_density(&self, tape: &mut Tape) -> (Node, Node) {
        let x = self.draw(tape);
        let log_density = self.log_density(tape, x);
        (x, log_density)
    }
}

/// What a density is defined on, beyond the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    /// All matrices.
    Everything,
    /// Positive numbers.
    Positive,
    /// Symmetric matrices, which are positive definite where the density needs it.
    Symmetric,
    /// Symmetric matrices of this rank whose first rows are independent.
    Rank(usize),
}

/// A distribution with numbers for parameters.
///
/// A draw is a function of its key: the same key gives the same draw, and keys that differ in seed, step or draw give independent ones.
#[derive(Debug)]
pub struct Distribution {
    support: Support,
    shape: (usize, usize),
    parameters: Workspace,
    draw: (Arc<Program>, Node),
    density: (Arc<Program>, Node, Node),
    both: (Arc<Program>, Node, Node),
}

impl Distribution {
    /// Runs what depends on the parameters alone, which fails if these are wrong, and records the rest.
    fn new<D: MatrixDistribution>(
        support: Support,
        mut tape: Tape,
        record: impl FnOnce(&mut Tape) -> D,
    ) -> Result<Distribution, Error> {
        let distribution = record(&mut tape);
        let (rows, cols) = distribution.shape();
        let draw = {
            let mut nested = tape.nested("draw");
            let x = distribution.draw(&mut nested);
            (nested.finish(), x)
        };
        let density = {
            let mut nested = tape.nested("log-density");
            let x = nested.input("x", rows, cols);
            let value = distribution.log_density(&mut nested, x);
            (nested.finish(), x, value)
        };
        let both = {
            let mut nested = tape.nested("draw with log-density");
            let (x, value) = distribution.draw_with_log_density(&mut nested);
            (nested.finish(), x, value)
        };
        let mut parameters = tape.finish().workspace();
        parameters.forward(Key::new(0), Pass::Value).map_err(|f| Error::from_failure("the scale", f))?;
        Ok(Distribution { support, shape: (rows, cols), parameters, draw, density, both })
    }

    /// The log-density at `x`.
    pub fn log_density(&self, x: MatRef<'_, f64>) -> Result<f64, Error> {
        error::shape("x", x, self.shape)?;
        error::finite("x", x)?;
        match self.support {
            Support::Everything => {}
            Support::Positive => error::positive("x", x[(0, 0)])?,
            Support::Symmetric => error::symmetric("x", x)?,
            Support::Rank(rank) => error::of_rank("x", x, rank)?,
        }
        let (program, leaf, value) = &self.density;
        let mut run = program.workspace();
        run.set(*leaf, x).map_err(|f| Error::from_failure("x", f))?;
        self.run(&mut run, Key::new(0), "x")?;
        error::representable("the log-density", run.value(*value))?;
        Ok(run.scalar(*value))
    }

    /// A draw.
    pub fn sample(&self, key: Key) -> Result<Mat<f64>, Error> {
        let (program, x) = &self.draw;
        let mut run = program.workspace();
        self.run(&mut run, key, "the draw")?;
        error::representable("the draw", run.value(*x))?;
        Ok(run.value(*x).to_owned())
    }

    /// A draw and its log-density.
    pub fn sample_with_log_density(&self, key: Key) -> Result<(Mat<f64>, f64), Error> {
        let (program, x, value) = &self.both;
        let mut run = program.workspace();
        self.run(&mut run, key, "the draw")?;
        error::representable("the draw", run.value(*x))?;
        error::representable("the log-density", run.value(*value))?;
        Ok((run.value(*x).to_owned(), run.scalar(*value)))
    }

    fn run(&self, run: &mut Workspace, key: Key, what: &'static str) -> Result<(), Error> {
        run.forward_within(&[&self.parameters], key, Pass::Value).map_err(|f| Error::from_failure(what, f))
    }
}

/// A constant node with a matrix's values.
pub(crate) fn constant(tape: &mut Tape, m: MatRef<'_, f64>) -> Node {
    let values: Vec<f64> = m.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<f64>>()).collect();
    tape.constant(m.nrows(), m.ncols(), &values)
}

#[cfg(test)]
mod tests;
