//! Matrices side by side, or one above another. Adjoints take each its own part.

use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// Matrices with the same number of rows, side by side.
    #[track_caller]
    pub fn beside(&mut self, parts: &[Node]) -> Node {
        let rows = parts.first().map_or(0, |p| p.rows());
        let fits = parts.iter().all(|p| p.rows() == rows);
        assert!(fits, "beside: {} should have the same number of rows", shapes(parts));
        let cols = parts.iter().map(|p| p.cols()).sum();
        self.record(Box::new(Stack { name: "beside" }), parts, (rows, cols), Memory::default())
    }

    /// Matrices with the same number of columns, the first on top.
    #[track_caller]
    pub fn above(&mut self, parts: &[Node]) -> Node {
        let cols = parts.first().map_or(0, |p| p.cols());
        let fits = parts.iter().all(|p| p.cols() == cols);
        assert!(fits, "above: {} should have the same number of columns", shapes(parts));
        let rows = parts.iter().map(|p| p.rows()).sum();
        self.record(Box::new(Stack { name: "above" }), parts, (rows, cols), Memory::default())
    }
}

fn shapes(parts: &[Node]) -> String {
    parts.iter().map(|p| p.shape().to_string()).collect::<Vec<_>>().join(", ")
}

/// Both ways: a part begins at a row and a column of the whole.
struct Stack {
    name: &'static str,
}

impl Stack {
    /// Where the part after one of this shape begins.
    fn next(&self, (row, col): (usize, usize), rows: usize, cols: usize) -> (usize, usize) {
        if self.name == "above" { (row + rows, col) } else { (row, col + cols) }
    }
}

impl Operation for Stack {
    fn name(&self) -> &'static str {
        self.name
    }

    fn forward(&self, mut run: Forward<'_>) -> Result<(), Problem> {
        let mut at = (0, 0);
        for i in 0..run.inputs.count() {
            let part = run.inputs.matrix(i);
            let (rows, cols) = (part.nrows(), part.ncols());
            run.output_matrix().submatrix_mut(at.0, at.1, rows, cols).copy_from(part);
            at = self.next(at, rows, cols);
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let seed = run.seed_matrix();
        let mut at = (0, 0);
        for i in 0..run.inputs.count() {
            let (rows, cols) = (run.inputs.matrix(i).nrows(), run.inputs.matrix(i).ncols());
            if let Some(target) = run.targets.get(i) {
                let part = seed.submatrix(at.0, at.1, rows, cols);
                for (j, column) in target.zeroed().chunks_exact_mut(rows).enumerate() {
                    column.iter_mut().enumerate().for_each(|(i, x)| *x += part[(i, j)]);
                }
            }
            at = self.next(at, rows, cols);
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
            let leaves = [cases::matrix(1, m, n), cases::matrix(2, m, n)];
            gradcheck(&leaves, |t, x| t.beside(&[x[0], x[1], x[0]])).unwrap().assert_below(1e-9);
            gradcheck(&leaves, |t, x| t.above(&[x[1], x[0], x[1]])).unwrap().assert_below(1e-9);
        }
    }

    #[test]
    fn parts_stand_in_order() {
        let mut tape = Tape::new("stack");
        let (a, b) = (tape.constant(1, 2, &[1.0, 2.0]), tape.constant(2, 2, &[3.0, 4.0, 5.0, 6.0]));
        let c = tape.constant(2, 1, &[7.0, 8.0]);
        let (above, beside) = (tape.above(&[a, b]), tape.beside(&[b, c]));
        let mut run = tape.finish().workspace();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert_eq!(run.value(above), faer::mat![[1.0, 2.0], [3.0, 5.0], [4.0, 6.0]]);
        assert_eq!(run.value(beside), faer::mat![[3.0, 5.0, 7.0], [4.0, 6.0, 8.0]]);
    }

    #[test]
    #[should_panic(expected = "beside: 1×2, 2×2 should have the same number of rows")]
    fn parts_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 1, 2), tape.leaf("b", 2, 2));
        tape.beside(&[a, b]);
    }
}
