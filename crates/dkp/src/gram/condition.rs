//! Conditioning on the inducing points: K_tt − K_ti·K_ii⁻¹·K_it.

use super::DataBlock;
use dkp_tape::{Lower, Node, Tape};

/// A Schur complement's element is at least this fraction of the element that it is taken from; rounding can make it negative.
const FLOOR: f64 = 1e-10;
/// And at least this, where the point itself is zero.
const LEAST: f64 = 1e-30;

/// W = K_ti·L⁻ᵀ and the Schur complement K_tt − WWᵀ, of the same kind as K_tt.
pub fn condition(tape: &mut Tape, factor: Lower, ti: Node, tt: DataBlock) -> (Node, DataBlock) {
    let w = tape.over_lower_transposed(ti, factor);
    let complement = match tt {
        DataBlock::Diagonal(tt) => {
            let explained = tape.row_norms(w);
            DataBlock::Diagonal(floored_difference(tape, tt, explained))
        }
        DataBlock::Full(tt) => {
            let explained = tape.symmetric_product(w);
            DataBlock::Full(tape.subtract(tt, explained))
        }
    };
    (w, complement)
}

/// The Schur complement alone.
pub fn schur_complement(tape: &mut Tape, factor: Lower, ti: Node, tt: DataBlock) -> DataBlock {
    match tt {
        DataBlock::Diagonal(tt) => {
            let explained = tape.over_lower_transposed_row_norms(ti, factor);
            DataBlock::Diagonal(floored_difference(tape, tt, explained))
        }
        DataBlock::Full(_) => condition(tape, factor, ti, tt).1,
    }
}

/// The Cholesky factor of K_tt less what is explained, with jitter, if any, relative to K_tt: the difference may be rounding errors.
pub fn factor_of_difference(tape: &mut Tape, difference: Node, tt: DataBlock) -> Lower {
    let scale = tt.diagonal(tape);
    tape.cholesky_with_jitter_of(difference, scale)
}

/// max(a − b, FLOOR·a) + LEAST
fn floored_difference(tape: &mut Tape, a: Node, b: Node) -> Node {
    let most = tape.affine(a, 1.0 - FLOOR, 0.0);
    let above = tape.subtract(most, b);
    let above = tape.at_least(above, 0.0);
    let floor = tape.affine(a, FLOOR, LEAST);
    tape.add(above, floor)
}
