//! Y = F·Fᵀ and Y = R·K·Rᵀ for lower-triangular F and R and a symmetric K.
//!
//! Adjoints, with S = Ȳ + Ȳᵀ: F̄ += tril(S·F); R̄ += tril(S·RK), K̄ += ½Rᵀ·S·R.

use crate::dense::{
    lower_of_product, lower_of_times_lower, lower_of_upper_times, lower_product, lower_times, mirror_lower,
};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};
use faer::prelude::ReborrowMut as _;
use faer::{Accum, MatMut, MatRef};

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
        self.record(Box::new(Congruence), &[r.0, k], (n, n), Memory { saved: n * n, scratch: 3 * n * n })
    }
}

/// S = Ȳ + Ȳᵀ
fn symmetrised(seed: &[f64], n: usize, sum: &mut [f64]) {
    for (j, column) in sum.chunks_exact_mut(n).enumerate() {
        for (i, s) in column.iter_mut().enumerate() {
            *s = seed[j * n + i] + seed[i * n + j];
        }
    }
}

struct Square;

impl Operation for Square {
    fn name(&self) -> &'static str {
        "lower_square"
    }

    fn forward(&self, mut run: Forward<'_>) -> Result<(), Problem> {
        let f = run.inputs.matrix(0);
        lower_of_product(run.output_matrix(), Accum::Replace, f, f, 1.0);
        mirror_lower(run.output_matrix());
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let n = run.rows;
        let Some(target) = run.targets.get(0) else { return };
        let sum = &mut run.scratch[..n * n];
        symmetrised(run.seed, n, sum);
        let (dst, accum) = target.matrix();
        lower_of_times_lower(dst, accum, MatRef::from_column_major_slice(sum, n, n), run.inputs.matrix(0), 1.0);
    }
}

struct Congruence;

impl Operation for Congruence {
    fn name(&self) -> &'static str {
        "congruence"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let n = run.rows;
        let (r, k) = (run.inputs.matrix(0), run.inputs.matrix(1));
        // RK is kept for the adjoint
        lower_times(MatMut::from_column_major_slice_mut(run.saved, n, n), Accum::Replace, r, k, 1.0);
        let rk = MatRef::from_column_major_slice(run.saved, n, n);
        let mut output = MatMut::from_column_major_slice_mut(run.output, n, n);
        lower_of_product(output.rb_mut(), Accum::Replace, rk, r, 1.0);
        mirror_lower(output);
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let n = run.rows;
        let r = run.inputs.matrix(0);
        let (sum, rest) = run.scratch[..3 * n * n].split_at_mut(n * n);
        symmetrised(run.seed, n, sum);
        let sum = MatRef::from_column_major_slice(sum, n, n);
        if let Some(target) = run.targets.get(0) {
            let (dst, accum) = target.matrix();
            lower_product(dst, accum, sum, MatRef::from_column_major_slice(run.saved, n, n), 1.0);
        }
        if let Some(target) = run.targets.get(1) {
            // RᵀS, then (RᵀS)·R = Rᵀ·(RᵀS)ᵀ of which one triangle is enough
            let (sr, result) = rest.split_at_mut(n * n);
            let mut product = MatMut::from_column_major_slice_mut(sr, n, n);
            crate::dense::upper_times(product.rb_mut(), Accum::Replace, r, sum, 1.0);
            let mut symmetric = MatMut::from_column_major_slice_mut(result, n, n);
            let transposed = MatRef::from_column_major_slice(sr, n, n).transpose();
            lower_of_upper_times(symmetric.rb_mut(), Accum::Replace, r, transposed, 0.5);
            mirror_lower(symmetric);
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
