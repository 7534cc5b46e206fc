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
            (Prediction::of(likelihood.clone(), vec![], draws, components), labelled(&points))
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
    let predictions = Prediction::of(likelihood.clone(), vec![], 1, components);
    let timid = Calibration::of(&[(predictions, labelled(&few))]).calibration;
    assert!(timid.scale < 3.0, "{timid:?}");
}

/// Doubt shrinks what draws differ by as it shrinks their variances.
#[test]
fn doubt_counts_within_draws_and_between_them() {
    let likelihood: Arc<dyn Likelihood> = Arc::new(Scalar::new(Bernoulli));
    let of = |components: Vec<f64>| Prediction::of(likelihood.clone(), vec![], 2, components);
    let calibrated =
        of(vec![1.0, 4.0, 3.0, 8.0]).calibrated(Calibration { scale: 3.0, doubt: 0.5, ..Calibration::NONE });
    let expected = of(vec![4.5, 9.0, 7.5, 18.0]);
    assert_eq!(calibrated.probabilities(0), expected.probabilities(0));
}

/// Numbers that are off m by e, draws of f that lie around m by u, and the noise that the bound finds then, E(y − f)² = e² + u²: where noise is e² − u²,
/// predictions vary by e².
#[test]
fn what_draws_differ_by_is_not_counted_as_noise_too() {
    let (n, draws, e, between) = (2000, 20, 0.4, 0.3);
    let (mut z, mut u) = (vec![0.0; n], vec![0.0; draws * n]);
    fill_normal(Key::new(1).stream(0, 0), 1, |i| i as u64, &mut z);
    fill_normal(Key::new(2).stream(0, 0), draws, |i| i as u64, &mut u);
    let wave = |i: usize| (0.01 * i as f64).sin();
    let y: Vec<f64> = z.iter().enumerate().map(|(i, z)| wave(i) + e * z).collect();
    let data = Dataset::new(Mat::zeros(1, n).as_ref(), MatRef::from_column_major_slice(&y, 1, n)).unwrap();
    let learned = e * e + between * between;
    let predicted = |likelihood: Arc<dyn Likelihood>, parameters: Vec<f64>, between: f64| {
        let of_draw = |i: usize, s: usize| [wave(i) + between * u[i * draws + s], 0.0];
        let components = (0..n).flat_map(|i| (0..draws).flat_map(move |s| of_draw(i, s))).collect();
        let parameters = parameters.into_iter().map(|p| vec![p]).collect();
        Prediction::of(likelihood, parameters, draws, components)
    };
    let normal = |noise: f64, between: f64| predicted(Arc::new(Gaussian::new(1)), vec![noise], between);
    let (found, [before, after]) = Calibration::of_noise(&normal(learned, between), &data).unwrap();
    let found = found.noise;
    assert!(after > before + 0.05, "{before} {after}");
    // twenty draws' mean is off by between/√20, and they vary by as much less
    let error = e * e + between * between / draws as f64;
    let right = ((error - between * between * (1.0 - 1.0 / draws as f64)) / learned).sqrt();
    assert!((found / right - 1.0).abs() < 0.1, "{found} {right}");
    let deviation = |p: &Prediction| (0..n).map(|i| p.marginal(i, 0).deviation()).sum::<f64>() / n as f64;
    let calibrated = normal(learned, between).calibrated(Calibration { noise: found, ..Calibration::NONE });
    assert!((deviation(&calibrated) / error.sqrt() - 1.0).abs() < 0.06, "{}", deviation(&calibrated));
    assert!(deviation(&normal(learned, between)) > 1.3 * error.sqrt());
    // where noise is what it should be, where it is too small, and where targets are not numbers
    let as_it_is = Calibration::of_noise(&normal(e * e, 0.0), &data).unwrap();
    assert!((as_it_is.0.noise - 1.0).abs() < 0.05 && as_it_is.1[1] - as_it_is.1[0] < 0.003, "{as_it_is:?}");
    let wider = Calibration::of_noise(&normal(0.25 * e * e, 0.0), &data).unwrap().0.noise;
    assert!((wider / 2.0 - 1.0).abs() < 0.06, "{wider}");
    assert_eq!(Calibration::of_noise(&predicted(Arc::new(Scalar::new(Poisson)), vec![], between), &data), None);
    // a deviation instead of a variance
    let heavy = predicted(Arc::new(Scalar::new(StudentT)), vec![learned.sqrt(), 50.0], between);
    let found = Calibration::of_noise(&heavy, &data).unwrap().0.noise;
    assert!((found / right - 1.0).abs() < 0.1, "{found} {right}");
}

/// Noise counts in every question about a prediction as if the model had learned it; what the model does not know stays.
#[test]
fn calibrated_noise_is_noise() {
    let half = Calibration { noise: 0.5, ..Calibration::NONE };
    let components = vec![0.3, -0.2, 0.04, 0.09, 0.7, 0.4, 0.01, 0.25];
    let of = |noises: Vec<f64>| Prediction::of(Arc::new(Gaussian::new(2)), vec![noises], 2, components.clone());
    let (less, expected) = (of(vec![0.4, 0.8]).calibrated(half), of(vec![0.1, 0.2]));
    for target in 0..2 {
        let (a, b) = (less.marginal(0, target), expected.marginal(0, target));
        assert_eq!(a.moments(), b.moments());
        assert_eq!(
            (a.cdf(0.1), a.quantile(0.9), a.log_density(0.2)),
            (b.cdf(0.1), b.quantile(0.9), b.log_density(0.2))
        );
    }
    assert_eq!(less.log_density(0, &[0.1, f64::NAN]), expected.log_density(0, &[0.1, f64::NAN]));
    assert_eq!(less.log_density(0, &[0.1, 0.7]), expected.log_density(0, &[0.1, 0.7]));
}

/// Files were written before noise was calibrated.
#[test]
fn a_calibration_without_noise_leaves_it() {
    let old: Calibration = serde_json::from_str(r#"{"scale":1.5,"doubt":0.5}"#).unwrap();
    assert_eq!(old, Calibration { scale: 1.5, doubt: 0.5, noise: 1.0 });
}
