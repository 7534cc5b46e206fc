//! The Cholesky factorisation A = LLᵀ.

use super::inverse_blocks::{BLOCK, Block, read_block, write_inverse};
use super::product;
use crate::math::vectorized;
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
        let mut block = read_block(a.rb(), start);
        let factorised = vectorized(
            #[inline(always)]
            || factorise(&mut block),
        );
        factorised.map_err(|p| NonPositivePivot { pivot: start + p.pivot, ..p })?;
        for (j, column) in block.iter().enumerate().take(width) {
            let mut whole = a.rb_mut().col_mut(start + j);
            whole.rb_mut().subrows_mut(0, start).fill(0.0);
            for (i, value) in column.iter().enumerate().take(width) {
                whole[start + i] = *value;
            }
        }
        write_inverse(&block, n, start, inverse);
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

/// The unblocked algorithm on one block, right-looking.
#[inline(always)]
fn factorise(block: &mut Block) -> Result<(), NonPositivePivot> {
    for j in 0..BLOCK {
        let value = block[j][j];
        // written so that NaN fails too
        if !(value > 0.0 && value < f64::INFINITY) {
            return Err(NonPositivePivot { pivot: j, value });
        }
        let root = value.sqrt();
        let reciprocal = 1.0 / root;
        for i in 0..BLOCK {
            block[j][i] = if i > j { block[j][i] * reciprocal } else { 0.0 };
        }
        let column = block[j];
        for k in j + 1..BLOCK {
            let factor = -column[k];
            for i in 0..BLOCK {
                block[k][i] = factor.mul_add(column[i], block[k][i]);
            }
        }
        block[j][j] = root;
    }
    // the updates of whole columns wrote above the diagonal too
    for j in 0..BLOCK {
        block[j][..j].fill(0.0);
    }
    Ok(())
}
