//! y = ‖L⁻¹B‖² for lower-triangular L and B: the trace tr((LLᵀ)⁻¹BBᵀ).
//!
//! Adjoint: with X = L⁻¹B and Z = 2ȳ·L⁻ᵀX, B̄ += tril(Z), L̄ −= tril(Z·Xᵀ). All is done with transposes, whose rows are X's columns.

use crate::dense::{Factor, Over, Part, apply_to_rows, clear_lower, lower_of_dots, transpose_lower, transpose_upper};
use crate::operation::{Adjoint, Forward, Operation, dot};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// ‖L⁻¹B‖².
    #[track_caller]
    pub fn lower_solve_lower_squared_norm(&mut self, l: Lower, b: Lower) -> Node {
        let (n, m) = (l.size(), b.size());
        assert!(n == m, "lower_solve_lower_squared_norm: {n}×{n} and {m}×{m}");
        let memory = Memory { saved: n * n, scratch: 2 * n * n };
        self.record(Box::new(LowerSolveLowerSquaredNorm { n }), &[l.0, b.0], (1, 1), memory)
    }
}

struct LowerSolveLowerSquaredNorm {
    n: usize,
}

impl Operation for LowerSolveLowerSquaredNorm {
    fn name(&self) -> &'static str {
        "lower_solve_lower_squared_norm"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let n = self.n;
        let (bt, xt) = (&mut run.scratch[..n * n], run.saved);
        transpose_lower(run.inputs.slice(1), bt, n);
        apply_to_rows(Factor::InverseTransposed, Part::Upper, xt, Accum::Replace, bt, n, run.inputs.slice(0));
        clear_lower(xt, n);
        run.output[0] = dot(xt, xt);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (n, factor) = (self.n, 2.0 * run.seed[0]);
        let (zt, rest) = run.scratch.split_at_mut(n * n);
        apply_to_rows(Factor::Inverse, Part::Upper, zt, Accum::Replace, run.saved, n, run.inputs.slice(0));
        clear_lower(zt, n);
        if let Some(target) = run.targets.get(0) {
            lower_of_dots(target.values, target.accum, zt, run.saved, n, -factor, Over::ToJ);
        }
        if let Some(target) = run.targets.get(1) {
            let z = &mut rest[..n * n];
            transpose_upper(zt, z, n);
            target.add1(z, |z| factor * z);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::cases::lower;
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Tape, random::Key};

    #[test]
    fn gradients() {
        for n in [1, 2, 5, 16, 17, 37] {
            let leaves =
                [cases::matrix(1, n, 1), cases::matrix(2, n, n), cases::matrix(3, n, 1), cases::matrix(4, n, n)];
            gradcheck(&leaves, |t, x| {
                let (l, b) = (lower(t, x[0], x[1]), lower(t, x[2], x[3]));
                t.lower_solve_lower_squared_norm(l, b)
            })
            .unwrap()
            .assert_below(1e-7);
            // twice, so that contributions are added
            gradcheck(&leaves, |t, x| {
                let (l, b) = (lower(t, x[0], x[1]), lower(t, x[2], x[3]));
                let (one, two) = (t.lower_solve_lower_squared_norm(l, b), t.lower_solve_lower_squared_norm(b, l));
                t.add(one, two)
            })
            .unwrap()
            .assert_below(1e-7);
        }
    }

    #[test]
    fn values_are_norms_of_quotients() {
        let n = 45;
        let mut tape = Tape::new("norms");
        let nodes = [tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("d", n, 1), tape.leaf("e", n, n)];
        let (l, b) = (lower(&mut tape, nodes[0], nodes[1]), lower(&mut tape, nodes[2], nodes[3]));
        let ours = tape.lower_solve_lower_squared_norm(l, b);
        let x = tape.lower_solve(l, b.matrix());
        let theirs = tape.squared_norm(x);
        let mut run = tape.finish().workspace();
        for (i, node) in nodes.into_iter().enumerate() {
            run.set(node, cases::matrix(i as u64, n, node.cols()).as_ref()).unwrap();
        }
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert!((run.scalar(ours) / run.scalar(theirs) - 1.0).abs() < 1e-13);
    }

    #[test]
    #[should_panic(expected = "lower_solve_lower_squared_norm: 2×2 and 3×3")]
    fn sizes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 2), tape.leaf("b", 3, 3));
        let (l, b) = (tape.cholesky(a), tape.cholesky(b));
        tape.lower_solve_lower_squared_norm(l, b);
    }
}
