//! How sure predictions should be.

use super::*;
use crate::data::Dataset;
use crate::likelihoods::{Bernoulli, Categorical, Gaussian, Likelihood, Poisson, Scalar, StudentT};
use dkp_tape::random::{Key, fill_normal};
use faer::{Mat, MatRef};
use std::sync::Arc;

/// Latents of three classes, from which labels are drawn, and a posterior that shrinks them and is broader than they are known.
#[test]
fn calibration_finds_how_sure_to_be() {
    let (n, classes, draws) = (4000, 3, 2);
    let likelihood: Arc<dyn Likelihood> = Arc::new(Categorical::new(classes));
    let (mut z, mut uniform) = (vec![0.0; n * classes], vec![0.0; n]);
    fill_normal(Key::new(1).stream(0, 0), classes, |i| i as u64, &mut z);
    fill_normal(Key::new(2).stream(0, 0), 1, |i| i as u64, &mut uniform);
    let latent = |i: usize, c: usize| 2.0 * z[i * classes + c];
    let label = |i: usize| {
        let e: Vec<f64> = (0..classes).map(|c| latent(i, c).exp()).collect();
        let mut left = 0.5 * libm::erfc(-uniform[i] / 2.0_f64.sqrt()) * e.iter().sum::<f64>();
        e.iter()
            .position(|e| {
                left -= e;
                left < 0.0
            })
            .unwrap_or(classes - 1) as f64
    };
    let labelled = |points: &[usize]| {
        let y: Vec<f64> = points.iter().map(|&i| label(i)).collect();
        Dataset::new(Mat::zeros(1, y.len()).as_ref(), MatRef::from_column_major_slice(&y, 1, y.len())).unwrap()
    };
    // as two parts of the data
    let parts = |scale: f64, variance: f64| -> Vec<(Prediction, Dataset)> {
        let of_draw = |i: usize| (0..classes).map(move |c| scale * latent(i, c)).chain(vec![variance; classes]);
        let part = |points: Vec<usize>| {
            let components = points.iter().flat_map(|&i| (0..draws).flat_map(move |_| of_draw(i))).collect();
            (Prediction::from_components(likelihood.clone(), vec![], draws, components), labelled(&points))
        };
        vec![part((0..n / 4).collect()), part((n / 4..n).collect())]
    };
    // right as they are
    let Calibrating { calibration: right, scores, .. } = Calibration::of(&parts(1.0, 0.0));
    assert!((right.scale - 1.0).abs() < 0.1 && scores[1] - scores[0] < 2e-3, "{right:?} {scores:?}");
    // half as far from zero as they should be
    let Calibrating { calibration: half, scores, confidence } = Calibration::of(&parts(0.5, 0.0));
    assert!(confidence[1] > confidence[0] + 0.05, "{confidence:?}");
    assert!((half.scale - 2.0).abs() < 0.2 && scores[1] - scores[0] > 0.02, "{half:?} {scores:?}");
    // uncertain though they are known
    let Calibrating { calibration: broad, scores, .. } = Calibration::of(&parts(1.0, 4.0));
    assert!(
        broad.doubt < 0.3 && (broad.scale - 1.0).abs() < 0.2 && scores[1] - scores[0] > 0.05,
        "{broad:?} {scores:?}"
    );
    let log = |parts: Vec<(Prediction, Dataset)>, calibration: Calibration| {
        let calibrated = |(p, d): (Prediction, Dataset)| (p.calibrated(calibration), d);
        let sum = |(p, d): (Prediction, Dataset)| (0..d.points()).map(|i| p.log_density(i, d.y(i))).sum::<f64>();
        parts.into_iter().map(calibrated).map(sum).sum::<f64>() / n as f64
    };
    assert!((log(parts(1.0, 4.0), broad) - log(parts(1.0, 0.0), Calibration::NONE)).abs() < 0.01);
    // no rows, or a few that are all right, do not make it certain
    assert_eq!(Calibration::of(&[]).calibration, Calibration::NONE);
    let few: Vec<usize> =
        (0..n).filter(|&i| label(i) == 0.0 && latent(i, 0) > latent(i, 1).max(latent(i, 2))).take(5).collect();
    let components =
        few.iter().flat_map(|&i| (0..classes).map(move |c| latent(i, c)).chain([1.0; 3]).collect::<Vec<_>>()).collect();
    let predictions = Prediction::from_components(likelihood.clone(), vec![], 1, components);
    let timid = Calibration::of(&[(predictions, labelled(&few))]).calibration;
    assert!(timid.scale < 3.0, "{timid:?}");
}

/// Doubt shrinks what draws differ by as it shrinks their variances.
#[test]
fn doubt_counts_within_draws_and_between_them() {
    let likelihood: Arc<dyn Likelihood> = Arc::new(Scalar::new(Bernoulli));
    let of = |components: Vec<f64>| Prediction::from_components(likelihood.clone(), vec![], 2, components);
    let calibrated =
        of(vec![1.0, 4.0, 3.0, 8.0]).calibrated(Calibration { scale: 3.0, doubt: 0.5, ..Calibration::NONE });
    let expected = of(vec![4.5, 9.0, 7.5, 18.0]);
    assert_eq!(calibrated.probabilities(0), expected.probabilities(0));
}

/// Numbers m + e, draws of f that lie around m, and the noise that the bound finds then, E(y − f)²: the deviation of e alone is found again.
#[test]
fn what_draws_differ_by_is_not_counted_twice() {
    let (n, draws, e, between) = (2000, 20, 0.3, 0.4);
    let (mut z, mut u) = (vec![0.0; n], vec![0.0; draws * n]);
    fill_normal(Key::new(1).stream(0, 0), 1, |i| i as u64, &mut z);
    fill_normal(Key::new(2).stream(0, 0), draws, |i| i as u64, &mut u);
    let y: Vec<f64> = z.iter().enumerate().map(|(i, z)| (0.01 * i as f64).sin() + e * z).collect();
    let data = Dataset::new(Mat::zeros(1, n).as_ref(), MatRef::from_column_major_slice(&y, 1, n)).unwrap();
    let predicted = |likelihood: Arc<dyn Likelihood>, between: f64, noise: f64| {
        let of_draw = |i: usize, s: usize| [(0.01 * i as f64).sin() + between * u[i * draws + s], 0.0];
        let components = (0..n).flat_map(|i| (0..draws).flat_map(move |s| of_draw(i, s))).collect();
        Prediction::from_components(likelihood, vec![vec![noise]], draws, components)
    };
    let normal = || Arc::new(Gaussian::new(1));
    let broad = predicted(normal(), between, e * e + between * between);
    let found = Calibration::of_learned(&broad, &data, 0.0).unwrap();
    // twenty draws' mean is off by between/√20
    let error = (e * e + between * between / draws as f64).sqrt();
    let right = error / (e * e + 2.0 * between * between).sqrt();
    assert!((found.calibration.breadth / right - 1.0).abs() < 0.06, "{found:?} {right}");
    assert!(found.scores[1] > found.scores[0] + 0.2 && found.confidence[0].is_nan(), "{found:?}");
    let narrowed = broad.calibrated(found.calibration);
    let deviation = |i: usize| narrowed.marginal(i, 0).deviation();
    let mean = (0..n).map(deviation).sum::<f64>() / n as f64;
    assert!((mean / error - 1.0).abs() < 0.08, "{mean} {error}");
    // new points may err more: by a tenth for a tenth of a nat
    let wary = Calibration::of_learned(&predicted(normal(), between, e * e + between * between), &data, 0.1).unwrap();
    assert!((wary.calibration.breadth / found.calibration.breadth - 0.1_f64.exp()).abs() < 1e-12);
    // by nothing that the data do not bear out; where the posterior is right; where targets are not numbers
    assert!(Calibration::of_learned(&predicted(normal(), between, e * e + between * between), &data, 1.0).is_none());
    assert!(Calibration::of_learned(&predicted(normal(), 0.0, e * e), &data, 0.0).is_none());
    assert!(Calibration::of_learned(&predicted(Arc::new(Scalar::new(Poisson)), between, 0.1), &data, 0.0).is_none());
}

/// The law of m + breadth·(y − m), for mixtures of normals and for others, with a target of several missing.
#[test]
fn broad_and_narrow_laws_are_the_same_but_for_their_unit() {
    let calibration = Calibration { breadth: 0.5, ..Calibration::NONE };
    let components = vec![0.3, -0.2, 0.04, 0.09, 0.7, 0.4, 0.01, 0.25];
    let several = Prediction::from_components(Arc::new(Gaussian::new(2)), vec![vec![0.1, 0.2]], 2, components);
    let of_t = vec![0.3, 0.04, 0.7, 0.01];
    let heavy = Prediction::from_components(Arc::new(Scalar::new(StudentT)), vec![vec![0.3], vec![5.0]], 2, of_t);
    for own in [several, heavy] {
        let narrow = own.clone().calibrated(calibration);
        for target in 0..own.targets() {
            let (a, b) = (own.marginal(0, target), narrow.marginal(0, target));
            let mean = a.moments().mean;
            assert_eq!(b.moments().mean, mean);
            assert!((b.deviation() - 0.5 * a.deviation()).abs() < 1e-14);
            for step in -8..=8 {
                let y = mean + 0.25 * f64::from(step);
                let to = mean + 0.5 * (y - mean);
                assert!((b.cdf(to) - a.cdf(y)).abs() < 1e-12 && (narrow.cdf(0, target, to) - b.cdf(to)).abs() < 1e-12);
                assert!((b.log_density(to) - a.log_density(y) - 2.0_f64.ln()).abs() < 1e-12);
            }
            let [low, high] = [0.05, 0.9].map(|p| b.quantile(p));
            assert!((b.cdf(low) - 0.05).abs() < 1e-9 && (b.cdf(high) - 0.9).abs() < 1e-9);
        }
    }
}
