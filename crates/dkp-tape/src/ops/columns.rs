//! n_j = ‖a_j‖² and p_j = a_jᵀb_j over columns. Adjoints: ā_j += 2n̄_j·a_j; ā_j += p̄_j·b_j, b̄_j += p̄_j·a_j.

use super::same_shape;
use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation, sum_of};
use crate::{Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// The squared norm of every column, as a row.
    #[track_caller]
    pub fn column_norms(&mut self, a: Node) -> Node {
        self.column_dots(a, a)
    }

    /// The dot product of every column of A with the same column of B, as a row.
    #[track_caller]
    pub fn column_dots(&mut self, a: Node, b: Node) -> Node {
        same_shape("column_dots", a, b);
        self.record(Box::new(ColumnDots), &[a, b], (1, a.cols()), Memory::default())
    }
}

struct ColumnDots;

impl Operation for ColumnDots {
    fn name(&self) -> &'static str {
        "column_dots"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (a, b) = (run.inputs.slice(0), run.inputs.slice(1));
        let rows = a.len() / run.output.len();
        vectorized(
            #[inline(always)]
            || {
                for (y, (a, b)) in run.output.iter_mut().zip(a.chunks_exact(rows).zip(b.chunks_exact(rows))) {
                    *y = sum_of(a, b, |a, b, s| a.mul_add(b, s));
                }
            },
        );
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        // a norm is a product with itself: one contribution, doubled
        let (arguments, factor) = if run.inputs.arguments[0] == run.inputs.arguments[1] { (1, 2.0) } else { (2, 1.0) };
        for i in 0..arguments {
            let other = run.inputs.slice(1 - i);
            let Some(target) = run.targets.get(i) else { continue };
            let (rows, accum) = (target.rows, target.accum);
            vectorized(
                #[inline(always)]
                || {
                    let columns = target.values.chunks_exact_mut(rows).zip(other.chunks_exact(rows));
                    for ((t, other), s) in columns.zip(run.seed) {
                        let s = factor * s;
                        match accum {
                            Accum::Replace => t.iter_mut().zip(other).for_each(|(t, o)| *t = s * o),
                            Accum::Add => t.iter_mut().zip(other).for_each(|(t, o)| *t = s.mul_add(*o, *t)),
                        }
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
            for b in cases::awkward(1, m, n).into_iter().chain([cases::matrix(3, m, n)]) {
                let leaves = [cases::matrix(2, m, n), b];
                gradcheck(&leaves, |t, x| t.column_norms(x[1])).unwrap().assert_below(1e-9);
                gradcheck(&leaves, |t, x| t.column_dots(x[0], x[1])).unwrap().assert_below(1e-8);
                gradcheck(&leaves, |t, x| {
                    let (d, n) = (t.column_dots(x[0], x[1]), t.column_norms(x[0]));
                    t.product(d, n)
                })
                .unwrap()
                .assert_below(1e-8);
            }
        }
    }
}
