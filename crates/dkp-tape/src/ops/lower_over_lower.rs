//! X = B·L⁻¹ for lower-triangular L and B: lower-triangular again, at a third of the cost of a solve.
//!
//! Adjoints: Z = tril(X̄L⁻ᵀ), B̄ += Z, L̄ −= tril(Xᵀ·Z).

use crate::dense::{Factor, Over, Part, apply_to_rows, clear_upper, lower_of_dots};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Problem, Tape};
use faer::Accum;

impl Tape {
    /// B·L⁻¹ for lower-triangular B.
    #[track_caller]
    pub fn lower_over_lower(&mut self, b: Lower, l: Lower) -> Lower {
        let (m, n) = (b.size(), l.size());
        assert!(m == n, "lower_over_lower: {m}×{m} and {n}×{n}");
        let memory = Memory { saved: 0, scratch: n * n };
        Lower(self.record(Box::new(LowerOverLower), &[b.0, l.0], (n, n), memory))
    }
}

struct LowerOverLower;

impl Operation for LowerOverLower {
    fn name(&self) -> &'static str {
        "lower_over_lower"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (n, b, l) = (run.rows, run.inputs.slice(0), run.inputs.slice(1));
        apply_to_rows(Factor::Inverse, Part::Lower, run.output, Accum::Replace, b, n, l);
        clear_upper(run.output, n);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (n, l) = (run.rows, run.inputs.slice(1));
        let z = &mut run.scratch[..n * n];
        apply_to_rows(Factor::InverseTransposed, Part::Lower, z, Accum::Replace, run.seed, n, l);
        clear_upper(z, n);
        if let Some(target) = run.targets.get(1) {
            lower_of_dots(target.values, target.accum, run.output, z, n, -1.0, Over::FromI);
        }
        if let Some(target) = run.targets.get(0) {
            target.add1(z, |z| z);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::cases::lower;
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Tape, random::Key};
    use faer::Mat;

    fn leaves(n: usize) -> [Mat<f64>; 4] {
        [cases::matrix(1, n, 1), cases::matrix(2, n, n), cases::matrix(3, n, 1), cases::matrix(4, n, n)]
    }

    #[test]
    fn gradients() {
        for n in [1, 2, 5, 16, 17, 37] {
            let report = gradcheck(&leaves(n), |t, x| {
                let (l, b) = (lower(t, x[0], x[1]), lower(t, x[2], x[3]));
                t.lower_over_lower(b, l).matrix()
            });
            report.unwrap().assert_below(1e-6);
        }
    }

    #[test]
    fn a_quotient_times_its_divisor_is_the_dividend() {
        let n = 70;
        let mut tape = Tape::new("quotient");
        let nodes = [tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("d", n, 1), tape.leaf("e", n, n)];
        let (l, b) = (lower(&mut tape, nodes[0], nodes[1]), lower(&mut tape, nodes[2], nodes[3]));
        let x = tape.lower_over_lower(b, l);
        let again = tape.matmul(x.matrix(), l.matrix());
        let mut run = tape.finish().workspace();
        nodes.iter().zip(leaves(n)).for_each(|(n, v)| run.set(*n, v.as_ref()).unwrap());
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert!((run.value(again) - run.value(b.matrix())).norm_max() < 1e-11);
        assert!((0..n).all(|j| (0..j).all(|i| run.value(x.matrix())[(i, j)] == 0.0)), "zero above the diagonal");
    }

    #[test]
    #[should_panic(expected = "lower_over_lower: 3×3 and 2×2")]
    fn sizes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 2), tape.leaf("b", 3, 3));
        let (l, b) = (tape.cholesky(a), tape.cholesky(b));
        tape.lower_over_lower(b, l);
    }
}
