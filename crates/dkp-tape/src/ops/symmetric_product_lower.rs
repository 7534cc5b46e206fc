//! Y = F·Fᵀ for a lower-triangular F.
//!
//! Adjoint: F̄ += tril((Ȳ + Ȳᵀ)·F).

use crate::dense::{Factor, Part, apply_to_rows, mirror_lower, symmetrise};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::Accum;

impl Tape {
    /// F·Fᵀ.
    #[track_caller]
    pub fn symmetric_product_lower(&mut self, f: Lower) -> Node {
        let n = f.size();
        self.record(Box::new(SymmetricProductLower), &[f.0], (n, n), Memory { saved: 0, scratch: n * n })
    }
}

struct SymmetricProductLower;

impl Operation for SymmetricProductLower {
    fn name(&self) -> &'static str {
        "symmetric_product_lower"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let f = run.inputs.slice(0);
        apply_to_rows(Factor::Transposed, Part::Lower, run.output, Accum::Replace, f, run.rows, f);
        mirror_lower(run.output, run.rows);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let n = run.rows;
        let Some(target) = run.targets.get(0) else { return };
        let sum = &mut run.scratch[..n * n];
        symmetrise(run.seed, sum, n);
        apply_to_rows(Factor::Lower, Part::LowerOfAll, target.values, target.accum, sum, n, run.inputs.slice(0));
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Tape, random::Key};

    #[test]
    fn gradients() {
        for n in [1, 2, 5, 16, 17, 37] {
            let leaves = [cases::matrix(1, n, 1), cases::matrix(2, n, n)];
            gradcheck(&leaves, |t, x| {
                let f = t.lower(x[0], x[1]);
                t.symmetric_product_lower(f)
            })
            .unwrap()
            .assert_below(1e-8);
        }
    }

    #[test]
    fn values_are_those_of_products() {
        let n = 45;
        let mut tape = Tape::new("squares");
        let (d, e) = (tape.leaf("d", n, 1), tape.leaf("e", n, n));
        let f = tape.lower(d, e);
        let (ours, plain) = (tape.symmetric_product_lower(f), tape.symmetric_product(f.matrix()));
        let mut run = tape.finish().workspace();
        run.set(d, cases::matrix(1, n, 1).as_ref()).unwrap();
        run.set(e, cases::matrix(2, n, n).as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        let (ours, plain) = (run.value(ours), run.value(plain));
        assert!((ours - plain).norm_max() < 1e-13 * plain.norm_max());
        assert!(ours == ours.transpose(), "symmetric to the bit");
    }
}
