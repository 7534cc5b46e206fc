//! Y = B + diag(d)·A. Adjoints: B̄ += Ȳ, Ā += diag(d)·Ȳ, d̄_p += Σ_j Ȳ_pj A_pj.

use super::{same_shape, vector};
use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// B + diag(d)·A: row p of A times d_p, added to B.
    #[track_caller]
    pub fn add_scaled_rows(&mut self, b: Node, a: Node, d: Node) -> Node {
        same_shape("add_scaled_rows", b, a);
        vector("add_scaled_rows", d, a.rows());
        self.record(Box::new(AddScaledRows), &[b, a, d], (a.rows(), a.cols()), Memory::default())
    }
}

struct AddScaledRows;

impl Operation for AddScaledRows {
    fn name(&self) -> &'static str {
        "add_scaled_rows"
    }

    fn passes(&self) -> Option<usize> {
        Some(0)
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let [b, a] = [0, 1].map(|i| run.inputs.slice(i).chunks_exact(run.rows));
        let d = run.inputs.slice(2);
        vectorized(
            #[inline(always)]
            || {
                for ((y, b), a) in run.output.chunks_exact_mut(run.rows).zip(b).zip(a) {
                    for (((y, b), a), d) in y.iter_mut().zip(b).zip(a).zip(d) {
                        *y = d.mul_add(*a, *b);
                    }
                }
            },
        );
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (a, d) = (run.inputs.slice(1), run.inputs.slice(2));
        let columns = || run.seed.chunks_exact(run.rows);
        if let Some(target) = run.targets.get(0) {
            target.add1(run.seed, |s| s);
        }
        if let Some(target) = run.targets.get(1) {
            let accum = target.accum;
            vectorized(
                #[inline(always)]
                || {
                    for (t, y) in target.values.chunks_exact_mut(run.rows).zip(columns()) {
                        let terms = t.iter_mut().zip(y.iter().zip(d));
                        match accum {
                            Accum::Replace => terms.for_each(|(t, (y, d))| *t = d * y),
                            Accum::Add => terms.for_each(|(t, (y, d))| *t = d.mul_add(*y, *t)),
                        }
                    }
                },
            );
        }
        if let Some(target) = run.targets.get(2) {
            let sums = target.zeroed();
            vectorized(
                #[inline(always)]
                || {
                    for (y, a) in columns().zip(a.chunks_exact(run.rows)) {
                        sums.iter_mut().zip(y.iter().zip(a)).for_each(|(s, (y, a))| *s = y.mul_add(*a, *s));
                    }
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for a in cases::awkward(3, m, n) {
                let leaves = [cases::matrix(1, m, n), a, cases::matrix(2, m, 1)];
                gradcheck(&leaves, |t, x| t.add_scaled_rows(x[0], x[1], x[2])).unwrap().assert_below(1e-9);
                // twice, so that the second contribution is added
                gradcheck(&leaves, |t, x| {
                    let y = t.add_scaled_rows(x[0], x[1], x[2]);
                    t.add_scaled_rows(y, y, x[2])
                })
                .unwrap()
                .assert_below(1e-8);
            }
        }
    }

    #[test]
    #[should_panic(expected = "add_scaled_rows: a vector of 2 elements is expected, not 1×3")]
    fn a_vector_of_the_wrong_length_is_named() {
        let mut tape = crate::Tape::new("misuse");
        let (a, d) = (tape.leaf("a", 2, 3), tape.leaf("d", 1, 3));
        tape.add_scaled_rows(a, a, d);
    }
}
