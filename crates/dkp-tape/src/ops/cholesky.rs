//! A = LLᵀ. The lower triangle of A is read.
//!
//! Adjoint: Ā += S with the symmetric S for which tril(S·L) = ½tril(L̄), column by column from the last. It is right for any symmetric
//! change of A.
//!
//! With jitter: A + jI = LLᵀ, where j is 0 if that succeeds, and else the smallest of 1e-8, 1e-7, …, 1e-4 times the
//! mean of the diagonal with which it does. The adjoint takes j for a constant.

use super::square;
use crate::dense::{cholesky, cholesky_adjoint};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// The Cholesky factor of a symmetric positive-definite matrix.
    ///
    /// A matrix that is not positive definite stops the run with [`Problem::NotPositiveDefinite`].
    #[track_caller]
    pub fn cholesky(&mut self, a: Node) -> Lower {
        self.record_cholesky(&[a], false)
    }

    /// The Cholesky factor of a symmetric matrix that may be singular to rounding, like a kernel of close points.
    ///
    /// Where a pivot is below 1e-10 of the mean of the diagonal, a multiple of the identity is added: 1e-8 of that mean, or ten times
    /// that, up to 1e-4, as needed. [`Workspace::jitter`](crate::Workspace::jitter) tells. A matrix for which that is not enough stops the run with
    /// [`Problem::NotPositiveDefinite`].
    #[track_caller]
    pub fn cholesky_with_jitter(&mut self, a: Node) -> Lower {
        self.record_cholesky(&[a], true)
    }

    /// The same with jitter relative to the mean of `scale` instead: for a difference of matrices, whose own diagonal may be
    /// rounding errors, the diagonal of what it was subtracted from.
    #[track_caller]
    pub fn cholesky_with_jitter_of(&mut self, a: Node, scale: Node) -> Lower {
        self.record_cholesky(&[a, scale], true)
    }

    #[track_caller]
    fn record_cholesky(&mut self, arguments: &[Node], jitter: bool) -> Lower {
        square("cholesky", arguments[0]);
        let n = arguments[0].rows();
        Lower(self.record(Box::new(Cholesky { jitter }), arguments, (n, n), Memory { saved: 0, scratch: n * n }))
    }
}

/// The smallest pivot that is accepted before jitter is tried, relative to the mean of the diagonal. Below it a solve
/// loses more than half of its digits.
const LEAST_PIVOT: f64 = 1e-10;
/// The smallest mean that jitter is relative to: a matrix of zeros gets a factor too, of nearly nothing.
const LEAST_MEAN: f64 = 1e-100;
/// Jitters that are tried in turn, relative to the mean of the diagonal.
const JITTERS: [f64; 5] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4];

struct Cholesky {
    jitter: bool,
}

impl Operation for Cholesky {
    fn name(&self) -> &'static str {
        "cholesky"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (size, a) = (run.rows, run.inputs.slice(0));
        let mean = match run.inputs.count() {
            1 => a.iter().step_by(size + 1).sum::<f64>() / size as f64,
            _ => run.inputs.slice(1).iter().sum::<f64>() / run.inputs.slice(1).len() as f64,
        };
        if let Some(jitter) = factorise(a, run.output, run.scratch, &[mean], self.jitter)? {
            run.jitter.add(jitter);
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let Some(target) = run.targets.get(0) else { return };
        let n = run.rows;
        if let Accum::Replace = target.accum {
            return cholesky_adjoint(run.output, run.seed, target.values, n);
        }
        let a = &mut run.scratch[..n * n];
        cholesky_adjoint(run.output, run.seed, a, n);
        target.add1(a, |a| a);
    }
}

/// Fills `l` with the factor of `a`; the jitter that this needed, if any, relative to the first of `means` with which it succeeds. Pivots are
/// small beside the first. `scratch` has room for a matrix.
pub(super) fn factorise(
    a: &[f64],
    l: &mut [f64],
    scratch: &mut [f64],
    means: &[f64],
    may_jitter: bool,
) -> Result<Option<f64>, Problem> {
    let size = a.len().isqrt();
    // written so that NaN stays NaN
    let at_least = |mean: f64| if mean < LEAST_MEAN { LEAST_MEAN } else { mean };
    let least = if may_jitter { (LEAST_PIVOT * at_least(means[0])).max(0.0) } else { 0.0 };
    let Err(first) = cholesky(a, l, size, least) else { return Ok(None) };
    let mut succeeds = |jitter: f64| {
        let moved = &mut scratch[..a.len()];
        moved.copy_from_slice(a);
        moved.iter_mut().step_by(size + 1).for_each(|d| *d += jitter);
        cholesky(moved, l, size, 0.0).is_ok()
    };
    let jitters = if may_jitter { JITTERS.as_slice() } else { &[] };
    let mut pairs = means.iter().flat_map(|&mean| jitters.iter().map(move |&j| (j, mean)));
    let found = pairs.find(|&(j, mean)| succeeds(j * at_least(mean)));
    let failure = Problem::NotPositiveDefinite { size, pivot: first.pivot, value: first.value };
    found.map(|(j, _)| Some(j)).ok_or(failure)
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Node, Pass, Problem, Tape, random::Key};
    use faer::{Mat, MatRef};

    /// XXᵀ + εI
    fn spd(tape: &mut Tape, x: Node, shift: f64) -> Node {
        let s = tape.symmetric_product(x);
        let shift = tape.number(shift);
        tape.add_diagonal(s, shift)
    }

    #[test]
    fn gradients() {
        for n in [1, 2, 5, 16, 17, 37] {
            let check = |x: Mat<f64>, shift, tolerance| {
                gradcheck(&[x], |t, x| {
                    let a = spd(t, x[0], shift);
                    t.cholesky(a).matrix()
                })
                .unwrap()
                .assert_below(tolerance);
            };
            check(cases::matrix(1, n, n + 2), 0.5, 1e-7);
            // nearly singular, with a condition number of about 1e6: the finite differences lose that many digits
            check(cases::matrix(2, n, n.div_ceil(2)), 1e-5, 1e-5);
            let [scaled, equal] = cases::awkward(3, n, n + 2);
            check(scaled, 1.0, 1e-6);
            check(equal, 0.3, 1e-6);
        }
    }

    #[test]
    fn a_pivot_that_is_small_beside_the_diagonal_needs_jitter() {
        for (small, count) in [(1e-12, 1), (1e-9, 0)] {
            let mut tape = Tape::new("cholesky");
            let node = tape.constant(2, 2, &[1.0, 0.0, 0.0, small]);
            tape.cholesky_with_jitter(node);
            let mut run = tape.finish().workspace();
            run.forward(Key::new(0), Pass::Value).unwrap();
            assert_eq!(run.jitter().count, count, "{small}");
        }
    }

    /// An independent formula for the adjoint: solve the linearised equation dA = dL·Lᵀ + L·dLᵀ for each element of A by
    /// forward substitution, dL = L·Φ(L⁻¹·dA·L⁻ᵀ), with plain loops, and contract with the seed.
    #[test]
    fn adjoint_agrees_with_the_forward_derivative() {
        let n = 21;
        let x = cases::matrix(5, n, n);
        let a = Mat::from_fn(n, n, |i, j| {
            (0..n).map(|k| x[(i, k)] * x[(j, k)]).sum::<f64>() + if i == j { 1.0 } else { 0.0 }
        });
        let weight = |i: usize, j: usize| ((3 * i + 5 * j) as f64).cos();
        let mut tape = Tape::new("cholesky");
        let leaf = tape.leaf("a", n, n);
        let l = tape.cholesky(leaf).matrix();
        let w = Mat::from_fn(n, n, weight);
        let weights: Vec<f64> = (0..n * n).map(|e| w[(e % n, e / n)]).collect();
        let w = tape.constant(n, n, &weights);
        let p = tape.product(w, l);
        let f = tape.sum(p);
        tape.output("f", f);
        let mut run = tape.finish().workspace();
        run.set(leaf, a.as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Gradient).unwrap();
        run.backward(&[1.0]).unwrap();
        let l = run.value(l);
        let substitute = |b: &mut [f64]| {
            for i in 0..n {
                let s: f64 = (0..i).map(|k| l[(i, k)] * b[k]).sum();
                b[i] = (b[i] - s) / l[(i, i)];
            }
        };
        for (r, c) in [(0, 0), (5, 2), (20, 20), (20, 0), (17, 16)] {
            // M = L⁻¹·dA·L⁻ᵀ for dA = E_rc + E_cr (or E_rr)
            let [mut u, mut v] = [vec![0.0; n], vec![0.0; n]];
            (u[r], v[c]) = (1.0, 1.0);
            substitute(&mut u);
            substitute(&mut v);
            let m = |i: usize, j: usize| u[i] * v[j] + if r == c { 0.0 } else { v[i] * u[j] };
            let mut expected = 0.0;
            for i in 0..n {
                for j in 0..=i {
                    let d: f64 = (j..=i).map(|k| l[(i, k)] * m(k, j) * if k == j { 0.5 } else { 1.0 }).sum();
                    expected += weight(i, j) * d;
                }
            }
            let ours = run.gradient(leaf)[(r, c)] * if r == c { 1.0 } else { 2.0 };
            assert!((ours - expected).abs() < 1e-11 * expected.abs().max(1.0), "({r}, {c}): {ours} and {expected}");
        }
    }

    #[test]
    fn reproduces_the_matrix() {
        for n in [1, 15, 16, 33, 100, 257] {
            let mut tape = Tape::new("reconstruction");
            let x = tape.leaf("x", n, n);
            let a = spd(&mut tape, x, 1.0);
            let l = tape.cholesky(a).matrix();
            let b = tape.symmetric_product(l);
            let mut run = tape.finish().workspace();
            run.set(x, cases::matrix(7, n, n).as_ref()).unwrap();
            run.forward(Key::new(0), Pass::Value).unwrap();
            let scale = run.value(a).norm_max();
            let error = (run.value(a) - run.value(b)).norm_max() / scale;
            assert!(error < 8.0 * n as f64 * f64::EPSILON, "{n}: {error:e}");
            assert!((0..n).all(|j| (0..j).all(|i| run.value(l)[(i, j)] == 0.0)), "zero above the diagonal");
        }
    }

    #[test]
    fn failure_names_pivot_and_value_and_the_program_stays_usable() {
        let n = 40;
        let mut tape = Tape::new("draw");
        let a = tape.leaf("a", n, n);
        tape.section("layer 1");
        let l = tape.cholesky(a);
        let f = tape.log_det(l);
        tape.output("f", f);
        let mut run = tape.finish().workspace();
        let good = Mat::<f64>::from_fn(n, n, |i, j| if i == j { 4.0 } else { 0.0 });
        let mut bad = good.clone();
        bad[(33, 33)] = -0.25;
        run.set(a, bad.as_ref()).unwrap();
        let failure = run.forward(Key::new(0), Pass::Value).unwrap_err();
        assert_eq!(failure.problem, Problem::NotPositiveDefinite { size: n, pivot: 33, value: -0.25 });
        assert_eq!(
            failure.to_string(),
            "program \"draw\", layer 1, cholesky (node 1): the 40×40 matrix is not positive definite: pivot 33 is -2.5e-1; \
             a larger diagonal would help"
        );
        run.set(a, good.as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert!((run.scalar(f) - n as f64 * 4_f64.ln()).abs() < 1e-12);
    }

    #[test]
    #[should_panic(expected = "cholesky: a square matrix is expected, not 2×3")]
    fn a_matrix_that_is_not_square_is_named() {
        let mut tape = Tape::new("misuse");
        let a = tape.leaf("a", 2, 3);
        tape.cholesky(a);
    }

    #[test]
    fn nan_is_a_failure_not_a_factor() {
        let mut tape = Tape::new("nan");
        let a = tape.leaf("a", 1, 1);
        let log = tape.ln(a);
        tape.cholesky(log);
        let mut run = tape.finish().workspace();
        run.set(a, MatRef::from_column_major_slice(&[-1.0], 1, 1)).unwrap();
        let failure = run.forward(Key::new(0), Pass::Value).unwrap_err();
        assert!(matches!(failure.problem, Problem::NotPositiveDefinite { pivot: 0, value, .. } if value.is_nan()));
    }

    /// A kernel of 30 points of which each occurs twice, beside one that is not even nearly positive definite.
    #[test]
    fn jitter_makes_a_singular_matrix_a_factor_and_is_told() {
        let n = 60;
        let element = |i: usize, j: usize| 3.0 * (-0.5 * (0.1 * (i / 2) as f64 - 0.1 * (j / 2) as f64).powi(2)).exp();
        let (singular, indefinite) =
            (Mat::from_fn(n, n, element), Mat::from_fn(n, n, |_, _| 1.0) - Mat::<f64>::identity(n, n));
        let mut tape = Tape::new("draw");
        let a = tape.leaf("a", n, n);
        let l = tape.cholesky_with_jitter(a).matrix();
        let b = tape.symmetric_product(l);
        let mut run = tape.finish().workspace();
        run.set(a, singular.as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        let jitter = run.jitter();
        assert!(jitter.count == 1 && (1e-8..=1e-7).contains(&jitter.largest), "{jitter:?}");
        let expected = &singular + faer::Scale(3.0 * jitter.largest) * Mat::<f64>::identity(n, n);
        assert!((run.value(b) - expected).norm_max() < 1e-13);
        run.set(a, Mat::<f64>::zeros(n, n).as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert!(run.jitter().count == 1 && run.value(b).norm_max() < 1e-100);
        run.set(a, indefinite.as_ref()).unwrap();
        let failure = run.forward(Key::new(0), Pass::Value).unwrap_err();
        assert_eq!(failure.problem, Problem::NotPositiveDefinite { size: n, pivot: 0, value: 0.0 });
        run.set(a, Mat::<f64>::identity(n, n).as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert_eq!(run.jitter().count, 0);
    }

    /// Rounding errors where a difference should be zero: jitter relative to what they are errors of.
    #[test]
    fn jitter_can_be_relative_to_another_matrix() {
        let mut tape = Tape::new("difference");
        let (a, scale) = (tape.leaf("a", 2, 2), tape.number(4.0));
        let l = tape.cholesky_with_jitter_of(a, scale).matrix();
        let mut run = tape.finish().workspace();
        run.set_slice(a, &[-1e-15, 0.0, 0.0, 1e-15]).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert_eq!(run.jitter().largest, 1e-8);
        assert!((run.value(l)[(0, 0)].powi(2) / 4e-8 - 1.0).abs() < 1e-6);
    }
}
