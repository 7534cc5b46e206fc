//! The bound and predictions of whole models: exact limits, gradients, and bits.

use super::*;
use crate::kernels::{Kernel, Matern52, Relu, SquaredExponential};
use crate::likelihoods::{Bernoulli, Categorical, Gaussian, Likelihood, Poisson, Scalar, StudentT};
use crate::train::{Start, initialise};
use dkp_tape::gradcheck::{cases, compare};
use dkp_tape::random::Key;
use faer::{Mat, MatRef};
use std::sync::Arc;

fn sq_exp() -> Arc<dyn Kernel> {
    Arc::new(SquaredExponential)
}

fn gaussian() -> Arc<dyn Likelihood> {
    Arc::new(Gaussian::new(1))
}

/// A smooth function of three features at some points.
fn data(points: usize) -> Dataset {
    let x = cases::matrix(1, 3, points);
    let y = Mat::from_fn(1, points, |_, n| (2.0 * x[(0, n)] + x[(1, n)]).sin() + 0.1 * (7.0 * n as f64).sin());
    Dataset::new(x.as_ref(), y.as_ref()).unwrap()
}

fn model(architecture: Architecture, data: &Dataset, inducing: usize) -> Model {
    // δ and γ at which every part of a layer matters
    let start = Start { inducing, delta: 6.0, gamma: 4.0, input: [6.0, 4.0], warm_up: 0, ..Start::default() };
    initialise(architecture, data, start).unwrap()
}

fn inputs(data: &Dataset) -> Mat<f64> {
    Mat::from_fn(data.features(), data.points(), |i, n| data.x(n)[i])
}

/// With X_i = X, v = y and Λ = I/σ² the bound is log N(y; 0, K + σ²I), and predictions are those of the exact process.
#[test]
fn the_nngp_bound_is_the_exact_marginal_likelihood_where_it_can_be() {
    let (data, noise) = (data(30), 0.07_f64);
    let mut m = model(Architecture::nngp(sq_exp(), 2, gaussian()), &data, 30);
    let n = data.points();
    let p = m.parameters_mut();
    p.set("inducing.inputs", &(0..n).flat_map(|i| data.x(i).to_vec()).collect::<Vec<_>>()).unwrap();
    p.set("features.scale", &[0.9, 1.2, 0.7]).unwrap();
    p.set("output.targets", &(0..n).map(|i| data.y(i)[0]).collect::<Vec<_>>()).unwrap();
    p.set("output.noise.diagonal", &vec![noise.sqrt(); n]).unwrap();
    p.set("likelihood.noise", &[noise]).unwrap();
    // the tower by hand
    let value = |name: &str| m.parameters().get(name).unwrap()[0];
    let mut gram = Mat::from_fn(n, n, |i, j| {
        let scale = [0.9, 1.2, 0.7];
        (0..3).map(|f| scale[f] * scale[f] * data.x(i)[f] * data.x(j)[f]).sum::<f64>() / 3.0
    });
    for layer in ["layer 1", "layer 2", "output"] {
        let (h, l) = (value(&format!("{layer}.kernel.height")), value(&format!("{layer}.kernel.lengthscale")));
        let distance = |g: &Mat<f64>, i: usize, j: usize| g[(i, i)] + g[(j, j)] - 2.0 * g[(i, j)];
        gram = Mat::from_fn(n, n, |i, j| h * h * (-distance(&gram, i, j) / (2.0 * l * l)).exp());
    }
    let covariance = &gram + faer::Scale(noise) * Mat::<f64>::identity(n, n);
    let y = Mat::from_fn(n, 1, |i, _| data.y(i)[0]);
    let normal = crate::distributions::matrix_normal(
        Mat::zeros(n, 1).as_ref(),
        covariance.as_ref(),
        Mat::<f64>::identity(1, 1).as_ref(),
    );
    let exact = normal.unwrap().log_density(y.as_ref()).unwrap() / n as f64;
    let bound = m.bound(&data, 10, Key::new(0)).unwrap();
    assert!((bound.total - exact).abs() < 1e-9, "{bound:?} and {exact}");
    assert_eq!((bound.jitter.count, bound.standard_error), (0, 0.0));
}

/// δ → ∞ with V = 0 and γ = 0: the bound and the predictions of the NNGP, with errors of the order of 1/√δ.
#[test]
fn the_diwp_converges_to_the_nngp() {
    let data = data(40);
    let mut nngp = model(Architecture::nngp(sq_exp(), 1, gaussian()), &data, 8);
    let mut diwp = model(Architecture::diwp(sq_exp(), 1, gaussian()), &data, 8);
    let x = inputs(&data);
    let exact = (nngp.bound(&data, 1, Key::new(0)).unwrap().total, nngp.predict(x.as_ref(), 1, Key::new(0)).unwrap());
    let mut errors = Vec::new();
    for delta in [1e4, 1e6, 1e8] {
        let p = diwp.parameters_mut();
        for (layer, size) in [("input", 3), ("layer 1", 8)] {
            p.set(&format!("{layer}.delta"), &[delta]).unwrap();
            p.set(&format!("{layer}.gamma"), &[1e-9]).unwrap();
            p.set(&format!("{layer}.root"), &vec![0.0; size * size]).unwrap();
        }
        let bound = diwp.bound(&data, 20, Key::new(0)).unwrap();
        let prediction = diwp.predict(x.as_ref(), 20, Key::new(0)).unwrap();
        let moments = (0..data.points()).map(|n| (prediction.moments(n, 0), exact.1.moments(n, 0)));
        let worst = moments.map(|(a, b)| (a.mean - b.mean).abs().max((a.model - b.model).abs()));
        errors.push((bound.total - exact.0).abs().max(worst.fold(0.0, f64::max)));
    }
    assert!(errors[0] < 0.3 && errors[1] < 0.03 && errors[2] < 0.003, "{errors:?}");
}

/// The gradient of the bound in every parameter against finite differences.
fn check_gradients(name: &str, architecture: Architecture, data: &Dataset, tolerance: f64) {
    let mut m = model(architecture, data, 5);
    // away from the special values at which training starts
    let names: Vec<String> = m.parameters().iter().map(|p| p.name.clone()).collect();
    for (i, name) in names.iter().enumerate() {
        let values = m.parameters().get(name).unwrap();
        let noise = cases::matrix(i as u64, 1, values.len());
        let moved: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(j, v)| {
                v * (1.0 + 0.1 * noise[(0, j)]) + if name.ends_with("below") { 0.05 * noise[(0, j)] } else { 0.0 }
            })
            .collect();
        m.parameters_mut().set(name, &moved).unwrap();
    }
    if !["relu", "wide"].contains(&name) {
        // stationary kernels do not see it: its gradient is zero
        m.parameters_mut().freeze("features.bias", true).unwrap();
    }
    let key = Key::new(3).smooth();
    let free: Vec<(String, usize, usize, Vec<f64>)> =
        m.parameters().free().map(|p| (p.name.clone(), p.rows, p.cols, p.kept.clone())).collect();
    let mut gradient = vec![Vec::new(); free.len()];
    let batch = Batch { data, rows: None };
    m.gradient(batch, 2, key, 1.0, &mut gradient).unwrap();
    let matrix = |v: &[f64], rows, cols| MatRef::from_column_major_slice(v, rows, cols).to_owned();
    let leaves: Vec<Mat<f64>> = free.iter().map(|(_, r, c, v)| matrix(v, *r, *c)).collect();
    let gradients: Vec<Mat<f64>> = free.iter().zip(&gradient).map(|((_, r, c, _), g)| matrix(g, *r, *c)).collect();
    let views: Vec<MatRef<'_, f64>> = gradients.iter().map(Mat::as_ref).collect();
    let report = compare(&leaves, &views, |i, leaf| {
        let values: Vec<f64> = leaf.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect();
        m.update(|p| p.free_mut().nth(i).unwrap().kept = values);
        Ok(vec![m.bound(data, 2, key).unwrap().total])
    });
    let report = report.unwrap();
    println!("{name}, {}: {report:?}", free[report.leaf].0);
    report.assert_below(tolerance);
}

#[test]
fn gradients_of_every_family() {
    let data = data(7);
    check_gradients("nngp", Architecture::nngp(Arc::new(Matern52), 1, gaussian()), &data, 1e-5);
    check_gradients("diwp", Architecture::diwp(sq_exp(), 1, gaussian()), &data, 1e-5);
    check_gradients("relu", Architecture::diwp(Arc::new(Relu), 1, gaussian()), &data, 1e-5);
    check_gradients("dgp", Architecture::dgp(sq_exp(), 1, 2, gaussian()), &data, 1e-5);
    // more features than inducing points: the Gram form of the input layer
    let x = cases::matrix(1, 9, 7);
    let wide = Dataset::new(x.as_ref(), Mat::from_fn(1, 7, |_, n| x[(0, n)]).as_ref()).unwrap();
    check_gradients("wide", Architecture::diwp(sq_exp(), 1, gaussian()), &wide, 1e-5);
}

#[test]
fn gradients_of_every_likelihood() {
    let smooth = data(7);
    let with = |f: &dyn Fn(usize) -> f64, targets: usize| {
        let y = Mat::from_fn(targets, 7, |i, n| f(n + 3 * i));
        Dataset::new(inputs(&smooth).as_ref(), y.as_ref()).unwrap()
    };
    let check = |name: &str, likelihood: Arc<dyn Likelihood>, data: &Dataset| {
        let mut architecture = Architecture::diwp(sq_exp(), 1, likelihood);
        check_gradients(name, architecture.clone(), data, 1e-5);
        architecture.share_precision = false;
        check_gradients(name, architecture, data, 1e-5);
    };
    check("Student-t", Arc::new(Scalar::new(StudentT)), &smooth);
    check("Bernoulli", Arc::new(Scalar::new(Bernoulli)), &with(&|n| (n % 2) as f64, 1));
    check("Poisson", Arc::new(Scalar::new(Poisson)), &with(&|n| (n % 4) as f64, 1));
    check("categorical", Arc::new(Categorical::new(3)), &with(&|n| (n % 3) as f64, 1));
    // two targets, of which one or two values are missing
    let missing = |n: usize, y: f64| if n == 4 { f64::NAN } else { y };
    let waves = with(&|n| missing(n, (1.3 * n as f64).sin()), 2);
    check("two outputs", Arc::new(Gaussian::new(2)), &waves);
    check("two Student-t", Arc::new(Scalar::several(StudentT, 2)), &waves);
    let coins = with(&|n| missing(n, (n % 2) as f64), 2);
    check("two Bernoulli", Arc::new(Scalar::several(Bernoulli, 2)), &coins);
    let counts = with(&|n| missing(n, (n % 4) as f64), 2);
    check("two Poisson", Arc::new(Scalar::several(Poisson, 2)), &counts);
}

/// Disjoint batches of equal size average to the whole, exactly where there is nothing random.
#[test]
fn minibatches_are_unbiased() {
    let data = data(24);
    let mut m = model(Architecture::nngp(sq_exp(), 1, gaussian()), &data, 6);
    let whole = m.bound(&data, 1, Key::new(0)).unwrap();
    let order: Vec<usize> = (0..24).map(|i| 7 * i % 24).collect();
    let mut gradient = vec![Vec::new(); m.parameters().free().count()];
    let mut bound = |rows| m.gradient(Batch { data: &data, rows: Some(rows) }, 1, Key::new(0), 1.0, &mut gradient);
    let mean = order.chunks(4).map(|rows| bound(rows).unwrap().total).sum::<f64>() / 6.0;
    assert!((mean - whole.total).abs() < 1e-12, "{mean} and {}", whole.total);
}

/// The parts have their signs, a point without a target counts for nothing, and the standard error is that of repeated bounds; also
/// where only the likelihood is random.
#[test]
fn the_bound_has_its_parts_and_its_standard_error() {
    let full = data(20);
    let mut m = model(Architecture::diwp(sq_exp(), 2, gaussian()), &full, 6);
    let b = m.bound(&full, 50, Key::new(1)).unwrap();
    assert!(b.input < 0.0 && b.layers.len() == 2 && b.layers.iter().all(|l| *l < 0.0) && b.output > 0.0);
    let y = Mat::from_fn(1, 21, |_, n| if n == 20 { f64::NAN } else { full.y(n)[0] });
    let x = Mat::from_fn(3, 21, |i, n| full.x(n % 20)[i]);
    let more = m.bound(&Dataset::new(x.as_ref(), y.as_ref()).unwrap(), 50, Key::new(1)).unwrap();
    assert!((more.total * 21.0 - b.total * 20.0).abs() < 1e-9, "{more:?} and {b:?}");

    let classes = Dataset::new(inputs(&full).as_ref(), Mat::from_fn(1, 20, |_, n| (n % 3) as f64).as_ref()).unwrap();
    let soft = model(Architecture::nngp(sq_exp(), 1, Arc::new(Categorical::new(3))), &classes, 6);
    for (mut m, data) in [(m, &full), (soft, &classes)] {
        let bounds: Vec<Bound> = (0..100).map(|k| m.bound(data, 16, Key::new(k)).unwrap()).collect();
        let mean = bounds.iter().map(|b| b.total).sum::<f64>() / 100.0;
        let spread = (bounds.iter().map(|b| (b.total - mean).powi(2)).sum::<f64>() / 99.0).sqrt();
        let said = bounds.iter().map(|b| b.standard_error).sum::<f64>() / 100.0;
        // the ratio of two estimates of one deviation from a hundred runs: ± 10 %
        assert!((spread / said - 1.0).abs() < 0.4, "{spread} and {said}");
    }
}

/// Features so large that nothing can be computed from them are an error, not a NaN.
#[test]
fn predictions_that_are_not_numbers_are_errors() {
    let data = data(20);
    let y = Mat::from_fn(1, 20, |_, n| (n % 2) as f64);
    let coins = Dataset::new(inputs(&data).as_ref(), y.as_ref()).unwrap();
    let mut m = model(Architecture::diwp(sq_exp(), 1, Arc::new(Scalar::new(Bernoulli))), &coins, 5);
    let mut x = Mat::zeros(3, 4);
    x[(1, 2)] = 1e200;
    assert!(m.predict(x.as_ref(), 2, Key::new(0)).is_err());
}

#[test]
fn batches_order_and_threads_change_no_bit_of_a_prediction() {
    let data = data(300);
    let x = inputs(&data);
    for architecture in [Architecture::diwp(sq_exp(), 2, gaussian()), Architecture::dgp(sq_exp(), 1, 3, gaussian())] {
        let mut m = model(architecture, &data, 12);
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

/// What is known well of one output is not known of another that has a precision of its own.
#[test]
fn outputs_with_their_own_precisions_have_their_own_variances() {
    let one = data(20);
    let two = Dataset::new(inputs(&one).as_ref(), Mat::from_fn(2, 20, |_, n| one.y(n)[0]).as_ref()).unwrap();
    let mut architecture = Architecture::nngp(sq_exp(), 0, Arc::new(Gaussian::new(2)));
    architecture.share_precision = false;
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
    let mut m = model(Architecture::diwp(sq_exp(), 1, gaussian()), &data, 8);
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
    let mut m = model(Architecture::diwp(sq_exp(), 2, gaussian()), &data, 6);
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
    let options = crate::train::Options { steps: 5, ..Default::default() };
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
    let mut m = model(three, &classes, 1);
    let beyond = Dataset::new(Mat::<f64>::zeros(3, 1).as_ref(), faer::mat![[3.0]].as_ref()).unwrap();
    let expected = "a class's number, from 0";
    let refused = Mismatch::Target { target: 0, point: 0, expected, value: 3.0 };
    assert_eq!(m.bound(&beyond, 1, key).unwrap_err(), Error::Data(refused));
}
