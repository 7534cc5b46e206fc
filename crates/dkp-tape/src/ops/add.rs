//! Y = αA + βB, and Y = αA + β for fixed numbers α, β. Adjoints: Ā += αȲ, B̄ += βȲ.

use super::same_shape;
use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// A + B.
    #[track_caller]
    pub fn add(&mut self, a: Node, b: Node) -> Node {
        self.combination("add", a, b, 1.0)
    }

    /// A − B.
    #[track_caller]
    pub fn subtract(&mut self, a: Node, b: Node) -> Node {
        self.combination("subtract", a, b, -1.0)
    }

    /// α·A + β, element by element, for fixed numbers.
    #[track_caller]
    pub fn affine(&mut self, a: Node, alpha: f64, beta: f64) -> Node {
        assert!(alpha.is_finite() && beta.is_finite(), "affine: {alpha}·A + {beta} is not finite");
        self.record(Box::new(Affine { alpha, beta }), &[a], (a.rows(), a.cols()), Memory::default())
    }

    #[track_caller]
    fn combination(&mut self, name: &'static str, a: Node, b: Node, beta: f64) -> Node {
        same_shape(name, a, b);
        self.record(Box::new(Combination { name, beta }), &[a, b], (a.rows(), a.cols()), Memory::default())
    }
}

struct Combination {
    name: &'static str,
    beta: f64,
}

impl Operation for Combination {
    fn name(&self) -> &'static str {
        self.name
    }

    fn passes(&self) -> Option<usize> {
        Some(0)
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let pairs = run.inputs.slice(0).iter().zip(run.inputs.slice(1));
        vectorized(
            #[inline(always)]
            || run.output.iter_mut().zip(pairs).for_each(|(y, (a, b))| *y = self.beta.mul_add(*b, *a)),
        );
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        if let Some(a) = run.targets.get(0) {
            a.add1(run.seed, |s| s);
        }
        if let Some(b) = run.targets.get(1) {
            b.add1(run.seed, |s| self.beta * s);
        }
    }
}

struct Affine {
    alpha: f64,
    beta: f64,
}

impl Operation for Affine {
    fn name(&self) -> &'static str {
        "affine"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.slice(0);
        vectorized(
            #[inline(always)]
            || run.output.iter_mut().zip(a).for_each(|(y, a)| *y = self.alpha.mul_add(*a, self.beta)),
        );
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        if let Some(a) = run.targets.get(0) {
            a.add1(run.seed, |s| self.alpha * s);
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
            let leaves = [scaled, cases::matrix(2, m, n)];
            gradcheck(&leaves, |t, x| t.add(x[0], x[1])).unwrap().assert_below(1e-9);
            gradcheck(&leaves, |t, x| t.subtract(x[0], x[1])).unwrap().assert_below(1e-9);
            gradcheck(&leaves, |t, x| t.add(x[0], x[0])).unwrap().assert_below(1e-9);
            gradcheck(&leaves[..1], |t, x| t.affine(x[0], -2.5, 3.0)).unwrap().assert_below(1e-9);
        }
    }
}
