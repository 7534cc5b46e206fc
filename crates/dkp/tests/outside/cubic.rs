//! A kernel in one file: (1 + w·g)³, with the parameter w.

use dkp_tape::{Element, General, Jet, KernelMap};

#[derive(Clone)]
pub struct Cubic;

impl KernelMap for Cubic {
    type Form = General<1>;
    const NAMES: &'static [&'static str] = &["weight"];

    fn name(&self) -> String {
        "cubic".to_string()
    }

    #[inline(always)]
    fn at(&self, [w]: &[f64; 1], Element { g, .. }: Element) -> Jet<1> {
        let root = 1.0 + w * g;
        let square = root * root;
        Jet { value: square * root, g: 3.0 * w * square, row: 0.0, col: 0.0, parameters: [3.0 * g * square] }
    }
}
