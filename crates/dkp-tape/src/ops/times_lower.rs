//! Y = X·L and Y = X·Lᵀ for a lower-triangular L, at half the cost of a product.
//!
//! Adjoints: X̄ += Ȳ·Lᵀ (or Ȳ·L), L̄ += tril(XᵀȲ) (or tril(ȲᵀX)).

use crate::dense::{Factor, Over, Part, apply_to_rows, lower_of_dots};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// X·L: every row x becomes Lᵀx.
    #[track_caller]
    pub fn times_lower(&mut self, x: Node, l: Lower) -> Node {
        self.record_times_lower(x, l, false)
    }

    /// X·Lᵀ: every row x becomes Lx.
    #[track_caller]
    pub fn times_lower_transposed(&mut self, x: Node, l: Lower) -> Node {
        self.record_times_lower(x, l, true)
    }

    #[track_caller]
    fn record_times_lower(&mut self, x: Node, l: Lower, transposed: bool) -> Node {
        let op = TimesLower { transposed };
        let n = l.size();
        assert!(n == x.cols(), "{}: {} and {n}×{n}", op.name(), x.shape());
        self.record(Box::new(op), &[x, l.0], (x.rows(), x.cols()), Memory::default())
    }
}

struct TimesLower {
    transposed: bool,
}

impl TimesLower {
    fn factor(&self) -> Factor {
        if self.transposed { Factor::Transposed } else { Factor::Lower }
    }
}

impl Operation for TimesLower {
    fn name(&self) -> &'static str {
        if self.transposed { "times_lower_transposed" } else { "times_lower" }
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (x, l) = (run.inputs.slice(0), run.inputs.slice(1));
        apply_to_rows(self.factor(), Part::All, run.output, Accum::Replace, x, run.rows, l);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (x, l, seed, rows) = (run.inputs.slice(0), run.inputs.slice(1), run.seed, run.rows);
        if let Some(target) = run.targets.get(0) {
            apply_to_rows(self.factor().transposed(), Part::All, target.values, target.accum, seed, rows, l);
        }
        if let Some(target) = run.targets.get(1) {
            let (a, b) = if self.transposed { (seed, x) } else { (x, seed) };
            lower_of_dots(target.values, target.accum, a, b, rows, 1.0, Over::All);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Tape;

    #[test]
    #[should_panic(expected = "times_lower_transposed: 3×1 and 2×2")]
    fn shapes_that_do_not_fit_are_named() {
        let mut tape = Tape::new("misuse");
        let (a, b) = (tape.leaf("a", 2, 2), tape.leaf("b", 3, 1));
        let l = tape.cholesky(a);
        tape.times_lower_transposed(b, l);
    }
}
