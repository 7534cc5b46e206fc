//! Densities against SciPy, draws against exact laws, and parameters that are refused.

use super::*;
use crate::laws::{assert_law, assert_mean, chi_squared_cdf, inverse_gamma_cdf};
use dkp_tape::gradcheck::{cases, gradcheck};
use faer::mat;

/// Columns distribution, dimension, parameter, log-density, by SciPy (oracles/distributions.py).
const ORACLE: &str = include_str!("../../../../oracles/distributions.csv");
/// Draws for a comparison of laws: enough for 2 % of a mean where a gamma variate's shape is ½ or more.
const DRAWS: u64 = 400_000;

/// The oracle's matrices, by its formulas.
fn scale(p: usize) -> Mat<f64> {
    let diagonal = |i: usize| 0.5 + 0.1 * i as f64;
    Mat::from_fn(p, p, |i, j| (-(i.abs_diff(j) as f64) / 3.0).exp() + if i == j { diagonal(i) } else { 0.0 })
}

fn other(p: usize) -> Mat<f64> {
    let diagonal = |i: usize| 0.4 + 0.05 * i as f64;
    let distance = |i: usize, j: usize| i.abs_diff(j).pow(2) as f64;
    Mat::from_fn(p, p, |i, j| 0.3 * (-distance(i, j) / 8.0).exp() + if i == j { diagonal(i) } else { 0.0 })
}

fn rectangle(n: usize, p: usize) -> Mat<f64> {
    Mat::from_fn(n, p, |i, j| (1.0 + i as f64 + 2.0 * j as f64).sin())
}

fn tenth(x: &Mat<f64>) -> Mat<f64> {
    faer::Scale(0.1) * x
}

#[test]
fn log_densities_are_those_of_scipy() {
    let mut count = 0;
    for line in ORACLE.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let (parameter, expected) = (number(2), number(3));
        let p = number(1) as usize;
        let ours = match fields[0] {
            "wishart" => wishart(scale(p).as_ref(), parameter).unwrap().log_density(other(p).as_ref()),
            "inverse wishart" => inverse_wishart(scale(p).as_ref(), parameter).unwrap().log_density(other(p).as_ref()),
            "multivariate t" => {
                let t = multivariate_t(tenth(&rectangle(p, 1)).as_ref(), scale(p).as_ref(), parameter).unwrap();
                t.log_density(rectangle(p, 2).as_ref().subcols(1, 1))
            }
            "matrix normal" => {
                let x = rectangle(parameter as usize, p);
                let rows = other(parameter as usize);
                matrix_normal(tenth(&x).as_ref(), rows.as_ref(), scale(p).as_ref()).unwrap().log_density(x.as_ref())
            }
            "singular wishart" => {
                let n = parameter as usize;
                let f = rectangle(p, n) + Mat::from_fn(p, n, |i, j| if i == j { 1.0 } else { 0.0 });
                wishart(scale(p).as_ref(), parameter).unwrap().log_density((&f * f.transpose()).as_ref())
            }
            "inverse gamma" => inverse_gamma(number(1), 1.7).unwrap().log_density(mat![[parameter]].as_ref()),
            name => panic!("{name}"),
        };
        let ours = ours.unwrap_or_else(|e| panic!("{line}: {e}"));
        assert!((ours - expected).abs() < 1e-10 * expected.abs().max(1.0), "{line}: {ours}");
        count += 1;
    }
    assert_eq!(count, 168);
}

/// Rank one by hand: S = ffᵀ has two preimages ±f, and the Jacobian of (f_1², f_1f_2, …, f_1f_P) is 2|f_1|^P.
#[test]
fn the_singular_wishart_of_rank_one_is_a_change_of_variables() {
    for p in [2, 3, 6] {
        let (v, f) = (scale(p), rectangle(p, 1));
        let normal = matrix_normal(Mat::zeros(p, 1).as_ref(), v.as_ref(), mat![[1.0]].as_ref()).unwrap();
        let expected = normal.log_density(f.as_ref()).unwrap() - p as f64 * f[(0, 0)].abs().ln();
        let ours = wishart(v.as_ref(), 1.0).unwrap().log_density((&f * f.transpose()).as_ref()).unwrap();
        assert!((ours - expected).abs() < 1e-12 * expected.abs(), "{p}: {ours} and {expected}");
    }
}

/// One of each, over 4 points or 3×4.
fn all() -> Vec<(&'static str, Distribution)> {
    let (psi, rows) = (scale(4), other(3));
    vec![
        ("Wishart", wishart(psi.as_ref(), 5.5).unwrap()),
        ("singular Wishart", wishart(psi.as_ref(), 2.0).unwrap()),
        ("inverse Wishart", inverse_wishart(psi.as_ref(), 5.5).unwrap()),
        ("matrix normal", matrix_normal(rectangle(3, 4).as_ref(), rows.as_ref(), psi.as_ref()).unwrap()),
        ("inverse gamma", inverse_gamma(2.5, 1.3).unwrap()),
        ("multivariate t", multivariate_t(rectangle(4, 1).as_ref(), psi.as_ref(), 3.5).unwrap()),
    ]
}

#[test]
fn a_draw_comes_with_its_own_log_density() {
    for (name, distribution) in all() {
        for seed in 0..20 {
            let (draw, own) = distribution.sample_with_log_density(Key::new(seed)).unwrap();
            let evaluated = distribution.log_density(draw.as_ref()).unwrap();
            assert!((own - evaluated).abs() < 1e-9 * own.abs().max(1.0), "{name}: {own} and {evaluated}");
            assert_eq!(draw, distribution.sample(Key::new(seed)).unwrap(), "{name}");
            assert_ne!(draw, distribution.sample(Key::new(seed).draw(1)).unwrap(), "{name}");
        }
    }
}

/// Σ cᵢcⱼSᵢⱼ for fixed c.
fn quadratic(s: &Mat<f64>) -> f64 {
    let c = |i: usize| 1.0 + (2.0 * i as f64).cos();
    (0..s.nrows()).flat_map(|i| (0..s.ncols()).map(move |j| (i, j))).map(|(i, j)| c(i) * s[(i, j)] * c(j)).sum()
}

fn draws(distribution: &Distribution) -> impl Iterator<Item = Mat<f64>> {
    (0..DRAWS).map(|n| distribution.sample(Key::new(7).step(n)).unwrap())
}

/// cᵀSc ~ cᵀVc·χ²(N) for the Wishart, regular and singular.
#[test]
fn wishart_draws_have_their_law() {
    let v = scale(4);
    for dof in [2.0, 3.7, 6.0] {
        let w = wishart(v.as_ref(), dof).unwrap();
        let samples: Vec<f64> = draws(&w).map(|s| quadratic(&s) / quadratic(&v)).collect();
        assert_mean("Wishart", &samples, dof);
        assert_law("Wishart", samples, |x| chi_squared_cdf(dof, x));
    }
}

/// 1/(cᵀΨc)·cᵀGc ~ 1/χ²(ν−P+1) for the inverse Wishart, and (G⁻¹)ᵢᵢ ~ (Ψ⁻¹)ᵢᵢ·χ²(ν).
#[test]
fn inverse_wishart_draws_have_their_law() {
    use faer::linalg::solvers::DenseSolveCore as _;
    let (p, psi) = (3, scale(3));
    let inverse = |m: &Mat<f64>| m.partial_piv_lu().inverse();
    let psi_inverse = inverse(&psi);
    for nu in [3.1, 5.5] {
        let w = inverse_wishart(psi.as_ref(), nu).unwrap();
        let (mut forms, mut precisions) = (Vec::new(), vec![Vec::new(); p]);
        for g in draws(&w) {
            forms.push(quadratic(&psi) / quadratic(&g));
            let g_inverse = inverse(&g);
            (0..p).for_each(|i| precisions[i].push(g_inverse[(i, i)] / psi_inverse[(i, i)]));
        }
        assert_law("quadratic form", forms, |x| chi_squared_cdf(nu - p as f64 + 1.0, x));
        for samples in precisions {
            assert_law("precision", samples, |x| chi_squared_cdf(nu, x));
        }
    }
}

/// Quadratic forms of whitened draws: χ² for the normal, and for two dimensions of a t P(q ≤ x) = 1 − (1 + x/ν)^{−ν/2}.
#[test]
fn normal_t_and_inverse_gamma_draws_have_their_law() {
    let (mean, rows, columns) = (rectangle(2, 3), other(2), scale(3));
    let normal = matrix_normal(mean.as_ref(), rows.as_ref(), columns.as_ref()).unwrap();
    let mut sums = Vec::new();
    for x in draws(&normal) {
        // (aᵀ(X−M)b)² / (aᵀUa·bᵀVb) ~ χ²(1), with a, b of ones
        let centred: f64 = (0..2).flat_map(|i| (0..3).map(move |j| (i, j))).map(|at| x[at] - mean[at]).sum();
        let total = |m: &Mat<f64>| {
            (0..m.nrows()).flat_map(|i| (0..m.ncols()).map(move |j| (i, j))).map(|at| m[at]).sum::<f64>()
        };
        sums.push(centred * centred / (total(&rows) * total(&columns)));
    }
    assert_mean("matrix normal", &sums, 1.0);
    assert_law("matrix normal", sums, |x| chi_squared_cdf(1.0, x));

    let (nu, mean, sigma) = (3.4, rectangle(2, 1), scale(2));
    let t = multivariate_t(mean.as_ref(), sigma.as_ref(), nu).unwrap();
    let determinant = sigma[(0, 0)] * sigma[(1, 1)] - sigma[(0, 1)].powi(2);
    let forms = draws(&t).map(|x| {
        let (a, b) = (x[(0, 0)] - mean[(0, 0)], x[(1, 0)] - mean[(1, 0)]);
        (sigma[(1, 1)] * a * a - 2.0 * sigma[(0, 1)] * a * b + sigma[(0, 0)] * b * b) / determinant
    });
    assert_law("multivariate t", forms.collect(), |x| 1.0 - (1.0 + x / nu).powf(-0.5 * nu));

    let gamma = inverse_gamma(2.2, 1.3).unwrap();
    let samples = draws(&gamma).map(|x| x[(0, 0)]).collect();
    assert_law("inverse gamma", samples, |x| inverse_gamma_cdf(2.2, 1.3, x));
}

/// E Ω″ = I; for α = 0 it is the Wishart W(I/N, N), for large α the identity; and W has its normal density.
#[test]
fn the_residual_wishart_lies_between_the_wishart_and_the_identity() {
    let n = 3;
    let sample = |alpha: f64| {
        let residual = ResidualWishart::new(n, alpha).unwrap();
        (0..DRAWS).map(move |k| residual.sample(Key::new(3).step(k)).unwrap())
    };
    let samples: Vec<f64> = sample(0.0).map(|s| n as f64 * s[(1, 1)]).collect();
    assert_law("α = 0", samples, |x| chi_squared_cdf(n as f64, x));
    let draws: Vec<Mat<f64>> = sample(0.8).collect();
    for (i, j) in [(0, 0), (2, 2), (1, 0)] {
        let elements: Vec<f64> = draws.iter().map(|s| s[(i, j)]).collect();
        assert_mean("α = 0.8", &elements, if i == j { 1.0 } else { 0.0 });
    }
    let near = ResidualWishart::new(n, 1e4).unwrap().sample(Key::new(1)).unwrap();
    assert!((near - Mat::<f64>::identity(n, n)).norm_max() < 1e-3);
    // a 1×1 W: N(α, 1)/√(1+α²)
    let root = ResidualWishart::new(1, 0.5).unwrap();
    let expected = -0.5 * (std::f64::consts::TAU / 1.25).ln() - 0.5 * (1.25_f64.sqrt() * 0.3 - 0.5).powi(2);
    assert!((root.root().log_density(mat![[0.3]].as_ref()).unwrap() - expected).abs() < 1e-14);
}

/// Gradients of every log-density in its argument and parameters, and of draws in their parameters.
#[test]
fn gradients() {
    let p = 4;
    let leaves = || [cases::matrix(1, p, 6), cases::matrix(2, p, 6), mat![[5.3]]];
    // a positive-definite node from a leaf
    fn spd(tape: &mut Tape, x: Node) -> Node {
        tape.symmetric_product(x)
    }
    fn parts(tape: &mut Tape, x: &[Node], p: usize) -> (Lower, DegreesOfFreedom, Node) {
        let (psi, g) = (spd(tape, x[0]), spd(tape, x[1]));
        (tape.cholesky(psi), DegreesOfFreedom::new(tape, x[2], p), g)
    }
    fn both(tape: &mut Tape, distribution: impl MatrixDistribution, at: Node) -> Node {
        let (draw, own) = distribution.draw_with_log_density(tape);
        let value = distribution.log_density(tape, at);
        let sum = tape.add(own, value);
        let ones = tape.constant(draw.rows(), draw.cols(), &vec![1.0; draw.len()]);
        let spread = tape.scale(sum, ones);
        tape.add(draw, spread)
    }
    use dkp_tape::Lower;
    let check = |record: &dyn Fn(&mut Tape, &[Node]) -> Node| {
        gradcheck(&leaves(), record).unwrap().assert_below(1e-6);
    };
    check(&|tape, x| {
        let (scale, dof, g) = parts(tape, x, p);
        both(tape, Wishart { scale, dof }, g)
    });
    check(&|tape, x| {
        let (scale, dof, g) = parts(tape, x, p);
        both(tape, InverseWishart { scale, dof }, g)
    });
    check(&|tape, x| {
        let (scale, _, _) = parts(tape, x, p);
        let at = tape.slice(x[1], 0..p, 0..2);
        let s = spd(tape, at);
        both(tape, SingularWishart { scale, dof: 2 }, s)
    });
    check(&|tape, x| {
        let (rows, _, g) = parts(tape, x, p);
        let columns = tape.cholesky(g);
        let (mean, at) = (tape.slice(x[0], 0..p, 0..p), tape.slice(x[1], 0..p, 1..p + 1));
        both(tape, MatrixNormal { mean, rows, columns }, at)
    });
    check(&|tape, x| {
        let (scale, _, _) = parts(tape, x, p);
        let (mean, at) = (tape.slice(x[0], 0..p, 0..1), tape.slice(x[1], 0..p, 1..2));
        both(tape, MultivariateT { mean, scale, dof: x[2] }, at)
    });
    check(&|tape, x| {
        let (a, b) = (tape.squared_norm(x[0]), tape.squared_norm(x[1]));
        both(tape, InverseGamma { shape: x[2], scale: a }, b)
    });
}

#[test]
fn what_a_distribution_cannot_have_is_refused_with_its_value() {
    let good = scale(3);
    let with = |i: usize, j: usize, value: f64| {
        let mut m = good.clone();
        m[(i, j)] = value;
        m
    };
    let message = |r: Result<Distribution, Error>| r.unwrap_err().to_string();
    let (nan, tall, lopsided) = (with(1, 2, f64::NAN), Mat::<f64>::zeros(3, 2), with(0, 1, 0.3));
    let mut indefinite = with(1, 1, -2.0);
    assert_eq!(message(wishart(nan.as_ref(), 4.0)), "the scale must be finite, but row 1, column 2 is NaN");
    assert_eq!(message(inverse_wishart(tall.as_ref(), 4.0)), "the scale must be 3×3, but is 3×2");
    assert!(
        message(wishart(lopsided.as_ref(), 4.0))
            .starts_with("the scale must be symmetric, but rows and columns 0 and 1 have 0.3 and 0.71")
    );
    assert!(
        message(wishart(indefinite.as_ref(), 4.0))
            .starts_with("the scale must be positive definite, but pivot 1 of 3 is -2.")
    );
    indefinite[(1, 1)] = 0.0;
    assert!(matches!(
        inverse_wishart(indefinite.as_ref(), 4.0),
        Err(Error::NotPositiveDefinite { size: 3, pivot: 1, .. })
    ));
    for dof in [2.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX] {
        let e = inverse_wishart(good.as_ref(), dof).unwrap_err();
        assert!(matches!(e, Error::DegreesOfFreedom { size: 3, value, .. } if value.to_bits() == dof.to_bits()), "{e}");
    }
    assert_eq!(
        message(wishart(good.as_ref(), 1.5)),
        "the degrees of freedom of a 3×3 Wishart must be a whole number from 1 to 2, or greater than 2 and at most 1e9, but are 1.5"
    );
    assert!(wishart(good.as_ref(), 0.0).is_err() && wishart(good.as_ref(), f64::INFINITY).is_err());
    assert_eq!(message(wishart(Mat::zeros(0, 0).as_ref(), 4.0)), "the scale has no elements");
    assert_eq!(message(inverse_gamma(0.0, 1.0)), "the shape must be positive and finite, but is 0");
    assert_eq!(message(inverse_gamma(1.0, f64::NAN)), "the scale must be positive and finite, but is NaN");
    let mean = Mat::<f64>::zeros(3, 1);
    assert_eq!(message(multivariate_t(mean.as_ref(), scale(4).as_ref(), 2.0)), "the scale must be 3×3, but is 4×4");
    assert_eq!(
        message(multivariate_t(mean.as_ref(), good.as_ref(), -2.0)),
        "the degrees of freedom must be positive and finite, but is -2"
    );
    assert_eq!(
        message(matrix_normal(mean.as_ref(), good.as_ref(), good.as_ref())),
        "the columns' covariance must be 1×1, but is 3×3"
    );
    let mut indefinite = scale(3);
    indefinite[(2, 2)] = -1.0;
    let error = matrix_normal(Mat::zeros(2, 3).as_ref(), scale(2).as_ref(), indefinite.as_ref()).unwrap_err();
    assert!(error.to_string().starts_with("the columns' covariance must be positive definite, but pivot 2"), "{error}");
    assert!(matches!(ResidualWishart::new(3, -0.1), Err(Error::NotPositive { value: -0.1, .. })));
    assert!(matches!(ResidualWishart::new(0, 1.0), Err(Error::Empty { .. })));
}

#[test]
fn points_outside_a_density_are_refused() {
    let w = wishart(scale(3).as_ref(), 4.0).unwrap();
    assert!(matches!(w.log_density(scale(2).as_ref()), Err(Error::Shape { expected: (3, 3), found: (2, 2), .. })));
    let negative = faer::Scale(-1.0) * scale(3);
    assert!(
        matches!(w.log_density(negative.as_ref()), Err(Error::NotPositiveDefinite { name, pivot: 0, .. }) if name == "x")
    );
    let singular = wishart(scale(3).as_ref(), 1.0).unwrap();
    assert!(matches!(singular.log_density(scale(3).as_ref()), Err(Error::NotOfRank { rank: 1, .. })));
    let positive = inverse_gamma(1.0, 1.0).unwrap();
    assert!(matches!(positive.log_density(mat![[-1.0]].as_ref()), Err(Error::NotPositive { value: -1.0, .. })));
}

/// Beyond what the oracle holds: t's normal limit, and draws that overflow.
#[test]
fn extreme_parameters_are_right_or_refused() {
    let (mean, sigma) = (rectangle(3, 1), scale(3));
    let x = rectangle(3, 2);
    let at = |d: &Distribution| d.log_density(x.as_ref().subcols(1, 1)).unwrap();
    let normal = matrix_normal(mean.as_ref(), sigma.as_ref(), mat![[1.0]].as_ref()).unwrap();
    for nu in [1e10, 1e14, 1e18, 1e300] {
        let t = multivariate_t(mean.as_ref(), sigma.as_ref(), nu).unwrap();
        assert!((at(&t) - at(&normal)).abs() < 1e-8, "{nu}: {} and {}", at(&t), at(&normal));
    }
    let huge = faer::Scale(1e308) * scale(2);
    let error = wishart(huge.as_ref(), 50.0).unwrap().sample(Key::new(0)).unwrap_err();
    assert!(matches!(error, Error::Overflow { what: "the draw", .. }), "{error}");
    let far = ResidualWishart::new(2, 1e200).unwrap().sample(Key::new(0)).unwrap();
    assert!((far - Mat::<f64>::identity(2, 2)).norm_max() < 1e-12);
}
