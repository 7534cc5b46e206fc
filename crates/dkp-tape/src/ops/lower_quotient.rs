//! X = L⁻¹·B and X = B·L⁻¹ for lower-triangular L and B: lower-triangular again, at a third of the cost of a solve.
//!
//! Adjoints: Z = tril(L⁻ᵀX̄), B̄ += Z, L̄ −= tril(Z·Xᵀ); and Z = tril(X̄L⁻ᵀ), B̄ += Z, L̄ −= tril(Xᵀ·Z).

use crate::dense::{
    clear_upper, divide_lower_in_place, divide_transposed_lower_in_place, lower_of_product, lower_of_upper_times,
    solve_lower_in_place, solve_transposed_lower_in_place,
};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Problem, Tape};
use faer::{MatMut, MatRef};

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
        Lower(self.record(Box::new(op), &[l.0, b.0], (n, n), Memory { saved: 0, scratch: n * n }))
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

    fn forward(&self, mut run: Forward<'_>) -> Result<(), Problem> {
        run.output.copy_from_slice(run.inputs.slice(1));
        let l = run.inputs.matrix(0);
        match self.order {
            Order::Solve => solve_lower_in_place(l, run.output_matrix()),
            Order::Divide => divide_lower_in_place(run.output_matrix(), l),
        }
        // a panel's solve rounds zeros to zeros, but let no sign or stray value remain
        clear_upper(run.output, run.rows);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let n = run.rows;
        let l = run.inputs.matrix(0);
        let x = MatRef::from_column_major_slice(run.output, n, n);
        let z = &mut run.scratch[..n * n];
        z.copy_from_slice(run.seed);
        clear_upper(z, n);
        let matrix = MatMut::from_column_major_slice_mut(z, n, n);
        match self.order {
            Order::Solve => solve_transposed_lower_in_place(l, matrix),
            Order::Divide => divide_transposed_lower_in_place(matrix, l),
        }
        clear_upper(z, n);
        if let Some(target) = run.targets.get(0) {
            let z = MatRef::from_column_major_slice(z, n, n);
            let (dst, accum) = target.matrix();
            match self.order {
                Order::Solve => lower_of_product(dst, accum, z, x, -1.0),
                Order::Divide => lower_of_upper_times(dst, accum, x, z, -1.0),
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

    /// A lower-triangular matrix with a diagonal of at least 1.
    fn lower(tape: &mut Tape, d: Node, e: Node) -> Lower {
        let squared = tape.square(d);
        let diagonal = tape.affine(squared, 1.0, 1.0);
        let below = tape.affine(e, 0.3, 0.0);
        tape.lower(diagonal, below)
    }

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
