//! The laws that make these processes: conjugacy, consistency, and the law of extended draws.

use super::*;
use crate::distributions::{self, MatrixDistribution as _};
use crate::gram::DataBlock;
use crate::kernels::SquaredExponential;
use crate::laws::{assert_law, assert_mean, assert_same_law, chi_squared_cdf};
use crate::output::Posterior;
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use dkp_tape::{Pass, Workspace};
use faer::Mat;
use faer::linalg::solvers::DenseSolveCore as _;

/// Draws for a comparison of laws.
const DRAWS: u64 = 100_000;
const DELTA: f64 = 2.5;

fn inverse(m: &Mat<f64>) -> Mat<f64> {
    m.partial_piv_lu().inverse()
}

/// Σ cᵢcⱼSᵢⱼ for fixed c, different in every element.
fn quadratic(s: &Mat<f64>) -> f64 {
    let c = |i: usize| 1.0 + (2.0 * i as f64).cos();
    (0..s.nrows()).flat_map(|i| (0..s.ncols()).map(move |j| (i, j))).map(|(i, j)| c(i) * s[(i, j)] * c(j)).sum()
}

/// A lower-triangular node from any square one.
pub(super) fn noise_root(tape: &mut Tape, m: Node) -> dkp_tape::Lower {
    let diagonal = tape.diagonal(m);
    let squared = tape.square(diagonal);
    let diagonal = tape.affine(squared, 1.0, 0.3);
    tape.lower(diagonal, m)
}

/// A program over some inducing and data points in the plane, with the kernel that the process sees.
struct Extended {
    run: Workspace,
    kernel: [Node; 3],
    gram: [Node; 3],
}

impl Extended {
    /// M inducing and B data points, one by one or jointly. Inducing point i is at `place(i)`, data point j at `place(10 + j)`.
    fn new(m: usize, b: usize, jointly: bool, process: impl FnOnce(&mut Tape) -> Box<dyn Process>) -> Extended {
        let place = |i: usize| [(1.3 * i as f64).sin(), (0.7 * i as f64).cos()];
        let mut tape = Tape::new("extension");
        tape.points(b);
        let inducing: Vec<f64> = (0..m).flat_map(place).collect();
        let data: Vec<f64> = (10..10 + b).flat_map(place).collect();
        let (xi, xt) = (tape.constant(2, m, &inducing), tape.constant(2, b, &data));
        let theta = [tape.number(1.1), tape.number(0.9)];
        let ii = Block::from_features(&mut tape, xi);
        let gram = if jointly {
            Gram::from_features_jointly(&mut tape, ii, xi, xt)
        } else {
            Gram::from_features(&mut tape, ii, xi, xt)
        };
        let k_ii = ii.kernel(&mut tape, &SquaredExponential, &theta);
        let kernel = gram.kernel(&mut tape, k_ii, &SquaredExponential, &theta);
        let draw = process(&mut tape).draw(&mut tape, k_ii);
        let gram = draw.extension.extend(&mut tape, kernel);
        let nodes = |g: &Gram| {
            [
                g.ii.matrix,
                g.ti,
                match g.tt {
                    DataBlock::Diagonal(n) | DataBlock::Full(n) => n,
                },
            ]
        };
        let (kernel, gram) = (nodes(&kernel), nodes(&gram));
        let mut run = tape.finish().workspace();
        run.set_point_ids(&(0..b as u64).collect::<Vec<_>>());
        run.forward(Key::new(0), Pass::Value).unwrap();
        Extended { run, kernel, gram }
    }

    /// The matrix over inducing points and either data point `j` alone, or all of them.
    fn whole(&self, nodes: [Node; 3], j: Option<usize>) -> Mat<f64> {
        let [ii, ti, tt] = nodes.map(|n| self.run.value(n));
        let (m, b) = (ti.ncols(), j.map_or(ti.nrows(), |_| 1));
        let column = |t: usize| j.unwrap_or(t);
        Mat::from_fn(m + b, m + b, |r, c| match (r < m, c < m) {
            (true, true) => ii[(r, c)],
            (true, false) => ti[(column(c - m), r)],
            (false, true) => ti[(column(r - m), c)],
            (false, false) if j.is_some() => tt[(0, column(0))],
            (false, false) => tt[(r - m, c - m)],
        })
    }

    fn draws(&mut self, j: Option<usize>) -> Vec<Mat<f64>> {
        let draw = |n: u64| {
            self.run.forward(Key::new(11).step(n), Pass::Value).unwrap();
            self.whole(self.gram, j)
        };
        (0..DRAWS).map(draw).collect()
    }
}

/// Fails unless the draws are from W⁻¹(Ψ, ν): for every c, cᵀΨc/cᵀGc ~ χ²(ν−P+1), and cᵀG⁻¹c/cᵀΨ⁻¹c ~ χ²(ν).
fn assert_inverse_wishart(what: &str, draws: &[Mat<f64>], psi: &Mat<f64>, nu: f64) {
    let p = psi.nrows();
    let psi_inverse = inverse(psi);
    let forms = draws.iter().map(|g| quadratic(psi) / quadratic(g)).collect();
    assert_law(&format!("{what}, quadratic form"), forms, |x| chi_squared_cdf(nu - p as f64 + 1.0, x));
    let inverses: Vec<Mat<f64>> = draws.iter().map(inverse).collect();
    let forms = inverses.iter().map(|g| quadratic(g) / quadratic(&psi_inverse)).collect();
    assert_law(&format!("{what}, inverse's form"), forms, |x| chi_squared_cdf(nu, x));
    // each point given all others
    for i in [0, p - 1] {
        let samples = inverses.iter().map(|g| g[(i, i)] / psi_inverse[(i, i)]).collect();
        assert_law(&format!("{what}, point {i}"), samples, |x| chi_squared_cdf(nu, x));
    }
}

/// Fails unless the draws are from W⁻¹(δK, δ+P+1).
fn assert_inverse_wishart_process(what: &str, draws: &[Mat<f64>], kernel: &Mat<f64>) {
    assert_inverse_wishart(what, draws, &(faer::Scale(DELTA) * kernel), DELTA + kernel.nrows() as f64 + 1.0);
}

fn inverse_wishart_prior(m: usize) -> impl FnOnce(&mut Tape) -> Box<dyn Process> {
    move |tape| {
        let delta = tape.number(DELTA);
        Box::new(InverseWishart::prior(tape, delta, m))
    }
}

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
        let sigma = tape.lower_square(draw.root);
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
    let draw = InverseWishart::posterior(&mut tape, delta, gamma_node, v_node).draw(&mut tape, block);
    let mut run = tape.finish().workspace();
    let sample = |n: u64| {
        run.forward(Key::new(5).step(n), Pass::Value).unwrap();
        run.value(draw.gram.matrix).to_owned()
    };
    let draws: Vec<Mat<f64>> = (0..DRAWS).map(sample).collect();
    let white = |i: usize, j: usize| if i == j { 1.0 + super::white::WHITE } else { 1.0 };
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

/// Features from a posterior, extended to a data point, have the moments of the Gaussian posterior there: E G_tt = m² + s and
/// E G_ti = E f_t·f_i, for one feature; and their term of the bound is its divergence.
#[test]
fn posterior_features_have_the_moments_of_their_posterior() {
    for jointly in [false, true] {
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
        let (v, t) = (cases::matrix(3, m, 1), cases::matrix(4, m, m));
        let (v, t) = (distributions::constant(&mut tape, v.as_ref()), distributions::constant(&mut tape, t.as_ref()));
        let t = noise_root(&mut tape, t);
        let posterior = Posterior::new(&mut tape, v, &[t]);
        let noisy = super::white::noisy(&mut tape, k_ii);
        let noisy = Block::new(&mut tape, noisy);
        let given = posterior.given(&mut tape, noisy);
        let (mean, variance) = given.marginals(&mut tape, &kernel);
        let draw = Features::posterior(posterior).draw(&mut tape, k_ii);
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
            let (mean, variance) = (run.value(mean)[(0, j)], run.value(variance)[(0, j)]);
            // f ~ N(m, s): (f − m)² is not seen, but f²/s is a noncentral χ², whose mean fixes m² + s
            assert_mean("G_tt", samples, mean * mean + variance);
        }
        assert_eq!(run.scalar(draw.log_ratio.unwrap()), -run.scalar(given.divergence));
    }
}

/// G over inducing and data points is XᵀΩX/N₀, and the Gram form extended by a point has the law of the process.
#[test]
fn input_layers_extend_to_data_points() {
    let (features, m, b) = (4, 3, 2);
    let (xi, xt) = (cases::matrix(1, features, m), cases::matrix(2, features, b));
    for form in ["fixed", "omega", "wishart", "gram"] {
        for jointly in [false, true] {
            let mut tape = Tape::new("input");
            tape.points(b);
            let nodes = [&xi, &xt].map(|x| distributions::constant(&mut tape, x.as_ref()));
            let delta = tape.number(DELTA);
            let input = match form {
                "fixed" => Input::Fixed,
                "wishart" => Input::Wishart { width: 3 },
                "omega" => Input::Omega(InverseWishart::prior(&mut tape, delta, features)),
                _ => Input::Gram(InverseWishart::prior(&mut tape, delta, m)),
            };
            let draw = input.draw(&mut tape, nodes[0]);
            let gram = match jointly {
                true => draw.extend_jointly(&mut tape, nodes[1]),
                false => draw.extend(&mut tape, nodes[1]),
            };
            let (DataBlock::Diagonal(tt) | DataBlock::Full(tt)) = gram.tt;
            let mut run = tape.finish().workspace();
            run.set_point_ids(&[0, 1]);
            run.forward(Key::new(1), Pass::Value).unwrap();
            if form == "gram" {
                let nodes = [gram.ii.matrix, gram.ti, tt];
                let mut all = Extended { run, kernel: nodes, gram: nodes };
                let which = if jointly { None } else { Some(1) };
                let x = Mat::from_fn(features, m + 1, |i, n| {
                    if n < m { xi[(i, n)] } else { xt[(i, if jointly { 0 } else { 1 })] }
                });
                let kernel = faer::Scale(0.25) * (x.transpose() * &x);
                let part = |g: &Mat<f64>| Mat::from_fn(m + 1, m + 1, |i, j| g[(i, j)]);
                let draws: Vec<Mat<f64>> = all.draws(which).iter().map(part).collect();
                assert_inverse_wishart_process("Gram form", &draws, &kernel);
                continue;
            }
            let omega = draw.omega.map_or(Mat::identity(features, features), |o| run.value(o).to_owned());
            let expected = |a: &Mat<f64>, b: &Mat<f64>| faer::Scale(0.25) * (a.transpose() * &omega * b);
            let close = |ours: faer::MatRef<'_, f64>, expected: &Mat<f64>| {
                (ours - expected).norm_max() < 1e-12 * expected.norm_max()
            };
            assert!(close(run.value(gram.ii.matrix), &expected(&xi, &xi)), "{form}");
            assert!(close(run.value(gram.ti), &expected(&xt, &xi)), "{form}");
            let data = expected(&xt, &xt);
            let data = if jointly { data } else { Mat::from_fn(1, b, |_, j| data[(j, j)]) };
            assert!(close(run.value(tt), &data), "{form}");
        }
    }
}

/// Data points that are inducing points, and inducing points that coincide: draws that are finite and close to what they repeat; the
/// white noise in the kernel makes jitter needless.
#[test]
fn coincident_points_are_no_trouble() {
    for process in ["inverse Wishart", "features"] {
        for (jointly, twice) in [(false, false), (true, false), (false, true), (true, true)] {
            let (m, b) = (6, 4);
            let mut tape = Tape::new("coincident");
            tape.points(b);
            let x = cases::matrix(1, 2, m);
            // of the inducing points the last repeats the first, or none does
            let xi = Mat::from_fn(2, m, |i, n| x[(i, if twice && n == m - 1 { 0 } else { n })]);
            let xt = Mat::from_fn(2, b, |i, n| xi[(i, n)]);
            let nodes = [&xi, &xt].map(|x| distributions::constant(&mut tape, x.as_ref()));
            let theta = [tape.number(1.1), tape.number(0.9)];
            let ii = Block::from_features(&mut tape, nodes[0]);
            let gram = match jointly {
                true => Gram::from_features_jointly(&mut tape, ii, nodes[0], nodes[1]),
                false => Gram::from_features(&mut tape, ii, nodes[0], nodes[1]),
            };
            let k_ii = ii.kernel(&mut tape, &crate::kernels::Matern12, &theta);
            let kernel = gram.kernel(&mut tape, k_ii, &crate::kernels::Matern12, &theta);
            let draw = match process {
                "features" => Features::prior(6).draw(&mut tape, k_ii),
                _ => inverse_wishart_prior(m)(&mut tape).draw(&mut tape, k_ii),
            };
            let result = draw.extension.extend(&mut tape, kernel);
            let mut run = tape.finish().workspace();
            run.set_point_ids(&[0, 1, 2, 3]);
            for n in 0..50 {
                run.forward(Key::new(n), Pass::Value).unwrap_or_else(|e| panic!("{process}, {jointly}, {twice}: {e}"));
                let (g_ii, g_ti) = (run.value(result.ii.matrix), run.value(result.ti));
                for (i, j) in (0..m).flat_map(|i| (0..b).map(move |j| (i, j))) {
                    let scale = (g_ii[(i, i)] * g_ii[(j, j)]).sqrt();
                    assert!((g_ti[(j, i)] - g_ii[(i, j)]).abs() < 2e-2 * scale, "{process}, {jointly}, {twice}");
                }
                let jitter = run.jitter();
                assert_eq!(jitter.count, 0, "{process}, {jointly}, {twice}: {jitter:?}");
            }
        }
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
    InverseWishart::posterior(&mut tape, delta, gamma, v).draw(&mut tape, k_ii);
    let mut run = tape.finish().workspace();
    run.forward(Key::new(0), Pass::Value).unwrap();
    assert_eq!(run.jitter().count, 0);
}

#[test]
fn extending_by_one_point_has_the_law_of_the_joint_draw() {
    let mut one = Extended::new(3, 1, false, inverse_wishart_prior(3));
    let kernel = one.whole(one.kernel, Some(0));
    assert_inverse_wishart_process("one point", &one.draws(Some(0)), &kernel);
}

/// Fails if the number of points that are extended together enters the degrees of freedom.
#[test]
fn the_batch_size_does_not_change_a_points_law() {
    let mut many = Extended::new(3, 6, false, inverse_wishart_prior(3));
    for j in [0, 5] {
        let kernel = many.whole(many.kernel, Some(j));
        assert_inverse_wishart_process(&format!("point {j} of 6"), &many.draws(Some(j)), &kernel);
    }
}

#[test]
fn extending_jointly_has_the_law_of_the_joint_draw() {
    let mut joint = Extended::new(2, 3, true, inverse_wishart_prior(2));
    let kernel = joint.whole(joint.kernel, None);
    let draws = joint.draws(None);
    assert_inverse_wishart_process("three points jointly", &draws, &kernel);
    // and its one-point marginals are those of the extension by one point
    let part = |m: &Mat<f64>| Mat::from_fn(3, 3, |i, j| m[(i, j)]);
    let marginals: Vec<Mat<f64>> = draws.iter().map(part).collect();
    assert_inverse_wishart_process("its first point", &marginals, &part(&kernel));
}

#[test]
fn submatrices_and_permutations_of_a_draw_have_the_process_law() {
    let mut all = Extended::new(5, 1, false, inverse_wishart_prior(5));
    let order = [3, 0, 4];
    let kernel = all.whole(all.kernel, Some(0));
    let part = |m: &Mat<f64>| Mat::from_fn(3, 3, |i, j| m[(order[i], order[j])]);
    let draws: Vec<Mat<f64>> = all.draws(Some(0)).iter().map(part).collect();
    assert_inverse_wishart_process("points 3, 0, 4 of 6", &draws, &part(&kernel));
}

/// Fails unless the draws are from W(K/N, N): N·cᵀGc/cᵀKc ~ χ²(N).
fn assert_wishart_process(what: &str, draws: &[Mat<f64>], kernel: &Mat<f64>, n: f64) {
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
    let (kernel, by_features) = prior_draws(Features::prior(5));
    let (_, by_bartlett) = prior_draws(Wishart::new(5.0));
    assert_wishart_process("features", &by_features, &kernel, 5.0);
    assert_wishart_process("Bartlett", &by_bartlett, &kernel, 5.0);
    let determinants = |draws: &[Mat<f64>]| draws.iter().map(|g| g.determinant().ln()).collect();
    assert_same_law("log-determinant", determinants(&by_features), determinants(&by_bartlett));
    // below the number of points, where the Wishart is singular
    let (_, singular) = prior_draws(Wishart::new(2.0));
    assert_wishart_process("singular", &singular, &kernel, 2.0);
    let (_, singular) = prior_draws(Features::prior(2));
    assert_wishart_process("two features", &singular, &kernel, 2.0);
}

#[test]
fn extended_features_have_the_law_of_the_wishart_process() {
    for jointly in [false, true] {
        let mut all = Extended::new(2, 3, jointly, |_| Box::new(Features::prior(4)));
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
    let (kernel, narrow) = prior_draws(FiniteNetwork::new(3));
    let expected = relu(&kernel);
    for i in 0..3 {
        for j in 0..=i {
            let elements: Vec<f64> = narrow.iter().map(|k| k[(i, j)]).collect();
            assert_mean(&format!("element {i}, {j}"), &elements, expected[(i, j)]);
        }
    }
    let error = |width: usize| {
        let (_, draws) = some_prior_draws(FiniteNetwork::new(width), 20);
        draws.iter().map(|k| (k - &expected).norm_l2().powi(2)).sum::<f64>().sqrt()
    };
    // a hundred times the width, a tenth of the error; the ratio of two sums of 20·9 squares is within 1.5 of that
    let ratio = error(100) / error(10_000);
    assert!((6.0..16.0).contains(&ratio), "{ratio}");
}

#[test]
fn the_residual_wishart_process_has_its_kernel_as_mean_and_limit() {
    let (kernel, draws) = prior_draws(ResidualWishart::new(0.7));
    for (i, j) in [(0, 0), (2, 2), (2, 0)] {
        let elements: Vec<f64> = draws.iter().map(|k| k[(i, j)]).collect();
        assert_mean("residual Wishart", &elements, kernel[(i, j)]);
    }
    let (_, close) = some_prior_draws(ResidualWishart::new(1e6), 3);
    assert!(close.iter().all(|g| (g - &kernel).norm_max() < 1e-4));
}

/// A point's result follows its own column and its own id: other points, their order, padding and the number of points in the
/// program (from eight on) change no bit.
#[test]
fn a_data_points_draw_depends_on_itself_alone() {
    let all = cases::matrix(2, 3, 160);
    for process in ["inverse Wishart", "posterior", "features", "posterior features"] {
        for m in [5, 33, 100] {
            // results of point n in any company
            let mut seen: Vec<Option<(Vec<f64>, f64)>> = vec![None; 160];
            for width in [8, 9, 17, 24, 92, 114, 128, 152, 160] {
                let (mut run, xt, ti, tt) = tile(process, m, width);
                for batch in [
                    (0..width).collect(),
                    (0..width).rev().collect(),
                    (0..width).map(|j| (7 * j + 20) % 160).collect(),
                    vec![5; width],
                ] {
                    let batch: Vec<usize> = batch;
                    run.set(xt, Mat::from_fn(3, width, |i, j| all[(i, batch[j])]).as_ref()).unwrap();
                    run.set_point_ids(&batch.iter().map(|&n| 1000 + n as u64).collect::<Vec<_>>());
                    run.forward(Key::new(3), Pass::Value).unwrap();
                    for (j, &n) in batch.iter().enumerate() {
                        let now = (run.value(ti).row(j).iter().copied().collect::<Vec<_>>(), run.value(tt)[(0, j)]);
                        let before = seen[n].get_or_insert(now.clone());
                        assert_eq!(*before, now, "{process}, {m}: point {n} at {j} of {width}");
                    }
                }
            }
        }
    }
}

/// A program for `width` data points, its input, and the Gram matrix over them: ti and tt.
fn tile(process: &str, m: usize, width: usize) -> (Workspace, Node, Node, Node) {
    let mut tape = Tape::new("tile");
    tape.points(width);
    let (xi, xt) = (distributions::constant(&mut tape, cases::matrix(1, 3, m).as_ref()), tape.input("data", 3, width));
    let ii = Block::from_features(&mut tape, xi);
    let gram = Gram::from_features(&mut tape, ii, xi, xt);
    let theta = [tape.number(1.1), tape.number(0.9)];
    let k_ii = ii.kernel(&mut tape, &SquaredExponential, &theta);
    let kernel = gram.kernel(&mut tape, k_ii, &SquaredExponential, &theta);
    let (v, t) = (cases::matrix(5, m, 6), cases::matrix(6, m, m));
    let (v, t) = (distributions::constant(&mut tape, v.as_ref()), distributions::constant(&mut tape, t.as_ref()));
    let draw = match process {
        "features" => Features::prior(6).draw(&mut tape, k_ii),
        "posterior features" => {
            let t = noise_root(&mut tape, t);
            let posterior = Posterior::new(&mut tape, v, &[t]);
            Features::posterior(posterior).draw(&mut tape, k_ii)
        }
        "posterior" => {
            let (delta, gamma) = (tape.number(DELTA), tape.number(1.3));
            InverseWishart::posterior(&mut tape, delta, gamma, v).draw(&mut tape, k_ii)
        }
        _ => inverse_wishart_prior(m)(&mut tape).draw(&mut tape, k_ii),
    };
    let result = draw.extension.extend(&mut tape, kernel);
    let DataBlock::Diagonal(tt) = result.tt else { unreachable!("points one by one") };
    (tape.finish().workspace(), xt, result.ti, tt)
}
