//! Gaussian features: the deep Gaussian process, an infinite network with bottlenecks.

use super::wishart::draw_wishart;
use super::{Before, Draw, Extension, Input, Law, LayerStart, OutOfRange, PriorProcess, Process, RootDraw};
use crate::gram::numbers::{columns, median_distance, principal_features, principal_projection};
use crate::gram::white::{noisy, noisy_data};
use crate::gram::{Block, DataBlock, Gram, condition, factor_of_difference};
use crate::kernels::{Identity, Kernel};
use crate::model::{Family, FamilyOptions};
use crate::output::Posterior;
use crate::params::Shape;
use dkp_tape::{Failure, Lower, Node, Tape};
use faer::Mat;
use std::sync::Arc;

/// Deep Gaussian processes.
pub(super) const FAMILY: Family = Family {
    name: "dgp",
    title: "deep Gaussian process",
    posteriors: &["shared", "own"],
    parts: |options| (Input::Fixed, Arc::new(GaussianFeatures::of(options))),
};

/// The same with a first layer whose kernel is linear, as the paper has them: F₁ = XᵀW/√N₀ with standard normal W, N₀×N₁.
///
/// So G₁ = F₁F₁ᵀ/N₁ is XᵀΩX/N₀ with Ω = WWᵀ/N₁, and the layer is an input layer: Ω is drawn by features whose kernel is I.
pub(super) const LINEAR_FAMILY: Family = Family {
    name: "linear_dgp",
    title: "deep Gaussian process with a linear first layer",
    parts: |options| {
        let process = Arc::new(GaussianFeatures::of(options));
        (Input::Omega(process.clone()), process)
    },
    ..FAMILY
};

/// Lengthscale of a kernel whose features pass on a Gram matrix, relative to the median distance: long enough for nearly linear
/// functions to be likely. 1.5 and 4 ended with similar bounds.
const LENGTHSCALE: f64 = 2.0;
/// The noise of such features' pseudo-targets, a standard deviation, relative to the median distance. The features, as smooth
/// functions of many points, are more precise than each target. 1 is too noisy a start, and from 1/30 down the divergence is costly.
const NOISE: f64 = 1.0 / 3.0;

/// F ~ N(0, K) for each of N features, G = FFᵀ/N; in distribution the Wishart process W(K/N, N).
///
/// The posterior of each feature at the inducing points is that of the output layer ([`Posterior`]), drawn from; its term of
/// the bound, the divergence from the prior, is in closed form given K. All features share the noise of their pseudo-targets, or each has
/// its own, which costs N Cholesky factors a draw.
///
/// A layer starts by passing on the Gram matrix that its kernel sees, or for a narrow layer what it can hold of that. So its limit is the model
/// without the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaussianFeatures {
    /// N, at least 1.
    pub width: usize,
    /// Whether features share the noise of their pseudo-targets.
    pub share_noise: bool,
}

impl GaussianFeatures {
    /// Features that share a noise.
    pub const fn new(width: usize) -> GaussianFeatures {
        GaussianFeatures { width, share_noise: true }
    }

    fn of(options: &FamilyOptions<'_>) -> GaussianFeatures {
        GaussianFeatures { width: options.width, share_noise: options.posterior != "own" }
    }

    /// How many noises there are.
    fn noises(&self) -> usize {
        if self.share_noise { 1 } else { self.width }
    }

    /// Pseudo-targets whose Gram matrix is G, or for a narrow layer near it, their noise, and that Gram matrix.
    fn pass_on(&self, gram: &Mat<f64>) -> Result<(Vec<Vec<f64>>, Mat<f64>), Failure> {
        let features = principal_features(gram, self.width)?;
        let noise = NOISE * median_distance(gram).sqrt();
        let passed = faer::Scale(1.0 / self.width as f64) * (&features * features.transpose());
        Ok((Posterior::start(&columns(&features), gram.nrows(), &vec![noise; self.noises()]), passed))
    }
}

impl Process for GaussianFeatures {
    fn name(&self) -> String {
        format!("{}({})", if self.share_noise { "features" } else { "own_noise_features" }, self.width)
    }

    fn check(&self) -> Result<(), OutOfRange> {
        OutOfRange::unless_width(self.width)
    }

    fn parameters(&self, size: usize) -> Vec<Shape> {
        Posterior::parameters(size, self.width, self.noises())
    }

    fn around(&self, root: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure> {
        Ok(self.pass_on(&(root * root.transpose()))?.0)
    }

    fn around_identity(&self, moments: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure> {
        Ok(self.pass_on(&principal_projection(moments, self.width)?)?.0)
    }

    fn start(&self, before: &Before<'_>) -> Result<LayerStart, Failure> {
        // With h = ℓ short distances R are R on average under the prior: 2h²(1 − exp(−R/2ℓ²)) ≈ R.
        let lengthscale = LENGTHSCALE * median_distance(before.gram).sqrt();
        let (own, gram) = self.pass_on(before.gram)?;
        Ok(LayerStart { kernel: before.kernel.start(lengthscale, lengthscale), own, gram })
    }

    fn limit(&self, _: &Arc<dyn Kernel>) -> Arc<dyn Kernel> {
        Arc::new(Identity)
    }

    fn law(&self, tape: &mut Tape, _: usize, parameters: &[Node]) -> Box<dyn Law> {
        Box::new(GaussianFeaturesLaw::posterior(Posterior::record(tape, parameters)))
    }

    fn has_gram_form(&self) -> bool {
        true
    }

    fn flops(&self, size: usize, points: usize) -> f64 {
        let (m, b, f, noises) = (size as f64, points as f64, self.width as f64, self.noises() as f64);
        // a Cholesky factor and the Gaussian posteriors; L⁻¹k, and products of the features
        (1.1 + 2.0 * noises) * m.powi(3) + 3.0 * m * m * b + 12.0 * f * m * b
    }
}

impl PriorProcess for GaussianFeatures {
    fn check_prior(&self, _: usize) -> Result<(), OutOfRange> {
        self.check()
    }

    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block {
        GaussianFeaturesLaw::prior(self.width).draw(tape, kernel).gram
    }

    fn draw_prior_root(&self, tape: &mut Tape, kernel: Node, factor: Lower) -> Node {
        GaussianFeaturesLaw::prior(self.width).draw_root(tape, kernel, factor).root
    }
}

/// [`GaussianFeatures`] with their parameters as nodes.
#[derive(Clone, Debug)]
pub struct GaussianFeaturesLaw {
    width: usize,
    posterior: Option<Posterior>,
}

impl GaussianFeaturesLaw {
    /// The prior with `width` features.
    ///
    /// # Panics
    ///
    /// If there are none.
    #[track_caller]
    pub fn prior(width: usize) -> GaussianFeaturesLaw {
        assert!(width > 0, "GaussianFeatures: at least one feature is needed");
        GaussianFeaturesLaw { width, posterior: None }
    }

    /// The posterior: a feature for each of its columns.
    pub fn posterior(posterior: Posterior) -> GaussianFeaturesLaw {
        GaussianFeaturesLaw { width: posterior.outputs(), posterior: Some(posterior) }
    }

    /// F, M×width, given K = LLᵀ, with L⁻¹F where that is at hand, and −KL(Q‖P).
    fn draw_given(&self, tape: &mut Tape, kernel: Block, factor: Lower) -> (Node, Option<Node>, Option<Node>) {
        let Some(posterior) = &self.posterior else {
            let white = tape.normals(factor.size(), self.width);
            return (tape.matmul(factor.matrix(), white), Some(white), None);
        };
        let given = posterior.given(tape, kernel);
        let features = given.draw(tape, factor);
        let log_ratio = tape.affine(given.divergence, -1.0, 0.0);
        (features, None, Some(log_ratio))
    }

    /// 1/√width
    fn scale(&self) -> f64 {
        1.0 / (self.width as f64).sqrt()
    }
}

impl Law for GaussianFeaturesLaw {
    fn draw(&self, tape: &mut Tape, kernel: Block) -> Draw {
        let matrix = noisy(tape, kernel);
        let kernel = Block::new(tape, matrix);
        let factor = tape.cholesky_with_jitter(kernel.matrix);
        let (features, white, log_ratio) = self.draw_given(tape, kernel, factor);
        let white = white.unwrap_or_else(|| tape.lower_solve(factor, features));
        // points are columns, and G = ΦᵀΦ
        let transposed = tape.transpose(features);
        let phi = tape.affine(transposed, self.scale(), 0.0);
        let gram = Block::from_features(tape, phi);
        Draw { gram, log_ratio, extension: Box::new(FeaturesExtension { width: self.width, factor, white, phi, gram }) }
    }

    fn draw_root(&self, tape: &mut Tape, kernel: Node, factor: Lower) -> RootDraw {
        let kernel = Block::new(tape, kernel);
        let (features, _, log_ratio) = self.draw_given(tape, kernel, factor);
        let root = tape.affine(features, self.scale(), 0.0);
        RootDraw { root, gram: tape.symmetric_product(root), log_ratio }
    }
}

/// The conditional of a Gaussian process: f_t ~ N(k_ti·K_ii⁻¹·f, k_tt − k_ti·K_ii⁻¹·k_it) for each feature.
///
/// Of N features those at inducing points may be rotated so that only q of them are not zero there. The others are a data point's own: they add to
/// its norm a χ² variate with N−q degrees of freedom, times s/N with s the variance given the inducing points; or to those of several
/// points W(S/N, N−q).
pub(super) struct FeaturesExtension {
    /// N.
    pub width: usize,
    /// L with K_ii = LLᵀ.
    pub factor: Lower,
    /// L⁻¹F, M×q.
    pub white: Node,
    /// Fᵀ/√N.
    pub phi: Node,
    pub gram: Block,
}

impl Extension for FeaturesExtension {
    fn extend(&self, tape: &mut Tape, kernel: Gram) -> Gram {
        let noisy_tt = noisy_data(tape, kernel.tt);
        let (w, complement) = condition(tape, self.factor, kernel.ti, noisy_tt);
        let mean = tape.matmul(self.white.t(), w.t());
        match complement {
            DataBlock::Diagonal(schur) => self.extend_one_by_one(tape, mean, schur),
            DataBlock::Full(schur) => {
                let root = factor_of_difference(tape, schur, noisy_tt);
                self.extend_jointly(tape, mean, root)
            }
        }
    }
}

impl FeaturesExtension {
    fn extend_one_by_one(&self, tape: &mut Tape, mean: Node, schur: Node) -> Gram {
        let deviation = tape.sqrt(schur);
        let normals = tape.point_normals(mean.rows());
        let noise = tape.scale_columns(normals, deviation);
        let phi = self.scaled_sum(tape, mean, noise);
        let gram = Gram::from_features(tape, self.gram, self.phi, phi);
        let (Some(left), DataBlock::Diagonal(tt)) = (self.left(), gram.tt) else { return gram };
        // χ² = 2·Gamma(½(N−q))
        let half = tape.number(0.5 * left as f64);
        let gamma = tape.point_gammas(half);
        let own = tape.product(schur, gamma);
        let own = tape.affine(own, 2.0 / self.width as f64, 0.0);
        let tt = tape.add(tt, own);
        Gram::new(tape, self.gram, gram.ti, DataBlock::Diagonal(tt))
    }

    fn extend_jointly(&self, tape: &mut Tape, mean: Node, root: Lower) -> Gram {
        let normals = tape.normals(mean.rows(), mean.cols());
        let noise = tape.matmul(normals, root.matrix().t());
        let phi = self.scaled_sum(tape, mean, noise);
        let gram = Gram::from_features_jointly(tape, self.gram, self.phi, phi);
        let (Some(left), DataBlock::Full(tt)) = (self.left(), gram.tt) else { return gram };
        let own = draw_wishart(tape, root, left as f64);
        let own = tape.affine(own, 1.0 / self.width as f64, 0.0);
        let tt = tape.add(tt, own);
        Gram::new(tape, self.gram, gram.ti, DataBlock::Full(tt))
    }

    /// N − q, unless that is zero.
    fn left(&self) -> Option<usize> {
        Some(self.width - self.white.cols()).filter(|left| *left > 0)
    }

    /// Features of data points from their mean and what deviates from it, over √N.
    fn scaled_sum(&self, tape: &mut Tape, mean: Node, noise: Node) -> Node {
        let features = tape.add(mean, noise);
        tape.affine(features, 1.0 / (self.width as f64).sqrt(), 0.0)
    }
}
