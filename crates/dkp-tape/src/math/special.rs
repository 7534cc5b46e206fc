//! log Γ and its derivatives, for scalars and small vectors.

/// log Γ(x) for x > 0.
///
/// ```
/// assert!((dkp_tape::math::ln_gamma(5.0) - 24.0_f64.ln()).abs() < 1e-15);
/// ```
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// B₂ₙ/(2n) for n = 1..=8.
const ASYMPTOTIC: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
    -3_617.0 / 8_160.0,
];

/// Where the asymptotic series is used directly: its remainder is below 3e-19 there.
const LARGE: f64 = 12.0;

/// ψ(x) = d/dx log Γ(x) for x > 0: upward recurrence ψ(x) = ψ(x+1) − 1/x, then
/// ψ(x) ~ ln x − 1/(2x) − Σ B₂ₙ/(2n·x²ⁿ).
///
/// ```
/// // NaN for x ≤ 0
/// assert!(dkp_tape::math::digamma(-1.0).is_nan());
/// let euler = 0.577_215_664_901_532_9;
/// assert!((dkp_tape::math::digamma(1.0) + euler).abs() < 1e-15);
/// ```
pub fn digamma(mut x: f64) -> f64 {
    if x <= 0.0 {
        return f64::NAN;
    }
    let mut below = 0.0;
    while x < LARGE {
        below += 1.0 / x;
        x += 1.0;
    }
    let w = 1.0 / (x * x);
    let series = ASYMPTOTIC.iter().rev().fold(0.0, |p, c| (p + c) * w);
    x.ln() - 0.5 / x - series - below
}

/// ψ'(x) for x > 0: upward recurrence ψ'(x) = ψ'(x+1) + 1/x², then ψ'(x) ~ 1/x + 1/(2x²) + Σ B₂ₙ/x²ⁿ⁺¹.
///
/// ```
/// let expected = std::f64::consts::PI.powi(2) / 6.0;
/// assert!((dkp_tape::math::trigamma(1.0) - expected).abs() < 1e-15);
/// ```
pub fn trigamma(mut x: f64) -> f64 {
    if x <= 0.0 {
        return f64::NAN;
    }
    let mut below = 0.0;
    while x < LARGE {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let w = 1.0 / (x * x);
    let series = ASYMPTOTIC.iter().enumerate().rev().fold(0.0, |p, (n, c)| (p + 2.0 * (n + 1) as f64 * c) * w);
    (1.0 + series) / x + 0.5 * w + below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns x, log Γ(x), ψ(x), ψ'(x), to 20 digits by mpmath (oracles/special.py).
    const ORACLE: &str = include_str!("../../../../oracles/special.csv");

    #[test]
    fn agree_with_mpmath() {
        for line in ORACLE.lines().skip(1) {
            let v: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
            let [x, lg, psi, slope] = v[..] else { panic!("four columns expected: {line}") };
            assert!((ln_gamma(x) - lg).abs() <= 4e-16 * lg.abs().max(1.0), "log gamma at {x}");
            assert!((trigamma(x) / slope - 1.0).abs() <= 1e-15, "trigamma at {x}: {} {slope}", trigamma(x));
            assert!((digamma(x) - psi).abs() <= 1e-15 * psi.abs().max(1.0), "digamma at {x}: {} {psi}", digamma(x));
        }
    }
}
