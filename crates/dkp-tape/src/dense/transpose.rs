//! Moving elements across the diagonal, in blocks that fit into registers. Matrices are n×n and column-major.

use crate::math::arch;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// `to` becomes the upper-triangular transpose of the lower triangle of `from`.
pub(crate) fn transpose_lower(from: &[f64], to: &mut [f64], n: usize) {
    arch().dispatch(Exchange { from, to, n, what: What::Lower });
    clear_lower(to, n);
}

/// `to` becomes the lower-triangular transpose of the upper triangle of `from`.
pub(crate) fn transpose_upper(from: &[f64], to: &mut [f64], n: usize) {
    arch().dispatch(Exchange { from, to, n, what: What::Upper });
    clear_upper(to, n);
}

/// to ← from + fromᵀ.
pub(crate) fn symmetrise(from: &[f64], to: &mut [f64], n: usize) {
    arch().dispatch(Exchange { from, to, n, what: What::Sum });
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror_lower(a: &mut [f64], n: usize) {
    arch().dispatch(Mirror { a, n });
}

/// Zeroes what is above the diagonal.
pub(crate) fn clear_upper(a: &mut [f64], n: usize) {
    a.chunks_exact_mut(n).enumerate().for_each(|(j, column)| column[..j].fill(0.0));
}

/// Zeroes what is below the diagonal.
pub(crate) fn clear_lower(a: &mut [f64], n: usize) {
    a.chunks_exact_mut(n).enumerate().for_each(|(j, column)| column[j + 1..].fill(0.0));
}

/// What becomes of `from`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// At least its lower triangle is transposed.
    Lower,
    /// At least its upper triangle is transposed.
    Upper,
    /// It is added to its transpose.
    Sum,
}

/// to_ij ← from_ji [+ from_ij].
struct Exchange<'a> {
    from: &'a [f64],
    to: &'a mut [f64],
    n: usize,
    what: What,
}

impl WithSimd for Exchange<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Exchange { from, to, n, what } = self;
        let size = S::F64_LANES;
        if n < size {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let (own, other) = (from[j * n + i], from[i * n + j]);
                to[j * n + i] = if what == What::Sum { other + own } else { other };
            }
            return;
        }
        let turn = Turn::new(simd);
        for j in starts(0..n, size) {
            for i in starts(0..n, size) {
                let moved = match what {
                    What::Lower => i < j + size,
                    What::Upper => j < i + size,
                    What::Sum => true,
                };
                if !moved {
                    continue;
                }
                let mut block = turn.transposed(simd, read::<S>(simd, from, n, j, i));
                if what == What::Sum {
                    let own = read::<S>(simd, from, n, i, j);
                    for c in 0..size {
                        block[c] = simd.add_f64s(block[c], own[c]);
                    }
                }
                write::<S>(to, n, i, j, block);
            }
        }
    }
}

struct Mirror<'a> {
    a: &'a mut [f64],
    n: usize,
}

impl WithSimd for Mirror<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Mirror { a, n } = self;
        let turn = Turn::new(simd);
        for first in (0..n).step_by(S::F64_LANES) {
            let below = n.min(first + S::F64_LANES);
            for j in first..below {
                copy_across(a, n, j + 1..below, j..j + 1);
            }
            turn.across(simd, a, n, below..n, first);
        }
    }
}

/// Copies these rows and columns across the diagonal, element by element.
#[inline(always)]
pub(super) fn copy_across(a: &mut [f64], n: usize, rows: Range<usize>, columns: Range<usize>) {
    for (i, j) in rows.flat_map(|i| columns.clone().map(move |j| (i, j))) {
        a[i * n + j] = a[j * n + i];
    }
}

/// Where blocks begin that cover a range of at least their size, the last overlapping the one before if need be.
#[inline(always)]
fn starts(range: Range<usize>, size: usize) -> impl Iterator<Item = usize> {
    let last = range.end.saturating_sub(size);
    range.step_by(size).map(move |i| i.min(last))
}

/// As many columns as a vector has lanes; what is beyond is not used.
type Block<S> = [<S as Simd>::f64s; 8];

/// The block from (i, j) on, column by column.
#[inline(always)]
fn read<S: Simd>(simd: S, a: &[f64], n: usize, i: usize, j: usize) -> Block<S> {
    let mut block = [simd.splat_f64s(0.0); 8];
    for c in 0..S::F64_LANES {
        block[c] = S::as_simd_f64s(&a[(j + c) * n + i..][..S::F64_LANES]).0[0];
    }
    block
}

#[inline(always)]
fn write<S: Simd>(a: &mut [f64], n: usize, i: usize, j: usize, block: Block<S>) {
    for c in 0..S::F64_LANES {
        S::as_mut_simd_f64s(&mut a[(j + c) * n + i..][..S::F64_LANES]).0[0] = block[c];
    }
}

/// Transposes blocks by exchanging, for each bit h, lanes with h of a column without it for lanes without h of the column with it.
pub(super) struct Turn<S: Simd> {
    /// Lanes whose numbers have no bit 1, 2 or 4.
    without: [S::m64s; 3],
}

impl<S: Simd> Turn<S> {
    #[inline(always)]
    pub(super) fn new(simd: S) -> Self {
        const LANES: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let without = [1, 2, 4].map(|h| {
            let bits = LANES.map(|l| f64::from(l as u32 & h));
            simd.equal_f64s(S::as_simd_f64s(&bits).0[0], simd.splat_f64s(0.0))
        });
        Turn { without }
    }

    /// Copies elements below the diagonal across it: these rows of as many columns as a vector has lanes.
    #[inline(always)]
    pub(super) fn across(&self, simd: S, a: &mut [f64], n: usize, rows: Range<usize>, first: usize) {
        if rows.len() < S::F64_LANES {
            return copy_across(a, n, rows, first..first + S::F64_LANES);
        }
        for i in starts(rows, S::F64_LANES) {
            let block = self.transposed(simd, read::<S>(simd, a, n, i, first));
            write::<S>(a, n, first, i, block);
        }
    }

    /// The sum over the lanes of each vector.
    #[inline(always)]
    pub(super) fn sums_of_lanes(&self, simd: S, mut vectors: Block<S>) -> S::f64s {
        let mut count = S::F64_LANES;
        for bit in 0..3 {
            let h = 1 << bit;
            if h < S::F64_LANES {
                count /= 2;
                for k in 0..count {
                    let (a, b) = (vectors[2 * k], vectors[2 * k + 1]);
                    let own = simd.select_f64s(self.without[bit], a, b);
                    let rest = simd.rotate_left_f64s(simd.select_f64s(self.without[bit], b, a), h);
                    vectors[k] = simd.add_f64s(own, rest);
                }
            }
        }
        vectors[0]
    }

    #[inline(always)]
    fn transposed(&self, simd: S, mut block: Block<S>) -> Block<S> {
        for bit in 0..3 {
            let h = 1 << bit;
            for k in 0..S::F64_LANES {
                if k & h == 0 && k + h < S::F64_LANES {
                    let (a, b) = (block[k], block[k + h]);
                    block[k] = simd.select_f64s(self.without[bit], a, simd.rotate_right_f64s(b, h));
                    block[k + h] = simd.select_f64s(self.without[bit], simd.rotate_left_f64s(a, h), b);
                }
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of them, with the instructions of `simd`.
    fn moved<S: Simd>(simd: S, from: &[f64], n: usize) -> [Vec<f64>; 4] {
        let exchanged = |what| {
            let mut to = vec![f64::NAN; n * n];
            simd.vectorize(Exchange { from, to: &mut to, n, what });
            to
        };
        let mut mirrored = from.to_vec();
        simd.vectorize(Mirror { a: &mut mirrored, n });
        [exchanged(What::Lower), exchanged(What::Upper), exchanged(What::Sum), mirrored]
    }

    #[test]
    fn other_instructions_move_the_same_elements() {
        for n in (1..=33).chain([100]) {
            let from: Vec<f64> = (0..n * n).map(|e| e as f64).collect();
            let mut all = vec![moved(pulp::Scalar::new(), &from, n)];
            #[cfg(target_arch = "x86_64")]
            {
                all.extend(pulp::x86::V3::try_new().map(|simd| moved(simd, &from, n)));
                all.extend(pulp::x86::V4::try_new().map(|simd| moved(simd, &from, n)));
            }
            for [lower, upper, sum, mirrored] in all {
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let (at, here, there) = (j * n + i, from[j * n + i], from[i * n + j]);
                    assert!(i > j || lower[at] == there, "lower ({i}, {j}) of {n}");
                    assert!(i < j || upper[at] == there, "upper ({i}, {j}) of {n}");
                    assert_eq!(sum[at], here + there, "sum ({i}, {j}) of {n}");
                    assert_eq!(mirrored[at], if i >= j { here } else { there }, "mirror ({i}, {j}) of {n}");
                }
            }
        }
    }

    #[test]
    fn elements_are_where_they_belong() {
        for n in [1, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 20, 31, 100] {
            let from: Vec<f64> = (0..n * n).map(|e| e as f64).collect();
            let results = [transpose_lower, transpose_upper, symmetrise].map(|f| {
                let mut to = vec![f64::NAN; n * n];
                f(&from, &mut to, n);
                to
            });
            let mut mirrored = from.clone();
            mirror_lower(&mut mirrored, n);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let (here, there) = (from[j * n + i], from[i * n + j]);
                let expected = [if i <= j { there } else { 0.0 }, if i >= j { there } else { 0.0 }, here + there];
                assert_eq!([0, 1, 2].map(|f| results[f][j * n + i]), expected, "({i}, {j}) of {n}");
                assert_eq!(mirrored[j * n + i], if i >= j { here } else { there }, "({i}, {j}) of {n}");
            }
        }
    }
}
