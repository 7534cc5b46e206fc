//! How sure predictions of classes should be.

use super::*;
use crate::data::Dataset;
use crate::likelihoods::{Bernoulli, Categorical, Likelihood, Scalar};
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
    let calibrated = of(vec![1.0, 4.0, 3.0, 8.0]).calibrated(Calibration { scale: 3.0, doubt: 0.5 });
    let expected = of(vec![4.5, 9.0, 7.5, 18.0]);
    assert_eq!(calibrated.probabilities(0), expected.probabilities(0));
}
