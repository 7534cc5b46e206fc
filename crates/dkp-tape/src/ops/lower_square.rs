//! Y = F·Fᵀ and Y = R·K·Rᵀ for lower-triangular F and R and a symmetric K.
//!
//! Adjoints, with S = Ȳ + Ȳᵀ: F̄ += tril(S·F); R̄ += tril(SR·K), K̄ += ½Rᵀ·SR.

use crate::dense::{Factor, Over, Part, apply_to_rows, lower_of_dots, lower_product};
use crate::dense::{mirror_lower, symmetrise, transpose};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::{Accum, MatRef};

impl Tape {
    /// F·Fᵀ.
    #[track_caller]
    pub fn lower_square(&mut self, f: Lower) -> Node {
        let n = f.size();
        self.record(Box::new(Square), &[f.0], (n, n), Memory { saved: 0, scratch: n * n })
    }

    /// R·K·Rᵀ for a symmetric K.
    #[track_caller]
    pub fn congruence(&mut self, r: Lower, k: Node) -> Node {
        let n = r.size();
        assert!((k.rows(), k.cols()) == (n, n), "congruence: {n}×{n} and {}", k.shape());
        self.record(Box::new(Congruence), &[r.0, k], (n, n), Memory { saved: 0, scratch: 3 * n * n })
    }
}

struct Square;

impl Operation for Square {
    fn name(&self) -> &'static str {
        "lower_square"
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

struct Congruence;

impl Operation for Congruence {
    fn name(&self) -> &'static str {
        "congruence"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let n = run.rows;
        let (r, k) = (run.inputs.slice(0), run.inputs.slice(1));
        // KRᵀ, whose transpose is RK
        let (kr, rest) = run.scratch.split_at_mut(n * n);
        let rk = &mut rest[..n * n];
        apply_to_rows(Factor::Transposed, Part::All, kr, Accum::Replace, k, n, r);
        transpose(kr, rk, n);
        apply_to_rows(Factor::Transposed, Part::LowerOfAll, run.output, Accum::Replace, rk, n, r);
        mirror_lower(run.output, run.rows);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let (n, r) = (run.rows, run.inputs.slice(0));
        let (sum, rest) = run.scratch.split_at_mut(n * n);
        let (sr, result) = rest.split_at_mut(n * n);
        symmetrise(run.seed, sum, n);
        apply_to_rows(Factor::Lower, Part::All, sr, Accum::Replace, sum, n, r);
        if let Some(target) = run.targets.get(0) {
            let (dst, accum) = target.matrix();
            lower_product(dst, accum, MatRef::from_column_major_slice(sr, n, n), run.inputs.matrix(1), 1.0);
        }
        if let Some(target) = run.targets.get(1) {
            // Rᵀ·SR, of which one triangle is enough
            let result = &mut result[..n * n];
            lower_of_dots(result, Accum::Replace, r, sr, n, 0.5, Over::FromI);
            mirror_lower(result, n);
            target.add1(result, |x| x);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Tape, random::Key};

    #[test]
    fn gradients() {
        for n in [1, 2, 5, 16, 17, 37] {
            let leaves = [cases::matrix(1, n, 1), cases::matrix(2, n, n), cases::matrix(3, n, n + 1)];
            gradcheck(&leaves[..2], |t, x| {
                let f = t.lower(x[0], x[1]);
                t.lower_square(f)
            })
            .unwrap()
            .assert_below(1e-8);
            gradcheck(&leaves, |t, x| {
                let (r, k) = (t.lower(x[0], x[1]), t.symmetric_product(x[2]));
                t.congruence(r, k)
            })
            .unwrap()
            .assert_below(1e-7);
        }
    }

    #[test]
    fn values_are_those_of_products() {
        let n = 45;
        let mut tape = Tape::new("squares");
        let (d, e, x) = (tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("x", n, n));
        let (r, k) = (tape.lower(d, e), tape.symmetric_product(x));
        let ours = [tape.lower_square(r), tape.congruence(r, k)];
        let rk = tape.matmul(r.matrix(), k);
        let plain = [tape.symmetric_product(r.matrix()), tape.matmul(rk, r.matrix().t())];
        let mut run = tape.finish().workspace();
        run.set(d, cases::matrix(1, n, 1).as_ref()).unwrap();
        run.set(e, cases::matrix(2, n, n).as_ref()).unwrap();
        run.set(x, cases::matrix(3, n, n).as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        for (a, b) in ours.into_iter().zip(plain) {
            let scale = run.value(b).norm_max();
            assert!((run.value(a) - run.value(b)).norm_max() < 1e-13 * scale);
            assert!(run.value(a) == run.value(a).transpose(), "symmetric to the bit");
        }
    }
}
