//! Gamma(a, 1) variates, for any shape a > 0.

use super::Stream;
use super::box_muller::box_muller;
use super::chacha::{LANES, MakeBlocks, uniform};
use super::incomplete_gamma::gamma_quantile;
use crate::math::{arch, exp, ln_normal};

/// How gamma variates are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GammaMethod {
    /// Marsaglia and Tsang's rejection method: fast, but a variate jumps where a change of the shape
    /// changes what is accepted.
    Rejection,
    /// The quantile function at a uniform number: slow, and smooth in the shape. For checking gradients by
    /// finite differences.
    Inversion,
}

/// Fills `out`, element i with a Gamma(a_i, 1) variate from the sequence `rows(i)` of `stream`.
///
/// `a` has one element for all, or one for each. Variates that would underflow are the smallest normal number.
///
/// # Panics
///
/// If `a` has another length, or an element that is not positive and finite.
///
/// ```
/// use dkp_tape::random::{Key, fill_gamma};
/// let mut x = [0.0; 2];
/// fill_gamma(Key::new(1).stream(0, 0), &[2.5], |i| i as u64, &mut x);
/// assert!(x[0] > 0.0 && x[0] != x[1]);
/// ```
pub fn fill_gamma(stream: Stream, a: &[f64], rows: impl Fn(usize) -> u64, out: &mut [f64]) {
    let count = out.len();
    assert!(a.len() == 1 || a.len() == count, "fill_gamma: {} shapes for {count} variates", a.len());
    let valid = a.iter().all(|a| *a > 0.0 && a.is_finite());
    assert!(valid, "fill_gamma: a shape is not positive and finite");
    let shape = |i: usize| if a.len() == 1 { a[0] } else { a[i] };
    for first in (0..count).step_by(LANES) {
        let lanes = LANES.min(count - first);
        let (mut shapes, mut ids) = ([1.0; LANES], [0; LANES]);
        for l in 0..lanes {
            (shapes[l], ids[l]) = (shape(first + l), rows(first + l));
        }
        let tries = propose(stream, &shapes, &ids, &[0; LANES]);
        for l in 0..lanes {
            let x = match stream.gamma {
                GammaMethod::Rejection if tries.accepted[l] != 0.0 => tries.variate[l],
                GammaMethod::Rejection => try_again(stream, shapes[l], ids[l]),
                GammaMethod::Inversion => gamma_quantile(shapes[l], tries.uniform[l].min(1.0 - f64::EPSILON / 2.0)),
            };
            out[first + l] = x.max(f64::MIN_POSITIVE);
        }
    }
}

/// After a rejected first proposal: sixteen more of the same sequence at a time, until one is accepted.
#[cold]
fn try_again(stream: Stream, a: f64, id: u64) -> f64 {
    for first in (1..).step_by(LANES) {
        let counters = std::array::from_fn(|l| first + l as u64);
        let tries = propose(stream, &[a; LANES], &[id; LANES], &counters);
        if let Some(l) = tries.accepted.iter().position(|&ok| ok != 0.0) {
            return tries.variate[l];
        }
    }
    unreachable!("an endless sequence of proposals ended")
}

/// One proposal a lane.
struct Tries {
    variate: [f64; LANES],
    /// 1 or 0; a number, so that the loop that makes it stays in one register width.
    accepted: [f64; LANES],
    uniform: [f64; LANES],
}

fn propose(stream: Stream, a: &[f64; LANES], rows: &[u64; LANES], counters: &[u64; LANES]) -> Tries {
    arch().dispatch(Propose { key: &stream.words, a, rows, counters })
}

struct Propose<'a> {
    key: &'a [u32; 8],
    a: &'a [f64; LANES],
    rows: &'a [u64; LANES],
    counters: &'a [u64; LANES],
}

impl pulp::WithSimd for Propose<'_> {
    type Output = Tries;

    /// Marsaglia & Tsang (2000): x = d·v, v = (1 + n/√(9d))³, d = a − ⅓, accepted if ln u < ½n² + d(1 − v + ln v).
    /// For a < 1 a variate of shape a + 1 is multiplied by u'^{1/a}.
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> Tries {
        let mut random = [[0; LANES]; 16];
        let Propose { key, a, rows, counters } = self;
        MakeBlocks { key, counters, rows, out: &mut random }.with_simd(simd);
        let mut tries = Tries { variate: [0.0; LANES], accepted: [0.0; LANES], uniform: [0.0; LANES] };
        let number = |w: usize, l: usize| uniform(random[w][l], random[w + 8][l]);
        for l in 0..LANES {
            let (normal, _) = box_muller(random[0][l], random[1][l]);
            let small = a[l] < 1.0;
            let d = if small { a[l] + 1.0 } else { a[l] } - 1.0 / 3.0;
            let root = normal.mul_add(1.0 / (9.0 * d).sqrt(), 1.0);
            let v = root * root * root;
            let ln_v = ln_normal(v.max(f64::MIN_POSITIVE));
            let bound = (0.5 * normal).mul_add(normal, d * (1.0 - v + ln_v));
            tries.accepted[l] = if root > 0.0 && ln_normal(number(2, l)) < bound { 1.0 } else { 0.0 };
            let boost = if small { exp(ln_normal(number(3, l)) / a[l]) } else { 1.0 };
            tries.variate[l] = d * v * boost;
            tries.uniform[l] = number(4, l);
        }
        tries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    const KEY: Key = Key::new(17);

    fn sample(a: f64, n: usize, key: Key) -> Vec<f64> {
        let mut x = vec![0.0; n];
        fill_gamma(key.stream(2, 1), &[a], |i| i as u64, &mut x);
        x
    }

    /// √n·sup|F_n − F| exceeds 2.7 with probability 2·exp(−2·2.7²) ≈ 9e-7; eleven comparisons: below 1e-5.
    /// F is given through its quantiles, F(x) = p at x = gamma_quantile(a, p), on a grid of 500.
    #[test]
    fn draws_pass_a_kolmogorov_smirnov_test() {
        for a in [0.05, 0.3, 0.9, 1.0, 1.5, 2.5, 5.0, 10.0, 57.5, 400.0, 3000.0] {
            let n = 200_000;
            let mut x = sample(a, n, KEY);
            x.sort_by(f64::total_cmp);
            let worst = (1..500).map(|i| {
                let p = i as f64 / 500.0;
                let quantile = gamma_quantile(a, p);
                let below = x.partition_point(|&v| v < quantile);
                (below as f64 / n as f64 - p).abs()
            });
            let ks = (n as f64).sqrt() * worst.fold(0.0, f64::max);
            assert!(ks < 2.7, "shape {a}: √n·D = {ks}");
        }
    }

    /// Mean a, variance a, third central moment 2a: five standard errors each, 21 comparisons, false alarm 1.3e-5.
    #[test]
    fn draws_have_the_moments_of_a_gamma_distribution() {
        for a in [0.05, 0.5, 1.0, 3.0, 20.0, 1e3, 1e6_f64] {
            let n = 400_000;
            let x = sample(a, n, KEY);
            let moment = |k: i32| x.iter().map(|v| (v - a).powi(k)).sum::<f64>() / n as f64;
            // central moments of the distribution up to the sixth, from its cumulants a·(k−1)!
            let m4 = 3.0 * a * a + 6.0 * a;
            let m6 = 15.0 * a.powi(3) + 130.0 * a * a + 120.0 * a;
            let error = |variance: f64| 5.0 * (variance / n as f64).sqrt();
            assert!(moment(1).abs() < error(a), "mean at {a}");
            assert!((moment(2) - a).abs() < error(m4 - a * a), "variance at {a}");
            assert!((moment(3) - 2.0 * a).abs() < error(m6 - 4.0 * a * a), "third moment at {a}");
        }
    }

    #[test]
    fn a_draw_does_not_depend_on_its_neighbours() {
        for key in [KEY, KEY.smooth()] {
            let all = sample(1.2, 100, key);
            for i in [0, 3, 15, 16, 99] {
                let mut one = [0.0];
                fill_gamma(key.stream(2, 1), &[1.2], |_| i as u64, &mut one);
                assert_eq!(one[0], all[i]);
            }
        }
    }

    #[test]
    fn inversion_moves_smoothly_with_the_derivative() {
        let h = 1e-5;
        for a in [0.2, 1.0, 7.0, 50.0] {
            let [low, mid, high] = [a - h, a, a + h].map(|a| sample(a, 50, KEY.smooth()));
            for i in 0..50 {
                let numeric = (high[i] - low[i]) / (2.0 * h);
                let exact = crate::random::gamma_derivative(a, mid[i]);
                assert!((numeric / exact - 1.0).abs() < 1e-6, "shape {a}: {numeric} and {exact}");
            }
        }
    }
}
