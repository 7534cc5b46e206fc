//! White noise in the kernels that layers factorise: K + 1e-8·diag(K) in processes, at inducing and data points alike.

use super::{Block, DataBlock};
use crate::kernels::Kernel;
use dkp_tape::{Node, Tape};
use std::sync::Arc;

/// White noise relative to a kernel's diagonal. Without it directions in which K is singular to rounding decide the divergence between
/// posterior and prior, though they mean nothing, and factors need jitter.
pub const WHITE: f64 = 1e-8;

/// K_ii with white noise.
pub fn noisy(tape: &mut Tape, kernel: Block) -> Node {
    let white = tape.affine(kernel.diagonal, WHITE, 0.0);
    tape.add_diagonal(kernel.matrix, white)
}

/// K_ii with the same white noise at all points: its factor needs no jitter, even where some points' diagonal is much smaller than others' or zero.
pub fn noisy_alike(tape: &mut Tape, kernel: Block) -> Node {
    let total = tape.sum(kernel.diagonal);
    let white = tape.affine(total, WHITE / kernel.diagonal.len() as f64, 0.0);
    tape.add_diagonal(kernel.matrix, white)
}

/// K_tt with white noise.
pub fn noisy_data(tape: &mut Tape, tt: DataBlock) -> DataBlock {
    match tt {
        DataBlock::Diagonal(d) => DataBlock::Diagonal(tape.affine(d, 1.0 + WHITE, 0.0)),
        DataBlock::Full(matrix) => {
            let diagonal = tape.diagonal(matrix);
            let white = tape.affine(diagonal, WHITE, 0.0);
            DataBlock::Full(tape.add_diagonal(matrix, white))
        }
    }
}

/// A kernel with the white noise that a process sees in it.
pub struct Noisy(pub Arc<dyn Kernel>);

impl Kernel for Noisy {
    fn name(&self) -> String {
        self.0.name()
    }

    fn parameters(&self) -> Vec<String> {
        self.0.parameters()
    }

    fn start(&self, lengthscale: f64, height: f64) -> Vec<f64> {
        self.0.start(lengthscale, height)
    }

    fn symmetric(&self, tape: &mut Tape, g: Node, parameters: &[Node]) -> Node {
        let k = self.0.symmetric(tape, g, parameters);
        let block = Block::new(tape, k);
        noisy(tape, block)
    }

    fn cross(&self, tape: &mut Tape, g: Node, rows: Node, cols: Node, parameters: &[Node]) -> Node {
        self.0.cross(tape, g, rows, cols, parameters)
    }

    fn diagonal(&self, tape: &mut Tape, d: Node, parameters: &[Node]) -> Node {
        let k = self.0.diagonal(tape, d, parameters);
        tape.affine(k, 1.0 + WHITE, 0.0)
    }
}
