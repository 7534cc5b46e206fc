//! The Wishart distribution, regular and singular.

use super::{DegreesOfFreedom, Distribution, Error, MatrixDistribution, Support, constant, error};
use dkp_tape::{Lower, Node, Tape};
use faer::MatRef;

/// W(V, N) over P×P matrices, V = LLᵀ positive definite and real N > P − 1; the mean is N·V.
///
/// log p(S) = (N−P−1)/2·log|S| − ½tr(V⁻¹S) − NP/2·log 2 − N/2·log|V| − log Γ_P(N/2)
///
/// A draw is S = (LA)(LA)ᵀ, with Bartlett's A of AAᵀ ~ W(I, N).
#[derive(Clone, Copy, Debug)]
pub struct Wishart {
    /// L with V = LLᵀ.
    pub scale: Lower,
    /// N.
    pub dof: DegreesOfFreedom,
}

impl Wishart {
    /// The log-density from log|S| and tr(V⁻¹S).
    fn log_density_from(&self, tape: &mut Tape, log_det_s: Node, trace: Node) -> Node {
        let power = tape.affine(self.dof.nu, 1.0, -(self.dof.size() as f64 + 1.0));
        let volume = tape.product(power, log_det_s);
        let log_det = tape.log_det(self.scale);
        let scale = tape.product(self.dof.nu, log_det);
        let sum = tape.subtract(volume, trace);
        let sum = tape.subtract(sum, scale);
        let half = tape.affine(sum, 0.5, 0.0);
        tape.subtract(half, self.dof.log_normaliser)
    }
}

impl MatrixDistribution for Wishart {
    fn shape(&self) -> (usize, usize) {
        (self.dof.size(), self.dof.size())
    }

    fn log_density(&self, tape: &mut Tape, s: Node) -> Node {
        let factor = tape.cholesky(s);
        let log_det = tape.log_det(factor);
        // tr(V⁻¹S) = ‖L⁻¹L_S‖²
        let trace = tape.lower_solve_lower_squared_norm(self.scale, factor);
        self.log_density_from(tape, log_det, trace)
    }

    fn draw(&self, tape: &mut Tape) -> Node {
        let bartlett = self.dof.bartlett(tape);
        let root = tape.lower_times(self.scale, bartlett.matrix());
        tape.symmetric_product(root)
    }

    fn draw_with_log_density(&self, tape: &mut Tape) -> (Node, Node) {
        let bartlett = self.dof.bartlett(tape);
        let root = tape.lower_times(self.scale, bartlett.matrix());
        let s = tape.symmetric_product(root);
        // log|S| = log|V| + log|AAᵀ|, tr(V⁻¹S) = ‖A‖²
        let (scale, standard) = (tape.log_det(self.scale), tape.log_det(bartlett));
        let (log_det, trace) = (tape.add(scale, standard), tape.squared_norm(bartlett.matrix()));
        (s, self.log_density_from(tape, log_det, trace))
    }
}

/// W(V, N) for a whole number N < P: draws have rank N.
///
/// log p(S) = N(N−P)/2·log π − NP/2·log 2 − log Γ_N(N/2) − N/2·log|V| + (N−P−1)/2·log|S₁₁| − ½tr(V⁻¹S), S₁₁ the first
/// N rows and columns, with respect to Lebesgue measure on {S_ij : i ≤ N, i ≤ j ≤ P} (Srivastava 2003). Its value
/// depends on the order of the points; ratios of densities at the same S do not.
///
/// A draw is S = FFᵀ, F = Lξ, with standard normal ξ, P×N.
#[derive(Clone, Copy, Debug)]
pub struct SingularWishart {
    /// L with V = LLᵀ.
    pub scale: Lower,
    /// N, from 1 to P − 1.
    pub dof: usize,
}

impl SingularWishart {
    /// The log-density from log|S₁₁| and tr(V⁻¹S).
    fn log_density_from(&self, tape: &mut Tape, log_det_s: Node, trace: Node) -> Node {
        let (n, p) = (self.dof as f64, self.scale.size() as f64);
        let half = tape.number(0.5 * n);
        let gamma = tape.multivariate_ln_gamma(half, self.dof);
        let log_det = tape.log_det(self.scale);
        let scale = tape.affine(log_det, -0.5 * n, 0.5 * n * ((n - p) * std::f64::consts::PI.ln() - p * 2_f64.ln()));
        let volume = tape.affine(log_det_s, 0.5 * (n - p - 1.0), 0.0);
        let trace = tape.affine(trace, -0.5, 0.0);
        let sum = tape.add(scale, volume);
        let sum = tape.add(sum, trace);
        tape.subtract(sum, gamma)
    }

    fn log_det_of_corner(&self, tape: &mut Tape, s: Node) -> Node {
        let corner = tape.slice(s, 0..self.dof, 0..self.dof);
        let factor = tape.cholesky(corner);
        tape.log_det(factor)
    }

    /// ξ and S.
    fn draw_features(&self, tape: &mut Tape) -> (Node, Node) {
        let normals = tape.normals(self.scale.size(), self.dof);
        let features = tape.matmul(self.scale.matrix(), normals);
        (normals, tape.symmetric_product(features))
    }
}

impl MatrixDistribution for SingularWishart {
    fn shape(&self) -> (usize, usize) {
        (self.scale.size(), self.scale.size())
    }

    fn log_density(&self, tape: &mut Tape, s: Node) -> Node {
        let log_det = self.log_det_of_corner(tape, s);
        // tr(V⁻¹S)
        let half = tape.lower_solve(self.scale, s);
        let whole = tape.lower_transposed_solve(self.scale, half);
        let diagonal = tape.diagonal(whole);
        let trace = tape.sum(diagonal);
        self.log_density_from(tape, log_det, trace)
    }

    fn draw(&self, tape: &mut Tape) -> Node {
        self.draw_features(tape).1
    }

    fn draw_with_log_density(&self, tape: &mut Tape) -> (Node, Node) {
        let (normals, s) = self.draw_features(tape);
        // tr(V⁻¹S) = ‖ξ‖²
        let (log_det, trace) = (self.log_det_of_corner(tape, s), tape.squared_norm(normals));
        (s, self.log_density_from(tape, log_det, trace))
    }
}

/// W(V, N) with numbers: [`Wishart`] for N > P − 1, [`SingularWishart`] for whole N from 1 to P − 1.
pub fn wishart(scale: MatRef<'_, f64>, dof: f64) -> Result<Distribution, Error> {
    error::scale("the scale", scale)?;
    let size = scale.nrows();
    let tape = Tape::new("Wishart");
    if dof > size as f64 - 1.0 && dof <= error::MOST_DOF {
        return Distribution::new(Support::Symmetric, tape, |tape| {
            let (v, n) = (constant(tape, scale), tape.number(dof));
            Wishart { scale: tape.cholesky(v), dof: DegreesOfFreedom::new(tape, n, size) }
        });
    }
    if dof >= 1.0 && dof.fract() == 0.0 && dof < size as f64 {
        let rank = dof as usize;
        return Distribution::new(Support::Rank(rank), tape, |tape| {
            let v = constant(tape, scale);
            SingularWishart { scale: tape.cholesky(v), dof: rank }
        });
    }
    let expected = match size {
        1 => format!("greater than 0 and at most {:e}", error::MOST_DOF),
        _ => format!("a whole number from 1 to {0}, or greater than {0} and at most {1:e}", size - 1, error::MOST_DOF),
    };
    Err(Error::DegreesOfFreedom { distribution: "Wishart", size, expected, value: dof })
}
