//! The derivative of a Gamma(a, 1) variate in its shape, by implicit differentiation.
//!
//! A variate moves with a so that its quantile stays: dx/da = −(∂F(x; a)/∂a)/p(x; a). For a ≥ 10 Temme's uniform
//! expansion gives this without exponentials. With x = aλ, μ = λ−1, ½η² = μ − ln λ and S = Σ_k C_k(η)a⁻ᵏ,
//!
//!   F = Φ(η√a) − e^{−aη²/2}/√(2πa)·S,    p = √(a/2π)·e^{−aη²/2}/(x·Γ*(a)),
//!
//! and the factors e^{−aη²/2} cancel:
//!
//!   dx/da = −λΓ*(a)·[η/2 − μ/η − S·(ln λ − 1/(2a)) − dS/da],
//!   dS/da = −(1/a)·Σ_k (k·C_k + (μ/η)·C_k')·a⁻ᵏ.
//!
//! Elsewhere the ratios of `incomplete_gamma` are differentiated term by term.

use super::gamma_coefficients::{SCALED_GAMMA, TEMME};
use super::incomplete_gamma::quantile_slope;
use crate::math::{arch, ln_normal};
use pulp::Simd;

/// The expansion is used from this shape on …
const LEAST_SHAPE: f64 = 10.0;
/// … and for |η| up to here: its power series have radius 2√π ≈ 3.54.
const LARGEST_ETA: f64 = 1.7;
/// Elements handled together.
const LANES: usize = 16;

/// dx/da of one variate x ~ Gamma(a, 1), for a > 0 and x > 0.
///
/// ```
/// // the median, about a − 1/3 + 0.02/a, moves with the shape nearly one to one
/// let d = dkp_tape::random::gamma_derivative(50.0, 49.667);
/// assert!((d - 1.0).abs() < 1e-4);
/// ```
pub fn gamma_derivative(a: f64, x: f64) -> f64 {
    let mut d = [0.0];
    fill_gamma_derivative(&[a], &[x], &mut d);
    d[0]
}

/// dx/da for every element; `a` has one element for all, or one for each.
///
/// # Panics
///
/// If `a` or `out` has another length.
pub fn fill_gamma_derivative(a: &[f64], x: &[f64], out: &mut [f64]) {
    let fits = out.len() == x.len() && (a.len() == 1 || a.len() == x.len());
    assert!(fits, "fill_gamma_derivative: {} shapes, {} variates, {} results", a.len(), x.len(), out.len());
    let shape = |i: usize| if a.len() == 1 { a[0] } else { a[i] };
    for first in (0..x.len()).step_by(LANES) {
        let count = LANES.min(x.len() - first);
        let (mut aa, mut xx, mut dd, mut eta) =
            ([LEAST_SHAPE; LANES], [LEAST_SHAPE; LANES], [0.0; LANES], [0.0; LANES]);
        for l in 0..count {
            (aa[l], xx[l]) = (shape(first + l), x[first + l]);
        }
        arch().dispatch(Expansion { a: &aa, x: &xx, eta: &mut eta, out: &mut dd });
        for l in 0..count {
            let covered = aa[l] >= LEAST_SHAPE && eta[l].abs() <= LARGEST_ETA;
            out[first + l] = if covered { dd[l] } else { quantile_slope(aa[l], xx[l]) };
        }
    }
}

struct Expansion<'a> {
    a: &'a [f64; LANES],
    x: &'a [f64; LANES],
    eta: &'a mut [f64; LANES],
    out: &'a mut [f64; LANES],
}

impl pulp::WithSimd for Expansion<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (mut mu, mut eta_over_mu) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            mu[l] = (self.x[l] - self.a[l]) / self.a[l];
            eta_over_mu[l] = eta_by_mu(mu[l]);
            self.eta[l] = mu[l] * eta_over_mu[l];
        }
        // s = Σ C_k wᵏ, ks = Σ k C_k wᵏ, ds = Σ C_k' wᵏ with w = 1/a
        let (mut s, mut ks, mut ds) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for start in (0..LANES).step_by(S::F64_LANES) {
            let lanes = start..start + S::F64_LANES;
            let eta = simd.partial_load_f64s(&self.eta[lanes.clone()]);
            let w = simd.div_f64s(simd.splat_f64s(1.0), simd.partial_load_f64s(&self.a[lanes.clone()]));
            let zero = simd.splat_f64s(0.0);
            let (mut vs, mut vks, mut vds) = (zero, zero, zero);
            for (k, row) in TEMME.iter().enumerate().rev() {
                let (mut c, mut dc) = (zero, zero);
                for &coefficient in row.iter().rev() {
                    dc = simd.mul_add_f64s(dc, eta, c);
                    c = simd.mul_add_f64s(c, eta, simd.splat_f64s(coefficient));
                }
                vs = simd.mul_add_f64s(vs, w, c);
                vds = simd.mul_add_f64s(vds, w, dc);
                vks = simd.mul_add_f64s(vks, w, simd.mul_f64s(simd.splat_f64s(k as f64), c));
            }
            simd.partial_store_f64s(&mut s[lanes.clone()], vs);
            simd.partial_store_f64s(&mut ks[lanes.clone()], vks);
            simd.partial_store_f64s(&mut ds[lanes], vds);
        }
        for l in 0..LANES {
            let w = 1.0 / self.a[l];
            let mut scaled_gamma = 0.0;
            for k in (0..SCALED_GAMMA.len()).rev() {
                scaled_gamma = SCALED_GAMMA[k] - w * scaled_gamma;
            }
            let mu_by_eta = 1.0 / eta_over_mu[l];
            let ln_lambda = mu[l] - 0.5 * self.eta[l] * self.eta[l];
            let s_slope = -w * (ks[l] + mu_by_eta * ds[l]);
            let bracket = 0.5 * self.eta[l] - mu_by_eta - s[l] * (ln_lambda - 0.5 * w) - s_slope;
            self.out[l] = -(1.0 + mu[l]) * scaled_gamma * bracket;
        }
    }
}

/// η/μ = √(2(μ − ln_normal(1+μ)))/|μ|, without cancellation at μ → 0.
///
/// With r = μ/(2+μ): (μ − ln_normal(1+μ))/μ² = ½(1−r)·(1 − r(1−r)·Σ r²ⁿ/(2n+3)); directly where |μ| is not small.
#[inline(always)]
fn eta_by_mu(mu: f64) -> f64 {
    const SMALL: f64 = 0.25;
    let r = mu / (2.0 + mu);
    let r2 = r * r;
    let mut series = 1.0 / 19.0;
    for n in (0..8).rev() {
        series = r2.mul_add(series, 1.0 / (2 * n + 3) as f64);
    }
    let near = (1.0 - r) * (1.0 - r * (1.0 - r) * series);
    let far = 2.0 * (mu - ln_normal(1.0 + mu)) / (mu * mu);
    let squared = if mu.abs() < SMALL { near } else { far };
    squared.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns a, quantile, x, dx/da, to 18 digits by mpmath (oracles/gamma_derivative.py).
    const ORACLE: &str = include_str!("../../../../oracles/gamma_derivative.csv");

    #[test]
    fn agrees_with_mpmath_from_shape_0_05_to_1e6() {
        let mut worst = 0.0_f64;
        for line in ORACLE.lines().skip(1) {
            let v: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
            let [a, q, x, expected] = v[..] else { panic!("four columns expected: {line}") };
            let error = (gamma_derivative(a, x) / expected - 1.0).abs();
            assert!(error < 1e-9, "a {a}, quantile {q}: relative error {error:e}");
            worst = worst.max(error);
        }
        println!("largest relative error {worst:e}");
    }

    #[test]
    fn both_methods_agree_where_they_meet() {
        for (a, x) in [(10.0, 2.2), (10.0, 40.0), (12.0, 12.0), (30.0, 29.0), (100.0, 150.0), (100.0, 100.0 + 1e-9)] {
            let (fast, slow) = (gamma_derivative(a, x), quantile_slope(a, x));
            assert!((fast / slow - 1.0).abs() < 1e-9, "a {a}, x {x}: {fast} and {slow}");
        }
    }

    #[test]
    fn far_tails_stay_finite_and_positive() {
        for a in [0.05, 0.5, 1.0, 9.9, 10.0, 57.0, 1e4, 1e6_f64] {
            for x in [1e-300, 1e-10, 1e-3 * a, 0.5 * a, 2.0 * a, 10.0 * a + 100.0] {
                let d = gamma_derivative(a, x);
                assert!(d.is_finite() && d >= 0.0, "a {a}, x {x}: {d}");
            }
        }
    }
}
