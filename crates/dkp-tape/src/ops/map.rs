//! Y_ij = f(A_ij) for a function given with its derivative. Adjoint: Ā_ij += Ȳ_ij·f'(A_ij), kept from the forward pass.

use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Operation};
use crate::{Memory, Node, Problem, Tape};

impl Tape {
    /// f(A), element by element; `f` returns its value and its derivative.
    ///
    /// ```
    /// # let mut tape = dkp_tape::Tape::new("cube");
    /// # let x = tape.leaf("x", 2, 2);
    /// let y = tape.map("cube", x, |x| (x * x * x, 3.0 * x * x));
    /// ```
    #[track_caller]
    pub fn map(&mut self, name: &'static str, a: Node, f: impl Fn(f64) -> (f64, f64) + Send + Sync + 'static) -> Node {
        let memory = Memory { saved: if a.differentiable { a.len() } else { 0 }, scratch: 0 };
        self.record(Box::new(Map { name, f }), &[a], (a.rows(), a.cols()), memory)
    }

    /// eᵃ.
    #[track_caller]
    pub fn exp(&mut self, a: Node) -> Node {
        self.map("exp", a, |x| {
            let y = crate::math::exp(x);
            (y, y)
        })
    }

    /// ln a. Not finite for a ≤ 0.
    #[track_caller]
    pub fn ln(&mut self, a: Node) -> Node {
        self.map("ln", a, |x| (x.ln(), 1.0 / x))
    }

    /// √a. Its derivative is not finite at 0.
    #[track_caller]
    pub fn sqrt(&mut self, a: Node) -> Node {
        self.map("sqrt", a, |x| {
            let y = x.sqrt();
            (y, 0.5 / y)
        })
    }

    /// 1/a.
    #[track_caller]
    pub fn reciprocal(&mut self, a: Node) -> Node {
        self.map("reciprocal", a, |x| {
            let y = 1.0 / x;
            (y, -y * y)
        })
    }

    /// a².
    #[track_caller]
    pub fn square(&mut self, a: Node) -> Node {
        self.map("square", a, |x| (x * x, 2.0 * x))
    }

    /// ln(1 + eᵃ), without overflow; the derivative is the logistic function.
    #[track_caller]
    pub fn softplus(&mut self, a: Node) -> Node {
        self.map("softplus", a, |x| {
            let e = (-x.abs()).exp();
            let sigmoid = if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
            (x.max(0.0) + e.ln_1p(), sigmoid)
        })
    }

    /// max(a, floor); the derivative is 0 where the floor holds.
    #[track_caller]
    pub fn at_least(&mut self, a: Node, floor: f64) -> Node {
        // NaN is not below the floor: it passes through
        self.map("at_least", a, move |x| if x <= floor { (floor, 0.0) } else { (x, 1.0) })
    }
}

struct Map<F> {
    name: &'static str,
    f: F,
}

impl<F: Fn(f64) -> (f64, f64) + Send + Sync> Operation for Map<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let a = run.inputs.slice(0);
        if run.gradient && !run.saved.is_empty() {
            let pairs = run.output.iter_mut().zip(run.saved.iter_mut());
            vectorized(
                #[inline(always)]
                || pairs.zip(a).for_each(|((y, d), a)| (*y, *d) = (self.f)(*a)),
            );
        } else {
            vectorized(
                #[inline(always)]
                || run.output.iter_mut().zip(a).for_each(|(y, a)| *y = (self.f)(*a).0),
            );
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        if let Some(target) = run.targets.get(0) {
            target.add2(run.seed, run.saved, |s, d| s * d);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Node, Pass, Tape, random::Key};
    use faer::Mat;

    #[test]
    fn gradients() {
        let functions: [fn(&mut Tape, Node) -> Node; 8] = [
            Tape::exp,
            Tape::ln,
            Tape::sqrt,
            Tape::reciprocal,
            Tape::square,
            Tape::softplus,
            |t, a| t.at_least(a, 0.1),
            |t, a| t.map("cube", a, |x| (x * x * x, 3.0 * x * x)),
        ];
        for f in functions {
            for (m, n) in cases::SHAPES {
                gradcheck(&[cases::positive(1, m, n)], |t, x| f(t, x[0])).unwrap().assert_below(1e-8);
            }
            for exponent in -5..=1 {
                let wide = Mat::from_fn(1, 1, |_, _| 1.7 * 10_f64.powi(exponent));
                gradcheck(&[wide], |t, x| f(t, x[0])).unwrap().assert_below(1e-8);
            }
        }
        for f in [Tape::exp, Tape::reciprocal, Tape::square, Tape::softplus] {
            gradcheck(&[cases::matrix(2, 5, 5)], |t, x| f(t, x[0])).unwrap().assert_below(1e-8);
        }
    }

    #[test]
    fn softplus_and_floor_hold_at_the_extremes() {
        let mut tape = Tape::new("extremes");
        let x = tape.leaf("x", 4, 1);
        let (s, f) = (tape.softplus(x), tape.at_least(x, 0.5));
        let mut run = tape.finish().workspace();
        run.set_slice(x, &[-800.0, -40.0, 40.0, 800.0]).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        let s = run.value(s);
        assert_eq!((s[(0, 0)], s[(3, 0)]), (0.0, 800.0));
        assert!((s[(1, 0)] / (-40_f64).exp() - 1.0).abs() < 1e-15);
        assert_eq!(run.value(f)[(0, 0)], 0.5);
    }

    #[test]
    fn a_floor_does_not_hide_nan() {
        let mut tape = Tape::new("nan");
        let x = tape.leaf("x", 1, 1);
        let log = tape.ln(x);
        let y = tape.at_least(log, 0.5);
        tape.output("y", y);
        let mut run = tape.finish().workspace();
        run.set_slice(x, &[-1.0]).unwrap();
        assert!(run.forward(Key::new(0), Pass::Value).is_err());
    }
}
