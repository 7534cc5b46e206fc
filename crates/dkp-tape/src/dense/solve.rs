//! Solves with a lower-triangular matrix or its transpose.

use super::product;
use super::triangle::{BLOCK, Side, Triangle};
use faer::prelude::{Reborrow as _, ReborrowMut as _};
use faer::{Accum, MatMut, MatRef};

/// Which part of the solution is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    All,
    /// The lower triangle of the solution of Lᵀ·X = B, at half the cost; the rest of B is overwritten or not.
    Lower,
}

/// Replaces B, n rows in column-major order, by X or by the wanted part of it.
///
/// A block row at a time: subtract what the rows solved before contribute, a product, then substitute.
pub(crate) fn solve_in_place(side: Side, part: Part, l: MatRef<'_, f64>, b: &mut [f64]) {
    let n = l.nrows();
    let blocks = n.div_ceil(BLOCK);
    for k in 0..blocks {
        let start = match side {
            Side::Lower => k * BLOCK,
            Side::Transposed => (blocks - 1 - k) * BLOCK,
        };
        let end = n.min(start + BLOCK);
        let width = end - start;
        // rows below have been solved for at least as many columns
        let columns = if part == Part::Lower { end } else { b.len() / n };
        let mut b = MatMut::from_column_major_slice_mut(&mut b[..columns * n], n, columns);
        let (above, rest) = b.rb_mut().split_at_row_mut(start);
        let (here, below) = rest.split_at_row_mut(width);
        match side {
            Side::Lower => product(here, Accum::Add, l.submatrix(start, 0, width, start), above.rb(), -1.0),
            Side::Transposed => {
                product(here, Accum::Add, l.submatrix(end, start, n - end, width).transpose(), below.rb(), -1.0);
            }
        }
        Triangle::read(side, l, start).solve(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::cholesky::tests::kernel_matrix;
    use crate::dense::cholesky_in_place;

    /// The residual of each solve relative to ‖L‖·‖x‖, column by column: what backward stability bounds by a small multiple of n·ε,
    /// however ill-conditioned L is.
    #[test]
    fn solves_with_ill_conditioned_factors_have_small_residuals() {
        for (lengthscale, jitter) in [(0.3, 1e-8), (0.3, 1e-12), (1.0, 1e-8), (1.0, 1e-10)] {
            for n in [5, 16, 40, 100] {
                let mut l = kernel_matrix(n, lengthscale, jitter);
                cholesky_in_place(&mut l, n).unwrap();
                let l = MatRef::from_column_major_slice(&l, n, n);
                for side in [Side::Lower, Side::Transposed] {
                    let b: Vec<f64> = (0..7 * n).map(|e| (1.3 * e as f64).sin()).collect();
                    let mut x = b.clone();
                    solve_in_place(side, Part::All, l, &mut x);
                    for (b, x) in b.chunks(n).zip(x.chunks(n)) {
                        let at = |i: usize, j: usize| if side == Side::Lower { l[(i, j)] } else { l[(j, i)] };
                        let size = l.norm_max() * x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                        for i in 0..n {
                            let residual = b[i] - (0..n).map(|j| at(i, j) * x[j]).sum::<f64>();
                            let error = residual.abs() / size;
                            assert!(error < n as f64 * f64::EPSILON, "{side:?} {n} {lengthscale} {jitter}: {error:e}");
                        }
                    }
                }
            }
        }
    }
}
