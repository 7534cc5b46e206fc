//! Every process and every input layer against finite differences, in parameters and inputs alike.

use super::tests::noise_root;
use super::*;
use crate::gram::DataBlock;
use crate::kernels::{Relu, SquaredExponential};
use crate::output::Posterior;
use dkp_tape::gradcheck::{cases, gradcheck};
use faer::{Mat, mat};

/// Everything that a process does, as one matrix: both blocks, and its term of the bound.
pub(super) fn everything(tape: &mut Tape, process: &dyn Law, x: &[Node], theta: &[Node], jointly: bool) -> Node {
    tape.points(x[1].cols());
    let ii = Block::from_features(tape, x[0]);
    let gram = if jointly {
        Gram::from_features_jointly(tape, ii, x[0], x[1])
    } else {
        Gram::from_features(tape, ii, x[0], x[1])
    };
    let k_ii = ii.kernel(tape, &SquaredExponential, theta);
    let kernel = gram.kernel(tape, k_ii, &SquaredExponential, theta);
    let draw = process.draw(tape, k_ii);
    let result = draw.extension.extend(tape, kernel);
    combine(tape, &result, draw.log_ratio)
}

fn combine(tape: &mut Tape, gram: &Gram, log_ratio: Option<Node>) -> Node {
    let product = tape.matmul(gram.ii.matrix, gram.ti.t());
    let all = match gram.tt {
        DataBlock::Diagonal(tt) => tape.scale_columns(product, tt),
        DataBlock::Full(tt) => tape.matmul(product, tt),
    };
    let Some(log_ratio) = log_ratio else { return all };
    let ones = tape.constant(all.rows(), all.cols(), &vec![1.0; all.len()]);
    let spread = tape.scale(log_ratio, ones);
    tape.add(all, spread)
}

#[test]
fn gradients_of_the_inverse_wishart_process() {
    let (m, b) = (5, 3);
    let leaves = [
        cases::matrix(1, 3, m),
        cases::matrix(2, 3, b),
        mat![[1.2]],
        mat![[0.9]],
        mat![[3.3]],
        mat![[2.1]],
        cases::matrix(4, m, m + 1),
    ];
    for jointly in [false, true] {
        gradcheck(&leaves, |t, x| {
            let process = InverseWishartLaw::posterior(t, x[4], x[5], x[6]);
            everything(t, &process, &x[..2], &x[2..4], jointly)
        })
        .unwrap()
        .assert_below(1e-6);
        gradcheck(&leaves[..5], |t, x| {
            let process = InverseWishartLaw::prior(t, x[4], m);
            everything(t, &process, &x[..2], &x[2..4], jointly)
        })
        .unwrap()
        .assert_below(1e-6);
    }
}

#[test]
fn gradients_of_the_features_process() {
    let (m, b) = (5, 3);
    let leaves = [
        cases::matrix(1, 3, m),
        cases::matrix(2, 3, b),
        mat![[1.2]],
        mat![[0.9]],
        cases::matrix(4, m, 2),
        cases::matrix(5, m, m),
        cases::matrix(6, m, m),
    ];
    for jointly in [false, true] {
        for roots in [1, 2] {
            gradcheck(&leaves[..5 + roots], |t, x| {
                let roots: Vec<_> = x[5..].iter().map(|&r| noise_root(t, r)).collect();
                let posterior = Posterior::new(t, x[4], &roots);
                everything(t, &GaussianFeaturesLaw::posterior(posterior), &x[..2], &x[2..4], jointly)
            })
            .unwrap()
            .assert_below(1e-6);
        }
        gradcheck(&leaves[..4], |t, x| everything(t, &GaussianFeaturesLaw::prior(4), &x[..2], &x[2..4], jointly))
            .unwrap()
            .assert_below(1e-6);
        gradcheck(&leaves[..4], |t, x| everything(t, &Deterministic, &x[..2], &x[2..4], jointly))
            .unwrap()
            .assert_below(1e-6);
    }
}

#[test]
fn gradients_of_processes_that_are_priors_only() {
    let leaves = [cases::matrix(1, 3, 5)];
    let check = |process: &dyn PriorProcess| {
        gradcheck(&leaves, |t, x| {
            let (g, one) = (Block::from_features(t, x[0]), t.number(0.3));
            let k = g.kernel(t, &Relu, &[]);
            let k = t.add_diagonal(k.matrix, one);
            let k = Block::new(t, k);
            process.draw_prior(t, k).matrix
        })
        .unwrap()
        .assert_below(1e-6);
    };
    check(&Wishart { dof: 6.5 });
    check(&Wishart { dof: 2.0 });
    check(&FiniteNetwork { width: 4 });
    check(&ResidualWishart { alpha: 0.6 });
}

#[test]
fn gradients_of_every_input_layer() {
    // enough features for the linear kernel over all points to have full rank
    let (features, m, b) = (6, 3, 2);
    let leaves = [
        cases::matrix(1, features, m),
        cases::matrix(2, features, b),
        mat![[3.3]],
        mat![[2.1]],
        cases::matrix(4, features, 3),
        cases::matrix(5, m, 3),
        cases::matrix(6, features, 1),
        cases::matrix(7, features, 1),
    ];
    for (jointly, scaled) in [(false, false), (true, false), (false, true), (true, true)] {
        for form in ["fixed", "omega", "gram", "wishart"] {
            let mut used = match form {
                "omega" => vec![0, 1, 2, 3, 4],
                "gram" => vec![0, 1, 2, 3, 5],
                _ => vec![0, 1],
            };
            used.extend(if scaled { &[6, 7][..] } else { &[] });
            let leaves: Vec<Mat<f64>> = used.iter().map(|&i| leaves[i].clone()).collect();
            gradcheck(&leaves, |t, x| {
                t.points(b);
                let input: Input<Box<dyn Law>> = match form {
                    "fixed" => Input::Fixed,
                    "wishart" => Input::Omega(Box::new(GaussianFeaturesLaw::prior(3))),
                    "omega" => Input::Omega(Box::new(InverseWishartLaw::posterior(t, x[2], x[3], x[4]))),
                    _ => Input::Gram(Box::new(InverseWishartLaw::posterior(t, x[2], x[3], x[4]))),
                };
                let scaling = scaled.then(|| Scaling { scale: x[x.len() - 2], bias: x[x.len() - 1] });
                let draw = input.draw(t, scaling, x[0]);
                let gram = if jointly { draw.extend_jointly(t, x[1]) } else { draw.extend(t, x[1]) };
                combine(t, &gram, draw.log_ratio)
            })
            .unwrap()
            .assert_below(1e-6);
        }
    }
}
