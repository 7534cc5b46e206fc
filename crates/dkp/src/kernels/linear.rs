//! The linear kernel.

use dkp_tape::{Element, General, Jet, KernelMap};

/// K = h²·g + b², with parameters h and b.
#[derive(Clone, Copy, Debug)]
pub struct Linear;

impl KernelMap for Linear {
    type Form = General<2>;
    const NAMES: &'static [&'static str] = &["height", "bias"];

    fn name(&self) -> String {
        "linear".to_string()
    }

    #[inline(always)]
    fn at(&self, [h, b]: &[f64; 2], Element { g, .. }: Element) -> Jet<2> {
        Jet { value: (h * h).mul_add(g, b * b), g: h * h, row: 0.0, col: 0.0, parameters: [2.0 * h * g, 2.0 * b] }
    }
}
