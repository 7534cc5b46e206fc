//! Bartlett's decomposition: what Wishart and inverse Wishart have in common.

use dkp_tape::{Lower, Node, Tape};

/// Degrees of freedom ν > P − 1 of a P×P Wishart or inverse Wishart, with all that depends on them alone.
#[derive(Clone, Copy, Debug)]
pub struct DegreesOfFreedom {
    /// ν.
    pub nu: Node,
    /// Shapes of the gamma variates on Bartlett's diagonal, P×1: of A with AAᵀ ~ W(I, ν), the largest first.
    pub shapes: Node,
    /// The same of A with AᵀA ~ W(I, ν), the largest last.
    pub reversed_shapes: Node,
    /// νP/2·log 2 + log Γ_P(ν/2).
    pub log_normaliser: Node,
    /// E log|W| = ψ_P(ν/2) + P·log 2 for W ~ W(I, ν).
    pub expected_log_det: Node,
}

impl DegreesOfFreedom {
    /// ν, a 1×1 node, for matrices of the given size P.
    #[track_caller]
    pub fn new(tape: &mut Tape, nu: Node, size: usize) -> DegreesOfFreedom {
        let half = tape.affine(nu, 0.5, 0.0);
        // A_jj² ~ χ²(ν − j + 1) = 2·Gamma((ν − j + 1)/2), j = 1..P
        let ones = tape.constant(size, 1, &vec![1.0; size]);
        let halves = tape.scale(half, ones);
        let mut offsets: Vec<f64> = (0..size).map(|j| -0.5 * j as f64).collect();
        let falling = tape.constant(size, 1, &offsets);
        offsets.reverse();
        let rising = tape.constant(size, 1, &offsets);
        let (shapes, reversed_shapes) = (tape.add(halves, falling), tape.add(halves, rising));
        let gammas = tape.multivariate_ln_gamma(half, size);
        let twos = tape.affine(nu, 0.5 * size as f64 * 2_f64.ln(), 0.0);
        let digammas = tape.multivariate_digamma(half, size);
        let expected_log_det = tape.affine(digammas, 1.0, size as f64 * 2_f64.ln());
        DegreesOfFreedom { nu, shapes, reversed_shapes, log_normaliser: tape.add(gammas, twos), expected_log_det }
    }

    /// P.
    pub fn size(&self) -> usize {
        self.shapes.rows()
    }

    /// Lower-triangular A with AAᵀ ~ W(I, ν).
    pub fn bartlett(&self, tape: &mut Tape) -> Lower {
        self.draw(tape, self.shapes)
    }

    /// Lower-triangular A with AᵀA ~ W(I, ν): the same, with points in reverse order.
    pub fn bartlett_reversed(&self, tape: &mut Tape) -> Lower {
        self.draw(tape, self.reversed_shapes)
    }

    fn draw(&self, tape: &mut Tape, shapes: Node) -> Lower {
        let gammas = tape.gammas(shapes);
        let chi_squared = tape.affine(gammas, 2.0, 0.0);
        let diagonal = tape.sqrt(chi_squared);
        let normals = tape.normals(self.size(), self.size());
        tape.lower(diagonal, normals)
    }
}
