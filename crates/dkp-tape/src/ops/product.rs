//! Y = A∘B, element by element. Adjoints: Ā += Ȳ∘B, B̄ += Ȳ∘A.

use super::same_shape;
use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// The element-wise product A∘B.
    #[track_caller]
    pub fn product(&mut self, a: Node, b: Node) -> Node {
        same_shape("product", a, b);
        self.record(Box::new(Product), &[a, b], (a.rows(), a.cols()), Memory::default())
    }
}

struct Product;

impl Operation for Product {
    fn name(&self) -> &'static str {
        "product"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let pairs = run.inputs.slice(0).iter().zip(run.inputs.slice(1));
        vectorized(
            #[inline(always)]
            || run.output.iter_mut().zip(pairs).for_each(|(y, (a, b))| *y = a * b),
        );
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        for i in 0..2 {
            if let Some(target) = run.targets.get(i) {
                target.add2(run.seed, run.inputs.slice(1 - i), |s, other| s * other);
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
            for other in cases::awkward(3, m, n) {
                let leaves = [cases::matrix(1, m, n), other];
                gradcheck(&leaves, |t, x| t.product(x[0], x[1])).unwrap().assert_below(1e-9);
                gradcheck(&leaves, |t, x| t.product(x[1], x[1])).unwrap().assert_below(1e-9);
            }
        }
    }
}
