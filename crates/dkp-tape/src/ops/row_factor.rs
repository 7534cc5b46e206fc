//! Y = X·L, X·Lᵀ and X·L⁻ᵀ for a lower-triangular L: a factor applied to every row of X, at half the cost of a product.
//!
//! Adjoints: X̄ += Ȳ·Lᵀ (or Ȳ·L), L̄ += tril(XᵀȲ) (or tril(ȲᵀX)); with Z = Ȳ·L⁻¹, X̄ += Z, L̄ −= tril(ZᵀY).

use crate::dense::{Factor, Over, Part, apply_to_rows, lower_of_dots};
use crate::operation::{Adjoint, Forward, Operation, Target, Targets};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// X·L: every row x becomes Lᵀx.
    #[track_caller]
    pub fn times_lower(&mut self, x: Node, l: Lower) -> Node {
        self.record_row_factor(Factor::Lower, x, l)
    }

    /// X·Lᵀ: every row x becomes Lx.
    #[track_caller]
    pub fn times_lower_transposed(&mut self, x: Node, l: Lower) -> Node {
        self.record_row_factor(Factor::Transposed, x, l)
    }

    /// X·L⁻ᵀ: every row x becomes L⁻¹x.
    #[track_caller]
    pub fn divide_transposed(&mut self, x: Node, l: Lower) -> Node {
        self.record_row_factor(Factor::InverseTransposed, x, l)
    }

    #[track_caller]
    fn record_row_factor(&mut self, factor: Factor, x: Node, l: Lower) -> Node {
        let op = RowFactor { factor };
        let n = l.size();
        assert!(n == x.cols(), "{}: {} and {n}×{n}", op.name(), x.shape());
        let memory = Memory { saved: 0, scratch: if op.inverse() { x.len() } else { 0 } };
        self.record(Box::new(op), &[x, l.0], (x.rows(), x.cols()), memory)
    }
}

struct RowFactor {
    factor: Factor,
}

impl RowFactor {
    fn inverse(&self) -> bool {
        self.factor == Factor::InverseTransposed
    }
}

impl Operation for RowFactor {
    fn name(&self) -> &'static str {
        match self.factor {
            Factor::Lower => "times_lower",
            Factor::Transposed => "times_lower_transposed",
            Factor::Inverse | Factor::InverseTransposed => "divide_transposed",
        }
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (x, l) = (run.inputs.slice(0), run.inputs.slice(1));
        apply_to_rows(self.factor, Part::All, run.output, Accum::Replace, x, run.rows, l);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (x, l, y, seed, rows) = (run.inputs.slice(0), run.inputs.slice(1), run.output, run.seed, run.rows);
        let back = self.factor.transposed();
        if self.inverse() {
            let quotient = |z: &mut [f64]| apply_to_rows(back, Part::All, z, Accum::Replace, seed, rows, l);
            carry_quotient_back(&mut run.targets, run.scratch, y, rows, quotient);
            return;
        }
        if let Some(target) = run.targets.get(0) {
            apply_to_rows(back, Part::All, target.values, target.accum, seed, rows, l);
        }
        if let Some(target) = run.targets.get(1) {
            let (a, b) = if self.factor == Factor::Lower { (x, seed) } else { (seed, x) };
            lower_of_dots(target.values, target.accum, a, b, rows, 1.0, Over::All);
        }
    }
}

/// Carries the gradient of Y = X·L⁻ᵀ, whose rows are `y`, back to X and L, the first two arguments; `quotient` computes Z = Ȳ·L⁻¹.
pub(super) fn carry_quotient_back(
    targets: &mut Targets<'_>,
    scratch: &mut [f64],
    y: &[f64],
    rows: usize,
    quotient: impl FnOnce(&mut [f64]),
) {
    let direct = if targets.same(0, 1) { None } else { targets.get(0) };
    if let Some(Target { accum: Accum::Replace, values: z, .. }) = direct {
        quotient(z);
        if let Some((target, z)) = targets.get_beside(1, 0) {
            lower_of_dots(target.values, target.accum, z, y, rows, -1.0, Over::All);
        }
        return;
    }
    let z = &mut scratch[..y.len()];
    quotient(z);
    if let Some(target) = targets.get(1) {
        lower_of_dots(target.values, target.accum, z, y, rows, -1.0, Over::All);
    }
    if let Some(target) = targets.get(0) {
        target.add1(z, |z| z);
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::cases::lower;
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Lower, Node, Pass, Tape, random::Key};

    type RowFactor = fn(&mut Tape, Node, Lower) -> Node;
    const FACTORS: [RowFactor; 3] = [Tape::times_lower, Tape::times_lower_transposed, Tape::divide_transposed];

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for x in cases::awkward(3, n, m).into_iter().chain([cases::matrix(2, n, m)]) {
                let leaves = [cases::matrix(1, m, 1), cases::matrix(4, m, m), x];
                for factor in FACTORS {
                    let report = gradcheck(&leaves, |t, x| {
                        let l = lower(t, x[0], x[1]);
                        factor(t, x[2], l)
                    });
                    report.unwrap().assert_below(1e-7);
                    // of a factor itself
                    let report = gradcheck(&leaves[..2], |t, x| {
                        let l = lower(t, x[0], x[1]);
                        factor(t, l.matrix(), l)
                    });
                    report.unwrap().assert_below(1e-6);
                    // twice, so that contributions are added
                    let report = gradcheck(&leaves, |t, x| {
                        let l = lower(t, x[0], x[1]);
                        let y = factor(t, x[2], l);
                        let z = factor(t, y, l);
                        t.product(y, z)
                    });
                    report.unwrap().assert_below(1e-6);
                }
            }
        }
    }

    /// Against the factor on the left of columns, for sizes around those of vectors, strips and blocks.
    #[test]
    fn values_and_gradients_are_those_of_columns() {
        for (points, n) in [(1, 1), (7, 3), (8, 4), (9, 12), (24, 13), (31, 8), (57, 29), (50, 100)] {
            let mut tape = Tape::new("rows");
            let (d, e, x) = (tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("x", points, n));
            let l = lower(&mut tape, d, e);
            let columns = tape.transpose(x);
            let plain: [RowFactor; 3] =
                [|t, x, l| t.lower_matmul_transposed(l, x), |t, x, l| t.lower_matmul(l, x), |t, x, l| t.solve(l, x)];
            let mut pairs = Vec::new();
            for (rows, plain) in FACTORS.into_iter().zip(plain) {
                let (ours, theirs) = (rows(&mut tape, x, l), plain(&mut tape, columns, l));
                let theirs = tape.transpose(theirs);
                pairs.push([ours, theirs]);
                for (name, y) in [("ours", ours), ("theirs", theirs)] {
                    let cube = tape.map("cube", y, |y| (y * y * y, 3.0 * y * y));
                    let sum = tape.sum(cube);
                    tape.output(name, sum);
                }
            }
            let mut run = tape.finish().workspace();
            run.set(d, cases::matrix(1, n, 1).as_ref()).unwrap();
            run.set(e, (cases::matrix(2, n, n) * faer::Scale(3.0 / n as f64)).as_ref()).unwrap();
            run.set(x, cases::matrix(3, points, n).as_ref()).unwrap();
            for (i, [ours, theirs]) in pairs.into_iter().enumerate() {
                let mut gradients = Vec::new();
                for which in [2 * i, 2 * i + 1] {
                    run.forward(Key::new(0), Pass::Gradient).unwrap();
                    run.clear_gradients();
                    let mut seed = [0.0; 6];
                    seed[which] = 1.0;
                    run.backward(&seed).unwrap();
                    gradients.push([d, e, x].map(|leaf| run.gradient(leaf).to_owned()));
                }
                let close = |a: faer::MatRef<'_, f64>, b: faer::MatRef<'_, f64>| {
                    (a - b).norm_max() <= 1e-12 * (1.0 + b.norm_max())
                };
                assert!(close(run.value(ours), run.value(theirs)), "{points} points, {n}: values of {i}");
                for (a, b) in gradients[0].iter().zip(&gradients[1]) {
                    assert!(close(a.as_ref(), b.as_ref()), "{points} points, {n}: gradients of {i}");
                }
            }
        }
    }

    /// A point's bits do not depend on how many others there are, or where it stands among them.
    #[test]
    fn a_row_does_not_depend_on_the_others() {
        let n = 37;
        let (d, e, x) = (cases::matrix(1, n, 1), cases::matrix(2, n, n), cases::matrix(3, 61, n));
        for factor in FACTORS {
            let values = |rows: std::ops::Range<usize>| {
                let mut tape = Tape::new("rows");
                let nodes = [tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("x", rows.len(), n)];
                let l = lower(&mut tape, nodes[0], nodes[1]);
                let y = factor(&mut tape, nodes[2], l);
                let mut run = tape.finish().workspace();
                run.set(nodes[0], d.as_ref()).unwrap();
                run.set(nodes[1], e.as_ref()).unwrap();
                run.set(nodes[2], x.subrows(rows.start, rows.len())).unwrap();
                run.forward(Key::new(0), Pass::Value).unwrap();
                run.value(y).to_owned()
            };
            let all = values(0..61);
            for rows in [0..1, 3..4, 5..29, 20..61, 60..61] {
                assert_eq!(values(rows.clone()), all.subrows(rows.start, rows.len()));
            }
        }
    }

    #[test]
    #[should_panic(expected = "divide_transposed: 3×1 and 2×2")]
    fn shapes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 2), tape.leaf("b", 3, 1));
        let l = tape.cholesky(a);
        tape.divide_transposed(b, l);
    }
}
