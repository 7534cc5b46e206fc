//! The multivariate Student-t distribution.

use super::{Distribution, Error, MatrixDistribution, Support, constant, error};
use dkp_tape::math::{digamma, ln_gamma};
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
        let above = tape.affine(self.dof, 0.5, 0.5 * p);
        // log Γ((ν+P)/2) − log Γ(ν/2) − P/2·log(ν/2), which tends to 0
        let normaliser = tape.map("log-gamma ratio", self.dof, move |nu| {
            let (value, slope) = ln_gamma_ratio(0.5 * nu, 0.5 * p);
            (value, 0.5 * slope)
        });
        let level = tape.affine(normaliser, 1.0, -0.5 * p * std::f64::consts::TAU.ln());
        let log_det = tape.log_det(self.scale);
        let log_det = tape.affine(log_det, 0.5, 0.0);
        let centred = tape.subtract(x, self.mean);
        let white = tape.lower_solve(self.scale, centred);
        let distance = tape.squared_norm(white);
        let reciprocal = tape.reciprocal(self.dof);
        let ratio = tape.product(distance, reciprocal);
        let growth = tape.map("log(1 + x)", ratio, |x| (x.ln_1p(), 1.0 / (1.0 + x)));
        let tail = tape.product(above, growth);
        let sum = tape.subtract(level, log_det);
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

/// log Γ(a+b) − log Γ(a) − b·log a and its derivative in a; by Stirling's series for large a, where the terms cancel.
fn ln_gamma_ratio(a: f64, b: f64) -> (f64, f64) {
    if a < 100.0 {
        return (ln_gamma(a + b) - ln_gamma(a) - b * a.ln(), digamma(a + b) - digamma(a) - b / a);
    }
    let growth = (b / a).ln_1p();
    // the series' sum 1/(12x) − 1/(360x³) + 1/(1260x⁵), and its derivative
    let series = |x: f64| (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * x * x)) / (x * x)) / x;
    let slope = |x: f64| -(1.0 / 12.0 - (1.0 / 120.0 - 1.0 / (252.0 * x * x)) / (x * x)) / (x * x);
    let value = (a + b - 0.5) * growth - b + series(a + b) - series(a);
    let derivative = growth - b / a + 0.5 * b / (a * (a + b)) + slope(a + b) - slope(a);
    (value, derivative)
}

#[test]
fn log_gamma_ratios_are_smooth_and_vanish_at_infinity() {
    for b in [0.5, 1.0, 7.5] {
        let ((below, slope_below), (above, slope_above)) =
            (ln_gamma_ratio(99.999_999, b), ln_gamma_ratio(100.000_001, b));
        assert!((below - above).abs() < 1e-8 * b * b && (slope_below - slope_above).abs() < 1e-9 * b * b);
        // b(b−1)/(2a) for large a
        for a in [1e6, 1e10, 1e15] {
            assert!((ln_gamma_ratio(a, b).0 - 0.5 * b * (b - 1.0) / a).abs() < 1e-15 * b + b * b * b / (a * a));
        }
    }
}
