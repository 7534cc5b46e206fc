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

/// 1/n! for n = 0..=13: on |r| ≤ ln 2/2 the remainder is below 5e-18.
const TAYLOR: [f64; 14] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
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
    let mut p = TAYLOR[13];
    for i in (0..13).rev() {
        p = p.mul_add(r, TAYLOR[i]);
    }
    // The low bits of `shifted` are k: added to the exponent field they multiply by 2ᵏ.
    let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
    let low = if x < SMALLEST { 0.0 } else { scaled };
    if x > LARGEST { f64::INFINITY } else { low }
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
        assert!(exp(f64::NAN).is_nan());
    }
}
