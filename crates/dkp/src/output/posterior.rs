//! A Gaussian posterior at the inducing points, as if pseudo-targets had been observed there.

use crate::gram::{Block, DataBlock, Gram, factor_of_difference, floored_difference};
use dkp_tape::{Lower, Node, Tape};

/// For each output λ, f ~ N(0, K_ii) seen through pseudo-targets v_λ with precision Λ_λ = RᵀR: N(ΣΛv, Σ), Σ = (K_ii⁻¹ + Λ)⁻¹.
///
/// R is lower-triangular. Given K_ii, with CCᵀ = I + RK_iiRᵀ, E = C⁻¹R, lower-triangular too, and a = EᵀEv:
/// - at a data point, the mean is k_ti·a and the variance k_tt − ‖E·k_it‖²;
/// - KL(Q‖P) = ½Σ_λ[log|CCᵀ| − M + ‖C⁻¹‖² + aᵀK_ii·a].
///
/// K_ii is neither factorised nor inverted.
#[derive(Clone, Debug)]
pub struct Posterior {
    targets: Node,
    /// R, shared by all outputs or one for each.
    roots: Vec<Lower>,
}

impl Posterior {
    /// Pseudo-targets v, M×outputs, and roots R, M×M, of the precisions: one for all outputs, or one for each.
    ///
    /// # Panics
    ///
    /// If the number of roots is neither one nor that of the outputs.
    #[track_caller]
    pub fn new(targets: Node, roots: &[Lower]) -> Posterior {
        let (count, outputs) = (roots.len(), targets.cols());
        assert!(count == 1 || count == outputs, "Posterior: {count} precisions for {outputs} outputs");
        Posterior { targets, roots: roots.to_vec() }
    }

    /// How many outputs there are.
    pub fn outputs(&self) -> usize {
        self.targets.cols()
    }

    /// What follows from the kernel at the inducing points.
    pub fn given(&self, tape: &mut Tape, kernel: Block) -> Given {
        let shared = self.roots.len() == 1;
        let mut parts = Vec::new();
        let mut divergence: Option<Node> = None;
        for (i, &root) in self.roots.iter().enumerate() {
            let targets = match shared {
                true => self.targets,
                false => tape.slice(self.targets, 0..root.size(), i..i + 1),
            };
            let (part, own) = Part::new(tape, kernel, root, targets);
            divergence = Some(divergence.map_or(own, |d| tape.add(d, own)));
            parts.push(part);
        }
        Given { parts, divergence: divergence.expect("there is at least one precision") }
    }
}

/// A [`Posterior`] given the kernel at the inducing points.
#[derive(Clone, Debug)]
pub struct Given {
    parts: Vec<Part>,
    /// KL(Q‖P), 1×1.
    pub divergence: Node,
}

/// Outputs that share a precision.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// K_ii.
    kernel: Node,
    /// R.
    root: Lower,
    /// v.
    targets: Node,
    /// C.
    factor: Lower,
    /// E.
    e: Lower,
    /// a, M×outputs.
    a: Node,
}

impl Given {
    /// Draws f at the inducing points, M×outputs, for K_ii = LLᵀ.
    ///
    /// By Matheron's rule: f = f₀ + KEᵀC⁻¹(R(v − f₀) − ε), f₀ = Lξ from the prior, ε standard normal.
    pub fn draw(&self, tape: &mut Tape, factor: Lower) -> Node {
        let columns: Vec<Node> = self.parts.iter().map(|p| p.draw(tape, factor)).collect();
        tape.beside(&columns)
    }

    /// Mean, outputs×B, and variance at data points: a matrix outputs×B or, where outputs share it, a row.
    ///
    /// # Panics
    ///
    /// If the kernel has its full data block: see [`joint`](Given::joint).
    pub fn marginals(&self, tape: &mut Tape, kernel: &Gram) -> (Node, Node) {
        let DataBlock::Diagonal(tt) = kernel.tt else { panic!("marginals: the kernel has its full data block") };
        let rows = self.parts.iter().map(|p| {
            let mean = tape.matmul(p.a.t(), kernel.ti.t());
            let ek = tape.times_lower_transposed(kernel.ti, p.e);
            let explained = tape.row_norms(ek);
            (mean, floored_difference(tape, tt, explained))
        });
        let (means, variances): (Vec<Node>, Vec<Node>) = rows.unzip();
        if let ([mean], [variance]) = (means.as_slice(), variances.as_slice()) {
            return (*mean, *variance);
        }
        (tape.above(&means), tape.above(&variances))
    }

    /// A function drawn jointly at the data points, outputs×B.
    ///
    /// # Panics
    ///
    /// If the kernel has only the diagonal of its data block: see [`marginals`](Given::marginals).
    pub fn joint(&self, tape: &mut Tape, kernel: &Gram) -> Node {
        let DataBlock::Full(tt) = kernel.tt else {
            panic!("joint: the kernel has only the diagonal of its data block")
        };
        let rows = self.parts.iter().map(|p| {
            let mean = tape.matmul(p.a.t(), kernel.ti.t());
            let ek = tape.times_lower_transposed(kernel.ti, p.e);
            let explained = tape.symmetric_product(ek);
            let covariance = tape.subtract(tt, explained);
            let root = factor_of_difference(tape, covariance, kernel.tt);
            let normals = tape.normals(mean.rows(), mean.cols());
            let noise = tape.matmul(normals, root.matrix().t());
            tape.add(mean, noise)
        });
        let rows: Vec<Node> = rows.collect();
        tape.above(&rows)
    }
}

impl Part {
    /// With its part of the divergence.
    fn new(tape: &mut Tape, kernel: Block, root: Lower, targets: Node) -> (Part, Node) {
        let (m, outputs) = (root.size(), targets.cols() as f64);
        // CCᵀ = I + RKRᵀ
        let (inner, one) = (tape.congruence(root, kernel.matrix), tape.number(1.0));
        let inner = tape.add_diagonal(inner, one);
        let factor = tape.cholesky(inner);
        let e = tape.lower_solve(factor, root);
        let ev = tape.lower_matmul(e, targets);
        let a = tape.lower_matmul_transposed(e, ev);
        // KL = ½Σ_λ[log|CCᵀ| − M + ‖C⁻¹‖² + aᵀKa]
        let (volume, trace) = (tape.log_det(factor), tape.inverse_norm(factor));
        let both = tape.add(volume, trace);
        let both = tape.affine(both, outputs, -outputs * m as f64);
        let ka = tape.matmul(kernel.matrix, a);
        let quadratics = tape.column_dots(a, ka);
        let quadratic = tape.sum(quadratics);
        let twice = tape.add(both, quadratic);
        let divergence = tape.affine(twice, 0.5, 0.0);
        (Part { kernel: kernel.matrix, root, targets, factor, e, a }, divergence)
    }

    fn draw(&self, tape: &mut Tape, factor: Lower) -> Node {
        let (m, outputs) = (self.targets.rows(), self.targets.cols());
        let normals = tape.normals(m, outputs);
        let prior = tape.lower_matmul(factor, normals);
        // R(v − f₀) − ε
        let residual = tape.subtract(self.targets, prior);
        let residual = tape.lower_matmul(self.root, residual);
        let noise = tape.normals(m, outputs);
        let residual = tape.subtract(residual, noise);
        // KEᵀC⁻¹ …
        let half = tape.solve(self.factor, residual);
        let weights = tape.lower_matmul_transposed(self.e, half);
        let update = tape.matmul(self.kernel, weights);
        tape.add(prior, update)
    }
}
