//! Diagonal blocks of a lower-triangular matrix and their inverses.

use crate::math::vectorized;
use faer::MatRef;

/// Rows of a block. Inverting so few rows loses no accuracy to speak of, and turns a solve into products.
pub(crate) const BLOCK: usize = 16;

/// A block by columns: element (i, j) is `block[j][i]`. A smaller one is padded with the identity, so that loops have a
/// fixed length and become vector code.
pub(super) type Block = [[f64; BLOCK]; BLOCK];

/// The lower triangle of the diagonal block that starts at row `start`, zero above.
pub(super) fn read_block(a: MatRef<'_, f64>, start: usize) -> Block {
    let width = BLOCK.min(a.nrows() - start);
    let mut block = [[0.0; BLOCK]; BLOCK];
    for (j, column) in block.iter_mut().enumerate() {
        column[j] = 1.0;
        for i in j..width {
            column[i] = a[(start + i, start + j)];
        }
    }
    block
}

/// Writes the inverse of the diagonal block that starts at row k (a multiple of [`BLOCK`]) to rows k.. of `out`, an
/// n×[`BLOCK`] matrix in column-major order. Elements above the blocks' diagonals become 0.
pub(crate) fn invert_blocks(l: MatRef<'_, f64>, out: &mut [f64]) {
    for start in (0..l.nrows()).step_by(BLOCK) {
        write_inverse(&read_block(l, start), l.nrows(), start, out);
    }
}

/// One block's inverse, in its place.
pub(super) fn write_inverse(block: &Block, n: usize, start: usize, out: &mut [f64]) {
    let width = BLOCK.min(n - start);
    let inverse = vectorized(
        #[inline(always)]
        || invert(block),
    );
    for (j, column) in inverse.iter().enumerate().take(width) {
        out[j * n + start..j * n + start + width].copy_from_slice(&column[..width]);
    }
}

/// X with L·X = I, row by row: X_i = (e_i − Σ_{k<i} L_ik X_k)/L_ii, all columns at once.
#[inline(always)]
fn invert(block: &Block) -> Block {
    let mut rows = [[0.0; BLOCK]; BLOCK]; // rows[i][j] = X_ij
    for i in 0..BLOCK {
        let mut row = [0.0; BLOCK];
        row[i] = 1.0;
        for k in 0..i {
            let factor = block[k][i];
            for j in 0..BLOCK {
                row[j] = (-factor).mul_add(rows[k][j], row[j]);
            }
        }
        let reciprocal = 1.0 / block[i][i];
        for j in 0..BLOCK {
            rows[i][j] = row[j] * reciprocal;
        }
    }
    let mut columns = [[0.0; BLOCK]; BLOCK];
    for i in 0..BLOCK {
        for j in 0..BLOCK {
            columns[j][i] = rows[i][j];
        }
    }
    columns
}
