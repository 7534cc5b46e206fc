//! Triangular factors applied to the rows of a matrix X: X·L, X·Lᵀ, X·L⁻¹, X·L⁻ᵀ.
//!
//! Rows stand next to each other in memory. A vector holds the same element of several rows, and all of them meet the same number of
//! L: nothing is packed or transposed, no lanes are exchanged, and the triangle is followed to the element. Sums go through
//! columns in an order that does not depend on strips or blocks: a row's result is the same whatever stands beside it.

use super::strip::{Across, ByStrips, Down, block, column, column_mut};
use super::strip::{difference, load, multiply, over_strips, store, sum, written_out};
use crate::math::arch;
use faer::Accum;
use pulp::{Simd, WithSimd};
use std::convert::Infallible;
use std::ops::Range;

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

/// Which elements of X differ from zero, and which of the result are wanted. Beyond the diagonal, as far as a strip is high, the result
/// receives arbitrary values (finite, if X is), and further off nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    /// X is lower-triangular, and of the result the lower triangle. For X·L⁻ᵀ it does not matter what is above X's diagonal.
    Lower,
    /// X is upper-triangular, and of the result the upper triangle. For X·L⁻¹ it does not matter what is below X's diagonal.
    Upper,
    /// Of the result the lower triangle.
    LowerOfAll,
}

/// dst ← [dst +] X·factor(L), for X of `rows` rows, all column-major. Inverses replace, they do not add.
pub(crate) fn apply_to_rows(
    factor: Factor,
    part: Part,
    dst: &mut [f64],
    accum: Accum,
    x: &[f64],
    rows: usize,
    l: &[f64],
) {
    let n = x.len() / rows;
    assert!(dst.len() == rows * n && x.len() == rows * n && l.len() == n * n);
    assert!(part == Part::All || rows == n);
    assert!((factor, part) != (Factor::Inverse, Part::LowerOfAll));
    assert!(matches!(accum, Accum::Replace) || matches!(factor, Factor::Lower | Factor::Transposed));
    arch().dispatch(Apply { factor, part, dst, add: matches!(accum, Accum::Add), x, scales: &[], rows, l, n });
}

/// dst ← diag(scales)·X·L⁻¹, all column-major.
pub(crate) fn divide_scaled_rows(dst: &mut [f64], x: &[f64], scales: &[f64], l: &[f64]) {
    let (rows, n) = (scales.len(), x.len() / scales.len());
    assert!(dst.len() == rows * n && x.len() == rows * n && l.len() == n * n);
    arch().dispatch(Apply { factor: Factor::Inverse, part: Part::All, dst, add: false, x, scales, rows, l, n });
}

struct Apply<'a> {
    factor: Factor,
    part: Part,
    dst: &'a mut [f64],
    add: bool,
    x: &'a [f64],
    /// What rows of X are multiplied by before they are divided by L, if anything.
    scales: &'a [f64],
    rows: usize,
    l: &'a [f64],
    n: usize,
}

/// Rows that are handled together, and which columns.
struct Strip {
    rows: Range<usize>,
    /// Rows at the beginning that have been handled before.
    done: usize,
    /// Columns of X that are not zero.
    reach: Range<usize>,
    /// Columns of the result that are wanted.
    wanted: Range<usize>,
}

impl WithSimd for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let rows = 0..self.rows;
        let Ok(()) = over_strips(simd, &mut self, rows);
    }
}

impl ByStrips for Apply<'_> {
    type Stop = Infallible;

    #[inline(always)]
    fn strip<S: Simd, const V: usize>(&mut self, simd: S, rows: Range<usize>, done: usize) -> Result<(), Infallible> {
        let n = self.n;
        let (reach, wanted) = match self.part {
            Part::All => (0..n, 0..n),
            Part::Lower => (0..rows.end, 0..rows.end),
            Part::Upper => (rows.start..n, rows.start..n),
            Part::LowerOfAll => (0..n, 0..rows.end),
        };
        self.columns::<S, V>(simd, &Strip { rows, done, reach, wanted });
        Ok(())
    }
}

impl Apply<'_> {
    /// All columns of a strip, in blocks.
    #[inline(always)]
    fn columns<S: Simd, const V: usize>(&mut self, simd: S, strip: &Strip) {
        let mut left = strip.wanted.len();
        while left > 0 {
            let count = block::<S>(left);
            // X·L⁻¹ begins with the last column
            let first = match self.factor {
                Factor::Inverse => strip.wanted.start + left - count,
                _ => strip.wanted.end - left,
            };
            match count {
                8 => self.block::<S, V, 8>(simd, strip, first),
                4 => self.block::<S, V, 4>(simd, strip, first),
                _ => self.block::<S, V, 1>(simd, strip, first),
            }
            left -= count;
        }
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize, const C: usize>(&mut self, simd: S, strip: &Strip, first: usize) {
        match self.factor {
            Factor::Lower => self.times::<S, V, C>(simd, strip, first),
            Factor::Transposed => self.times_transposed::<S, V, C>(simd, strip, first),
            Factor::Inverse => self.divide::<S, V, C>(simd, strip, first),
            Factor::InverseTransposed => self.divide_transposed::<S, V, C>(simd, strip, first),
        }
    }

    /// y_j = Σ_{k≥j} x_k·L_kj
    #[inline(always)]
    fn times<S: Simd, const V: usize, const C: usize>(&mut self, simd: S, strip: &Strip, first: usize) {
        let down = Down::<C>::new(self.l, self.n, first);
        let after = (first + C..strip.reach.end).rev();
        let mut sums = sum::<S, V, C>(simd, (self.x, self.rows), &strip.rows, down, after);
        written_out!(back < C, {
            let k = C - 1 - back;
            let x = load::<S, V>(column(self.x, self.rows, first + k, &strip.rows));
            for j in 0..=k {
                sums[j] = multiply(simd, sums[j], down.0[j][first + k], x);
            }
        });
        self.put(simd, sums, strip, first);
    }

    /// y_i = Σ_{k≤i} x_k·L_ik
    #[inline(always)]
    fn times_transposed<S: Simd, const V: usize, const C: usize>(&mut self, simd: S, strip: &Strip, first: usize) {
        let across = Across { l: self.l, n: self.n, first };
        let before = strip.reach.start..first;
        let mut sums = sum::<S, V, C>(simd, (self.x, self.rows), &strip.rows, across, before);
        written_out!(k < C, {
            let x = load::<S, V>(column(self.x, self.rows, first + k, &strip.rows));
            let l = across.rows::<C>(first + k);
            for i in k..C {
                sums[i] = multiply(simd, sums[i], l[i], x);
            }
        });
        self.put(simd, sums, strip, first);
    }

    /// y_j = (x_j − Σ_{k>j} y_k·L_kj)/L_jj
    #[inline(always)]
    fn divide<S: Simd, const V: usize, const C: usize>(&mut self, simd: S, strip: &Strip, first: usize) {
        let down = Down::<C>::new(self.l, self.n, first);
        let after = (first + C..strip.reach.end).rev();
        let mut sums = sum::<S, V, C>(simd, (&*self.dst, self.rows), &strip.rows, down, after);
        written_out!(back < C, {
            let k = C - 1 - back;
            let y = self.divided::<S, V>(simd, sums[k], strip, first + k, down.0[k][first + k]);
            for j in 0..k {
                sums[j] = multiply(simd, sums[j], down.0[j][first + k], y);
            }
        });
    }

    /// y_i = (x_i − Σ_{k<i} y_k·L_ik)/L_ii
    #[inline(always)]
    fn divide_transposed<S: Simd, const V: usize, const C: usize>(&mut self, simd: S, strip: &Strip, first: usize) {
        let across = Across { l: self.l, n: self.n, first };
        let before = strip.reach.start..first;
        let mut sums = sum::<S, V, C>(simd, (&*self.dst, self.rows), &strip.rows, across, before);
        written_out!(k < C, {
            let l = across.rows::<C>(first + k);
            let y = self.divided::<S, V>(simd, sums[k], strip, first + k, l[k]);
            for i in k + 1..C {
                sums[i] = multiply(simd, sums[i], l[i], y);
            }
        });
    }

    /// Stores and returns (x_j − sum)/pivot.
    #[inline(always)]
    fn divided<S: Simd, const V: usize>(
        &mut self,
        simd: S,
        sum: [S::f64s; V],
        strip: &Strip,
        j: usize,
        pivot: f64,
    ) -> [S::f64s; V] {
        let mut x = load::<S, V>(column(self.x, self.rows, j, &strip.rows));
        if !self.scales.is_empty() {
            let scales = load::<S, V>(&self.scales[strip.rows.clone()]);
            for v in 0..V {
                x[v] = simd.mul_f64s(scales[v], x[v]);
            }
        }
        let y = difference(simd, x, sum, 1.0 / pivot);
        store::<S, V>(column_mut(self.dst, self.rows, j, &strip.rows), y);
        y
    }

    /// Stores sums or adds them, to rows that have not been handled before.
    #[inline(always)]
    fn put<S: Simd, const V: usize, const C: usize>(
        &mut self,
        simd: S,
        sums: [[S::f64s; V]; C],
        strip: &Strip,
        first: usize,
    ) {
        if !self.add {
            written_out!(j < C, {
                store::<S, V>(column_mut(self.dst, self.rows, first + j, &strip.rows), sums[j]);
            });
            return;
        }
        let new = simd.mask_between_m64s(strip.done as u64, S::F64_LANES as u64).mask();
        written_out!(j < C, {
            let to = column_mut(self.dst, self.rows, first + j, &strip.rows);
            let before = load::<S, V>(to);
            let mut sum = sums[j];
            for v in 0..V {
                sum[v] = simd.add_f64s(before[v], sum[v]);
            }
            if V == 1 {
                sum[0] = simd.select_f64s(new, sum[0], before[0]);
            }
            store::<S, V>(to, sum);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradcheck::cases::{self, flat};
    use faer::{Mat, MatRef};

    const FACTORS: [Factor; 4] = [Factor::Lower, Factor::Transposed, Factor::Inverse, Factor::InverseTransposed];

    fn lower(seed: u64, n: usize) -> Mat<f64> {
        let m = cases::matrix(seed, n, n);
        Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => 0.3 * m[(i, j)],
            std::cmp::Ordering::Equal => 1.0 + m[(i, j)].abs(),
            std::cmp::Ordering::Less => 0.0,
        })
    }

    /// Every part of every factor against dense algebra; what is not wanted or must not matter is NaN or large.
    #[test]
    fn parts_are_those_of_dense_algebra() {
        for n in [1, 3, 7, 8, 9, 17, 24, 25, 31, 40, 57, 100] {
            let (l, full) = (lower(1, n), cases::matrix(3, n, n));
            for factor in FACTORS {
                let dense = |x: &Mat<f64>| -> Mat<f64> {
                    let inverse = {
                        let mut i = Mat::<f64>::identity(n, n);
                        crate::dense::solve_in_place(crate::dense::Side::Lower, l.as_ref(), i.as_mut());
                        i
                    };
                    match factor {
                        Factor::Lower => x * &l,
                        Factor::Transposed => x * l.transpose(),
                        Factor::Inverse => x * &inverse,
                        Factor::InverseTransposed => x * inverse.transpose(),
                    }
                };
                for part in [Part::All, Part::Lower, Part::Upper, Part::LowerOfAll] {
                    let kept = |i: usize, j: usize| match part {
                        Part::All | Part::LowerOfAll => true,
                        Part::Lower => i >= j,
                        Part::Upper => i <= j,
                    };
                    if part == Part::LowerOfAll && matches!(factor, Factor::Inverse) {
                        continue;
                    }
                    let x = Mat::from_fn(n, n, |i, j| if kept(i, j) { full[(i, j)] } else { 0.0 });
                    let expected = dense(&x);
                    let ignored = matches!(
                        (factor, part),
                        (Factor::InverseTransposed, Part::Lower) | (Factor::Inverse, Part::Upper)
                    );
                    let given = if ignored { &full } else { &x };
                    let mut y = vec![f64::NAN; n * n];
                    apply_to_rows(factor, part, &mut y, Accum::Replace, &flat(given), n, &flat(&l));
                    let y = MatRef::from_column_major_slice(&y, n, n);
                    let size = expected.norm_max().max(1.0);
                    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                        let wanted = if part == Part::LowerOfAll { i >= j } else { kept(i, j) };
                        let close = (y[(i, j)] - expected[(i, j)]).abs() < 1e-12 * size;
                        assert!(!wanted || close, "{factor:?} {part:?} {n}: ({i}, {j})");
                    }
                }
            }
        }
    }

    #[test]
    fn sums_are_added_once() {
        for rows in [3, 8, 13, 24, 29, 50, 100] {
            let (n, l) = (11, lower(1, 11));
            let (x, before) = (cases::matrix(2, rows, n), cases::matrix(3, rows, n));
            for factor in [Factor::Lower, Factor::Transposed] {
                let mut y = flat(&before);
                apply_to_rows(factor, Part::All, &mut y, Accum::Add, &flat(&x), rows, &flat(&l));
                let expected = &before + if factor == Factor::Lower { &x * &l } else { &x * l.transpose() };
                assert!((MatRef::from_column_major_slice(&y, rows, n) - &expected).norm_max() < 1e-13);
            }
        }
    }

    /// The residual relative to ‖L‖·‖x‖, row by row: what backward stability bounds by a small multiple of n·ε, however ill-conditioned L is.
    #[test]
    fn solves_with_ill_conditioned_factors_have_small_residuals() {
        for (lengthscale, jitter) in [(0.3, 1e-8), (0.3, 1e-12), (1.0, 1e-8), (1.0, 1e-10)] {
            for n in [5, 16, 40, 100] {
                let a = crate::dense::cholesky::tests::kernel_matrix(n, lengthscale, jitter);
                let mut l = vec![0.0; n * n];
                crate::dense::cholesky(&a, &mut l, n, 0.0).unwrap();
                let lm = MatRef::from_column_major_slice(&l, n, n);
                let x = cases::matrix(1, 29, n);
                for factor in [Factor::Inverse, Factor::InverseTransposed] {
                    let mut y = vec![0.0; 29 * n];
                    apply_to_rows(factor, Part::All, &mut y, Accum::Replace, &flat(&x), 29, &l);
                    let y = MatRef::from_column_major_slice(&y, 29, n);
                    let product = if factor == Factor::Inverse { y * lm } else { y * lm.transpose() };
                    for p in 0..29 {
                        let size = lm.norm_max() * (0..n).fold(0.0, |m: f64, j| m.max(y[(p, j)].abs()));
                        for j in 0..n {
                            let error = (product[(p, j)] - x[(p, j)]).abs() / size;
                            assert!(
                                error < n as f64 * f64::EPSILON,
                                "{factor:?} {n} {lengthscale} {jitter}: {error:e}"
                            );
                        }
                    }
                }
            }
        }
    }
}
