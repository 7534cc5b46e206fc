//! The laws that make these processes: consistency, and the law of extended draws.

use super::*;
use crate::distributions;
use crate::gram::DataBlock;
use crate::kernels::{Kernel, Matern12, Relu, SquaredExponential};
use crate::laws::{assert_law, chi_squared_cdf};
use crate::output::Posterior;
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use dkp_tape::{Pass, Workspace};
use faer::linalg::solvers::DenseSolveCore as _;
use faer::{Mat, mat};

/// Draws for a comparison of laws.
pub(super) const DRAWS: u64 = 100_000;
pub(super) const DELTA: f64 = 2.5;

pub(super) fn inverse(m: &Mat<f64>) -> Mat<f64> {
    m.partial_piv_lu().inverse()
}

/// Σ cᵢcⱼSᵢⱼ for fixed c, different in every element.
pub(super) fn quadratic(s: &Mat<f64>) -> f64 {
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
pub(super) struct Extended {
    run: Workspace,
    pub(super) kernel: [Node; 3],
    gram: [Node; 3],
}

impl Extended {
    /// M inducing and B data points, one by one or jointly. Inducing point i is at `place(i)`, data point j at `place(10 + j)`.
    pub(super) fn new(m: usize, b: usize, jointly: bool, process: impl FnOnce(&mut Tape) -> Box<dyn Law>) -> Extended {
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
    pub(super) fn whole(&self, nodes: [Node; 3], j: Option<usize>) -> Mat<f64> {
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

    pub(super) fn draws(&mut self, j: Option<usize>) -> Vec<Mat<f64>> {
        let draw = |n: u64| {
            self.run.forward(Key::new(11).step(n), Pass::Value).unwrap();
            self.whole(self.gram, j)
        };
        (0..DRAWS).map(draw).collect()
    }
}

/// Fails unless the draws are from W⁻¹(Ψ, ν): for every c, cᵀΨc/cᵀGc ~ χ²(ν−P+1), and cᵀG⁻¹c/cᵀΨ⁻¹c ~ χ²(ν).
pub(super) fn assert_inverse_wishart(what: &str, draws: &[Mat<f64>], psi: &Mat<f64>, nu: f64) {
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
pub(super) fn assert_inverse_wishart_process(what: &str, draws: &[Mat<f64>], kernel: &Mat<f64>) {
    assert_inverse_wishart(what, draws, &(faer::Scale(DELTA) * kernel), DELTA + kernel.nrows() as f64 + 1.0);
}

fn inverse_wishart_prior(m: usize) -> impl FnOnce(&mut Tape) -> Box<dyn Law> {
    move |tape| {
        let delta = tape.number(DELTA);
        Box::new(InverseWishartLaw::prior(tape, delta, m))
    }
}

fn wishart_prior(m: usize, width: usize) -> impl FnOnce(&mut Tape) -> Box<dyn Law> {
    move |tape| {
        let q = m.min(width);
        let [ones, means, deviations] = [(q, 1, 1.0), (m, q, 0.0), (m, q, 1.0)]
            .map(|(rows, cols, value)| tape.constant(rows, cols, &vec![value; rows * cols]));
        Box::new(WhitenedWishartLaw::new(tape, width, ones, ones, means, deviations))
    }
}

/// G over inducing and data points is XᵀΩX/N₀, where features count as scaled, and the Gram form extended by a point has the law of the process.
#[test]
fn input_layers_extend_to_data_points() {
    let (features, m, b) = (4, 3, 2);
    let (xi, xt) = (cases::matrix(1, features, m), cases::matrix(2, features, b));
    let (scale, bias) = (mat![[0.5], [1.5], [2.0], [-0.7]], mat![[0.3], [0.0], [-0.4], [1.1]]);
    for form in ["fixed", "omega", "wishart", "gram"] {
        for (jointly, scaled) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut tape = Tape::new("input");
            tape.points(b);
            let nodes = [&xi, &xt].map(|x| distributions::constant(&mut tape, x.as_ref()));
            let scaling = scaled.then(|| {
                let [scale, bias] = [&scale, &bias].map(|x| distributions::constant(&mut tape, x.as_ref()));
                Scaling { scale, bias }
            });
            let counted = |x: &Mat<f64>| match scaled {
                true => Mat::from_fn(features, x.ncols(), |i, j| scale[(i, 0)] * (x[(i, j)] + bias[(i, 0)])),
                false => x.clone(),
            };
            let (xi, xt) = (counted(&xi), counted(&xt));
            let delta = tape.number(DELTA);
            let input: Input<Box<dyn Law>> = match form {
                "fixed" => Input::Fixed,
                "wishart" => Input::Omega(Box::new(GaussianFeaturesLaw::prior(3))),
                "omega" => Input::Omega(Box::new(InverseWishartLaw::prior(&mut tape, delta, features))),
                _ => Input::Gram(Box::new(InverseWishartLaw::prior(&mut tape, delta, m))),
            };
            let draw = input.draw(&mut tape, scaling, nodes[0]);
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
    for process in ["inverse Wishart", "features", "narrow Wishart", "wide Wishart"] {
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
            let k_ii = ii.kernel(&mut tape, &Matern12, &theta);
            let kernel = gram.kernel(&mut tape, k_ii, &Matern12, &theta);
            let draw = match process {
                "features" => GaussianFeaturesLaw::prior(6).draw(&mut tape, k_ii),
                "narrow Wishart" => wishart_prior(m, 3)(&mut tape).draw(&mut tape, k_ii),
                "wide Wishart" => wishart_prior(m, 9)(&mut tape).draw(&mut tape, k_ii),
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

/// Data points that are inducing points, or the origin, through the whole input layer: it takes data and inducing points to Gram matrices by different products,
/// which must agree where scales differ widely and biases are large or nearly cancel points.
#[test]
fn coincident_points_are_no_trouble_for_input_layers() {
    let (features, m, b) = (3, 6, 4);
    let xi = cases::matrix(1, features, m);
    // three inducing points, and the origin
    let data = |bias: &Mat<f64>| Mat::from_fn(features, b, |i, n| if n == 3 { -bias[(i, 0)] } else { xi[(i, n)] });
    let near = Mat::from_fn(features, 1, |i, _| 1e-3 - xi[(i, 1)]);
    let scalings = [
        (mat![[1.0], [1.0], [1.0]], mat![[100.0], [-30.0], [7.0]]),
        (mat![[1e-3], [1.0], [1e3]], mat![[0.5], [0.0], [-0.5]]),
        (mat![[0.7], [1.0], [1.3]], near),
    ];
    let kernels: [&dyn Kernel; 3] = [&Matern12, &SquaredExponential, &Relu];
    for (which, (scale, bias)) in scalings.iter().enumerate() {
        for (form, kernel) in ["fixed", "omega"].into_iter().flat_map(|f| kernels.map(|k| (f, k))) {
            let place = format!("{form}, scaling {which}, {}", kernel.name());
            let mut tape = Tape::new("coincident");
            tape.points(b);
            let xt = data(bias);
            let [xi, xt, scale, bias] = [&xi, &xt, scale, bias].map(|x| distributions::constant(&mut tape, x.as_ref()));
            let delta = tape.number(DELTA);
            let input: Input<Box<dyn Law>> = match form {
                "fixed" => Input::Fixed,
                _ => Input::Omega(Box::new(InverseWishartLaw::prior(&mut tape, delta, features))),
            };
            let first = input.draw(&mut tape, Some(Scaling { scale, bias }), xi);
            let gram = first.extend(&mut tape, xt);
            let theta: Vec<Node> = kernel.parameters().iter().map(|_| tape.number(1.1)).collect();
            let k_ii = first.gram.kernel(&mut tape, kernel, &theta);
            let k = gram.kernel(&mut tape, k_ii, kernel, &theta);
            let drawn = inverse_wishart_prior(m)(&mut tape).draw(&mut tape, k_ii);
            let result = drawn.extension.extend(&mut tape, k);
            let DataBlock::Diagonal(tt) = result.tt else { panic!("points one by one") };
            let mut run = tape.finish().workspace();
            run.set_point_ids(&[0, 1, 2, 3]);
            for n in 0..50 {
                run.forward(Key::new(n), Pass::Value).unwrap_or_else(|e| panic!("{place}: {e}"));
                let (g_ii, g_ti) = (run.value(gram.ii.matrix), run.value(gram.ti));
                for (i, j) in (0..m).flat_map(|i| (0..3).map(move |j| (i, j))) {
                    let scale = (g_ii[(i, i)] * g_ii[(j, j)]).sqrt();
                    assert!((g_ti[(j, i)] - g_ii[(i, j)]).abs() < 1e-11 * scale, "{place}");
                }
                assert!((0..b).all(|t| run.value(tt)[(0, t)].is_finite()), "{place}");
                assert!((0..m).all(|i| (0..b).all(|t| run.value(result.ti)[(t, i)].is_finite())), "{place}");
                assert_eq!(run.jitter().count, 0, "{place}");
            }
        }
    }
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

/// A point's result follows its own column and its own id: other points, their order, padding and the number of points in the
/// program (from eight on) change no bit.
#[test]
fn a_data_points_draw_depends_on_itself_alone() {
    let all = cases::matrix(2, 3, 160);
    for process in ["inverse Wishart", "posterior", "features", "posterior features", "Wishart"] {
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
        "features" => GaussianFeaturesLaw::prior(6).draw(&mut tape, k_ii),
        "Wishart" => wishart_prior(m, 20)(&mut tape).draw(&mut tape, k_ii),
        "posterior features" => {
            let t = noise_root(&mut tape, t);
            let posterior = Posterior::new(&mut tape, v, &[t]);
            GaussianFeaturesLaw::posterior(posterior).draw(&mut tape, k_ii)
        }
        "posterior" => {
            let (delta, gamma) = (tape.number(DELTA), tape.number(1.3));
            InverseWishartLaw::posterior(&mut tape, delta, gamma, v).draw(&mut tape, k_ii)
        }
        _ => inverse_wishart_prior(m)(&mut tape).draw(&mut tape, k_ii),
    };
    let result = draw.extension.extend(&mut tape, kernel);
    let DataBlock::Diagonal(tt) = result.tt else { unreachable!("points one by one") };
    (tape.finish().workspace(), xt, result.ti, tt)
}
