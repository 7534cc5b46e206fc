//! The complementary error function.

/// e^{x²}·erfc(x) = d·p(t) with d = 1/(x + 4) and t = (x − 4)·d, to 2e-15 (oracles/elementary.py).
const SCALED_ERFC: [f64; 20] = [
    1.0959956610004904,
    -0.9765487290808856,
    0.7732087022654586,
    -0.5408538313128016,
    0.3308515878682838,
    -0.17401093725563166,
    0.07638151507283322,
    -0.026370053082050912,
    0.0061120542969275,
    -0.00028096113795827326,
    -0.0004550465274643909,
    0.00017682438245411315,
    -3.6504260959760743e-06,
    -1.8895941582025132e-05,
    4.712026828401015e-06,
    1.4865816510777465e-06,
    -8.455413708894016e-07,
    -1.3569392066825979e-07,
    1.0264125240200484e-07,
    2.5217868095448754e-08,
];
/// The k of d = 1/(x + k) and t = (x − k)·d.
const CENTRE: f64 = 4.0;
/// Where p ends: beyond it e^{−x²} is 0.
const LARGEST: f64 = 27.0;

/// e^{x²}·erfc(x) for 0 ≤ x ≤ 27; beyond, its value at 27. With e^{−x²}, which a density needs too, it makes [`erfc`].
///
/// ```
/// assert!((dkp_tape::math::scaled_erfc(1.0) - 0.427_583_576_155_807).abs() < 1e-15);
/// ```
#[inline(always)]
pub fn scaled_erfc(x: f64) -> f64 {
    let x = if x > LARGEST { LARGEST } else { x };
    let d = 1.0 / (x + CENTRE);
    let t = (x - CENTRE) * d;
    let mut p = SCALED_ERFC[SCALED_ERFC.len() - 1];
    for i in (0..SCALED_ERFC.len() - 1).rev() {
        p = p.mul_add(t, SCALED_ERFC[i]);
    }
    p * d
}

/// 1 − erf(x) = 2/√π·∫ e^{−t²} dt over t > x; NaN stays.
///
/// ```
/// assert_eq!(dkp_tape::math::erfc(30.0), 0.0);
/// assert_eq!(dkp_tape::math::erfc(f64::NEG_INFINITY), 2.0);
/// ```
#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    let tail = super::exp(-x * x) * scaled_erfc(x.abs());
    if x < 0.0 { 2.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To 2e-15, and relatively to the rounding of x², whose logarithm it is.
    #[test]
    fn agrees_with_libm() {
        for i in -6_000..26_500 {
            let x = i as f64 * 1e-3 + 1e-4;
            let (ours, theirs) = (erfc(x), libm::erfc(x));
            let rounding = (4.0 + x * x) * f64::EPSILON;
            assert!((ours - theirs).abs() < 2e-15, "erfc({x}) = {ours:e}, not {theirs:e}");
            assert!((ours / theirs - 1.0).abs() < 2e-15 + rounding, "erfc({x}) = {ours:e}, not {theirs:e}");
        }
    }

    #[test]
    fn limits_are_exact() {
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY, 40.0, -40.0].map(erfc), [0.0, 2.0, 0.0, 2.0]);
        assert!(erfc(f64::NAN).is_nan() && scaled_erfc(f64::NAN).is_nan());
    }
}
