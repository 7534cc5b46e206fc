//! Products of a triangle with columns.

use super::product;
use faer::prelude::ReborrowMut as _;
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
pub(crate) fn lower_transposed_times(
    mut dst: MatMut<'_, f64>,
    accum: Accum,
    l: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
) {
    let n = l.nrows();
    for (start, end) in panels(n) {
        let rows = dst.rb_mut().subrows_mut(start, end - start);
        let l = l.submatrix(start, start, n - start, end - start);
        product(rows, accum, l.transpose(), b.subrows(start, n - start), alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradcheck::cases;
    use faer::Mat;

    #[test]
    fn products_with_triangles_are_those_of_dense_algebra() {
        for n in [1, 5, 16, 17, 40, 100] {
            let (l, x) = (cases::matrix(1, n, n), cases::matrix(4, n, 7));
            let l = Mat::from_fn(n, n, |i, j| if i >= j { l[(i, j)] } else { 0.0 });
            let check = |ours: Mat<f64>, expected: Mat<f64>| {
                assert!((&ours - &expected).norm_max() < 1e-13 * n as f64 * expected.norm_max().max(1.0));
            };
            let mut y = x.clone();
            lower_times(y.as_mut(), Accum::Add, l.as_ref(), x.as_ref(), 2.0);
            check(y, &x + faer::Scale(2.0) * (&l * &x));
            let mut y = x.clone();
            lower_transposed_times(y.as_mut(), Accum::Replace, l.as_ref(), x.as_ref(), 2.0);
            check(y, faer::Scale(2.0) * (l.transpose() * &x));
        }
    }
}
