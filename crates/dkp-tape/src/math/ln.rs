//! The natural logarithm.

use super::exp::{LN2_HI, LN2_LO};

/// 2 artanh s = 2s + 2s³·p(s²) on |s| ≤ (√2−1)/(√2+1), to 4.6e-18 (oracles/elementary.py).
const ATANH: [f64; 7] = [
    0.3333333333333335,
    0.19999999999949752,
    0.14285714312987743,
    0.11111105567397539,
    0.0909144456263094,
    0.07665860800275845,
    0.07308224842544453,
];

/// ln x, for any x.
///
/// ```
/// assert_eq!(dkp_tape::math::ln(1.0), 0.0);
/// assert_eq!(dkp_tape::math::ln(0.0), f64::NEG_INFINITY);
/// ```
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    // a subnormal number is first multiplied by 2⁵⁴
    let subnormal = x < f64::MIN_POSITIVE;
    let normal = if subnormal { x * 18_014_398_509_481_984.0 } else { x };
    let shift = if subnormal { -54.0 * std::f64::consts::LN_2 } else { 0.0 };
    let value = ln_normal(normal) + shift;
    let value = if x < f64::INFINITY { value } else { x }; // infinity and NaN
    let value = if x < 0.0 { f64::NAN } else { value };
    if x == 0.0 { f64::NEG_INFINITY } else { value }
}

/// ln x = k·ln 2 + 2 artanh((m−1)/(m+1)) with x = 2ᵏ·m, m in [√½, √2), for positive normal x; meaningless for others.
#[inline(always)]
pub(crate) fn ln_normal(x: f64) -> f64 {
    const SQRT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const MANTISSA: u64 = (1 << 52) - 1;
    // Shifting by the bits of √½ makes the exponent field change where the mantissa passes √½.
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF);
    let m = f64::from_bits((shifted & MANTISSA).wrapping_add(SQRT_HALF));
    // k + 2048 as the low bits of 2⁵² + 2048 + k: an integer conversion that every instruction set has.
    let k_bits = (shifted.wrapping_add(2048 << 52) >> 52) | 0x4330_0000_0000_0000;
    let k = f64::from_bits(k_bits) - (4_503_599_627_370_496.0 + 2048.0);
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let mut p = ATANH[ATANH.len() - 1];
    for i in (0..ATANH.len() - 1).rev() {
        p = p.mul_add(s2, ATANH[i]);
    }
    // the leading term is kept apart for the last bit
    let tail = 2.0 * s * s2 * p;
    k.mul_add(LN2_HI, 2.0 * s + k.mul_add(LN2_LO, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        for i in 1..200_000_u64 {
            for x in [i as f64 * 1e-5, 1.0 - i as f64 * 4e-6, i as f64 * 1e-303, i as f64 * 1e300, i as f64 * 5e-324] {
                let (ours, theirs) = (ln(x), x.ln());
                let scale = theirs.abs().max(f64::MIN_POSITIVE);
                assert!((ours - theirs).abs() <= 6e-16 * scale, "ln({x:e}) = {ours:e}, not {theirs:e}");
            }
        }
    }

    #[test]
    fn limits_are_exact() {
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        assert!(ln(-1.0).is_nan() && ln(f64::NEG_INFINITY).is_nan() && ln(f64::NAN).is_nan());
    }
}
