//! Points that are left out, and what is calibrated by them.

use super::inference_tests::{data, gaussian, inputs, model, sq_exp};
use super::*;
use crate::likelihoods::{Bernoulli, Categorical, Likelihood, Scalar, VaryingNoise};
use dkp_tape::random::{Key, fill_normal};
use faer::linalg::solvers::DenseSolveCore as _;
use faer::{Mat, Side};
use std::sync::Arc;

/// For exact regression the prediction of a point from all others has the mean y − [C⁻¹y]/[C⁻¹]_nn and the variance 1/[C⁻¹]_nn, C = K + σ²I (Rasmussen &
/// Williams 2006, 5.10).
#[test]
fn points_left_out_of_exact_regression_are_predicted_from_the_others() {
    let (data, noise) = (data(30), 0.07_f64);
    let mut m = model(Architecture::nngp(sq_exp(), 0, gaussian()), &data, 30);
    let n = data.points();
    let p = m.parameters_mut();
    p.set("inducing.inputs", &(0..n).flat_map(|i| data.x(i).to_vec()).collect::<Vec<_>>()).unwrap();
    p.set("output.targets", &(0..n).map(|i| data.y(i)[0]).collect::<Vec<_>>()).unwrap();
    p.set("output.noise.diagonal", &vec![noise.sqrt(); n]).unwrap();
    p.set("likelihood.noise", &[noise]).unwrap();
    let value = |name: &str| m.parameters().get(name).unwrap()[0];
    let (h, l) = (value("output.kernel.height"), value("output.kernel.lengthscale"));
    let covariance = Mat::from_fn(n, n, |i, j| {
        let distance: f64 = data.x(i).iter().zip(data.x(j)).map(|(a, b)| (a - b).powi(2) / 3.0).sum();
        h * h * (-distance / (2.0 * l * l)).exp() + if i == j { noise } else { 0.0 }
    });
    let inverse = covariance.llt(Side::Lower).unwrap().inverse();
    let weights = &inverse * Mat::from_fn(n, 1, |i, _| data.y(i)[0]);
    let rows: Vec<usize> = (0..n).rev().collect();
    let left_out = m.left_out(&data, &rows, 5, Key::new(0)).unwrap().expect("normal noise has an influence");
    for (at, &row) in rows.iter().enumerate() {
        let moments = left_out.moments(at, 0);
        let variance = 1.0 / inverse[(row, row)];
        let mean = data.y(row)[0] - weights[(row, 0)] * variance;
        assert!((moments.mean - mean).abs() < 1e-5, "row {row}: {moments:?} and {mean}");
        assert!((moments.model + moments.noise - variance).abs() < 1e-5, "row {row}: {moments:?} and {variance}");
    }
    // a likelihood that does not say what its targets tell
    let varying = model(Architecture::nngp(sq_exp(), 0, Arc::new(VaryingNoise::new(1))), &data, 9);
    assert!(varying.left_out(&data, &rows, 1, Key::new(0)).unwrap().is_none());
}

/// Without it a point's own class is less probable, in every draw of a model that draws, and hardly less where it was one of many.
#[test]
fn a_class_is_less_probable_where_its_point_is_left_out() {
    let coins = |n| Mat::from_fn(1, n, |_, i| (i % 2) as f64);
    let data = Dataset::new(inputs(&data(24)).as_ref(), coins(24).as_ref()).unwrap();
    let mut m = model(Architecture::diwp(sq_exp(), 1, Arc::new(Scalar::new(Bernoulli))), &data, 6);
    let rows: Vec<usize> = (0..24).collect();
    let losses = |m: &Model| {
        let left_out = m.left_out(&data, &rows, 3, Key::new(1)).unwrap().unwrap();
        let whole = m.predict(inputs(&data).as_ref(), 3, Key::new(1)).unwrap();
        let loss = |&n: &usize| whole.log_density(n, data.y(n)) - left_out.log_density(n, data.y(n));
        rows.iter().map(loss).collect::<Vec<_>>()
    };
    let few = losses(&m);
    assert!(few.iter().all(|l| *l > 0.0), "{few:?}");
    // pseudo-targets as of a million points
    m.parameters_mut().set("output.noise.diagonal", &[1e-3; 6]).unwrap();
    let many = losses(&m);
    assert!(many.iter().all(|l| *l < 1e-3), "{many:?}");
}

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
    let labels: Vec<[f64; 1]> = (0..n).map(|i| [label(i)]).collect();
    let y: Vec<&[f64]> = labels.iter().map(|l| l.as_slice()).collect();
    let predictions = |scale: f64, variance: f64, between: f64| {
        let of_draw = |i: usize, s: usize| {
            let moved = move |c| scale * latent(i, c) + between * if s == 0 { 1.0 } else { -1.0 };
            (0..classes).map(moved).chain(vec![variance; classes])
        };
        let components = (0..n).flat_map(|i| (0..draws).flat_map(move |s| of_draw(i, s))).collect();
        Prediction::from_components(likelihood.clone(), vec![], draws, components)
    };
    // right as they are
    let Calibrating { calibration: right, gain, .. } = Calibration::of(&predictions(1.0, 0.0, 0.0), &y);
    assert!((right.scale - 1.0).abs() < 0.1 && gain < 2e-3, "{right:?} {gain}");
    // half as far from zero as they should be
    let Calibrating { calibration: half, gain, confidence } = Calibration::of(&predictions(0.5, 0.0, 0.0), &y);
    assert!(confidence[1] > confidence[0] + 0.05, "{confidence:?}");
    assert!((half.scale - 2.0).abs() < 0.2 && gain > 0.02, "{half:?} {gain}");
    // uncertain though they are known
    let Calibrating { calibration: broad, gain, .. } = Calibration::of(&predictions(1.0, 4.0, 0.0), &y);
    assert!(broad.doubt < 0.3 && (broad.scale - 1.0).abs() < 0.2 && gain > 0.05, "{broad:?} {gain}");
    let sure = predictions(1.0, 4.0, 0.0).calibrated(broad);
    let log = |p: &Prediction| y.iter().enumerate().map(|(i, y)| p.log_density(i, y)).sum::<f64>() / n as f64;
    assert!((log(&sure) - log(&predictions(1.0, 0.0, 0.0))).abs() < 0.01);
    // no rows, or a few that are all right, do not make it certain
    assert_eq!(Calibration::of(&predictions(1.0, 1.0, 0.0), &[]).calibration, Calibration::NONE);
    let few: Vec<usize> =
        (0..n).filter(|&i| label(i) == 0.0 && latent(i, 0) > latent(i, 1).max(latent(i, 2))).take(5).collect();
    let components =
        few.iter().flat_map(|&i| (0..classes).map(move |c| latent(i, c)).chain([1.0; 3]).collect::<Vec<_>>()).collect();
    let few_y: Vec<&[f64]> = few.iter().map(|&i| labels[i].as_slice()).collect();
    let timid =
        Calibration::of(&Prediction::from_components(likelihood.clone(), vec![], 1, components), &few_y).calibration;
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
