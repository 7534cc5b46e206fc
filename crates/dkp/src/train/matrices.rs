//! Gram matrices at the inducing points, before there is a model.

use crate::gram::Block;
use crate::kernels::Kernel;
use dkp_tape::random::Key;
use dkp_tape::{Node, Pass, Tape};
use faer::{Mat, MatRef};

/// Eigenvalues below this fraction of the largest are rounding.
const RANK: f64 = 1e-9;

/// XᵀX/N₀ over points that are columns.
pub(super) fn linear_kernel(x: &[f64], features: usize) -> Mat<f64> {
    let x = MatRef::from_column_major_slice(x, features, x.len() / features);
    faer::Scale(1.0 / features as f64) * (x.transpose() * x)
}

/// A kernel of a Gram matrix.
pub(super) fn evaluate(kernel: &dyn Kernel, parameters: &[f64], gram: &Mat<f64>) -> Mat<f64> {
    let mut tape = Tape::new("initial kernel");
    let g = tape.input("Gram matrix", gram.nrows(), gram.ncols());
    let nodes: Vec<Node> = parameters.iter().map(|&v| tape.number(v)).collect();
    let block = Block::new(&mut tape, g);
    let k = block.kernel(&mut tape, kernel, &nodes).matrix;
    let mut run = tape.finish().workspace();
    match run.set(g, gram.as_ref()).and_then(|()| run.forward(Key::new(0), Pass::Value)) {
        Ok(()) => run.value(k).to_owned(),
        Err(_) => Mat::identity(gram.nrows(), gram.ncols()),
    }
}

/// The median of G_ii + G_jj − 2G_ij over pairs, or 1 where points coincide.
pub(super) fn median_distance(gram: &Mat<f64>) -> f64 {
    let n = gram.nrows();
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut distances: Vec<f64> = pairs.map(|(i, j)| gram[(i, i)] + gram[(j, j)] - 2.0 * gram[(i, j)]).collect();
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
    if median > 1e-12 && median.is_finite() { median } else { 1.0 }
}

/// F, M×width, with FFᵀ/width = G, or for a width below G's rank as close to that as can be: G's principal components. For a
/// width above its rank several features share a component.
pub(super) fn principal_features(gram: &Mat<f64>, width: usize) -> Mat<f64> {
    let m = gram.nrows();
    let Ok(eigen) = gram.self_adjoint_eigen(faer::Side::Lower) else { return Mat::zeros(m, width) };
    // in ascending order
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let rank = values.iter().filter(|v| **v > RANK * values[m - 1]).count().clamp(1, width);
    let component = |w: usize| m - 1 - w % rank;
    let scale = |w: usize| {
        let sharing = (w % rank..width).step_by(rank).count();
        (values[component(w)].max(0.0) * width as f64 / sharing as f64).sqrt()
    };
    Mat::from_fn(m, width, |i, w| scale(w) * vectors[(i, component(w))])
}

/// Whether a Gram matrix is safely positive definite.
pub(super) fn is_regular(gram: &Mat<f64>) -> bool {
    let n = gram.nrows();
    let mean = (0..n).map(|i| gram[(i, i)]).sum::<f64>() / n as f64;
    let reduced = Mat::from_fn(n, n, |i, j| gram[(i, j)] - if i == j { 1e-6 * mean } else { 0.0 });
    mean > 0.0 && reduced.llt(faer::Side::Lower).is_ok()
}

/// L with LLᵀ = K, with a little added to a singular K.
pub(super) fn factor(k: &Mat<f64>) -> Mat<f64> {
    let n = k.nrows();
    let mean = (0..n).map(|i| k[(i, i)]).sum::<f64>() / n as f64;
    let mut jitter = 1e-6;
    while jitter < 1e3 {
        let shifted = Mat::from_fn(n, n, |i, j| k[(i, j)] + if i == j { jitter * mean } else { 0.0 });
        if let Ok(factor) = shifted.llt(faer::Side::Lower) {
            return factor.L().to_owned();
        }
        jitter *= 10.0;
    }
    Mat::identity(n, n)
}

/// The columns of a matrix, one after another.
pub(super) fn columns(m: &Mat<f64>) -> Vec<f64> {
    m.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dkp_tape::gradcheck::cases;

    /// ‖FFᵀ/width − G‖² is zero from the rank on, and the sum of the other squared eigenvalues below it (Eckart & Young).
    #[test]
    fn principal_features_have_the_nearest_gram_matrix_of_their_width() {
        let x = cases::matrix(1, 4, 12);
        let gram = x.transpose() * &x;
        let eigenvalues = gram.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        for width in [1, 3, 4, 6, 9, 20] {
            let f = principal_features(&gram, width);
            let own = faer::Scale(1.0 / width as f64) * (&f * f.transpose());
            let left: f64 = eigenvalues.iter().rev().skip(width).map(|v| v * v).sum();
            let scale = gram.squared_norm_l2();
            assert!(((&own - &gram).squared_norm_l2() - left).abs() < 1e-12 * scale, "{width}");
            assert!((0..width).all(|w| f.col(w).squared_norm_l2() > 1e-3 * scale.sqrt()), "{width}");
        }
    }

    #[test]
    fn points_that_coincide_have_features() {
        assert_eq!(principal_features(&Mat::zeros(3, 3), 2), Mat::<f64>::zeros(3, 2));
    }
}
