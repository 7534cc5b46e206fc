//! A Gaussian posterior at the inducing points, as if pseudo-targets had been observed there.

use crate::gram::{Block, DataBlock, Gram, factor_of_difference, schur_complement};
use crate::params::{Constraint, Shape};
use dkp_tape::{Lower, Node, Tape};

/// For each output λ, f ~ N(0, K_ii) seen through pseudo-targets v_λ with precision Λ_λ: Q = N(ΣΛv, Σ), Σ = (K_ii⁻¹ + Λ)⁻¹.
///
/// That is regression on v with noise of covariance S = Λ⁻¹ = HHᵀ. Given K_ii, with CCᵀ = K_ii + S and a = (CCᵀ)⁻¹v:
/// - at a data point, the mean is k_ti·a and the variance k_tt − ‖C⁻¹k_it‖²;
/// - KL(Q‖P) = ½Σ_λ[log|CCᵀ| − log|S| − M + ‖C⁻¹H‖² + aᵀK_ii·a].
///
/// K_ii is neither factorised nor inverted.
#[derive(Clone, Debug)]
pub struct Posterior {
    targets: Node,
    /// Each shared by equally many outputs: the first ones, the next ones, and so on.
    noises: Vec<Noise>,
}

/// The noise of pseudo-targets.
#[derive(Clone, Copy, Debug)]
struct Noise {
    /// H.
    root: Lower,
    /// S = HHᵀ.
    covariance: Node,
    /// log|S|.
    volume: Node,
}

impl Noise {
    fn new(tape: &mut Tape, root: Lower) -> Noise {
        Noise { root, covariance: tape.symmetric_product_lower(root), volume: tape.log_det(root) }
    }
}

impl Posterior {
    /// Pseudo-targets v, M×outputs, and roots H of their noise: one for all outputs, one for each, or one for each of several groups of
    /// equally many.
    ///
    /// # Panics
    ///
    /// If the outputs cannot be divided into as many groups as there are roots.
    #[track_caller]
    pub fn new(tape: &mut Tape, targets: Node, roots: &[Lower]) -> Posterior {
        let (count, outputs) = (roots.len(), targets.cols());
        let divides = count > 0 && outputs.is_multiple_of(count);
        assert!(divides, "Posterior: {count} noises for {outputs} outputs");
        Posterior { targets, noises: roots.iter().map(|&root| Noise::new(tape, root)).collect() }
    }

    /// What is learned: v, and for each of one or several noises H = (I + E)·diag(d), E strictly lower.
    pub fn parameters(inducing: usize, outputs: usize, noises: usize) -> Vec<Shape> {
        let mut all = vec![Shape::new("targets", inducing, outputs, Constraint::Free)];
        for i in 0..noises {
            let noise = if i == 0 { "noise".to_string() } else { format!("noise {}", i + 1) };
            all.push(Shape::new(format!("{noise}.diagonal"), inducing, 1, Constraint::Positive));
            all.push(Shape::new(format!("{noise}.below"), inducing, inducing, Constraint::Free));
        }
        all
    }

    /// Values of these for given pseudo-targets, by columns, and independent noises of these deviations.
    pub fn start(targets: &[f64], inducing: usize, deviations: &[f64]) -> Vec<Vec<f64>> {
        let noise = |d: &f64| [vec![*d; inducing], vec![0.0; inducing * inducing]];
        std::iter::once(targets.to_vec()).chain(deviations.iter().flat_map(noise)).collect()
    }

    /// Records what follows from the parameters, in their order.
    pub fn record(tape: &mut Tape, parameters: &[Node]) -> Posterior {
        let roots = parameters[1..].chunks_exact(2).map(|noise| {
            let scaled = tape.scale_columns(noise[1], noise[0]);
            tape.lower(noise[0], scaled)
        });
        let roots: Vec<Lower> = roots.collect();
        Posterior::new(tape, parameters[0], &roots)
    }

    /// How many outputs there are.
    pub fn outputs(&self) -> usize {
        self.targets.cols()
    }

    /// What follows from the kernel at the inducing points.
    pub fn given(&self, tape: &mut Tape, kernel: Block) -> Given {
        let each = self.outputs() / self.noises.len();
        let mut groups = Vec::new();
        let mut divergence: Option<Node> = None;
        for (i, &noise) in self.noises.iter().enumerate() {
            let targets = match each == self.outputs() {
                true => self.targets,
                false => tape.slice(self.targets, 0..self.targets.rows(), i * each..(i + 1) * each),
            };
            let (group, own) = Group::new(tape, kernel, noise, targets);
            divergence = Some(divergence.map_or(own, |d| tape.add(d, own)));
            groups.push(group);
        }
        Given { groups, divergence: divergence.expect("there is at least one noise") }
    }
}

/// A [`Posterior`] given the kernel at the inducing points.
#[derive(Clone, Debug)]
pub struct Given {
    groups: Vec<Group>,
    /// KL(Q‖P), 1×1.
    pub divergence: Node,
}

/// Outputs that share a noise.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// K_ii.
    kernel: Node,
    /// H.
    noise: Lower,
    /// v.
    targets: Node,
    /// C.
    factor: Lower,
    /// a, M×outputs.
    a: Node,
}

impl Given {
    /// Draws f at the inducing points, M×outputs, for K_ii = LLᵀ.
    ///
    /// By Matheron's rule: f = f₀ + K(CCᵀ)⁻¹(v − f₀ − Hε), f₀ = Lξ from the prior, ε standard normal.
    pub fn draw(&self, tape: &mut Tape, factor: Lower) -> Node {
        let columns: Vec<Node> = self.groups.iter().map(|g| g.draw(tape, factor)).collect();
        tape.beside(&columns)
    }

    /// Mean, outputs×B, and variance at data points: a row for each noise, which the outputs of its group share.
    ///
    /// # Panics
    ///
    /// If the kernel has its full data block: see [`joint`](Given::joint).
    pub fn marginals(&self, tape: &mut Tape, kernel: &Gram) -> (Node, Node) {
        let rows = self.groups.iter().map(|g| {
            let (mean, complement) = g.condition(tape, kernel);
            let DataBlock::Diagonal(variance) = complement else {
                panic!("marginals: the kernel has its full data block")
            };
            (mean, variance)
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
        let rows = self.groups.iter().map(|g| {
            let (mean, complement) = g.condition(tape, kernel);
            let DataBlock::Full(covariance) = complement else {
                panic!("joint: the kernel has only the diagonal of its data block")
            };
            let root = factor_of_difference(tape, covariance, kernel.tt);
            let normals = tape.normals(mean.rows(), mean.cols());
            let noise = tape.matmul(normals, root.matrix().t());
            tape.add(mean, noise)
        });
        let rows: Vec<Node> = rows.collect();
        tape.above(&rows)
    }
}

impl Group {
    /// With its share of the divergence.
    fn new(tape: &mut Tape, kernel: Block, noise: Noise, targets: Node) -> (Group, Node) {
        let (m, outputs) = (targets.rows(), targets.cols() as f64);
        // CCᵀ = K + S
        let one = tape.number(1.0);
        let factor = tape.cholesky_of_sum(one, kernel.matrix, noise.covariance);
        let a = solve_twice(tape, factor, targets);
        // KL = ½Σ_λ[log|CCᵀ| − log|S| − M + ‖C⁻¹H‖² + aᵀKa]
        let (volume, trace) = (tape.log_det(factor), tape.lower_solve_lower_squared_norm(factor, noise.root));
        let volume = tape.subtract(volume, noise.volume);
        let both = tape.add(volume, trace);
        let both = tape.affine(both, outputs, -outputs * m as f64);
        let ka = tape.matmul(kernel.matrix, a);
        let quadratics = tape.column_dots(a, ka);
        let quadratic = tape.sum(quadratics);
        let twice = tape.add(both, quadratic);
        let divergence = tape.affine(twice, 0.5, 0.0);
        (Group { kernel: kernel.matrix, noise: noise.root, targets, factor, a }, divergence)
    }

    /// Mean, outputs×B, and covariance at data points.
    fn condition(&self, tape: &mut Tape, kernel: &Gram) -> (Node, DataBlock) {
        let mean = tape.matmul(self.a.t(), kernel.ti.t());
        (mean, schur_complement(tape, self.factor, kernel.ti, kernel.tt))
    }

    fn draw(&self, tape: &mut Tape, factor: Lower) -> Node {
        let (m, outputs) = (self.targets.rows(), self.targets.cols());
        let normals = tape.normals(m, outputs);
        let prior = tape.lower_times(factor, normals);
        // v − f₀ − Hε
        let residual = tape.subtract(self.targets, prior);
        let normals = tape.normals(m, outputs);
        let noise = tape.lower_times(self.noise, normals);
        let residual = tape.subtract(residual, noise);
        // K(CCᵀ)⁻¹ …
        let weights = solve_twice(tape, self.factor, residual);
        let update = tape.matmul(self.kernel, weights);
        tape.add(prior, update)
    }
}

/// (CCᵀ)⁻¹b.
fn solve_twice(tape: &mut Tape, factor: Lower, b: Node) -> Node {
    let half = tape.lower_solve(factor, b);
    tape.lower_transposed_solve(factor, half)
}
