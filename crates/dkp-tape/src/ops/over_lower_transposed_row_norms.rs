//! n_p = ‖L⁻¹x_p‖² for the rows x_p of X.
//!
//! Adjoint: with Y = X·L⁻ᵀ and Z = 2diag(n̄)·Y·L⁻¹, X̄ += Z, L̄ −= tril(ZᵀY).

use super::over_lower_transposed::carry_back;
use super::row_norms::norms;
use crate::dense::{Factor, Part, apply_to_rows, divide_scaled_rows};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// The squared norm of L⁻¹x for every row x of X, as a row: what [`over_lower_transposed`](Tape::over_lower_transposed) and
    /// [`row_norms`](Tape::row_norms) give, with one pass over a matrix less.
    #[track_caller]
    pub fn over_lower_transposed_row_norms(&mut self, x: Node, l: Lower) -> Node {
        let n = l.size();
        assert!(n == x.cols(), "over_lower_transposed_row_norms: {} and {n}×{n}", x.shape());
        let memory = Memory { saved: x.len(), scratch: x.len() + x.rows() };
        self.record(Box::new(OverLowerTransposedRowNorms), &[x, l.0], (1, x.rows()), memory)
    }
}

struct OverLowerTransposedRowNorms;

impl Operation for OverLowerTransposedRowNorms {
    fn name(&self) -> &'static str {
        "over_lower_transposed_row_norms"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (x, l, rows) = (run.inputs.slice(0), run.inputs.slice(1), run.output.len());
        apply_to_rows(Factor::InverseTransposed, Part::All, run.saved, Accum::Replace, x, rows, l);
        norms(run.output, run.saved);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (l, y, rows) = (run.inputs.slice(1), run.saved, run.seed.len());
        let (scales, scratch) = run.scratch.split_at_mut(rows);
        scales.iter_mut().zip(run.seed).for_each(|(s, n)| *s = 2.0 * n);
        let quotient = |z: &mut [f64]| divide_scaled_rows(z, y, scales, l);
        carry_back(&mut run.targets, scratch, y, rows, quotient);
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::cases::lower;
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Tape, random::Key};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for x in cases::awkward(3, n, m).into_iter().chain([cases::matrix(2, n, m)]) {
                let leaves = [cases::matrix(1, m, 1), cases::matrix(4, m, m), x];
                let report = gradcheck(&leaves, |t, x| {
                    let l = lower(t, x[0], x[1]);
                    t.over_lower_transposed_row_norms(x[2], l)
                });
                report.unwrap().assert_below(1e-7);
                // of a factor itself
                let report = gradcheck(&leaves[..2], |t, x| {
                    let l = lower(t, x[0], x[1]);
                    t.over_lower_transposed_row_norms(l.matrix(), l)
                });
                report.unwrap().assert_below(1e-6);
                // where X has a gradient from elsewhere already
                let report = gradcheck(&leaves, |t, x| {
                    let l = lower(t, x[0], x[1]);
                    let norms = t.over_lower_transposed_row_norms(x[2], l);
                    let others = t.row_norms(x[2]);
                    t.product(norms, others)
                });
                report.unwrap().assert_below(1e-6);
            }
        }
    }

    /// Against the quotient and its norms, for sizes around those of vectors and strips.
    #[test]
    fn values_are_those_of_the_quotient() {
        for (points, n) in [(1, 1), (7, 3), (8, 4), (31, 8), (57, 29), (50, 100)] {
            let mut tape = Tape::new("norms");
            let leaves = [tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("x", points, n)];
            let l = lower(&mut tape, leaves[0], leaves[1]);
            let quotient = tape.over_lower_transposed(leaves[2], l);
            let (theirs, ours) = (tape.row_norms(quotient), tape.over_lower_transposed_row_norms(leaves[2], l));
            let mut run = tape.finish().workspace();
            run.set(leaves[0], cases::matrix(1, n, 1).as_ref()).unwrap();
            run.set(leaves[1], (cases::matrix(2, n, n) * faer::Scale(3.0 / n as f64)).as_ref()).unwrap();
            run.set(leaves[2], cases::matrix(3, points, n).as_ref()).unwrap();
            run.forward(Key::new(0), Pass::Value).unwrap();
            assert_eq!(run.value(ours), run.value(theirs), "{points} points, {n}");
        }
    }

    #[test]
    #[should_panic(expected = "over_lower_transposed_row_norms: 3×1 and 2×2")]
    fn shapes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 2), tape.leaf("b", 3, 1));
        let l = tape.cholesky(a);
        tape.over_lower_transposed_row_norms(b, l);
    }
}
