//! Real data: a short training run on a UCI split, where the environment variable DKP_UCI says where these are.

#[path = "../examples/uci/splits.rs"]
mod splits;

use dkp::kernels::SquaredExponential;
use dkp::likelihoods::Gaussian;
use dkp::metrics;
use dkp::model::Architecture;
use dkp::train::{Options, Start, Trainer, initialise};
use dkp_tape::random::Key;
use faer::Mat;
use std::sync::Arc;

/// The constant predictor has −4.1 on yacht, a converged model about −0.1. This small one must be most of the way.
#[test]
fn a_short_run_on_yacht_is_far_above_the_constant_predictor() {
    if std::env::var("DKP_UCI").is_err() {
        println!("skipped: DKP_UCI is not set");
        return;
    }
    let (train, test) = splits::load("yacht", 0).unwrap();
    let (sx, sy) = train.scales();
    let (train, test) = (train.scaled(&sx, &sy), test.scaled(&sx, &sy));
    let architecture = Architecture::diwp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(1)));
    let start = Start { inducing: 40, warm_up: 1000, ..Start::default() };
    let mut model = initialise(architecture, &train, start).unwrap();
    Trainer::new(&mut model, &train, Options { steps: 200, draws: 4, ..Options::default() })
        .unwrap()
        .run(|_| true)
        .unwrap();
    let x = Mat::from_fn(test.features(), test.points(), |i, n| test.x(n)[i]);
    let prediction = model.predict(x.as_ref(), 50, Key::new(1)).unwrap();
    let y: Vec<f64> = (0..test.points()).map(|n| test.y(n)[0]).collect();
    let metrics = metrics::regression(&prediction, 0, &y, sy.deviation[0]);
    assert!(metrics.log_likelihood > -1.5 && metrics.rmse < 1.5, "{metrics:?}");
}
