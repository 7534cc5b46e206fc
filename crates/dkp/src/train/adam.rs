//! Adam (Kingma & Ba 2015), ascending.

use dkp_tape::math::vectorized;

/// Decay of the mean gradient.
const BETA_1: f64 = 0.9;
/// Decay of the mean squared gradient.
const BETA_2: f64 = 0.999;
/// Keeps a step finite where gradients vanish; the bound is per data point, so gradients are small.
const EPSILON: f64 = 1e-8;

/// Moments of the gradients so far, for each parameter that is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// Steps taken.
    pub steps: u64,
    /// Decaying means of the gradients.
    pub first: Vec<Vec<f64>>,
    /// Decaying means of their squares.
    pub second: Vec<Vec<f64>>,
}

impl Adam {
    /// For parameters with these numbers of elements.
    pub fn new(sizes: &[usize]) -> Adam {
        let zeros: Vec<Vec<f64>> = sizes.iter().map(|&n| vec![0.0; n]).collect();
        Adam { steps: 0, first: zeros.clone(), second: zeros }
    }

    /// Moves parameters along the gradient.
    pub fn ascend<'a>(&mut self, rate: f64, values: impl Iterator<Item = &'a mut Vec<f64>>, gradient: &[Vec<f64>]) {
        self.steps += 1;
        let correction = |beta: f64| 1.0 - beta.powi(self.steps.min(i32::MAX as u64) as i32);
        // x += rate·(m/c₁)/(√(v/c₂) + ε) with one division
        let (rate, root) = (rate / correction(BETA_1), 1.0 / correction(BETA_2).sqrt());
        for (((x, g), m), v) in values.zip(gradient).zip(&mut self.first).zip(&mut self.second) {
            vectorized(
                #[inline(always)]
                || {
                    for (((x, &g), m), v) in x.iter_mut().zip(g).zip(m).zip(v) {
                        *m = BETA_1 * *m + (1.0 - BETA_1) * g;
                        *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
                        *x += rate * *m / v.sqrt().mul_add(root, EPSILON);
                    }
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first steps by hand: Adam's first step is the rate itself, whatever the gradient's size.
    #[test]
    fn the_first_steps_are_those_of_the_formula() {
        let (mut adam, mut x) = (Adam::new(&[1]), vec![vec![1.0]]);
        adam.ascend(0.1, x.iter_mut(), &[vec![5.0]]);
        assert!((x[0][0] - 1.1).abs() < 1e-9);
        adam.ascend(0.1, x.iter_mut(), &[vec![-5.0]]);
        // m = 0.9·0.5 − 0.5 = −0.05, v = 0.025·1.999
        let step = (-0.05 / (1.0 - 0.81)) / ((0.025_f64 * 1.999 / (1.0 - 0.998_001)).sqrt());
        assert!((x[0][0] - 1.1 - 0.1 * step).abs() < 1e-9);
    }
}
