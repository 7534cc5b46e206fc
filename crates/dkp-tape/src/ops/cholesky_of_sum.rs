//! αA + B = LLᵀ for symmetric A and B.
//!
//! Adjoints, with the S of [`cholesky`](super::cholesky): Ā += αS, B̄ += S, ᾱ += Σ A∘S.

use super::cholesky::factorise;
use super::{same_shape, scalar, square};
use crate::dense::cholesky_adjoint;
use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation, sum_of};
use crate::{Lower, Memory, Node, Problem, Tape};

impl Tape {
    /// The Cholesky factor of αA + B, for a number α and symmetric matrices that may be singular to rounding.
    ///
    /// Jitter, if any ([`cholesky_with_jitter`](Tape::cholesky_with_jitter)), is relative to αA's diagonal, because single elements of B may be huge; only where
    /// that is not enough, to the sum's.
    #[track_caller]
    pub fn cholesky_of_sum(&mut self, alpha: Node, a: Node, b: Node) -> Lower {
        scalar("cholesky_of_sum", alpha);
        square("cholesky_of_sum", a);
        same_shape("cholesky_of_sum", a, b);
        let n = a.rows();
        let memory = Memory { saved: 0, scratch: 2 * n * n };
        Lower(self.record(Box::new(CholeskyOfSum), &[alpha, a, b], (n, n), memory))
    }
}

struct CholeskyOfSum;

impl Operation for CholeskyOfSum {
    fn name(&self) -> &'static str {
        "cholesky_of_sum"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (n, alpha, a, b) = (run.rows, run.inputs.scalar(0), run.inputs.slice(1), run.inputs.slice(2));
        let (sum, scratch) = run.scratch.split_at_mut(n * n);
        vectorized(
            #[inline(always)]
            || {
                for (j, sum) in sum.chunks_exact_mut(n).enumerate() {
                    // from the diagonal on, in whole vectors
                    let rows = j * n + j / 8 * 8..(j + 1) * n;
                    let pairs = a[rows.clone()].iter().zip(&b[rows]);
                    sum[j / 8 * 8..].iter_mut().zip(pairs).for_each(|(s, (a, b))| *s = alpha.mul_add(*a, *b));
                }
            },
        );
        let mean = |m: &[f64]| m.iter().step_by(n + 1).sum::<f64>() / n as f64;
        let means = [alpha * mean(a), mean(sum)];
        if let Some(jitter) = factorise(sum, run.output, scratch, &means, true)? {
            run.jitter.add(jitter);
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (n, alpha, a) = (run.rows, run.inputs.scalar(0), run.inputs.slice(1));
        // not where B̄ belongs, which may be out of the caches
        let s = &mut run.scratch[..n * n];
        cholesky_adjoint(run.output, run.seed, s, n);
        if let Some(target) = run.targets.get(1) {
            target.add1(s, |s| alpha * s);
        }
        if let Some(target) = run.targets.get(2) {
            target.add1(s, |s| s);
        }
        if let Some(target) = run.targets.get(0) {
            let sum = vectorized(
                #[inline(always)]
                || sum_of(a, s, |a, s, sum| a.mul_add(s, sum)),
            );
            target.add_constant(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Node, Pass, Tape, random::Key};
    use faer::Mat;

    /// Symmetric matrices XXᵀ and YYᵀ, of which neither alone has a factor, and a number that is positive.
    fn terms(tape: &mut Tape, x: &[Node]) -> [Node; 3] {
        let alpha = tape.exp(x[0]);
        [alpha, tape.symmetric_product(x[1]), tape.symmetric_product(x[2])]
    }

    fn leaves(n: usize) -> [Mat<f64>; 3] {
        [cases::matrix(1, 1, 1), cases::matrix(2, n, n.div_ceil(2) + 1), cases::matrix(3, n, n.div_ceil(2) + 1)]
    }

    #[test]
    fn gradients() {
        for n in [1, 2, 7, 8, 17, 37] {
            gradcheck(&leaves(n), |t, x| {
                let [alpha, a, b] = terms(t, x);
                t.cholesky_of_sum(alpha, a, b).matrix()
            })
            .unwrap()
            .assert_below(1e-6);
        }
    }

    /// Where B has a gradient from elsewhere already, is A, or is a constant.
    #[test]
    fn gradients_of_terms_with_other_uses() {
        let n = 9;
        gradcheck(&leaves(n), |t, x| {
            let [alpha, a, b] = terms(t, x);
            let l = t.cholesky_of_sum(alpha, a, b).matrix();
            // after it, so that its gradient comes before
            let squares = t.square(b);
            let sum = t.add(l, squares);
            t.add(sum, a)
        })
        .unwrap()
        .assert_below(1e-6);
        gradcheck(&[cases::matrix(1, 1, 1), cases::matrix(2, n, n + 1)], |t, x| {
            let [alpha, a, _] = terms(t, &[x[0], x[1], x[1]]);
            t.cholesky_of_sum(alpha, a, a).matrix()
        })
        .unwrap()
        .assert_below(1e-6);
        gradcheck(&leaves(n)[..2], |t, x| {
            let [alpha, a, _] = terms(t, &[x[0], x[1], x[1]]);
            let identity: Vec<f64> = (0..n * n).map(|e| if e % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
            let identity = t.constant(n, n, &identity);
            t.cholesky_of_sum(alpha, a, identity).matrix()
        })
        .unwrap()
        .assert_below(1e-6);
    }

    #[test]
    fn reproduces_the_sum() {
        for n in [1, 8, 15, 100] {
            let mut tape = Tape::new("sum");
            let nodes = leaves(n).map(|m| {
                tape.constant(
                    m.nrows(),
                    m.ncols(),
                    m.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect::<Vec<_>>().as_slice(),
                )
            });
            let [alpha, a, b] = terms(&mut tape, &nodes);
            let l = tape.cholesky_of_sum(alpha, a, b);
            let product = tape.symmetric_product_lower(l);
            let scaled = tape.scale(alpha, a);
            let sum = tape.add(scaled, b);
            let mut run = tape.finish().workspace();
            run.forward(Key::new(0), Pass::Value).unwrap();
            let error = (run.value(product) - run.value(sum)).norm_max() / run.value(sum).norm_max();
            assert!(error < 8.0 * n as f64 * f64::EPSILON, "{n}: {error:e}");
        }
    }

    /// αA = 4·1, B = −4·1 but for rounding, and an element of B that is huge.
    #[test]
    fn jitter_is_relative_to_the_first_term() {
        let mut tape = Tape::new("sum");
        let alpha = tape.number(4.0);
        let (a, b) = (
            tape.constant(3, 3, &[1.0; 9]),
            tape.constant(3, 3, &[-4.0, -4.0, -4.0, -4.0, -4.0, -4.0, -4.0, -4.0, 1e9]),
        );
        let l = tape.cholesky_of_sum(alpha, a, b).matrix();
        let mut run = tape.finish().workspace();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert_eq!(run.jitter().largest, 1e-8);
        assert!((run.value(l)[(0, 0)].powi(2) / 4e-8 - 1.0).abs() < 1e-6);
    }

    /// A singular B beside which A is nothing: no jitter relative to A is enough.
    #[test]
    fn jitter_is_relative_to_the_sum_where_the_first_term_is_nothing() {
        let mut tape = Tape::new("sum");
        let alpha = tape.number(1e-20);
        let (a, b) = (tape.constant(2, 2, &[1.0, 0.0, 0.0, 1.0]), tape.constant(2, 2, &[4.0, 4.0, 4.0, 4.0]));
        let l = tape.cholesky_of_sum(alpha, a, b).matrix();
        let mut run = tape.finish().workspace();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert_eq!(run.jitter().largest, 1e-8);
        // l₁₁² = 4 + j − 16/(4 + j) = 2j, j = 4e-8
        assert!((run.value(l)[(1, 1)].powi(2) / 8e-8 - 1.0).abs() < 1e-6);
    }
}
