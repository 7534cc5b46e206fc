//! Y = L·X and Y = Lᵀ·X for a lower-triangular L, at half the cost of a product.
//!
//! Adjoints: X̄ += LᵀȲ (or LȲ), L̄ += tril(ȲXᵀ) (or tril(XȲᵀ)).

use crate::dense::{lower_product, lower_times, lower_transposed_times};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::{Accum, MatRef};

impl Tape {
    /// L·X.
    #[track_caller]
    pub fn lower_times(&mut self, l: Lower, x: Node) -> Node {
        self.record_lower_times(l, x, false)
    }

    /// Lᵀ·X.
    #[track_caller]
    pub fn lower_transposed_times(&mut self, l: Lower, x: Node) -> Node {
        self.record_lower_times(l, x, true)
    }

    #[track_caller]
    fn record_lower_times(&mut self, l: Lower, x: Node, transposed: bool) -> Node {
        let op = LowerTimes { transposed };
        let n = l.size();
        assert!(n == x.rows(), "{}: {n}×{n} times {}", op.name(), x.shape());
        self.record(Box::new(op), &[l.0, x], (x.rows(), x.cols()), Memory::default())
    }
}

struct LowerTimes {
    transposed: bool,
}

impl Operation for LowerTimes {
    fn name(&self) -> &'static str {
        if self.transposed { "lower_transposed_times" } else { "lower_times" }
    }

    fn forward(&self, mut run: Forward<'_>) -> Result<(), Problem> {
        let (l, x) = (run.inputs.matrix(0), run.inputs.matrix(1));
        let times = if self.transposed { lower_transposed_times } else { lower_times };
        times(run.output_matrix(), Accum::Replace, l, x, 1.0);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (l, x, seed): (_, _, MatRef<'_, f64>) = (run.inputs.matrix(0), run.inputs.matrix(1), run.seed_matrix());
        if let Some(target) = run.targets.get(0) {
            let (dst, accum) = target.matrix();
            let (a, b) = if self.transposed { (x, seed) } else { (seed, x) };
            lower_product(dst, accum, a, b.transpose(), 1.0);
        }
        if let Some(target) = run.targets.get(1) {
            let (dst, accum) = target.matrix();
            let times = if self.transposed { lower_times } else { lower_transposed_times };
            times(dst, accum, l, seed, 1.0);
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
            for x in cases::awkward(3, m, n).into_iter().chain([cases::matrix(2, m, n)]) {
                let leaves = [cases::matrix(1, m, 1), cases::matrix(4, m, m), x];
                for product in [Tape::lower_times, Tape::lower_transposed_times] {
                    let report = gradcheck(&leaves, |t, x| {
                        let l = t.lower(x[0], x[1]);
                        product(t, l, x[2])
                    });
                    report.unwrap().assert_below(1e-8);
                }
            }
        }
    }

    #[test]
    fn values_are_those_of_a_product() {
        let mut tape = Tape::new("products");
        let (d, e, x) = (tape.leaf("d", 40, 1), tape.leaf("e", 40, 40), tape.leaf("x", 40, 9));
        let l = tape.lower(d, e);
        let fast = [tape.lower_times(l, x), tape.lower_transposed_times(l, x)];
        let plain = [tape.matmul(l.matrix(), x), tape.matmul(l.matrix().t(), x)];
        let mut run = tape.finish().workspace();
        run.set(d, cases::matrix(1, 40, 1).as_ref()).unwrap();
        run.set(e, cases::matrix(2, 40, 40).as_ref()).unwrap();
        run.set(x, cases::matrix(3, 40, 9).as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        for (a, b) in fast.into_iter().zip(plain) {
            assert!((run.value(a) - run.value(b)).norm_max() < 1e-13);
        }
    }

    #[test]
    #[should_panic(expected = "lower_times: 3×3 times 2×4")]
    fn shapes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (d, e, x) = (tape.leaf("d", 3, 1), tape.leaf("e", 3, 3), tape.leaf("x", 2, 4));
        let l = tape.lower(d, e);
        tape.lower_times(l, x);
    }
}
