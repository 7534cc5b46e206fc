//! Factorisations and triangular solves made of matrix products.
//!
//! faer's matrix product runs near the machine's peak even for narrow panels; its triangular routines do less well
//! at a hundred rows. So everything here is a short loop over panels whose work is one product each. The numbers
//! stand in docs/decisions/panels.md.

mod cholesky;
mod inverse_blocks;
mod lower_product;
mod solve;

pub(crate) use cholesky::cholesky_in_place;
pub(crate) use inverse_blocks::{BLOCK, invert_blocks};
pub(crate) use lower_product::{lower_product, lower_product_with_upper, mirror_lower};
pub(crate) use solve::{Part, Side, solve_in_place, solve_scratch};

use faer::linalg::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// dst ← [dst +] α·A·B, on one thread.
#[inline]
pub(crate) fn product(dst: MatMut<'_, f64>, accum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    matmul::matmul(dst, accum, a, b, alpha, Par::Seq);
}
