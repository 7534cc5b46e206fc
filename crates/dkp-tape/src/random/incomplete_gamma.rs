//! The incomplete gamma function relative to its density, with derivatives in the shape.
//!
//! P(a, x) = p(x; a)·T and Q(a, x) = 1 − P = p(x; a)·U with p the Gamma(a, 1) density. The ratios T and U neither
//! underflow nor need Γ(a), and their derivatives in a are sums of terms of one sign.

use crate::math::{digamma, ln_gamma};

/// The series stops when a term no longer changes the sum.
const TOLERANCE: f64 = 1e-17;
/// A factor of the fraction is 1 and has slope 0 up to rounding.
const FRACTION_TOLERANCE: f64 = 1e-15;
/// Both converge in about 8√a + 60 terms where they are used; this bound only ends a hopeless case.
const MOST_TERMS: usize = 1_000_000;

/// T = Σ_k x^{k+1}/(a(a+1)…(a+k)) and ∂T/∂a = −Σ_k t_k Σ_{j≤k} 1/(a+j).
fn lower_ratio(a: f64, x: f64) -> (f64, f64) {
    let (mut term, mut harmonic) = (x / a, 1.0 / a);
    let (mut sum, mut slope) = (term, -term * harmonic);
    for k in 1..MOST_TERMS {
        let shifted = a + k as f64;
        term *= x / shifted;
        harmonic += 1.0 / shifted;
        sum += term;
        slope -= term * harmonic;
        if shifted > x && term <= TOLERANCE * sum {
            break;
        }
    }
    (sum, slope)
}

/// U = x/(x+1−a − 1(1−a)/(x+3−a − 2(2−a)/(x+5−a − …))) and ∂U/∂a, by Lentz's method on dual numbers.
fn upper_ratio(a: f64, x: f64) -> (f64, f64) {
    let (mut f, mut f_a) = (x + 1.0 - a, -1.0);
    let (mut c, mut c_a) = (f, f_a);
    let (mut d, mut d_a) = (0.0, 0.0);
    for n in 1..MOST_TERMS {
        let n = n as f64;
        let (num, num_a) = (n * (a - n), n);
        let (den, den_a) = (x + 2.0 * n + 1.0 - a, -1.0);
        let (below, below_a) = (den + num * d, den_a + num_a * d + num * d_a);
        (d, d_a) = (1.0 / below, -below_a / (below * below));
        (c, c_a) = (den + num / c, den_a + num_a / c - num * c_a / (c * c));
        let (step, step_a) = (c * d, c_a * d + c * d_a);
        (f, f_a) = (f * step, f_a * step + f * step_a);
        if (step - 1.0).abs() <= FRACTION_TOLERANCE && step_a.abs() <= FRACTION_TOLERANCE {
            break;
        }
    }
    (x / f, -x * f_a / (f * f))
}

/// dx/da at fixed P(a, x), anywhere: −(ln x − ψ(a))·T − ∂T/∂a below the mean, (ln x − ψ(a))·U + ∂U/∂a above.
pub(super) fn quantile_slope(a: f64, x: f64) -> f64 {
    let log_density_slope = x.ln() - digamma(a);
    if x < a + 1.0 {
        let (t, t_a) = lower_ratio(a, x);
        -log_density_slope * t - t_a
    } else {
        let (u, u_a) = upper_ratio(a, x);
        log_density_slope * u + u_a
    }
}

/// The x with P(a, x) = p, for a > 0 and 0 < p < 1 (else NaN): Newton's method on ln P or ln Q against ln x.
///
/// Both are concave there, so that the iteration converges from anywhere; on ln Q it may first leap far to the
/// right, which the bound on its step prevents.
///
/// ```
/// // Gamma(1, 1) is the exponential distribution
/// let x = dkp_tape::random::gamma_quantile(1.0, 0.3);
/// assert!((x + 0.7_f64.ln()).abs() < 1e-15);
/// ```
pub fn gamma_quantile(a: f64, p: f64) -> f64 {
    const MOST_STEPS: usize = 200;
    if !(a > 0.0 && a < f64::INFINITY && p > 0.0 && p < 1.0) {
        return f64::NAN;
    }
    // P(a, x) ≈ xᵃ/Γ(a+1) for small x
    let small = (p.ln() + ln_gamma(a + 1.0)) / a;
    if small < f64::MIN_POSITIVE.ln() {
        return small.exp(); // nothing but this term, and it may underflow to 0
    }
    let mut z = if a < 1.0 { small.min(a.ln()) } else { a.ln() };
    for _ in 0..MOST_STEPS {
        let x = z.exp();
        let density = ((a - 1.0) * z - x - ln_gamma(a)).exp();
        let (below, above) = if x < a + 1.0 {
            let below = density * lower_ratio(a, x).0;
            (below, 1.0 - below)
        } else {
            let above = density * upper_ratio(a, x).0;
            (1.0 - above, above)
        };
        let step = if p < 0.5 {
            (p.ln() - below.ln()) * below / (x * density)
        } else {
            ((above.ln() - (-p).ln_1p()) * above / (x * density)).clamp(-1.0, 1.0)
        };
        z += step;
        if step.abs() <= 2e-15 * z.abs().max(1.0) {
            break;
        }
    }
    z.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_quantile() {
        assert_eq!(gamma_quantile(0.001, 0.01), 0.0);
        for (a, p) in [(1.0, 1.0), (1.0, 0.0), (-1.0, 0.5), (f64::NAN, 0.5), (1.0, f64::NAN)] {
            assert!(gamma_quantile(a, p).is_nan());
        }
    }

    /// For whole a, Q(a, x) = e⁻ˣ Σ_{k<a} xᵏ/k!.
    #[test]
    fn quantile_inverts_the_erlang_distribution() {
        for a in [1_u32, 2, 5, 20, 60] {
            for p in [1e-9, 1e-4, 0.1, 0.5, 0.7, 0.999, 1.0 - 1e-7] {
                let x = gamma_quantile(f64::from(a), p);
                let (mut term, mut sum) = (1.0, 0.0);
                for k in 1..=a {
                    sum += term;
                    term *= x / f64::from(k);
                }
                let above = sum * (-x).exp();
                let error = if p < 0.5 { (1.0 - above - p).abs() / p } else { (above / (1.0 - p) - 1.0).abs() };
                // 1 − Q loses digits at small p: ε/p
                assert!(error < 1e-8 + 1e-14 / p, "a {a}, p {p}: {error:e}");
            }
        }
    }
}
