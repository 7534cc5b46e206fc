//! A block of a matrix, and some of its rows. Adjoints add to the elements that were taken.

use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};
use std::ops::Range;

impl Tape {
    /// The block of A in the given rows and columns.
    #[track_caller]
    pub fn slice(&mut self, a: Node, rows: Range<usize>, cols: Range<usize>) -> Node {
        let fits = rows.start < rows.end && rows.end <= a.rows() && cols.start < cols.end && cols.end <= a.cols();
        assert!(fits, "slice: rows {rows:?} and columns {cols:?} of a {} matrix", a.shape());
        let shape = (rows.len(), cols.len());
        let op = Select { name: "slice", rows: rows.collect(), first_col: cols.start };
        self.record(Box::new(op), &[a], shape, Memory::default())
    }

    /// The rows of A with the given numbers, in that order; a row may be taken more than once.
    #[track_caller]
    pub fn gather_rows(&mut self, a: Node, rows: &[usize]) -> Node {
        if let Some(row) = rows.iter().find(|&&r| r >= a.rows()) {
            panic!("gather_rows: row {row} of a {} matrix", a.shape());
        }
        let op = Select { name: "gather_rows", rows: rows.to_vec(), first_col: 0 };
        self.record(Box::new(op), &[a], (rows.len(), a.cols()), Memory::default())
    }
}

struct Select {
    name: &'static str,
    rows: Vec<usize>,
    first_col: usize,
}

impl Operation for Select {
    fn name(&self) -> &'static str {
        self.name
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.matrix(0);
        for (j, column) in run.output.chunks_exact_mut(run.rows).enumerate() {
            for (y, &row) in column.iter_mut().zip(&self.rows) {
                *y = a[(row, self.first_col + j)];
            }
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let Some(target) = run.targets.get(0) else { return };
        let height = target.rows;
        let values = target.zeroed();
        for (j, column) in run.seed.chunks_exact(run.rows).enumerate() {
            for (s, &row) in column.iter().zip(&self.rows) {
                values[(self.first_col + j) * height + row] += s;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            let [scaled, _] = cases::awkward(1, m, n);
            let a = [scaled];
            gradcheck(&a, |t, x| t.slice(x[0], m / 2..m, 0..n.div_ceil(2))).unwrap().assert_below(1e-9);
            gradcheck(&a, |t, x| t.gather_rows(x[0], &[m - 1, 0, m / 2, 0])).unwrap().assert_below(1e-9);
        }
    }

    #[test]
    #[should_panic(expected = "gather_rows: row 5 of a 4×2 matrix")]
    fn a_row_that_is_not_there_is_named() {
        let mut tape = crate::Tape::new("misuse");
        let a = tape.leaf("a", 4, 2);
        tape.gather_rows(a, &[5]);
    }
}
