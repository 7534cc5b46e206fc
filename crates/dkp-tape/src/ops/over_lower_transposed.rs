//! Y = X·L⁻ᵀ for a lower-triangular L, at half the cost of a product.
//!
//! Adjoints: with Z = Ȳ·L⁻¹, X̄ += Z, L̄ −= tril(ZᵀY).

use crate::dense::{Factor, Over, Part, apply_to_rows, lower_of_dots};
use crate::operation::{Adjoint, Forward, Operation, Target, Targets};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// X·L⁻ᵀ: every row x becomes L⁻¹x.
    #[track_caller]
    pub fn over_lower_transposed(&mut self, x: Node, l: Lower) -> Node {
        let n = l.size();
        assert!(n == x.cols(), "over_lower_transposed: {} and {n}×{n}", x.shape());
        let memory = Memory { saved: 0, scratch: x.len() };
        self.record(Box::new(OverLowerTransposed), &[x, l.0], (x.rows(), x.cols()), memory)
    }
}

struct OverLowerTransposed;

impl Operation for OverLowerTransposed {
    fn name(&self) -> &'static str {
        "over_lower_transposed"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (x, l) = (run.inputs.slice(0), run.inputs.slice(1));
        apply_to_rows(Factor::InverseTransposed, Part::All, run.output, Accum::Replace, x, run.rows, l);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (l, y, seed, rows) = (run.inputs.slice(1), run.output, run.seed, run.rows);
        let quotient = |z: &mut [f64]| apply_to_rows(Factor::Inverse, Part::All, z, Accum::Replace, seed, rows, l);
        carry_back(&mut run.targets, run.scratch, y, rows, quotient);
    }
}

/// Carries the gradient of Y = X·L⁻ᵀ, whose rows are `y`, back to X and L, the first two arguments; `quotient` computes Z = Ȳ·L⁻¹.
pub(super) fn carry_back(
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
    use crate::Tape;

    #[test]
    #[should_panic(expected = "over_lower_transposed: 3×1 and 2×2")]
    fn shapes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 2), tape.leaf("b", 3, 1));
        let l = tape.cholesky(a);
        tape.over_lower_transposed(b, l);
    }
}
