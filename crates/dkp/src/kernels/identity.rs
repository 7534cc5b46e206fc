//! The identity, for layers whose Gram matrix is a kernel already.

use dkp_tape::{Element, General, Jet, KernelMap};

/// K = G, without parameters.
#[derive(Clone, Copy, Debug)]
pub struct Identity;

impl KernelMap for Identity {
    type Form = General<0>;

    fn name(&self) -> String {
        "identity".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], Element { g, .. }: Element) -> Jet<0> {
        Jet { value: g, g: 1.0, row: 0.0, col: 0.0, parameters: [] }
    }
}
