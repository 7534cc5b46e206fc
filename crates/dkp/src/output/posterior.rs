//! A Gaussian posterior at the inducing points, as if pseudo-targets had been observed there.

use crate::gram::{Block, DataBlock, Gram, factor_of_difference, floored_difference};
use dkp_tape::{Lower, Node, Tape};

/// For each output λ, f ~ N(0, K_ii) seen through pseudo-targets v_λ with precision Λ_λ = TTᵀ: N(ΣΛv, Σ), Σ = (K_ii⁻¹ + Λ)⁻¹.
///
/// Given K_ii, with CCᵀ = I + TᵀK_iiT, E = C⁻¹Tᵀ and a = EᵀEv:
/// - at a data point, the mean is k_ti·a and the variance k_tt − ‖E·k_it‖²;
/// - KL(Q‖P) = ½Σ_λ[log|CCᵀ| − M + ‖C⁻¹‖² + aᵀK_ii·a].
///
/// K_ii is neither factorised nor inverted.
#[derive(Clone, Debug)]
pub struct Posterior {
    targets: Node,
    /// T and Tᵀ, shared by all outputs or one for each.
    precisions: Vec<(Node, Node)>,
}

impl Posterior {
    /// Pseudo-targets v, M×outputs, and roots T, M×M, of the precisions: one for all outputs, or one for each.
    ///
    /// # Panics
    ///
    /// If the number of roots is neither one nor that of the outputs.
    #[track_caller]
    pub fn new(tape: &mut Tape, targets: Node, roots: &[Node]) -> Posterior {
        let (count, outputs) = (roots.len(), targets.cols());
        assert!(count == 1 || count == outputs, "Posterior: {count} precisions for {outputs} outputs");
        Posterior { targets, precisions: roots.iter().map(|&t| (t, tape.transpose(t))).collect() }
    }

    /// How many outputs there are.
    pub fn outputs(&self) -> usize {
        self.targets.cols()
    }

    /// What follows from the kernel at the inducing points.
    pub fn given(&self, tape: &mut Tape, kernel: Block) -> Given {
        let outputs = self.outputs();
        let shared = self.precisions.len() == 1;
        let mut parts = Vec::new();
        let mut divergence: Option<Node> = None;
        for (i, &(root, transposed)) in self.precisions.iter().enumerate() {
            let range = if shared { 0..outputs } else { i..i + 1 };
            let multiplicity = range.len() as f64;
            let m = root.rows();
            let targets = if shared { self.targets } else { tape.slice(self.targets, 0..m, range) };
            // CCᵀ = I + TᵀKT
            let kt = tape.matmul(kernel.matrix, root);
            let tkt = tape.matmul(transposed, kt);
            let one = tape.number(1.0);
            let inner = tape.add_diagonal(tkt, one);
            let factor = tape.cholesky(inner);
            let e = tape.solve(factor, transposed);
            let ev = tape.matmul(e, targets);
            let a = tape.matmul(e.t(), ev);
            // KL = ½Σ_λ[log|CCᵀ| − M + ‖C⁻¹‖² + aᵀKa]
            let identity: Vec<f64> = (0..m * m).map(|e| if e % (m + 1) == 0 { 1.0 } else { 0.0 }).collect();
            let identity = tape.constant(m, m, &identity);
            let inverse = tape.solve(factor, identity);
            let trace = tape.squared_norm(inverse);
            let volume = tape.log_det(factor);
            let both = tape.add(volume, trace);
            let both = tape.affine(both, multiplicity, -multiplicity * m as f64);
            let ka = tape.matmul(kernel.matrix, a);
            let quadratics = tape.column_dots(a, ka);
            let quadratic = tape.sum(quadratics);
            let twice = tape.add(both, quadratic);
            let part = tape.affine(twice, 0.5, 0.0);
            divergence = Some(divergence.map_or(part, |d| tape.add(d, part)));
            parts.push(Part { targets, kt, factor, transposed, e, a });
        }
        let divergence = divergence.expect("there is at least one precision");
        Given { parts, divergence }
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
    /// v.
    targets: Node,
    /// KT.
    kt: Node,
    /// C.
    factor: Lower,
    /// Tᵀ.
    transposed: Node,
    /// E.
    e: Node,
    /// a, M×outputs.
    a: Node,
}

impl Given {
    /// Draws f at the inducing points, M×outputs, for K_ii = LLᵀ.
    ///
    /// By Matheron's rule: f = f₀ + KT(CCᵀ)⁻¹(Tᵀ(v − f₀) − ε), f₀ = Lξ from the prior, ε standard normal.
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
            let mean = tape.matmul(p.a.t(), kernel.it);
            let ek = tape.matmul(p.e, kernel.it);
            let explained = tape.column_norms(ek);
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
            let mean = tape.matmul(p.a.t(), kernel.it);
            let ek = tape.matmul(p.e, kernel.it);
            let explained = tape.symmetric_product(ek.t());
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
    fn draw(&self, tape: &mut Tape, factor: Lower) -> Node {
        let (m, outputs) = (self.targets.rows(), self.targets.cols());
        let normals = tape.normals(m, outputs);
        let prior = tape.matmul(factor.matrix(), normals);
        // Tᵀ(v − f₀) − ε
        let residual = tape.subtract(self.targets, prior);
        let residual = tape.matmul(self.transposed, residual);
        let noise = tape.normals(m, outputs);
        let residual = tape.subtract(residual, noise);
        // KT(CCᵀ)⁻¹ …
        let half = tape.solve(self.factor, residual);
        let solved = tape.solve_transposed(self.factor, half);
        let update = tape.matmul(self.kt, solved);
        tape.add(prior, update)
    }
}
