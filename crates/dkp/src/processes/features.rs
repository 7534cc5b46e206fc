//! Gaussian features: the deep Gaussian process, an infinite network with bottlenecks.

use super::{Draw, Extension, Process};
use crate::gram::white::{noisy, noisy_data};
use crate::gram::{Block, DataBlock, Gram, condition, factor_of_difference};
use crate::output::Posterior;
use dkp_tape::{Lower, Node, Tape};

/// F ~ N(0, K) for each of N features, G = FᵀF/N; in distribution the Wishart process W(K/N, N).
///
/// The posterior of each feature at the inducing points is that of the output layer ([`Posterior`]), drawn from; its term of
/// the bound, the divergence from the prior, is in closed form given K.
#[derive(Clone, Debug)]
pub struct Features {
    width: usize,
    posterior: Option<Posterior>,
}

impl Features {
    /// The prior with `width` features.
    ///
    /// # Panics
    ///
    /// If there are none.
    #[track_caller]
    pub fn prior(width: usize) -> Features {
        assert!(width > 0, "Features: at least one feature is needed");
        Features { width, posterior: None }
    }

    /// The posterior: a feature for each of its columns.
    pub fn posterior(posterior: Posterior) -> Features {
        Features { width: posterior.outputs(), posterior: Some(posterior) }
    }
}

impl Process for Features {
    fn draw(&self, tape: &mut Tape, kernel: Block) -> Draw {
        let matrix = noisy(tape, kernel);
        let kernel = Block::new(tape, matrix);
        let factor = tape.cholesky_with_jitter(kernel.matrix);
        let (features, white, log_ratio) = match &self.posterior {
            None => {
                let white = tape.normals(factor.size(), self.width);
                (tape.matmul(factor.matrix(), white), white, None)
            }
            Some(posterior) => {
                let given = posterior.given(tape, kernel);
                let features = given.draw(tape, factor);
                let log_ratio = tape.affine(given.divergence, -1.0, 0.0);
                (features, tape.lower_solve(factor, features), Some(log_ratio))
            }
        };
        // points are columns, and G = ΦᵀΦ
        let transposed = tape.transpose(features);
        let phi = tape.affine(transposed, 1.0 / (self.width as f64).sqrt(), 0.0);
        let gram = Block::from_features(tape, phi);
        Draw { gram, log_ratio, extension: Box::new(FeaturesExtension { factor, white, phi, gram }) }
    }
}

/// The conditional of a Gaussian process: f_t ~ N(k_ti·K_ii⁻¹·f, k_tt − k_ti·K_ii⁻¹·k_it) for each feature.
struct FeaturesExtension {
    /// L with K_ii = LLᵀ.
    factor: Lower,
    /// L⁻¹F, M×width.
    white: Node,
    /// Fᵀ/√width.
    phi: Node,
    gram: Block,
}

impl Extension for FeaturesExtension {
    fn extend(&self, tape: &mut Tape, kernel: Gram) -> Gram {
        let tt = noisy_data(tape, kernel.tt);
        let (w, complement) = condition(tape, self.factor, kernel.ti, tt);
        let width = self.white.cols();
        let mean = tape.matmul(self.white.t(), w.t());
        let noise = match complement {
            DataBlock::Diagonal(schur) => {
                let deviation = tape.sqrt(schur);
                let normals = tape.point_normals(width);
                tape.scale_columns(normals, deviation)
            }
            DataBlock::Full(schur) => {
                let root = factor_of_difference(tape, schur, tt);
                let normals = tape.normals(width, w.rows());
                tape.matmul(normals, root.matrix().t())
            }
        };
        let features = tape.add(mean, noise);
        let phi = tape.affine(features, 1.0 / (width as f64).sqrt(), 0.0);
        match complement {
            DataBlock::Diagonal(_) => Gram::from_features(tape, self.gram, self.phi, phi),
            DataBlock::Full(_) => Gram::from_features_jointly(tape, self.gram, self.phi, phi),
        }
    }
}
