//! y = ‖A‖²_F = Σ A_ij². Adjoint: Ā += 2ȳ·A.

use crate::operation::{Adjoint, Forward, Operation, dot};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// The squared Frobenius norm.
    #[track_caller]
    pub fn squared_norm(&mut self, a: Node) -> Node {
        self.record(Box::new(SquaredNorm), &[a], (1, 1), Memory::default())
    }
}

struct SquaredNorm;

impl Operation for SquaredNorm {
    fn name(&self) -> &'static str {
        "squared_norm"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.slice(0);
        run.output[0] = dot(a, a);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        if let Some(target) = run.targets.get(0) {
            let factor = 2.0 * run.seed[0];
            target.add1(run.inputs.slice(0), |a| factor * a);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for a in cases::awkward(1, m, n).into_iter().chain([cases::matrix(2, m, n)]) {
                gradcheck(&[a], |t, x| t.squared_norm(x[0])).unwrap().assert_below(1e-9);
            }
        }
    }
}
