//! Sine and cosine of an angle in turns.

use super::exp::ROUND;

/// (−1)ⁿ/(2n+1)! for n = 0..=7 and (−1)ⁿ/(2n)! for n = 0..=8: on |x| ≤ π/4 the remainders are below 5e-17.
const SIN: [f64; 8] = [
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5_040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];
const COS: [f64; 9] = [
    1.0,
    -1.0 / 2.0,
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 20_922_789_888_000.0,
];

/// (sin 2πu, cos 2πu), for |u| up to about a million turns.
///
/// ```
/// let (s, c) = dkp_tape::math::sin_cos_turns(0.25);
/// assert_eq!((s, c), (1.0, 0.0));
/// ```
#[inline(always)]
pub fn sin_cos_turns(u: f64) -> (f64, f64) {
    // u = q/4 + r with q an integer and |r| ≤ 1/8
    let shifted = u.mul_add(4.0, ROUND);
    let quadrant = shifted.to_bits();
    let r = (shifted - ROUND).mul_add(-0.25, u);
    let x = r * std::f64::consts::TAU;
    let x2 = x * x;
    let mut p = SIN[7];
    for i in (0..7).rev() {
        p = p.mul_add(x2, SIN[i]);
    }
    let mut c = COS[8];
    for i in (0..8).rev() {
        c = c.mul_add(x2, COS[i]);
    }
    let s = p * x;
    let (sin, cos) = if quadrant & 1 == 0 { (s, c) } else { (c, s) };
    // the quadrant's second bit flips the sine, and the bit of quadrant + 1 the cosine
    let sin_sign = (quadrant & 2) << 62;
    let cos_sign = (quadrant.wrapping_add(1) & 2) << 62;
    (f64::from_bits(sin.to_bits() ^ sin_sign), f64::from_bits(cos.to_bits() ^ cos_sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        for i in -100_000..100_000 {
            let u = i as f64 / 65_536.0; // exact, so that 2πu has one rounding
            let (s, c) = sin_cos_turns(u);
            let (sr, cr) = (u.fract() * std::f64::consts::TAU).sin_cos();
            assert!((s - sr).abs() < 1e-15 && (c - cr).abs() < 1e-15, "at {u} turns: {s}, {c} not {sr}, {cr}");
        }
    }
}
