//! Processes that are priors only: Wishart, finite network, residual Wishart.

use super::tests::{DRAWS, Extended, inverse, quadratic};
use super::*;
use crate::distributions;
use crate::laws::{assert_law, assert_mean, assert_same_law, chi_squared_cdf};
use dkp_tape::Pass;
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use faer::Mat;

/// Fails unless the draws are from W(K/N, N): N·cᵀGc/cᵀKc ~ χ²(N).
pub(super) fn assert_wishart_process(what: &str, draws: &[Mat<f64>], kernel: &Mat<f64>, n: f64) {
    let forms: Vec<f64> = draws.iter().map(|g| n * quadratic(g) / quadratic(kernel)).collect();
    assert_mean(what, &forms, n);
    assert_law(what, forms, |x| chi_squared_cdf(n, x));
}

/// A process over three points, drawn many times, and its kernel.
fn prior_draws(process: impl PriorProcess) -> (Mat<f64>, Vec<Mat<f64>>) {
    some_prior_draws(process, DRAWS)
}

fn some_prior_draws(process: impl PriorProcess, count: u64) -> (Mat<f64>, Vec<Mat<f64>>) {
    let mut tape = Tape::new("prior");
    let x = cases::matrix(1, 3, 5);
    let kernel = &x * x.transpose();
    let node = distributions::constant(&mut tape, kernel.as_ref());
    let block = Block::new(&mut tape, node);
    let gram = process.draw_prior(&mut tape, block).matrix;
    let mut run = tape.finish().workspace();
    let draw = |n: u64| {
        run.forward(Key::new(5).step(n), Pass::Value).unwrap();
        run.value(gram).to_owned()
    };
    (kernel, (0..count).map(draw).collect())
}

#[test]
fn features_and_bartlett_draw_the_same_wishart_process() {
    let (kernel, by_features) = prior_draws(GaussianFeatures::new(5));
    let (_, by_bartlett) = prior_draws(Wishart { dof: 5.0 });
    assert_wishart_process("features", &by_features, &kernel, 5.0);
    assert_wishart_process("Bartlett", &by_bartlett, &kernel, 5.0);
    let determinants = |draws: &[Mat<f64>]| draws.iter().map(|g| g.determinant().ln()).collect();
    assert_same_law("log-determinant", determinants(&by_features), determinants(&by_bartlett));
    // below the number of points, where the Wishart is singular
    let (_, singular) = prior_draws(Wishart { dof: 2.0 });
    assert_wishart_process("singular", &singular, &kernel, 2.0);
    let (_, singular) = prior_draws(GaussianFeatures::new(2));
    assert_wishart_process("two features", &singular, &kernel, 2.0);
}

#[test]
fn extended_features_have_the_law_of_the_wishart_process() {
    for jointly in [false, true] {
        let mut all = Extended::new(2, 3, jointly, |_| Box::new(GaussianFeaturesLaw::prior(4)));
        let which = if jointly { None } else { Some(2) };
        let kernel = all.whole(all.kernel, which);
        let draws = all.draws(which);
        assert_wishart_process("extended features", &draws, &kernel, 4.0);
        // the last point given the others: N·|G|/|G_without| ~ |K|/|K_without|·χ²(N − P + 1)
        let p = kernel.nrows();
        let schur = |g: &Mat<f64>| 1.0 / inverse(g)[(p - 1, p - 1)];
        if p <= 4 {
            let dof = 4.0 - p as f64 + 1.0;
            let samples: Vec<f64> = draws.iter().map(|g| 4.0 * schur(g) / schur(&kernel)).collect();
            assert_mean("the last point given the others", &samples, dof);
            assert_law("the last point given the others", samples, |x| chi_squared_cdf(dof, x));
        }
        // a submatrix
        let part = |g: &Mat<f64>| Mat::from_fn(2, 2, |i, j| g[(p - 1 - i, p - 1 - j)]);
        let parts: Vec<Mat<f64>> = draws.iter().map(part).collect();
        assert_wishart_process("two of the points", &parts, &part(&kernel), 4.0);
    }
}

#[test]
fn a_finite_networks_kernel_has_the_relu_kernel_as_its_mean_and_limit() {
    let relu = |k: &Mat<f64>| {
        Mat::from_fn(3, 3, |i, j| {
            let norm = (k[(i, i)] * k[(j, j)]).sqrt();
            let theta = (k[(i, j)] / norm).clamp(-1.0, 1.0).acos();
            norm / std::f64::consts::PI * (theta.sin() + (std::f64::consts::PI - theta) * theta.cos())
        })
    };
    let (kernel, narrow) = prior_draws(FiniteNetwork { width: 3 });
    let expected = relu(&kernel);
    for i in 0..3 {
        for j in 0..=i {
            let elements: Vec<f64> = narrow.iter().map(|k| k[(i, j)]).collect();
            assert_mean(&format!("element {i}, {j}"), &elements, expected[(i, j)]);
        }
    }
    let error = |width: usize| {
        let (_, draws) = some_prior_draws(FiniteNetwork { width }, 20);
        draws.iter().map(|k| (k - &expected).norm_l2().powi(2)).sum::<f64>().sqrt()
    };
    // a hundred times the width, a tenth of the error; the ratio of two sums of 20·9 squares is within 1.5 of that
    let ratio = error(100) / error(10_000);
    assert!((6.0..16.0).contains(&ratio), "{ratio}");
}

#[test]
fn the_residual_wishart_process_has_its_kernel_as_mean_and_limit() {
    let (kernel, draws) = prior_draws(ResidualWishart { alpha: 0.7 });
    for (i, j) in [(0, 0), (2, 2), (2, 0)] {
        let elements: Vec<f64> = draws.iter().map(|k| k[(i, j)]).collect();
        assert_mean("residual Wishart", &elements, kernel[(i, j)]);
    }
    let (_, close) = some_prior_draws(ResidualWishart { alpha: 1e6 }, 3);
    assert!(close.iter().all(|g| (g - &kernel).norm_max() < 1e-4));
}
