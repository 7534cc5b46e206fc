//! White noise in the kernels that layers factorise: K + 1e-8·diag(K) in processes, at inducing and data points alike.

use super::{Block, DataBlock};
use dkp_tape::{Node, Tape};

/// White noise relative to a kernel's diagonal. Without it directions in which K is singular to rounding decide the divergence between
/// posterior and prior, though they mean nothing, and factors need jitter.
pub(crate) const WHITE: f64 = 1e-8;

/// K_ii with white noise.
pub(crate) fn noisy(tape: &mut Tape, kernel: Block) -> Node {
    let white = tape.affine(kernel.diagonal, WHITE, 0.0);
    tape.add_diagonal(kernel.matrix, white)
}

/// K_ii with the same white noise at all points: its factor needs no jitter, even where some points' diagonal is much smaller than others' or zero.
pub(crate) fn noisy_alike(tape: &mut Tape, kernel: Block) -> Node {
    let total = tape.sum(kernel.diagonal);
    let white = tape.affine(total, WHITE / kernel.diagonal.len() as f64, 0.0);
    tape.add_diagonal(kernel.matrix, white)
}

/// K_tt with white noise.
pub(crate) fn noisy_data(tape: &mut Tape, tt: DataBlock) -> DataBlock {
    match tt {
        DataBlock::Diagonal(d) => DataBlock::Diagonal(tape.affine(d, 1.0 + WHITE, 0.0)),
        DataBlock::Full(matrix) => {
            let diagonal = tape.diagonal(matrix);
            let white = tape.affine(diagonal, WHITE, 0.0);
            DataBlock::Full(tape.add_diagonal(matrix, white))
        }
    }
}
