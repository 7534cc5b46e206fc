//! X = L⁻¹·B for lower-triangular L and B: lower-triangular again, at a third of the cost of a solve.
//!
//! Adjoints: Z = tril(L⁻ᵀX̄), B̄ += Z, L̄ −= tril(Z·Xᵀ).

use crate::dense::{Factor, Part, apply_to_rows, transpose_lower, transpose_upper};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Problem, Tape};
use faer::Accum;

impl Tape {
    /// L⁻¹·B for lower-triangular B.
    #[track_caller]
    pub fn lower_solve_lower(&mut self, l: Lower, b: Lower) -> Lower {
        let (n, m) = (l.size(), b.size());
        assert!(n == m, "lower_solve_lower: {n}×{n} and {m}×{m}");
        let memory = Memory { saved: 0, scratch: 2 * n * n };
        Lower(self.record(Box::new(LowerSolveLower), &[l.0, b.0], (n, n), memory))
    }
}

struct LowerSolveLower;

impl Operation for LowerSolveLower {
    fn name(&self) -> &'static str {
        "lower_solve_lower"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (n, l, b) = (run.rows, run.inputs.slice(0), run.inputs.slice(1));
        // Xᵀ = BᵀL⁻ᵀ
        let (bt, rest) = run.scratch.split_at_mut(n * n);
        let xt = &mut rest[..n * n];
        transpose_lower(b, bt, n);
        apply_to_rows(Factor::InverseTransposed, Part::Upper, xt, Accum::Replace, bt, n, l);
        transpose_upper(xt, run.output, n);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (n, l) = (run.rows, run.inputs.slice(0));
        let (z, rest) = run.scratch.split_at_mut(n * n);
        // Zᵀ = X̄ᵀL⁻¹
        let zt = &mut rest[..n * n];
        transpose_lower(run.seed, z, n);
        apply_to_rows(Factor::Inverse, Part::Upper, zt, Accum::Replace, z, n, l);
        transpose_upper(zt, z, n);
        if let Some(target) = run.targets.get(0) {
            let minus = zt;
            minus.iter_mut().zip(&*z).for_each(|(m, z)| *m = -z);
            apply_to_rows(Factor::Transposed, Part::Lower, target.values, target.accum, minus, n, run.output);
        }
        if let Some(target) = run.targets.get(1) {
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
                t.lower_solve_lower(l, b).matrix()
            });
            report.unwrap().assert_below(1e-6);
        }
    }

    #[test]
    fn a_factor_times_the_solution_is_the_right_hand_side() {
        let n = 70;
        let mut tape = Tape::new("solution");
        let nodes = [tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("d", n, 1), tape.leaf("e", n, n)];
        let (l, b) = (lower(&mut tape, nodes[0], nodes[1]), lower(&mut tape, nodes[2], nodes[3]));
        let x = tape.lower_solve_lower(l, b);
        let again = tape.matmul(l.matrix(), x.matrix());
        let mut run = tape.finish().workspace();
        nodes.iter().zip(leaves(n)).for_each(|(n, v)| run.set(*n, v.as_ref()).unwrap());
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert!((run.value(again) - run.value(b.matrix())).norm_max() < 1e-11);
        assert!((0..n).all(|j| (0..j).all(|i| run.value(x.matrix())[(i, j)] == 0.0)), "zero above the diagonal");
    }

    #[test]
    #[should_panic(expected = "lower_solve_lower: 2×2 and 3×3")]
    fn sizes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 2), tape.leaf("b", 3, 3));
        let (l, b) = (tape.cholesky(a), tape.cholesky(b));
        tape.lower_solve_lower(l, b);
    }
}
