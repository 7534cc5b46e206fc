//! Quadrature: E g(f) for f ~ N(m, s), also where g has a peak much narrower than the normal.

use std::f64::consts::{PI, TAU};

/// Nodes. Exact for polynomials up to degree 63.
pub(crate) const NODES: usize = 32;

/// Where a function has most of its structure, and how wide that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The latent value in its middle.
    pub centre: f64,
    /// A latent distance over which it changes.
    pub width: f64,
}

/// Standard deviations, and peak widths, beyond which there is nothing.
const REACH: f64 = 9.0;
/// A peak farther from the mean than this, in standard deviations, weighs nothing.
const FARTHEST: f64 = 60.0;
/// Gauss–Legendre nodes on [−1, 1] and weights, eight of them by symmetry.
pub(crate) const LEGENDRE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Panels from a peak upwards, each twice as wide as the last and none wider than 1, weighted with the normal density.
fn panels(centre: f64, width: f64, high: f64, visit: &mut dyn FnMut(f64, f64)) {
    let (mut from, mut step) = (centre, width.min(1.0));
    while from < high {
        let to = (from + step).min(high);
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        for (x, w) in LEGENDRE.into_iter().flat_map(|(x, w)| [(-x, w), (x, w)]) {
            let z = middle + half * x;
            visit(z, half * w * (-0.5 * z * z).exp() / TAU.sqrt());
        }
        (from, step) = (to, (2.0 * step).min(1.0));
    }
}

/// Nodes and weights for a standard normal: E g(z) ≈ Σ weight·g(node).
#[derive(Clone, Debug)]
pub(crate) struct Quadrature {
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
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        Quadrature { nodes, weights }
    }

    /// Visits nodes z and weights of f = mean + deviation·z: Gauss–Hermite, or, where g has a peak that is narrower than `narrow`
    /// deviations, panels that shrink towards it.
    pub fn visit(&self, mean: f64, deviation: f64, peak: Option<Peak>, narrow: f64, mut visit: impl FnMut(f64, f64)) {
        let scaled = peak.map(|p| ((p.centre - mean) / deviation, p.width / deviation));
        match scaled {
            Some((centre, width)) if width < narrow && width > 0.0 && centre.abs() < FARTHEST => {
                let (low, high) = ((centre - REACH * width).min(-REACH), (centre + REACH * width).max(REACH));
                panels(centre, width, high, &mut visit);
                // the other side, mirrored
                panels(-centre, width, -low, &mut |z, w| visit(-z, w));
            }
            _ => self.nodes.iter().zip(&self.weights).for_each(|(z, w)| visit(*z, *w)),
        }
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
