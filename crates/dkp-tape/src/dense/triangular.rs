//! Products and quotients of lower-triangular matrices, which touch the triangle alone.
//!
//! Where a result is said to be a lower triangle, elements above it but within a panel's width of the diagonal receive arbitrary finite
//! values, and further up nothing is written, as in [`lower_product`](super::lower_product).

use super::{Side, product, solve_in_place};
use faer::prelude::{Reborrow as _, ReborrowMut as _};
use faer::{Accum, MatMut, MatRef};

/// Rows or columns of a panel: as high as the product's register tiles like them, with little waste at the diagonal.
const PANEL: usize = 16;

fn panels(n: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    (0..n.div_ceil(PANEL)).map(move |p| (p * PANEL, n.min((p + 1) * PANEL)))
}

/// dst ← [dst +] α·L·B for lower-triangular L, at half the cost of the product.
pub(crate) fn lower_times(mut dst: MatMut<'_, f64>, accum: Accum, l: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    for (start, end) in panels(l.nrows()) {
        let rows = dst.rb_mut().subrows_mut(start, end - start);
        product(rows, accum, l.submatrix(start, 0, end - start, end), b.subrows(0, end), alpha);
    }
}

/// dst ← [dst +] α·Lᵀ·B for lower-triangular L, at half the cost of the product.
pub(crate) fn upper_times(mut dst: MatMut<'_, f64>, accum: Accum, l: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    let n = l.nrows();
    for (start, end) in panels(n) {
        let rows = dst.rb_mut().subrows_mut(start, end - start);
        let l = l.submatrix(start, start, n - start, end - start);
        product(rows, accum, l.transpose(), b.subrows(start, n - start), alpha);
    }
}

/// tril(dst) ← [tril(dst) +] α·tril(A·Bᵀ) for a lower-triangular B, whatever stands in A's columns beyond the diagonal's panel.
pub(crate) fn lower_of_product(
    mut dst: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
) {
    let n = dst.nrows();
    for (start, end) in panels(n) {
        let panel = dst.rb_mut().submatrix_mut(start, start, n - start, end - start);
        let (a, b) = (a.submatrix(start, 0, n - start, end), b.submatrix(start, 0, end - start, end));
        product(panel, accum, a, b.transpose(), alpha);
    }
}

/// tril(dst) ← [tril(dst) +] α·tril(S·F) for a lower-triangular F.
pub(crate) fn lower_of_times_lower(
    mut dst: MatMut<'_, f64>,
    accum: Accum,
    s: MatRef<'_, f64>,
    f: MatRef<'_, f64>,
    alpha: f64,
) {
    let n = dst.nrows();
    for (start, end) in panels(n) {
        let panel = dst.rb_mut().submatrix_mut(start, start, n - start, end - start);
        let s = s.submatrix(start, start, n - start, n - start);
        product(panel, accum, s, f.submatrix(start, start, n - start, end - start), alpha);
    }
}

/// tril(dst) ← [tril(dst) +] α·tril(Lᵀ·B) for a lower-triangular L.
pub(crate) fn lower_of_upper_times(
    mut dst: MatMut<'_, f64>,
    accum: Accum,
    l: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
) {
    let n = dst.nrows();
    for (start, end) in panels(n) {
        let panel = dst.rb_mut().submatrix_mut(start, start, n - start, end - start);
        // row i of Lᵀ begins at column i ≥ start
        let l = l.submatrix(start, start, n - start, n - start);
        product(panel, accum, l.transpose(), b.submatrix(start, start, n - start, end - start), alpha);
    }
}

/// Replaces the lower-triangular B by L⁻¹B, lower-triangular too, at a third of the cost of a solve.
pub(crate) fn solve_lower_in_place(l: MatRef<'_, f64>, mut b: MatMut<'_, f64>) {
    for (start, end) in panels(l.nrows()) {
        let (above, here) = b.rb_mut().submatrix_mut(0, 0, end, end).split_at_row_mut(start);
        let mut here = here;
        product(here.rb_mut(), Accum::Add, l.submatrix(start, 0, end - start, start), above.rb(), -1.0);
        solve_in_place(Side::Lower, l.submatrix(start, start, end - start, end - start), here);
    }
}

/// Replaces the lower-triangular B by B·L⁻¹, lower-triangular too, at a third of the cost of a solve.
pub(crate) fn divide_lower_in_place(mut b: MatMut<'_, f64>, l: MatRef<'_, f64>) {
    let n = l.nrows();
    for (start, end) in panels(n).rev() {
        let (here, right) = b.rb_mut().submatrix_mut(start, start, n - start, n - start).split_at_col_mut(end - start);
        let mut here = here;
        product(here.rb_mut(), Accum::Add, right.rb(), l.submatrix(end, start, n - end, end - start), -1.0);
        // X·L = B is Lᵀ·Xᵀ = Bᵀ
        solve_in_place(Side::Transposed, l.submatrix(start, start, end - start, end - start), here.transpose_mut());
    }
}

/// Replaces the lower triangle of B by that of B·L⁻ᵀ, which depends on it alone.
pub(crate) fn divide_transposed_lower_in_place(mut b: MatMut<'_, f64>, l: MatRef<'_, f64>) {
    let n = l.nrows();
    for (start, end) in panels(n) {
        let (left, here) = b.rb_mut().submatrix_mut(start, 0, n - start, end).split_at_col_mut(start);
        let mut here = here;
        product(here.rb_mut(), Accum::Add, left.rb(), l.submatrix(start, 0, end - start, start).transpose(), -1.0);
        // X·Lᵀ = B is L·Xᵀ = Bᵀ
        solve_in_place(Side::Lower, l.submatrix(start, start, end - start, end - start), here.transpose_mut());
    }
}

/// Zeroes what is above the diagonal.
pub(crate) fn clear_upper(a: &mut [f64], n: usize) {
    a.chunks_exact_mut(n).enumerate().for_each(|(j, column)| column[..j].fill(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradcheck::cases;
    use faer::Mat;

    fn lower(seed: u64, n: usize) -> Mat<f64> {
        let m = cases::matrix(seed, n, n);
        Mat::from_fn(n, n, |i, j| {
            if i > j {
                0.3 * m[(i, j)]
            } else if i == j {
                1.0 + m[(i, j)].abs()
            } else {
                0.0
            }
        })
    }

    /// Distance of lower triangles, or of everything.
    fn distance(a: &Mat<f64>, b: &Mat<f64>, triangle: bool) -> f64 {
        let n = a.nrows();
        (0..a.ncols())
            .flat_map(|j| (if triangle { j } else { 0 }..n).map(move |i| (i, j)))
            .fold(0.0, |worst: f64, at| worst.max((a[at] - b[at]).abs()))
    }

    #[test]
    fn triangular_products_and_quotients_are_those_of_dense_algebra() {
        for n in [1, 5, 16, 17, 40, 100] {
            let (l, m, s, x) = (lower(1, n), lower(2, n), cases::matrix(3, n, n), cases::matrix(4, n, 7));
            let tolerance = 1e-12 * (n as f64).max(4.0);
            let check = |what: &str, triangle: bool, ours: Mat<f64>, expected: Mat<f64>| {
                let d = distance(&ours, &expected, triangle);
                assert!(d < tolerance * expected.norm_max().max(1.0), "{what} {n}: {d:e}");
            };
            let mut y = x.clone();
            lower_times(y.as_mut(), Accum::Add, l.as_ref(), x.as_ref(), 2.0);
            check("lower_times", false, y, &x + faer::Scale(2.0) * (&l * &x));
            let mut y = x.clone();
            upper_times(y.as_mut(), Accum::Replace, l.as_ref(), x.as_ref(), 2.0);
            check("upper_times", false, y, faer::Scale(2.0) * (l.transpose() * &x));
            let mut y = s.clone();
            lower_of_product(y.as_mut(), Accum::Add, s.as_ref(), l.as_ref(), -1.0);
            check("lower_of_product", true, y, &s - &s * l.transpose());
            let mut y = s.clone();
            lower_of_times_lower(y.as_mut(), Accum::Replace, s.as_ref(), l.as_ref(), 1.0);
            check("lower_of_times_lower", true, y, &s * &l);
            let mut y = s.clone();
            lower_of_upper_times(y.as_mut(), Accum::Replace, l.as_ref(), s.as_ref(), 1.0);
            check("lower_of_upper_times", true, y, l.transpose() * &s);
            let mut y = m.clone();
            solve_lower_in_place(l.as_ref(), y.as_mut());
            check("solve_lower", true, &l * &y, m.clone());
            let mut y = m.clone();
            divide_lower_in_place(y.as_mut(), l.as_ref());
            check("divide_lower", true, &y * &l, m.clone());
            let mut y = s.clone();
            divide_transposed_lower_in_place(y.as_mut(), l.as_ref());
            // of all of S·L⁻ᵀ the lower triangle
            let mut dense = s.transpose().to_owned();
            solve_in_place(Side::Lower, l.as_ref(), dense.as_mut());
            check("divide_transposed_lower", true, y, dense.transpose().to_owned());
        }
    }
}
