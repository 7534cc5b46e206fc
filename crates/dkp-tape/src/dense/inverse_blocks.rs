//! Inverses of the diagonal blocks of a lower-triangular matrix.

use faer::MatRef;

/// Rows of a block. Inverting so few rows loses no accuracy to speak of, and turns a solve into products.
pub(crate) const BLOCK: usize = 16;

/// Writes the inverse of the diagonal block that starts at row k (a multiple of [`BLOCK`]) to rows k.. of `out`, an
/// n×[`BLOCK`] matrix in column-major order. Elements above the blocks' diagonals become 0.
pub(crate) fn invert_blocks(l: MatRef<'_, f64>, out: &mut [f64]) {
    let n = l.nrows();
    for start in (0..n).step_by(BLOCK) {
        invert_block(l, start, out);
    }
}

/// One block, column by column: the columns of X with L·X = I.
pub(crate) fn invert_block(l: MatRef<'_, f64>, start: usize, out: &mut [f64]) {
    let n = l.nrows();
    let width = BLOCK.min(n - start);
    let mut block = [[0.0; BLOCK]; BLOCK]; // block[j][i] = L_ij
    for (j, column) in block.iter_mut().enumerate().take(width) {
        for i in j..width {
            column[i] = l[(start + i, start + j)];
        }
    }
    for j in 0..width {
        let mut x = [0.0; BLOCK];
        x[j] = 1.0;
        for k in j..width {
            let value = x[k] / block[k][k];
            for i in k + 1..BLOCK {
                x[i] -= block[k][i] * value;
            }
            x[k] = value;
        }
        out[j * n + start..j * n + start + width].copy_from_slice(&x[..width]);
    }
}
