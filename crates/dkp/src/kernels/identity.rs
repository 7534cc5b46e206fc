//! The identity, for layers whose Gram matrix is a kernel already.

use dkp_tape::{Jet, KernelMap};

/// K = G, without parameters.
#[derive(Clone, Copy, Debug)]
pub struct Identity;

impl KernelMap for Identity {
    type Parameters = [f64; 0];
    const NAMES: &'static [&'static str] = &[];

    fn name(&self) -> String {
        "identity".to_string()
    }

    #[inline(always)]
    fn at(&self, _: &[f64; 0], g: f64, _: f64, _: f64) -> Jet<[f64; 0]> {
        Jet { value: g, g: 1.0, row: 0.0, col: 0.0, parameters: [] }
    }
}
