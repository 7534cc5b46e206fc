//! Y = Aᵀ. Adjoint: Ā += Ȳᵀ.

use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// The transpose as a matrix of its own; a product reads `a.t()` without one.
    #[track_caller]
    pub fn transpose(&mut self, a: Node) -> Node {
        self.record(Box::new(Transpose), &[a], (a.cols(), a.rows()), Memory::default())
    }
}

struct Transpose;

impl Operation for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn forward(&self, mut run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.matrix(0);
        run.output_matrix().copy_from(a.transpose());
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let seed = run.seed_matrix();
        if let Some(target) = run.targets.get(0) {
            let rows = target.rows;
            for (j, column) in target.zeroed().chunks_exact_mut(rows).enumerate() {
                for (i, a) in column.iter_mut().enumerate() {
                    *a += seed[(j, i)];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            let [scaled, _] = cases::awkward(1, m, n);
            gradcheck(&[scaled], |t, x| t.transpose(x[0])).unwrap().assert_below(1e-9);
        }
    }
}
