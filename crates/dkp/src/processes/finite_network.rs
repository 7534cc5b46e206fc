//! One layer of a Bayesian neural network of finite width.

use super::{OutOfRange, PriorProcess};
use crate::gram::Block;
use dkp_tape::Tape;

/// F ~ N(0, K) for each of N units, K' = 2φ(F)φ(F)ᵀ/N with φ = max(·, 0).
///
/// The factor 2 makes the [`Relu`](crate::kernels::Relu) kernel of K its mean, to which it converges with the width. The
/// result is a kernel already: the next layer's kernel is the [`Identity`](crate::kernels::Identity).
#[derive(Clone, Copy, Debug)]
pub struct FiniteNetwork {
    /// Units, at least one.
    pub width: usize,
}

impl PriorProcess for FiniteNetwork {
    fn check_prior(&self, _: usize) -> Result<(), OutOfRange> {
        OutOfRange::unless_width(self.width)
    }

    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block {
        let factor = tape.cholesky_with_jitter(kernel.matrix);
        // units are rows: Φᵀ = √(2/N)·φ(ξᵀLᵀ)
        let normals = tape.normals(self.width, factor.size());
        let features = tape.matmul(normals, factor.matrix().t());
        let active = tape.at_least(features, 0.0);
        let phi = tape.affine(active, (2.0 / self.width as f64).sqrt(), 0.0);
        Block::from_features(tape, phi)
    }
}
