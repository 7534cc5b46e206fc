//! Y = op(A)·op(B), op the identity or the transpose. Adjoints: op(A)̄ += Ȳ·op(B)ᵀ, op(B)̄ += op(A)ᵀ·Ȳ.

use crate::dense::product;
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Operand, Problem, Tape};
use faer::{MatMut, MatRef};

impl Tape {
    /// The matrix product; transpose an operand with `.t()`.
    #[track_caller]
    pub fn matmul(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Node {
        let (a, b) = (a.into(), b.into());
        let ((m, k), (l, n)) = ((a.shape().0, a.shape().1), (b.shape().0, b.shape().1));
        assert!(k == l, "matmul: {} times {}", a.shape(), b.shape());
        let op = Matmul { transposed: [a.transposed, b.transposed] };
        self.record(Box::new(op), &[a.node, b.node], (m, n), Memory::default())
    }
}

struct Matmul {
    transposed: [bool; 2],
}

impl Matmul {
    fn view<'a>(&self, i: usize, m: MatRef<'a, f64>) -> MatRef<'a, f64> {
        if self.transposed[i] { m.transpose() } else { m }
    }

    fn view_mut<'a>(&self, i: usize, m: MatMut<'a, f64>) -> MatMut<'a, f64> {
        if self.transposed[i] { m.transpose_mut() } else { m }
    }
}

impl Operation for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn forward(&self, mut run: Forward<'_>) -> Result<(), Problem> {
        let [a, b] = [0, 1].map(|i| self.view(i, run.inputs.matrix(i)));
        product(run.output_matrix(), faer::Accum::Replace, a, b, 1.0);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let [a, b] = [0, 1].map(|i| self.view(i, run.inputs.matrix(i)));
        let seed = run.seed_matrix();
        if let Some(target) = run.targets.get(0) {
            let (dst, accum) = target.matrix();
            product(self.view_mut(0, dst), accum, seed, b.transpose(), 1.0);
        }
        if let Some(target) = run.targets.get(1) {
            let (dst, accum) = target.matrix();
            product(self.view_mut(1, dst), accum, a.transpose(), seed, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients_with_every_transposition() {
        for (m, n) in cases::SHAPES {
            for k in [1, 6] {
                let [a, b] = [cases::awkward(1, m, k)[0].clone(), cases::awkward(2, k, n)[0].clone()];
                let (at, bt) = (a.transpose().to_owned(), b.transpose().to_owned());
                gradcheck(&[a.clone(), b.clone()], |t, x| t.matmul(x[0], x[1])).unwrap().assert_below(1e-8);
                gradcheck(&[at.clone(), b], |t, x| t.matmul(x[0].t(), x[1])).unwrap().assert_below(1e-8);
                gradcheck(&[a, bt.clone()], |t, x| t.matmul(x[0], x[1].t())).unwrap().assert_below(1e-8);
                gradcheck(&[at, bt], |t, x| t.matmul(x[0].t(), x[1].t())).unwrap().assert_below(1e-8);
            }
            let a = cases::matrix(3, m, n);
            gradcheck(&[a], |t, x| t.matmul(x[0].t(), x[0])).unwrap().assert_below(1e-8);
        }
    }

    #[test]
    #[should_panic(expected = "matmul: 2×3 times 4×5")]
    fn shapes_that_do_not_fit_are_named() {
        let mut tape = crate::Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 3), tape.leaf("b", 4, 5));
        tape.matmul(a, b);
    }
}
