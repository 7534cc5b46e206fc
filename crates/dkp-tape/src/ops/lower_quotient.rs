//! X = L⁻¹·B and X = B·L⁻¹ for lower-triangular L and B: lower-triangular again, at a third of the cost of a solve.
//!
//! Adjoints: Z = tril(L⁻ᵀX̄), B̄ += Z, L̄ −= tril(Z·Xᵀ); and Z = tril(X̄L⁻ᵀ), B̄ += Z, L̄ −= tril(Xᵀ·Z).

use crate::dense::{Factor, Over, Part, apply_to_rows, clear_upper, lower_of_dots};
use crate::dense::{transpose_lower, transpose_upper};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Problem, Tape};
use faer::Accum;

impl Tape {
    /// L⁻¹·B.
    #[track_caller]
    pub fn lower_solve(&mut self, l: Lower, b: Lower) -> Lower {
        self.record_quotient(Order::Solve, l, b)
    }

    /// B·L⁻¹.
    #[track_caller]
    pub fn lower_divide(&mut self, b: Lower, l: Lower) -> Lower {
        self.record_quotient(Order::Divide, l, b)
    }

    #[track_caller]
    fn record_quotient(&mut self, order: Order, l: Lower, b: Lower) -> Lower {
        let n = l.size();
        let op = Quotient { order };
        let m = b.size();
        assert!(n == m, "{}: {n}×{n} and {m}×{m}", op.name());
        let memory = match order {
            Order::Solve => Memory { saved: 0, scratch: 2 * n * n },
            Order::Divide => Memory { saved: 0, scratch: n * n },
        };
        Lower(self.record(Box::new(op), &[l.0, b.0], (n, n), memory))
    }
}

#[derive(Clone, Copy)]
enum Order {
    /// L⁻¹·B
    Solve,
    /// B·L⁻¹
    Divide,
}

struct Quotient {
    order: Order,
}

impl Operation for Quotient {
    fn name(&self) -> &'static str {
        match self.order {
            Order::Solve => "lower_solve",
            Order::Divide => "lower_divide",
        }
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (n, l, b) = (run.rows, run.inputs.slice(0), run.inputs.slice(1));
        match self.order {
            Order::Solve => {
                // Xᵀ = BᵀL⁻ᵀ
                let (bt, rest) = run.scratch.split_at_mut(n * n);
                let xt = &mut rest[..n * n];
                transpose_lower(b, bt, n);
                apply_to_rows(Factor::InverseTransposed, Part::Upper, xt, Accum::Replace, bt, n, l);
                transpose_upper(xt, run.output, n);
            }
            Order::Divide => {
                apply_to_rows(Factor::Inverse, Part::Lower, run.output, Accum::Replace, b, n, l);
                clear_upper(run.output, n);
            }
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (n, l) = (run.rows, run.inputs.slice(0));
        let (z, rest) = run.scratch.split_at_mut(n * n);
        match self.order {
            Order::Solve => {
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
            }
            Order::Divide => {
                apply_to_rows(Factor::InverseTransposed, Part::Lower, z, Accum::Replace, run.seed, n, l);
                clear_upper(z, n);
                if let Some(target) = run.targets.get(0) {
                    lower_of_dots(target.values, target.accum, run.output, z, n, -1.0, Over::FromI);
                }
            }
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
            for divide in [false, true] {
                let report = gradcheck(&leaves(n), |t, x| {
                    let (l, b) = (lower(t, x[0], x[1]), lower(t, x[2], x[3]));
                    if divide { t.lower_divide(b, l).matrix() } else { t.lower_solve(l, b).matrix() }
                });
                report.unwrap().assert_below(1e-6);
            }
        }
    }

    #[test]
    fn quotients_times_divisors_are_the_dividends() {
        let n = 70;
        let mut tape = Tape::new("quotients");
        let nodes = [tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("d", n, 1), tape.leaf("e", n, n)];
        let (l, b) = (lower(&mut tape, nodes[0], nodes[1]), lower(&mut tape, nodes[2], nodes[3]));
        let (solved, divided) = (tape.lower_solve(l, b), tape.lower_divide(b, l));
        let again = [tape.matmul(l.matrix(), solved.matrix()), tape.matmul(divided.matrix(), l.matrix())];
        let mut run = tape.finish().workspace();
        nodes.iter().zip(leaves(n)).for_each(|(n, v)| run.set(*n, v.as_ref()).unwrap());
        run.forward(Key::new(0), Pass::Value).unwrap();
        for node in again {
            assert!((run.value(node) - run.value(b.matrix())).norm_max() < 1e-11);
        }
        for x in [solved, divided] {
            assert!((0..n).all(|j| (0..j).all(|i| run.value(x.matrix())[(i, j)] == 0.0)), "zero above the diagonal");
        }
    }
}
