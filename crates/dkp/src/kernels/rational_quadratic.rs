//! The rational quadratic kernel.

use dkp_tape::{KernelMap, Profile, Stationary, math};

/// K = h²·q^{−α} with q = 1 + R/(2αℓ²) and parameters h, ℓ and α: a mixture of squared exponentials over lengthscales.
#[derive(Clone, Copy, Debug)]
pub struct RationalQuadratic;

impl KernelMap for RationalQuadratic {
    type Form = Stationary<1>;
    const NAMES: &'static [&'static str] = &["alpha"];

    fn name(&self) -> String {
        "rational_quadratic".to_string()
    }

    #[inline(always)]
    fn at(&self, [alpha]: &[f64; 1], u: f64) -> Profile<1> {
        let q = (0.5 / alpha).mul_add(u, 1.0);
        let ln_q = math::ln(q);
        let decay = math::exp(-alpha * ln_q);
        // ∂ ln ρ/∂α = (q − 1)/q − ln q
        Profile { value: decay, slope: -0.5 * decay / q, parameters: [(q - 1.0) / q - ln_q] }
    }
}
