//! What a step costs, in floating-point operations.

use super::Architecture;
use crate::processes::Input;
use crate::train::TIGHTEN_EVERY;

impl Architecture {
    /// Useful floating-point operations of a training step, forward and backward: M³ a draw and M² a point, draw and layer.
    pub fn flops(&self, features: usize, inducing: usize, points: usize, draws: usize) -> f64 {
        let (f, m, b) = (features as f64, inducing as f64, points as f64);
        let (cube, square) = (m * m * m, m * m * b);
        // the Cholesky factor of K + S, ‖C⁻¹H‖² and their adjoints; C⁻¹k_it
        let output = 2.0 * cube + 3.0 * square;
        // the tighter bound's Cholesky factor of K and L⁻¹k: in every so many steps, or in all where one draw is enough
        let gain = (cube + 3.0 * square) / if self.is_deterministic() { 1.0 } else { TIGHTEN_EVERY as f64 };
        // x⁺ᵀ(TΦ), which has no gradient in the data; with Ω also Tᵀx⁺ and TΦ; or G₁'s own draw
        let input = match &self.input {
            Input::Fixed => 0.0,
            Input::Omega(_) => 4.0 * f * f * b + 12.0 * f * f * m,
            Input::Gram(process) => process.flops(inducing, points),
        };
        let hidden: f64 = self.layers.iter().map(|l| l.process.flops(inducing, points)).sum();
        draws as f64 * (output + gain + 4.0 * f * m * b + input + hidden)
    }
}
