//! Real data: a short training run on a UCI split, where the environment variable DKP_UCI says where these are.

#[path = "baseline/logistic.rs"]
mod logistic;
#[path = "../examples/uci/splits.rs"]
mod splits;

use dkp::data::Dataset;
use dkp::kernels::SquaredExponential;
use dkp::likelihoods::{Categorical, Gaussian};
use dkp::metrics;
use dkp::model::Architecture;
use dkp::train::{Start, TrainOptions, Trainer, initialise};
use dkp_tape::random::Key;
use faer::Mat;
use std::sync::Arc;

/// Whether the data are missing, which is said; a failure where DKP_REQUIRE says so, unless DKP_UCI is `none`.
fn no_data() -> bool {
    let folder = std::env::var("DKP_UCI").ok();
    let required = std::env::var("DKP_REQUIRE").is_ok_and(|v| !v.is_empty());
    assert!(folder.is_some() || !required, "DKP_REQUIRE is set, but DKP_UCI is not");
    let missing = folder.is_none_or(|f| f == "none");
    if missing {
        println!("skipped: DKP_UCI does not say where the UCI sets are");
    }
    missing
}

/// The constant predictor has −4.1 on yacht, a converged model about −0.1. This small one must be most of the way.
#[test]
fn a_short_run_on_yacht_is_far_above_the_constant_predictor() {
    if no_data() {
        return;
    }
    let (train, test) = splits::load("yacht", 0).unwrap();
    let (sx, sy) = train.scales();
    let (train, test) = (train.scaled(&sx, &sy), test.scaled(&sx, &sy));
    let architecture = Architecture::diwp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(1)));
    let start = Start { inducing: 40, warm_up: 1000, ..Start::default() };
    let mut model = initialise(architecture, &train, start).unwrap();
    Trainer::new(&mut model, &train, TrainOptions { steps: 200, draws: 4, ..TrainOptions::default() })
        .unwrap()
        .run(|_| true)
        .unwrap();
    let x = Mat::from_fn(test.features(), test.points(), |i, n| test.x(n)[i]);
    let prediction = model.predict(x.as_ref(), 50, Key::new(1)).unwrap();
    let y: Vec<f64> = (0..test.points()).map(|n| test.y(n)[0]).collect();
    let metrics = metrics::regression(&prediction, 0, &y, sy.deviation[0]);
    assert!(metrics.log_likelihood > -1.5 && metrics.rmse < 1.5, "{metrics:?}");
}

/// Wine quality, of which there are six grades, as a class: at least as good as multinomial logistic regression in probability
/// and accuracy, and calibrated.
#[test]
fn wine_grades_are_classified_with_calibrated_probabilities() {
    if no_data() {
        return;
    }
    let (train, test) = splits::load("wine", 0).unwrap();
    let (sx, sy) = train.scales();
    let grades = |d: &Dataset| (0..d.points()).map(|n| d.y(n)[0].round() as i64).collect::<Vec<_>>();
    let lowest = grades(&train).into_iter().chain(grades(&test)).min().unwrap();
    let highest = grades(&train).into_iter().chain(grades(&test)).max().unwrap();
    let classes = (highest - lowest + 1) as usize;
    let unscaled = dkp::data::Scaler::identity(sy.mean.len());
    let labelled = |d: Dataset| {
        let y = grades(&d);
        let d = d.scaled(&sx, &unscaled);
        let x = Mat::from_fn(d.features(), d.points(), |i, n| d.x(n)[i]);
        let y = Mat::from_fn(1, d.points(), |_, n| (y[n] - lowest) as f64);
        (Dataset::new(x.as_ref(), y.as_ref()).unwrap(), x)
    };
    let ((train, _), (test, x_test)) = (labelled(train), labelled(test));
    let architecture = Architecture::diwp(Arc::new(SquaredExponential), 1, Arc::new(Categorical::new(classes)));
    let start = Start { inducing: 50, warm_up: 1000, ..Start::default() };
    let mut model = initialise(architecture, &train, start).unwrap();
    let options = TrainOptions { steps: 100, draws: 2, batch: Some(500), ..TrainOptions::default() };
    Trainer::new(&mut model, &train, options).unwrap().run(|_| true).unwrap();
    let prediction = model.predict(x_test.as_ref(), 20, Key::new(1)).unwrap();
    let y: Vec<f64> = (0..test.points()).map(|n| test.y(n)[0]).collect();
    let ours = metrics::classification(&prediction, &y).unwrap();
    let points = |d: &Dataset| (0..d.points()).map(|n| (d.x(n).to_vec(), d.y(n)[0] as usize)).collect::<Vec<_>>();
    let (accuracy, log_likelihood) = logistic::logistic_regression(&points(&train), &points(&test), classes);
    println!("{ours:?}; logistic regression: accuracy {accuracy:.3}, log-likelihood {log_likelihood:.3}");
    assert!(ours.log_likelihood > log_likelihood && ours.accuracy > accuracy - 0.02, "{ours:?}");
    assert!(ours.calibration < 0.1, "{ours:?}");
}
