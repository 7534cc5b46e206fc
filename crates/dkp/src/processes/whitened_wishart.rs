//! The Wishart process with a posterior over its whitened Bartlett factor.

use super::features::FeaturesExtension;
use super::whitened::{gamma_divergence, normal_divergence};
use super::{Before, Draw, Input, Law, LayerStart, OutOfRange, Process, RootDraw};
use crate::gram::Block;
use crate::gram::numbers::{columns, kernel_of, median_distance, principal_features, root_of};
use crate::gram::white::noisy;
use crate::kernels::{Identity, Kernel};
use crate::model::Family;
use crate::params::{Constraint, Shape};
use dkp_tape::{Failure, Lower, Node, Tape};
use faer::Mat;
use faer::linalg::solvers::Solve as _;
use std::sync::Arc;

/// Deep Wishart processes.
pub(super) const FAMILY: Family = Family {
    name: "dwp",
    title: "deep Wishart process",
    posteriors: &["whitened"],
    parts: |options| (Input::Fixed, Arc::new(WhitenedWishart { width: options.width })),
};

/// Lengthscale, and height, of a kernel whose draws pass on a Gram matrix, relative to the median distance: long enough for nearly linear
/// functions to be likely. 2 and 8 ended with lower bounds.
const LENGTHSCALE: f64 = 4.0;
/// How far features start from those wanted, a standard deviation relative to the median distance, were each point's to be known alone.
/// 1 is too noisy a start, and 1/10 is no better.
const NOISE: f64 = 1.0 / 3.0;

/// G ~ W(K/N, N) for a whole number N, of rank q = min(N, M) at M inducing points.
///
/// With K = LLᵀ a draw is G = FFᵀ, F = LT/√N, T lower-trapezoidal, M×q. Under the prior the elements of T are independent,
/// T_jj² ~ Gamma(½(N−j+1), ½), j = 1…q, and T_ij ~ N(0, 1) below the diagonal. Given K, G and T determine each other, so that a law of T is one
/// of G. The posterior's elements are independent too: T_jj² ~ Gamma(α_j, β_j) and T_ij ~ N(μ_ij, s_ij²), all of them learned, α_j and
/// β_j relative to the prior's.
///
/// The prior is that of [`GaussianFeatures`](super::GaussianFeatures), and G is all that counts of features: here no rotation of them is
/// left to be undecided about. The divergence is a sum over elements that depends on parameters alone.
///
/// A layer starts as features do, by passing on the Gram matrix that its kernel sees, or for a narrow layer what it can hold of that. So its
/// limit is the model without the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhitenedWishart {
    /// N, at least 1.
    pub width: usize,
}

impl WhitenedWishart {
    /// q, the rank of draws at so many points.
    fn rank(&self, size: usize) -> usize {
        self.width.min(size)
    }

    /// Parameters for a posterior that passes on a Gram matrix, or for a narrow layer its principal components, by a kernel K = LLᵀ; and the
    /// Gram matrix that features have on average.
    ///
    /// Features LX ≈ Y, YYᵀ/N = G, that are known up to noise n have X = (LᵀL + n²I)⁻¹LᵀY and, as far as elements are independent, in row i
    /// the variance s_i² = n²/(n² + (LᵀL)_ii).
    fn pass_on(&self, gram: &Mat<f64>, root: &Mat<f64>) -> Result<(Vec<Vec<f64>>, Mat<f64>), Failure> {
        let (m, q) = (gram.nrows(), self.rank(gram.nrows()));
        let wanted = faer::Scale((self.width as f64 / q as f64).sqrt()) * principal_features(gram, q)?;
        let noise = NOISE * NOISE * median_distance(gram);
        let precision = root.transpose() * root;
        let noisy = Mat::from_fn(m, m, |i, j| precision[(i, j)] + if i == j { noise } else { 0.0 });
        let x = noisy.partial_piv_lu().solve(root.transpose() * wanted);
        let variances: Vec<f64> = (0..m).map(|i| noise / (noise + precision[(i, i)])).collect();
        let features = root * &x;
        let passed = faer::Scale(1.0 / self.width as f64) * (&features * features.transpose());
        Ok((self.around_features(&x, &variances), passed))
    }

    /// Parameters for white features with the mean X, M×q, and the variance s_i² in row i.
    ///
    /// X = TQ with orthogonal rows of Q, which do not count. Nor does the direction of what noise adds to row j from column j on, so that
    /// T_jj² is s_j² times a noncentral χ² with N−j+1 degrees of freedom, of the mean t² + (N−j+1)s_j² and the variance
    /// 4t²s_j² + 2(N−j+1)s_j⁴ for X's own t = T_jj. A gamma variate is given the same two. It is the prior's for X = 0 and s = 1, and it is not
    /// zero where t is, because X has a rank below q.
    fn around_features(&self, x: &Mat<f64>, variances: &[f64]) -> Vec<Vec<f64>> {
        let (m, q) = (x.nrows(), x.ncols());
        // Xᵀ = QᵀTᵀ
        let upper = x.transpose().qr().thin_R().to_owned();
        let t = |i: usize, j: usize| upper[(j, i)] * upper[(j, j)].signum();
        let (mut shape, mut rate) = (Vec::new(), Vec::new());
        for j in 0..q {
            let (dof, square, s2) = ((self.width - j) as f64, t(j, j).powi(2), variances[j]);
            let (mean, variance) = (square + dof * s2, 4.0 * square * s2 + 2.0 * dof * s2 * s2);
            // relative to ½(N−j+1) and ½
            shape.push(mean * mean / variance / (0.5 * dof));
            rate.push(mean / variance / 0.5);
        }
        let mean = Mat::from_fn(m, q, |i, j| if i > j { t(i, j) } else { 0.0 });
        let deviation = Mat::from_fn(m, q, |i, _| variances[i].sqrt());
        vec![shape, rate, columns(&mean), columns(&deviation)]
    }
}

impl Process for WhitenedWishart {
    fn name(&self) -> String {
        format!("wishart({})", self.width)
    }

    fn check(&self) -> Result<(), OutOfRange> {
        OutOfRange::unless_width(self.width)
    }

    fn parameters(&self, size: usize) -> Vec<Shape> {
        let q = self.rank(size);
        vec![
            Shape::new("shape", q, 1, Constraint::Positive),
            Shape::new("rate", q, 1, Constraint::Positive),
            Shape::new("mean", size, q, Constraint::Free),
            Shape::new("deviation", size, q, Constraint::Positive),
        ]
    }

    fn around(&self, root: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure> {
        Ok(self.pass_on(&(root * root.transpose()), root)?.0)
    }

    fn start(&self, before: &Before<'_>) -> Result<LayerStart, Failure> {
        let lengthscale = LENGTHSCALE * median_distance(before.gram).sqrt();
        let kernel = before.kernel.start(lengthscale, lengthscale);
        let root = root_of(&kernel_of(before.gram, before.kernel, &kernel)?)?;
        let (own, gram) = self.pass_on(before.gram, &root)?;
        Ok(LayerStart { kernel, own, gram })
    }

    fn limit(&self, _: &Arc<dyn Kernel>) -> Arc<dyn Kernel> {
        Arc::new(Identity)
    }

    fn law(&self, tape: &mut Tape, _: usize, parameters: &[Node]) -> Box<dyn Law> {
        let [shape, rate, mean, deviation] = *parameters else {
            panic!("WhitenedWishart: {} parameters", parameters.len())
        };
        Box::new(WhitenedWishartLaw::new(tape, self.width, shape, rate, mean, deviation))
    }

    fn flops(&self, size: usize, points: usize) -> f64 {
        let (m, b, q) = (size as f64, points as f64, self.rank(size) as f64);
        // a Cholesky factor, LT and FFᵀ; L⁻¹k, and products of the features
        m.powi(3) + 6.0 * q * m * m + 3.0 * m * m * b + 12.0 * q * m * b
    }
}

/// [`WhitenedWishart`] with its parameters as nodes.
#[derive(Clone, Copy, Debug)]
pub struct WhitenedWishartLaw {
    width: usize,
    /// α.
    shapes: Node,
    /// 1/β.
    scales: Node,
    /// μ below the diagonal, zero elsewhere.
    mean: Node,
    /// s, the same.
    deviation: Node,
    /// Ones on the diagonal, M×q.
    diagonal: Node,
    /// −KL(Q‖P).
    log_ratio: Node,
}

impl WhitenedWishartLaw {
    /// With N, α and β relative to the prior's, q×1, and means and deviations below the diagonal, M×q, of which the rest does not count.
    ///
    /// # Panics
    ///
    /// If q is not min(N, M).
    #[track_caller]
    pub fn new(tape: &mut Tape, width: usize, shape: Node, rate: Node, mean: Node, deviation: Node) -> Self {
        let (m, q) = (mean.rows(), mean.cols());
        assert!(q == width.min(m), "WhitenedWishart: {q} columns for {m} points and the width {width}");
        let halves: Vec<f64> = (0..q).map(|j| 0.5 * (width - j) as f64).collect();
        let prior = tape.constant(q, 1, &halves);
        let shapes = tape.product(prior, shape);
        let inverse = tape.reciprocal(rate);
        let scales = tape.affine(inverse, 2.0, 0.0);
        let gammas = gamma_divergence(tape, shapes, prior, rate, inverse);
        let normals = normal_divergence(tape, mean, deviation);
        let divergence = tape.add(gammas, normals);
        let log_ratio = tape.affine(divergence, -1.0, 0.0);
        let mut ones = |keep: fn(usize, usize) -> bool| {
            let values: Vec<f64> = (0..m * q).map(|e| f64::from(keep(e % m, e / m))).collect();
            tape.constant(m, q, &values)
        };
        let (below, diagonal) = (ones(|i, j| i > j), ones(|i, j| i == j));
        let [mean, deviation] = [mean, deviation].map(|x| tape.product(below, x));
        WhitenedWishartLaw { width, shapes, scales, mean, deviation, diagonal, log_ratio }
    }

    /// T, M×q.
    fn draw_factor(&self, tape: &mut Tape) -> Node {
        let gammas = tape.gammas(self.shapes);
        let squares = tape.product(gammas, self.scales);
        let diagonal = tape.sqrt(squares);
        let diagonal = tape.scale_columns(self.diagonal, diagonal);
        let normals = tape.normals(self.mean.rows(), self.mean.cols());
        let below = tape.product(self.deviation, normals);
        let below = tape.add(self.mean, below);
        tape.add(diagonal, below)
    }

    /// F = LT/√N.
    fn root(&self, tape: &mut Tape, factor: Lower, t: Node) -> Node {
        let features = tape.lower_times(factor, t);
        tape.affine(features, 1.0 / (self.width as f64).sqrt(), 0.0)
    }

    /// The term of the bound, in the draw's program.
    fn log_ratio(&self, tape: &mut Tape) -> Node {
        tape.affine(self.log_ratio, 1.0, 0.0)
    }
}

impl Law for WhitenedWishartLaw {
    fn draw(&self, tape: &mut Tape, kernel: Block) -> Draw {
        let noisy = noisy(tape, kernel);
        let factor = tape.cholesky_with_jitter(noisy);
        let white = self.draw_factor(tape);
        let root = self.root(tape, factor, white);
        let phi = tape.transpose(root);
        let gram = Block::from_features(tape, phi);
        let extension = FeaturesExtension { width: self.width, factor, white, phi, gram };
        Draw { gram, log_ratio: Some(self.log_ratio(tape)), extension: Box::new(extension) }
    }

    fn draw_root(&self, tape: &mut Tape, _: Node, factor: Lower) -> RootDraw {
        let white = self.draw_factor(tape);
        let root = self.root(tape, factor, white);
        RootDraw { root, gram: tape.symmetric_product(root), log_ratio: Some(self.log_ratio(tape)) }
    }
}
