//! The residual Wishart distribution.

use super::{Distribution, Error, matrix_normal};
use dkp_tape::random::Key;
use dkp_tape::{Node, Tape};
use faer::Mat;

/// Ω″ = WWᵀ, W = (ξ/√N + αI)/√(1+α²) with standard normal ξ, N×N; the mean is I.
///
/// α = 0 is the Wishart W(I/N, N), and α → ∞ the identity: a network with ever stronger residual connections. The density
/// of Ω″ (a noncentral Wishart's) holds a hypergeometric function of a matrix and has no closed form; that
/// of W is matrix normal, and [`root`](ResidualWishart::root) has it.
///
/// ```
/// use dkp::distributions::ResidualWishart;
/// use dkp_tape::random::Key;
/// let omega = ResidualWishart::new(3, 2.0)?.sample(Key::new(1))?;
/// assert_eq!((omega.nrows(), omega.ncols()), (3, 3));
/// # Ok::<(), dkp::distributions::Error>(())
/// ```
#[derive(Debug)]
pub struct ResidualWishart {
    root: Distribution,
}

impl ResidualWishart {
    /// For N×N matrices and α ≥ 0.
    pub fn new(size: usize, alpha: f64) -> Result<ResidualWishart, Error> {
        if !(alpha >= 0.0 && alpha.is_finite()) {
            return Err(Error::NotPositive { name: "α", value: alpha });
        }
        if size == 0 {
            return Err(Error::Empty { name: "the residual Wishart" });
        }
        let (mean, deviation) = moments(size, alpha);
        let identity = Mat::<f64>::identity(size, size);
        let mean = faer::Scale(mean) * &identity;
        // rows and columns share the variance, whose square root is a number for every α
        let covariance = faer::Scale(deviation) * &identity;
        Ok(ResidualWishart { root: matrix_normal(mean.as_ref(), covariance.as_ref(), covariance.as_ref())? })
    }

    /// The distribution of W.
    pub fn root(&self) -> &Distribution {
        &self.root
    }

    /// A draw of Ω″.
    pub fn sample(&self, key: Key) -> Result<Mat<f64>, Error> {
        let w = self.root.sample(key)?;
        Ok(&w * w.transpose())
    }

    /// Records a draw of W.
    pub(crate) fn draw_root(tape: &mut Tape, size: usize, alpha: f64) -> Node {
        let (mean, deviation) = moments(size, alpha);
        let normals = tape.normals(size, size);
        let scaled = tape.affine(normals, deviation, 0.0);
        let mean = tape.number(mean);
        tape.add_diagonal(scaled, mean)
    }
}

/// The mean of W's diagonal, and the standard deviation of its elements.
fn moments(size: usize, alpha: f64) -> (f64, f64) {
    let norm = alpha.hypot(1.0);
    (alpha / norm, 1.0 / (norm * (size as f64).sqrt()))
}
