//! Noise whose variance is uncertain, as normals.
//!
//! With a variance eᵘ, and a smooth law of u, E N(y; f, v + eᵘ) is an integral over the line. There the trapezoid rule errs by the integrand's
//! Fourier transform at 2π/step: exponentially little, and relative to the density, so that tails are as right as the middle.

use std::f64::consts::TAU;

/// A component of a mixture of normals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    /// The logarithm of its weight.
    pub log_weight: f64,
    /// Its mean.
    pub mean: f64,
    /// Its variance.
    pub variance: f64,
}

impl Normal {
    /// log w·N(y; mean, variance).
    pub(super) fn log_density(&self, y: f64) -> f64 {
        self.log_weight - 0.5 * ((TAU * self.variance).ln() + (y - self.mean).powi(2) / self.variance)
    }
}

/// Steps are 1/√(curvature of the law's logarithm at its mode + this), this for N(y; f, eᵘ) as a function of u.
const CURVATURE: f64 = 3.5;
/// The rule ends where the law's logarithm is this far below its mode: large variances explain outliers however improbable they are, and
/// small ones nothing that others do not.
const ABOVE: f64 = 400.0;
const BELOW: f64 = 40.0;
/// And where the variance is e²⁵ times that of the mode, enough for what is 10⁵ deviations out.
pub(super) const LARGEST: f64 = 25.0;

/// The trapezoid rule for a law of u whose mode is 0: visits nodes u and logarithms of their weights.
pub(super) fn trapezoid(curvature: f64, mut log_law: impl FnMut(f64) -> f64, mut visit: impl FnMut(f64, f64)) {
    let step = (curvature + CURVATURE).sqrt().recip();
    let (mode, log_step) = (log_law(0.0), step.ln());
    let mut side = |first: i32, step: f64, lowest: f64| {
        for u in (first..).map(|k| step * f64::from(k)) {
            let law = log_law(u);
            // also where it is NaN
            if !(law >= mode - lowest && u <= LARGEST) {
                break;
            }
            visit(u, law + log_step);
        }
    };
    side(0, step, ABOVE);
    side(1, -step, BELOW);
}

/// log Σeˡ, from the largest l.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + logs.iter().map(|l| (l - largest).exp()).sum::<f64>().ln()
}
