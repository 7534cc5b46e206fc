//! The rational quadratic kernel.

use super::stationary;
use dkp_tape::{Jet, KernelMap, math};

/// K = h²·q^{−α} with q = 1 + R/(2αℓ²) and parameters h, ℓ and α: a mixture of squared exponentials over lengthscales.
#[derive(Clone, Copy, Debug)]
pub struct RationalQuadratic;

impl KernelMap for RationalQuadratic {
    type Parameters = [f64; 3];
    const NAMES: &'static [&'static str] = &["height", "lengthscale", "alpha"];
    const OF_DISTANCE: bool = true;
    const HAS_HEIGHT: bool = true;

    fn name(&self) -> String {
        "rational_quadratic".to_string()
    }

    #[inline(always)]
    fn at(&self, [h, l, alpha]: &[f64; 3], g: f64, row: f64, col: f64) -> Jet<[f64; 3]> {
        let mut log_slope = 0.0; // ∂ ln ρ/∂α = (q − 1)/q − ln q
        let jet = stationary(&[*h, *l], g, row, col, |u| {
            let q = (0.5 / alpha).mul_add(u, 1.0);
            let ln_q = math::ln(q);
            log_slope = (q - 1.0) / q - ln_q;
            let decay = math::exp(-alpha * ln_q);
            (decay, -0.5 * decay / q)
        });
        let [height, lengthscale] = jet.parameters;
        let parameters = [height, lengthscale, jet.value * log_slope];
        Jet { value: jet.value, g: jet.g, row: jet.row, col: jet.col, parameters }
    }
}
