//! Priors of whole models: exact laws, the common limit, and what is refused.

use super::*;
use crate::kernels::{Relu, SquaredExponential};
use crate::laws::{assert_law, chi_squared_cdf};
use crate::processes::{Input, InverseWishart, PriorProcess, ResidualWishart, Wishart};
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use faer::{Mat, mat};
use std::sync::Arc;

fn kernel() -> PriorKernel {
    PriorKernel::new(SquaredExponential, &[1.1, 0.9])
}

/// f ~ t_{δ+2}(0, δK/(δ+2)): for two points P(fᵀΣ⁻¹f ≤ x) = 1 − (1 + x/ν)^{−ν/2}, ν = δ+2.
#[test]
fn one_layer_of_the_shah_ordering_is_a_student_t_process() {
    let (delta, x) = (1.5, mat![[0.3, 1.1], [-0.4, 0.2]]);
    let sampler = Prior::shah(kernel(), &[delta]).sampler(x.as_ref(), 1).unwrap();
    let nu = delta + 2.0;
    // 2 % of the scale is a distance of 0.0057, and 0.0043 is accepted
    let forms = (0..400_000).map(|n| {
        let draw = sampler.draw(Key::new(4).step(n)).unwrap();
        let (k, f) = (&draw.kernels[0], &draw.functions);
        let (a, b, c) = (k[(0, 0)], k[(0, 1)], k[(1, 1)]);
        let (f0, f1) = (f[(0, 0)], f[(1, 0)]);
        (c * f0 * f0 - 2.0 * b * f0 * f1 + a * f1 * f1) / (a * c - b * b) * nu / delta
    });
    assert_law("Student-t", forms.collect(), |x| 1.0 - (1.0 + x / nu).powf(-0.5 * nu));
}

/// Both forms of the input layer: δcᵀKc/cᵀGc ~ χ²(δ+2) and |δK|/|G| has one law (a product of two χ²).
#[test]
fn both_forms_of_the_input_layer_have_the_same_prior() {
    let (delta, x) = (2.5, cases::matrix(1, 3, 2));
    let k = faer::Scale(1.0 / 3.0) * (x.transpose() * &x);
    let form = |m: &Mat<f64>| m[(0, 0)] - 0.6 * m[(0, 1)] + 0.09 * m[(1, 1)];
    let mut determinants = Vec::new();
    let process: Arc<dyn PriorProcess> = Arc::new(InverseWishart { delta, gamma: 1.0 });
    for (name, input) in [("Ω", Input::Omega(process.clone())), ("Gram", Input::Gram(process))] {
        let prior = Prior { input, ..Prior::nngp(kernel(), 0) };
        let sampler = prior.sampler(x.as_ref(), 1).unwrap();
        let draws: Vec<Mat<f64>> =
            (0..100_000).map(|n| sampler.draw(Key::new(6).step(n)).unwrap().grams.swap_remove(0)).collect();
        let forms = draws.iter().map(|g| delta * form(&k) / form(g)).collect();
        assert_law(name, forms, |x| chi_squared_cdf(delta + 2.0, x));
        determinants.push(draws.iter().map(|g| g.determinant().ln()).collect::<Vec<_>>());
    }
    let [omega, gram] = determinants.try_into().unwrap();
    crate::laws::assert_same_law("log-determinant", omega, gram);
}

/// Wide, or with large δ, every model is the NNGP: the kernels of all layers agree to the order of 1/√width.
#[test]
fn every_model_converges_to_the_infinite_network() {
    let x = cases::matrix(2, 3, 12);
    let (width, close) = (1_000_000, 1e-2);
    let deep = |prior: &Prior| prior.draw(x.as_ref(), 1, Key::new(1)).unwrap();
    let nngp = deep(&Prior::nngp(kernel(), 2));
    let large = width as f64;
    let wide = [
        ("DIWP", Prior::diwp(kernel(), &[large; 3])),
        ("deep Wishart process", Prior { input: Input::Fixed, ..Prior::deep_wishart(kernel(), &[width; 3]) }),
        ("deep GP", Prior::deep_gp(kernel(), &[100_000; 2])),
    ];
    for (name, prior) in wide {
        let draw = deep(&prior);
        assert_eq!(draw.kernels.len(), 3);
        for (k, limit) in draw.kernels.iter().zip(&nngp.kernels) {
            let distance = (k - limit).norm_max();
            assert!(distance < close, "{name}: {distance}");
        }
    }
    // a wide network has the ReLU kernel in every hidden layer
    let relu = deep(&Prior::nngp(PriorKernel::new(Relu, &[]), 1));
    let network = deep(&Prior::finite_network(&[100_000, 100_000]));
    for (k, limit) in network.kernels[1..].iter().zip(&relu.kernels) {
        assert!((k - limit).norm_max() < 3.0 * close, "{}", (k - limit).norm_max());
    }
}

#[test]
fn every_row_of_the_table_can_be_drawn_at_any_depth_and_is_reproducible() {
    let x = cases::matrix(3, 2, 9);
    for depth in 0..4 {
        let (deltas, widths) = (vec![2.0; depth + 1], vec![4; depth + 1]);
        let residual =
            Layer { kernel: kernel(), process: Arc::new(ResidualWishart { alpha: 0.5 }) as Arc<dyn PriorProcess> };
        let priors = [
            Prior::nngp(kernel(), depth),
            Prior::diwp(kernel(), &deltas),
            Prior::deep_gp(kernel(), &widths[..depth]),
            Prior::deep_wishart(kernel(), &widths),
            Prior::finite_network(&widths[..depth]),
            Prior::shah(kernel(), &deltas[..depth]),
            Prior { layers: vec![residual; depth], ..Prior::nngp(kernel(), 0) },
        ];
        for prior in priors {
            let draw = prior.draw(x.as_ref(), 2, Key::new(8)).unwrap();
            assert_eq!((draw.grams.len(), draw.kernels.len()), (depth + 1, depth + 1));
            assert!(draw.kernels.iter().all(|k| (k.nrows(), k.ncols()) == (9, 9)));
            assert_eq!((draw.functions.nrows(), draw.functions.ncols()), (9, 2));
            assert_eq!(draw.functions, prior.draw(x.as_ref(), 2, Key::new(8)).unwrap().functions);
            assert_ne!(draw.functions, prior.draw(x.as_ref(), 2, Key::new(9)).unwrap().functions);
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_its_value() {
    let x = cases::matrix(3, 2, 9);
    let message = |prior: Prior| prior.draw(x.as_ref(), 1, Key::new(0)).unwrap_err().to_string();
    assert_eq!(message(Prior::diwp(kernel(), &[2.0, 0.0])), "δ of layer 1 must be positive and finite, but is 0");
    assert_eq!(
        message(Prior::diwp(kernel(), &[f64::NAN])),
        "δ of the input layer must be positive and finite, but is NaN"
    );
    assert_eq!(
        message(Prior::deep_gp(kernel(), &[4, 0])),
        "the width of layer 2 must be from 1 to 10,000,000, but is 0"
    );
    assert_eq!(
        message(Prior::nngp(PriorKernel::new(SquaredExponential, &[1.0]), 1)),
        "the kernel has the parameters [\"height\", \"lengthscale\"], but 1 values were given"
    );
    assert_eq!(
        message(Prior::nngp(PriorKernel::new(SquaredExponential, &[1.0, -2.0]), 1)),
        "lengthscale must be positive and finite, but is -2"
    );
    let broken = Layer { kernel: kernel(), process: Arc::new(Wishart { dof: 3.5 }) as Arc<dyn PriorProcess> };
    assert_eq!(
        message(Prior { layers: vec![broken], ..Prior::nngp(kernel(), 0) }),
        "the degrees of freedom of layer 1 must be a whole number, or greater than the number of points less one, but is 3.5"
    );
    let gram = Prior {
        input: Input::Gram(Arc::new(InverseWishart { delta: 1.0, gamma: 1.0 }) as _),
        ..Prior::nngp(kernel(), 0)
    };
    assert_eq!(
        message(gram),
        "the Gram form of the input layer needs at least as many features as points, not 2 and 9"
    );
    let mut bad = x.clone();
    bad[(1, 4)] = f64::INFINITY;
    let error = Prior::nngp(kernel(), 1).draw(bad.as_ref(), 1, Key::new(0)).unwrap_err();
    assert_eq!(error.to_string(), "inputs must be finite, but feature 1 of point 4 is inf");
    assert!(
        message(Prior::deep_gp(kernel(), &[1 << 53])).starts_with("the width of layer 1 must be from 1 to 10,000,000")
    );
    assert!(
        message(Prior::nngp(PriorKernel::new(SquaredExponential, &[0.0, 1.0]), 0))
            .starts_with("height must be positive")
    );
    let error = Prior::nngp(kernel(), 1).draw(x.as_ref(), 0, Key::new(0)).unwrap_err();
    assert_eq!(error.to_string(), "2 features, 9 points and 0 outputs: each must be at least 1");
}

/// Ω ~ W(I/N₁, N₁): N₁·N₀·G₁/‖x‖² ~ χ²(N₁) for one point x.
#[test]
fn the_deep_wishart_input_layer_has_its_law() {
    let x = cases::matrix(1, 4, 1);
    let sampler = Prior::deep_wishart(kernel(), &[3]).sampler(x.as_ref(), 1).unwrap();
    let norm = x.norm_l2().powi(2);
    let forms = (0..100_000).map(|n| 3.0 * 4.0 * sampler.draw(Key::new(6).step(n)).unwrap().grams[0][(0, 0)] / norm);
    assert_law("Wishart input", forms.collect(), |x| chi_squared_cdf(3.0, x));
}

/// Where all units of a layer are dead the kernel is zero, and so are functions: a draw like any other.
#[test]
fn dead_networks_and_zero_inputs_can_be_drawn() {
    let x = cases::matrix(3, 2, 50);
    let sampler = Prior::finite_network(&[3; 40]).sampler(x.as_ref(), 1).unwrap();
    let draws: Vec<PriorDraw> = (0..30).map(|n| sampler.draw(Key::new(n)).unwrap()).collect();
    assert!(
        draws.iter().any(|d| d.functions.norm_max() < 1e-40) && draws.iter().any(|d| d.functions.norm_max() > 1e-40)
    );
    Prior::nngp(PriorKernel::new(Relu, &[]), 2).draw(Mat::zeros(2, 3).as_ref(), 1, Key::new(0)).unwrap();
}
