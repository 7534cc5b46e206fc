//! The natural logarithm.

use super::exp::{LN2_HI, LN2_LO};

/// 1/(2n+1) for n = 0..=10: with s² ≤ 0.0295 the remainder of the series is below 3e-17.
const ATANH: [f64; 11] = [
    1.0,
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
];

/// ln x = k·ln 2 + 2 artanh((m−1)/(m+1)) with x = 2ᵏ·m, m in [√½, √2), for positive normal x.
///
/// Zero, negative, subnormal and non-finite arguments give a meaningless number: callers keep them out.
///
/// ```
/// assert_eq!(dkp_tape::math::ln(1.0), 0.0);
/// ```
#[inline(always)]
pub fn ln(x: f64) -> f64 {
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
    let mut p = ATANH[10];
    for i in (1..10).rev() {
        p = p.mul_add(s2, ATANH[i]);
    }
    // 2 artanh s = 2s + 2s·s²·p: the leading term is kept apart for the last bit.
    let tail = 2.0 * s * s2 * p;
    k.mul_add(LN2_HI, 2.0 * s + k.mul_add(LN2_LO, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        for i in 1..200_000_u64 {
            for x in [i as f64 * 1e-5, 1.0 - i as f64 * 4e-6, i as f64 * 1e-303, i as f64 * 1e300] {
                let (ours, theirs) = (ln(x), x.ln());
                let scale = theirs.abs().max(f64::MIN_POSITIVE);
                if x > f64::MIN_POSITIVE {
                    assert!((ours - theirs).abs() <= 6e-16 * scale, "ln({x:e}) = {ours:e}, not {theirs:e}");
                }
            }
        }
    }
}
