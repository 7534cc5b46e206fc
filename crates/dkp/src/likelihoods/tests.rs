//! Expectations against brute force, densities against SciPy and sums, gradients against finite differences.

use super::*;
use dkp_tape::Pass;
use dkp_tape::gradcheck::{cases, gradcheck};
use dkp_tape::random::Key;
use faer::linalg::solvers::Solve as _;
use faer::{Mat, Side, mat};

/// ∫ g(f)·N(f; m, s) df by the trapezoid rule over ±12 standard deviations.
fn integrate(m: f64, s: f64, g: impl Fn(f64) -> f64) -> f64 {
    let (n, d) = (20_000, s.sqrt());
    let step = 24.0 / n as f64;
    let density = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    (0..=n).map(|i| -12.0 + step * i as f64).map(|z| density(z) * g(m + d * z)).sum::<f64>() * step
}

fn expected(
    likelihood: &dyn Likelihood,
    theta: &[Vec<f64>],
    y: &Mat<f64>,
    present: &Mat<f64>,
    m: &Mat<f64>,
    s: &Mat<f64>,
) -> f64 {
    let mut tape = Tape::new("likelihood");
    tape.points(y.ncols());
    let constant = |tape: &mut Tape, m: &Mat<f64>| crate::distributions::constant(tape, m.as_ref());
    let parameters: Vec<Node> = theta.iter().map(|t| tape.constant(t.len(), 1, t)).collect();
    let targets = Observed { values: constant(&mut tape, y), present: constant(&mut tape, present) };
    let latent = Latent { mean: constant(&mut tape, m), variance: constant(&mut tape, s) };
    let value = likelihood.expected_log_density(&mut tape, &parameters, targets, latent);
    let mut run = tape.finish().workspace();
    run.set_point_ids(&(0..y.ncols() as u64).collect::<Vec<_>>());
    run.forward(Key::new(0), Pass::Value).unwrap();
    run.scalar(value)
}

/// A name, a likelihood of one target, its parameters, and a target that it can have.
type Case = (&'static str, Box<dyn Likelihood>, Vec<Vec<f64>>, f64);

fn scalars() -> Vec<Case> {
    vec![
        ("Gaussian", Box::new(Gaussian::new(1)), vec![vec![0.3]], 0.7),
        ("Student-t", Box::new(Scalar::new(StudentT)), vec![vec![0.4], vec![3.5]], 0.7),
        ("Bernoulli", Box::new(Scalar::new(Bernoulli)), vec![], 1.0),
        ("Bernoulli", Box::new(Scalar::new(Bernoulli)), vec![], 0.0),
        ("Poisson", Box::new(Scalar::new(Poisson)), vec![], 3.0),
    ]
}

#[test]
fn expectations_and_predictive_densities_are_the_integrals() {
    for (name, likelihood, theta, y) in scalars() {
        for (m, s) in [(0.2, 0.5), (-1.0, 0.05), (1.5, 1.2)] {
            // a variance of nearly 0 leaves the density itself
            let density = |f: f64| likelihood.log_density(&theta, &[y], &[f], &[0.0]);
            let ours = expected(&*likelihood, &theta, &mat![[y]], &mat![[1.0]], &mat![[m]], &mat![[s]]);
            let direct = integrate(m, s, density);
            assert!((ours - direct).abs() < 1e-6 * direct.abs().max(1.0), "{name}: {ours} and {direct}");
            let ours = likelihood.log_density(&theta, &[y], &[m], &[s]);
            let direct = integrate(m, s, |f| density(f).exp()).ln();
            assert!((ours - direct).abs() < 1e-6 * direct.abs().max(1.0), "{name}: {ours} and {direct}");
        }
    }
}

/// Noise much narrower than the latent's spread, and large counts: the density is a needle among the nodes of a fixed rule.
#[test]
fn narrow_densities_are_integrated_too() {
    let t = |scale: f64, nu: f64| vec![vec![scale], vec![nu]];
    let student: &dyn Likelihood = &Scalar::new(StudentT);
    let poisson: &dyn Likelihood = &Scalar::new(Poisson);
    // likelihood, parameters, target, and the latent's mean and variance
    type Narrow<'a> = (&'a dyn Likelihood, Vec<Vec<f64>>, f64, f64, f64);
    let mut cases: Vec<Narrow<'_>> = Vec::new();
    for (sigma, y) in [0.01_f64, 0.05, 0.2, 0.6, 1.0].into_iter().flat_map(|s| [(s, 0.05), (s, 0.9), (s, 4.0)]) {
        cases.push((student, t(sigma, 2.2), y, 0.1, 0.25));
        cases.push((student, t(sigma, 8.0), y, 0.1, 1.0));
    }
    for (y, s) in [0.0, 1.0, 10.0, 100.0, 1e4].into_iter().flat_map(|y| [(y, 0.01), (y, 0.25), (y, 1.0)]) {
        cases.push((poisson, vec![], y, (y + 2.0_f64).ln() - 0.4, s));
    }
    let coin: &dyn Likelihood = &Scalar::new(Bernoulli);
    for (y, m, sd) in
        [2.5, 5.0, 10.0, 30.0].into_iter().flat_map(|sd| [(0.0, 1.0, sd), (1.0, 1.0, sd), (1.0, -20.0, sd)])
    {
        cases.push((coin, vec![], y, m, sd * sd));
    }
    for (likelihood, theta, y, m, s) in cases {
        let what = format!("{} {theta:?} y {y} m {m} s {s}", likelihood.name());
        let density = |f: f64| likelihood.log_density(&theta, &[y], &[f], &[0.0]);
        let (n, reach) = (400_000, 14.0);
        let step = 2.0 * reach / n as f64;
        let normal = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() * step;
        let places = || (0..=n).map(|i| -reach + step * i as f64);
        let log: f64 = places().map(|z| normal(z) * density(m + s.sqrt() * z)).sum();
        let ours = expected(likelihood, &theta, &mat![[y]], &mat![[1.0]], &mat![[m]], &mat![[s]]);
        assert!((ours - log).abs() < 1e-5 * log.abs().max(1.0), "{what}: {ours} and {log}");
        let direct = places().map(|z| normal(z) * density(m + s.sqrt() * z).exp()).sum::<f64>().ln();
        let ours = likelihood.log_density(&theta, &[y], &[m], &[s]);
        assert!((ours - direct).abs() < 1e-5 * direct.abs().max(1.0), "{what}: {ours} and {direct}");
        let below = |z: f64| likelihood.cdf(&theta, 0, y, &[m + s.sqrt() * z], &[0.0]);
        let direct: f64 = places().step_by(40).map(|z| 40.0 * normal(z) * below(z)).sum();
        let ours = likelihood.cdf(&theta, 0, y, &[m], &[s]);
        assert!((ours - direct).abs() < 1e-3, "{what}: {ours} and {direct}");
    }
    // what cannot be has no density, and ends have none beyond them
    assert_eq!(poisson.log_density(&[], &[2.5], &[0.0], &[1.0]), f64::NEG_INFINITY);
    assert_eq!(poisson.cdf(&[], 0, f64::INFINITY, &[0.0], &[1.0]), 1.0);
    assert_eq!(student.cdf(&t(0.1, 3.0), 0, f64::NEG_INFINITY, &[0.0], &[1.0]), 0.0);
    assert!(student.cdf(&t(0.1, 3.0), 0, f64::NAN, &[0.0], &[1.0]).is_nan());
    // a saturated coin still has two sides
    let p = Scalar::new(Bernoulli).probabilities(&[], &[40.0], &[1e-9]).unwrap();
    assert!(p[0] > 0.0 && (p[0].ln() + 40.0).abs() < 1e-6 && p[1] <= 1.0, "{p:?}");
}

/// Densities against SciPy: norm, t, poisson, at f.
#[test]
fn densities_are_those_of_scipy() {
    let at = |l: &dyn Likelihood, theta: &[Vec<f64>], y: f64, f: f64| l.log_density(theta, &[y], &[f], &[0.0]);
    // t(df=3.5, loc=0.2, scale=0.4).logpdf(0.7), .cdf(0.7); poisson(e^0.9).logpmf(3), .cdf(3); norm(0.2, sqrt(0.3)).cdf(0.7)
    let t = Scalar::new(StudentT);
    let theta = [vec![0.4], vec![3.5]];
    assert!((at(&t, &theta, 0.7, 0.2) - ORACLE[0]).abs() < 1e-12);
    // by a mixture of normals
    assert!((t.cdf(&theta, 0, 0.7, &[0.2], &[0.0]) - ORACLE[1]).abs() < 3e-8);
    assert!((t.cdf(&theta, 0, -0.3, &[0.2], &[0.0]) - (1.0 - ORACLE[1])).abs() < 3e-8);
    let poisson = Scalar::new(Poisson);
    assert!((at(&poisson, &[], 3.0, 0.9) - ORACLE[2]).abs() < 1e-12);
    assert!((poisson.cdf(&[], 0, 3.2, &[0.9], &[0.0]) - ORACLE[3]).abs() < 1e-12);
    let normal = Gaussian::new(1);
    assert!((normal.cdf(&[vec![0.1]], 0, 0.7, &[0.2], &[0.2]) - ORACLE[4]).abs() < 1e-14);
}

/// By SciPy, as the comment above says.
const ORACLE: [f64; 5] =
    [-0.9036521532442482, 0.8558225506143755, -1.5513625803850046, 0.7661755740016809, 0.8193447857369105];

/// Student-t noise as a mixture of normals against integrals over the latent, of the density and of the incomplete beta function that its
/// distribution function is: from nearly no variance to nearly normal, from a certain latent to one that hides the noise, and far out.
#[test]
fn student_noise_is_its_mixture_of_normals() {
    let (sigma, mean) = (0.4, 0.3);
    for (nu, ratio) in [2.05, 2.5, 4.0, 10.0, 100.0].into_iter().flat_map(|nu| [0.0, 0.01, 1.0, 1e4].map(|r| (nu, r))) {
        let (theta, deviation) = ([vec![sigma], vec![nu]], sigma * f64::sqrt(ratio));
        let tail = |z: f64| 0.5 * statrs::function::beta::beta_reg(0.5 * nu, 0.5, nu / (nu + z * z));
        let below = |y: f64, f: f64| if y < f { tail((y - f) / sigma) } else { 1.0 - tail((y - f) / sigma) };
        let constant = StudentT.constant(&[sigma, nu], 0.0).value;
        let density = |y: f64, f: f64| (constant + StudentT.log_density(&[sigma, nu], y, f).value).exp();
        // steps a quarter of what is narrower, σ or the latent's deviation; as far as the latent itself may be where the target is
        let step = (0.25 / deviation * sigma).clamp(1e-3, 0.25);
        let expect = |g: &dyn Fn(f64) -> f64| match deviation {
            0.0 => g(mean),
            _ => {
                let places = (0..).map(|i| step * f64::from(i) - 24.0).take_while(|z| *z <= 24.0);
                places.map(|z| (-0.5 * z * z).exp() * g(mean + deviation * z)).sum::<f64>() * step
                    / std::f64::consts::TAU.sqrt()
            }
        };
        let likelihood = Scalar::new(StudentT);
        for far in [-20.0, -5.0, -1.5, 0.0, 0.4, 2.0, 10.0, 20.0] {
            let y = mean + far * f64::hypot(sigma, deviation);
            let what = format!("ν {nu}, latent {ratio}, {far} deviations");
            let (ours, exact) =
                (likelihood.cdf(&theta, 0, y, &[mean], &[deviation * deviation]), expect(&|f| below(y, f)));
            assert!((ours - exact).abs() < 3e-8, "{what}: {ours} and {exact}");
            let (ours, exact) = (
                likelihood.log_density(&theta, &[y], &[mean], &[deviation * deviation]),
                expect(&|f| density(y, f)).ln(),
            );
            assert!((ours - exact).abs() < 1e-7, "{what}: log-density {ours} and {exact}");
        }
    }
}

/// Every moment is that of the distribution function: E y = ∫ (1 − F) − ∫ F, and mean and variance from the density.
#[test]
fn moments_follow_from_the_distribution_function() {
    for (name, likelihood, theta, _) in scalars() {
        let (m, s) = (0.3, 0.4);
        let moments = likelihood.moments(&theta, 0, &[m], &[s]);
        let cdf = |y: f64| likelihood.cdf(&theta, 0, y, &[m], &[s]);
        let (n, reach) = (400_000, 200.0);
        let step = 2.0 * reach / n as f64;
        let mean: f64 = (0..n)
            .map(|i| -reach + (i as f64 + 0.5) * step)
            .map(|y| if y > 0.0 { 1.0 - cdf(y) } else { -cdf(y) })
            .sum::<f64>()
            * step;
        assert!((mean - moments.mean).abs() < 2e-3, "{name}: {mean} and {moments:?}");
        assert!(moments.model > 0.0 && moments.noise > 0.0, "{name}");
    }
}

#[test]
fn missing_targets_are_left_out() {
    for (name, likelihood, theta, y) in scalars() {
        let (m, s) = (mat![[0.2, 0.9]], mat![[0.5, 0.3]]);
        let both = expected(&*likelihood, &theta, &mat![[y, y]], &mat![[1.0, 0.0]], &m, &s);
        let first = expected(&*likelihood, &theta, &mat![[y]], &mat![[1.0]], &mat![[0.2]], &mat![[0.5]]);
        assert!((both - first).abs() < 1e-14, "{name}");
        assert_eq!(likelihood.log_density(&theta, &[f64::NAN], &[0.2], &[0.5]), 0.0, "{name}");
    }
    let two = Gaussian::new(2);
    let theta = [vec![0.3, 0.6]];
    let one = two.log_density(&theta, &[f64::NAN, 0.4], &[0.1, 0.2], &[0.5, 0.7]);
    assert_eq!(one, Gaussian::new(1).log_density(&[vec![0.6]], &[0.4], &[0.2], &[0.7]));
}

/// A program runs for many tiles: what was there in one leaves nothing behind for the next.
#[test]
fn a_value_that_was_there_in_the_last_run_has_no_gradient_in_this_one() {
    let own = scalars().into_iter().map(|(_, likelihood, theta, y)| (likelihood, theta, y));
    let classes: Box<dyn Likelihood> = Box::new(Categorical::new(2));
    for (likelihood, theta, y) in own.chain([(classes, vec![], 1.0)]) {
        let (mut tape, latents) = (Tape::new("likelihood"), likelihood.latents());
        tape.points(1);
        let parameters: Vec<Node> = theta.iter().map(|t| tape.constant(1, 1, t)).collect();
        let targets = Observed { values: tape.constant(1, 1, &[y]), present: tape.input("mask", 1, 1) };
        let latent = Latent { mean: tape.leaf("mean", latents, 1), variance: tape.leaf("variance", latents, 1) };
        let total = likelihood.expected_log_density(&mut tape, &parameters, targets, latent);
        tape.output("total", total);
        let mut run = tape.finish().workspace();
        run.set_point_ids(&[0]);
        run.set_slice(latent.mean, &vec![0.2; latents]).unwrap();
        run.set_slice(latent.variance, &vec![0.5; latents]).unwrap();
        let mut slopes = |present: f64| {
            run.set_slice(targets.present, &[present]).unwrap();
            run.forward(Key::new(0), Pass::Gradient).unwrap();
            run.clear_gradients();
            run.backward(&[1.0]).unwrap();
            [latent.mean, latent.variance].map(|leaf| run.gradient(leaf)[(0, 0)])
        };
        assert!(slopes(1.0).iter().all(|s| *s != 0.0), "{}", likelihood.name());
        assert_eq!(slopes(0.0), [0.0, 0.0], "{}", likelihood.name());
    }
}

/// Three targets of four points are three likelihoods of one target each, with parameters of their own; two values are missing.
#[test]
fn several_targets_are_as_many_single_ones() {
    let t = vec![vec![0.4, 0.1, 1.3], vec![3.5, 8.0, 2.2]];
    let numbers = mat![[0.7, -0.2, 1.1, 0.3], [-1.0, 0.4, 0.0, 2.0], [0.1, 0.6, -0.5, 5.0]];
    let counts = mat![[0.0, 3.0, 1.0, 2.0], [12.0, 9.0, 4.0, 30.0], [1.0, 0.0, 0.0, 5.0]];
    let coins = mat![[0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]];
    // both likelihoods, parameters, targets
    type Kind = ([Box<dyn Likelihood>; 2], Vec<Vec<f64>>, Mat<f64>);
    let kinds: [Kind; 4] = [
        ([Box::new(Scalar::several(StudentT, 3)), Box::new(Scalar::new(StudentT))], t, numbers.clone()),
        ([Box::new(Scalar::several(Poisson, 3)), Box::new(Scalar::new(Poisson))], vec![], counts),
        ([Box::new(Scalar::several(Bernoulli, 3)), Box::new(Scalar::new(Bernoulli))], vec![], coins),
        ([Box::new(Gaussian::new(3)), Box::new(Gaussian::new(1))], vec![vec![0.3, 0.1, 2.0]], numbers),
    ];
    let present = mat![[1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]];
    let (m, s) = (cases::matrix(1, 3, 4), cases::positive(2, 3, 4));
    let row = |a: &Mat<f64>, i: usize| a.as_ref().subrows(i, 1).to_owned();
    for ([several, single], theta, y) in kinds {
        let (name, own) = (several.name(), |i: usize| theta.iter().map(|t| vec![t[i]]).collect::<Vec<_>>());
        let one = |i: usize, s: Mat<f64>| expected(&*single, &own(i), &row(&y, i), &row(&present, i), &row(&m, i), &s);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-13 * b.abs().max(1.0), "{name}: {a} and {b}");
        close(expected(&*several, &theta, &y, &present, &m, &s), (0..3).map(|i| one(i, row(&s, i))).sum());
        // a variance that all targets share
        let shared = row(&s, 0);
        close(expected(&*several, &theta, &y, &present, &m, &shared), (0..3).map(|i| one(i, shared.clone())).sum());
        for n in 0..4 {
            let column = |a: &Mat<f64>| (0..3).map(|i| a[(i, n)]).collect::<Vec<_>>();
            let (m, s) = (column(&m), column(&s));
            let known: Vec<f64> = (0..3).map(|i| if present[(i, n)] == 0.0 { f64::NAN } else { y[(i, n)] }).collect();
            let sum: f64 = (0..3).map(|i| single.log_density(&own(i), &[known[i]], &[m[i]], &[s[i]])).sum();
            close(several.log_density(&theta, &known, &m, &s), sum);
            let starts: Vec<f64> = (0..3).flat_map(|i| single.initial(&[known[i]])).collect();
            assert_eq!(several.initial(&known), starts, "{name}");
            assert!(several.probabilities(&theta, &m, &s).is_none(), "{name}");
            for i in 0..3 {
                let (m1, s1, y) = ([m[i]], [s[i]], y[(i, n)]);
                let moments = single.moments(&own(i), 0, &m1, &s1);
                assert_eq!(several.moments(&theta, i, &m, &s), moments, "{name}");
                assert_eq!(several.cdf(&theta, i, y, &m, &s), single.cdf(&own(i), 0, y, &m1, &s1), "{name}");
                // of a coin the mean is a probability
                if let Some(p) = single.probabilities(&own(i), &m1, &s1) {
                    assert!((p[1] - moments.mean).abs() < 1e-6, "{name}: {p:?} and {moments:?}");
                }
            }
        }
        let rows: Vec<usize> = several.parameters().iter().map(|p| p.rows).collect();
        assert_eq!((several.targets(), several.latents(), rows), (3, 3, vec![3; theta.len()]), "{name}");
    }
}

/// Class probabilities: 128 draws are within 0.01 of many; the bound's single draw averages to the expectation.
#[test]
fn categorical_probabilities_are_expected_softmaxes() {
    let likelihood = Categorical::new(3);
    let (m, s) = ([0.5, -0.2, 0.1], [0.3, 0.8, 0.1]);
    let p = likelihood.probabilities(&[], &m, &s).unwrap();
    assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mut z = vec![0.0; 3 * 200_000];
    dkp_tape::random::fill_normal(Key::new(5).stream(0, 0), 3, |j| j as u64, &mut z);
    let (mut mean, mut log) = ([0.0; 3], 0.0);
    for z in z.chunks_exact(3) {
        let e: Vec<f64> = (0..3).map(|c| (m[c] + s[c].sqrt() * z[c]).exp()).collect();
        let sum: f64 = e.iter().sum();
        (0..3).for_each(|c| mean[c] += e[c] / sum / 200_000.0);
        log += (e[1] / sum).ln() / 200_000.0;
    }
    (0..3).for_each(|c| assert!((p[c] - mean[c]).abs() < 0.01, "{p:?} and {mean:?}"));
    let n = 20_000;
    let wide = |v: &[f64]| Mat::from_fn(3, n, |i, _| v[i]);
    let row = |v: f64| Mat::from_fn(1, n, |_, _| v);
    let drawn = expected(&likelihood, &[], &row(1.0), &row(1.0), &wide(&m), &wide(&s)) / n as f64;
    assert!((drawn - log).abs() < 0.03, "{drawn} and {log}");
}

#[test]
fn gradients() {
    let check = |likelihood: &dyn Likelihood, y: Mat<f64>, theta: Vec<Mat<f64>>, shared: bool| {
        let (latents, n) = (likelihood.latents(), y.ncols());
        let mut leaves = vec![cases::matrix(1, latents, n), cases::positive(2, if shared { 1 } else { latents }, n)];
        leaves.extend(theta);
        let present = Mat::from_fn(y.nrows(), n, |i, j| if (i + j) % 3 == 1 { 0.0 } else { 1.0 });
        gradcheck(&leaves, |tape, x| {
            tape.points(n);
            let targets = Observed {
                values: crate::distributions::constant(tape, y.as_ref()),
                present: crate::distributions::constant(tape, present.as_ref()),
            };
            likelihood.expected_log_density(tape, &x[2..], targets, Latent { mean: x[0], variance: x[1] })
        })
        .unwrap()
        .assert_below(1e-6);
    };
    check(&Gaussian::new(1), cases::matrix(3, 1, 5), vec![mat![[0.4]]], false);
    check(&Gaussian::new(3), cases::matrix(3, 3, 5), vec![mat![[0.4], [0.2], [1.1]]], true);
    for shared in [false, true] {
        let mut theta = vec![mat![[0.4], [0.2]], mat![[0.9], [1.3]]];
        check(&VaryingNoise::new(2), cases::matrix(3, 2, 5), theta.clone(), shared);
        theta.push(mat![[0.06], [0.8]]);
        check(&VaryingNoise::heavy(2), cases::matrix(3, 2, 5), theta, shared);
    }
    check(&Gaussian::new(3), cases::matrix(3, 3, 5), vec![mat![[0.4], [0.2], [1.1]]], false);
    check(&Scalar::new(StudentT), cases::matrix(3, 1, 5), vec![mat![[0.4]], mat![[3.4]]], false);
    check(&Scalar::new(Bernoulli), mat![[0.0, 1.0, 1.0, 0.0, 1.0]], vec![], false);
    check(&Scalar::new(Poisson), mat![[0.0, 3.0, 1.0, 12.0, 4.0]], vec![], false);
    for shared in [false, true] {
        let theta = vec![mat![[0.4], [0.2], [1.1]], mat![[3.4], [2.5], [9.0]]];
        check(&Scalar::several(StudentT, 3), cases::matrix(3, 3, 5), theta, shared);
        let coins = mat![[0.0, 1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0, 0.0]];
        check(&Scalar::several(Bernoulli, 2), coins, vec![], shared);
        let counts = mat![[0.0, 3.0, 1.0, 12.0, 4.0], [20.0, 1.0, 0.0, 2.0, 7.0]];
        check(&Scalar::several(Poisson, 2), counts, vec![], shared);
    }
    check(&Categorical::new(3), mat![[0.0, 2.0, 1.0, 1.0, 2.0]], vec![], false);
    check(&Categorical::new(3), mat![[0.0, 2.0, 1.0, 1.0, 2.0]], vec![], true);
}

/// Two targets with noises of their own at five points with a joint prior D; one value is missing. The gain is what dense algebra gives for
/// N(0, D^½·diag(a)·D^½) instead of N(0, D): half of the variances saved, over σ², less the divergence. Other a give less.
#[test]
fn the_gain_is_that_of_the_best_joint_posterior() {
    let noise = mat![[0.4], [0.02]];
    let root = cases::matrix(6, 5, 7);
    let prior = faer::Scale(0.1) * (&root * root.transpose());
    let residual = Mat::from_fn(1, 5, |_, n| prior[(n, n)]);
    let present = mat![[1.0, 1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]];
    let gain = |tape: &mut Tape, noise: Node, residual: Node| {
        let present = crate::distributions::constant(tape, present.as_ref());
        // which constant noise does not ask for
        let latent = Latent { mean: present, variance: residual };
        let observed = Observed { values: present, present };
        Gaussian::new(2).tightening().unwrap().gain(tape, &[noise], observed, latent, residual)
    };
    let mut tape = Tape::new("gain");
    let [v, d] = [&noise, &residual].map(|m| crate::distributions::constant(&mut tape, m.as_ref()));
    let total = gain(&mut tape, v, d);
    let mut run = tape.finish().workspace();
    run.forward(Key::new(0), Pass::Value).unwrap();

    // the worth of a for a target, at the points that it has; `power` moves a away from the best
    let worth = |target: usize, power: &dyn Fn(usize) -> f64| {
        let here: Vec<usize> = (0..5).filter(|&n| present[(target, n)] == 1.0).collect();
        let (size, v) = (here.len(), noise[(target, 0)]);
        let prior = Mat::from_fn(size, size, |i, j| prior[(here[i], here[j])]);
        let eigen = prior.self_adjoint_eigen(Side::Lower).unwrap();
        let roots = Mat::from_fn(size, size, |i, j| if i == j { eigen.S()[i].sqrt() } else { 0.0 });
        let root = eigen.U() * roots * eigen.U().transpose();
        let best = |n: usize| (1.0 / (1.0 + prior[(n, n)] / v)).powf(power(n));
        let a = Mat::from_fn(size, size, |i, j| if i == j { best(i) } else { 0.0 });
        let posterior = &root * a * &root;
        let trace = |m: &Mat<f64>| (0..size).map(|i| m[(i, i)]).sum::<f64>();
        let ratio = prior.partial_piv_lu().solve(&posterior);
        let divergence = 0.5 * (trace(&ratio) - size as f64 - ratio.determinant().ln());
        0.5 * (trace(&prior) - trace(&posterior)) / v - divergence
    };
    let expected = worth(0, &|_| 1.0) + worth(1, &|_| 1.0);
    assert!((run.scalar(total) - expected).abs() < 1e-10 * expected, "{} and {expected}", run.scalar(total));
    for (target, n, power) in [(0, 2, 0.9), (0, 3, 1.1), (1, 0, 1.1), (1, 4, 0.9)] {
        assert!(worth(target, &|i| if i == n { power } else { 1.0 }) < worth(target, &|_| 1.0));
    }
    gradcheck(&[noise, residual], |tape, x| gain(tape, x[0], x[1])).unwrap().assert_below(1e-6);
    for (name, likelihood, _, _) in scalars() {
        assert_eq!(likelihood.tightening().is_some(), name == "Gaussian", "{name}");
    }
}

#[test]
fn targets_that_cannot_be_are_refused() {
    assert_eq!(Scalar::new(Bernoulli).accepts(0.5), Err("0 or 1"));
    assert_eq!(Scalar::new(Poisson).accepts(-1.0), Err("a whole number, at least 0"));
    assert_eq!(Categorical::new(3).accepts(3.0), Err("a class's number, from 0"));
    assert!(Gaussian::new(1).accepts(-1e9).is_ok() && Categorical::new(3).accepts(2.0).is_ok());
}

/// With one posterior draw a class's probability is as exact as with many: its error is a few thousandths at most, for vague latents too.
#[test]
fn few_posterior_draws_take_more_latent_draws() {
    let likelihood = Categorical::new(3);
    let refined = likelihood.refined(1).unwrap();
    let (mean, variance) = ([0.3, -0.8, 1.1], [1.5, 0.7, 2.5]);
    // by brute force
    let count = 1_000_000;
    let mut normals = vec![0.0; 3 * count];
    dkp_tape::random::fill_normal(Key::new(17).stream(0, 0), 3, |n| n as u64, &mut normals);
    let mut exact = [0.0; 3];
    for z in normals.chunks(3) {
        let e: [f64; 3] = std::array::from_fn(|c| f64::exp(mean[c] + f64::sqrt(variance[c]) * z[c]));
        let sum: f64 = e.iter().sum();
        exact.iter_mut().zip(e).for_each(|(t, e)| *t += e / sum / count as f64);
    }
    let error = |l: &dyn Likelihood| {
        let p = l.probabilities(&[], &mean, &variance).unwrap();
        p.iter().zip(exact).map(|(p, e)| (p - e).abs()).fold(0.0, f64::max)
    };
    assert!(error(&*refined) < 0.005, "{} instead of {}", error(&*refined), error(&likelihood));
    // those of many posterior draws are as before
    let many = likelihood.refined(100).unwrap().probabilities(&[], &mean, &variance);
    assert_eq!(many, likelihood.probabilities(&[], &mean, &variance));
}

/// Noise that varies, against integrals over both latents, and its bound with the gain against constant noise where g is certain.
#[test]
fn varying_noise_is_the_integral_over_its_logarithm() {
    let likelihood = VaryingNoise::new(1);
    let theta = [vec![0.3], vec![0.8]];
    let log_normal = |y: f64, mean: f64, v: f64| -0.5 * ((std::f64::consts::TAU * v).ln() + (y - mean).powi(2) / v);
    let near = [(0.7, 0.2, 0.5, -0.4, 0.3), (-2.0, 0.1, 0.02, 1.2, 1.5), (3.0, 0.0, 0.1, -1.0, 0.8)];
    // up to 20 deviations out, with a g of any certainty
    let far = [
        (11.0, 0.0, 0.0, 0.0, 0.15),
        (-11.0, 0.0, 0.01, 0.0, 0.5),
        (20.0, 0.0, 0.7, 0.0, 1.5),
        (2.0, 0.0, 0.3, 0.0, 6.0),
    ];
    for (y, m, v, g, s) in near.into_iter().chain(far) {
        let (mean, variance) = ([m, g], [v, s]);
        let noise = |z: f64| 0.3 * (0.8 * (g + f64::sqrt(s) * z)).exp();
        // E log p(y|f, g) = E_g of the normal's expectation over f
        let direct = integrate(0.0, 1.0, |z| log_normal(y, m, noise(z)) - 0.5 * v / noise(z));
        let (values, latents) = (mat![[y]], (mat![[m], [g]], mat![[v], [s]]));
        let ours = expected(&likelihood, &theta, &values, &mat![[1.0]], &latents.0, &latents.1);
        assert!((ours - direct).abs() < 1e-6 * direct.abs().max(1.0), "{ours} and {direct}");
        let direct = integrate(0.0, 1.0, |z| log_normal(y, m, v + noise(z)).exp()).ln();
        let ours = likelihood.log_density(&theta, &[y], &mean, &variance);
        assert!((ours - direct).abs() < 3e-6, "{ours} and {direct}");
        let below = |z: f64| 0.5 * libm::erfc((m - y) / (2.0 * (v + noise(z))).sqrt());
        let (ours, direct) = (likelihood.cdf(&theta, 0, y, &mean, &variance), integrate(0.0, 1.0, below));
        assert!((ours - direct).abs() < 3e-8, "{ours} and {direct}");
        let moments = likelihood.moments(&theta, 0, &mean, &variance);
        let direct = integrate(0.0, 1.0, noise);
        assert!((moments.noise / direct - 1.0).abs() < 1e-6 && moments.mean == m && moments.model == v);
        // where g is 0 for certain the noise is constant
        let one = Gaussian::new(1).log_density(&theta[..1], &[y], &[m], &[v]);
        let varying = likelihood.log_density(&theta, &[y], &[m, 0.0], &[v, 0.0]);
        assert!((one - varying).abs() < 1e-12);
    }
}

/// Heavy tails that vary: densities against integrals of Student's t over both latents, of which the bound is below, and equal where nothing is
/// uncertain. The gain is worth no more than the smaller variance that it stands for.
#[test]
fn heavy_tails_that_vary_are_those_of_students_t() {
    use dkp_tape::math::ln_gamma;
    let likelihood = VaryingNoise::heavy(1);
    for (w, y, m, v, g, s) in [
        (0.05, 0.7, 0.2, 0.5, -0.4, 0.3),
        (0.4, -2.0, 0.1, 0.02, 1.2, 1.5),
        (3.0, 9.0, 0.0, 0.1, -1.0, 0.8),
        (0.1, 0.4, 0.0, 0.0, -1.0, 0.0),
    ] {
        let (theta, nu) = ([vec![0.3], vec![0.8], vec![w]], 2.0 + 1.0 / w);
        let noise = |z: f64| 0.3 * (0.8 * (g + f64::sqrt(s) * z)).exp();
        let log_t = |r: f64, v: f64| {
            ln_gamma(0.5 * (nu + 1.0))
                - ln_gamma(0.5 * nu)
                - 0.5 * ((nu * std::f64::consts::PI * v).ln() + (nu + 1.0) * (r * r / (nu * v)).ln_1p())
        };
        // the trapezoidal rule converges quickly for such functions
        let nodes = || (-180..=180).map(|i| f64::from(i) / 20.0);
        let weight = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() / 20.0;
        let both = |h: &dyn Fn(f64, f64) -> f64| -> f64 {
            let inner = |z: f64| nodes().map(|x| weight(x) * h(y - m - f64::sqrt(v) * x, noise(z))).sum::<f64>();
            nodes().map(|z| weight(z) * inner(z)).sum()
        };
        let (mean, variance) = ([m, g], [v, s]);
        let direct = both(&|r, v| log_t(r, v).exp()).ln();
        let ours = likelihood.log_density(&theta, &[y], &mean, &variance);
        assert!((ours - direct).abs() < 1e-5 * direct.abs().max(1.0), "ν {nu}: {ours} and {direct}");
        let moments = likelihood.moments(&theta, 0, &mean, &variance);
        let direct = integrate(0.0, 1.0, noise) * nu / (nu - 2.0);
        assert!((moments.noise / direct - 1.0).abs() < 1e-6 && moments.mean == m && moments.model == v);

        let bound = |variance: f64| {
            expected(&likelihood, &theta, &mat![[y]], &mat![[1.0]], &mat![[m], [g]], &mat![[variance], [s]])
        };
        let direct = both(&log_t);
        assert!(bound(v) <= direct + 1e-9, "{} above {direct}", bound(v));
        if v + s == 0.0 {
            assert!((bound(v) - direct).abs() < 1e-9, "{} and {direct}", bound(v));
        }
        let d = 0.9 * v;
        let mut tape = Tape::new("gain");
        let parameters = [0.3, 0.8, w].map(|x| tape.number(x));
        let [values, present, residual] = [y, 1.0, d].map(|x| tape.number(x));
        let latent = Latent { mean: tape.constant(2, 1, &mean), variance: tape.constant(2, 1, &variance) };
        let observed = Observed { values, present };
        let gain = likelihood.tightening().unwrap().gain(&mut tape, &parameters, observed, latent, residual);
        let mut run = tape.finish().workspace();
        run.forward(Key::new(0), Pass::Value).unwrap();
        let gain = run.scalar(gain);
        let shares = (1..1000).map(|i| f64::from(i) / 1000.0);
        let worth = shares.map(|a| bound(v - d + a * d) - bound(v) - 0.5 * (a - 1.0 - a.ln())).fold(0.0, f64::max);
        assert!(0.0 <= gain && gain <= worth + 1e-6, "{gain} and {worth}");
        assert!(worth == 0.0 || gain > 0.3 * worth, "{gain} and {worth}");
    }
    // a row far from all others, where log-noise is hardly known, has a prediction too
    let theta = [vec![0.3], vec![2.0], vec![0.1]];
    for (mean, variance) in [([0.0, 400.0], [1.0, 1e9]), ([1e3, -400.0], [1e6, 1e12])] {
        let moments = likelihood.moments(&theta, 0, &mean, &variance);
        assert!(moments.noise.is_finite() && likelihood.log_density(&theta, &[0.0], &mean, &variance).is_finite());
        assert!((likelihood.cdf(&theta, 0, mean[0], &mean, &variance) - 0.5).abs() < 1e-3);
    }
}
