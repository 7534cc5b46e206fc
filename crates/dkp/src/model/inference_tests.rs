//! Predictions of whole models: bits, functions and draws; and what is refused.

use super::*;
use crate::kernels::{Kernel, SquaredExponential};
use crate::likelihoods::{Bernoulli, Categorical, Gaussian, Likelihood, Scalar};
use crate::processes::{InverseWishart, Process};
use crate::train::{Start, initialise};
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use faer::Mat;
use std::sync::Arc;

pub(super) fn sq_exp() -> Arc<dyn Kernel> {
    Arc::new(SquaredExponential)
}

pub(super) fn gaussian() -> Arc<dyn Likelihood> {
    Arc::new(Gaussian::new(1))
}

/// A smooth function of three features at some points.
pub(super) fn data(points: usize) -> Dataset {
    let x = cases::matrix(1, 3, points);
    let y = Mat::from_fn(1, points, |_, n| (2.0 * x[(0, n)] + x[(1, n)]).sin() + 0.1 * (7.0 * n as f64).sin());
    Dataset::new(x.as_ref(), y.as_ref()).unwrap()
}

pub(super) fn model(architecture: Architecture, data: &Dataset, inducing: usize) -> Model {
    // δ and γ at which every part of a layer matters
    let even = |p: Arc<dyn Process>| match p.name().as_str() {
        "inverse_wishart" => Arc::new(InverseWishart { delta: 6.0, gamma: 4.0 }) as Arc<dyn Process>,
        _ => p,
    };
    let mut architecture = architecture;
    architecture.input = architecture.input.map(even);
    architecture.layers.iter_mut().for_each(|l| l.process = even(l.process.clone()));
    initialise(architecture, data, Start { inducing, warm_up: 0, ..Start::default() }).unwrap()
}

pub(super) fn inputs(data: &Dataset) -> Mat<f64> {
    Mat::from_fn(data.features(), data.points(), |i, n| data.x(n)[i])
}

/// Features so large that nothing can be computed from them are an error, not a NaN.
#[test]
fn predictions_that_are_not_numbers_are_errors() {
    let data = data(20);
    let y = Mat::from_fn(1, 20, |_, n| (n % 2) as f64);
    let coins = Dataset::new(inputs(&data).as_ref(), y.as_ref()).unwrap();
    let m = model(Architecture::diwp(sq_exp(), 1, Arc::new(Scalar::new(Bernoulli))), &coins, 5);
    let mut x = Mat::zeros(3, 4);
    x[(1, 2)] = 1e200;
    assert_eq!(m.predict(x.as_ref(), 2, Key::new(0)).err(), Some(Error::NotFinite { point: 2 }));
}

/// A failure is told by its layer, a likely cause and what helps, once, without the engine's words.
#[test]
fn failures_are_told_in_the_words_of_a_user() {
    let place = dkp_tape::Place { program: "draw".into(), section: "layer 2".into(), node: 68, ..Default::default() };
    let singular = dkp_tape::Problem::NotPositiveDefinite { size: 7, pivot: 3, value: -1.0 };
    for (problem, expected) in [
        (singular, "hidden layer 2: the 7×7 kernel matrix is singular"),
        (dkp_tape::Problem::NonFiniteOutput { value: f64::NAN }, "hidden layer 2: a number became too large"),
    ] {
        let error = Error::from(dkp_tape::Failure { place: Box::new(place.clone()), problem });
        let text = error.to_string();
        assert!(text.starts_with(expected) && text.contains("would help") | text.contains("mend"), "{text}");
        assert!(!text.contains("68") && !text.contains("program"), "{text}");
        assert!(std::error::Error::source(&error).is_none());
    }
}

#[test]
fn batches_order_and_threads_change_no_bit_of_a_prediction() {
    let data = data(300);
    let x = inputs(&data);
    let narrow = [Architecture::dgp, Architecture::dwp].map(|family| family(sq_exp(), 1, 3, gaussian()));
    let others = [Architecture::diwp(sq_exp(), 2, gaussian()), Architecture::dwp(sq_exp(), 1, 20, gaussian())];
    for architecture in narrow.into_iter().chain(others) {
        let m = model(architecture, &data, 12);
        let all = m.predict(x.as_ref(), 7, Key::new(5)).unwrap();
        let moments = |p: &Prediction, n: usize| (p.moments(n, 0), p.log_density(n, &[0.3]));
        let reversed = Mat::from_fn(3, 300, |i, n| x[(i, 299 - n)]);
        let other_order = m.predict(reversed.as_ref(), 7, Key::new(5)).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let one_thread = pool.install(|| m.predict(x.as_ref(), 7, Key::new(5)).unwrap());
        for n in 0..300 {
            assert_eq!(moments(&all, n), moments(&other_order, 299 - n), "point {n}");
            assert_eq!(moments(&all, n), moments(&one_thread, n), "point {n}");
        }
        for n in [0, 137, 299] {
            let alone = m.predict(x.as_ref().subcols(n, 1), 7, Key::new(5)).unwrap();
            assert_eq!(moments(&all, n), moments(&alone, 0), "point {n}");
        }
        let bound = m.bound(&data, 5, Key::new(1)).unwrap();
        assert_eq!(bound, pool.install(|| m.bound(&data, 5, Key::new(1)).unwrap()));
    }
}

/// Threads that share a model get what one thread gets, whatever the others ask for.
#[test]
fn threads_share_a_model() {
    let data = data(60);
    let x = inputs(&data);
    let m = model(Architecture::diwp(sq_exp(), 1, gaussian()), &data, 8);
    let predict = |draws: usize| m.predict(x.as_ref(), draws, Key::new(2)).unwrap().moments(7, 0);
    let (few, many, bound) = (predict(3), predict(9), m.bound(&data, 4, Key::new(1)).unwrap());
    std::thread::scope(|scope| {
        for t in 0..12 {
            let (predict, m, data, bound) = (&predict, &m, &data, &bound);
            scope.spawn(move || match t % 3 {
                0 => assert_eq!(predict(3), few),
                1 => assert_eq!(predict(9), many),
                _ => assert_eq!(m.bound(data, 4, Key::new(1)).unwrap(), *bound),
            });
        }
    });
}

/// What is known well of one output is not known of another that has a precision of its own.
#[test]
fn outputs_with_their_own_precisions_have_their_own_variances() {
    let one = data(20);
    let two = Dataset::new(inputs(&one).as_ref(), Mat::from_fn(2, 20, |_, n| one.y(n)[0]).as_ref()).unwrap();
    let mut architecture = Architecture::nngp(sq_exp(), 0, Arc::new(Gaussian::new(2)));
    architecture.share_noise = false;
    let mut m = model(architecture, &two, 6);
    m.parameters_mut().set("output.noise 2.diagonal", &[1e3; 6]).unwrap();
    let prediction = m.predict(inputs(&one).as_ref(), 1, Key::new(0)).unwrap();
    for n in 0..20 {
        let [known, vague] = [0, 1].map(|target| prediction.moments(n, target).model);
        assert!(known < 0.5 * vague, "{known} and {vague}");
    }
}

/// Functions drawn jointly have the predictive mixture's moments at each point, and vary smoothly between close ones.
#[test]
fn functions_agree_with_predictions() {
    let data = data(40);
    let m = model(Architecture::diwp(sq_exp(), 1, gaussian()), &data, 8);
    let x = Mat::from_fn(3, 3, |i, n| data.x(0)[i] + if n == 2 { 1.0 } else { 1e-3 * n as f64 });
    let draws = 20_000;
    let functions = m.functions(x.as_ref(), draws, Key::new(9)).unwrap();
    let prediction = m.predict(x.as_ref(), draws, Key::new(8)).unwrap();
    for n in 0..3 {
        let values: Vec<f64> = functions.iter().map(|f| f[(0, n)]).collect();
        let expected = prediction.moments(n, 0);
        let mean = values.iter().sum::<f64>() / draws as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / draws as f64;
        // six standard errors of either
        let error = (expected.model / draws as f64).sqrt();
        assert!((mean - expected.mean).abs() < 6.0 * 1.5 * error, "{mean} and {expected:?}");
        assert!((variance / expected.model - 1.0).abs() < 0.1, "{variance} and {expected:?}");
    }
    let step = functions.iter().map(|f| (f[(0, 0)] - f[(0, 1)]).abs()).sum::<f64>() / draws as f64;
    let leap = functions.iter().map(|f| (f[(0, 0)] - f[(0, 2)]).abs()).sum::<f64>() / draws as f64;
    assert!(step < 0.05 * leap, "{step} and {leap}");
}

#[test]
fn posterior_draws_can_be_taken_out() {
    let data = data(20);
    let m = model(Architecture::diwp(sq_exp(), 2, gaussian()), &data, 6);
    let draws = m.posterior_draws(3, Key::new(0)).unwrap();
    assert_eq!(draws.len(), 3);
    for d in &draws {
        assert_eq!(d.grams.iter().map(|g| g.nrows()).collect::<Vec<_>>(), [6, 6, 6]);
        assert_eq!(d.omega.as_ref().map(|o| o.nrows()), Some(3));
    }
    assert_ne!(draws[0].grams[2], draws[1].grams[2]);
}

/// Frozen parameters stay, tied ones move together, and others are as they were set.
#[test]
fn parameters_can_be_frozen_tied_and_set_by_name() {
    let data = data(20);
    let mut m = model(Architecture::nngp(sq_exp(), 1, gaussian()), &data, 6);
    let p = m.parameters_mut();
    p.set("likelihood.noise", &[0.25]).unwrap();
    p.freeze("likelihood.noise", true).unwrap();
    p.tie("output.kernel.lengthscale", "layer 1.kernel.lengthscale").unwrap();
    let before = p.get("layer 1.kernel.lengthscale").unwrap();
    let options = crate::train::TrainOptions { steps: 5, ..Default::default() };
    crate::train::Trainer::new(&mut m, &data, options).unwrap().run(|_| true).unwrap();
    let get = |name: &str| m.parameters().get(name).unwrap();
    assert!((get("likelihood.noise")[0] - 0.25).abs() < 1e-15);
    assert_ne!(get("layer 1.kernel.lengthscale"), before);
    assert_eq!(get("layer 1.kernel.lengthscale"), get("output.kernel.lengthscale"));
}

/// Data of another shape or range are refused before any arithmetic, and no points are no problem.
#[test]
fn data_that_do_not_fit_the_model_are_named() {
    let own = data(20);
    let mut m = model(Architecture::diwp(sq_exp(), 1, gaussian()), &own, 5);
    let key = Key::new(0);
    let other = Dataset::new(Mat::<f64>::zeros(2, 4).as_ref(), Mat::<f64>::zeros(1, 4).as_ref()).unwrap();
    let refused = Error::Data(Mismatch::Features { expected: 3, found: 2 });
    assert_eq!(m.bound(&other, 1, key).unwrap_err(), refused);
    assert_eq!(m.predict(Mat::zeros(2, 4).as_ref(), 1, key).err(), Some(refused.clone()));
    assert_eq!(m.functions(Mat::zeros(2, 4).as_ref(), 1, key).err(), Some(refused));
    assert_eq!(
        crate::train::Trainer::new(&mut m, &other, Default::default()).err().unwrap().to_string(),
        "the model has 3 features, but the data have 2"
    );
    let mut x = Mat::zeros(3, 2);
    x[(1, 1)] = f64::NAN;
    let message = m.predict(x.as_ref(), 1, key).err().unwrap().to_string();
    assert!(message.starts_with("feature 1 of point 1 is NaN; features must be finite"), "{message}");
    let two = Dataset::new(Mat::<f64>::zeros(3, 4).as_ref(), Mat::<f64>::zeros(2, 4).as_ref()).unwrap();
    assert_eq!(m.bound(&two, 1, key).unwrap_err(), Error::Data(Mismatch::Targets { expected: 1, found: 2 }));
    assert_eq!(m.predict(Mat::zeros(3, 0).as_ref(), 2, key).unwrap().points(), 0);
    assert_eq!(m.functions(Mat::zeros(3, 0).as_ref(), 2, key).unwrap().len(), 2);
    assert_eq!(m.posterior_draws(0, key).unwrap().len(), 0);

    let classes = Dataset::new(Mat::<f64>::zeros(3, 1).as_ref(), faer::mat![[2.0]].as_ref()).unwrap();
    let three = Architecture::nngp(sq_exp(), 1, Arc::new(Categorical::new(3)));
    let m = model(three, &classes, 1);
    let beyond = Dataset::new(Mat::<f64>::zeros(3, 1).as_ref(), faer::mat![[3.0]].as_ref()).unwrap();
    let expected = "a class's number, from 0";
    let refused = Mismatch::Target { target: 0, point: 0, expected, value: 3.0 };
    assert_eq!(m.bound(&beyond, 1, key).unwrap_err(), Error::Data(refused));
}
