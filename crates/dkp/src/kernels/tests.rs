//! Every kernel: its value against the plain formula, its derivatives against finite differences, its limits.

use super::*;
use dkp_tape::gradcheck::{cases, gradcheck};
use dkp_tape::random::Key;
use dkp_tape::{Element, Jet, KernelMap, MOST_PARAMETERS, Pass, Tape};
use faer::Mat;
use std::f64::consts::PI;

/// Runs `$body` for every kernel `$kernel` with its plain formula `$formula(parameters, g, r, c)`.
macro_rules! for_every_kernel {
    (|$name:ident, $kernel:ident, $formula:ident| $body:block) => {{
        let distance = |g: f64, r: f64, c: f64| (r + c - 2.0 * g).max(0.0);
        let theta = |g: f64, r: f64, c: f64| (g / (r * c).sqrt()).clamp(-1.0, 1.0).acos();
        let relu = move |g: f64, r: f64, c: f64| {
            let t = theta(g, r, c);
            (r * c).sqrt() * (t.sin() + (PI - t) * t.cos()) / PI
        };
        for_every_kernel!(@one $name $kernel $formula $body Identity, |_: &[f64], g, _, _| g);
        for_every_kernel!(@one $name $kernel $formula $body Linear, |p: &[f64], g, _, _| p[0].powi(2) * g + p[1].powi(2));
        for_every_kernel!(@one $name $kernel $formula $body SquaredExponential,
            |p: &[f64], g, r, c| p[0].powi(2) * (-distance(g, r, c) / (2.0 * p[1].powi(2))).exp());
        for_every_kernel!(@one $name $kernel $formula $body Matern12,
            |p: &[f64], g, r, c| p[0].powi(2) * (-distance(g, r, c).sqrt() / p[1]).exp());
        for_every_kernel!(@one $name $kernel $formula $body Matern32, |p: &[f64], g, r, c| {
            let s = (3.0 * distance(g, r, c)).sqrt() / p[1];
            p[0].powi(2) * (1.0 + s) * (-s).exp()
        });
        for_every_kernel!(@one $name $kernel $formula $body Matern52, |p: &[f64], g, r, c| {
            let s = (5.0 * distance(g, r, c)).sqrt() / p[1];
            p[0].powi(2) * (1.0 + s + s * s / 3.0) * (-s).exp()
        });
        for_every_kernel!(@one $name $kernel $formula $body RationalQuadratic,
            |p: &[f64], g, r, c| p[0].powi(2) * (1.0 + distance(g, r, c) / (2.0 * p[2] * p[1].powi(2))).powf(-p[2]));
        for_every_kernel!(@one $name $kernel $formula $body ArcCosine0, |_: &[f64], g, r, c| 1.0 - theta(g, r, c) / PI);
        for_every_kernel!(@one $name $kernel $formula $body Relu, |_: &[f64], g, r, c| relu(g, r, c));
        for_every_kernel!(@one $name $kernel $formula $body ArcCosine2, |_: &[f64], g, r, c| {
            let t = theta(g, r, c);
            r * c * (3.0 * t.sin() * t.cos() + (PI - t) * (1.0 + 2.0 * t.cos().powi(2))) / PI
        });
        for_every_kernel!(@one $name $kernel $formula $body Arcsine,
            |_: &[f64], g, r, c| 2.0 / PI * (2.0 * g / ((1.0 + 2.0 * r) * (1.0 + 2.0 * c)).sqrt()).asin());
        for_every_kernel!(@one $name $kernel $formula $body LeakyRelu { slope: 0.2 },
            |_: &[f64], g, r, c| (0.64 * relu(g, r, c) + 0.4 * g) / 1.04);
    }};
    (@one $name:ident $kernel:ident $formula:ident $body:block $value:expr, $reference:expr) => {{
        let ($name, $kernel) = (stringify!($value), $value);
        let $formula: &dyn Fn(&[f64], f64, f64, f64) -> f64 = &$reference;
        $body
    }};
}

/// Heights, lengthscales and the like that are not 1.
const PARAMETERS: [f64; 4] = [1.3, 0.8, 0.6, 1.1];

fn at<K: KernelMap>(kernel: K, g: f64, row: f64, col: f64) -> Jet<MOST_PARAMETERS> {
    kernel.jet(&PARAMETERS[..K::names().len()], Element { g, row, col })
}

fn parameter_leaves<K: KernelMap>(_: K) -> Vec<Mat<f64>> {
    PARAMETERS[..K::names().len()].iter().map(|&p| Mat::from_fn(1, 1, |_, _| p)).collect()
}

#[test]
fn values_are_those_of_the_plain_formulas() {
    for_every_kernel!(|name, kernel, formula| {
        for i in 0..1000 {
            let (row, col) = (0.1 + 0.003 * i as f64, 2.0 + (i as f64).sin());
            let g = (0.7 * i as f64).cos() * (row * col).sqrt();
            let (ours, plain) = (at(kernel, g, row, col).value, formula(&PARAMETERS, g, row, col));
            assert!(
                (ours - plain).abs() < 1e-13 * plain.abs().max(1.0),
                "{name} at {g}, {row}, {col}: {ours} not {plain}"
            );
        }
    });
}

/// The three blocks of a kernel, over points and parameters that are leaves, against finite differences.
fn check_gradients(name: &str, kernel: &dyn Kernel) {
    println!("{name}");
    for n in [1, 6, 19] {
        let mut leaves = vec![cases::matrix(1, 4, n), cases::matrix(2, 4, 7)];
        let value = |p: usize| PARAMETERS[p % PARAMETERS.len()];
        leaves.extend((0..kernel.parameters().len()).map(|p| Mat::from_fn(1, 1, |_, _| value(p))));
        let report = gradcheck(&leaves, |t, x| {
            let (g, across) = (t.symmetric_product(x[0].t()), t.matmul(x[0].t(), x[1]));
            let (rows, cols) = (t.diagonal(g), t.column_norms(x[1]));
            let ii = kernel.symmetric(t, g, &x[2..]);
            let it = kernel.cross(t, across, rows, cols, &x[2..]);
            let tt = kernel.diagonal(t, cols, &x[2..]);
            // a matrix that depends on every element of the three blocks
            let all = t.matmul(ii, it);
            let scaled = t.scale_columns(all, tt);
            t.add(scaled, it)
        });
        report.unwrap().assert_below(1e-6);
    }
}

#[test]
fn gradients_over_every_block() {
    for_every_kernel!(|name, kernel, _formula| { check_gradients(name, &kernel) });
}

#[test]
fn gradients_of_kernels_made_of_kernels() {
    let sum = || Sum(Arc::new(Matern32), Arc::new(Scaled(Arc::new(Relu))));
    check_gradients("sum", &sum());
    check_gradients("product of a sum", &Product(Arc::new(sum()), Arc::new(Linear)));
}

/// Values of a sum, a product and a scaling, from those of their parts.
#[test]
fn kernels_made_of_kernels_have_their_values() {
    let kernel = Product(Arc::new(Sum(Arc::new(Matern32), Arc::new(Arcsine))), Arc::new(Scaled(Arc::new(Relu))));
    assert_eq!(kernel.parameters(), ["1.1.height", "1.1.lengthscale", "2.scale"]);
    let mut tape = Tape::new("composite");
    let g = tape.leaf("g", 1, 1);
    let (rows, cols) = (tape.number(2.0), tape.number(1.5));
    let theta = [PARAMETERS[0], PARAMETERS[1], 0.7].map(|p| tape.number(p));
    let k = kernel.cross(&mut tape, g, rows, cols, &theta);
    let mut run = tape.finish().workspace();
    run.set_slice(g, &[0.4]).unwrap();
    run.forward(Key::new(0), Pass::Value).unwrap();
    let [matern, arcsine, relu] =
        [at(Matern32, 0.4, 2.0, 1.5).value, at(Arcsine, 0.4, 2.0, 1.5).value, at(Relu, 0.4, 2.0, 1.5).value];
    assert!((run.scalar(k) - (matern + arcsine) * 0.7 * relu).abs() < 1e-15);
}

#[test]
#[should_panic(expected = "1 parameters for a kernel of [\"1.height\", \"1.lengthscale\"]")]
fn a_composite_kernel_names_the_parameters_that_it_lacks() {
    let mut tape = Tape::new("misuse");
    let (d, h) = (tape.leaf("d", 2, 1), tape.leaf("h", 1, 1));
    Sum(Arc::new(Matern12), Arc::new(Relu)).diagonal(&mut tape, d, &[h]);
}

/// On the diagonal g = r = c: the value, and the derivative along it.
#[test]
fn the_diagonal_is_exact() {
    for x in [1e-8, 0.3, 1.0, 7.7, 1e6] {
        let diagonal = |jet: (f64, f64, f64, f64)| (jet.0, jet.1 + jet.2 + jet.3);
        macro_rules! diagonal {
            ($kernel:expr) => {{
                let j = at($kernel, x, x, x);
                diagonal((j.value, j.g, j.row, j.col))
            }};
        }
        let h2 = PARAMETERS[0] * PARAMETERS[0];
        assert_eq!(diagonal!(SquaredExponential), (h2, 0.0));
        assert_eq!(diagonal!(Matern12), (h2, 0.0));
        assert_eq!(diagonal!(Matern32), (h2, 0.0));
        assert_eq!(diagonal!(Matern52), (h2, 0.0));
        assert_eq!(diagonal!(RationalQuadratic), (h2, 0.0));
        assert_eq!(diagonal!(ArcCosine0), (1.0, 0.0));
        let close = |(a, b): (f64, f64), (c, d): (f64, f64)| (a / c - 1.0).abs() < 1e-15 && (b / d - 1.0).abs() < 1e-15;
        assert!(close(diagonal!(Relu), (x, 1.0)));
        assert!(close(diagonal!(LeakyRelu { slope: 0.2 }), (x, 1.0)));
        assert!(close(diagonal!(ArcCosine2), (3.0 * x * x, 6.0 * x)));
    }
}

#[test]
fn nothing_is_infinite_at_coincident_opposite_zero_or_short_rows() {
    for_every_kernel!(|name, kernel, _formula| {
        let zero = [(0.0, 0.0, 0.0), (0.0, 0.0, 3.0), (0.0, 3.0, 0.0)];
        // so short that the product of their lengths, or its inverse, is not a number any more
        let short = [(1e-309, 1e-309, 1e-309), (0.0, 5e-324, 5e-324), (1e-320, 1e-320, 1e-310)];
        for (g, row, col) in [(2.0, 2.0, 2.0), (-2.0, 2.0, 2.0)].into_iter().chain(zero).chain(short) {
            let jet = at(kernel, g, row, col);
            let finite = [jet.value, jet.g, jet.row, jet.col].iter().all(|v| v.is_finite());
            assert!(finite && jet.parameters.iter().all(|v| v.is_finite()), "{name} at {g}, {row}, {col}");
        }
        assert!(at(kernel, f64::NAN, 1.0, 1.0).value.is_nan(), "{name} hides NaN");
    });
    // infinite derivatives are returned as 0
    assert_eq!(at(Matern12, 2.0, 2.0, 2.0).g, 0.0);
    assert_eq!((at(ArcCosine0, 2.0, 2.0, 2.0).g, at(ArcCosine0, -2.0, 2.0, 2.0).g), (0.0, 0.0));
    // where one row is zero, arc-cosine kernels of order 1 and 2 vanish with their derivatives
    for jet in [at(Relu, 0.0, 0.0, 3.0), at(ArcCosine2, 0.0, 3.0, 0.0)] {
        assert_eq!((jet.value, jet.g, jet.row, jet.col), (0.0, 0.0, 0.0, 0.0));
    }
}

/// Rows in opposite directions have K = 0 under the ReLU kernel, and nearly opposite ones K ≈ φ³/(3π), φ = π − θ.
#[test]
fn the_relu_kernel_near_opposite_rows() {
    assert_eq!(at(Relu, -1.0, 1.0, 1.0).value, 0.0);
    for phi in [1e-1, 1e-2, 1e-3_f64] {
        let value = at(Relu, -phi.cos(), 1.0, 1.0).value;
        let series = phi.powi(3) / (3.0 * PI) * (1.0 - phi * phi / 10.0);
        assert!((value - series).abs() < 1e-3 * phi.powi(7) + 1e-15 * phi, "φ {phi}: {value:e} and {series:e}");
    }
}

#[test]
fn every_kernel_matrix_is_positive_definite() {
    for_every_kernel!(|name, kernel, _formula| {
        let mut tape = Tape::new(name);
        let x = tape.leaf("x", 3, 40);
        let theta: Vec<_> = parameter_leaves(kernel).iter().map(|p| tape.number(p[(0, 0)])).collect();
        let (g, jitter) = (tape.symmetric_product(x.t()), tape.number(1e-9));
        let k = tape.kernel_symmetric(kernel, g, &theta);
        let k = tape.add_diagonal(k, jitter);
        tape.cholesky(k);
        let mut run = tape.finish().workspace();
        run.set(x, cases::matrix(5, 3, 40).as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
    });
}
