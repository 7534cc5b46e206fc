//! Random matrices: standard normals, and Gamma(a, 1) variates with their derivative in a.
//!
//! A normal has no adjoint. A gamma variate moves with its shape: ā_i += x̄_i·dx_i/da_i (`random::gamma_derivative`),
//! summed if one shape serves all.

use crate::operation::{Adjoint, Forward, Operation};
use crate::random::{fill_gamma, fill_gamma_derivative, fill_normal, fill_normal_rows};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// Standard normals; column j is the beginning of sequence j.
    #[track_caller]
    pub fn normals(&mut self, rows: usize, cols: usize) -> Node {
        self.record_normals(rows, cols, Sequence::Position)
    }

    /// Standard normals for the program's data points: one column of `len` numbers each, from the point's own sequence.
    #[track_caller]
    pub fn point_normals(&mut self, len: usize) -> Node {
        let cols = self.declared_points("point_normals");
        self.record_normals(len, cols, Sequence::PointId)
    }

    /// The same numbers with a row of `len` for each point.
    #[track_caller]
    pub fn point_normals_by_row(&mut self, len: usize) -> Node {
        let rows = self.declared_points("point_normals_by_row");
        let op = RowNormals { site: self.next_site() };
        self.record(Box::new(op), &[], (rows, len), Memory::default())
    }

    /// Gamma(a_i, 1) variates of the vector a's shape; element i comes from sequence i.
    ///
    /// A shape that is not positive stops the run with [`Problem::OutOfDomain`].
    #[track_caller]
    pub fn gammas(&mut self, a: Node) -> Node {
        assert!(a.is_vector(), "gammas: a vector of shapes is expected, not {}", a.shape());
        self.record_gammas(a, (a.rows(), a.cols()), Sequence::Position)
    }

    /// Gamma(a, 1) variates for the program's data points, as a row: each from the point's own sequence.
    ///
    /// `a` is a number or a vector with an element for each point.
    #[track_caller]
    pub fn point_gammas(&mut self, a: Node) -> Node {
        let cols = self.declared_points("point_gammas");
        let fits = a.is_vector() && (a.len() == 1 || a.len() == cols);
        assert!(fits, "point_gammas: a number or a vector of {cols} is expected, not {}", a.shape());
        self.record_gammas(a, (1, cols), Sequence::PointId)
    }

    #[track_caller]
    fn record_normals(&mut self, rows: usize, cols: usize, sequence: Sequence) -> Node {
        let op = Normals { site: self.next_site(), sequence };
        self.record(Box::new(op), &[], (rows, cols), Memory::default())
    }

    #[track_caller]
    fn record_gammas(&mut self, a: Node, shape: (usize, usize), sequence: Sequence) -> Node {
        let op = Gammas { site: self.next_site(), sequence };
        let memory = Memory { saved: if a.differentiable { shape.0 * shape.1 } else { 0 }, scratch: 0 };
        self.record(Box::new(op), &[a], shape, memory)
    }
}

/// What addresses a column's sequence.
enum Sequence {
    Position,
    PointId,
}

impl Sequence {
    fn id(&self, ids: &[u64], j: usize) -> u64 {
        match self {
            Sequence::Position => j as u64,
            Sequence::PointId => ids[j],
        }
    }
}

struct Normals {
    site: u32,
    sequence: Sequence,
}

impl Operation for Normals {
    fn name(&self) -> &'static str {
        "normals"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let stream = run.key.stream(run.depth, self.site);
        fill_normal(stream, run.rows, |j| self.sequence.id(run.point_ids, j), run.output);
        Ok(())
    }

    fn adjoint(&self, _: Adjoint<'_>) {}
}

/// One row a point.
struct RowNormals {
    site: u32,
}

impl Operation for RowNormals {
    fn name(&self) -> &'static str {
        "normals"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let stream = run.key.stream(run.depth, self.site);
        fill_normal_rows(stream, run.rows, |p| run.point_ids[p], run.output);
        Ok(())
    }

    fn adjoint(&self, _: Adjoint<'_>) {}
}

struct Gammas {
    site: u32,
    sequence: Sequence,
}

impl Operation for Gammas {
    fn name(&self) -> &'static str {
        "gammas"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.slice(0);
        if let Some(&value) = a.iter().find(|a| !(**a > 0.0 && a.is_finite())) {
            return Err(Problem::OutOfDomain { argument: "a gamma shape", expected: "positive and finite", value });
        }
        let stream = run.key.stream(run.depth, self.site);
        fill_gamma(stream, a, |i| self.sequence.id(run.point_ids, i), run.output);
        if run.gradient && !run.saved.is_empty() {
            fill_gamma_derivative(a, run.output, run.saved);
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let Some(target) = run.targets.get(0) else { return };
        if target.values.len() == run.seed.len() {
            target.add2(run.seed, run.saved, |s, d| s * d);
        } else {
            target.add_constant(crate::operation::dot(run.seed, run.saved));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Problem, Tape, random::Key};
    use faer::Mat;

    #[test]
    fn gradients() {
        for shape in [0.3, 1.0, 6.0, 57.0, 800.0] {
            let a = Mat::from_fn(9, 1, |i, _| shape * (1.0 + 0.1 * i as f64));
            gradcheck(std::slice::from_ref(&a), |t, x| t.gammas(x[0])).unwrap().assert_below(1e-6);
            gradcheck(&[a.transpose().to_owned()], |t, x| {
                t.points(9);
                t.point_gammas(x[0])
            })
            .unwrap()
            .assert_below(1e-6);
            gradcheck(&[Mat::from_fn(1, 1, |_, _| shape)], |t, x| {
                t.points(9);
                t.point_gammas(x[0])
            })
            .unwrap()
            .assert_below(1e-6);
        }
        // normals carry no gradient, and let others' through
        gradcheck(&[cases::matrix(1, 5, 3)], |t, x| {
            let n = t.normals(5, 3);
            t.product(n, x[0])
        })
        .unwrap()
        .assert_below(1e-9);
    }

    #[test]
    fn a_data_points_numbers_follow_its_id_not_its_position() {
        let mut tape = Tape::new("tile");
        tape.points(3);
        let n = tape.point_normals(11);
        let rows = tape.point_normals_by_row(11);
        let a = tape.number(2.0);
        let g = tape.point_gammas(a);
        let mut run = tape.finish().workspace();
        run.set_point_ids(&[7, 100, 8]);
        run.forward(Key::new(5), Pass::Value).unwrap();
        let first = (run.value(n).to_owned(), run.value(g).to_owned());
        let first_rows = run.value(rows).to_owned();
        run.set_point_ids(&[8, 7, 9]);
        run.forward(Key::new(5), Pass::Value).unwrap();
        assert_eq!(run.value(n).col(1), first.0.col(0));
        assert_eq!(run.value(n).col(0), first.0.col(2));
        assert_eq!(run.value(rows).row(1), first_rows.row(0));
        assert_eq!(run.value(rows).row(0), first_rows.row(2));
        assert_eq!(run.value(g)[(0, 1)], first.1[(0, 0)]);
        assert_ne!(run.value(n).col(2), first.0.col(2));
    }

    #[test]
    fn a_shape_that_is_not_positive_is_a_failure() {
        let mut tape = Tape::new("gamma");
        let a = tape.leaf("a", 2, 1);
        tape.gammas(a);
        let mut run = tape.finish().workspace();
        run.set_slice(a, &[1.0, -3.0]).unwrap();
        let failure = run.forward(Key::new(0), Pass::Value).unwrap_err();
        assert!(matches!(failure.problem, Problem::OutOfDomain { value: -3.0, .. }), "{failure}");
    }
}
