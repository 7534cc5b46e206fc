//! The inverse gamma distribution.

use super::{Distribution, Error, MatrixDistribution, Support, error};
use dkp_tape::{Node, Tape};

/// InverseGamma(a, b) over positive numbers; the mean is b/(a − 1) for a > 1.
///
/// log p(x) = a·log b − log Γ(a) − (a+1)·log x − b/x
///
/// A draw is b/Gamma(a, 1).
#[derive(Clone, Copy, Debug)]
pub struct InverseGamma {
    /// a, 1×1.
    pub shape: Node,
    /// b, 1×1.
    pub scale: Node,
}

impl MatrixDistribution for InverseGamma {
    fn shape(&self) -> (usize, usize) {
        (1, 1)
    }

    fn log_density(&self, tape: &mut Tape, x: Node) -> Node {
        let (log_b, log_x) = (tape.ln(self.scale), tape.ln(x));
        let normaliser = tape.ln_gamma(self.shape);
        let level = tape.product(self.shape, log_b);
        let above = tape.affine(self.shape, 1.0, 1.0);
        let power = tape.product(above, log_x);
        let reciprocal = tape.reciprocal(x);
        let decay = tape.product(self.scale, reciprocal);
        let sum = tape.subtract(level, normaliser);
        let sum = tape.subtract(sum, power);
        tape.subtract(sum, decay)
    }

    fn draw(&self, tape: &mut Tape) -> Node {
        let gamma = tape.gammas(self.shape);
        let reciprocal = tape.reciprocal(gamma);
        tape.product(self.scale, reciprocal)
    }
}

/// [`InverseGamma`] with numbers: a, then b.
pub fn inverse_gamma(shape: f64, scale: f64) -> Result<Distribution, Error> {
    error::positive("the shape", shape)?;
    error::positive("the scale", scale)?;
    Distribution::new(Support::Positive, Tape::new("inverse gamma"), |tape| InverseGamma {
        shape: tape.number(shape),
        scale: tape.number(scale),
    })
}
