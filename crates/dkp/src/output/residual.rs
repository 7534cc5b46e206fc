//! What the prior leaves open at data points once the inducing variables are known.

use crate::gram::{Block, DataBlock, Gram, schur_complement};
use dkp_tape::{Lower, Node, Tape};

/// d = k_tt − k_ti·K_ii⁻¹·k_it: the prior's variance of f at a data point given the inducing variables, whatever the output.
#[derive(Clone, Copy, Debug)]
pub struct Residual {
    factor: Lower,
}

impl Residual {
    /// Given the kernel at the inducing points, the one that the [`Posterior`](super::Posterior) is given. It must be positive definite as it is:
    /// with jitter d would be too large, and with it what a tighter bound gains.
    pub fn new(tape: &mut Tape, kernel: Block) -> Residual {
        Residual { factor: tape.cholesky(kernel.matrix) }
    }

    /// d at data points, 1×B.
    ///
    /// # Panics
    ///
    /// If the kernel has its full data block.
    pub fn variance(&self, tape: &mut Tape, kernel: &Gram) -> Node {
        match schur_complement(tape, self.factor, kernel.ti, kernel.tt) {
            DataBlock::Diagonal(variance) => variance,
            DataBlock::Full(_) => panic!("variance: the kernel has its full data block"),
        }
    }
}
