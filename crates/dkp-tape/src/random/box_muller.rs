//! The Box–Muller transform: √(−2 ln u)·(cos 2πv, sin 2πv) are two independent standard normals for uniform u and v.
//!
//! In single precision: a pair is within 2e-7·r + 6e-8/r of the exact transform of its 64 random bits, r being its length. The distribution
//! function of r is off by 3e-8 at most, which no sample of fewer than 10¹⁴ pairs shows, and it takes 0.6 of the time of double precision. Numbers repeat within some 10⁵, a pair is zero with probability 2⁻²⁵,
//! and the largest value is √(66 ln 2) = 6.76.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_4, LN_2};

/// ln(1 + t) = t − t²/2 + t³·p(t) for 1 + t in [√½, √2], to 2.0e-8 (oracles/elementary.py).
const LN: [f32; 8] =
    [0.3333333, -0.25000307, 0.20001045, -0.16641282, 0.14214496, -0.12998183, 0.12622319, -0.07902744];
/// sin x = x + x³·p(x²) on |x| ≤ π/4, to 1.2e-8.
const SIN: [f32; 3] = [-0.16666664, 0.008332748, -0.0001958789];
/// cos x = 1 − x²/2 + x⁴·p(x²), to 8.4e-10.
const COS: [f32; 3] = [0.041666664, -0.0013888302, 2.4547942e-5];

/// Two independent standard normals from random bits.
#[inline(always)]
pub(super) fn box_muller(u: u32, v: u32) -> (f64, f64) {
    let radius = (-2.0 * ln_uniform(u)).sqrt();
    // an angle in (−π/4, π/4) from 30 bits, and a rotation by 0, 1, 2 or 3 quarters from the others
    const UNIT: f32 = FRAC_PI_4 / (1_u32 << 31) as f32;
    let x = ((v << 2) | 2) as i32 as f32 * UNIT;
    let x2 = x * x;
    let sin = (x * x2).mul_add(polynomial(&SIN, x2), x);
    let cos = (x2 * x2).mul_add(polynomial(&COS, x2), x2.mul_add(-0.5, 1.0));
    let (first, second) = if v & (1 << 30) == 0 { (cos, sin) } else { (-sin, cos) };
    let half = v & (1 << 31);
    let turned = |x: f32| f64::from(radius * f32::from_bits(x.to_bits() ^ half));
    (turned(first), turned(second))
}

/// ln u for the middle u of one of 2³² cells of (0, 1), rounded: u may be 1. With u = 2ᵏ(1 + t), 1 + t in [√½, √2).
#[inline(always)]
fn ln_uniform(cell: u32) -> f32 {
    const CELL: f32 = 1.0 / (1_u64 << 32) as f32;
    const MANTISSA: u32 = (1 << 23) - 1;
    let u = (cell as f32 + 0.5) * CELL;
    // shifting by the bits of √½ makes the exponent field change where the mantissa passes √½
    let shifted = u.to_bits().wrapping_sub(FRAC_1_SQRT_2.to_bits());
    let k = (shifted as i32 >> 23) as f32;
    let t = f32::from_bits((shifted & MANTISSA) + FRAC_1_SQRT_2.to_bits()) - 1.0;
    let tail = t.mul_add(polynomial(&LN, t), -0.5);
    k.mul_add(LN_2, (t * t).mul_add(tail, t))
}

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    let mut p = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        p = p.mul_add(x, coefficients[i]);
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same bits in double precision.
    fn exact(u: u32, v: u32) -> (f64, f64) {
        let cells = 2.0_f64.powi(32);
        let radius = (-2.0 * ((f64::from(u) + 0.5) / cells).ln()).sqrt();
        let quarters = f64::from(v >> 30) + f64::from(((v << 2) | 2) as i32) / cells;
        let angle = std::f64::consts::FRAC_PI_2 * quarters;
        (radius * angle.cos(), radius * angle.sin())
    }

    #[test]
    fn agrees_with_the_transform_in_double_precision() {
        let spread = |i: u32| i.wrapping_mul(2_654_435_769);
        let extremes = [0, 1, 2, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 31, u32::MAX - 1, u32::MAX];
        let us = (0..300).map(spread).chain((0..32).map(|k| u32::MAX >> k)).chain((1..32).map(|k| !(u32::MAX >> k)));
        for u in us.chain(extremes) {
            for v in (0..300).map(|i| spread(i + 1000)).chain(extremes) {
                let (ours, theirs) = (box_muller(u, v), exact(u, v));
                let error = (ours.0 - theirs.0).hypot(ours.1 - theirs.1);
                // the second part is from rounding u to 24 bits
                let radius = theirs.0.hypot(theirs.1);
                assert!(error < 2e-7 * radius + 6e-8 / radius, "{u}, {v}: {ours:?}, not {theirs:?}");
            }
        }
        assert!((box_muller(0, 0).0 - 6.764).abs() < 1e-3);
    }
}
