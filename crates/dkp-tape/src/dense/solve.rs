//! Solves with a lower-triangular matrix or its transpose.

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{MatMut, MatRef, Par};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::cholesky;
    use crate::dense::cholesky::tests::kernel_matrix;

    /// The residual of each solve relative to ‖L‖·‖x‖, column by column: what backward stability bounds by a small multiple of n·ε,
    /// however ill-conditioned L is.
    #[test]
    fn solves_with_ill_conditioned_factors_have_small_residuals() {
        for (lengthscale, jitter) in [(0.3, 1e-8), (0.3, 1e-12), (1.0, 1e-8), (1.0, 1e-10)] {
            for n in [5, 16, 40, 100] {
                let (a, mut l) = (kernel_matrix(n, lengthscale, jitter), vec![0.0; n * n]);
                cholesky(&a, &mut l, n, 0.0).unwrap();
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
