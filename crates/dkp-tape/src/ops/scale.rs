//! Y = s·A for a number s; Y = diag(d)·A; Y = A·diag(d).
//!
//! Adjoints: Ā likewise scaled; s̄ += ⟨Ȳ, A⟩, d̄_i += Σ_j Ȳ_ij A_ij, d̄_j += Σ_i Ȳ_ij A_ij.

use super::{scalar, vector};
use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation, dot};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// s·A for a 1×1 node s.
    #[track_caller]
    pub fn scale(&mut self, s: Node, a: Node) -> Node {
        scalar("scale", s);
        self.record(Box::new(Scale { lower: false }), &[s, a], (a.rows(), a.cols()), Memory::default())
    }

    /// s·L for a 1×1 node s that is not zero.
    #[track_caller]
    pub fn scale_lower(&mut self, s: Node, l: Lower) -> Lower {
        scalar("scale_lower", s);
        Lower(self.record(Box::new(Scale { lower: true }), &[s, l.0], (l.size(), l.size()), Memory::default()))
    }

    /// diag(d)·A: row i times d_i.
    #[track_caller]
    pub fn scale_rows(&mut self, d: Node, a: Node) -> Node {
        vector("scale_rows", d, a.rows());
        self.record(Box::new(ScaleRows), &[d, a], (a.rows(), a.cols()), Memory::default())
    }

    /// A·diag(d): column j times d_j.
    #[track_caller]
    pub fn scale_columns(&mut self, a: Node, d: Node) -> Node {
        vector("scale_columns", d, a.cols());
        self.record(Box::new(ScaleColumns), &[d, a], (a.rows(), a.cols()), Memory::default())
    }
}

struct Scale {
    /// Whether A is lower-triangular: of Ȳ the lower triangle counts.
    lower: bool,
}

impl Operation for Scale {
    fn name(&self) -> &'static str {
        if self.lower { "scale_lower" } else { "scale" }
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (s, a) = (run.inputs.scalar(0), run.inputs.slice(1));
        vectorized(
            #[inline(always)]
            || run.output.iter_mut().zip(a).for_each(|(y, a)| *y = s * a),
        );
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (s, a) = (run.inputs.scalar(0), run.inputs.slice(1));
        if let Some(target) = run.targets.get(0) {
            let n = run.rows;
            let from = |j: usize| if self.lower { j } else { 0 };
            let columns = run.seed.chunks_exact(n).zip(a.chunks_exact(n)).enumerate();
            target.add_constant(columns.map(|(j, (y, a))| dot(&y[from(j)..], &a[from(j)..])).sum());
        }
        if let Some(target) = run.targets.get(1) {
            target.add1(run.seed, |y| s * y);
        }
    }
}

struct ScaleRows;

impl Operation for ScaleRows {
    fn name(&self) -> &'static str {
        "scale_rows"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (d, a) = (run.inputs.slice(0), run.inputs.slice(1));
        vectorized(
            #[inline(always)]
            || {
                for (y, a) in run.output.chunks_exact_mut(d.len()).zip(a.chunks_exact(d.len())) {
                    y.iter_mut().zip(a.iter().zip(d)).for_each(|(y, (a, d))| *y = d * a);
                }
            },
        );
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (d, a) = (run.inputs.slice(0), run.inputs.slice(1));
        let rows = d.len();
        if let Some(target) = run.targets.get(0) {
            let sums = target.zeroed();
            for (y, a) in run.seed.chunks_exact(rows).zip(a.chunks_exact(rows)) {
                sums.iter_mut().zip(y.iter().zip(a)).for_each(|(s, (y, a))| *s += y * a);
            }
        }
        if let Some(target) = run.targets.get(1) {
            let accum = target.accum;
            for (t, y) in target.values.chunks_exact_mut(rows).zip(run.seed.chunks_exact(rows)) {
                let scaled = y.iter().zip(d).map(|(y, d)| y * d);
                match accum {
                    Accum::Replace => t.iter_mut().zip(scaled).for_each(|(t, s)| *t = s),
                    Accum::Add => t.iter_mut().zip(scaled).for_each(|(t, s)| *t += s),
                }
            }
        }
    }
}

struct ScaleColumns;

impl Operation for ScaleColumns {
    fn name(&self) -> &'static str {
        "scale_columns"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (d, a) = (run.inputs.slice(0), run.inputs.slice(1));
        vectorized(
            #[inline(always)]
            || {
                let columns = run.output.chunks_exact_mut(run.rows).zip(a.chunks_exact(run.rows));
                for ((y, a), d) in columns.zip(d) {
                    y.iter_mut().zip(a).for_each(|(y, a)| *y = d * a);
                }
            },
        );
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (d, a) = (run.inputs.slice(0), run.inputs.slice(1));
        let columns = || run.seed.chunks_exact(run.rows);
        if let Some(target) = run.targets.get(0) {
            let sums = target.zeroed();
            for ((s, y), a) in sums.iter_mut().zip(columns()).zip(a.chunks_exact(run.rows)) {
                *s += dot(y, a);
            }
        }
        if let Some(target) = run.targets.get(1) {
            let accum = target.accum;
            vectorized(
                #[inline(always)]
                || {
                    for ((t, y), d) in target.values.chunks_exact_mut(run.rows).zip(columns()).zip(d) {
                        match accum {
                            Accum::Replace => t.iter_mut().zip(y).for_each(|(t, y)| *t = d * y),
                            Accum::Add => t.iter_mut().zip(y).for_each(|(t, y)| *t = d.mul_add(*y, *t)),
                        }
                    }
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            for a in cases::awkward(3, m, n) {
                let leaves = [cases::matrix(1, 1, 1), cases::matrix(2, m, 1), cases::matrix(4, 1, n), a];
                gradcheck(&leaves, |t, x| t.scale(x[0], x[3])).unwrap().assert_below(1e-9);
                gradcheck(&leaves, |t, x| t.scale_rows(x[1], x[3])).unwrap().assert_below(1e-9);
                gradcheck(&leaves, |t, x| t.scale_columns(x[3], x[2])).unwrap().assert_below(1e-9);
                // twice, so that the second contribution is added
                gradcheck(&leaves, |t, x| {
                    let y = t.scale_rows(x[1], x[3]);
                    let z = t.scale_columns(y, x[2]);
                    let w = t.scale_rows(x[1], y);
                    let v = t.scale_columns(y, x[2]);
                    let zv = t.product(z, v);
                    t.add(w, zv)
                })
                .unwrap()
                .assert_below(1e-8);
            }
        }
    }

    #[test]
    fn gradients_of_triangles() {
        let leaves =
            [cases::matrix(1, 1, 1), cases::matrix(2, 20, 1), cases::matrix(3, 20, 20), cases::matrix(4, 20, 3)];
        let report = gradcheck(&leaves, |t, x| {
            let l = t.lower(x[1], x[2]);
            let scaled = t.scale_lower(x[0], l);
            t.lower_times(scaled, x[3])
        });
        report.unwrap().assert_below(1e-8);
    }

    #[test]
    #[should_panic(expected = "scale_rows: a vector of 2 elements is expected, not 3×1")]
    fn a_vector_of_the_wrong_length_is_named() {
        let mut tape = crate::Tape::new("misuse");
        let (d, a) = (tape.leaf("d", 3, 1), tape.leaf("a", 2, 3));
        tape.scale_rows(d, a);
    }
}
