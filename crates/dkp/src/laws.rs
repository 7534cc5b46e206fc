//! Statistical comparisons for tests.
//!
//! Seeds are fixed, so a test's verdict never changes; the false-alarm rate is the probability that a correct program
//! would have failed when the seed was chosen.

use dkp_tape::math::ln_gamma;

/// False-alarm rate of one comparison.
pub const FALSE_ALARM: f64 = 1e-6;

/// Fails unless the samples follow the distribution, by the Kolmogorov–Smirnov statistic.
///
/// With 100,000 samples the largest distance accepted is 0.0085, with 400,000 half of that. A gamma variate of shape a whose mean is
/// off by 2 % is about 0.02·√(a/2π) away, so the former see it for a ≥ 1.4 and the latter for a ≥ 0.5; one degree of
/// freedom, a half in the shape, is much further away.
#[track_caller]
pub fn assert_law(what: &str, mut samples: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    assert!(samples.iter().all(|x| !x.is_nan()), "{what}: a sample is NaN");
    let n = samples.len() as f64;
    samples.sort_by(f64::total_cmp);
    let distance = samples.iter().enumerate().fold(0.0_f64, |worst, (i, &x)| {
        let f = cdf(x);
        assert!((0.0..=1.0).contains(&f), "{what}: the distribution function at {x} is {f}");
        worst.max((f - i as f64 / n).abs()).max(((i + 1) as f64 / n - f).abs())
    });
    let most = ((2.0 / FALSE_ALARM).ln() / (2.0 * n)).sqrt();
    assert!(distance < most, "{what}: Kolmogorov–Smirnov distance {distance:.4}, at most {most:.4} expected");
}

/// Fails unless two sets of samples follow the same law.
#[track_caller]
pub fn assert_same_law(what: &str, mut a: Vec<f64>, mut b: Vec<f64>) {
    assert!(a.iter().chain(&b).all(|x| !x.is_nan()), "{what}: a sample is NaN");
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let below = |sorted: &[f64], x: f64| sorted.partition_point(|&y| y <= x) as f64 / sorted.len() as f64;
    let distance = a.iter().chain(&b).fold(0.0_f64, |worst, &x| worst.max((below(&a, x) - below(&b, x)).abs()));
    let most = ((2.0 / FALSE_ALARM).ln() / 2.0 * (n + m) / (n * m)).sqrt();
    assert!(distance < most, "{what}: Kolmogorov–Smirnov distance {distance:.4}, at most {most:.4} expected");
}

/// Fails unless the mean of the samples is the expected one, within 4.9 standard errors.
#[track_caller]
pub fn assert_mean(what: &str, samples: &[f64], expected: f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    // P(|z| > 4.9) ≈ 1e-6
    assert!((mean - expected).abs() < 4.9 * error, "{what}: mean {mean} ± {error}, expected {expected}");
}

/// P(x ≤ ·) of Gamma(a, 1), by the series x^a·e^{−x}·Σ xⁿ/Γ(a+n+1): all of its terms are positive.
pub fn gamma_cdf(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut term = (a * x.ln() - x - ln_gamma(a + 1.0)).exp();
    let (mut sum, mut n) = (0.0, 0.0);
    while term > 1e-17 * sum || n < x {
        sum += term;
        n += 1.0;
        term *= x / (a + n);
    }
    sum.min(1.0)
}

/// P(x ≤ ·) of χ²(k).
pub fn chi_squared_cdf(k: f64, x: f64) -> f64 {
    gamma_cdf(0.5 * k, 0.5 * x)
}

/// P(x ≤ ·) of InverseGamma(a, b).
pub fn inverse_gamma_cdf(a: f64, b: f64, x: f64) -> f64 {
    1.0 - gamma_cdf(a, b / x)
}

#[test]
fn the_gamma_cdf_is_right() {
    // closed forms: 1 − e^{−x}, and 1 − e^{−x}(1 + x + x²/2)
    for x in [0.01, 0.5, 3.0, 20.0_f64] {
        assert!((gamma_cdf(1.0, x) + (-x).exp_m1()).abs() < 1e-14);
        assert!((gamma_cdf(3.0, x) - (1.0 - (-x).exp() * (1.0 + x + 0.5 * x * x))).abs() < 1e-14);
    }
}

/// What the comparisons above promise to see.
#[test]
fn small_errors_are_seen() {
    let n = 100_000;
    let uniform = |i: usize| (i as f64 + 0.5) / n as f64;
    // Gamma(3, 1) samples by bisection at evenly spaced quantiles, against wrong laws
    let samples: Vec<f64> = (0..n)
        .map(|i| {
            let (mut low, mut high) = (0.0, 60.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if gamma_cdf(3.0, middle) < uniform(i) { low = middle } else { high = middle }
            }
            low
        })
        .collect();
    assert_law("right", samples.clone(), |x| gamma_cdf(3.0, x));
    let sees = |cdf: fn(f64) -> f64| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| assert_law("wrong", samples.clone(), cdf))).is_err()
    };
    assert!(sees(|x| gamma_cdf(3.0, x / 1.02)) && sees(|x| gamma_cdf(3.0, x / 0.98)), "2 % of the scale");
    assert!(sees(|x| gamma_cdf(3.5, x)), "one degree of freedom");
}
