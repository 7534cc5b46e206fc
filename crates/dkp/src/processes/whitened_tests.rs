//! The whitened posterior: the prior's law where it is the prior, its divergence, and gradients.

use super::gradient_tests::everything;
use super::tests::{DELTA, Extended, assert_inverse_wishart_process};
use super::*;
use crate::distributions::constant;
use dkp_tape::gradcheck::{cases, gradcheck};
use dkp_tape::random::Key;
use dkp_tape::{Pass, Workspace};
use faer::linalg::solvers::Solve as _;
use faer::{Mat, mat};
use statrs::function::gamma::{digamma, ln_gamma};

/// The posterior that is the prior.
fn at_the_prior(m: usize) -> impl FnOnce(&mut Tape) -> Box<dyn Law> {
    move |tape| {
        let process = WhitenedInverseWishart { delta: DELTA, start: WhitenedStart::Prior };
        let values = process.around(&Mat::identity(m, m)).unwrap();
        let shapes = process.parameters(m);
        let nodes: Vec<Node> = shapes.iter().zip(&values).map(|(s, v)| tape.constant(s.rows, s.cols, v)).collect();
        process.law(tape, m, &nodes)
    }
}

#[test]
fn the_whitened_posterior_has_the_priors_law_where_it_is_the_prior() {
    let (m, b) = (3, 2);
    for jointly in [false, true] {
        let mut all = Extended::new(m, b, jointly, at_the_prior(m));
        let which = if jointly { None } else { Some(1) };
        let kernel = all.whole(all.kernel, which);
        let draws = all.draws(which);
        assert_inverse_wishart_process(&format!("jointly {jointly}"), &draws, &kernel);
    }
}

/// Parameters away from the prior, of four points: δ, shapes, rates, means, deviations.
fn away() -> [Mat<f64>; 5] {
    let positive = |seed: u64, cols: usize| Mat::from_fn(4, cols, |i, j| cases::matrix(seed, 4, cols)[(i, j)].exp());
    [mat![[3.3]], positive(3, 1), positive(4, 1), cases::matrix(5, 4, 4), positive(6, 4)]
}

/// A program that draws G given K = LLᵀ, with nodes of G and of the term of the bound.
fn drawn(parameters: &[Mat<f64>; 5], k: &Mat<f64>) -> (Workspace, Node, Node) {
    let mut tape = Tape::new("whitened");
    let nodes: Vec<Node> = parameters.iter().map(|p| constant(&mut tape, p.as_ref())).collect();
    let law = WhitenedLaw::new(&mut tape, nodes[0], nodes[1], nodes[2], nodes[3], nodes[4]);
    let k = constant(&mut tape, k.as_ref());
    let factor = tape.cholesky(k);
    let draw = law.draw_root(&mut tape, k, factor);
    (tape.finish().workspace(), draw.gram, draw.log_ratio.unwrap())
}

/// The term of the bound is zero at the prior, −KL by the textbook's formulas, and the mean of log P(G) − log Q(G) over draws.
#[test]
fn the_whitened_divergence_is_that_of_its_elements_and_of_draws() {
    let x = cases::matrix(1, 4, 6);
    let k = &x * x.transpose() + Mat::<f64>::identity(4, 4);
    let prior = [mat![[3.3]], Mat::full(4, 1, 1.0), Mat::full(4, 1, 1.0), Mat::zeros(4, 4), Mat::full(4, 4, 1.0)];
    let (mut run, _, ratio) = drawn(&prior, &k);
    run.forward(Key::new(0), Pass::Value).unwrap();
    assert!(run.scalar(ratio).abs() < 1e-12, "{}", run.scalar(ratio));

    let p = away();
    let [delta, shape, rate, mean, deviation] = &p;
    let delta = delta[(0, 0)];
    let prior_shape = |j: usize| 0.5 * (delta + 2.0 + j as f64);
    let (mut run, gram, ratio) = drawn(&p, &k);
    run.forward(Key::new(0), Pass::Value).unwrap();
    let mut divergence = 0.0;
    for j in 0..4 {
        let (a0, a, b) = (prior_shape(j), prior_shape(j) * shape[(j, 0)], 0.5 * rate[(j, 0)]);
        divergence += (a - a0) * digamma(a) - ln_gamma(a) + ln_gamma(a0) + a0 * (2.0 * b).ln() + a * (0.5 - b) / b;
        for i in j + 1..4 {
            let (m, s) = (mean[(i, j)], deviation[(i, j)]);
            divergence += 0.5 * (m * m + s * s - 1.0 - 2.0 * s.ln());
        }
    }
    let ours = run.scalar(ratio);
    assert!((ours + divergence).abs() < 1e-11 * divergence, "{ours} and {divergence}");

    // A = √δ·F⁻¹L from G = FFᵀ; the densities of A's elements, whose Jacobians cancel
    let l = k.llt(faer::Side::Lower).unwrap().L().to_owned();
    let draws = 40_000;
    let terms: Vec<f64> = (0..draws)
        .map(|n| {
            run.forward(Key::new(2).step(n), Pass::Value).unwrap();
            let f = run.value(gram).llt(faer::Side::Lower).unwrap().L().to_owned();
            let a = faer::Scale(delta.sqrt()) * f.partial_piv_lu().solve(&l);
            let mut log_ratio = 0.0;
            for j in 0..4 {
                let square = a[(j, j)].powi(2);
                let gamma = |a: f64, b: f64| a * b.ln() - ln_gamma(a) + (a - 1.0) * square.ln() - b * square;
                log_ratio += gamma(prior_shape(j), 0.5) - gamma(prior_shape(j) * shape[(j, 0)], 0.5 * rate[(j, 0)]);
                for i in j + 1..4 {
                    let z = (a[(i, j)] - mean[(i, j)]) / deviation[(i, j)];
                    log_ratio += -0.5 * a[(i, j)].powi(2) + 0.5 * z * z + deviation[(i, j)].ln();
                }
            }
            log_ratio
        })
        .collect();
    let average = terms.iter().sum::<f64>() / draws as f64;
    let error = (terms.iter().map(|t| (t - average).powi(2)).sum::<f64>()).sqrt() / draws as f64;
    assert!((average - ours).abs() < 6.0 * error && error < 0.1 * divergence, "{average} ± {error} and {ours}");
}

#[test]
fn gradients_of_the_whitened_posterior() {
    let mut leaves = vec![cases::matrix(1, 3, 4), cases::matrix(2, 3, 3), mat![[1.2]], mat![[0.9]]];
    leaves.extend(away());
    for jointly in [false, true] {
        gradcheck(&leaves, |t, x| {
            let law = WhitenedLaw::new(t, x[4], x[5], x[6], x[7], x[8]);
            everything(t, &law, &x[..2], &x[2..4], jointly)
        })
        .unwrap()
        .assert_below(1e-6);
    }
}

/// Where the input layer starts, Ω is close to the identity, though δ is small.
#[test]
fn a_narrow_start_is_close_to_the_kernel() {
    let process = WhitenedInverseWishart::INPUT;
    let values = process.around(&Mat::identity(5, 5)).unwrap();
    let mut tape = Tape::new("start");
    let shapes = process.parameters(5);
    let nodes: Vec<Node> = shapes.iter().zip(&values).map(|(s, v)| tape.constant(s.rows, s.cols, v)).collect();
    let law = process.law(&mut tape, 5, &nodes);
    let (identity, factor) = super::identity(&mut tape, 5);
    let omega = law.draw_root(&mut tape, identity, factor).gram;
    let mut run = tape.finish().workspace();
    for n in 0..100 {
        run.forward(Key::new(n), Pass::Value).unwrap();
        let distance = (run.value(omega) - Mat::<f64>::identity(5, 5)).norm_max();
        assert!(distance < 0.5, "{distance}");
    }
}
