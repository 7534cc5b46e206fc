//! Gauss–Hermite quadrature: E g(f) for f ~ N(m, s).

use std::f64::consts::PI;

/// Nodes. Exact for polynomials up to degree 63, and to about 1e-10 for the log-densities here.
pub(super) const NODES: usize = 32;

/// Nodes and weights for a standard normal: E g(z) ≈ Σ weight·g(node).
#[derive(Clone, Debug)]
pub(super) struct Quadrature {
    pub nodes: [f64; NODES],
    pub weights: [f64; NODES],
}

impl Quadrature {
    /// Roots of the Hermite polynomial by Newton's method, from the largest inwards, with orthonormal recurrences.
    pub fn new() -> Quadrature {
        let n = NODES;
        let (mut nodes, mut weights) = ([0.0; NODES], [0.0; NODES]);
        let size = (2 * n + 1) as f64;
        let mut z = 0.0;
        for i in 0..n.div_ceil(2) {
            z = match i {
                0 => size.sqrt() - 1.85575 * size.powf(-1.0 / 6.0),
                1 => z - 1.14 * (n as f64).powf(0.426) / z,
                2 => 1.86 * z - 0.86 * nodes[0] / 2_f64.sqrt(),
                3 => 1.91 * z - 0.91 * nodes[1] / 2_f64.sqrt(),
                _ => 2.0 * z - nodes[i - 2] / 2_f64.sqrt(),
            };
            let mut slope = 1.0;
            for _ in 0..100 {
                let (mut p, mut before) = (PI.powf(-0.25), 0.0);
                for j in 1..=n {
                    let j = j as f64;
                    (p, before) = (z * (2.0 / j).sqrt() * p - ((j - 1.0) / j).sqrt() * before, p);
                }
                slope = (2.0 * n as f64).sqrt() * before;
                let step = p / slope;
                z -= step;
                if step.abs() < 1e-15 {
                    break;
                }
            }
            // for the weight function e^{−z²}; scaled to the standard normal
            let weight = 2.0 / (slope * slope) / PI.sqrt();
            (nodes[i], weights[i]) = (z * 2_f64.sqrt(), weight);
            (nodes[n - 1 - i], weights[n - 1 - i]) = (-z * 2_f64.sqrt(), weight);
        }
        Quadrature { nodes, weights }
    }

    /// E g(f), f ~ N(mean, variance).
    pub fn expect(&self, mean: f64, variance: f64, mut g: impl FnMut(f64) -> f64) -> f64 {
        let deviation = variance.max(0.0).sqrt();
        self.nodes.iter().zip(&self.weights).map(|(z, w)| w * g(mean + deviation * z)).sum()
    }
}

#[test]
fn moments_of_the_normal_are_exact() {
    let q = Quadrature::new();
    let moment = |k: i32| q.expect(0.0, 1.0, |z| z.powi(k));
    assert!((moment(0) - 1.0).abs() < 1e-14 && moment(1).abs() < 1e-14);
    let mut expected = 1.0;
    for k in (2..=30).step_by(2) {
        expected *= (k - 1) as f64;
        assert!((moment(k) / expected - 1.0).abs() < 1e-12, "{k}");
    }
    // E e^f = e^{m + s/2}
    assert!((q.expect(0.3, 0.8, f64::exp) / (0.7_f64).exp() - 1.0).abs() < 1e-13);
}
