//! X = L⁻¹B and X = L⁻ᵀB for a lower-triangular L.
//!
//! Adjoints: B̄ += Z with Z = L⁻ᵀX̄ (or L⁻¹X̄), and L̄ −= tril(Z·Xᵀ) (or tril(X·Zᵀ)).

use crate::dense::{Side, lower_product, solve_in_place};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::{MatMut, MatRef};

impl Tape {
    /// L⁻¹·B.
    #[track_caller]
    pub fn lower_solve(&mut self, l: Lower, b: Node) -> Node {
        self.record_lower_solve(Side::Lower, l, b)
    }

    /// L⁻ᵀ·B.
    #[track_caller]
    pub fn lower_transposed_solve(&mut self, l: Lower, b: Node) -> Node {
        self.record_lower_solve(Side::Transposed, l, b)
    }

    #[track_caller]
    fn record_lower_solve(&mut self, side: Side, l: Lower, b: Node) -> Node {
        let op = LowerSolve { side };
        assert!(l.size() == b.rows(), "{}: factor of {} rows, right-hand side {}", op.name(), l.size(), b.shape());
        let memory = Memory { saved: 0, scratch: b.len() };
        self.record(Box::new(op), &[l.0, b], (b.rows(), b.cols()), memory)
    }
}

struct LowerSolve {
    side: Side,
}

impl Operation for LowerSolve {
    fn name(&self) -> &'static str {
        match self.side {
            Side::Lower => "lower_solve",
            Side::Transposed => "lower_transposed_solve",
        }
    }

    fn forward(&self, mut run: Forward<'_>) -> Result<(), Problem> {
        run.output.copy_from_slice(run.inputs.slice(1));
        let l = run.inputs.matrix(0);
        solve_in_place(self.side, l, run.output_matrix());
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (rows, cols) = (run.rows, run.seed.len() / run.rows);
        let z = &mut run.scratch[..run.seed.len()];
        z.copy_from_slice(run.seed);
        let other = match self.side {
            Side::Lower => Side::Transposed,
            Side::Transposed => Side::Lower,
        };
        solve_in_place(other, run.inputs.matrix(0), MatMut::from_column_major_slice_mut(z, rows, cols));
        if let Some(target) = run.targets.get(0) {
            let x = MatRef::from_column_major_slice(run.output, rows, cols);
            let z = MatRef::from_column_major_slice(z, rows, cols);
            let (dst, accum) = target.matrix();
            match self.side {
                Side::Lower => lower_product(dst, accum, z, x.transpose(), -1.0),
                Side::Transposed => lower_product(dst, accum, x, z.transpose(), -1.0),
            }
        }
        if let Some(target) = run.targets.get(1) {
            target.add1(z, |z| z);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Lower, Node, Pass, Tape, random::Key};
    use faer::Mat;

    /// The Cholesky factor of XXᵀ + shift·I.
    fn factor(tape: &mut Tape, x: Node, shift: f64) -> Lower {
        let s = tape.symmetric_product(x);
        let shift = tape.number(shift);
        let a = tape.add_diagonal(s, shift);
        tape.cholesky(a)
    }

    /// Condition number of about 1e6, which leaves the finite differences four digits.
    #[test]
    fn gradients_with_a_nearly_singular_factor() {
        let leaves = [cases::matrix(1, 20, 10), cases::matrix(2, 20, 7)];
        for solve in [Tape::lower_solve, Tape::lower_transposed_solve] {
            let report = gradcheck(&leaves, |t, x| {
                let l = factor(t, x[0], 1e-5);
                solve(t, l, x[1])
            });
            report.unwrap().assert_below(1e-4);
        }
    }

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for b in cases::awkward(3, m, n).into_iter().chain([cases::matrix(2, m, n)]) {
                let leaves = [cases::matrix(1, m, m), b];
                gradcheck(&leaves, |t, x| {
                    let l = factor(t, x[0], 1.0);
                    t.lower_solve(l, x[1])
                })
                .unwrap()
                .assert_below(1e-6);
                gradcheck(&leaves, |t, x| {
                    let l = factor(t, x[0], 1.0);
                    t.lower_transposed_solve(l, x[1])
                })
                .unwrap()
                .assert_below(1e-6);
            }
        }
    }

    /// Independently: d(L⁻¹B) = −L⁻¹·dL·L⁻¹B, by plain substitution, for single elements of L and of B.
    #[test]
    fn adjoints_agree_with_the_forward_derivative() {
        let (m, n) = (35, 9);
        let noise = cases::matrix(8, m, m);
        let l = Mat::from_fn(m, m, |i, j| {
            if i == j {
                2.0
            } else if i > j {
                0.2 * noise[(i, j)]
            } else {
                0.0
            }
        });
        let b = cases::matrix(9, m, n);
        let substitute = |transposed: bool, mut b: Vec<f64>| {
            for s in 0..m {
                let i = if transposed { m - 1 - s } else { s };
                let at = |i: usize, k: usize| if transposed { l[(k, i)] } else { l[(i, k)] };
                let others: f64 = if transposed { i + 1..m } else { 0..i }.map(|k| at(i, k) * b[k]).sum();
                b[i] = (b[i] - others) / l[(i, i)];
            }
            b
        };
        for transposed in [false, true] {
            let mut tape = Tape::new("solves");
            let (d, e) = (tape.leaf("diagonal", m, 1), tape.leaf("below", m, m));
            let rhs = tape.leaf("b", m, n);
            let lower = tape.lower(d, e);
            let x = if transposed { tape.lower_transposed_solve(lower, rhs) } else { tape.lower_solve(lower, rhs) };
            let weights: Vec<f64> = (0..m * n).map(|e| (0.7 * e as f64).sin()).collect();
            let w = tape.constant(m, n, &weights);
            let p = tape.product(w, x);
            let f = tape.sum(p);
            tape.output("f", f);
            let mut run = tape.finish().workspace();
            run.set_slice(d, &vec![2.0; m]).unwrap();
            run.set(e, l.as_ref()).unwrap();
            run.set(rhs, b.as_ref()).unwrap();
            run.forward(Key::new(0), Pass::Gradient).unwrap();
            run.backward(&[1.0]).unwrap();
            let solution: Vec<Vec<f64>> =
                (0..n).map(|j| substitute(transposed, (0..m).map(|i| b[(i, j)]).collect())).collect();
            for (j, column) in solution.iter().enumerate() {
                for (i, value) in column.iter().enumerate() {
                    assert!((run.value(x)[(i, j)] - value).abs() < 1e-13);
                }
            }
            for (r, c) in [(0, 0), (34, 34), (20, 3), (17, 16), (34, 0)] {
                let mut expected = 0.0;
                for (j, column) in solution.iter().enumerate() {
                    let mut change = vec![0.0; m];
                    if transposed {
                        change[c] = -column[r];
                    } else {
                        change[r] = -column[c];
                    }
                    let change = substitute(transposed, change);
                    expected += (0..m).map(|i| weights[j * m + i] * change[i]).sum::<f64>();
                }
                let ours = if r == c { run.gradient(d)[(r, 0)] } else { run.gradient(e)[(r, c)] };
                assert!((ours - expected).abs() < 1e-12, "({r}, {c}): {ours} and {expected}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "lower_solve: factor of 2 rows, right-hand side 3×1")]
    fn shapes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 2), tape.leaf("b", 3, 1));
        let l = tape.cholesky(a);
        tape.lower_solve(l, b);
    }
}
