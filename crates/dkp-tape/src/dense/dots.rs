//! tril(AᵀB), the gradient of a factor that was applied to rows, among others.

use super::strip::written_out;
use super::transpose::Turn;
use crate::math::arch;
use faer::Accum;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Over which rows p of A and B the sums for element (i, j), i ≥ j, go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    All,
    /// p ≥ i: A is lower-triangular, with zeros above the diagonal.
    FromI,
    /// p ≤ j: B is upper-triangular, with zeros below the diagonal.
    ToJ,
}

/// tril(dst) ← [tril(dst) +] α·tril(AᵀB) for A and B with `rows` rows, column-major. Above the diagonal nothing is read or written.
///
/// Rows are contiguous in A and in B: each lane of a vector sums some of them.
pub(crate) fn lower_of_dots(dst: &mut [f64], accum: Accum, a: &[f64], b: &[f64], rows: usize, alpha: f64, over: Over) {
    let n = a.len() / rows;
    assert!(dst.len() == n * n && a.len() == rows * n && b.len() == rows * n);
    assert!(over == Over::All || rows == n);
    arch().dispatch(Dots { dst, add: matches!(accum, Accum::Add), a, b, rows, n, alpha, over });
}

struct Dots<'a> {
    dst: &'a mut [f64],
    add: bool,
    a: &'a [f64],
    b: &'a [f64],
    rows: usize,
    n: usize,
    alpha: f64,
    over: Over,
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let turn = &Turn::new(simd);
        let mut j = 0;
        while j < self.n {
            j += match self.n - j {
                6.. if S::REGISTER_COUNT >= 32 => self.columns::<S, 6>(simd, turn, j),
                2.. => self.columns::<S, 2>(simd, turn, j),
                _ => self.columns::<S, 1>(simd, turn, j),
            };
        }
        if self.rows < S::F64_LANES {
            self.few_rows();
        }
    }
}

impl Dots<'_> {
    /// J columns of the result from j on, from the diagonal down; returns J.
    #[inline(always)]
    fn columns<S: Simd, const J: usize>(&mut self, simd: S, turn: &Turn<S>, j: usize) -> usize {
        let mut b = [&[][..]; J];
        for c in 0..J {
            b[c] = &self.b[(j + c) * self.rows..][..self.rows];
        }
        self.tile::<S, J, J, true>(simd, turn, j, j, b);
        let mut i = j + J;
        while self.n - i >= 4 {
            self.tile::<S, 4, J, false>(simd, turn, i, j, b);
            i += 4;
        }
        if self.n - i >= 2 {
            self.tile::<S, 2, J, false>(simd, turn, i, j, b);
            i += 2;
        }
        if self.n > i {
            self.tile::<S, 1, J, false>(simd, turn, i, j, b);
        }
        J
    }

    /// The elements from (i, j) on, I×J of them or, in a corner on the diagonal, the lower triangle.
    #[inline(always)]
    fn tile<S: Simd, const I: usize, const J: usize, const CORNER: bool>(
        &mut self,
        simd: S,
        turn: &Turn<S>,
        i: usize,
        j: usize,
        b: [&[f64]; J],
    ) {
        let (rows, lanes) = (self.rows, S::F64_LANES);
        let whole = rows / lanes;
        let vectors = match self.over {
            Over::All => 0..whole,
            Over::FromI => (i / lanes).min(whole)..whole,
            Over::ToJ => 0..(j + J).div_ceil(lanes).min(whole),
        };
        let mut a = [&[][..]; I];
        for c in 0..I {
            a[c] = &self.a[(i + c) * rows..][..rows];
        }
        let mut sums = sums::<S, I, J, CORNER>(simd, a, b, vectors);
        if !rows.is_multiple_of(lanes) && rows > lanes && (self.over != Over::ToJ || j + J > whole * lanes) {
            // the last vector overlaps the one before, whose rows are not counted again
            let new = simd.mask_between_m64s((lanes - rows % lanes) as u64, lanes as u64).mask();
            let (mut last_a, mut last_b) = ([simd.splat_f64s(0.0); I], [simd.splat_f64s(0.0); J]);
            for c in 0..I {
                let last = S::as_simd_f64s(&a[c][rows - lanes..]).0[0];
                last_a[c] = simd.select_f64s(new, last, simd.splat_f64s(0.0));
            }
            for c in 0..J {
                last_b[c] = S::as_simd_f64s(&b[c][rows - lanes..]).0[0];
            }
            written_out!(j < J, {
                for i in first::<CORNER>(j)..I {
                    sums[j][i] = simd.mul_add_f64s(last_a[i], last_b[j], sums[j][i]);
                }
            });
        }
        self.add_lanes::<S, I, J, CORNER>(simd, turn, (i, j), sums);
    }

    /// Adds up the lanes of sums, as many vectors at a time as fill one, and puts them where they belong.
    #[inline(always)]
    fn add_lanes<S: Simd, const I: usize, const J: usize, const CORNER: bool>(
        &mut self,
        simd: S,
        turn: &Turn<S>,
        (i, j): (usize, usize),
        sums: [[S::f64s; I]; J],
    ) {
        const { assert!(MOST.is_multiple_of(8) && (if CORNER { J * (J + 1) / 2 } else { I * J }) <= MOST) };
        let mut vectors = [simd.splat_f64s(0.0); MOST];
        let mut count = 0;
        written_out!(c < J, {
            for r in first::<CORNER>(c)..I {
                vectors[count] = sums[c][r];
                count += 1;
            }
        });
        let mut totals = [0.0; MOST];
        let alpha = simd.splat_f64s(self.alpha);
        for k in (0..count).step_by(S::F64_LANES) {
            let mut some = [simd.splat_f64s(0.0); 8];
            some[..S::F64_LANES].copy_from_slice(&vectors[k..][..S::F64_LANES]);
            let scaled = simd.mul_f64s(turn.sums_of_lanes(simd, some), alpha);
            S::as_mut_simd_f64s(&mut totals[k..][..S::F64_LANES]).0[0] = scaled;
        }
        let mut totals = totals.iter();
        for c in 0..J {
            let to = &mut self.dst[(j + c) * self.n + i..][..I];
            for (to, total) in to[first::<CORNER>(c)..].iter_mut().zip(&mut totals) {
                *to = total + if self.add { *to } else { 0.0 };
            }
        }
    }

    /// Adds all rows, where they do not fill a vector.
    #[inline(always)]
    fn few_rows(&mut self) {
        for j in 0..self.n {
            for i in j..self.n {
                for p in 0..self.rows {
                    self.dst[j * self.n + i] += self.alpha * self.b[j * self.rows + p] * self.a[i * self.rows + p];
                }
            }
        }
    }
}

/// Sums that are taken together: as many as there are registers for, with room for a and b.
const MOST: usize = 24;

/// The first element of column c of a tile that is wanted; of a corner on the diagonal the lower triangle is.
#[inline(always)]
const fn first<const CORNER: bool>(c: usize) -> usize {
    if CORNER { c } else { 0 }
}

/// Σ a_i∘b_j over vectors of rows.
#[inline(always)]
fn sums<S: Simd, const I: usize, const J: usize, const CORNER: bool>(
    simd: S,
    a: [&[f64]; I],
    b: [&[f64]; J],
    vectors: Range<usize>,
) -> [[S::f64s; I]; J] {
    let (mut vectors_a, mut vectors_b) = ([&[][..]; I], [&[][..]; J]);
    for c in 0..I {
        vectors_a[c] = &S::as_simd_f64s(a[c]).0[vectors.clone()];
    }
    for c in 0..J {
        vectors_b[c] = &S::as_simd_f64s(b[c]).0[vectors.clone()];
    }
    let mut sums = [[simd.splat_f64s(0.0); I]; J];
    for p in 0..vectors.len() {
        for j in 0..J {
            for i in first::<CORNER>(j)..I {
                sums[j][i] = simd.mul_add_f64s(vectors_a[i][p], vectors_b[j][p], sums[j][i]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradcheck::cases::{self, flat};
    use faer::{Mat, MatRef};

    /// tril(dst) ← [tril(dst) +] −½·tril(AᵀB) with the instructions of `simd`.
    fn computed<S: Simd>(simd: S, before: &Mat<f64>, add: bool, [a, b]: [&Mat<f64>; 2], over: Over) -> Vec<f64> {
        let (mut dst, rows, n) = (flat(before), a.nrows(), a.ncols());
        simd.vectorize(Dots { dst: &mut dst, add, a: &flat(a), b: &flat(b), rows, n, alpha: -0.5, over });
        dst
    }

    /// For sizes around those of vectors and tiles, with each set of instructions; above the diagonal nothing is touched.
    #[test]
    fn lower_triangles_are_those_of_the_product() {
        let few = (1..=7).map(|n| (57, n));
        let others = [(1, 1), (3, 5), (8, 8), (9, 9), (17, 17), (24, 7), (31, 31), (57, 13), (100, 100), (37, 37)];
        for (rows, n) in few.chain(others) {
            for over in [Over::All, Over::FromI, Over::ToJ] {
                if over != Over::All && rows != n {
                    continue;
                }
                let [mut a, mut b] = [1, 2].map(|seed| cases::matrix(seed, rows, n));
                match over {
                    Over::All => {}
                    Over::FromI => a = Mat::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { 0.0 }),
                    Over::ToJ => b = Mat::from_fn(n, n, |i, j| if i <= j { b[(i, j)] } else { 0.0 }),
                }
                let before = cases::matrix(3, n, n);
                let product = a.transpose() * &b;
                for add in [false, true] {
                    let mut all = vec![computed(pulp::Scalar::new(), &before, add, [&a, &b], over)];
                    #[cfg(target_arch = "x86_64")]
                    {
                        let (v3, v4) = (pulp::x86::V3::try_new(), pulp::x86::V4::try_new());
                        all.extend(v3.map(|simd| computed(simd, &before, add, [&a, &b], over)));
                        all.extend(v4.map(|simd| computed(simd, &before, add, [&a, &b], over)));
                    }
                    for (which, dst) in all.iter().enumerate() {
                        let dst = MatRef::from_column_major_slice(dst, n, n);
                        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                            let start = if add || i < j { before[(i, j)] } else { 0.0 };
                            let expected = start - if i < j { 0.0 } else { 0.5 * product[(i, j)] };
                            let error = (dst[(i, j)] - expected).abs();
                            let place = format!("{rows}×{n} {over:?} {add} {which}: ({i}, {j})");
                            assert!(error <= 1e-13 * (1.0 + product.norm_max()), "{place}");
                            assert!(i >= j || error == 0.0, "{place}");
                        }
                    }
                }
            }
        }
    }
}
