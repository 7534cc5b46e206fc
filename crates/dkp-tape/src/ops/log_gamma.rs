//! log Γ(a) element by element, and the multivariate log Γ_P(a) = P(P−1)/4·log π + Σ_{j=1..P} log Γ(a + (1−j)/2).
//! Adjoints: ψ(a), and Σ_j ψ(a + (1−j)/2) = ψ_P(a), which is an operation too, with Σ_j ψ'(a + (1−j)/2) as its adjoint.

use super::scalar;
use crate::math::{digamma, ln_gamma, trigamma};
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// log Γ(a), element by element, for a > 0.
    #[track_caller]
    pub fn ln_gamma(&mut self, a: Node) -> Node {
        self.record(Box::new(LogGamma { order: 0, dimension: 1 }), &[a], (a.rows(), a.cols()), Memory::default())
    }

    /// log Γ_P(a) for a number a > (P−1)/2 and dimension P.
    ///
    /// An argument outside the domain stops the run with [`Problem::OutOfDomain`].
    #[track_caller]
    pub fn multivariate_ln_gamma(&mut self, a: Node, dimension: usize) -> Node {
        self.record_multivariate(LogGamma { order: 0, dimension }, a)
    }

    /// ψ_P(a), the derivative of [`multivariate_ln_gamma`](Tape::multivariate_ln_gamma): E log|W| = ψ_P(ν/2) + P·log 2 for W ~ W(I, ν).
    #[track_caller]
    pub fn multivariate_digamma(&mut self, a: Node, dimension: usize) -> Node {
        self.record_multivariate(LogGamma { order: 1, dimension }, a)
    }

    #[track_caller]
    fn record_multivariate(&mut self, op: LogGamma, a: Node) -> Node {
        scalar(op.name(), a);
        assert!(op.dimension > 0, "{}: dimension 0", op.name());
        self.record(Box::new(op), &[a], (1, 1), Memory::default())
    }
}

/// The derivative of that order of log Γ_P.
struct LogGamma {
    order: usize,
    dimension: usize,
}

impl LogGamma {
    /// Σ_j f(a + (1−j)/2)
    fn sum(&self, a: f64, f: fn(f64) -> f64) -> f64 {
        (0..self.dimension).map(|j| f(a - 0.5 * j as f64)).sum()
    }
}

impl Operation for LogGamma {
    fn name(&self) -> &'static str {
        match (self.order, self.dimension) {
            (0, 1) => "ln_gamma",
            (0, _) => "multivariate_ln_gamma",
            _ => "multivariate_digamma",
        }
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let p = self.dimension as f64;
        for (y, &a) in run.output.iter_mut().zip(run.inputs.slice(0)) {
            if !(a > 0.5 * (p - 1.0) && a.is_finite()) {
                let expected = "finite and above (P − 1)/2";
                return Err(Problem::OutOfDomain { argument: "the argument", expected, value: a });
            }
            *y = match self.order {
                0 => 0.25 * p * (p - 1.0) * std::f64::consts::PI.ln() + self.sum(a, ln_gamma),
                _ => self.sum(a, digamma),
            };
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let a = run.inputs.slice(0);
        let derivative = if self.order == 0 { digamma } else { trigamma };
        if let Some(target) = run.targets.get(0) {
            for ((t, a), s) in target.zeroed().iter_mut().zip(a).zip(run.seed) {
                *t += s * self.sum(*a, derivative);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Problem, Tape, random::Key};
    use faer::Mat;

    #[test]
    fn gradients() {
        for (m, n) in cases::SHAPES {
            gradcheck(&[cases::positive(1, m, n)], |t, x| t.ln_gamma(x[0])).unwrap().assert_below(1e-7);
        }
        for exponent in -3..=4 {
            let wide = Mat::from_fn(1, 1, |_, _| 1.7 * 10_f64.powi(exponent));
            gradcheck(&[wide], |t, x| t.ln_gamma(x[0])).unwrap().assert_below(1e-8);
        }
        for (p, a) in [(1, 0.3), (2, 0.9), (13, 20.0), (100, 60.5)] {
            let a = Mat::from_fn(1, 1, |_, _| a);
            gradcheck(std::slice::from_ref(&a), |t, x| t.multivariate_ln_gamma(x[0], p)).unwrap().assert_below(1e-7);
            gradcheck(&[a], |t, x| t.multivariate_digamma(x[0], p)).unwrap().assert_below(1e-7);
        }
    }

    /// Γ_3(2) = π^{3/2}·Γ(2)Γ(3/2)Γ(1) = π²/2.
    #[test]
    fn values() {
        let mut tape = Tape::new("values");
        let a = tape.leaf("a", 1, 1);
        let y = tape.multivariate_ln_gamma(a, 3);
        let mut run = tape.finish().workspace();
        run.set_slice(a, &[2.0]).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert!((run.scalar(y) - (std::f64::consts::PI.powi(2) / 2.0).ln()).abs() < 1e-14);
        run.set_slice(a, &[1.0]).unwrap();
        let failure = run.forward(Key::new(0), Pass::Value).unwrap_err();
        assert!(matches!(failure.problem, Problem::OutOfDomain { value: 1.0, .. }), "{failure}");
    }
}
