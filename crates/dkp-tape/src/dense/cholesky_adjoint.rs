//! The adjoint of the Cholesky factorisation.

use super::strip::{ByStrips, Down, block, column, column_mut};
use super::strip::{difference, load, multiply, over_strips, store, sum, written_out};
use super::transpose::{Turn, copy_across};
use crate::math::arch;
use pulp::{Scalar, Simd, WithSimd};
use std::convert::Infallible;
use std::ops::Range;

/// Fills `s` with S = Ā for A = LLᵀ, from L and the lower triangle of L̄; all n×n in column-major order.
///
/// From dA = dL·Lᵀ + L·dLᵀ: the symmetric S has tril(S·L) = ½tril(L̄). So, from the last column to the first,
/// s_ij = (½L̄_ij − Σ_{k>j} s_ik·L_kj)/L_jj for i ≥ j, where for k > i the sum takes s_ki. That is X·L⁻¹ for rows
/// ([`apply_to_rows`](super::apply_to_rows)) of which a column is mirrored as soon as it is known: ⅔·M³ operations.
pub(crate) fn cholesky_adjoint(l: &[f64], seed: &[f64], s: &mut [f64], n: usize) {
    assert!(l.len() == n * n && seed.len() == n * n && s.len() == n * n);
    arch().dispatch(SymmetricQuotient { l, seed, s, n });
}

struct SymmetricQuotient<'a> {
    l: &'a [f64],
    seed: &'a [f64],
    s: &'a mut [f64],
    n: usize,
}

impl WithSimd for SymmetricQuotient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let mut left = self.n;
        while left > 0 {
            let count = block::<S>(left);
            left -= count;
            match count {
                8 => self.block::<S, 8>(simd, left),
                4 => self.block::<S, 4>(simd, left),
                _ => self.block::<S, 1>(simd, left),
            }
        }
    }
}

impl SymmetricQuotient<'_> {
    /// C columns of S from `first` on, and the same rows.
    #[inline(always)]
    fn block<S: Simd, const C: usize>(&mut self, simd: S, first: usize) {
        let (n, below) = (self.n, first + C);
        let Ok(()) = over_strips(simd, &mut Below::<C> { quotient: self, first }, below..n);
        if C == S::F64_LANES {
            Turn::new(simd).across(simd, self.s, n, below..n, first);
            self.sums_of_rows::<S, C>(simd, first..below, first);
        } else {
            copy_across(self.s, n, below..n, first..below);
            for row in first..below {
                self.sums_of_rows::<Scalar, C>(Scalar, row..row + 1, first);
            }
        }
        self.diagonal::<C>(first);
    }

    /// Puts the sums over columns after the block where those rows' elements in the block will stand.
    #[inline(always)]
    fn sums_of_rows<S: Simd, const C: usize>(&mut self, simd: S, rows: Range<usize>, first: usize) {
        let n = self.n;
        let down = Down::<C>::new(self.l, n, first);
        let sums = sum::<S, 1, C>(simd, (&*self.s, n), &rows, down, first + C..n);
        written_out!(j < C, {
            store::<S, 1>(column_mut(self.s, n, first + j, &rows), sums[j]);
        });
    }

    /// The block on the diagonal, element by element, from those sums.
    #[inline(always)]
    fn diagonal<const C: usize>(&mut self, first: usize) {
        let n = self.n;
        let mut s = [[0.0_f64; C]; C];
        for j in (0..C).rev() {
            let column = (first + j) * n + first;
            let (sums, seed, l) = (&self.s[column..][..C], &self.seed[column..][..C], &self.l[column..][..C]);
            let reciprocal = 1.0 / l[j];
            for i in (j..C).rev() {
                let mut rest = 0.5 * seed[i] - sums[i];
                for k in j + 1..C {
                    rest = (-s[i][k]).mul_add(l[k], rest);
                }
                s[i][j] = rest * reciprocal;
                s[j][i] = s[i][j];
            }
        }
        for j in 0..C {
            self.s[(first + j) * n + first..][..C].copy_from_slice(&s[j]);
        }
    }
}

/// C columns from `first` on, in the rows below the block on the diagonal.
struct Below<'a, 'b, const C: usize> {
    quotient: &'b mut SymmetricQuotient<'a>,
    first: usize,
}

impl<const C: usize> ByStrips for Below<'_, '_, C> {
    type Stop = Infallible;

    #[inline(always)]
    fn strip<S: Simd, const V: usize>(&mut self, simd: S, rows: Range<usize>, _: usize) -> Result<(), Infallible> {
        let (first, SymmetricQuotient { l, seed, s, n }) = (self.first, &mut *self.quotient);
        let n = *n;
        let down = Down::<C>::new(l, n, first);
        let mut sums = sum::<S, V, C>(simd, (&**s, n), &rows, down, first + C..n);
        written_out!(back < C, {
            let k = C - 1 - back;
            let mut half = load::<S, V>(column(seed, n, first + k, &rows));
            for v in 0..V {
                half[v] = simd.mul_f64s(half[v], simd.splat_f64s(0.5));
            }
            let y = difference(simd, half, sums[k], 1.0 / down.0[k][first + k]);
            store::<S, V>(column_mut(s, n, first + k, &rows), y);
            for j in 0..k {
                sums[j] = multiply(simd, sums[j], down.0[j][first + k], y);
            }
        });
        Ok(())
    }
}
