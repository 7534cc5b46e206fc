//! Dense linear algebra: what faer does not have in the form that is needed here.
//!
//! The choices and their numbers stand in docs/decisions/rows.md and panels.md.

mod cholesky;
mod cholesky_adjoint;
mod dots;
mod lower_product;
mod rows;
mod solve;
mod strip;
mod transpose;
mod triangular;

pub(crate) use cholesky::cholesky;
pub(crate) use cholesky_adjoint::cholesky_adjoint;
pub(crate) use dots::{Over, lower_of_dots};
pub(crate) use lower_product::lower_product;
pub(crate) use rows::{Factor, Part, apply_to_rows, divide_scaled_rows};
pub(crate) use solve::{Side, solve_in_place};
pub(crate) use transpose::{clear_lower, clear_upper, mirror_lower, symmetrise, transpose_lower, transpose_upper};
pub(crate) use triangular::{lower_times, lower_transposed_times};

use faer::linalg::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// dst ← [dst +] α·A·B, on one thread.
#[inline]
pub(crate) fn product(dst: MatMut<'_, f64>, accum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    matmul::matmul(dst, accum, a, b, alpha, Par::Seq);
}
