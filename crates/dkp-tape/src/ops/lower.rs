//! L = tril(E, −1) + diag(d): a lower-triangular matrix from a diagonal and what stands below it (Bartlett's factor).
//! Adjoints: d̄_j += L̄_jj, Ē_ij += L̄_ij for i > j.

use super::{square, vector};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};

impl Tape {
    /// The lower-triangular matrix with diagonal d and the elements of E below it; the rest of E is not read.
    ///
    /// A zero on the diagonal stops the run with [`Problem::OutOfDomain`].
    #[track_caller]
    pub fn lower(&mut self, d: Node, e: Node) -> Lower {
        square("lower", e);
        vector("lower", d, e.rows());
        Lower(self.record(Box::new(Assemble), &[d, e], (e.rows(), e.rows()), Memory::default()))
    }
}

struct Assemble;

impl Operation for Assemble {
    fn name(&self) -> &'static str {
        "lower"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (d, e, n) = (run.inputs.slice(0), run.inputs.slice(1), run.rows);
        for (j, column) in run.output.chunks_exact_mut(n).enumerate() {
            if !(d[j].abs() > 0.0 && d[j].is_finite()) {
                let expected = "finite and not zero";
                return Err(Problem::OutOfDomain { argument: "a diagonal element", expected, value: d[j] });
            }
            column[..j].fill(0.0);
            column[j] = d[j];
            column[j + 1..].copy_from_slice(&e[j * n + j + 1..(j + 1) * n]);
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let n = run.rows;
        if let Some(target) = run.targets.get(0) {
            let diagonal = run.seed.iter().step_by(n + 1);
            target.zeroed().iter_mut().zip(diagonal).for_each(|(d, s)| *d += s);
        }
        if let Some(target) = run.targets.get(1) {
            for (j, column) in target.zeroed().chunks_exact_mut(n).enumerate() {
                let below = &run.seed[j * n + j + 1..(j + 1) * n];
                column[j + 1..].iter_mut().zip(below).for_each(|(e, s)| *e += s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Problem, Tape, random::Key};

    #[test]
    fn gradients() {
        for n in [1, 4, 16, 33] {
            let [scaled, _] = cases::awkward(2, n, n);
            let leaves = [cases::matrix(1, n, 1), scaled];
            gradcheck(&leaves, |t, x| t.lower(x[0], x[1]).matrix()).unwrap().assert_below(1e-9);
        }
    }

    #[test]
    fn a_zero_on_the_diagonal_is_a_failure() {
        let mut tape = Tape::new("lower");
        let (d, e) = (tape.leaf("d", 2, 1), tape.leaf("e", 2, 2));
        tape.lower(d, e);
        let mut run = tape.finish().workspace();
        run.set_slice(d, &[1.0, 0.0]).unwrap();
        run.set_slice(e, &[0.0; 4]).unwrap();
        let failure = run.forward(Key::new(0), Pass::Value).unwrap_err();
        assert!(matches!(failure.problem, Problem::OutOfDomain { value: 0.0, .. }), "{failure}");
    }
}
