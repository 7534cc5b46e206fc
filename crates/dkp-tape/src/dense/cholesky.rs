//! The Cholesky factorisation A = LLᵀ.

use super::clear_upper;
use super::strip::{Across, ByStrips, block, column, column_mut};
use super::strip::{difference, load, multiply, over_strips, store, sum, written_out};
use crate::math::arch;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Where and how a matrix turned out not to be positive definite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NonPositivePivot {
    pub pivot: usize,
    pub value: f64,
}

/// Fills `l` with the factor of `a`, both n×n in column-major order; of `a` the lower triangle is read. Pivots must be above `least` ≥ 0.
///
/// L = A·L⁻ᵀ, a strip of rows after the other ([`apply_to_rows`](super::apply_to_rows)): what a row needs of L stands in rows before
/// it, or in the same strip and in columns before, and a pivot is taken where its column is computed.
pub(crate) fn cholesky(a: &[f64], l: &mut [f64], n: usize, least: f64) -> Result<(), NonPositivePivot> {
    assert!(a.len() == n * n && l.len() == n * n);
    arch().dispatch(Factorise { a, l: &mut *l, n, least })?;
    clear_upper(l, n);
    Ok(())
}

struct Factorise<'a> {
    a: &'a [f64],
    l: &'a mut [f64],
    n: usize,
    least: f64,
}

impl WithSimd for Factorise<'_> {
    type Output = Result<(), NonPositivePivot>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Self::Output {
        let rows = 0..self.n;
        over_strips(simd, &mut self, rows)
    }
}

impl ByStrips for Factorise<'_> {
    type Stop = NonPositivePivot;

    #[inline(always)]
    fn strip<S: Simd, const V: usize>(
        &mut self,
        simd: S,
        rows: Range<usize>,
        _: usize,
    ) -> Result<(), NonPositivePivot> {
        let mut first = 0;
        while first < rows.end {
            let count = block::<S>(rows.end - first);
            match count {
                8 => self.block::<S, V, 8>(simd, &rows, first)?,
                4 => self.block::<S, V, 4>(simd, &rows, first)?,
                _ => self.block::<S, V, 1>(simd, &rows, first)?,
            }
            first += count;
        }
        Ok(())
    }
}

impl Factorise<'_> {
    /// l_i = (a_i − Σ_{k<i} l_k·L_ik)/L_ii for C columns i.
    #[inline(always)]
    fn block<S: Simd, const V: usize, const C: usize>(
        &mut self,
        simd: S,
        rows: &Range<usize>,
        first: usize,
    ) -> Result<(), NonPositivePivot> {
        let n = self.n;
        let across = Across { l: self.l, n, first };
        let mut sums = sum::<S, V, C>(simd, (&*self.l, n), rows, across, 0..first);
        written_out!(k < C, {
            let i = first + k;
            let a = load::<S, V>(column(self.a, n, i, rows));
            if rows.contains(&i) {
                store::<S, V>(column_mut(self.l, n, i, rows), difference(simd, a, sums[k], 1.0));
                let value = self.l[i * n + i];
                // written so that NaN fails too
                if !(value > self.least && value < f64::INFINITY) {
                    return Err(NonPositivePivot { pivot: i, value });
                }
                self.l[i * n + i] = value.sqrt();
            }
            let pivot = self.l[i * n + i];
            let y = difference(simd, a, sums[k], 1.0 / pivot);
            store::<S, V>(column_mut(self.l, n, i, rows), y);
            self.l[i * n + i] = pivot;
            let l = *Across { l: self.l, n, first }.rows::<C>(i);
            for j in k + 1..C {
                sums[j] = multiply(simd, sums[j], l[j], y);
            }
        });
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// exp(−(x_i − x_j)²/(2ℓ²)) + jitter·I for n points evenly on [0, 6]: condition number of about n/jitter.
    pub(in crate::dense) fn kernel_matrix(n: usize, lengthscale: f64, jitter: f64) -> Vec<f64> {
        let at = |i: usize| 6.0 * i as f64 / n as f64 / lengthscale;
        let element = |i: usize, j: usize| (-0.5 * (at(i) - at(j)).powi(2)).exp() + if i == j { jitter } else { 0.0 };
        (0..n * n).map(|e| element(e % n, e / n)).collect()
    }

    #[test]
    fn ill_conditioned_matrices_are_reproduced_to_rounding() {
        for n in [1, 3, 5, 8, 13, 16, 17, 24, 29, 40, 100, 200] {
            for (lengthscale, jitter) in
                [(0.3, 1e-8), (0.3, 1e-12), (1.0, 1e-8), (1.0, 1e-10), (1.0, 1e-12), (1.0, 1e-13)]
            {
                let a = kernel_matrix(n, lengthscale, jitter);
                let mut l = vec![f64::NAN; n * n];
                cholesky(&a, &mut l, n, 0.0).unwrap_or_else(|p| panic!("{n} {lengthscale} {jitter}: {p:?}"));
                for j in 0..n {
                    assert!((0..j).all(|i| l[j * n + i] == 0.0), "zero above the diagonal");
                    for i in 0..n {
                        let product: f64 = (0..n).map(|k| l[k * n + i] * l[k * n + j]).sum();
                        let error = (product - a[j * n + i]).abs();
                        assert!(error < n as f64 * f64::EPSILON, "({i}, {j}) of {n} {lengthscale} {jitter}: {error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_pivot_that_is_not_positive_is_named() {
        for (n, pivot) in [(5, 0), (9, 8), (30, 29), (30, 11), (100, 97), (100, 92)] {
            let mut a: Vec<f64> = (0..n * n).map(|e| if e % (n + 1) == 0 { 2.0 } else { 0.0 }).collect();
            a[pivot * n + pivot] = -3.0;
            let failure = cholesky(&a, &mut vec![0.0; n * n], n, 0.0).unwrap_err();
            assert_eq!(failure, NonPositivePivot { pivot, value: -3.0 });
        }
        // singular, infinite and not a number
        for (a, pivot, value) in [([1.0; 4], 1, 0.0), ([f64::INFINITY, 0.0, 0.0, 1.0], 0, f64::INFINITY)] {
            let failure = cholesky(&a, &mut [0.0; 4], 2, 0.0).unwrap_err();
            assert_eq!(failure, NonPositivePivot { pivot, value });
        }
        assert_eq!(cholesky(&[1.0, f64::NAN, 0.0, 1.0], &mut [0.0; 4], 2, 0.0).unwrap_err().pivot, 1);
    }
}
