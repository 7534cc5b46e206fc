//! The Wishart process.

use super::{OutOfRange, PriorProcess};
use crate::distributions::{self, DegreesOfFreedom, MatrixDistribution as _};
use crate::gram::Block;
use dkp_tape::{Lower, Node, Tape};

/// G ~ W(K/N, N): the mean is K. Over arbitrarily many points N must be a whole number.
#[derive(Clone, Copy, Debug)]
pub struct Wishart {
    /// N: a whole number, or any above P − 1 if it is drawn over P points only.
    pub dof: f64,
}

impl PriorProcess for Wishart {
    fn check_prior(&self, points: usize) -> Result<(), OutOfRange> {
        let what = "the degrees of freedom";
        OutOfRange::unless_positive(what, self.dof)?;
        if self.dof > points as f64 - 1.0 || self.dof.fract() == 0.0 {
            return Ok(());
        }
        let expected = "a whole number, or greater than the number of points less one";
        Err(OutOfRange { what, expected, value: self.dof })
    }

    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block {
        let scaled = tape.affine(kernel.matrix, 1.0 / self.dof, 0.0);
        let scale = tape.cholesky_with_jitter(scaled);
        let matrix = draw_wishart(tape, scale, self.dof);
        Block::new(tape, matrix)
    }
}

/// S ~ W(V, N) for V = LLᵀ over P points, with N a whole number or above P − 1.
#[track_caller]
pub(super) fn draw_wishart(tape: &mut Tape, scale: Lower, dof: f64) -> Node {
    let size = scale.size();
    if dof > size as f64 - 1.0 {
        let nu = tape.number(dof);
        return distributions::Wishart { scale, dof: DegreesOfFreedom::new(tape, nu, size) }.draw(tape);
    }
    assert!(dof.fract() == 0.0, "Wishart: {dof} degrees of freedom over {size} points; a whole number is needed");
    distributions::SingularWishart { scale, dof: dof as usize }.draw(tape)
}
