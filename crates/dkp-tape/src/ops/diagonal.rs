//! d = diag(A), and Y = A + diag(d) for a vector or a number d.
//!
//! Adjoints: Ā_jj += d̄_j; Ā += Ȳ, d̄_j += Ȳ_jj (summed if d is a number).

use super::square;
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// The diagonal of a square matrix, as a column.
    #[track_caller]
    pub fn diagonal(&mut self, a: Node) -> Node {
        square("diagonal", a);
        self.record(Box::new(Diagonal), &[a], (a.rows(), 1), Memory::default())
    }

    /// A + diag(d), or A + d·I for a number d.
    #[track_caller]
    pub fn add_diagonal(&mut self, a: Node, d: Node) -> Node {
        square("add_diagonal", a);
        let fits = d.is_vector() && (d.len() == 1 || d.len() == a.rows());
        assert!(fits, "add_diagonal: a number or a vector of {} is expected, not {}", a.rows(), d.shape());
        self.record(Box::new(AddDiagonal), &[a, d], (a.rows(), a.cols()), Memory::default())
    }
}

struct Diagonal;

impl Operation for Diagonal {
    fn name(&self) -> &'static str {
        "diagonal"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.slice(0);
        let diagonal = a.iter().step_by(run.rows + 1);
        run.output.iter_mut().zip(diagonal).for_each(|(d, a)| *d = *a);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        if let Some(target) = run.targets.get(0) {
            let diagonal = target.zeroed().iter_mut().step_by(run.rows + 1);
            diagonal.zip(run.seed).for_each(|(a, s)| *a += s);
        }
    }
}

struct AddDiagonal;

impl Operation for AddDiagonal {
    fn name(&self) -> &'static str {
        "add_diagonal"
    }

    fn passes(&self) -> Option<usize> {
        Some(0)
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        run.output.copy_from_slice(run.inputs.slice(0));
        let d = run.inputs.slice(1).iter().cycle();
        let diagonal = run.output.iter_mut().step_by(run.rows + 1);
        diagonal.zip(d).for_each(|(y, d)| *y += d);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        if let Some(target) = run.targets.get(0) {
            target.add1(run.seed, |s| s);
        }
        if let Some(target) = run.targets.get(1) {
            let d = target.zeroed();
            let wrap = d.len();
            let diagonal = run.seed.iter().step_by(run.rows + 1);
            diagonal.enumerate().for_each(|(j, s)| d[j % wrap] += s);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};

    #[test]
    fn gradients() {
        for n in [1, 4, 19] {
            for a in cases::awkward(1, n, n) {
                let leaves = [a, cases::matrix(2, n, 1), cases::matrix(3, 1, 1)];
                gradcheck(&leaves, |t, x| t.diagonal(x[0])).unwrap().assert_below(1e-9);
                gradcheck(&leaves, |t, x| t.add_diagonal(x[0], x[1])).unwrap().assert_below(1e-9);
                gradcheck(&leaves, |t, x| t.add_diagonal(x[0], x[2])).unwrap().assert_below(1e-9);
            }
        }
    }
}
