//! Where inducing points start: data points far from each other.

use crate::data::{Dataset, shuffled};
use dkp_tape::random::{Key, fill_normal};

/// Points among which inducing ones are chosen, at most.
const SUBSAMPLE: usize = 10_000;

/// Points chosen by k-means++ (Arthur & Vassilvitskii 2007): each with probability proportional to its squared distance from
/// those chosen before, so that they cover the data. All points if there are no more than asked for.
pub(super) fn choose(data: &Dataset, count: usize, key: Key) -> Vec<usize> {
    let mut pool = shuffled(data.points(), key, 0);
    pool.truncate(SUBSAMPLE);
    if count >= pool.len() {
        pool.truncate(count);
        return pool;
    }
    // uniform numbers in (0, 1) from normals
    let mut uniforms = vec![0.0; count];
    fill_normal(key.stream(u32::MAX, 1), count, |_| 0, &mut uniforms);
    uniforms.iter_mut().for_each(|u| *u = 0.5 * libm::erfc(-*u / std::f64::consts::SQRT_2));
    let distance = |a: usize, b: usize| data.x(a).iter().zip(data.x(b)).map(|(p, q)| (p - q).powi(2)).sum::<f64>();
    let mut chosen = vec![pool[0]];
    let mut nearest: Vec<f64> = pool.iter().map(|&n| distance(n, pool[0])).collect();
    while chosen.len() < count {
        let total: f64 = nearest.iter().sum();
        // where all others coincide with chosen ones, take them in order
        let next = if total > 0.0 {
            let mut left = uniforms[chosen.len()] * total;
            let at = nearest.iter().position(|d| {
                left -= d;
                left < 0.0
            });
            at.unwrap_or(pool.len() - 1)
        } else {
            chosen.len()
        };
        let n = pool[next];
        chosen.push(n);
        for (d, &p) in nearest.iter_mut().zip(&pool) {
            *d = d.min(distance(n, p));
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn every_cluster_gets_a_point() {
        // four tight clusters of fifty, far apart
        let x =
            Mat::from_fn(2, 200, |i, n| 10.0 * ((n % 4) / (1 + i) % 2) as f64 + 1e-3 * ((n * (i + 3)) as f64).sin());
        let data = Dataset::new(x.as_ref(), Mat::from_fn(1, 200, |_, n| n as f64).as_ref()).unwrap();
        for seed in 0..20 {
            let chosen = choose(&data, 4, Key::new(seed));
            let mut clusters: Vec<usize> = chosen.iter().map(|n| n % 4).collect();
            clusters.sort_unstable();
            assert_eq!(clusters, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn few_or_equal_points_are_no_trouble() {
        let data = Dataset::new(Mat::from_fn(1, 5, |_, _| 2.0).as_ref(), Mat::zeros(1, 5).as_ref()).unwrap();
        assert_eq!(choose(&data, 9, Key::new(0)).len(), 5);
        assert_eq!(choose(&data, 3, Key::new(0)).len(), 3);
    }
}
