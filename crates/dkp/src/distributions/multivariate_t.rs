//! The multivariate Student-t distribution.

use super::{Distribution, Error, MatrixDistribution, Support, constant, error};
use dkp_tape::{Lower, Node, Tape};
use faer::MatRef;

/// t_ν(μ, Σ) over columns of P numbers, Σ = LLᵀ; the covariance is νΣ/(ν − 2) for ν > 2.
///
/// log p(x) = log Γ((ν+P)/2) − log Γ(ν/2) − P/2·log(νπ) − ½log|Σ| − (ν+P)/2·log(1 + ‖L⁻¹(x−μ)‖²/ν)
///
/// A draw is μ + √(ν/χ²(ν))·Lz with standard normal z.
#[derive(Clone, Copy, Debug)]
pub struct MultivariateT {
    /// μ, P×1.
    pub mean: Node,
    /// L with Σ = LLᵀ.
    pub scale: Lower,
    /// ν, 1×1.
    pub dof: Node,
}

impl MatrixDistribution for MultivariateT {
    fn shape(&self) -> (usize, usize) {
        (self.mean.rows(), 1)
    }

    fn log_density(&self, tape: &mut Tape, x: Node) -> Node {
        let p = self.mean.rows() as f64;
        let (half, above) = (tape.affine(self.dof, 0.5, 0.0), tape.affine(self.dof, 0.5, 0.5 * p));
        let (lower, upper) = (tape.ln_gamma(half), tape.ln_gamma(above));
        let log_dof = tape.ln(self.dof);
        let level = tape.affine(log_dof, 0.5 * p, 0.5 * p * std::f64::consts::PI.ln());
        let log_det = tape.log_det(self.scale);
        let log_det = tape.affine(log_det, 0.5, 0.0);
        let centred = tape.subtract(x, self.mean);
        let white = tape.solve(self.scale, centred);
        let distance = tape.squared_norm(white);
        let reciprocal = tape.reciprocal(self.dof);
        let ratio = tape.product(distance, reciprocal);
        let growth = tape.map("log(1 + x)", ratio, |x| (x.ln_1p(), 1.0 / (1.0 + x)));
        let tail = tape.product(above, growth);
        let sum = tape.subtract(upper, lower);
        let sum = tape.subtract(sum, level);
        let sum = tape.subtract(sum, log_det);
        tape.subtract(sum, tail)
    }

    fn draw(&self, tape: &mut Tape) -> Node {
        let half = tape.affine(self.dof, 0.5, 0.0);
        let gamma = tape.gammas(half);
        // √(ν/χ²) = √((ν/2)/Gamma(ν/2))
        let reciprocal = tape.reciprocal(gamma);
        let ratio = tape.product(half, reciprocal);
        let factor = tape.sqrt(ratio);
        let normals = tape.normals(self.mean.rows(), 1);
        let normal = tape.matmul(self.scale.matrix(), normals);
        let scaled = tape.scale(factor, normal);
        tape.add(self.mean, scaled)
    }
}

/// [`MultivariateT`] with numbers: t_ν(μ, Σ), μ a column.
pub fn multivariate_t(mean: MatRef<'_, f64>, scale: MatRef<'_, f64>, dof: f64) -> Result<Distribution, Error> {
    let size = mean.nrows();
    error::shape("the mean", mean, (size, 1))?;
    error::finite("the mean", mean)?;
    error::shape("the scale", scale, (size, size))?;
    error::scale("the scale", scale)?;
    error::positive("the degrees of freedom", dof)?;
    Distribution::new(Support::Everything, Tape::new("multivariate t"), |tape| {
        let (mean, scale, dof) = (constant(tape, mean), constant(tape, scale), tape.number(dof));
        MultivariateT { mean, scale: tape.cholesky(scale), dof }
    })
}
