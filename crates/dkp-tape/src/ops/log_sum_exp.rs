//! y_j = ln Σ_i exp A_ij over columns, shifted by the column's maximum. Adjoint: Ā_ij += ȳ_j·exp(A_ij − y_j).

use crate::math::{exp, vectorized};
use crate::operation::{Adjoint, Forward, Operation, sum_of};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// The logarithm of the summed exponentials of every column, as a row.
    #[track_caller]
    pub fn log_sum_exp(&mut self, a: Node) -> Node {
        self.record(Box::new(LogSumExp), &[a], (1, a.cols()), Memory::default())
    }
}

struct LogSumExp;

impl Operation for LogSumExp {
    fn name(&self) -> &'static str {
        "log_sum_exp"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.slice(0);
        let rows = a.len() / run.output.len();
        for (y, column) in run.output.iter_mut().zip(a.chunks_exact(rows)) {
            let largest = column.iter().fold(f64::NEG_INFINITY, |m, &x| m.max(x));
            let total = vectorized(
                #[inline(always)]
                || sum_of(column, column, |x, _, s| s + exp(x - largest)),
            );
            *y = largest + total.ln();
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let a = run.inputs.slice(0);
        let Some(target) = run.targets.get(0) else { return };
        let rows = target.rows;
        let columns = target.zeroed().chunks_exact_mut(rows).zip(a.chunks_exact(rows));
        for ((t, a), (y, s)) in columns.zip(run.output.iter().zip(run.seed)) {
            vectorized(
                #[inline(always)]
                || t.iter_mut().zip(a).for_each(|(t, a)| *t += s * exp(a - y)),
            );
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
                gradcheck(&[a], |t, x| t.log_sum_exp(x[0])).unwrap().assert_below(1e-6);
            }
        }
    }

    #[test]
    fn large_values_do_not_overflow() {
        let mut tape = Tape::new("large");
        let x = tape.leaf("x", 2, 1);
        let y = tape.log_sum_exp(x);
        let mut run = tape.finish().workspace();
        run.set_slice(x, &[1e4, 1e4]).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert!((run.scalar(y) - 1e4 - 2_f64.ln()).abs() < 1e-11);
    }
}
