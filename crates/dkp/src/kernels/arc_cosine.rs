//! The arc-cosine kernels: infinitely wide networks with step, ReLU and squared-ReLU units (Cho & Saul 2009).
//!
//! With cos θ = g/√(rc) they are K = (rc)^{n/2}·J_n(θ)/π,
//!
//!   J₀ = π − θ,   J₁ = sin θ + (π − θ)cos θ,   J₂ = 3 sin θ cos θ + (π − θ)(1 + 2cos²θ),
//!
//! normalised so that K_ii is 1, G_ii and 3G_ii². None has a parameter. Where both rows are zero θ is taken as 0, so that the
//! diagonal is right; where one is zero the value is its limit and the derivatives are 0.

use dkp_tape::{Angular, Element, Jet, KernelMap, Point, math};
use std::f64::consts::FRAC_1_PI;

/// Order 0, of step units: K = 1 − θ/π.
///
/// Its derivatives are infinite at θ = 0 and π, and returned as 0 there.
#[derive(Clone, Copy, Debug)]
pub struct ArcCosine0;

/// Order 1, of ReLU units: K = √(rc)·(sin θ + (π − θ)cos θ)/π. Depth changes no scale: K_ii = G_ii.
///
/// ∂k/∂g = (π − θ)/π and ∂k/∂r = (sin θ/2π)·√(c/r) are finite where the formula looks singular.
#[derive(Clone, Copy, Debug)]
pub struct Relu;

/// Order 2, of squared-ReLU units: K = rc·(3 sin θ cos θ + (π − θ)(1 + 2cos²θ))/π.
///
/// ∂k/∂g = 4√(rc)·J₁/π and ∂k/∂r = c·(sin θ cos θ + π − θ)/π.
#[derive(Clone, Copy, Debug)]
pub struct ArcCosine2;

/// The angle between two rows of features, and the product of their lengths.
#[derive(Clone, Copy)]
struct Angle {
    /// √(rc)
    lengths: f64,
    /// 1/√(rc)
    inverse: f64,
    cos: f64,
    sin: f64,
    /// π − θ
    supplement: f64,
    /// 1, or 0 where exactly one row is zero.
    regular: f64,
}

impl Angle {
    #[inline(always)]
    fn new(Element { g, row, col }: Element<Point>) -> Angle {
        // a step of Newton's method each for √(rc) and g/√(rc): of equal numbers exactly that number and 1, so that the diagonal has θ = 0
        let (guess, inverse) = (row.root * col.root, row.inverse * col.inverse);
        let better = (-guess).mul_add(guess, row.square * col.square).mul_add(0.5 * inverse, guess);
        let lengths = if inverse == f64::INFINITY { 0.0 } else { better };
        let guess = g * inverse;
        let ratio = (-guess).mul_add(lengths, g).mul_add(inverse, guess);
        let at_most = if ratio > 1.0 { 1.0 } else { ratio };
        let clipped = if at_most < -1.0 { -1.0 } else { at_most };
        let cos = if lengths > 0.0 { clipped } else { 1.0 + 0.0 * g };
        let sin = math::positive_part((1.0 - cos) * (1.0 + cos)).sqrt();
        let one_is_zero = (row.square == 0.0) != (col.square == 0.0);
        Angle { lengths, inverse, cos, sin, supplement: math::acos(-cos), regular: if one_is_zero { 0.0 } else { 1.0 } }
    }

    /// J₁(θ)
    #[inline(always)]
    fn j1(&self) -> f64 {
        self.supplement.mul_add(self.cos, self.sin)
    }
}

impl KernelMap for ArcCosine0 {
    type Form = Angular<0>;

    fn name(&self) -> String {
        "arccos0".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], element: Element<Point>) -> Jet<0> {
        let Element { row, col, .. } = element;
        let angle = Angle::new(element);
        // ∂θ/∂g = −1/(√(rc)·sin θ), ∂θ/∂r = cos θ/(2r·sin θ)
        let finite = angle.sin * angle.lengths > 0.0;
        let slope = if finite { FRAC_1_PI / angle.sin } else { 0.0 };
        let along = |p: Point| if finite { -0.5 * slope * angle.cos * p.inverse * p.inverse } else { 0.0 };
        let by_length = if finite { slope * angle.inverse } else { 0.0 };
        Jet { value: FRAC_1_PI * angle.supplement, g: by_length, row: along(row), col: along(col), parameters: [] }
    }
}

impl KernelMap for Relu {
    type Form = Angular<0>;

    fn name(&self) -> String {
        "relu".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], element: Element<Point>) -> Jet<0> {
        let Element { row, col, .. } = element;
        let angle = Angle::new(element);
        let value = FRAC_1_PI * angle.lengths * angle.j1();
        // √(c/r) = c/√(rc)
        let scaled = if angle.lengths > 0.0 { 0.5 * FRAC_1_PI * angle.sin * angle.inverse } else { 0.0 };
        let slope = FRAC_1_PI * angle.supplement * angle.regular;
        Jet { value, g: slope, row: scaled * col.square, col: scaled * row.square, parameters: [] }
    }
}

impl KernelMap for ArcCosine2 {
    type Form = Angular<0>;

    fn name(&self) -> String {
        "arccos2".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], element: Element<Point>) -> Jet<0> {
        let Element { row, col, .. } = element;
        let angle = Angle::new(element);
        let Angle { lengths, cos, sin, supplement, regular, .. } = angle;
        let j2 = supplement.mul_add((2.0 * cos).mul_add(cos, 1.0), 3.0 * sin * cos);
        let half = regular * FRAC_1_PI * sin.mul_add(cos, supplement);
        Jet {
            value: FRAC_1_PI * row.square * col.square * j2,
            g: 4.0 * FRAC_1_PI * lengths * angle.j1(),
            row: col.square * half,
            col: row.square * half,
            parameters: [],
        }
    }
}
