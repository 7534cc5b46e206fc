//! Sine and cosine of an angle in turns.

use super::exp::ROUND;

/// sin x = x + x³·p(x²) on |x| ≤ π/4, to 1.8e-17 (oracles/elementary.py).
const SIN: [f64; 6] = [
    -0.16666666666666666,
    0.008333333333330948,
    -0.00019841269836758574,
    2.755731610255244e-06,
    -2.505113184500362e-08,
    1.591812929486638e-10,
];
/// cos x = 1 − x²/2 + x⁴·p(x²), to 1.3e-18.
const COS: [f64; 6] = [
    0.041666666666666664,
    -0.0013888888888887398,
    2.480158729876569e-05,
    -2.7557317271729777e-07,
    2.087614626840078e-09,
    -1.138263242537927e-11,
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
    let (mut p, mut q) = (SIN[SIN.len() - 1], COS[COS.len() - 1]);
    for i in (0..SIN.len() - 1).rev() {
        p = p.mul_add(x2, SIN[i]);
    }
    for i in (0..COS.len() - 1).rev() {
        q = q.mul_add(x2, COS[i]);
    }
    let s = (x * x2).mul_add(p, x);
    let c = (x2 * x2).mul_add(q, x2.mul_add(-0.5, 1.0));
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
