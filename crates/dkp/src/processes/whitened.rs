//! The inverse Wishart process with a posterior over its whitened Bartlett factor.

use super::inverse_wishart::{ExtensionShape, InverseWishartExtension};
use super::{Draw, Law, OutOfRange, Process, RootDraw};
use crate::distributions::DegreesOfFreedom;
use crate::gram::Block;
use crate::gram::white::{Noisy, noisy};
use crate::kernels::Kernel;
use crate::params::{Constraint, Shape};
use dkp_tape::math::{digamma, trigamma};
use dkp_tape::{Failure, Lower, Node, Tape};
use faer::Mat;
use std::sync::Arc;

/// G ~ W⁻¹(δK, δ+P+1) as for [`InverseWishart`](super::InverseWishart), with another posterior.
///
/// With K = LLᵀ and ν = δ+M+1, a draw is G = FFᵀ, F = √δ·LA⁻¹, A lower-triangular. Under the prior the elements of A are independent,
/// A_jj² ~ Gamma(½(ν−M+j), ½), j = 1…M, and A_ij ~ N(0, 1) below the diagonal. Given K, G and A determine each other, so that a law of A is
/// one of G. The posterior's elements are independent too: A_jj² ~ Gamma(α_j, β_j) and A_ij ~ N(μ_ij, s_ij²), all of them learned, α_j and
/// β_j relative to the prior's.
///
/// The divergence from the prior is a sum over elements that depends on parameters alone, not on K: it is exact, and belongs to the step. And
/// the posterior follows K when the layer below moves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WhitenedInverseWishart {
    /// δ, where it starts.
    pub delta: f64,
    /// Where A starts: at the prior's law, or close to √δ·I, so that G is close to K.
    pub start: WhitenedStart,
}

/// Where the posterior of a [`WhitenedInverseWishart`] starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhitenedStart {
    /// At the prior, which for large δ is near the limit.
    Prior,
    /// Near G = K, whatever δ is.
    Narrow,
}

/// Shapes α of the diagonal where the posterior starts narrow: A_jj² is within 1/√α of its mean.
const NARROW_SHAPE: f64 = 250.0;
/// Deviations below the diagonal there, relative to √δ.
const NARROW_DEVIATION: f64 = 0.05;

impl WhitenedInverseWishart {
    /// Where hidden layers start: near their limit, so that the data lower δ.
    pub const HIDDEN: WhitenedInverseWishart = WhitenedInverseWishart { delta: 1000.0, start: WhitenedStart::Prior };
    /// Where the input layer starts: a broad prior and a narrow posterior.
    pub const INPUT: WhitenedInverseWishart = WhitenedInverseWishart { delta: 5.0, start: WhitenedStart::Narrow };
}

impl Process for WhitenedInverseWishart {
    fn name(&self) -> String {
        "whitened_inverse_wishart".to_string()
    }

    fn check(&self) -> Result<(), OutOfRange> {
        OutOfRange::unless_positive("δ", self.delta)
    }

    fn parameters(&self, size: usize) -> Vec<Shape> {
        vec![
            Shape::new("delta", 1, 1, Constraint::Positive),
            Shape::new("shape", size, 1, Constraint::Positive),
            Shape::new("rate", size, 1, Constraint::Positive),
            Shape::new("mean", size, size, Constraint::Free),
            Shape::new("deviation", size, size, Constraint::Positive),
        ]
    }

    fn around(&self, root: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure> {
        let (m, delta) = (root.nrows(), self.delta);
        let mean = vec![0.0; m * m];
        let (shape, rate, deviation) = match self.start {
            WhitenedStart::Prior => (vec![1.0; m], vec![1.0; m], 1.0),
            // E A_jj² = α/β = δ
            WhitenedStart::Narrow => {
                let prior = |j: usize| 0.5 * (delta + 2.0 + j as f64);
                let shape = (0..m).map(|j| NARROW_SHAPE / prior(j)).collect();
                (shape, vec![2.0 * NARROW_SHAPE / delta; m], NARROW_DEVIATION * delta.sqrt())
            }
        };
        Ok(vec![vec![delta], shape, rate, mean, vec![deviation; m * m]])
    }

    fn limit(&self, kernel: &Arc<dyn Kernel>) -> Arc<dyn Kernel> {
        Arc::new(Noisy(kernel.clone()))
    }

    fn law(&self, tape: &mut Tape, _: usize, parameters: &[Node]) -> Box<dyn Law> {
        let [delta, shape, rate, mean, deviation] = *parameters else {
            panic!("WhitenedInverseWishart: {} parameters", parameters.len())
        };
        Box::new(WhitenedLaw::new(tape, delta, shape, rate, mean, deviation))
    }

    fn has_gram_form(&self) -> bool {
        true
    }

    fn flops(&self, size: usize, points: usize) -> f64 {
        let (m, b) = (size as f64, points as f64);
        // a Cholesky factor, A⁻¹, LA⁻¹, FFᵀ; L⁻¹k, Qᵀ(…), F·u
        4.0 * m.powi(3) + 9.0 * m * m * b
    }

    fn concentration(&self) -> Option<&'static str> {
        Some("delta")
    }
}

/// [`WhitenedInverseWishart`] with its parameters as nodes.
#[derive(Clone, Copy, Debug)]
pub struct WhitenedLaw {
    delta: Node,
    /// √δ, and √δ·I.
    root_delta: Node,
    identity: Lower,
    extension: ExtensionShape,
    /// α.
    shapes: Node,
    /// 1/β.
    scales: Node,
    mean: Node,
    deviation: Node,
    /// −KL(Q‖P).
    log_ratio: Node,
}

impl WhitenedLaw {
    /// With δ, 1×1, α and β relative to the prior's, M×1, and means and deviations below the diagonal, M×M, of which the rest does not count.
    #[track_caller]
    pub fn new(tape: &mut Tape, delta: Node, shape: Node, rate: Node, mean: Node, deviation: Node) -> WhitenedLaw {
        let m = shape.rows();
        let nu = tape.affine(delta, 1.0, (m + 1) as f64);
        let prior = DegreesOfFreedom::new(tape, nu, m).reversed_shapes;
        let shapes = tape.product(prior, shape);
        let inverse = tape.reciprocal(rate);
        let scales = tape.affine(inverse, 2.0, 0.0);
        let gammas = gamma_divergence(tape, shapes, prior, rate, inverse);
        let normals = normal_divergence(tape, mean, deviation);
        let divergence = tape.add(gammas, normals);
        let log_ratio = tape.affine(divergence, -1.0, 0.0);
        let extension = ExtensionShape::new(tape, delta, m);
        let root_delta = tape.sqrt(delta);
        let ones = tape.constant(m, 1, &vec![1.0; m]);
        let (diagonal, below) = (tape.scale(root_delta, ones), tape.constant(m, m, &vec![0.0; m * m]));
        let identity = tape.lower(diagonal, below);
        WhitenedLaw { delta, root_delta, identity, extension, shapes, scales, mean, deviation, log_ratio }
    }

    /// Q = √δ·A⁻¹, and F = LQ.
    fn draw_roots(&self, tape: &mut Tape, factor: Lower) -> [Lower; 2] {
        let gammas = tape.gammas(self.shapes);
        let squares = tape.product(gammas, self.scales);
        let diagonal = tape.sqrt(squares);
        let a = tape.random_lower(diagonal, self.mean, self.deviation);
        let white_root = tape.lower_over_lower(self.identity, a);
        let scaled = tape.scale_lower(self.root_delta, factor);
        [white_root, tape.lower_over_lower(scaled, a)]
    }

    /// The term of the bound, in the draw's program.
    fn log_ratio(&self, tape: &mut Tape) -> Node {
        tape.affine(self.log_ratio, 1.0, 0.0)
    }
}

impl Law for WhitenedLaw {
    fn draw(&self, tape: &mut Tape, kernel: Block) -> Draw {
        let noisy = noisy(tape, kernel);
        let factor = tape.cholesky_with_jitter(noisy);
        let [white_root, root] = self.draw_roots(tape, factor);
        let matrix = tape.symmetric_product_lower(root);
        let gram = Block::new(tape, matrix);
        let (delta, shape) = (self.delta, self.extension);
        let extension = InverseWishartExtension { delta, shape, factor, root, white_root, gram };
        Draw { gram, log_ratio: Some(self.log_ratio(tape)), extension: Box::new(extension) }
    }

    fn draw_root(&self, tape: &mut Tape, _: Node, factor: Lower) -> RootDraw {
        let [_, root] = self.draw_roots(tape, factor);
        let gram = tape.symmetric_product_lower(root);
        RootDraw { root: root.matrix(), gram, log_ratio: Some(self.log_ratio(tape)) }
    }
}

/// Σ KL(Gamma(α, β)‖Gamma(α₀, ½)), with the rate 2β and its inverse:
/// (α−α₀)ψ(α) − log Γ(α) + log Γ(α₀) + α₀·log 2β + α(1/2β − 1).
pub(super) fn gamma_divergence(tape: &mut Tape, shapes: Node, prior: Node, rate: Node, inverse: Node) -> Node {
    let psi = tape.map("digamma", shapes, |x| (digamma(x), trigamma(x)));
    let excess = tape.subtract(shapes, prior);
    let first = tape.product(excess, psi);
    let (own, other) = (tape.ln_gamma(shapes), tape.ln_gamma(prior));
    let normalisers = tape.subtract(other, own);
    let log_rate = tape.ln(rate);
    let rates = tape.product(prior, log_rate);
    let ratio = tape.affine(inverse, 1.0, -1.0);
    let means = tape.product(shapes, ratio);
    let [a, b] = [(first, normalisers), (rates, means)].map(|(x, y)| tape.add(x, y));
    let all = tape.add(a, b);
    tape.sum(all)
}

/// ½Σ_{i>j}(μ² + s² − 1 − log s²).
pub(super) fn normal_divergence(tape: &mut Tape, mean: Node, deviation: Node) -> Node {
    let (rows, cols) = (mean.rows(), mean.cols());
    let below: Vec<f64> = (0..rows * cols).map(|e| f64::from(e % rows > e / rows)).collect();
    let count: f64 = below.iter().sum();
    let below = tape.constant(rows, cols, &below);
    let squares = [mean, deviation].map(|x| tape.square(x));
    let sum = tape.add(squares[0], squares[1]);
    let log = tape.ln(deviation);
    let twice = tape.affine(log, -2.0, 0.0);
    let all = tape.add(sum, twice);
    let counted = tape.product(below, all);
    let total = tape.sum(counted);
    tape.affine(total, 0.5, -0.5 * count)
}
