//! Y = B + A·diag(d). Adjoints: B̄ += Ȳ, Ā += Ȳ·diag(d), d̄_j += Σ_i Ȳ_ij A_ij.

use super::{same_shape, vector};
use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation, dot};
use crate::{Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// B + A·diag(d): column j of A times d_j, added to B.
    #[track_caller]
    pub fn add_scaled_columns(&mut self, b: Node, a: Node, d: Node) -> Node {
        same_shape("add_scaled_columns", b, a);
        vector("add_scaled_columns", d, a.cols());
        self.record(Box::new(AddScaledColumns), &[b, a, d], (a.rows(), a.cols()), Memory::default())
    }
}

struct AddScaledColumns;

impl Operation for AddScaledColumns {
    fn name(&self) -> &'static str {
        "add_scaled_columns"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let [b, a] = [0, 1].map(|i| run.inputs.slice(i).chunks_exact(run.rows));
        let d = run.inputs.slice(2);
        vectorized(
            #[inline(always)]
            || {
                for (((y, b), a), d) in run.output.chunks_exact_mut(run.rows).zip(b).zip(a).zip(d) {
                    y.iter_mut().zip(b.iter().zip(a)).for_each(|(y, (b, a))| *y = d.mul_add(*a, *b));
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
                    for ((t, y), d) in target.values.chunks_exact_mut(run.rows).zip(columns()).zip(d) {
                        match accum {
                            Accum::Replace => t.iter_mut().zip(y).for_each(|(t, y)| *t = d * y),
                            Accum::Add => t.iter_mut().zip(y).for_each(|(t, y)| *t = d.mul_add(*y, *t)),
                        }
                    }
                },
            );
        }
        if let Some(target) = run.targets.get(2) {
            let sums = target.zeroed();
            for ((s, y), a) in sums.iter_mut().zip(columns()).zip(a.chunks_exact(run.rows)) {
                *s += dot(y, a);
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
            for a in cases::awkward(3, m, n) {
                let leaves = [cases::matrix(1, m, n), a, cases::matrix(2, 1, n)];
                gradcheck(&leaves, |t, x| t.add_scaled_columns(x[0], x[1], x[2])).unwrap().assert_below(1e-9);
                // twice, so that the second contribution is added
                gradcheck(&leaves, |t, x| {
                    let y = t.add_scaled_columns(x[0], x[1], x[2]);
                    t.add_scaled_columns(y, y, x[2])
                })
                .unwrap()
                .assert_below(1e-8);
            }
        }
    }

    #[test]
    #[should_panic(expected = "add_scaled_columns: a vector of 3 elements is expected, not 1×2")]
    fn a_vector_of_the_wrong_length_is_named() {
        let mut tape = crate::Tape::new("misuse");
        let (a, d) = (tape.leaf("a", 2, 3), tape.leaf("d", 1, 2));
        tape.add_scaled_columns(a, a, d);
    }
}
