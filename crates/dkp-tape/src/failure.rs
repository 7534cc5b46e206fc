//! What can go wrong when a program runs.

use std::fmt;

/// A run that could not be completed. The workspace stays usable: run again with other values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct Failure {
    /// Where it happened.
    pub place: Box<Place>,
    /// What happened.
    pub problem: Problem,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A matrix has no Cholesky factor.
    #[error(
        "the {size}×{size} matrix is not positive definite: pivot {pivot} is {value:e}; a larger diagonal would help"
    )]
    NotPositiveDefinite {
        /// Rows of the matrix.
        size: usize,
        /// The first pivot that is not positive, counted from 0.
        pivot: usize,
        /// Its value, possibly NaN.
        value: f64,
    },
    /// An argument outside the domain of an operation.
    #[error("{argument} must be {expected}, but is {value:e}")]
    OutOfDomain {
        /// The argument's name.
        argument: &'static str,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        value: f64,
    },
    /// A value given for a leaf is infinite or NaN.
    #[error("the value given for row {row}, column {col} is {value}; leaves must be finite")]
    NonFiniteLeaf {
        /// Row of the first such element.
        row: usize,
        /// Its column.
        col: usize,
        /// Its value.
        value: f64,
    },
    /// A gradient is infinite or NaN though every output was finite.
    #[error("the gradient for row {row}, column {col} is {value}; some derivative on the way to it is not finite")]
    NonFiniteGradient {
        /// Row of the first such element.
        row: usize,
        /// Its column.
        col: usize,
        /// Its value.
        value: f64,
    },
    /// An output of a program is infinite or NaN though every leaf was finite.
    #[error("the output is {value}; some intermediate value overflowed or left a function's domain")]
    NonFiniteOutput {
        /// Its value.
        value: f64,
    },
}

/// The operation at which a run stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// The program's name.
    pub program: String,
    /// The section that was being recorded, empty if none was named.
    pub section: String,
    /// The operation, or the leaf's name.
    pub operation: String,
    /// The node's number in its program.
    pub node: usize,
    /// The draw, if the program runs once for each.
    pub draw: Option<usize>,
    /// The tile, if the program runs once for each.
    pub tile: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "program \"{}\"", self.program)?;
        if let Some(draw) = self.draw {
            write!(f, ", draw {draw}")?;
        }
        if let Some(tile) = self.tile {
            write!(f, ", tile {tile}")?;
        }
        if !self.section.is_empty() {
            write!(f, ", {}", self.section)?;
        }
        write!(f, ", {} (node {})", self.operation, self.node)
    }
}
