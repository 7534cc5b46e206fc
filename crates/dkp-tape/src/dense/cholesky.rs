//! The Cholesky factorisation A = LLᵀ.

use super::product;
use crate::math::vectorized;
use faer::prelude::Reborrow as _;
use faer::{Accum, MatMut};

/// Columns of a block.
const BLOCK: usize = 16;

/// Where and how a matrix turned out not to be positive definite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NonPositivePivot {
    pub pivot: usize,
    pub value: f64,
}

/// Replaces the lower triangle of `a`, n×n in column-major order, by L and zeroes the rest. Pivots must be above `least` ≥ 0.
///
/// Left-looking, a block column at a time: subtract what the columns before contribute, a product, then factorise the
/// block column itself.
pub(crate) fn cholesky_in_place(a: &mut [f64], n: usize, least: f64) -> Result<(), NonPositivePivot> {
    for start in (0..n).step_by(BLOCK) {
        let width = BLOCK.min(n - start);
        let (before, after) = MatMut::from_column_major_slice_mut(a, n, n).split_at_col_mut(start);
        let panel = after.submatrix_mut(start, 0, n - start, width);
        let rows = before.rb().subrows(start, n - start);
        product(panel, Accum::Add, rows, rows.subrows(0, width).transpose(), -1.0);
        vectorized(
            #[inline(always)]
            || factorise(&mut a[start * n..(start + width) * n], n, start, least),
        )?;
    }
    Ok(())
}

/// Factorises the columns `start..` of a block column from the diagonal down: right-looking, a column at a time.
#[inline(always)]
fn factorise(panel: &mut [f64], n: usize, start: usize, least: f64) -> Result<(), NonPositivePivot> {
    let width = panel.len() / n;
    for j in 0..width {
        let pivot = start + j;
        let (done, rest) = panel.split_at_mut((j + 1) * n);
        let column = &mut done[j * n..];
        let value = column[pivot];
        // written so that NaN fails too
        if !(value > least && value < f64::INFINITY) {
            return Err(NonPositivePivot { pivot, value });
        }
        let root = value.sqrt();
        let reciprocal = 1.0 / root;
        column[..pivot].fill(0.0);
        column[pivot] = root;
        let column = &mut column[pivot + 1..];
        column.iter_mut().for_each(|x| *x *= reciprocal);
        for (k, other) in rest.chunks_exact_mut(n).enumerate() {
            // from the diagonal of that column down
            let factor = -column[k];
            let (other, column) = (&mut other[pivot + 1 + k..], &column[k..]);
            other.iter_mut().zip(column).for_each(|(o, x)| *o = factor.mul_add(*x, *o));
        }
    }
    Ok(())
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
        for n in [5, 16, 17, 40, 100, 200] {
            for (lengthscale, jitter) in
                [(0.3, 1e-8), (0.3, 1e-12), (1.0, 1e-8), (1.0, 1e-10), (1.0, 1e-12), (1.0, 1e-13)]
            {
                let a = kernel_matrix(n, lengthscale, jitter);
                let mut l = a.clone();
                cholesky_in_place(&mut l, n, 0.0).unwrap_or_else(|p| panic!("{n} {lengthscale} {jitter}: {p:?}"));
                for j in 0..n {
                    for i in 0..n {
                        let product: f64 = (0..n).map(|k| l[k * n + i] * l[k * n + j]).sum();
                        let error = (product - a[j * n + i]).abs();
                        assert!(error < n as f64 * f64::EPSILON, "({i}, {j}) of {n} {lengthscale} {jitter}: {error:e}");
                    }
                }
            }
        }
    }
}
