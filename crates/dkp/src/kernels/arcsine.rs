//! The arcsine kernel.

use dkp_tape::{Element, General, Jet, KernelMap, math};
use std::f64::consts::FRAC_2_PI;

/// An infinitely wide network with erf units (Williams 1998): K = (2/π)·asin u, u = 2g/√((1+2r)(1+2c)). No parameter.
#[derive(Clone, Copy, Debug)]
pub struct Arcsine;

impl KernelMap for Arcsine {
    type Form = General<0>;

    fn name(&self) -> String {
        "arcsine".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], Element { g, row, col }: Element) -> Jet<0> {
        let (a, b) = (2.0f64.mul_add(row, 1.0), 2.0f64.mul_add(col, 1.0));
        let scale = 1.0 / (a * b).sqrt();
        let u = 2.0 * g * scale;
        // |u| < 1 for every Gram matrix: 2|g| ≤ 2√(rc) < √(ab)
        let slope = FRAC_2_PI / ((1.0 - u) * (1.0 + u)).sqrt();
        Jet {
            value: FRAC_2_PI * math::asin(u),
            g: 2.0 * slope * scale,
            row: -slope * u / a,
            col: -slope * u / b,
            parameters: [],
        }
    }
}
