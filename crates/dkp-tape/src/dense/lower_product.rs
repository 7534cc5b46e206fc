//! Products of which only the lower triangle is wanted.

use super::product;
use faer::prelude::ReborrowMut as _;
use faer::{Accum, MatMut, MatRef};

/// Columns handled together: narrow enough to waste little above the diagonal, and as wide as the product's
/// own register tile.
const PANEL: usize = 8;

/// tril(dst) ← [tril(dst) +] α·tril(A·B) for A n×k and B k×n, at half the cost of the product.
///
/// Elements above the diagonal, within a panel's width of it, receive arbitrary values (those of the product, so finite ones);
/// further up nothing is written. Who reads a gradient that was written so, reads the lower triangle alone.
pub(crate) fn lower_product(
    mut dst: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
) {
    let n = dst.nrows();
    for start in (0..n).step_by(PANEL) {
        let width = PANEL.min(n - start);
        let panel = dst.rb_mut().submatrix_mut(start, start, n - start, width);
        product(panel, accum, a.subrows(start, n - start), b.subcols(start, width), alpha);
    }
}
