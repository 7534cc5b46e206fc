//! The residual Wishart process.

use super::{OutOfRange, PriorProcess};
use crate::distributions;
use crate::gram::Block;
use dkp_tape::Tape;

/// G = L·Ω″·Lᵀ with K = LLᵀ and Ω″ a residual Wishart ([`distributions::ResidualWishart`]): the mean is K.
///
/// It is not consistent under marginalisation, as its width is the number of points; the paper studies its eigenvalues.
#[derive(Clone, Copy, Debug)]
pub struct ResidualWishart {
    /// The weight α ≥ 0 of the residual connection.
    pub alpha: f64,
}

impl PriorProcess for ResidualWishart {
    fn check_prior(&self, _: usize) -> Result<(), OutOfRange> {
        let error = OutOfRange { what: "α", expected: "at least 0 and finite", value: self.alpha };
        if self.alpha >= 0.0 && self.alpha.is_finite() { Ok(()) } else { Err(error) }
    }

    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block {
        let factor = tape.cholesky_with_jitter(kernel.matrix);
        let w = distributions::ResidualWishart::draw_root(tape, factor.size(), self.alpha);
        // G = (LW)(LW)ᵀ = ΦᵀΦ
        let root = tape.matmul(factor.matrix(), w);
        let phi = tape.transpose(root);
        Block::from_features(tape, phi)
    }
}
