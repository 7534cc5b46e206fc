//! The Wishart process.

use super::{OutOfRange, PriorProcess};
use crate::distributions::{self, DegreesOfFreedom, MatrixDistribution as _};
use crate::gram::Block;
use dkp_tape::Tape;

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
        let size = kernel.matrix.rows();
        let scaled = tape.affine(kernel.matrix, 1.0 / self.dof, 0.0);
        let scale = tape.cholesky_with_jitter(scaled);
        let matrix = if self.dof > size as f64 - 1.0 {
            let nu = tape.number(self.dof);
            distributions::Wishart { scale, dof: DegreesOfFreedom::new(tape, nu, size) }.draw(tape)
        } else {
            let whole = self.dof.fract() == 0.0;
            assert!(whole, "Wishart: {} degrees of freedom over {size} points; a whole number is needed", self.dof);
            distributions::SingularWishart { scale, dof: self.dof as usize }.draw(tape)
        };
        Block::new(tape, matrix)
    }
}
