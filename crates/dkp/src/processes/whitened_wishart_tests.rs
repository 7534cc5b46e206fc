//! The whitened posterior of the Wishart process: the prior's law where it is the prior, its divergence, gradients, and where it starts.

use super::gradient_tests::everything;
use super::prior_tests::assert_wishart_process;
use super::tests::{DRAWS, Extended};
use super::*;
use crate::distributions::constant;
use crate::gram::numbers::{linear_kernel, principal_features};
use crate::kernels::SquaredExponential;
use crate::laws::{assert_mean, assert_same_law};
use dkp_tape::gradcheck::{cases, gradcheck};
use dkp_tape::random::Key;
use dkp_tape::{Pass, Workspace};
use faer::{Mat, MatRef, mat};
use statrs::function::gamma::{digamma, ln_gamma};

/// Parameters at the prior of so many points: shapes, rates, means, deviations.
fn prior(m: usize, width: usize) -> [Mat<f64>; 4] {
    let q = m.min(width);
    [Mat::full(q, 1, 1.0), Mat::full(q, 1, 1.0), Mat::zeros(m, q), Mat::full(m, q, 1.0)]
}

/// The same away from it.
fn away(m: usize, width: usize) -> [Mat<f64>; 4] {
    let q = m.min(width);
    let positive = |seed: u64, rows: usize, cols: usize| {
        let x = cases::matrix(seed, rows, cols);
        Mat::from_fn(rows, cols, |i, j| x[(i, j)].exp())
    };
    [positive(3, q, 1), positive(4, q, 1), cases::matrix(5, m, q), positive(6, m, q)]
}

fn law(tape: &mut Tape, width: usize, parameters: &[Mat<f64>; 4]) -> WhitenedWishartLaw {
    let [shape, rate, mean, deviation] = parameters.each_ref().map(|p| constant(tape, p.as_ref()));
    WhitenedWishartLaw::new(tape, width, shape, rate, mean, deviation)
}

/// Where the posterior is the prior, draws and what extends them are a draw of the Wishart process over all points: widths below, at and
/// above the number of inducing points, with fewer and more features left than data points.
#[test]
fn the_posterior_has_the_priors_law_where_it_is_the_prior() {
    for (m, width) in [(4, 1), (4, 2), (3, 3), (3, 4), (2, 7)] {
        for jointly in [false, true] {
            let place = format!("{m} points, width {width}, jointly {jointly}");
            let mut all = Extended::new(m, 3, jointly, |t| Box::new(law(t, width, &prior(m, width))));
            let which = if jointly { None } else { Some(1) };
            let kernel = all.whole(all.kernel, which);
            let draws = all.draws(which);
            assert_wishart_process(&place, &draws, &kernel, width as f64);
            let others = wishart_draws(&kernel, width);
            let p = kernel.nrows();
            // the last point beside the first and the one before it; and what the points in between say of each other
            for (i, j) in [(0, p - 1), (p - 2, p - 1), (1, p - 2)] {
                let cross = |draws: &[Mat<f64>]| draws.iter().map(|g| g[(i, j)]).collect();
                assert_same_law(&format!("{place}: {i}, {j}"), cross(&draws), cross(&others));
                if width > 1 {
                    let cosine = |g: &Mat<f64>| g[(i, j)] / (g[(i, i)] * g[(j, j)]).sqrt();
                    let cosines = |draws: &[Mat<f64>]| draws.iter().map(cosine).collect();
                    assert_same_law(&format!("{place}: cosine of {i}, {j}"), cosines(&draws), cosines(&others));
                }
            }
        }
    }
}

/// Draws of the Wishart process that is a prior only.
fn wishart_draws(kernel: &Mat<f64>, width: usize) -> Vec<Mat<f64>> {
    let mut tape = Tape::new("prior");
    let node = constant(&mut tape, kernel.as_ref());
    let block = Block::new(&mut tape, node);
    let gram = Wishart { dof: width as f64 }.draw_prior(&mut tape, block).matrix;
    let mut run = tape.finish().workspace();
    let draw = |n: u64| {
        run.forward(Key::new(12).step(n), Pass::Value).unwrap();
        run.value(gram).to_owned()
    };
    (0..DRAWS).map(draw).collect()
}

/// A program that draws G given K = LLᵀ, with nodes of G and of the term of the bound.
fn drawn(width: usize, parameters: &[Mat<f64>; 4], k: &Mat<f64>) -> (Workspace, Node, Node) {
    let mut tape = Tape::new("whitened");
    let law = law(&mut tape, width, parameters);
    let k = constant(&mut tape, k.as_ref());
    let factor = tape.cholesky(k);
    let draw = law.draw_root(&mut tape, k, factor);
    (tape.finish().workspace(), draw.gram, draw.log_ratio.unwrap())
}

/// The first q columns of S's Cholesky factor, S of rank q.
fn trapezoid(s: MatRef<'_, f64>, q: usize) -> Mat<f64> {
    let mut t = Mat::<f64>::zeros(s.nrows(), q);
    for j in 0..q {
        for i in j..s.nrows() {
            let left = s[(i, j)] - (0..j).map(|k| t[(i, k)] * t[(j, k)]).sum::<f64>();
            t[(i, j)] = if i == j { left.sqrt() } else { left / t[(j, j)] };
        }
    }
    t
}

/// The term of the bound is zero at the prior, −KL by the textbook's formulas, and the mean of log P(G) − log Q(G) over draws.
#[test]
fn the_divergence_is_that_of_its_elements_and_of_draws() {
    for (m, width) in [(4, 2), (3, 5)] {
        let x = cases::matrix(1, m, 6);
        let k = &x * x.transpose() + Mat::<f64>::identity(m, m);
        let (mut run, _, ratio) = drawn(width, &prior(m, width), &k);
        run.forward(Key::new(0), Pass::Value).unwrap();
        assert!(run.scalar(ratio).abs() < 1e-12, "{}", run.scalar(ratio));

        let (p, q) = (away(m, width), m.min(width));
        let [shape, rate, mean, deviation] = &p;
        let prior_shape = |j: usize| 0.5 * (width - j) as f64;
        let posterior = |j: usize| (prior_shape(j) * shape[(j, 0)], 0.5 * rate[(j, 0)]);
        let mut divergence = 0.0;
        for j in 0..q {
            let (a0, (a, b)) = (prior_shape(j), posterior(j));
            divergence += (a - a0) * digamma(a) - ln_gamma(a) + ln_gamma(a0) + a0 * (2.0 * b).ln() + a * (0.5 - b) / b;
            for i in j + 1..m {
                let (m, s) = (mean[(i, j)], deviation[(i, j)]);
                divergence += 0.5 * (m * m + s * s - 1.0 - 2.0 * s.ln());
            }
        }
        let (mut run, gram, ratio) = drawn(width, &p, &k);
        run.forward(Key::new(0), Pass::Value).unwrap();
        let ours = run.scalar(ratio);
        assert!((ours + divergence).abs() < 1e-11 * divergence, "{ours} and {divergence}");

        // TTᵀ = N·L⁻¹GL⁻ᵀ; the densities of T's elements, whose Jacobians cancel
        let l = super::tests::inverse(&k.llt(faer::Side::Lower).unwrap().L().to_owned());
        let terms: Vec<f64> = (0..40_000)
            .map(|n| {
                run.forward(Key::new(2).step(n), Pass::Value).unwrap();
                let white = faer::Scale(width as f64) * (&l * run.value(gram) * l.transpose());
                let t = trapezoid(white.as_ref(), q);
                let mut log_ratio = 0.0;
                for j in 0..q {
                    let square = t[(j, j)].powi(2);
                    let gamma = |(a, b): (f64, f64)| a * b.ln() - ln_gamma(a) + (a - 1.0) * square.ln() - b * square;
                    log_ratio += gamma((prior_shape(j), 0.5)) - gamma(posterior(j));
                    for i in j + 1..m {
                        let z = (t[(i, j)] - mean[(i, j)]) / deviation[(i, j)];
                        log_ratio += -0.5 * t[(i, j)].powi(2) + 0.5 * z * z + deviation[(i, j)].ln();
                    }
                }
                log_ratio
            })
            .collect();
        assert_mean(&format!("{m} points, width {width}"), &terms, ours);
    }
}

#[test]
fn gradients_of_the_whitened_wishart_posterior() {
    for (m, width) in [(4, 2), (3, 3), (3, 6)] {
        let mut leaves = vec![cases::matrix(1, 3, m), cases::matrix(2, 3, 3), mat![[1.2]], mat![[0.9]]];
        leaves.extend(away(m, width));
        for jointly in [false, true] {
            gradcheck(&leaves, |t, x| {
                let law = WhitenedWishartLaw::new(t, width, x[4], x[5], x[6], x[7]);
                everything(t, &law, &x[..2], &x[2..4], jointly)
            })
            .unwrap()
            .assert_below(1e-6);
        }
    }
}

/// Where a layer starts, draws are close to the Gram matrix that its kernel sees, or for a narrow layer to what it can hold of that; for
/// widths above that Gram matrix's rank and above the number of points too.
#[test]
fn draws_start_close_to_what_the_kernel_sees() {
    let m = 40;
    let x = cases::matrix(1, 3, m);
    let gram = linear_kernel(&crate::gram::numbers::columns(&x), 3);
    for width in [1, 2, 3, 10, 40, 100] {
        let process = WhitenedWishart { width };
        let parameters = SquaredExponential.start(1.0, 1.0);
        let start = process.start(&Before { kernel: &SquaredExponential, parameters, gram: &gram }).unwrap();
        let mut tape = Tape::new("start");
        let shapes = process.parameters(m);
        let nodes: Vec<Node> = shapes.iter().zip(&start.own).map(|(s, v)| tape.constant(s.rows, s.cols, v)).collect();
        let theta: Vec<Node> = start.kernel.iter().map(|&v| tape.number(v)).collect();
        let seen = constant(&mut tape, gram.as_ref());
        let kernel = Block::new(&mut tape, seen).kernel(&mut tape, &SquaredExponential, &theta);
        let law = process.law(&mut tape, m, &nodes);
        let drawn = law.draw(&mut tape, kernel).gram.matrix;
        let mut run = tape.finish().workspace();
        let features = principal_features(&gram, width).unwrap();
        let wanted = faer::Scale(1.0 / width as f64) * (&features * features.transpose());
        let distance = |g: &Mat<f64>| (g - &wanted).norm_l2() / wanted.norm_l2();
        let draws: Vec<Mat<f64>> = (0..200)
            .map(|n| {
                run.forward(Key::new(n), Pass::Value).unwrap();
                run.value(drawn).to_owned()
            })
            .collect();
        let mean = draws.iter().fold(Mat::zeros(m, m), |sum: Mat<f64>, g| sum + faer::Scale(1.0 / 200.0) * g);
        let typical = draws.iter().map(distance).sum::<f64>() / 200.0;
        let found = [distance(&start.gram), distance(&mean), typical];
        // each feature is as noisy for any width, and their noises average out
        let narrow = 0.6 / (width as f64).sqrt();
        assert!(found[0] < 0.1 && found[1] < 0.1 && found[2] < narrow, "width {width}: {found:?}");
    }
}
