//! The inverse Wishart distribution.

use super::{DegreesOfFreedom, Distribution, Error, MatrixDistribution, Support, constant, error};
use dkp_tape::{Lower, Node, Tape};
use faer::MatRef;

/// W⁻¹(Ψ, ν) over P×P matrices, Ψ = LLᵀ positive definite and ν > P − 1; the mean is Ψ/(ν − P − 1) for ν > P + 1.
///
/// log p(G) = ν/2·log|Ψ| − (ν+P+1)/2·log|G| − ½tr(ΨG⁻¹) − νP/2·log 2 − log Γ_P(ν/2)
///
/// A draw is G = FFᵀ, F = LA⁻¹, with Bartlett's A of AᵀA ~ W(I, ν): all three are lower-triangular, and F is G's Cholesky factor.
#[derive(Clone, Copy, Debug)]
pub struct InverseWishart {
    /// L with Ψ = LLᵀ.
    pub scale: Lower,
    /// ν.
    pub dof: DegreesOfFreedom,
}

/// A draw from an inverse Wishart, in the form in which densities are cheap.
#[derive(Clone, Copy, Debug)]
pub struct InverseWishartDraw {
    /// Bartlett's A.
    pub bartlett: Lower,
    /// F = LA⁻¹ with G = FFᵀ.
    pub root: Lower,
    /// log|G| = log|Ψ| − log|AᵀA|.
    pub log_det: Node,
}

impl InverseWishart {
    /// A draw as its root.
    pub fn draw_root(&self, tape: &mut Tape) -> InverseWishartDraw {
        let bartlett = self.dof.bartlett_reversed(tape);
        let root = tape.lower_over_lower(self.scale, bartlett);
        let (scale, wishart) = (tape.log_det(self.scale), tape.log_det(bartlett));
        InverseWishartDraw { bartlett, root, log_det: tape.subtract(scale, wishart) }
    }

    /// The log-density of a draw of its own: tr(ΨG⁻¹) = ‖A‖².
    pub fn log_density_of_own(&self, tape: &mut Tape, draw: &InverseWishartDraw) -> Node {
        let trace = tape.squared_norm(draw.bartlett.matrix());
        self.log_density_from(tape, draw.log_det, trace)
    }

    /// The log-density of another inverse Wishart's draw, `of`: tr(ΨG⁻¹) = ‖AL_of⁻¹L‖².
    pub fn log_density_of_draw(&self, tape: &mut Tape, of: &InverseWishart, draw: &InverseWishartDraw) -> Node {
        let ratio = tape.lower_solve_lower(of.scale, self.scale);
        let ratio = tape.lower_times(draw.bartlett, ratio.matrix());
        let trace = tape.squared_norm(ratio);
        self.log_density_from(tape, draw.log_det, trace)
    }

    /// KL(Q‖Q₀) in closed form, for this Q = W⁻¹(Ψ, ν) and Q₀ = W⁻¹(cΨ₀, ν₀), a prior W⁻¹(Ψ₀, ν₀) whose scale is multiplied by c:
    /// ½[ν(c‖L⁻¹L₀‖² − P) − ν₀(P·log c + log|Ψ₀| − log|Ψ|) + (ν − ν₀)·E log|AᵀA|] + log Z₀ − log Z, Z = 2^(νP/2)·Γ_P(ν/2), A of Q.
    pub fn divergence_from(&self, tape: &mut Tape, prior: &InverseWishart, c: Node) -> Node {
        let (size, nu, nu_0) = (self.dof.size() as f64, self.dof.nu, prior.dof.nu);
        let norm = tape.lower_solve_lower_squared_norm(self.scale, prior.scale);
        let norm = tape.product(c, norm);
        let excess = tape.affine(norm, 1.0, -size);
        let trace = tape.product(nu, excess);
        let log_c = tape.ln(c);
        let log_c = tape.affine(log_c, size, 0.0);
        let (own, other) = (tape.log_det(self.scale), tape.log_det(prior.scale));
        let volume = tape.add(log_c, other);
        let volume = tape.subtract(volume, own);
        let volume = tape.product(nu_0, volume);
        let gained = tape.subtract(nu, nu_0);
        let gained = tape.product(gained, self.dof.expected_log_det);
        let sum = tape.subtract(trace, volume);
        let sum = tape.add(sum, gained);
        let half = tape.affine(sum, 0.5, 0.0);
        let normalisers = tape.subtract(prior.dof.log_normaliser, self.dof.log_normaliser);
        tape.add(half, normalisers)
    }

    /// The log-density from log|G| and tr(ΨG⁻¹).
    fn log_density_from(&self, tape: &mut Tape, log_det_g: Node, trace: Node) -> Node {
        // ν/2·log|Ψ|
        let log_det = tape.log_det(self.scale);
        let scale = tape.product(self.dof.nu, log_det);
        // −(ν+P+1)/2·log|G|
        let power = tape.affine(self.dof.nu, 1.0, self.dof.size() as f64 + 1.0);
        let volume = tape.product(power, log_det_g);
        // −½tr(ΨG⁻¹)
        let sum = tape.subtract(scale, volume);
        let sum = tape.subtract(sum, trace);
        let half = tape.affine(sum, 0.5, 0.0);
        // −νP/2·log 2 − log Γ_P(ν/2)
        tape.subtract(half, self.dof.log_normaliser)
    }
}

impl MatrixDistribution for InverseWishart {
    fn shape(&self) -> (usize, usize) {
        (self.dof.size(), self.dof.size())
    }

    fn log_density(&self, tape: &mut Tape, g: Node) -> Node {
        let factor = tape.cholesky(g);
        let log_det = tape.log_det(factor);
        // tr(ΨG⁻¹) = ‖L_G⁻¹L‖²
        let trace = tape.lower_solve_lower_squared_norm(factor, self.scale);
        self.log_density_from(tape, log_det, trace)
    }

    fn draw(&self, tape: &mut Tape) -> Node {
        let draw = self.draw_root(tape);
        tape.symmetric_product_lower(draw.root)
    }

    fn draw_with_log_density(&self, tape: &mut Tape) -> (Node, Node) {
        let draw = self.draw_root(tape);
        (tape.symmetric_product_lower(draw.root), self.log_density_of_own(tape, &draw))
    }
}

/// [`InverseWishart`] with numbers: W⁻¹(Ψ, ν).
pub fn inverse_wishart(scale: MatRef<'_, f64>, dof: f64) -> Result<Distribution, Error> {
    error::scale("the scale", scale)?;
    let size = scale.nrows();
    if !(dof > size as f64 - 1.0 && dof <= error::MOST_DOF) {
        let expected = format!("greater than {} and at most {:e}", size - 1, error::MOST_DOF);
        return Err(Error::DegreesOfFreedom { distribution: "inverse Wishart", size, expected, value: dof });
    }
    Distribution::new(Support::Symmetric, Tape::new("inverse Wishart"), |tape| {
        let (psi, nu) = (constant(tape, scale), tape.number(dof));
        InverseWishart { scale: tape.cholesky(psi), dof: DegreesOfFreedom::new(tape, nu, size) }
    })
}
