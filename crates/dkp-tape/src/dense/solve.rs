//! Solves with a lower-triangular matrix or its transpose.

use super::product;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::{Reborrow as _, ReborrowMut as _};
use faer::{Accum, MatMut, MatRef, Par};

/// Which system is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// L·X = B
    Lower,
    /// Lᵀ·X = B
    Transposed,
}

/// Replaces B by X.
pub(crate) fn solve_in_place(side: Side, l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    match side {
        Side::Lower => solve_lower_triangular_in_place(l, b, Par::Seq),
        Side::Transposed => solve_upper_triangular_in_place(l.transpose(), b, Par::Seq),
    }
}

/// Replaces the lower triangle of the square matrix B by that of X, Lᵀ·X = B, at half the cost of all of it; above the
/// diagonal B is overwritten or not.
///
/// A block row at a time, from below: subtract what the rows below contribute, a product, then solve.
pub(crate) fn solve_transposed_lower_in_place(l: MatRef<'_, f64>, mut b: MatMut<'_, f64>) {
    const BLOCK: usize = 16;
    let n = l.nrows();
    for start in (0..n).step_by(BLOCK).rev() {
        let end = n.min(start + BLOCK);
        // rows below have been solved for more columns than this
        let (here, below) = b.rb_mut().submatrix_mut(start, 0, n - start, end).split_at_row_mut(end - start);
        let mut here = here;
        let beside = l.submatrix(end, start, n - end, end - start);
        product(here.rb_mut(), Accum::Add, beside.transpose(), below.rb(), -1.0);
        solve_in_place(Side::Transposed, l.submatrix(start, start, end - start, end - start), here);
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
                cholesky_in_place(&mut l, n, 0.0).unwrap();
                let l = MatRef::from_column_major_slice(&l, n, n);
                for side in [Side::Lower, Side::Transposed] {
                    let b: Vec<f64> = (0..7 * n).map(|e| (1.3 * e as f64).sin()).collect();
                    let mut x = b.clone();
                    solve_in_place(side, l, MatMut::from_column_major_slice_mut(&mut x, n, 7));
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
