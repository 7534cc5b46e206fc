//! y = log|LLᵀ| = 2 Σ log |L_jj|. Adjoint: L̄_jj += 2ȳ/L_jj.

use crate::operation::{Adjoint, Forward, Operation};
use crate::{Lower, Memory, Node, Problem, Tape};

impl Tape {
    /// The log-determinant of the matrix that L is the Cholesky factor of.
    #[track_caller]
    pub fn log_det(&mut self, l: Lower) -> Node {
        self.record(Box::new(LogDet), &[l.0], (1, 1), Memory::default())
    }
}

struct LogDet;

impl Operation for LogDet {
    fn name(&self) -> &'static str {
        "log_det"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let l = run.inputs.matrix(0);
        run.output[0] = 2.0 * (0..l.nrows()).map(|j| l[(j, j)].abs().ln()).sum::<f64>();
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let l = run.inputs.matrix(0);
        let Some(target) = run.targets.get(0) else { return };
        let n = l.nrows();
        let values = target.zeroed();
        for j in 0..n {
            values[j * n + j] += 2.0 * run.seed[0] / l[(j, j)];
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Tape, random::Key};
    use faer::Mat;

    #[test]
    fn gradients() {
        for n in [1, 3, 16, 20] {
            // rows scaled over six orders of magnitude leave the finite differences five digits
            let [scaled, equal] = cases::awkward(1, n, n + 1);
            for (x, tolerance) in [(cases::matrix(2, n, n), 1e-7), (equal, 1e-6), (scaled, 1e-5)] {
                gradcheck(&[x], |t, x| {
                    let s = t.symmetric_product(x[0]);
                    let one = t.number(1.0);
                    let a = t.add_diagonal(s, one);
                    let l = t.cholesky(a);
                    t.log_det(l)
                })
                .unwrap()
                .assert_below(tolerance);
            }
        }
    }

    /// ∂ log|XXᵀ + εI|/∂X = 2(XXᵀ + εI)⁻¹X = 2X(XᵀX + εI)⁻¹: for a tall X the first matrix is nearly singular, with condition
    /// number 1e6 here, and the second is not.
    #[test]
    fn gradient_of_a_nearly_singular_matrix() {
        let (n, k, small) = (20, 10, 1e-5);
        let value = cases::matrix(3, n, k);
        let mut tape = Tape::new("nearly singular");
        let x = tape.leaf("x", n, k);
        let (s, shift) = (tape.symmetric_product(x), tape.number(small));
        let a = tape.add_diagonal(s, shift);
        let l = tape.cholesky(a);
        let f = tape.log_det(l);
        tape.output("f", f);
        let mut run = tape.finish().workspace();
        run.set(x, value.as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Gradient).unwrap();
        run.backward(&[1.0]).unwrap();
        let inner = value.transpose() * &value + faer::Scale(small) * Mat::<f64>::identity(k, k);
        let error = (run.gradient(x) * inner - faer::Scale(2.0) * &value).norm_max();
        // condition number times n·ε is 4e-9
        assert!(error < 1e-8, "{error:e}");
    }

    /// ∂ log|A|/∂A = A⁻¹: A times the gradient is the identity.
    #[test]
    fn gradient_is_the_inverse() {
        let n = 30;
        let x = cases::matrix(3, n, n);
        let a = Mat::from_fn(n, n, |i, j| {
            (0..n).map(|k| x[(i, k)] * x[(j, k)]).sum::<f64>() + if i == j { 1.0 } else { 0.0 }
        });
        let mut tape = Tape::new("log determinant");
        let leaf = tape.leaf("a", n, n);
        let l = tape.cholesky(leaf);
        let f = tape.log_det(l);
        tape.output("f", f);
        let mut run = tape.finish().workspace();
        run.set(leaf, a.as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Gradient).unwrap();
        run.backward(&[1.0]).unwrap();
        let identity = &a * run.gradient(leaf);
        let error = (identity - Mat::<f64>::identity(n, n)).norm_max();
        assert!(error < 1e-12, "{error:e}");
    }
}
