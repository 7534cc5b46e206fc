//! The Cholesky factorisation A = LLᵀ.

use super::inverse_blocks::{BLOCK, invert_block};
use super::product;
use faer::prelude::{Reborrow as _, ReborrowMut as _};
use faer::{Accum, MatMut, MatRef};

/// Where and how a matrix turned out not to be positive definite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NonPositivePivot {
    pub pivot: usize,
    pub value: f64,
}

/// Replaces the lower triangle of `a` by L and zeroes the rest; writes the inverses of L's diagonal blocks to `inverse`
/// (n×[`BLOCK`], column-major). `scratch` holds n·[`BLOCK`] numbers.
///
/// Left-looking, a block column at a time: subtract what the columns before contribute, factorise the
/// diagonal block, multiply what is below it by the block's inverse. All but the small block is a product.
pub(crate) fn cholesky_in_place(
    mut a: MatMut<'_, f64>,
    inverse: &mut [f64],
    scratch: &mut [f64],
) -> Result<(), NonPositivePivot> {
    let n = a.nrows();
    for start in (0..n).step_by(BLOCK) {
        let width = BLOCK.min(n - start);
        let (before, mut after) = a.rb_mut().split_at_col_mut(start);
        let mut panel = after.rb_mut().submatrix_mut(start, 0, n - start, width);
        if start > 0 {
            let rows = before.rb().subrows(start, n - start);
            product(panel.rb_mut(), Accum::Add, rows, rows.subrows(0, width).transpose(), -1.0);
        }
        factorise_block(panel.rb_mut().subrows_mut(0, width))
            .map_err(|p| NonPositivePivot { pivot: start + p.pivot, ..p })?;
        for j in 0..width {
            after.rb_mut().col_mut(j).subrows_mut(0, start + j).fill(0.0);
        }
        invert_block(a.rb(), start, inverse);
        let below = n - start - width;
        if below > 0 {
            // L_below = A_below·L_block⁻ᵀ
            let block = MatRef::from_column_major_slice(inverse, n, BLOCK).submatrix(start, 0, width, width);
            let mut copy = MatMut::from_column_major_slice_mut(&mut scratch[..below * width], below, width);
            let mut panel = a.rb_mut().submatrix_mut(start + width, start, below, width);
            copy.copy_from(panel.rb());
            product(panel.rb_mut(), Accum::Replace, copy.rb(), block.transpose(), 1.0);
        }
    }
    Ok(())
}

/// The unblocked algorithm on one block; elements above the diagonal are left alone.
fn factorise_block(mut a: MatMut<'_, f64>) -> Result<(), NonPositivePivot> {
    let width = a.nrows();
    let mut block = [[0.0; BLOCK]; BLOCK]; // block[j][i] = A_ij
    for (j, column) in block.iter_mut().enumerate().take(width) {
        for i in j..width {
            column[i] = a[(i, j)];
        }
    }
    for j in 0..width {
        let value = block[j][j];
        // written so that NaN fails too
        if !(value > 0.0 && value < f64::INFINITY) {
            return Err(NonPositivePivot { pivot: j, value });
        }
        let root = value.sqrt();
        let reciprocal = 1.0 / root;
        block[j][j] = root;
        for i in j + 1..width {
            block[j][i] *= reciprocal;
        }
        let column = block[j];
        for k in j + 1..width {
            let factor = column[k];
            for i in k..width {
                block[k][i] -= column[i] * factor;
            }
        }
    }
    for (j, column) in block.iter().enumerate().take(width) {
        for i in j..width {
            a[(i, j)] = column[i];
        }
    }
    Ok(())
}
