//! The exponential function.

/// 1.5·2⁵²: adding it rounds a small number to an integer, which then stands in the low mantissa bits.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; the upper has 32 trailing zero bits, so that k·LN2_HI is exact for |k| < 2¹⁰.
pub(super) const LN2_HI: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
pub(super) const LN2_LO: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);

/// Below this the result would be subnormal, or nearly, and is returned as 0.
const SMALLEST: f64 = -708.39;
/// Above this the result overflows to infinity.
const LARGEST: f64 = 709.782_712_893_384;

/// eʳ = 1 + r + r²·p(r) on |r| ≤ ln 2/2, to 1.6e-17 (oracles/elementary.py).
const EXP: [f64; 10] = [
    0.5000000000000001,
    0.16666666666666669,
    0.041666666666624164,
    0.008333333333330065,
    0.0013888888917196719,
    0.00019841269863040545,
    2.4801521322368692e-05,
    2.7557268480310024e-06,
    2.7620075879983367e-07,
    2.5100375832561234e-08,
];

/// eˣ = 2ᵏ·eʳ with k = round(x/ln 2) and r = x − k·ln 2.
///
/// Results below the smallest normal number are 0.
///
/// ```
/// assert_eq!(dkp_tape::math::exp(0.0), 1.0);
/// assert_eq!(dkp_tape::math::exp(-1000.0), 0.0);
/// ```
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LO, k.mul_add(-LN2_HI, x));
    let mut p = EXP[EXP.len() - 1];
    for i in (0..EXP.len() - 1).rev() {
        p = p.mul_add(r, EXP[i]);
    }
    let p = (r * r).mul_add(p, r) + 1.0;
    // The low bits of `shifted` are k: added to the exponent field they multiply by 2ᵏ.
    let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
    let low = if x < SMALLEST { 0.0 } else { scaled };
    let high = if x > LARGEST { f64::INFINITY } else { low };
    if x.is_nan() { x } else { high }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library_to_two_ulps() {
        for i in -70_830..70_970 {
            let x = i as f64 * 0.01 + 1e-3;
            let (ours, theirs) = (exp(x), x.exp());
            assert!((ours / theirs - 1.0).abs() < 4.5e-16, "exp({x}) = {ours:e}, not {theirs:e}");
        }
    }

    #[test]
    fn limits_are_exact() {
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(-709.0), 0.0);
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp(710.0), f64::INFINITY);
        assert!(exp(709.7) < f64::INFINITY);
        assert!(exp(f64::NAN).is_nan() && exp(f64::from_bits(0x7ff0_0000_dead_beef)).is_nan());
    }
}
