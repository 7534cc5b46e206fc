//! Division by a small triangle from the right, many rows at once.

use super::Side;
use crate::math::arch;
use pulp::{Simd, WithSimd};

/// Columns of a block: the largest triangle.
pub(super) const BLOCK: usize = 16;
/// Rows that are handled together: four vectors of the widest instruction set, enough to hide the latency of their sums.
const ROWS: usize = 32;

/// A lower triangle of at most [`BLOCK`] rows, for division by it or by its transpose.
///
/// X·Lᵀ = B is solved from the first column on, X·L = B from the last: columns count in that order here.
pub(super) struct Divisor {
    /// Row k: the factors, negated, of columns before column k.
    factors: [[f64; BLOCK]; BLOCK],
    reciprocals: [f64; BLOCK],
    size: usize,
    side: Side,
}

impl Divisor {
    /// L stands in the rows and columns `start..end` of a matrix of n rows, column by column.
    pub fn new(side: Side, l: &[f64], n: usize, start: usize, end: usize) -> Divisor {
        let size = end - start;
        let mut divisor = Divisor { factors: [[0.0; BLOCK]; BLOCK], reciprocals: [0.0; BLOCK], size, side };
        for j in 0..size {
            let column = &l[(start + j) * n + start..(start + j) * n + end];
            for i in j + 1..size {
                match side {
                    Side::Lower => divisor.factors[size - 1 - j][size - 1 - i] = -column[i],
                    Side::Transposed => divisor.factors[i][j] = -column[i],
                }
            }
            divisor.reciprocals[divisor.column(j)] = 1.0 / column[j];
        }
        divisor
    }

    /// The place of column k in the order, and back.
    fn column(&self, k: usize) -> usize {
        if self.side == Side::Lower { self.size - 1 - k } else { k }
    }

    /// Replaces B by X, for the rows `rows..n` of columns of n numbers each, as many as the triangle has.
    pub fn divide(&self, b: &mut [f64], n: usize, rows: usize) {
        arch().dispatch(Division { divisor: self, b, n, rows });
    }
}

struct Division<'a> {
    divisor: &'a Divisor,
    b: &'a mut [f64],
    n: usize,
    rows: usize,
}

impl WithSimd for Division<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Division { divisor, b, n, rows } = self;
        let mut x = [[0.0; ROWS]; BLOCK];
        for start in (rows..n).step_by(ROWS) {
            let height = ROWS.min(n - start);
            for k in 0..divisor.size {
                let at = divisor.column(k) * n + start;
                x[k][..height].copy_from_slice(&b[at..at + height]);
            }
            divide_rows(simd, divisor, &mut x);
            for k in 0..divisor.size {
                let at = divisor.column(k) * n + start;
                b[at..at + height].copy_from_slice(&x[k][..height]);
            }
        }
    }
}

#[inline(always)]
fn divide_rows<S: Simd>(simd: S, divisor: &Divisor, x: &mut [[f64; ROWS]; BLOCK]) {
    for k in 0..divisor.size {
        let (done, rest) = x.split_at_mut(k);
        let here = S::as_mut_simd_f64s(&mut rest[0]).0;
        let reciprocal = simd.splat_f64s(divisor.reciprocals[k]);
        // four sums at a time
        for v in (0..ROWS / S::F64_LANES).step_by(4) {
            let mut sums = [here[v], here[v + 1], here[v + 2], here[v + 3]];
            for (x, factor) in done.iter().zip(&divisor.factors[k]) {
                let (x, factor) = (S::as_simd_f64s(x).0, simd.splat_f64s(*factor));
                for l in 0..4 {
                    sums[l] = simd.mul_add_f64s(factor, x[v + l], sums[l]);
                }
            }
            for l in 0..4 {
                here[v + l] = simd.mul_f64s(reciprocal, sums[l]);
            }
        }
    }
}
