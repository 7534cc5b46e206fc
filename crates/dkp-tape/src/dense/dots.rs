//! tril(AᵀB), the gradient of a factor that was applied to rows.

use super::written_out::written_out;
use crate::math::arch;
use faer::Accum;
use pulp::{Simd, WithSimd};

/// tril(dst) ← [tril(dst) +] α·tril(AᵀB) for A and B with `rows` rows and n columns, column-major. Above the diagonal, close to it, `dst`
/// receives arbitrary finite values.
///
/// An element is a sum over points, which are contiguous in A and in B: each of its lanes sums some of them.
pub(crate) fn lower_of_dots(dst: &mut [f64], accum: Accum, a: &[f64], b: &[f64], rows: usize, n: usize, alpha: f64) {
    assert!(dst.len() == n * n && a.len() == rows * n && b.len() == rows * n);
    arch().dispatch(Dots { dst, add: matches!(accum, Accum::Add), a, b, rows, n, alpha });
}

struct Dots<'a> {
    dst: &'a mut [f64],
    add: bool,
    a: &'a [f64],
    b: &'a [f64],
    rows: usize,
    n: usize,
    alpha: f64,
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let wide = S::REGISTER_COUNT >= 32;
        let mut j = 0;
        while j < self.n {
            let width = match self.n - j {
                6.. if wide => 6,
                2.. => 2,
                _ => 1,
            };
            let mut i = j;
            while i < self.n {
                let height = if self.n - i >= 4 { 4 } else { 1 };
                match (height, width) {
                    (4, 6) => self.tile::<S, 4, 6>(simd, i, j),
                    (4, 2) => self.tile::<S, 4, 2>(simd, i, j),
                    (4, _) => self.tile::<S, 4, 1>(simd, i, j),
                    (_, 6) => self.tile::<S, 1, 6>(simd, i, j),
                    (_, 2) => self.tile::<S, 1, 2>(simd, i, j),
                    (_, _) => self.tile::<S, 1, 1>(simd, i, j),
                }
                i += height;
            }
            j += width;
        }
        self.remainder(S::F64_LANES);
    }
}

impl Dots<'_> {
    /// The elements from (i, j) on, I×J of them, over the points that fill vectors.
    #[inline(always)]
    fn tile<S: Simd, const I: usize, const J: usize>(&mut self, simd: S, i: usize, j: usize) {
        let count = self.rows / S::F64_LANES;
        let (mut a, mut b) = ([&[][..]; I], [&[][..]; J]);
        for c in 0..I {
            a[c] = &S::as_simd_f64s(&self.a[(i + c) * self.rows..][..self.rows]).0[..count];
        }
        for c in 0..J {
            b[c] = &S::as_simd_f64s(&self.b[(j + c) * self.rows..][..self.rows]).0[..count];
        }
        let mut sums = [[simd.splat_f64s(0.0); I]; J];
        for p in 0..count {
            for j in 0..J {
                for i in 0..I {
                    sums[j][i] = simd.mul_add_f64s(a[i][p], b[j][p], sums[j][i]);
                }
            }
        }
        written_out!(c < J, {
            let to = &mut self.dst[(j + c) * self.n + i..][..I];
            for i in 0..I {
                let before = if self.add { to[i] } else { 0.0 };
                to[i] = self.alpha.mul_add(simd.reduce_sum_f64s(sums[c][i]), before);
            }
        });
    }

    /// Adds the points that fill no vector.
    #[inline(always)]
    fn remainder(&mut self, lanes: usize) {
        for p in self.rows - self.rows % lanes..self.rows {
            for j in 0..self.n {
                let b = self.alpha * self.b[j * self.rows + p];
                for i in j..self.n {
                    self.dst[j * self.n + i] += b * self.a[i * self.rows + p];
                }
            }
        }
    }
}
