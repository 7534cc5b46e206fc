//! Factorisations and triangular solves made of matrix products.
//!
//! faer's matrix product runs near the machine's peak even for narrow panels; its triangular routines do less well
//! at a hundred rows. So everything here is a short loop over panels, a product each and a small triangle that is
//! solved by substitution. The numbers stand in docs/decisions/panels.md.

mod cholesky;
mod lower_product;
mod solve;
mod triangle;

pub(crate) use cholesky::cholesky_in_place;
pub(crate) use lower_product::{lower_product, lower_product_with_upper, mirror_lower, transpose_in_place};
pub(crate) use solve::{Part, solve_in_place};
pub(crate) use triangle::Side;

use faer::linalg::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// dst ← [dst +] α·A·B, on one thread.
#[inline]
pub(crate) fn product(dst: MatMut<'_, f64>, accum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    matmul::matmul(dst, accum, a, b, alpha, Par::Seq);
}
