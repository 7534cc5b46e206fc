//! The triangular blocks on the diagonal, which are solved by substitution.

use faer::prelude::{Reborrow as _, ReborrowMut as _};
use faer::{MatMut, MatRef};
use pulp::Simd;

/// Rows of a block.
pub(super) const BLOCK: usize = 16;

/// Rows that are eliminated together.
const FOUR: usize = 4;

/// Columns that are copied out together, so that the copy stays in the nearest cache.
const STRIP: usize = 64;

/// Which system is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// L·X = B
    Lower,
    /// Lᵀ·X = B
    Transposed,
}

/// A diagonal block of L, or of Lᵀ with rows and columns in reverse order, which is lower-triangular too. It is padded with
/// the identity, so that loops have a fixed length.
pub(super) struct Triangle {
    side: Side,
    start: usize,
    width: usize,
    /// Elements by rows, with their signs changed.
    negated: [[f64; BLOCK]; BLOCK],
    reciprocals: [f64; BLOCK],
}

impl Triangle {
    /// The block of L that starts at row `start`.
    pub(super) fn read(side: Side, l: MatRef<'_, f64>, start: usize) -> Triangle {
        let width = BLOCK.min(l.nrows() - start);
        let (negated, reciprocals) = ([[0.0; BLOCK]; BLOCK], [1.0; BLOCK]);
        let mut triangle = Triangle { side, start, width, negated, reciprocals };
        for j in 0..width {
            for i in j..width {
                let element = l[(start + i, start + j)];
                // (i, j) of Lᵀ reversed is (w−1−i, w−1−j) of Lᵀ, which is (w−1−j, w−1−i) of L
                let (i, j) = if side == Side::Lower { (i, j) } else { (width - 1 - j, width - 1 - i) };
                if i == j {
                    triangle.reciprocals[i] = 1.0 / element;
                } else {
                    triangle.negated[i][j] = -element;
                }
            }
        }
        triangle
    }

    /// Solves for the block's rows in every column of `b`.
    pub(super) fn solve(&self, b: MatMut<'_, f64>) {
        let mut b = b.subrows_mut(self.start, self.width);
        let mut x = [0.0; BLOCK * STRIP];
        for first in (0..b.ncols()).step_by(STRIP) {
            let columns = STRIP.min(b.ncols() - first);
            let mut strip = b.rb_mut().subcols_mut(first, columns);
            let rows = MatMut::from_row_major_slice_mut(&mut x, BLOCK, STRIP);
            let rows = rows.submatrix_mut(0, 0, self.width, columns);
            let mut rows = if self.side == Side::Lower { rows } else { rows.reverse_rows_mut() };
            rows.copy_from(strip.rb());
            crate::math::arch().dispatch(Substitute { triangle: self, x: &mut x, columns });
            let rows = MatRef::from_row_major_slice(&x, BLOCK, STRIP).submatrix(0, 0, self.width, columns);
            strip.copy_from(if self.side == Side::Lower { rows } else { rows.reverse_rows() });
        }
    }
}

/// Substitution in a strip, whose rows are contiguous.
struct Substitute<'a> {
    triangle: &'a Triangle,
    x: &'a mut [f64; BLOCK * STRIP],
    columns: usize,
}

impl pulp::WithSimd for Substitute<'_> {
    type Output = ();

    /// x_i = r_i/l_ii, then r_j −= l_ji·x_i for the equations j that follow: four unknowns at a time.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Triangle { negated, reciprocals, .. } = self.triangle;
        let (x, _) = S::as_mut_simd_f64s(self.x);
        let stride = STRIP / S::F64_LANES;
        for v in 0..self.columns.div_ceil(S::F64_LANES) {
            for first in (0..BLOCK).step_by(FOUR) {
                let mut four = [simd.splat_f64s(0.0); FOUR];
                for i in 0..FOUR {
                    let row = first + i;
                    let mut r = x[row * stride + v];
                    for k in 0..i {
                        r = simd.mul_add_f64s(simd.splat_f64s(negated[row][first + k]), four[k], r);
                    }
                    four[i] = simd.mul_f64s(r, simd.splat_f64s(reciprocals[row]));
                    x[row * stride + v] = four[i];
                }
                for row in first + FOUR..BLOCK {
                    let mut r = x[row * stride + v];
                    for k in 0..FOUR {
                        r = simd.mul_add_f64s(simd.splat_f64s(negated[row][first + k]), four[k], r);
                    }
                    x[row * stride + v] = r;
                }
            }
        }
    }
}
