//! Runs: that they learn, resume to the same bits, and survive hard inputs.

use super::*;
use crate::data::Dataset;
use crate::kernels::{Kernel, Relu, SquaredExponential};
use crate::likelihoods::{Bernoulli, Categorical, Gaussian, Likelihood, Scalar, StudentT, VaryingNoise};
use crate::model::{Architecture, Batch, Gain, Model};
use crate::params::Parameters;
use crate::processes::{GaussianFeatures, Input, InverseWishart};
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use faer::Mat;
use std::sync::Arc;

#[path = "../../tests/baseline/logistic.rs"]
mod logistic;
use logistic::logistic_regression;

fn diwp() -> Architecture {
    Architecture::diwp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(1)))
}

fn nngp() -> Architecture {
    Architecture::nngp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(1)))
}

fn dwp(hidden: usize, width: usize) -> Architecture {
    Architecture::dwp(Arc::new(SquaredExponential), hidden, width, Arc::new(Gaussian::new(1)))
}

fn dgp(hidden: usize, width: usize) -> Architecture {
    Architecture::dgp(Arc::new(SquaredExponential), hidden, width, Arc::new(Gaussian::new(1)))
}

/// The same with a linear first layer, and a noise for each feature.
fn linear_dgp(hidden: usize, width: usize) -> Architecture {
    let process = Arc::new(GaussianFeatures { width, share_noise: false });
    let input = Input::Omega(process.clone() as _);
    Architecture::of(input, process, Arc::new(SquaredExponential), hidden, Arc::new(Gaussian::new(1)))
}

fn smooth(points: usize) -> Dataset {
    let x = cases::matrix(1, 3, points);
    let y = Mat::from_fn(1, points, |_, n| (4.0 * x[(0, n)] + x[(1, n)]).sin() + 0.1 * (7.0 * n as f64).sin());
    let data = Dataset::new(x.as_ref(), y.as_ref()).unwrap();
    let (sx, sy) = data.scales();
    data.scaled(&sx, &sy)
}

fn start(inducing: usize) -> Start {
    Start { inducing, warm_up: 0, ..Start::default() }
}

/// The NNGP is a special case of the DIWP, so the latter's bound is at least as good where both are trained.
#[test]
fn the_diwp_bound_is_not_below_the_nngps() {
    let data = smooth(60);
    let train = |architecture: Architecture| {
        let mut model = initialise(architecture, &data, start(15)).unwrap();
        let options = TrainOptions { steps: 2000, draws: 4, ..TrainOptions::default() };
        let mut first = None;
        Trainer::new(&mut model, &data, options)
            .unwrap()
            .run(|r| {
                first = first.or(r.bound.as_ref().map(|b| b.total));
                true
            })
            .unwrap();
        let bound = model.bound(&data, 400, Key::new(7)).unwrap();
        assert!(bound.total > first.unwrap() + 0.3, "{first:?} and {bound:?}");
        bound
    };
    let (nngp, diwp) = (train(nngp()), train(diwp()));
    assert!(diwp.total > nngp.total - 2.0 * diwp.standard_error, "{diwp:?} and {nngp:?}");
}

/// Stopped after any step and resumed, a run ends with the same bits, and its records have them; so it does with minibatches.
#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    fn finish(mut trainer: Trainer<'_>) -> Vec<[f64; 2]> {
        let mut bounds = Vec::new();
        let watch = |record: &Step| {
            bounds.extend(record.bound.as_ref().map(|b| [b.total, b.gain]));
            true
        };
        trainer.run(watch).unwrap();
        bounds
    }
    let data = smooth(50);
    for batch in [None, Some(17)] {
        let options = TrainOptions { steps: 30, draws: 3, batch, ..TrainOptions::default() };
        let fresh = || initialise(diwp(), &data, start(8)).unwrap();
        let mut whole = fresh();
        let bounds = finish(Trainer::new(&mut whole, &data, options).unwrap());
        let mut parts = fresh();
        let mut trainer = Trainer::new(&mut parts, &data, options).unwrap();
        trainer.run(|r| r.step < 12).unwrap();
        let (state, parameters) = (trainer.state().clone(), trainer.model().parameters().clone());
        let mut resumed = Model::new(diwp(), parameters);
        let later = finish(Trainer::resume(&mut resumed, &data, options, state).unwrap());
        assert_eq!(whole.parameters(), resumed.parameters());
        assert_eq!(bounds[13..], later);
        // a gain is carried from a step that computes it to the next that does
        let gains: Vec<f64> = bounds.iter().map(|b| b[1]).collect();
        assert!(gains.chunks(8).all(|c| c.iter().all(|g| *g == c[0] && *g > 0.0)) && gains[0] != gains[8], "{gains:?}");
    }
}

/// Where the bound is random the gain's gradient counts eight times in the first of eight steps; else once in each.
#[test]
fn a_step_has_the_gradient_of_the_tighter_bound_or_its_share() {
    let data = smooth(50);
    for (architecture, weights) in [(diwp(), [8.0, 0.0]), (nngp(), [1.0, 1.0])] {
        let options = TrainOptions { steps: 2, draws: 3, ..TrainOptions::default() };
        let mut model = initialise(architecture.clone(), &data, start(8)).unwrap();
        let mut trainer = Trainer::new(&mut model, &data, options).unwrap();
        let mut bounds = Vec::new();
        for (step, weight) in weights.into_iter().enumerate() {
            let now = Model::new(architecture.clone(), trainer.model().parameters().clone());
            let mut gradient = vec![Vec::new(); now.parameters().free().count()];
            let (batch, key) = (Batch { data: &data, rows: None }, Key::new(options.seed).step(step as u64));
            now.gradient(batch, 3, key, 1.0, Gain::Weighted(weight), &mut gradient).unwrap();
            let norm = gradient.iter().flatten().map(|g| g * g).sum::<f64>().sqrt();
            let record = trainer.step().unwrap();
            bounds.extend(record.bound.map(|b| b.total));
            let ours = record.gradient_norm;
            assert!((ours - norm).abs() < 1e-9 * norm, "step {step}: {ours} and {norm}");
        }
        // steps of either kind have their own typical length, from the first of them on
        let [carried, computed] = trainer.state().typical_norms.map(|n| n.is_some());
        assert_eq!((carried, computed), (weights[1] == 0.0, true));
        // and only bounds whose gain is their own count for the running mean
        let mean = if carried { bounds[0] } else { 0.9 * bounds[0] + 0.1 * bounds[1] };
        assert!(trainer.state().mean_bound.is_some_and(|m| (m - mean).abs() < 1e-12), "{bounds:?}");
    }
}

/// A deep Gaussian process starts from the trained model without its layers: these pass on what they see. So it has the same
/// parameters, and where its features are precise, the same terms of the bound but for the features' own.
#[test]
fn a_deep_gaussian_process_starts_from_the_model_without_its_layers() {
    let (data, warm) = (smooth(60), Start { warm_up: 300, ..start(60) });
    let shallow = Architecture::nngp(Arc::new(SquaredExponential), 0, Arc::new(Gaussian::new(1)));
    let mut shallow = initialise(shallow, &data, warm).unwrap();
    let options = TrainOptions { steps: warm.warm_up, ..TrainOptions::of_limit() };
    Trainer::new(&mut shallow, &data, options).unwrap().run(|_| true).unwrap();
    let expected = shallow.bound(&data, 1, Key::new(0)).unwrap();
    for (width, architecture) in [(3, dgp(2, 3)), (5, dgp(2, 5)), (3, linear_dgp(2, 3)), (5, linear_dgp(1, 5))] {
        let mut model = initialise(architecture, &data, warm).unwrap();
        for name in ["inducing.inputs", "features.scale", "output.kernel.lengthscale", "likelihood.noise"] {
            let [own, other] = [&model, &shallow].map(|m| m.parameters().get(name).unwrap());
            assert!(own.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-6), "{name}: {own:?} and {other:?}");
        }
        let noises =
            model.parameters().iter().filter(|p| !p.name.starts_with("output") && p.name.ends_with(".diagonal"));
        let noises: Vec<(String, usize)> = noises.map(|p| (p.name.clone(), p.rows)).collect();
        for (name, rows) in noises {
            model.parameters_mut().set(&name, &vec![1e-3; rows]).unwrap();
        }
        let bound = model.bound(&data, 20, Key::new(0)).unwrap();
        assert!((bound.likelihood - expected.likelihood).abs() < 1e-3, "{width}: {bound:?} and {expected:?}");
        assert!((bound.output - expected.output).abs() < 1e-3, "{width}: {bound:?} and {expected:?}");
        assert_eq!(bound.jitter.count, 0);
    }
}

/// A layer with fewer features than the data starts with the direction that the targets depend on.
#[test]
fn a_narrow_layer_keeps_what_matters() {
    let x = cases::matrix(1, 4, 80);
    let y = Mat::from_fn(1, 80, |_, n| (3.0 * x[(2, n)]).sin() + 0.1 * (7.0 * n as f64).sin());
    let data = Dataset::new(x.as_ref(), y.as_ref()).unwrap();
    let (sx, sy) = data.scales();
    let data = data.scaled(&sx, &sy);
    let cosine = |a: &[f64], b: &[f64]| {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    let warm = Start { warm_up: 500, ..start(20) };
    for architecture in [dgp(2, 1), linear_dgp(2, 1)] {
        let model = initialise(architecture, &data, warm).unwrap();
        let get = |name: &str| model.parameters().get(name).unwrap();
        let third: Vec<f64> = get("inducing.inputs").chunks(4).map(|x| x[2]).collect();
        for layer in ["layer 1", "layer 2"] {
            let cosine = cosine(&get(&format!("{layer}.targets")), &third);
            assert!(cosine.abs() > 0.999, "{layer}: {cosine}");
        }
        // the linear layer's are weights of the features
        if model.architecture().input.process().is_some() {
            let cosine = cosine(&get("input.targets"), &[0.0, 0.0, 1.0, 0.0]);
            assert!(cosine.abs() > 0.999, "{cosine}");
        }
    }
}

/// Deep Gaussian and Wishart processes of any width, and mixed with inverse-Wishart layers, learn from where they start.
#[test]
fn layers_of_features_learn() {
    let data = smooth(60);
    let mut mixed = dgp(3, 2);
    mixed.layers[0].process = Arc::new(InverseWishart::HIDDEN);
    mixed.layers[2].process = Arc::new(InverseWishart::HIDDEN);
    let features =
        [("1", dgp(2, 1)), ("3", dgp(2, 3)), ("8", dgp(2, 8)), ("mixed", mixed), ("linear", linear_dgp(1, 3))];
    // below, at and above the number of inducing points
    let wisharts = [1, 3, 15, 20].map(|width| ("Wishart", dwp(2, width)));
    for (name, architecture) in features.into_iter().chain(wisharts) {
        let mut model = initialise(architecture, &data, Start { warm_up: 300, ..start(15) }).unwrap();
        let first = model.bound(&data, 50, Key::new(7)).unwrap();
        let options = TrainOptions { steps: 300, draws: 4, ..TrainOptions::default() };
        Trainer::new(&mut model, &data, options).unwrap().run(|_| true).unwrap();
        let last = model.bound(&data, 50, Key::new(7)).unwrap();
        // a model that explains nothing has −½log 2πe
        assert!(last.total > first.total && last.total > -1.0, "{name}: {first:?} and {last:?}");
    }
}

/// Adam's first step is the learning rate itself, up or down, for every element with a gradient.
#[test]
fn the_first_step_is_one_step_of_the_rate() {
    let data = smooth(50);
    let mut model = initialise(diwp(), &data, start(8)).unwrap();
    let before = model.parameters().clone();
    let schedule = Schedule { rate: 1e-3, warm_up: 0, ..Schedule::default() };
    let options = TrainOptions { steps: 10, draws: 2, schedule, ..TrainOptions::default() };
    let record = Trainer::new(&mut model, &data, options).unwrap().step().unwrap();
    assert!(record.gradient_norm > 0.0 && record.rate == 1e-3, "{record:?}");
    let moves = |name: &str| {
        let (a, b) = (before.get(name).unwrap(), model.parameters().get(name).unwrap());
        a.into_iter().zip(b).map(|(a, b)| (b - a).abs()).collect::<Vec<_>>()
    };
    for name in ["inducing.inputs", "output.targets", "features.scale"] {
        assert!(moves(name).iter().all(|m| (m - 1e-3).abs() < 1e-5), "{name}: {:?}", moves(name));
    }
}

/// States, layers and data that do not belong together are refused.
#[test]
fn what_does_not_belong_together_is_refused() {
    let data = smooth(30);
    let mut small = initialise(diwp(), &data, start(4)).unwrap();
    let mut large = initialise(diwp(), &data, start(6)).unwrap();
    let state = Trainer::new(&mut small, &data, TrainOptions::default()).unwrap().state().clone();
    let refused = Trainer::resume(&mut large, &data, TrainOptions::default(), state).err();
    assert_eq!(refused, Some(crate::model::Mismatch::State));
    let message = initialise(dgp(2, 0), &data, start(4)).err().unwrap().to_string();
    assert_eq!(message, "the width of layer 1 must be from 1 to 10,000,000, but is 0");
}

/// A learning rate that cannot work: the run goes back, says so, and in the end stops with a reason.
#[test]
fn divergence_is_rolled_back_and_said() {
    let data = smooth(40);
    let mut model = initialise(diwp(), &data, start(8)).unwrap();
    let schedule = Schedule { rate: 200.0, warm_up: 0, ..Schedule::default() };
    let options = TrainOptions { steps: 200, draws: 2, schedule, ..TrainOptions::default() };
    let mut rollbacks = 0;
    let outcome = Trainer::new(&mut model, &data, options).unwrap().run(|r| {
        rollbacks += u32::from(r.rolled_back);
        true
    });
    assert_eq!(rollbacks, 3);
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("after going back 3 times") && message.contains("would help"), "{message}");
    assert!(model.parameters().iter().all(|p| p.kept.iter().all(|v| v.is_finite())));
}

fn trains(name: &str, x: Mat<f64>, y: Mat<f64>) {
    let data = Dataset::new(x.as_ref(), y.as_ref()).unwrap();
    let (sx, sy) = data.scales();
    let data = data.scaled(&sx, &sy);
    let cold = [diwp(), nngp(), dgp(1, 2), dwp(1, 2)].map(|a| (a, 0));
    let from_limit = [diwp(), dgp(1, 2), dwp(1, 2)].map(|a| (a, 30));
    for (architecture, warm_up) in cold.into_iter().chain(from_limit) {
        let mut model = initialise(architecture, &data, Start { warm_up, ..start(20) }).unwrap();
        let options = TrainOptions { steps: 60, draws: 2, ..TrainOptions::default() };
        let mut bounds = Vec::new();
        let outcome = Trainer::new(&mut model, &data, options).unwrap().run(|r| {
            bounds.push(r.bound.as_ref().map_or(f64::NAN, |b| b.total));
            true
        });
        outcome.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(bounds.iter().all(|b| b.is_finite()), "{name}: {bounds:?}");
        let mean = |bounds: &[f64]| bounds.iter().sum::<f64>() / bounds.len() as f64;
        let (first, last) = (mean(&bounds[..10]), mean(&bounds[50..]));
        assert!(last > first, "{name}: {first} and {last}");
        let prediction = model.predict(data.inputs().as_ref(), 5, Key::new(0)).unwrap();
        assert!((0..x.ncols()).all(|n| prediction.moments(n, 0).mean.is_finite()), "{name}");
    }
}

/// A point at the origin, where a ReLU kernel is zero, among the inducing points.
#[test]
fn inducing_points_at_the_origin_are_no_problem() {
    let x = Mat::from_fn(2, 25, |i, n| (if i == 0 { n % 5 } else { n / 5 }) as f64 - 2.0);
    let y = Mat::from_fn(1, 25, |_, n| (x[(0, n)] + 0.5 * x[(1, n)]).sin());
    let data = Dataset::new(x.as_ref(), y.as_ref()).unwrap();
    let with = |family: fn(Arc<dyn Kernel>, usize, Arc<dyn Likelihood>) -> Architecture| {
        let architecture = family(Arc::new(Relu), 1, Arc::new(Gaussian::new(1)));
        Architecture { scale_features: false, ..architecture }
    };
    for architecture in [with(Architecture::nngp), with(Architecture::diwp)] {
        let mut model = initialise(architecture, &data, start(25)).unwrap();
        let inducing = model.parameters().get("inducing.inputs").unwrap();
        assert!(inducing.chunks(2).any(|x| x == [0.0, 0.0]), "{inducing:?}");
        let before = model.bound(&data, 20, Key::new(0)).unwrap();
        let options = TrainOptions { steps: 60, draws: 2, ..TrainOptions::default() };
        Trainer::new(&mut model, &data, options).unwrap().run(|r| r.failure.is_none()).unwrap();
        let after = model.bound(&data, 20, Key::new(0)).unwrap();
        assert!(after.total > before.total && after.gain > 0.0, "{before:?} and {after:?}");
        // hidden layers of the second model need it
        assert!(after.jitter.count == 0 || model.architecture().layers[0].process.is_random());
    }
}

/// A callback sees each step of the limit and can end its training; the model starts from what there is.
#[test]
fn the_start_is_watched_and_can_be_stopped() {
    let data = smooth(40);
    let watched = |limit: usize| {
        let mut bounds = Vec::new();
        let start = Start { inducing: 8, warm_up: 60, ..Start::default() };
        let unchanged = |_: &mut Parameters| Ok::<(), StartError>(());
        let model = initialise_with(diwp(), &data, start, unchanged, |record| {
            bounds.push(record.bound.as_ref().map(|b| b.total));
            bounds.len() < limit
        });
        (model.unwrap().model.parameters().get("likelihood.noise").unwrap()[0], bounds)
    };
    let ((noise, all), (early, some)) = (watched(100), watched(20));
    assert_eq!((all.len(), some.len()), (60, 20));
    assert!(all[59] > all[0] && some[19] > some[0], "{all:?}");
    assert_ne!(noise, early);
}

/// What is set, frozen or tied is so while the limit is trained too, and is what the model starts with.
#[test]
fn adjusted_parameters_stay_so_in_the_start() {
    let data = smooth(40);
    let (scale, noise) = ("features.scale", "likelihood.noise");
    let (own, other) = ("layer 1.kernel.lengthscale", "output.kernel.lengthscale");
    let start = Start { inducing: 8, warm_up: 100, ..Start::default() };
    let adjust = |p: &mut Parameters| -> Result<(), StartError> {
        p.set(noise, &[0.37])?;
        p.freeze(noise, true)?;
        p.freeze(scale, true)?;
        p.freeze("layer 1.root", true)?;
        p.tie(own, other)?;
        Ok(())
    };
    let before = initialise(diwp(), &data, Start { warm_up: 0, ..start }).unwrap();
    let after = initialise_with(diwp(), &data, start, adjust, |_| true).unwrap().model;
    let get = |model: &Model, name: &str| model.parameters().get(name).unwrap();
    assert_eq!(get(&after, noise), [0.37]);
    assert_eq!(get(&after, scale), get(&before, scale));
    assert_eq!(get(&after, "layer 1.root"), get(&before, "layer 1.root"));
    assert_eq!(get(&after, own), get(&after, other));
    // the rest was trained
    assert_ne!(get(&after, other), get(&before, other));
    assert_ne!(get(&initialise(diwp(), &data, start).unwrap(), scale), get(&before, scale));
}

/// Where targets have hardly any noise, the little white noise in inverse-Wishart layers counts: the limit must have it too.
#[test]
fn the_start_is_as_good_as_its_limit_without_noise() {
    let x = Mat::from_fn(1, 54, |_, n| 6.0 * n as f64 / 53.0);
    let y = Mat::from_fn(1, 54, |_, n| x[(0, n)].sin());
    let data = Dataset::new(x.as_ref(), y.as_ref()).unwrap();
    let (sx, sy) = data.scales();
    let data = data.scaled(&sx, &sy);
    let mut last = f64::NAN;
    let start = Start { inducing: 20, warm_up: 2000, ..Start::default() };
    let unchanged = |_: &mut Parameters| Ok::<(), StartError>(());
    let model = initialise_with(diwp(), &data, start, unchanged, |record| {
        last = record.bound.as_ref().map_or(f64::NAN, |b| b.total);
        true
    })
    .unwrap()
    .model;
    let bound = model.bound(&data, 50, Key::new(1)).unwrap().total;
    assert!(last > 3.0 && bound > last - 0.5, "{bound} from {last}");
}

#[test]
fn hard_inputs_train() {
    let x = cases::matrix(1, 3, 40);
    let y = |n: usize| (4.0 * x[(0, n)]).sin();
    let targets = |points: usize| Mat::from_fn(1, points, |_, n| y(n % 40));
    trains("duplicated rows", Mat::from_fn(3, 80, |i, n| x[(i, n % 4)]), Mat::from_fn(1, 80, |_, n| y(n % 4)));
    trains("constant column", Mat::from_fn(3, 40, |i, n| if i == 1 { 3.3 } else { x[(i, n)] }), targets(40));
    trains("huge and tiny columns", Mat::from_fn(3, 40, |i, n| x[(i, n)] * [1e6, 1e-6, 1.0][i]), targets(40));
    trains("fewer points than inducing points", Mat::from_fn(3, 7, |i, n| x[(i, n)]), targets(7));
    trains("one point", Mat::from_fn(3, 1, |i, n| x[(i, n)]), targets(1));
    trains("one feature", Mat::from_fn(1, 40, |i, n| x[(i, n)]), targets(40));
    let wide = cases::matrix(2, 500, 100);
    trains("500 features of 100 points", wide, targets(100));
    trains("equal targets", x.clone(), Mat::from_fn(1, 40, |_, _| 2.5));
    trains("an outlier", x.clone(), Mat::from_fn(1, 40, |_, n| if n == 3 { 1e9 } else { y(n) }));
}

/// Three classes around a circle and inside it, on which no linear classifier can be good: accuracy, and probabilities that mean
/// what they say, against multinomial logistic regression.
#[test]
fn classes_are_learned_with_calibrated_probabilities() {
    let noise = cases::matrix(9, 2, 600);
    let place = |n: usize| {
        let (angle, radius) = (2.4 * n as f64, if n.is_multiple_of(3) { 0.5 } else { 1.6 });
        [radius * angle.cos() + 0.35 * noise[(0, n)], radius * angle.sin() + 0.35 * noise[(1, n)]]
    };
    let class = |n: usize| match (n % 3, place(n)) {
        (0, _) => 0.0,
        (_, [x, _]) if x > 0.0 => 1.0,
        _ => 2.0,
    };
    let part = |from: usize, to: usize| {
        let x = Mat::from_fn(2, to - from, |i, n| place(from + n)[i]);
        (x.clone(), Dataset::new(x.as_ref(), Mat::from_fn(1, to - from, |_, n| class(from + n)).as_ref()).unwrap())
    };
    let ((_, train), (x_test, test)) = (part(0, 300), part(300, 600));
    let architecture = Architecture::diwp(Arc::new(SquaredExponential), 1, Arc::new(Categorical::new(3)));
    let mut model = initialise(architecture, &train, Start { inducing: 25, warm_up: 300, ..Start::default() }).unwrap();
    let options = TrainOptions { steps: 300, draws: 4, ..TrainOptions::default() };
    Trainer::new(&mut model, &train, options).unwrap().run(|_| true).unwrap();
    let prediction = model.predict(x_test.as_ref(), 30, Key::new(1)).unwrap();
    let y: Vec<f64> = (0..300).map(|n| test.y(n)[0]).collect();
    let ours = crate::metrics::classification(&prediction, &y).unwrap();
    let points = |d: &Dataset| (0..d.points()).map(|n| (d.x(n).to_vec(), d.y(n)[0] as usize)).collect::<Vec<_>>();
    let linear = logistic_regression(&points(&train), &points(&test), 3);
    assert!(ours.accuracy > 0.85 && ours.accuracy > linear.0 + 0.1, "{ours:?} and {linear:?}");
    assert!(ours.log_likelihood > linear.1 + 0.2, "{ours:?} and {linear:?}");
    assert!(ours.calibration < 0.08, "{ours:?}");
}

/// Two functions with little and with much noise, outliers, and a third of the values missing: both are found where nothing was seen of
/// them, and so is how noisy each is.
#[test]
fn two_functions_are_learned_from_incomplete_targets_with_outliers() {
    let x = Mat::from_fn(1, 120, |_, n| 6.0 * n as f64 / 119.0 - 3.0);
    let (mut noise, scales) = (vec![0.0; 240], [0.05, 0.3]);
    dkp_tape::random::fill_normal(Key::new(5).stream(0, 0), 2, |n| n as u64, &mut noise);
    let truth = |t: usize, n: usize| [(1.5 * x[(0, n)]).sin(), (0.8 * x[(0, n)]).cos()][t];
    let seen = |t: usize, n: usize| !(n + t).is_multiple_of(3);
    let y = Mat::from_fn(2, 120, |t, n| match (seen(t, n), n % 13) {
        (false, _) => f64::NAN,
        (_, 5) => truth(t, n) + 4.0,
        _ => truth(t, n) + scales[t] * noise[2 * n + t],
    });
    let data = Dataset::new(x.as_ref(), y.as_ref()).unwrap();
    let likelihood = Arc::new(Scalar::several(StudentT, 2));
    let architecture = Architecture::nngp(Arc::new(SquaredExponential), 0, likelihood);
    let mut model = initialise(architecture, &data, start(12)).unwrap();
    Trainer::new(&mut model, &data, TrainOptions { steps: 800, ..TrainOptions::default() })
        .unwrap()
        .run(|_| true)
        .unwrap();
    let prediction = model.predict(x.as_ref(), 1, Key::new(0)).unwrap();
    let learned = model.parameters().get("likelihood.scale").unwrap();
    for t in 0..2 {
        let unseen = (0..120).filter(|&n| !seen(t, n));
        let errors: Vec<f64> = unseen.map(|n| prediction.moments(n, t).mean - truth(t, n)).collect();
        let rmse = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
        // closer than an observation would be; the scale of 80 normal values with outliers, ± 10 %
        assert!(rmse < scales[t], "target {t}: {rmse}");
        assert!((learned[t] / scales[t]).ln().abs() < 0.4, "target {t}: {learned:?}");
    }
}

/// Noise whose deviation grows tenfold along x is found; constant noise is found to be constant, at no cost to the bound.
#[test]
fn noise_that_varies_is_found_and_constant_noise_too() {
    let points = 400;
    let x = Mat::from_fn(1, points, |_, n| 6.0 * n as f64 / (points - 1) as f64 - 3.0);
    let mut normals = vec![0.0; points];
    dkp_tape::random::fill_normal(Key::new(21).stream(0, 0), points, |_| 0, &mut normals);
    let fitted = |deviation: &dyn Fn(f64) -> f64, likelihood: Arc<dyn Likelihood>| {
        let y = Mat::from_fn(1, points, |_, n| x[(0, n)].sin() + deviation(x[(0, n)]) * normals[n]);
        let data = Dataset::new(x.as_ref(), y.as_ref()).unwrap();
        let architecture = Architecture::nngp(Arc::new(SquaredExponential), 0, likelihood);
        let mut model = initialise(architecture, &data, start(20)).unwrap();
        let options = TrainOptions { steps: 6000, ..TrainOptions::default() };
        Trainer::new(&mut model, &data, options).unwrap().run(|s| s.failure.is_none()).unwrap();
        let prediction = model.predict(x.as_ref(), 1, Key::new(0)).unwrap();
        let found: Vec<f64> = (0..points).map(|n| prediction.moments(n, 0).noise.sqrt()).collect();
        (found, model.bound(&data, 1, Key::new(0)).unwrap().total)
    };
    let grows = |x: f64| 0.1 * (0.3 * (x + 3.0) * 10_f64.ln() / 1.8).exp();
    let one = |deviation| fitted(deviation, Arc::new(Gaussian::new(1))).1;
    let (one_of_growing, one_of_constant) = (one(&grows), one(&|_| 0.3));
    for (varying, cost) in [(VaryingNoise::new(1), 0.01), (VaryingNoise::heavy(1), 0.02)] {
        let (found, bound) = fitted(&grows, Arc::new(varying));
        assert!(bound > one_of_growing + 0.2, "{bound} and {one_of_growing}");
        // about 60 points tell of the noise at each place: a deviation is known to 10 %
        for n in [40, 130, 200, 270, 360] {
            let ratio = (found[n] / grows(x[(0, n)])).ln();
            assert!(ratio.abs() < 0.35, "{n}: {} and {}", found[n], grows(x[(0, n)]));
        }
        let (found, bound) = fitted(&|_| 0.3, Arc::new(varying));
        assert!(bound > one_of_constant - cost, "{bound} and {one_of_constant}");
        for n in [20, 130, 200, 270, 380] {
            assert!((found[n] / 0.3).ln().abs() < 0.2, "{n}: {}", found[n]);
        }
    }
}

#[test]
fn targets_that_a_likelihood_cannot_have_are_refused() {
    let x = cases::matrix(1, 2, 3);
    let data = Dataset::new(x.as_ref(), faer::mat![[0.0, 1.0, 0.5]].as_ref()).unwrap();
    let with = |likelihood: Arc<dyn crate::likelihoods::Likelihood>| {
        let architecture = Architecture::nngp(Arc::new(SquaredExponential), 1, likelihood);
        initialise(architecture, &data, start(3)).err().unwrap().to_string()
    };
    assert_eq!(with(Arc::new(Scalar::new(Bernoulli))), "target 0 of point 2 must be 0 or 1, but is 0.5");
    assert_eq!(with(Arc::new(Categorical::new(3))), "target 0 of point 2 must be a class's number, from 0, but is 0.5");
    assert_eq!(with(Arc::new(Gaussian::new(2))), "the likelihood is for 2 targets, but the data have 1");
}

/// Under normal noise a target that counts five times is one with a fifth of the variance: a posterior of temperature ⅕ is the one of that noise.
#[test]
fn a_colder_posterior_is_one_of_less_noise() {
    let data = smooth(16);
    let trained = |noise: f64, temperature: f64| {
        let mut model = initialise(nngp(), &data, start(16)).unwrap();
        let p = model.parameters_mut();
        p.set("likelihood.noise", &[noise]).unwrap();
        let names: Vec<String> = p.iter().map(|p| p.name.clone()).collect();
        let fixed = names
            .iter()
            .filter(|n| !["targets", "noise.diagonal", "noise.below"].iter().any(|own| **n == format!("output.{own}")));
        fixed.for_each(|name| p.freeze(name, true).unwrap());
        let options = TrainOptions { steps: 6000, temperature, ..TrainOptions::of_limit() };
        Trainer::new(&mut model, &data, options).unwrap().run(|_| true).unwrap();
        model.predict(data.inputs().as_ref(), 1, Key::new(0)).unwrap()
    };
    let (cold, quiet, warm) = (trained(0.5, 0.2), trained(0.1, 1.0), trained(0.5, 1.0));
    let latent = |p: &crate::model::Prediction, n| (p.moments(n, 0).mean, p.moments(n, 0).model);
    let apart = |a, b| {
        (0..16)
            .map(|n| (latent(a, n).0 - latent(b, n).0).abs().max((latent(a, n).1 - latent(b, n).1).abs()))
            .fold(0.0, f64::max)
    };
    assert!(apart(&cold, &quiet) < 2e-3, "{}", apart(&cold, &quiet));
    assert!(apart(&warm, &quiet) > 0.05, "{}", apart(&warm, &quiet));
}
