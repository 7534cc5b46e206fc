//! Mixtures of normals: their distribution functions and densities, fast.

use super::Normal;
use dkp_tape::math::{exp, scaled_erfc, vectorized};
use std::f64::consts::PI;

/// The logarithm of the least weight that is kept: a distribution function changes by the weights of the others, 2e-8 in all.
const LIGHTEST: f64 = -18.0;
/// Components that are summed side by side.
const LANES: usize = 8;

/// A mixture of normals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixture {
    weights: Vec<f64>,
    means: Vec<f64>,
    /// 1/√(2·variance).
    inverses: Vec<f64>,
    /// The sum of the weights.
    total: f64,
}

impl Mixture {
    /// Of the normals that `each` visits, unless it answers that there are none.
    pub fn of(each: impl FnOnce(&mut dyn FnMut(Normal)) -> bool) -> Option<Mixture> {
        let mut mixture = Mixture::default();
        each(&mut |normal| mixture.add(normal)).then_some(mixture)
    }

    fn add(&mut self, normal: Normal) {
        // what is NaN stays so
        if normal.log_weight < LIGHTEST {
            return;
        }
        let weight = normal.log_weight.exp();
        self.weights.push(weight);
        self.means.push(normal.mean);
        self.inverses.push((2.0 * normal.variance).sqrt().recip());
        self.total += weight;
    }

    /// P(Y ≤ y) and its derivative, the density: Σ w·½erfc(x) and Σ w·e^{−x²}/√(2πv), x = (m − y)/√(2v).
    pub fn at(&self, y: f64) -> (f64, f64) {
        let (weights, last_weights) = self.weights.as_chunks::<LANES>();
        let (means, last_means) = self.means.as_chunks::<LANES>();
        let (inverses, last_inverses) = self.inverses.as_chunks::<LANES>();
        let (below, density) = vectorized(
            #[inline(always)]
            || {
                let mut sums = [[0.0; LANES]; 2];
                for ((w, m), s) in weights.iter().zip(means).zip(inverses) {
                    for i in 0..LANES {
                        let (below, density) = term(w[i], m[i], s[i], y);
                        sums[0][i] += below;
                        sums[1][i] += density;
                    }
                }
                let mut sums = sums.map(|s| s.iter().sum::<f64>());
                for ((w, m), s) in last_weights.iter().zip(last_means).zip(last_inverses) {
                    let (below, density) = term(*w, *m, *s, y);
                    sums[0] += below;
                    sums[1] += density;
                }
                (sums[0], sums[1])
            },
        );
        (0.5 * below / self.total, density / (self.total * PI.sqrt()))
    }
}

/// w·erfc(x) and w·e^{−x²}·s, x = (m − y)·s.
#[inline(always)]
fn term(w: f64, m: f64, s: f64, y: f64) -> (f64, f64) {
    let x = (m - y) * s;
    let e = w * exp(-x * x);
    let tail = e * scaled_erfc(x.abs());
    (if x < 0.0 { 2.0 * w - tail } else { tail }, e * s)
}
