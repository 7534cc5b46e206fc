//! Triangular factors applied to the rows of a matrix X: X·L, X·Lᵀ, X·L⁻¹, X·L⁻ᵀ.
//!
//! A row is a point, and points stand next to each other in memory. A vector holds the same element of several points, and all of
//! them meet the same number of L: nothing is packed or transposed, no lanes are exchanged, and the triangle is followed to the
//! element. A point's result is the same whatever stands beside it.

use super::written_out::written_out;
use crate::math::arch;
use faer::Accum;
use pulp::{Scalar, Simd, WithSimd};
use std::ops::Range;

/// Vectors of points that are handled together.
const VECTORS: usize = 3;

/// What is done to the rows of X.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factor {
    /// X·L
    Lower,
    /// X·Lᵀ
    Transposed,
    /// X·L⁻¹
    Inverse,
    /// X·L⁻ᵀ
    InverseTransposed,
}

impl Factor {
    /// That of the adjoint.
    pub(crate) fn transposed(self) -> Factor {
        match self {
            Factor::Lower => Factor::Transposed,
            Factor::Transposed => Factor::Lower,
            Factor::Inverse => Factor::InverseTransposed,
            Factor::InverseTransposed => Factor::Inverse,
        }
    }
}

/// dst ← [dst +] X·factor(L), for X of `rows` rows and L n×n, all column-major. Inverses replace, they do not add.
pub(crate) fn apply_to_rows(
    factor: Factor,
    dst: &mut [f64],
    accum: Accum,
    x: &[f64],
    rows: usize,
    l: &[f64],
    n: usize,
) {
    assert!(dst.len() == rows * n && x.len() == rows * n && l.len() == n * n);
    debug_assert!(matches!(accum, Accum::Replace) || matches!(factor, Factor::Lower | Factor::Transposed));
    arch().dispatch(Apply { factor, dst, add: matches!(accum, Accum::Add), x, rows, l, n });
}

struct Apply<'a> {
    factor: Factor,
    dst: &'a mut [f64],
    add: bool,
    x: &'a [f64],
    rows: usize,
    l: &'a [f64],
    n: usize,
}

impl WithSimd for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let height = VECTORS * S::F64_LANES;
        let whole = self.rows - self.rows % height;
        for start in (0..whole).step_by(height) {
            self.strip::<S, VECTORS>(simd, start..start + height);
        }
        let vectors = self.rows - self.rows % S::F64_LANES;
        for start in (whole..vectors).step_by(S::F64_LANES) {
            self.strip::<S, 1>(simd, start..start + S::F64_LANES);
        }
        for point in vectors..self.rows {
            self.strip::<Scalar, 1>(Scalar, point..point + 1);
        }
    }
}

impl<'a> Apply<'a> {
    /// Some points through all columns, in blocks whose sums have registers.
    #[inline(always)]
    fn strip<S: Simd, const V: usize>(&mut self, simd: S, points: Range<usize>) {
        let wide = S::REGISTER_COUNT >= 32;
        let block = |left: usize| match left {
            8.. if wide => 8,
            4.. => 4,
            _ => 1,
        };
        let mut done = 0;
        while done < self.n {
            let count = block(self.n - done);
            // inverses of L, not of Lᵀ, begin with the last column
            let first = if self.factor == Factor::Inverse { self.n - done - count } else { done };
            match count {
                8 => self.block::<S, V, 8>(simd, points.clone(), first),
                4 => self.block::<S, V, 4>(simd, points.clone(), first),
                _ => self.block::<S, V, 1>(simd, points.clone(), first),
            }
            done += count;
        }
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize, const C: usize>(&mut self, simd: S, points: Range<usize>, first: usize) {
        match self.factor {
            Factor::Lower => self.times::<S, V, C>(simd, points, first),
            Factor::Transposed => self.times_transposed::<S, V, C>(simd, points, first),
            Factor::Inverse => self.divide::<S, V, C>(simd, points, first),
            Factor::InverseTransposed => self.divide_transposed::<S, V, C>(simd, points, first),
        }
    }

    /// y_j = Σ_{k≥j} x_k·L_kj
    #[inline(always)]
    fn times<S: Simd, const V: usize, const C: usize>(&mut self, simd: S, points: Range<usize>, first: usize) {
        let down = Down(self.columns::<C>(first));
        let mut sums = self.sum::<S, V, C>(simd, self.x, &points, down, first + C..self.n);
        written_out!(k < C, {
            let x = load::<S, V>(simd, column(self.x, self.rows, first + k, &points));
            for j in 0..=k {
                sums[j] = multiply(simd, sums[j], down.0[j][first + k], x);
            }
        });
        self.put(simd, sums, &points, first);
    }

    /// y_i = Σ_{k≤i} x_k·L_ik
    #[inline(always)]
    fn times_transposed<S: Simd, const V: usize, const C: usize>(
        &mut self,
        simd: S,
        points: Range<usize>,
        first: usize,
    ) {
        let across = Across { l: self.l, n: self.n, first };
        let mut sums = self.sum::<S, V, C>(simd, self.x, &points, across, 0..first);
        written_out!(k < C, {
            let x = load::<S, V>(simd, column(self.x, self.rows, first + k, &points));
            let l: [f64; C] = across.at(first + k);
            for i in k..C {
                sums[i] = multiply(simd, sums[i], l[i], x);
            }
        });
        self.put(simd, sums, &points, first);
    }

    /// y_j = (x_j − Σ_{k>j} y_k·L_kj)/L_jj
    #[inline(always)]
    fn divide<S: Simd, const V: usize, const C: usize>(&mut self, simd: S, points: Range<usize>, first: usize) {
        let down = Down(self.columns::<C>(first));
        let mut sums = self.sum::<S, V, C>(simd, self.dst, &points, down, first + C..self.n);
        written_out!(back < C, {
            let k = C - 1 - back;
            let y = self.divided::<S, V>(simd, sums[k], &points, first + k, down.0[k][first + k]);
            for j in 0..k {
                sums[j] = multiply(simd, sums[j], down.0[j][first + k], y);
            }
        });
    }

    /// y_i = (x_i − Σ_{k<i} y_k·L_ik)/L_ii
    #[inline(always)]
    fn divide_transposed<S: Simd, const V: usize, const C: usize>(
        &mut self,
        simd: S,
        points: Range<usize>,
        first: usize,
    ) {
        let across = Across { l: self.l, n: self.n, first };
        let mut sums = self.sum::<S, V, C>(simd, self.dst, &points, across, 0..first);
        written_out!(k < C, {
            let l: [f64; C] = across.at(first + k);
            let y = self.divided::<S, V>(simd, sums[k], &points, first + k, l[k]);
            for i in k + 1..C {
                sums[i] = multiply(simd, sums[i], l[i], y);
            }
        });
    }

    /// Σ_k x_k·l_k for the numbers l_k of C columns of the result.
    #[inline(always)]
    fn sum<S: Simd, const V: usize, const C: usize>(
        &self,
        simd: S,
        x: &[f64],
        points: &Range<usize>,
        l: impl Numbers<C>,
        ks: Range<usize>,
    ) -> [[S::f64s; V]; C] {
        let mut sums = [[simd.splat_f64s(0.0); V]; C];
        for k in ks {
            let x = load::<S, V>(simd, column(x, self.rows, k, points));
            let l = l.at(k);
            for j in 0..C {
                sums[j] = multiply(simd, sums[j], l[j], x);
            }
        }
        sums
    }

    /// Stores and returns (x_j − sum)/pivot.
    #[inline(always)]
    fn divided<S: Simd, const V: usize>(
        &mut self,
        simd: S,
        sum: [S::f64s; V],
        points: &Range<usize>,
        j: usize,
        pivot: f64,
    ) -> [S::f64s; V] {
        let x = load::<S, V>(simd, column(self.x, self.rows, j, points));
        let reciprocal = simd.splat_f64s(1.0 / pivot);
        let mut y = sum;
        for v in 0..V {
            y[v] = simd.mul_f64s(simd.sub_f64s(x[v], sum[v]), reciprocal);
        }
        store::<S, V>(column_mut(self.dst, self.rows, j, points), y);
        y
    }

    /// Columns of L from `first` on.
    #[inline(always)]
    fn columns<const C: usize>(&self, first: usize) -> [&'a [f64]; C] {
        let mut columns = [&[][..]; C];
        for j in 0..C {
            columns[j] = &self.l[(first + j) * self.n..][..self.n];
        }
        columns
    }

    #[inline(always)]
    fn put<S: Simd, const V: usize, const C: usize>(
        &mut self,
        simd: S,
        sums: [[S::f64s; V]; C],
        points: &Range<usize>,
        first: usize,
    ) {
        written_out!(j < C, {
            let to = column_mut(self.dst, self.rows, first + j, points);
            let mut sum = sums[j];
            if self.add {
                let before = load::<S, V>(simd, to);
                for v in 0..V {
                    sum[v] = simd.add_f64s(before[v], sum[v]);
                }
            }
            store::<S, V>(to, sum);
        });
    }
}

/// The numbers of L that meet one element of X.
trait Numbers<const C: usize>: Copy {
    fn at(&self, k: usize) -> [f64; C];
}

/// L_kj for C columns j.
#[derive(Clone, Copy)]
struct Down<'a, const C: usize>([&'a [f64]; C]);

impl<const C: usize> Numbers<C> for Down<'_, C> {
    #[inline(always)]
    fn at(&self, k: usize) -> [f64; C] {
        let mut numbers = [0.0; C];
        for j in 0..C {
            numbers[j] = self.0[j][k];
        }
        numbers
    }
}

/// L_ik for C rows i from `first` on.
#[derive(Clone, Copy)]
struct Across<'a> {
    l: &'a [f64],
    n: usize,
    first: usize,
}

impl<const C: usize> Numbers<C> for Across<'_> {
    #[inline(always)]
    fn at(&self, k: usize) -> [f64; C] {
        *self.l[k * self.n + self.first..].first_chunk().expect("the rows are there")
    }
}

#[inline(always)]
fn column<'a>(x: &'a [f64], rows: usize, k: usize, points: &Range<usize>) -> &'a [f64] {
    &x[k * rows + points.start..][..points.len()]
}

#[inline(always)]
fn column_mut<'a>(x: &'a mut [f64], rows: usize, k: usize, points: &Range<usize>) -> &'a mut [f64] {
    &mut x[k * rows + points.start..][..points.len()]
}

/// sum + factor·x
#[inline(always)]
fn multiply<S: Simd, const V: usize>(simd: S, mut sum: [S::f64s; V], factor: f64, x: [S::f64s; V]) -> [S::f64s; V] {
    let factor = simd.splat_f64s(factor);
    for v in 0..V {
        sum[v] = simd.mul_add_f64s(factor, x[v], sum[v]);
    }
    sum
}

#[inline(always)]
fn load<S: Simd, const V: usize>(simd: S, x: &[f64]) -> [S::f64s; V] {
    let (vectors, mut all) = (S::as_simd_f64s(x).0, [simd.splat_f64s(0.0); V]);
    for v in 0..V {
        all[v] = vectors[v];
    }
    all
}

#[inline(always)]
fn store<S: Simd, const V: usize>(to: &mut [f64], x: [S::f64s; V]) {
    let to = S::as_mut_simd_f64s(to).0;
    for v in 0..V {
        to[v] = x[v];
    }
}
