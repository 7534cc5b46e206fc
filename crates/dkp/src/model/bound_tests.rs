//! The bound of whole models: exact limits, its parts, and its gradient.

use super::inference_tests::{data, gaussian, inputs, model, sq_exp};
use super::*;
use crate::gram::white;
use crate::kernels::{Matern52, Relu};
use crate::likelihoods::{Bernoulli, Categorical, Gaussian, Likelihood, Poisson, Scalar, StudentT, VaryingNoise};
use crate::processes::Input;
use dkp_tape::gradcheck::{cases, compare};
use dkp_tape::random::Key;
use faer::linalg::solvers::{DenseSolveCore as _, Solve as _};
use faer::{Mat, MatRef, Side};
use std::sync::Arc;

/// With X_i = X, v = y and Λ = I/σ² the bound is log N(y; 0, K + σ²I), but for white noise.
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
    // what is left open is the white noise of the inducing variables
    let open = white::WHITE * value("output.kernel.height").powi(2) / noise;
    let bound = m.bound(&data, 10, Key::new(0)).unwrap();
    assert!(bound.total < exact && bound.total > exact - open, "{bound:?} and {exact}");
    assert_eq!((bound.jitter.count, bound.standard_error), (0, 0.0));
}

/// At the best posterior over few inducing points the bound is log N(y; 0, Q + σ²I) − ½Σ log(1 + d/σ²), Q = K_ti·K_ii⁻¹·K_it and d the diagonal
/// of K_tt − Q (Titsias 2025): above the usual one, which has d/σ² there, and below the marginal likelihood; also where white noise in K_ii is
/// more than the noise of the targets.
#[test]
fn the_bound_is_the_tighter_one() {
    for (height, noise) in [(1.0, 0.07), (30.0, 2e-6)] {
        let (data, m) = (data(30), 4);
        let n = data.points();
        let mut model = model(Architecture::nngp(sq_exp(), 0, gaussian()), &data, m);
        let p = model.parameters();
        let l = p.get("output.kernel.lengthscale").unwrap()[0];
        let (scale, inducing) = (p.get("features.scale").unwrap(), p.get("inducing.inputs").unwrap());
        let k = |a: &[f64], b: &[f64]| {
            let distance: f64 = (0..3).map(|f| (scale[f] * (a[f] - b[f])).powi(2) / 3.0).sum();
            height * height * (-distance / (2.0 * l * l)).exp()
        };
        let z = |i: usize| &inducing[3 * i..3 * i + 3];
        let k_ii = Mat::from_fn(m, m, |i, j| k(z(i), z(j)) * if i == j { 1.0 + white::WHITE } else { 1.0 });
        let k_it = Mat::from_fn(m, n, |i, j| k(z(i), data.x(j)));
        let k_tt = Mat::from_fn(n, n, |i, j| k(data.x(i), data.x(j)));
        let y = Mat::from_fn(n, 1, |i, _| data.y(i)[0]);
        // the best posterior: precision Λ = BBᵀ/σ² and Λv = By/σ² with B = K_ii⁻¹K_it
        let b = k_ii.partial_piv_lu().solve(&k_it);
        let information = &b * b.transpose();
        let v = information.partial_piv_lu().solve(&b * &y);
        let root = (faer::Scale(noise) * information.partial_piv_lu().inverse()).llt(Side::Lower).unwrap();
        let root = root.L();
        let p = model.parameters_mut();
        p.set("output.kernel.height", &[height]).unwrap();
        p.set("output.targets", &(0..m).map(|i| v[(i, 0)]).collect::<Vec<_>>()).unwrap();
        p.set("output.noise.diagonal", &(0..m).map(|i| root[(i, i)]).collect::<Vec<_>>()).unwrap();
        let below = |i: usize, j: usize| if i > j { root[(i, j)] / root[(j, j)] } else { 0.0 };
        p.set("output.noise.below", &(0..m * m).map(|e| below(e % m, e / m)).collect::<Vec<_>>()).unwrap();
        p.set("likelihood.noise", &[noise]).unwrap();

        let log_normal = |covariance: Mat<f64>| {
            let covariance = covariance + faer::Scale(noise) * Mat::<f64>::identity(n, n);
            let (zero, one) = (Mat::zeros(n, 1), Mat::<f64>::identity(1, 1));
            let normal = crate::distributions::matrix_normal(zero.as_ref(), covariance.as_ref(), one.as_ref());
            normal.unwrap().log_density(y.as_ref()).unwrap()
        };
        let q = k_it.transpose() * &b;
        let ratios: Vec<f64> = (0..n).map(|i| (k_tt[(i, i)] - q[(i, i)]) / noise).collect();
        let (usual, tight) = (ratios.iter().sum::<f64>(), ratios.iter().map(|r| r.ln_1p()).sum::<f64>());
        let fit = log_normal(q);
        let expected = [fit - 0.5 * usual, fit - 0.5 * tight].map(|b| b / n as f64);
        let bound = model.bound(&data, 1, Key::new(0)).unwrap();
        // both are differences of numbers as large as the usual bound
        let close = |ours: f64, other: f64| (ours - other).abs() < 1e-9 * expected[0].abs().max(1.0);
        assert!(
            close(bound.total, expected[1]) && close(bound.total - bound.gain, expected[0]),
            "{bound:?} and {expected:?}"
        );
        let exact = log_normal(k_tt) / n as f64;
        assert!(bound.gain > 0.01 && bound.total < exact, "{bound:?} and {exact}");
    }
}

/// Steps in which the gain counts eight times and seven in which it is a number have together the gradient of the bound.
#[test]
fn a_gain_that_is_computed_now_and_then_has_its_gradient_on_average() {
    let data = data(24);
    let m = model(Architecture::diwp(sq_exp(), 1, gaussian()), &data, 6);
    let count = m.parameters().free().count();
    let step = |gain: Gain| {
        let mut gradient = vec![Vec::new(); count];
        let bound = m.gradient(Batch { data: &data, rows: None }, 3, Key::new(4), 1.0, gain, &mut gradient).unwrap();
        (bound, gradient.concat())
    };
    let ((bound, whole), (eightfold, often)) = (step(Gain::Weighted(1.0)), step(Gain::Weighted(8.0)));
    let (carried, without) = step(Gain::Carried(bound.gain));
    let same = [bound.total, bound.gain] == [eightfold.total, eightfold.gain];
    assert!(bound.gain > 1e-3 && same, "{bound:?} and {eightfold:?}");
    assert!((carried.total - bound.total).abs() < 1e-12 && carried.gain == bound.gain, "{bound:?} and {carried:?}");
    assert!(whole.iter().zip(&without).any(|(a, b)| (a - b).abs() > 1e-3));
    for ((whole, often), without) in whole.iter().zip(&often).zip(&without) {
        let mean = (often + 7.0 * without) / 8.0;
        assert!((mean - whole).abs() < 1e-10 * whole.abs().max(1.0), "{mean} and {whole}");
    }
}

/// δ → ∞ with V = 0 and γ = 0: the bound and the predictions of the NNGP, with errors of the order of 1/√δ.
#[test]
fn the_diwp_converges_to_the_nngp() {
    let data = data(40);
    let nngp = model(Architecture::nngp(sq_exp(), 1, gaussian()), &data, 8);
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
                // some begin at zero
                let more = match name.rsplit('.').next() {
                    Some("below") => 0.05,
                    Some("bias") => 0.3,
                    _ => 0.0,
                };
                v * (1.0 + 0.1 * noise[(0, j)]) + more * noise[(0, j)]
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
    m.gradient(batch, 2, key, 1.0, Gain::Weighted(1.0), &mut gradient).unwrap();
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

/// A model of a family, with one hidden layer of this width.
fn family(name: &str, posterior: &str, width: usize) -> Architecture {
    let options = FamilyOptions { posterior, width, hidden: [1.0; 2], drawn: Input::Omega(()), input: [1.0; 2] };
    let kernels = [sq_exp(), sq_exp()];
    crate::Registry::default().family(name).unwrap().architecture(&options, &kernels, gaussian())
}

#[test]
fn gradients_of_every_family() {
    let data = data(7);
    check_gradients("nngp", Architecture::nngp(Arc::new(Matern52), 1, gaussian()), &data, 1e-5);
    check_gradients("diwp", Architecture::diwp(sq_exp(), 1, gaussian()), &data, 1e-5);
    check_gradients("relu", Architecture::diwp(Arc::new(Relu), 1, gaussian()), &data, 1e-5);
    check_gradients("dgp", Architecture::dgp(sq_exp(), 1, 2, gaussian()), &data, 1e-5);
    let linear = family("linear_dgp", "own", 2);
    check_gradients("linear dgp", linear.clone(), &data, 1e-5);
    check_gradients("dwp", Architecture::dwp(sq_exp(), 1, 2, gaussian()), &data, 1e-5);
    // as wide as to leave features to data points, and with Ω
    let mut wide = Architecture::dwp(sq_exp(), 1, 9, gaussian());
    wide.input = Input::Omega(wide.layers[0].process.clone());
    check_gradients("wide dwp", wide, &data, 1e-5);
    // more features than inducing points: the Gram form of the input layer
    let x = cases::matrix(1, 9, 7);
    let wide = Dataset::new(x.as_ref(), Mat::from_fn(1, 7, |_, n| x[(0, n)]).as_ref()).unwrap();
    check_gradients("wide", Architecture::diwp(sq_exp(), 1, gaussian()), &wide, 1e-5);
    check_gradients("linear dgp, wide", linear, &wide, 1e-5);
    check_gradients("whitened", Architecture::whitened_diwp(sq_exp(), 1, gaussian()), &data, 1e-5);
    check_gradients("whitened, wide", Architecture::whitened_diwp(sq_exp(), 1, gaussian()), &wide, 1e-5);
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
        architecture.share_noise = false;
        check_gradients(name, architecture, data, 1e-5);
    };
    check("Student-t", Arc::new(Scalar::new(StudentT)), &smooth);
    check("varying", Arc::new(VaryingNoise::new(1)), &smooth);
    check("varying_t", Arc::new(VaryingNoise::heavy(1)), &smooth);
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
    let m = model(Architecture::nngp(sq_exp(), 1, gaussian()), &data, 6);
    let whole = m.bound(&data, 1, Key::new(0)).unwrap();
    let order: Vec<usize> = (0..24).map(|i| 7 * i % 24).collect();
    let mut gradient = vec![Vec::new(); m.parameters().free().count()];
    let mut bound = |rows| {
        m.gradient(Batch { data: &data, rows: Some(rows) }, 1, Key::new(0), 1.0, Gain::Weighted(1.0), &mut gradient)
    };
    let mean = order.chunks(4).map(|rows| bound(rows).unwrap().total).sum::<f64>() / 6.0;
    assert!((mean - whole.total).abs() < 1e-12, "{mean} and {}", whole.total);
}

/// The parts have their signs, a point without a target counts for nothing, and the standard error is that of repeated bounds; also
/// where only the likelihood is random.
#[test]
fn the_bound_has_its_parts_and_its_standard_error() {
    let full = data(20);
    let m = model(Architecture::diwp(sq_exp(), 2, gaussian()), &full, 6);
    let b = m.bound(&full, 50, Key::new(1)).unwrap();
    assert!(b.input < 0.0 && b.layers.len() == 2 && b.layers.iter().all(|l| *l < 0.0) && b.output < 0.0);
    let sum = b.likelihood + b.input + b.layers.iter().sum::<f64>() + b.output;
    assert!(b.gain > 0.0 && (b.total - sum).abs() < 1e-14, "{b:?}");
    let y = Mat::from_fn(1, 21, |_, n| if n == 20 { f64::NAN } else { full.y(n)[0] });
    let x = Mat::from_fn(3, 21, |i, n| full.x(n % 20)[i]);
    let more = m.bound(&Dataset::new(x.as_ref(), y.as_ref()).unwrap(), 50, Key::new(1)).unwrap();
    assert!((more.total * 21.0 - b.total * 20.0).abs() < 1e-9, "{more:?} and {b:?}");

    let classes = Dataset::new(inputs(&full).as_ref(), Mat::from_fn(1, 20, |_, n| (n % 3) as f64).as_ref()).unwrap();
    let soft = model(Architecture::nngp(sq_exp(), 1, Arc::new(Categorical::new(3))), &classes, 6);
    for (m, data) in [(m, &full), (soft, &classes)] {
        let bounds: Vec<Bound> = (0..100).map(|k| m.bound(data, 16, Key::new(k)).unwrap()).collect();
        let mean = bounds.iter().map(|b| b.total).sum::<f64>() / 100.0;
        let spread = (bounds.iter().map(|b| (b.total - mean).powi(2)).sum::<f64>() / 99.0).sqrt();
        let said = bounds.iter().map(|b| b.standard_error).sum::<f64>() / 100.0;
        // the ratio of two estimates of one deviation from a hundred runs: ± 10 %
        assert!((spread / said - 1.0).abs() < 0.4, "{spread} and {said}");
    }
}
