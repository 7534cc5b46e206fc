//! Parameters and arguments that a distribution cannot have.

use dkp_tape::{Failure, Problem};
use faer::MatRef;

/// Asymmetry of a matrix that rounding explains, relative to its largest element.
const ASYMMETRY: f64 = 1e-10;
/// What rounding leaves of S₂₂ − S₂₁S₁₁⁻¹S₁₂ for a matrix of low rank, relative to its largest element.
const RANK: f64 = 1e-6;

/// Why a distribution cannot be made, or a density not be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Degrees of freedom outside their range.
    #[error("the degrees of freedom of a {size}×{size} {distribution} must be {expected}, but are {value}")]
    DegreesOfFreedom {
        /// The distribution.
        distribution: &'static str,
        /// Rows of a draw.
        size: usize,
        /// The range.
        expected: String,
        /// What was given.
        value: f64,
    },
    /// A number that must be positive and finite.
    #[error("{name} must be positive and finite, but is {value}")]
    NotPositive {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A matrix of the wrong shape.
    #[error("{name} must be {}×{}, but is {}×{}", expected.0, expected.1, found.0, found.1)]
    Shape {
        /// The matrix.
        name: &'static str,
        /// Rows and columns that it must have.
        expected: (usize, usize),
        /// Rows and columns that it has.
        found: (usize, usize),
    },
    /// A matrix with no elements.
    #[error("{name} has no elements")]
    Empty {
        /// The matrix.
        name: &'static str,
    },
    /// An element that is infinite or NaN.
    #[error("{name} must be finite, but row {row}, column {col} is {value}")]
    NotFinite {
        /// The matrix.
        name: &'static str,
        /// The first such element's row, from 0.
        row: usize,
        /// Its column, from 0.
        col: usize,
        /// Its value.
        value: f64,
    },
    /// A matrix that must be symmetric.
    #[error("{name} must be symmetric, but rows and columns {row} and {col} have {} and {}", values.0, values.1)]
    NotSymmetric {
        /// The matrix.
        name: &'static str,
        /// A row, from 0.
        row: usize,
        /// A column, from 0.
        col: usize,
        /// The element there, and that across the diagonal.
        values: (f64, f64),
    },
    /// A matrix that must be positive definite.
    #[error("{name} must be positive definite, but pivot {pivot} of {size} is {value:e}")]
    NotPositiveDefinite {
        /// The matrix.
        name: String,
        /// Rows of the matrix.
        size: usize,
        /// The first pivot that is not positive, from 0.
        pivot: usize,
        /// Its value.
        value: f64,
    },
    /// A matrix that must have a certain rank.
    #[error("{name} must have rank {rank}, but row {row}, column {col} is off by {excess:e}")]
    NotOfRank {
        /// The matrix.
        name: &'static str,
        /// The rank of every draw.
        rank: usize,
        /// A row, from 0.
        row: usize,
        /// A column, from 0.
        col: usize,
        /// The element's distance from what the first `rank` rows determine.
        excess: f64,
    },
    /// A draw or a density that is too large for floating-point numbers, with parameters at the edge of what is possible.
    #[error("{what} is {value}: the parameters are too extreme for floating-point numbers")]
    Overflow {
        /// The draw, or the log-density.
        what: &'static str,
        /// The first value that is not finite.
        value: f64,
    },
    /// A computation that failed for another reason.
    #[error(transparent)]
    Numerical(#[from] Failure),
}

impl Error {
    /// A failed run; a matrix that was not positive definite is called by its section, or `name`.
    pub(super) fn from_failure(name: &'static str, failure: Failure) -> Error {
        match failure.problem {
            Problem::NotPositiveDefinite { size, pivot, value } => {
                let section = &failure.place.section;
                let name = if section.is_empty() { name.to_string() } else { section.clone() };
                Error::NotPositiveDefinite { name, size, pivot, value }
            }
            _ => Error::Numerical(failure),
        }
    }
}

/// Degrees of freedom beyond this are refused: the terms of a log-density cancel to fewer than seven digits.
pub(super) const MOST_DOF: f64 = 1e9;

/// That a result is finite.
pub(super) fn representable(what: &'static str, m: MatRef<'_, f64>) -> Result<(), Error> {
    finite(what, m).map_err(|e| match e {
        Error::NotFinite { value, .. } => Error::Overflow { what, value },
        other => other,
    })
}

pub(super) fn positive(name: &'static str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Error::NotPositive { name, value }) }
}

pub(super) fn shape(name: &'static str, m: MatRef<'_, f64>, expected: (usize, usize)) -> Result<(), Error> {
    let found = (m.nrows(), m.ncols());
    if found.0 == 0 || found.1 == 0 {
        return Err(Error::Empty { name });
    }
    if found == expected { Ok(()) } else { Err(Error::Shape { name, expected, found }) }
}

pub(super) fn finite(name: &'static str, m: MatRef<'_, f64>) -> Result<(), Error> {
    for col in 0..m.ncols() {
        for row in 0..m.nrows() {
            let value = m[(row, col)];
            if !value.is_finite() {
                return Err(Error::NotFinite { name, row, col, value });
            }
        }
    }
    Ok(())
}

pub(super) fn symmetric(name: &'static str, m: MatRef<'_, f64>) -> Result<(), Error> {
    let most = ASYMMETRY * m.norm_max();
    for col in 0..m.ncols() {
        for row in 0..col {
            let values = (m[(row, col)], m[(col, row)]);
            if (values.0 - values.1).abs() > most {
                return Err(Error::NotSymmetric { name, row, col, values });
            }
        }
    }
    Ok(())
}

/// A scale matrix: square, finite and symmetric. Whether it is positive definite its factorisation shows.
pub(super) fn scale(name: &'static str, m: MatRef<'_, f64>) -> Result<(), Error> {
    shape(name, m, (m.nrows(), m.nrows()))?;
    finite(name, m)?;
    symmetric(name, m)
}

/// Symmetric, with S₂₂ = S₂₁S₁₁⁻¹S₁₂, S₁₁ the first `rank` rows and columns. An S₁₁ that is singular is left to its factorisation.
pub(super) fn of_rank(name: &'static str, s: MatRef<'_, f64>, rank: usize) -> Result<(), Error> {
    symmetric(name, s)?;
    let n = s.nrows();
    let Ok(factor) = s.submatrix(0, 0, rank, rank).llt(faer::Side::Lower) else { return Ok(()) };
    let across = s.submatrix(0, rank, rank, n - rank);
    let mut solved = across.to_owned();
    faer::linalg::solvers::SolveCore::solve_in_place_with_conj(&factor, faer::Conj::No, solved.as_mut());
    let excess = s.submatrix(rank, rank, n - rank, n - rank) - across.transpose() * solved;
    let most = RANK * s.norm_max();
    for j in 0..n - rank {
        for i in 0..n - rank {
            let holds = excess[(i, j)].abs() <= most;
            if !holds {
                return Err(Error::NotOfRank { name, rank, row: rank + i, col: rank + j, excess: excess[(i, j)] });
            }
        }
    }
    Ok(())
}
