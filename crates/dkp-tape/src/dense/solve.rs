//! Solves with a lower-triangular matrix or its transpose.

use super::inverse_blocks::BLOCK;
use super::product;
use faer::prelude::{Reborrow as _, ReborrowMut as _};
use faer::{Accum, MatMut, MatRef};

/// Which system is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// L·X = B
    Lower,
    /// Lᵀ·X = B
    Transposed,
}

/// Which part of the solution is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    All,
    /// The lower triangle of the solution of Lᵀ·X = B, at half the cost; the rest of B is overwritten or not.
    Lower,
}

/// How many numbers [`solve_in_place`] needs as scratch for `columns` right-hand sides.
pub(crate) fn solve_scratch(columns: usize) -> usize {
    BLOCK * columns
}

/// Replaces B by X, or by the wanted part of it. `inverse` holds the inverted diagonal blocks of L, n×[`BLOCK`].
///
/// A block row at a time: X_k = D_k⁻¹(B_k − Σ_j L_kj X_j), two products, the sum over the rows done before.
pub(crate) fn solve_in_place(
    side: Side,
    part: Part,
    l: MatRef<'_, f64>,
    inverse: MatRef<'_, f64>,
    mut b: MatMut<'_, f64>,
    scratch: &mut [f64],
) {
    let n = b.nrows();
    let blocks = n.div_ceil(BLOCK);
    for k in 0..blocks {
        let start = match side {
            Side::Lower => k * BLOCK,
            Side::Transposed => (blocks - 1 - k) * BLOCK,
        };
        let end = n.min(start + BLOCK);
        let width = end - start;
        let block = inverse.submatrix(start, 0, width, width);
        // rows below have been solved for at least as many columns
        let columns = if part == Part::Lower { end } else { b.ncols() };
        let (above, mut rest) = b.rb_mut().subcols_mut(0, columns).split_at_row_mut(start);
        let (mut here, below) = rest.rb_mut().split_at_row_mut(width);
        let mut residual = MatMut::from_column_major_slice_mut(&mut scratch[..width * columns], width, columns);
        residual.copy_from(here.rb());
        match side {
            Side::Lower => {
                if start > 0 {
                    product(residual.rb_mut(), Accum::Add, l.submatrix(start, 0, width, start), above.rb(), -1.0);
                }
                product(here.rb_mut(), Accum::Replace, block, residual.rb(), 1.0);
            }
            Side::Transposed => {
                if end < n {
                    let factor = l.submatrix(end, start, n - end, width).transpose();
                    product(residual.rb_mut(), Accum::Add, factor, below.rb(), -1.0);
                }
                product(here.rb_mut(), Accum::Replace, block.transpose(), residual.rb(), 1.0);
            }
        }
    }
}
