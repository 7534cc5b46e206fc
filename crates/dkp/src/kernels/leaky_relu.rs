//! The leaky ReLU kernel.

use super::Relu;
use dkp_tape::{Angular, Element, Jet, KernelMap, Point};

/// An infinitely wide network with leaky ReLU units of a fixed slope s: K = ((1−s)²·K₁ + 2s·g)/(1+s²), K₁ the ReLU kernel.
///
/// Slope 0 is the ReLU kernel, slope 1 the linear one; K_ii = G_ii for every slope.
#[derive(Clone, Copy, Debug)]
pub struct LeakyRelu {
    /// The units' slope on the negative side.
    pub slope: f64,
}

impl KernelMap for LeakyRelu {
    type Form = Angular<0>;

    fn name(&self) -> String {
        format!("leaky_relu({})", self.slope)
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], element: Element<Point>) -> Jet<0> {
        let s = self.slope;
        let scale = 1.0 / (1.0 + s * s);
        let (bent, straight) = ((1.0 - s) * (1.0 - s) * scale, 2.0 * s * scale);
        let relu = Relu.at(&[], element);
        Jet {
            value: straight.mul_add(element.g, bent * relu.value),
            g: bent.mul_add(relu.g, straight),
            row: bent * relu.row,
            col: bent * relu.col,
            parameters: [],
        }
    }
}
