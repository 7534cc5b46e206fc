//! Gaussian features as the paper has them: a linear first layer, and a noise for each feature.

use super::tests::{DRAWS, noise_root, quadratic};
use super::*;
use crate::distributions::constant;
use crate::gram::DataBlock;
use crate::laws::{assert_law, assert_same_law, chi_squared_cdf};
use crate::output::Posterior;
use dkp_tape::Pass;
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use faer::Mat;

/// A linear first layer of N₁ features draws G₁ ~ W(K/N₁, N₁), K = XᵀX/N₀, over inducing and data points: N₁cᵀG₁c/cᵀKc ~ χ²(N₁). As weights
/// of the inputs, Ω = WWᵀ/N₁, and as functions of the points.
#[test]
fn the_first_gram_matrix_is_the_wishart_of_the_linear_kernel() {
    let (features, m, width) = (4, 3, 5);
    let (xi, xt) = (cases::matrix(1, features, m), cases::matrix(2, features, 1));
    let x = Mat::from_fn(features, m + 1, |i, n| if n < m { xi[(i, n)] } else { xt[(i, 0)] });
    let kernel = faer::Scale(1.0 / features as f64) * (x.transpose() * &x);
    let law = || -> Box<dyn Law> { Box::new(GaussianFeaturesLaw::prior(width)) };
    let [weights, functions] = [Input::Omega(law()), Input::Gram(law())].map(|input| {
        let mut tape = Tape::new("linear layer");
        tape.points(1);
        let [xi, xt] = [&xi, &xt].map(|x| constant(&mut tape, x.as_ref()));
        let draw = input.draw(&mut tape, None, xi);
        let gram = draw.extend(&mut tape, xt);
        let DataBlock::Diagonal(tt) = gram.tt else { unreachable!("points one by one") };
        let mut run = tape.finish().workspace();
        run.set_point_ids(&[0]);
        let draws: Vec<Mat<f64>> = (0..DRAWS)
            .map(|n| {
                run.forward(Key::new(3).step(n), Pass::Value).unwrap();
                let [ii, ti, tt] = [gram.ii.matrix, gram.ti, tt].map(|node| run.value(node));
                Mat::from_fn(m + 1, m + 1, |i, j| match (i < m, j < m) {
                    (true, true) => ii[(i, j)],
                    (false, false) => tt[(0, 0)],
                    _ => ti[(0, i.min(j))],
                })
            })
            .collect();
        let forms = draws.iter().map(|g| width as f64 * quadratic(g) / quadratic(&kernel)).collect();
        assert_law("quadratic form", forms, |x| chi_squared_cdf(width as f64, x));
        draws.iter().map(|g| g.determinant().ln()).collect::<Vec<_>>()
    });
    assert_same_law("log-determinant", weights, functions);
}

/// Noises of their own that are all alike are the shared noise: the divergence is the same.
#[test]
fn equal_noises_are_a_shared_noise() {
    let (m, width) = (5, 3);
    let x = cases::matrix(1, m, 8);
    let mut tape = Tape::new("noises");
    let k = constant(&mut tape, (&x * x.transpose()).as_ref());
    let k = Block::new(&mut tape, k);
    let [v, h] = [cases::matrix(2, m, width), cases::matrix(3, m, m)].map(|v| constant(&mut tape, v.as_ref()));
    let h = noise_root(&mut tape, h);
    let [shared, own] = [1, width].map(|noises| {
        let posterior = Posterior::new(&mut tape, v, &vec![h; noises]);
        GaussianFeaturesLaw::posterior(posterior).draw(&mut tape, k).log_ratio.unwrap()
    });
    let mut run = tape.finish().workspace();
    run.forward(Key::new(0), Pass::Value).unwrap();
    let (shared, own) = (run.scalar(shared), run.scalar(own));
    assert!((shared - own).abs() < 1e-12 * shared.abs(), "{shared} and {own}");
}
