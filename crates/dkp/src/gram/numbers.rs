//! Gram matrices as numbers: what a model starts from, before there is a program.

use super::Block;
use crate::kernels::Kernel;
use dkp_tape::random::Key;
use dkp_tape::{Failure, Node, Pass, Place, Problem, Tape};
use faer::linalg::solvers::LltError;
use faer::{Mat, MatRef};

/// Eigenvalues below this fraction of the largest are rounding.
const RANK: f64 = 1e-9;
/// What [`root_of`] adds to a diagonal, relative to its mean: a root that training begins with need not be exact, but it must have full rank.
const ROOT_WHITE: f64 = 1e-6;

/// XᵀX/N₀ over points that are columns.
pub fn linear_kernel(x: &[f64], features: usize) -> Mat<f64> {
    let x = MatRef::from_column_major_slice(x, features, x.len() / features);
    faer::Scale(1.0 / features as f64) * (x.transpose() * x)
}

/// XXᵀ/M over M points that are columns: the second moments of features.
pub fn moments(x: &[f64], features: usize) -> Mat<f64> {
    let x = MatRef::from_column_major_slice(x, features, x.len() / features);
    faer::Scale(1.0 / x.ncols() as f64) * (x * x.transpose())
}

/// A kernel of a Gram matrix.
pub fn kernel_of(gram: &Mat<f64>, kernel: &dyn Kernel, parameters: &[f64]) -> Result<Mat<f64>, Failure> {
    let mut tape = Tape::new("start");
    let g = tape.input("Gram matrix", gram.nrows(), gram.ncols());
    let nodes: Vec<Node> = parameters.iter().map(|&v| tape.number(v)).collect();
    let block = Block::new(&mut tape, g);
    let k = block.kernel(&mut tape, kernel, &nodes).matrix;
    let mut run = tape.finish().workspace();
    run.set(g, gram.as_ref())?;
    run.forward(Key::new(0), Pass::Value)?;
    Ok(run.value(k).to_owned())
}

/// The median of G_ii + G_jj − 2G_ij over pairs, or 1 where points coincide.
pub fn median_distance(gram: &Mat<f64>) -> f64 {
    let n = gram.nrows();
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut distances: Vec<f64> = pairs.map(|(i, j)| gram[(i, i)] + gram[(j, j)] - 2.0 * gram[(i, j)]).collect();
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
    if median > 1e-12 && median.is_finite() { median } else { 1.0 }
}

/// F, M×width, with FFᵀ/width = G, or for a width below G's rank as close to that as can be: G's principal components. For a
/// width above its rank several features share a component.
pub fn principal_features(gram: &Mat<f64>, width: usize) -> Result<Mat<f64>, Failure> {
    let m = gram.nrows();
    let failure = |_| failure("principal components", m, 0, f64::NAN);
    let eigen = gram.self_adjoint_eigen(faer::Side::Lower).map_err(failure)?;
    // in ascending order
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let rank = values.iter().filter(|v| **v > RANK * values[m - 1]).count().clamp(1, width);
    let component = |w: usize| m - 1 - w % rank;
    let scale = |w: usize| {
        let sharing = (w % rank..width).step_by(rank).count();
        (values[component(w)].max(0.0) * width as f64 / sharing as f64).sqrt()
    };
    Ok(Mat::from_fn(m, width, |i, w| scale(w) * vectors[(i, component(w))]))
}

/// The projection onto the first so many principal components of a Gram matrix.
pub fn principal_projection(gram: &Mat<f64>, count: usize) -> Result<Mat<f64>, Failure> {
    let n = gram.nrows();
    let eigen =
        gram.self_adjoint_eigen(faer::Side::Lower).map_err(|_| failure("principal components", n, 0, f64::NAN))?;
    // in ascending order
    let leading = eigen.U().subcols(n.saturating_sub(count), count.min(n));
    Ok(leading * leading.transpose())
}

/// Whether a Gram matrix is safely positive definite.
pub fn is_regular(gram: &Mat<f64>) -> bool {
    let n = gram.nrows();
    let mean = (0..n).map(|i| gram[(i, i)]).sum::<f64>() / n as f64;
    let reduced = Mat::from_fn(n, n, |i, j| gram[(i, j)] - if i == j { 1e-6 * mean } else { 0.0 });
    mean > 0.0 && reduced.llt(faer::Side::Lower).is_ok()
}

/// L with LLᵀ = K + a little white noise.
pub fn root_of(k: &Mat<f64>) -> Result<Mat<f64>, Failure> {
    let n = k.nrows();
    let white = ROOT_WHITE * ((0..n).map(|i| k[(i, i)]).sum::<f64>() / n as f64);
    let noisy = Mat::from_fn(n, n, |i, j| k[(i, j)] + if i == j { white } else { 0.0 });
    let factor = noisy.llt(faer::Side::Lower).map_err(|LltError::NonPositivePivot { index }| {
        failure("Cholesky factor", n, index, noisy[(index.min(n - 1), index.min(n - 1))])
    })?;
    Ok(factor.L().to_owned())
}

/// A matrix that has not what was asked of it.
fn failure(operation: &str, size: usize, pivot: usize, value: f64) -> Failure {
    let place = Place { program: "start".to_string(), operation: operation.to_string(), ..Place::default() };
    Failure { place: Box::new(place), problem: Problem::NotPositiveDefinite { size, pivot, value } }
}

/// The columns of a matrix, one after another.
pub fn columns(m: &Mat<f64>) -> Vec<f64> {
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
            let f = principal_features(&gram, width).unwrap();
            let own = faer::Scale(1.0 / width as f64) * (&f * f.transpose());
            let left: f64 = eigenvalues.iter().rev().skip(width).map(|v| v * v).sum();
            let scale = gram.squared_norm_l2();
            assert!(((&own - &gram).squared_norm_l2() - left).abs() < 1e-12 * scale, "{width}");
            assert!((0..width).all(|w| f.col(w).squared_norm_l2() > 1e-3 * scale.sqrt()), "{width}");
        }
    }

    #[test]
    fn points_that_coincide_have_features() {
        assert_eq!(principal_features(&Mat::zeros(3, 3), 2).unwrap(), Mat::<f64>::zeros(3, 2));
    }

    /// What cannot be a Gram matrix is told, and a singular one is no trouble.
    #[test]
    fn a_matrix_without_a_root_is_an_error() {
        let ones = Mat::from_fn(4, 4, |_, _| 2.0);
        let root = root_of(&ones).unwrap();
        assert!((&root * root.transpose() - ones).norm_max() < 2.1e-6);
        for wrong in [Mat::from_fn(3, 3, |i, j| if i == j { 1.0 } else { -1.0 }), Mat::from_fn(2, 2, |_, _| f64::NAN)] {
            let message = root_of(&wrong).unwrap_err().to_string();
            assert!(message.contains("is not positive definite"), "{message}");
        }
    }
}
