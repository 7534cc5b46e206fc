//! Arc sine and arc cosine.

use super::positive_part;
use std::f64::consts::{FRAC_PI_2, PI};

/// asin x = x + x³·p(x²) on |x| ≤ ½, to 5.8e-17 (oracles/elementary.py).
const ASIN: [f64; 12] = [
    0.1666666666666665,
    0.07500000000020764,
    0.044642857103423646,
    0.030381947367098483,
    0.0223720476317445,
    0.01735525995578648,
    0.013929652902324969,
    0.01187549438264838,
    0.007802949477301906,
    0.016035514349293623,
    -0.010749050339930202,
    0.02816921806104353,
];

/// asin x for |x| ≤ ½.
#[inline(always)]
fn asin_small(x: f64) -> f64 {
    let w = x * x;
    let mut p = ASIN[ASIN.len() - 1];
    for i in (0..ASIN.len() - 1).rev() {
        p = p.mul_add(w, ASIN[i]);
    }
    (x * w).mul_add(p, x)
}

/// (asin |x|, acos |x|), each without cancellation: beyond ½ from asin √((1 − |x|)/2), which is half the angle's complement.
#[inline(always)]
fn of_magnitude(x: f64) -> (f64, f64) {
    let large = x > 0.5;
    let root = positive_part(0.5 - 0.5 * x).sqrt();
    let angle = asin_small(if large { root } else { x });
    let asin = if large { FRAC_PI_2 - 2.0 * angle } else { angle };
    let acos = if large { 2.0 * angle } else { FRAC_PI_2 - angle };
    (asin, acos)
}

/// asin x for |x| ≤ 1; arguments beyond are taken as ±1.
///
/// ```
/// assert_eq!(dkp_tape::math::asin(1.0), std::f64::consts::FRAC_PI_2);
/// ```
#[inline(always)]
pub fn asin(x: f64) -> f64 {
    of_magnitude(x.abs()).0.copysign(x)
}

/// acos x for |x| ≤ 1; arguments beyond are taken as ±1.
///
/// ```
/// assert_eq!(dkp_tape::math::acos(1.0), 0.0);
/// assert_eq!(dkp_tape::math::acos(-1.0), std::f64::consts::PI);
/// ```
#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let (_, acos) = of_magnitude(x.abs());
    if x < 0.0 { PI - acos } else { acos }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_the_standard_library() {
        for i in -200_000..=200_000 {
            let x = i as f64 / 200_000.0;
            for x in [x, x.powi(5), (1.0 - x.abs().powi(7)).copysign(x)] {
                assert!((asin(x) - x.asin()).abs() <= 7e-16 * x.asin().abs(), "asin({x}) = {}", asin(x));
                assert!((acos(x) - x.acos()).abs() <= 7e-16 * x.acos().abs(), "acos({x}) = {}", acos(x));
            }
        }
        assert_eq!((asin(1.5), asin(-1.5), acos(1.5), acos(-1.5)), (FRAC_PI_2, -FRAC_PI_2, 0.0, PI));
        assert!(asin(f64::NAN).is_nan() && acos(f64::NAN).is_nan());
    }
}
