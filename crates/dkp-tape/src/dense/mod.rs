//! Dense linear algebra: what faer does not have in the form that is needed here, as loops over its matrix products.
//!
//! The choices and their numbers stand in docs/decisions/panels.md.

mod cholesky;
mod cholesky_adjoint;
mod dots;
mod lower_product;
mod rows;
mod solve;
mod triangular;
mod written_out;

pub(crate) use cholesky::cholesky_in_place;
pub(crate) use cholesky_adjoint::cholesky_adjoint_in_place;
pub(crate) use dots::lower_of_dots;
pub(crate) use lower_product::{lower_product, mirror_lower};
pub(crate) use rows::{Factor, apply_to_rows};
pub(crate) use solve::{Side, solve_in_place, solve_transposed_lower_in_place};
pub(crate) use triangular::{
    clear_upper, divide_lower_in_place, divide_transposed_lower_in_place, lower_of_product, lower_of_times_lower,
    lower_of_upper_times, lower_times, solve_lower_in_place, upper_times,
};

use faer::linalg::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// dst ← [dst +] α·A·B, on one thread.
#[inline]
pub(crate) fn product(dst: MatMut<'_, f64>, accum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    matmul::matmul(dst, accum, a, b, alpha, Par::Seq);
}
