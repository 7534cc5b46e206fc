//! Y = op(A)·op(A)ᵀ, half of it computed and mirrored. Adjoint: op(A)̄ += (Ȳ + Ȳᵀ)·op(A).

use crate::dense::{lower_product, mirror_lower, product, symmetrise};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Operand, Problem, Tape};
use faer::{Accum, MatRef};

impl Tape {
    /// AAᵀ, or AᵀA for `a.t()`.
    #[track_caller]
    pub fn symmetric_product(&mut self, a: impl Into<Operand>) -> Node {
        let a = a.into();
        let n = a.shape().0;
        let op = SymmetricProduct { transposed: a.transposed };
        self.record(Box::new(op), &[a.node], (n, n), Memory { saved: 0, scratch: n * n })
    }
}

struct SymmetricProduct {
    transposed: bool,
}

impl Operation for SymmetricProduct {
    fn name(&self) -> &'static str {
        "symmetric_product"
    }

    fn forward(&self, mut run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.matrix(0);
        let a = if self.transposed { a.transpose() } else { a };
        lower_product(run.output_matrix(), Accum::Replace, a, a.transpose(), 1.0);
        mirror_lower(run.output, run.rows);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let Some(target) = run.targets.get(0) else { return };
        let n = run.rows;
        let sum = &mut run.scratch[..n * n];
        symmetrise(run.seed, sum, n);
        let sum = MatRef::from_column_major_slice(sum, n, n);
        let a = run.inputs.matrix(0);
        let (dst, accum) = target.matrix();
        if self.transposed {
            product(dst, accum, a, sum, 1.0);
        } else {
            product(dst, accum, sum, a, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Tape, random::Key};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for a in cases::awkward(1, m, n).into_iter().chain([cases::matrix(2, m, n)]) {
                let leaves = [a];
                gradcheck(&leaves, |t, x| t.symmetric_product(x[0])).unwrap().assert_below(1e-8);
                gradcheck(&leaves, |t, x| t.symmetric_product(x[0].t())).unwrap().assert_below(1e-8);
            }
        }
    }

    #[test]
    fn equals_the_general_product_and_is_symmetric_to_the_bit() {
        let a = cases::matrix(4, 37, 21);
        let mut tape = Tape::new("both");
        let x = tape.leaf("x", 37, 21);
        let (s, g) = (tape.symmetric_product(x), tape.matmul(x, x.t()));
        let mut run = tape.finish().workspace();
        run.set(x, a.as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        for j in 0..37 {
            for i in 0..37 {
                assert!((run.value(s)[(i, j)] - run.value(g)[(i, j)]).abs() < 1e-14 * 21.0);
                assert_eq!(run.value(s)[(i, j)], run.value(s)[(j, i)]);
            }
        }
    }
}
