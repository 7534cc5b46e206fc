//! n_p = Σ_j a_pj² over rows. Adjoint: ā_pj += 2n̄_p·a_pj.

use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// The squared norm of every row, as a row.
    #[track_caller]
    pub fn row_norms(&mut self, a: Node) -> Node {
        self.record(Box::new(RowNorms), &[a], (1, a.rows()), Memory::default())
    }
}

/// Σ_j a_pj².
pub(super) fn norms(sums: &mut [f64], a: &[f64]) {
    vectorized(
        #[inline(always)]
        || {
            sums.fill(0.0);
            for column in a.chunks_exact(sums.len()) {
                sums.iter_mut().zip(column).for_each(|(s, a)| *s = a.mul_add(*a, *s));
            }
        },
    );
}

struct RowNorms;

impl Operation for RowNorms {
    fn name(&self) -> &'static str {
        "row_norms"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        norms(run.output, run.inputs.slice(0));
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (a, seed) = (run.inputs.slice(0), run.seed);
        let Some(target) = run.targets.get(0) else { return };
        let accum = target.accum;
        vectorized(
            #[inline(always)]
            || {
                let columns = target.values.chunks_exact_mut(seed.len()).zip(a.chunks_exact(seed.len()));
                for (t, a) in columns {
                    let terms = t.iter_mut().zip(a.iter().zip(seed));
                    match accum {
                        Accum::Replace => terms.for_each(|(t, (a, s))| *t = 2.0 * s * a),
                        Accum::Add => terms.for_each(|(t, (a, s))| *t = (2.0 * s).mul_add(*a, *t)),
                    }
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for a in cases::awkward(1, m, n).into_iter().chain([cases::matrix(3, m, n)]) {
                gradcheck(std::slice::from_ref(&a), |t, x| t.row_norms(x[0])).unwrap().assert_below(1e-9);
                // a second contribution is added
                gradcheck(&[a], |t, x| {
                    let (n, square) = (t.row_norms(x[0]), t.square(x[0]));
                    let total = t.sum(square);
                    t.scale(total, n)
                })
                .unwrap()
                .assert_below(1e-8);
            }
        }
    }
}
