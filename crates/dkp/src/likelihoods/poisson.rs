//! Counts.

use super::{Density, DensityJet, LikelihoodParameter, Peak, TargetKind};
use dkp_tape::math::ln_gamma;

/// y is a count with rate e^f.
#[derive(Clone, Copy, Debug)]
pub struct Poisson;

/// The largest logarithm of a rate; a latent beyond it is a sign of divergence, and its rate must not overflow.
const LARGEST: f64 = 100.0;

/// From here on the incomplete gamma function is taken from its asymptotic expansion, whose error is below 1e-6; a series would be long.
const MANY: f64 = 1e5;

/// Q(a, x) for a large argument by two terms of Temme's expansion: ½erfc(η√(a/2)) + e^{−aη²/2}/√(2πa)·(1/(λ−1) − 1/η), with λ = x/a and
/// ½η² = λ − 1 − ln λ (NIST DLMF 8.12).
fn large_upper_gamma(a: f64, x: f64) -> f64 {
    let t = (x - a) / a;
    let half_square = t - t.ln_1p();
    if half_square.is_nan() || half_square.is_infinite() {
        return f64::from(x < a);
    }
    let eta = (2.0 * half_square).sqrt().copysign(t);
    // 1/(λ−1) − 1/η → −⅓ + …, whose difference loses all digits near 0
    let difference = if t.abs() < 1e-4 { -1.0 / 3.0 + t / 12.0 } else { 1.0 / t - 1.0 / eta };
    let rest = (-a * half_square).exp() / (std::f64::consts::TAU * a).sqrt() * difference;
    (0.5 * libm::erfc(eta * (0.5 * a).sqrt()) + rest).clamp(0.0, 1.0)
}

impl Density for Poisson {
    fn name(&self) -> String {
        "poisson".to_string()
    }

    fn parameters(&self) -> Vec<LikelihoodParameter> {
        Vec::new()
    }

    /// −log y!
    fn constant(&self, _: &[f64], y: f64) -> DensityJet {
        DensityJet { value: -ln_gamma(y + 1.0), ..DensityJet::default() }
    }

    fn log_density(&self, _: &[f64], y: f64, f: f64) -> DensityJet {
        let rate = f.min(LARGEST).exp();
        DensityJet { value: y * f - rate, f: y - rate, parameters: [0.0; 4] }
    }

    fn mean_and_variance(&self, _: &[f64], f: f64) -> (f64, f64) {
        let rate = f.min(LARGEST).exp();
        (rate, rate)
    }

    fn cdf(&self, _: &[f64], y: f64, f: f64) -> f64 {
        if y < 0.0 {
            return 0.0;
        }
        // P(Y ≤ k) is an incomplete gamma function of the rate
        let rate = f.min(LARGEST).exp().max(f64::MIN_POSITIVE);
        let a = y.floor() + 1.0;
        if a.max(rate) > MANY { large_upper_gamma(a, rate) } else { statrs::function::gamma::gamma_ur(a, rate) }
    }

    fn initial(&self, y: f64) -> f64 {
        (y + 0.5).ln()
    }

    fn peak(&self, _: &[f64], y: f64) -> Option<Peak> {
        Some(Peak { centre: self.initial(y.max(0.0)), width: (y.max(0.0) + 0.5).sqrt().recip() })
    }

    fn target_kind(&self) -> TargetKind {
        TargetKind::Count
    }

    fn accepts(&self, y: f64) -> Result<(), &'static str> {
        if y >= 0.0 && y.fract() == 0.0 { Ok(()) } else { Err("a whole number, at least 0") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two forms agree where both are at hand, and huge counts take no time.
    #[test]
    fn large_counts_have_their_distribution_function() {
        for a in [1e5_f64, 2e5, 1e6] {
            for z in [-8.0, -3.0, -1.0, -0.1, -1e-4, 0.0, 1e-3, 0.4, 2.0, 6.0] {
                let x = a + z * a.sqrt();
                let (ours, exact) = (large_upper_gamma(a, x), statrs::function::gamma::gamma_ur(a, x));
                assert!((ours - exact).abs() < 1e-6, "{a} {z}: {ours} and {exact}");
            }
        }
        for (y, f, expected) in [(1e200, 400.0, 1.0), (1e40, 93.0, 0.0), (3.0, 99.0, 0.0), (1e200, 1.0, 1.0)] {
            assert_eq!(Poisson.cdf(&[], y, f), expected, "{y} {f}");
        }
    }
}
