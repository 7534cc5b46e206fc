//! Moving elements across the diagonal, in blocks that fit into registers. Matrices are n×n and column-major.

use crate::math::vectorized;

/// Rows and columns of a block.
const SIZE: usize = 4;
type Block = [[f64; SIZE]; SIZE];

/// to ← fromᵀ.
pub(crate) fn transpose(from: &[f64], to: &mut [f64], n: usize) {
    exchange(from, to, n, Of::All);
}

/// `to` becomes the upper-triangular transpose of the lower triangle of `from`.
pub(crate) fn transpose_lower(from: &[f64], to: &mut [f64], n: usize) {
    exchange(from, to, n, Of::Lower);
    clear_lower(to, n);
}

/// `to` becomes the lower-triangular transpose of the upper triangle of `from`.
pub(crate) fn transpose_upper(from: &[f64], to: &mut [f64], n: usize) {
    exchange(from, to, n, Of::Upper);
    clear_upper(to, n);
}

/// to ← from + fromᵀ.
pub(crate) fn symmetrise(from: &[f64], to: &mut [f64], n: usize) {
    transpose(from, to, n);
    vectorized(
        #[inline(always)]
        || to.iter_mut().zip(from).for_each(|(t, f)| *t += f),
    );
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror_lower(a: &mut [f64], n: usize) {
    let whole = n - n % SIZE;
    vectorized(
        #[inline(always)]
        || {
            for j in (0..whole).step_by(SIZE) {
                for i in (j + SIZE..whole).step_by(SIZE) {
                    let block = read(a, n, i, j);
                    write_transposed(a, n, j, i, block);
                }
            }
        },
    );
    for j in 0..n {
        // beside the block on the diagonal, and beyond the blocks
        for i in (j + 1..n.min(j / SIZE * SIZE + SIZE)).chain(whole.max(j + 1)..n) {
            a[i * n + j] = a[j * n + i];
        }
    }
}

/// Zeroes what is above the diagonal.
pub(crate) fn clear_upper(a: &mut [f64], n: usize) {
    a.chunks_exact_mut(n).enumerate().for_each(|(j, column)| column[..j].fill(0.0));
}

/// Zeroes what is below the diagonal.
pub(crate) fn clear_lower(a: &mut [f64], n: usize) {
    a.chunks_exact_mut(n).enumerate().for_each(|(j, column)| column[j + 1..].fill(0.0));
}

/// Which blocks are moved, those on the diagonal among them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    Lower,
    Upper,
}

/// to_ji ← from_ij.
fn exchange(from: &[f64], to: &mut [f64], n: usize, of: Of) {
    let whole = n - n % SIZE;
    vectorized(
        #[inline(always)]
        || {
            for j in (0..whole).step_by(SIZE) {
                let rows = match of {
                    Of::All => 0..whole,
                    Of::Lower => j..whole,
                    Of::Upper => 0..j + SIZE,
                };
                for i in rows.step_by(SIZE) {
                    write_transposed(to, n, j, i, read(from, n, i, j));
                }
            }
        },
    );
    for j in 0..n {
        for i in if j < whole { whole } else { 0 }..n {
            to[i * n + j] = from[j * n + i];
        }
    }
}

/// The block from (i, j) on, column by column.
#[inline(always)]
fn read(a: &[f64], n: usize, i: usize, j: usize) -> Block {
    let mut block = [[0.0; SIZE]; SIZE];
    for c in 0..SIZE {
        block[c] = *a[(j + c) * n + i..].first_chunk().expect("a whole block");
    }
    block
}

/// Puts the transpose of a block where it begins with (i, j).
#[inline(always)]
fn write_transposed(a: &mut [f64], n: usize, i: usize, j: usize, block: Block) {
    for r in 0..SIZE {
        let to = a[(j + r) * n + i..].first_chunk_mut().expect("a whole block");
        *to = [block[0][r], block[1][r], block[2][r], block[3][r]];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_where_they_belong() {
        for n in [1, 3, 4, 5, 8, 14, 20] {
            let from: Vec<f64> = (0..n * n).map(|e| e as f64).collect();
            let results = [transpose, transpose_lower, transpose_upper, symmetrise].map(|f| {
                let mut to = vec![f64::NAN; n * n];
                f(&from, &mut to, n);
                to
            });
            let mut mirrored = from.clone();
            mirror_lower(&mut mirrored, n);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let (here, there) = (from[j * n + i], from[i * n + j]);
                let expected =
                    [there, if i <= j { there } else { 0.0 }, if i >= j { there } else { 0.0 }, here + there];
                assert_eq!([0, 1, 2, 3].map(|f| results[f][j * n + i]), expected, "({i}, {j}) of {n}");
                assert_eq!(mirrored[j * n + i], if i >= j { here } else { there }, "({i}, {j}) of {n}");
            }
        }
    }
}
