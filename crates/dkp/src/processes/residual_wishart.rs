//! The residual Wishart process.

use super::PriorProcess;
use crate::distributions;
use crate::gram::Block;
use dkp_tape::Tape;

/// G = L·Ω″·Lᵀ with K = LLᵀ and Ω″ a residual Wishart ([`distributions::ResidualWishart`]): the mean is K.
///
/// It is not consistent under marginalisation, as its width is the number of points; the paper studies its eigenvalues.
#[derive(Clone, Copy, Debug)]
pub struct ResidualWishart {
    alpha: f64,
}

impl ResidualWishart {
    /// With the weight α ≥ 0 of the residual connection.
    ///
    /// # Panics
    ///
    /// If α is negative or not finite.
    #[track_caller]
    pub fn new(alpha: f64) -> ResidualWishart {
        assert!(alpha >= 0.0 && alpha.is_finite(), "ResidualWishart: α must be at least 0, but is {alpha}");
        ResidualWishart { alpha }
    }
}

impl PriorProcess for ResidualWishart {
    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block {
        let factor = tape.cholesky_with_jitter(kernel.matrix);
        let w = distributions::ResidualWishart::draw_root(tape, factor.size(), self.alpha);
        // G = (LW)(LW)ᵀ = ΦᵀΦ
        let root = tape.matmul(factor.matrix(), w);
        let phi = tape.transpose(root);
        Block::from_features(tape, phi)
    }
}
