//! The adjoint of the Cholesky factorisation: its block columns in reverse order (Murray 2016, §4.2).

use super::{Side, product, solve_in_place};
use crate::math::vectorized;
use faer::prelude::{Reborrow as _, ReborrowMut as _};
use faer::{Accum, MatMut, MatRef};

/// Columns of a block.
const BLOCK: usize = 16;

/// Replaces the lower triangle of `g`, that of L̄, by that of 2Ā, Ā symmetric; both n×n in column-major order. Above the diagonal `g` is
/// overwritten or not.
///
/// The forward pass makes of a block column of A, with R and B what stands left of it in L, and T and P its part on the diagonal and
/// below: T −= RRᵀ, P −= BRᵀ, D = chol(T), C = PD⁻ᵀ. So backward: P̄ = C̄D⁻¹, D̄ −= tril(P̄ᵀC), 2T̄ from D̄,
/// and with that R̄ −= 2T̄R + P̄ᵀB, B̄ −= P̄R. That is twice the cost of the factorisation.
pub(crate) fn cholesky_adjoint_in_place(l: &[f64], g: &mut [f64], n: usize) {
    let factor = MatRef::from_column_major_slice(l, n, n);
    for start in (0..n).step_by(BLOCK).rev() {
        let (end, width) = (n.min(start + BLOCK), BLOCK.min(n - start));
        let below = n - end;
        let here = MatMut::from_column_major_slice_mut(&mut g[start * n..end * n], n, width);
        let (diagonal, mut p) = here.submatrix_mut(start, 0, n - start, width).split_at_row_mut(width);
        // X·D = C̄ is Dᵀ·Xᵀ = C̄ᵀ
        solve_in_place(Side::Transposed, factor.submatrix(start, start, width, width), p.rb_mut().transpose_mut());
        product(diagonal, Accum::Add, p.rb().transpose(), factor.submatrix(end, start, below, width), -1.0);
        block_adjoint(l, g, n, start, end);

        let (left, here) = MatMut::from_column_major_slice_mut(g, n, n).split_at_col_mut(start);
        let here = here.rb().submatrix(start, 0, n - start, width);
        let mut left = left.subrows_mut(start, n - start);
        product(left.rb_mut(), Accum::Add, here, factor.submatrix(start, 0, width, start), -1.0);
        let p = here.subrows(width, below);
        product(left.subrows_mut(0, width), Accum::Add, p.transpose(), factor.submatrix(end, 0, below, start), -1.0);
    }
}

/// Replaces D̄, on the diagonal of `g`, by 2T̄ for D = chol(T), both triangles.
///
/// Forward, column j is d = √T_jj, c = T_·j/d below it, and T −= ccᵀ for the columns after. So backward, from the last column:
/// c̄ −= 2T̄c with 2T̄ of the columns after, T̄_·j = c̄/d, d̄ −= c̄ᵀc/d, 2T̄_jj = d̄/d.
fn block_adjoint(l: &[f64], g: &mut [f64], n: usize, start: usize, end: usize) {
    let size = end - start;
    let mut twice = [[0.0; BLOCK]; BLOCK];
    vectorized(
        #[inline(always)]
        || {
            for j in (0..size).rev() {
                let at = (start + j) * n + start;
                let (d, g) = (&l[at..at + size], &g[at..at + size]);
                let mut c = [0.0; BLOCK];
                c[..size].copy_from_slice(g);
                for k in j + 1..size {
                    add_multiple(&mut c, -d[k], &twice[k]);
                }
                let reciprocal = 1.0 / d[j];
                let mut pivot = g[j];
                for i in j + 1..size {
                    let t = c[i] * reciprocal;
                    pivot -= t * d[i];
                    (twice[i][j], twice[j][i]) = (t, t);
                }
                twice[j][j] = pivot * reciprocal;
            }
        },
    );
    for (j, column) in twice.iter().enumerate().take(size) {
        let at = (start + j) * n + start;
        g[at..at + size].copy_from_slice(&column[..size]);
    }
}

#[inline(always)]
fn add_multiple(sum: &mut [f64; BLOCK], factor: f64, x: &[f64; BLOCK]) {
    for i in 0..BLOCK {
        sum[i] = factor.mul_add(x[i], sum[i]);
    }
}
