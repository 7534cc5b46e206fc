//! Posteriors of processes: their laws, and their terms of the bound.

use super::tests::{DELTA, DRAWS, assert_inverse_wishart, inverse, noise_root};
use super::*;
use crate::distributions::{self, MatrixDistribution as _};
use crate::gram::DataBlock;
use crate::kernels::SquaredExponential;
use crate::laws::assert_mean;
use crate::output::Posterior;
use dkp_tape::Pass;
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use faer::Mat;

/// Prior and posterior of Σ given data V, γ columns: W⁻¹(δS₀, δ+P+1) and W⁻¹(δS₀ + VVᵀ, δ+P+1+γ).
fn conjugate_pair(tape: &mut Tape, s0: &Mat<f64>, v: Node, gamma: f64) -> [distributions::InverseWishart; 2] {
    let p = s0.nrows();
    let nu = DELTA + p as f64 + 1.0;
    let (s0, update) = (distributions::constant(tape, s0.as_ref()), tape.symmetric_product(v));
    let psi = tape.affine(s0, DELTA, 0.0);
    let updated = tape.add(psi, update);
    [(psi, nu), (updated, nu + gamma)].map(|(scale, nu)| {
        let nu = tape.number(nu);
        let dof = distributions::DegreesOfFreedom::new(tape, nu, p);
        distributions::InverseWishart { scale: tape.cholesky(scale), dof }
    })
}

/// p(V|Σ)p(Σ)/p(Σ|V) is log p(V) for every Σ, where γ is the number of columns of V; p(V) is a matrix-t.
#[test]
fn conjugacy_holds_to_rounding() {
    for (p, columns) in [(1, 1), (3, 2), (6, 9), (25, 25)] {
        let mut tape = Tape::new("conjugacy");
        let x = cases::matrix(1, p, 2 * p);
        let s0 = &x * x.transpose();
        let v_values = cases::matrix(2, p, columns);
        let v = distributions::constant(&mut tape, v_values.as_ref());
        let [prior, posterior] = conjugate_pair(&mut tape, &s0, v, columns as f64);
        let draw = posterior.draw_root(&mut tape);
        let log_prior = prior.log_density_of_draw(&mut tape, &posterior, &draw);
        let log_posterior = posterior.log_density_of_own(&mut tape, &draw);
        // log p(V|Σ)
        let sigma = tape.symmetric_product_lower(draw.root);
        let (rows, one) = (tape.cholesky(sigma), tape.number(1.0));
        let zero = tape.constant(p, columns, &vec![0.0; p * columns]);
        let identity = tape.constant(columns, columns, &vec![0.0; columns * columns]);
        let identity = tape.add_diagonal(identity, one);
        let normal = distributions::MatrixNormal { mean: zero, rows, columns: tape.cholesky(identity) };
        let log_likelihood = normal.log_density(&mut tape, v);
        let joint = tape.add(log_likelihood, log_prior);
        let evidence = tape.subtract(joint, log_posterior);
        let mut run = tape.finish().workspace();
        // log p(V) = log Γ_P((ν+C)/2) − log Γ_P(ν/2) − PC/2·log π + ν/2·log|Ψ| − (ν+C)/2·log|Ψ + VVᵀ|
        let nu = DELTA + p as f64 + 1.0;
        let ln_gamma_p = |a: f64| (0..p).map(|j| dkp_tape::math::ln_gamma(a - 0.5 * j as f64)).sum::<f64>();
        let psi = faer::Scale(DELTA) * &s0;
        let updated = &psi + &v_values * v_values.transpose();
        let c = columns as f64;
        let expected =
            ln_gamma_p(0.5 * (nu + c)) - ln_gamma_p(0.5 * nu) - 0.5 * p as f64 * c * std::f64::consts::PI.ln()
                + 0.5 * nu * psi.determinant().ln()
                - 0.5 * (nu + c) * updated.determinant().ln();
        for n in 0..50 {
            run.forward(Key::new(n), Pass::Value).unwrap();
            let ours = run.scalar(evidence);
            assert!(
                (ours - expected).abs() < 1e-11 * expected.abs().max(p as f64),
                "{p}, {columns}: {ours} and {expected}"
            );
        }
    }
}

/// KL(Q‖P) = E log Q(G)/P(G), over 100,000 draws from Q.
#[test]
fn the_divergence_is_the_mean_log_ratio_of_draws() {
    let mut tape = Tape::new("divergence");
    let x = cases::matrix(1, 4, 8);
    let v = distributions::constant(&mut tape, cases::matrix(2, 4, 3).as_ref());
    let [prior, posterior] = conjugate_pair(&mut tape, &(&x * x.transpose()), v, 1.7);
    // the prior as a third of its scale, three times
    let (three, third) = (tape.number(3.0), tape.number((1.0_f64 / 3.0).sqrt()));
    let part = distributions::InverseWishart { scale: tape.scale_lower(third, prior.scale), ..prior };
    let divergence = posterior.divergence_from(&mut tape, &part, three);
    let draw = posterior.draw_root(&mut tape);
    let log_p = prior.log_density_of_draw(&mut tape, &posterior, &draw);
    let log_q = posterior.log_density_of_own(&mut tape, &draw);
    let ratio = tape.subtract(log_q, log_p);
    let mut run = tape.finish().workspace();
    let sample = |n: u64| {
        run.forward(Key::new(2).step(n), Pass::Value).unwrap();
        run.scalar(ratio)
    };
    let ratios: Vec<f64> = (0..DRAWS).map(sample).collect();
    assert_mean("divergence", &ratios, run.scalar(divergence));
}

/// The posterior that a process draws from, W⁻¹(δK + VVᵀ, δ+γ+M+1), and its term of the bound, by the dense formula
/// KL = ½[ν_q·tr(Ψ_pΨ_q⁻¹) − ν_qP − ν_p·log|Ψ_pΨ_q⁻¹| + γ·ψ_P(ν_q/2)] + log Γ_P(ν_p/2) − log Γ_P(ν_q/2).
#[test]
fn the_posterior_has_its_law_and_its_divergence() {
    let (m, gamma) = (3, 1.6);
    let v = cases::matrix(9, m, 2);
    let mut tape = Tape::new("posterior");
    let x = cases::matrix(1, m, 5);
    let kernel = &x * x.transpose();
    let node = distributions::constant(&mut tape, kernel.as_ref());
    let block = Block::new(&mut tape, node);
    let (delta, gamma_node, v_node) =
        (tape.number(DELTA), tape.number(gamma), distributions::constant(&mut tape, v.as_ref()));
    let draw = InverseWishartLaw::posterior(&mut tape, delta, gamma_node, v_node).draw(&mut tape, block);
    let mut run = tape.finish().workspace();
    let sample = |n: u64| {
        run.forward(Key::new(5).step(n), Pass::Value).unwrap();
        run.value(draw.gram.matrix).to_owned()
    };
    let draws: Vec<Mat<f64>> = (0..DRAWS).map(sample).collect();
    let white = |i: usize, j: usize| if i == j { 1.0 + crate::gram::white::WHITE } else { 1.0 };
    let psi_p = Mat::from_fn(m, m, |i, j| DELTA * kernel[(i, j)] * white(i, j));
    let psi_q = &psi_p + &v * v.transpose();
    let p = m as f64;
    let (nu_p, nu_q) = (DELTA + p + 1.0, DELTA + gamma + p + 1.0);
    assert_inverse_wishart("posterior", &draws, &psi_q, nu_q);
    let ratio = &psi_p * inverse(&psi_q);
    let trace: f64 = (0..m).map(|i| ratio[(i, i)]).sum();
    let sum = |f: fn(f64) -> f64, nu: f64| (0..m).map(|j| f(0.5 * (nu - j as f64))).sum::<f64>();
    let (ln_gamma, digamma) = (dkp_tape::math::ln_gamma, dkp_tape::math::digamma);
    let divergence = 0.5 * (nu_q * trace - nu_q * p - nu_p * ratio.determinant().ln() + gamma * sum(digamma, nu_q))
        + sum(ln_gamma, nu_p)
        - sum(ln_gamma, nu_q);
    let ours = run.scalar(draw.log_ratio.unwrap());
    assert!((ours + divergence).abs() < 1e-12 * divergence, "{ours} and −{divergence}");
}

/// Features from a posterior, extended to a data point, have the moments of the Gaussian posterior there: E G_tt is the mean of m² + s over
/// features, each with a noise of its own; and their term of the bound is its divergence.
#[test]
fn posterior_features_have_the_moments_of_their_posterior() {
    for (jointly, width) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
        let (m, b) = (3, 2);
        let mut tape = Tape::new("features");
        tape.points(b);
        let (xi, xt) = (cases::matrix(1, 2, m), cases::matrix(2, 2, b));
        let nodes = [&xi, &xt].map(|x| distributions::constant(&mut tape, x.as_ref()));
        let theta = [tape.number(1.1), tape.number(0.9)];
        let ii = Block::from_features(&mut tape, nodes[0]);
        let one_by_one = Gram::from_features(&mut tape, ii, nodes[0], nodes[1]);
        let joint = Gram::from_features_jointly(&mut tape, ii, nodes[0], nodes[1]);
        let k_ii = ii.kernel(&mut tape, &SquaredExponential, &theta);
        let kernel = one_by_one.kernel(&mut tape, k_ii, &SquaredExponential, &theta);
        let joint = joint.kernel(&mut tape, k_ii, &SquaredExponential, &theta);
        let v = distributions::constant(&mut tape, cases::matrix(3, m, width).as_ref());
        let root = |seed: usize| {
            let t = distributions::constant(&mut tape, cases::matrix(4 + seed as u64, m, m).as_ref());
            noise_root(&mut tape, t)
        };
        let roots: Vec<_> = (0..width).map(root).collect();
        let posterior = Posterior::new(&mut tape, v, &roots);
        let noisy = crate::gram::white::noisy(&mut tape, k_ii);
        let noisy = Block::new(&mut tape, noisy);
        let given = posterior.given(&mut tape, noisy);
        let (mean, variance) = given.marginals(&mut tape, &kernel);
        let draw = GaussianFeaturesLaw::posterior(posterior).draw(&mut tape, k_ii);
        let result = draw.extension.extend(&mut tape, if jointly { joint } else { kernel });
        let (DataBlock::Diagonal(tt) | DataBlock::Full(tt)) = result.tt;
        let mut run = tape.finish().workspace();
        run.set_point_ids(&[0, 1]);
        let mut samples = vec![Vec::new(); b];
        for n in 0..DRAWS {
            run.forward(Key::new(2).step(n), Pass::Value).unwrap();
            let value = run.value(tt);
            (0..b).for_each(|j| samples[j].push(value[(if jointly { j } else { 0 }, j)]));
        }
        for (j, samples) in samples.iter().enumerate() {
            let (mean, variance) = (run.value(mean).col(j), run.value(variance).col(j));
            // f ~ N(m, s): (f − m)² is not seen, but f²/s is a noncentral χ², whose mean fixes m² + s
            let square = (mean.squared_norm_l2() + variance.sum()) / width as f64;
            assert_mean("G_tt", samples, square);
        }
        assert_eq!(run.scalar(draw.log_ratio.unwrap()), -run.scalar(given.divergence));
    }
}

/// Inducing points that coincide, for V too, beside a VVᵀ that is a million times K: the white noise in K is enough.
#[test]
fn a_large_update_needs_no_jitter() {
    let m = 6;
    let mut tape = Tape::new("update");
    let twice = |m: usize, n: usize| if n == m - 1 { 0 } else { n };
    let (x, v) = (cases::matrix(1, 2, m), cases::matrix(2, m, 1));
    let xi = Mat::from_fn(2, m, |i, n| x[(i, twice(m, n))]);
    let v = Mat::from_fn(m, 1, |n, _| 1e3 * v[(twice(m, n), 0)]);
    let [xi, v] = [xi, v].map(|c| distributions::constant(&mut tape, c.as_ref()));
    let theta = [tape.number(1.1), tape.number(0.9)];
    let k_ii = Block::from_features(&mut tape, xi).kernel(&mut tape, &crate::kernels::Matern12, &theta);
    let (delta, gamma) = (tape.number(3.0), tape.number(2.0));
    InverseWishartLaw::posterior(&mut tape, delta, gamma, v).draw(&mut tape, k_ii);
    let mut run = tape.finish().workspace();
    run.forward(Key::new(0), Pass::Value).unwrap();
    assert_eq!(run.jitter().count, 0);
}
