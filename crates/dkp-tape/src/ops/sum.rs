//! y = Σ A_ij, and the mean. Adjoint: Ā_ij += ȳ, or ȳ/(mn).

use crate::operation::{Adjoint, Forward, Operation, sum};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// The sum of all elements.
    #[track_caller]
    pub fn sum(&mut self, a: Node) -> Node {
        self.record(Box::new(Sum { name: "sum", factor: 1.0 }), &[a], (1, 1), Memory::default())
    }

    /// The mean of all elements.
    #[track_caller]
    pub fn mean(&mut self, a: Node) -> Node {
        let factor = 1.0 / a.len() as f64;
        self.record(Box::new(Sum { name: "mean", factor }), &[a], (1, 1), Memory::default())
    }
}

struct Sum {
    name: &'static str,
    factor: f64,
}

impl Operation for Sum {
    fn name(&self) -> &'static str {
        self.name
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        run.output[0] = self.factor * sum(run.inputs.slice(0));
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        if let Some(target) = run.targets.get(0) {
            target.add_constant(self.factor * run.seed[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for a in cases::awkward(1, m, n) {
                let leaves = [a];
                gradcheck(&leaves, |t, x| t.sum(x[0])).unwrap().assert_below(1e-8);
                gradcheck(&leaves, |t, x| {
                    let (s, m) = (t.sum(x[0]), t.mean(x[0]));
                    t.product(s, m)
                })
                .unwrap()
                .assert_below(1e-6);
            }
        }
    }
}
