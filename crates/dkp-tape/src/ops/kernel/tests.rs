use super::*;
use crate::gradcheck::{cases, gradcheck};
use crate::{Pass, random::Key};
use faer::Mat;

/// h·exp(−R/(2ℓ²))·(1 + r/10 + c²/10): depends on all arguments, each in its own way.
struct Test;

impl KernelMap for Test {
    type Parameters = [f64; 2];
    const NAMES: &'static [&'static str] = &["height", "lengthscale"];

    #[inline(always)]
    fn at(&self, [h, l]: &[f64; 2], g: f64, row: f64, col: f64) -> Jet<[f64; 2]> {
        let distance = row + col - 2.0 * g;
        let precision = 1.0 / (l * l);
        let base = crate::math::exp(-0.5 * precision * distance);
        let tilt = 1.0 + 0.1 * row + 0.1 * col * col;
        let value = h * base * tilt;
        Jet {
            value,
            g: precision * value,
            row: -0.5 * precision * value + h * base * 0.1,
            col: -0.5 * precision * value + h * base * 0.2 * col,
            parameters: [base * tilt, value * distance * precision / l],
        }
    }
}

/// The same with derivatives that follow from the value.
struct Again;

impl KernelMap for Again {
    type Parameters = [f64; 2];
    const NAMES: &'static [&'static str] = Test::NAMES;
    const FROM_VALUE: bool = true;

    #[inline(always)]
    fn at(&self, parameters: &[f64; 2], g: f64, row: f64, col: f64) -> Jet<[f64; 2]> {
        Test.at(parameters, g, row, col)
    }

    #[inline(always)]
    fn again(&self, [h, l]: &[f64; 2], g: f64, row: f64, col: f64, value: f64) -> Jet<[f64; 2]> {
        let (distance, precision) = (row + col - 2.0 * g, 1.0 / (l * l));
        let untilted = value / (1.0 + 0.1 * row + 0.1 * col * col);
        Jet {
            value,
            g: precision * value,
            row: -0.5 * precision * value + untilted * 0.1,
            col: -0.5 * precision * value + untilted * 0.2 * col,
            parameters: [value / h, value * distance * precision / l],
        }
    }
}

/// A function of the distance alone.
struct Cauchy;

impl KernelMap for Cauchy {
    type Parameters = [f64; 1];
    const NAMES: &'static [&'static str] = &["lengthscale"];
    const OF_DISTANCE: bool = true;

    #[inline(always)]
    fn at(&self, [l]: &[f64; 1], g: f64, row: f64, col: f64) -> Jet<[f64; 1]> {
        let distance = row + col - 2.0 * g;
        let value = 1.0 / (1.0 + distance / l);
        Jet::of_distance(value, -value * value / l, [value * value * distance / (l * l)])
    }
}

#[test]
fn gradients_of_a_function_of_distance() {
    for n in [1, 4, 19] {
        let leaves =
            [cases::matrix(1, n, n), cases::positive(2, n, 1), cases::positive(3, 1, n), parameters()[1].clone()];
        gradcheck(&leaves, |t, x| {
            let g = t.symmetric_product(x[0]);
            let (d, shift) = (t.diagonal(g), t.affine(x[2], 1.0, 20.0));
            let symmetric = t.kernel_symmetric(Cauchy, g, &[x[3]]);
            let cross = t.kernel_cross(Cauchy, x[0], x[1], shift, &[x[3]]);
            let diagonal = t.kernel_diagonal(Cauchy, d, &[x[3]]);
            let both = t.product(symmetric, cross);
            t.scale_rows(diagonal, both)
        })
        .unwrap()
        .assert_below(1e-7);
    }
}

fn parameters() -> [Mat<f64>; 2] {
    [1.3, 0.9].map(|v| Mat::from_fn(1, 1, |_, _| v))
}

#[test]
fn gradients_over_a_cross_block() {
    for (m, n) in cases::SHAPES {
        let [h, l] = parameters();
        for rows in [cases::positive(2, m, 1), Mat::from_fn(m, 1, |_, _| 0.5)] {
            let leaves = [cases::matrix(1, m, n), rows, cases::positive(3, 1, n), h.clone(), l.clone()];
            let kept = gradcheck(&leaves, |t, x| t.kernel_cross(Test, x[0], x[1], x[2], &[x[3], x[4]]));
            let again = gradcheck(&leaves, |t, x| t.kernel_cross(Again, x[0], x[1], x[2], &[x[3], x[4]]));
            [kept, again].into_iter().for_each(|report| report.unwrap().assert_below(1e-7));
        }
    }
}

#[test]
fn gradients_over_a_symmetric_block_and_a_diagonal() {
    for n in [1, 4, 19] {
        let [h, l] = parameters();
        for g in cases::awkward(1, n, n + 1).into_iter().chain([cases::matrix(2, n, n)]) {
            // widely scaled points are far apart: keep the exponent moderate
            let g = Mat::from_fn(g.nrows(), g.ncols(), |i, j| g[(i, j)].clamp(-2.0, 2.0));
            let leaves = [g, h.clone(), l.clone()];
            let kept = gradcheck(&leaves, |t, x| {
                let g = t.symmetric_product(x[0]);
                t.kernel_symmetric(Test, g, &[x[1], x[2]])
            });
            let again = gradcheck(&leaves, |t, x| {
                let g = t.symmetric_product(x[0]);
                t.kernel_symmetric(Again, g, &[x[1], x[2]])
            });
            [kept, again].into_iter().for_each(|report| report.unwrap().assert_below(1e-6));
        }
        for d in [cases::positive(3, n, 1), cases::positive(3, 1, n)] {
            let leaves = [d, h.clone(), l.clone()];
            let kept = gradcheck(&leaves, |t, x| t.kernel_diagonal(Test, x[0], &[x[1], x[2]]));
            let again = gradcheck(&leaves, |t, x| t.kernel_diagonal(Again, x[0], &[x[1], x[2]]));
            [kept, again].into_iter().for_each(|report| report.unwrap().assert_below(1e-8));
        }
    }
}

/// Says that it depends on the distance alone, and does not.
struct Liar;

impl KernelMap for Liar {
    type Parameters = [f64; 0];
    const NAMES: &'static [&'static str] = &[];
    const OF_DISTANCE: bool = true;

    #[inline(always)]
    fn at(&self, _: &[f64; 0], g: f64, _: f64, _: f64) -> Jet<[f64; 0]> {
        Jet { value: g, g: 1.0, row: 0.0, col: 0.0, parameters: [] }
    }
}

/// Its first parameter is no height.
struct Wrong;

impl KernelMap for Wrong {
    type Parameters = [f64; 1];
    const NAMES: &'static [&'static str] = &["factor"];
    const HAS_HEIGHT: bool = true;

    #[inline(always)]
    fn at(&self, [a]: &[f64; 1], g: f64, _: f64, _: f64) -> Jet<[f64; 1]> {
        Jet { value: a * g, g: *a, row: 0.0, col: 0.0, parameters: [g] }
    }
}

/// Forgets a factor when asked again.
struct Forgetful;

impl KernelMap for Forgetful {
    type Parameters = [f64; 1];
    const NAMES: &'static [&'static str] = &["factor"];
    const FROM_VALUE: bool = true;

    #[inline(always)]
    fn at(&self, [a]: &[f64; 1], g: f64, _: f64, _: f64) -> Jet<[f64; 1]> {
        Jet { value: a * g, g: *a, row: 0.0, col: 0.0, parameters: [g] }
    }

    #[inline(always)]
    fn again(&self, [a]: &[f64; 1], _: f64, _: f64, _: f64, value: f64) -> Jet<[f64; 1]> {
        Jet { value, g: *a, row: 0.0, col: 0.0, parameters: [2.0 * value] }
    }
}

/// Is another kernel where roots are known.
struct Moody;

impl KernelMap for Moody {
    type Parameters = [f64; 0];
    const NAMES: &'static [&'static str] = &[];
    const OF_LENGTHS: bool = true;

    #[inline(always)]
    fn at(&self, _: &[f64; 0], g: f64, _: f64, _: f64) -> Jet<[f64; 0]> {
        Jet { value: g, g: 1.0, row: 0.0, col: 0.0, parameters: [] }
    }

    #[inline(always)]
    fn between(&self, _: &[f64; 0], g: f64, row: Point, _: Point) -> Jet<[f64; 0]> {
        Jet { value: g * row.root * 1.1, g: 1.0, row: 0.0, col: 0.0, parameters: [] }
    }
}

#[test]
#[should_panic(expected = "kernel_symmetric: `between` is another kernel than `at`")]
fn a_kernel_that_is_another_between_points_is_found_out() {
    let mut tape = Tape::new("misuse");
    let g = tape.leaf("g", 2, 2);
    tape.kernel_symmetric(Moody, g, &[]);
}

#[test]
#[should_panic(expected = "kernel_symmetric: `again` has other derivatives than `at`")]
fn a_kernel_that_contradicts_itself_is_found_out() {
    let mut tape = Tape::new("misuse");
    let (g, a) = (tape.leaf("g", 2, 2), tape.leaf("a", 1, 1));
    tape.kernel_symmetric(Forgetful, g, &[a]);
}

#[test]
#[should_panic(expected = "kernel_symmetric: HAS_HEIGHT is set, but")]
fn a_first_parameter_that_is_no_height_is_refused() {
    let mut tape = Tape::new("misuse");
    let (g, a) = (tape.leaf("g", 2, 2), tape.leaf("a", 1, 1));
    tape.kernel_symmetric(Wrong, g, &[a]);
}

#[test]
#[should_panic(expected = "kernel_symmetric: OF_DISTANCE is set, but")]
fn a_kernel_that_is_no_function_of_distance_is_found_out() {
    let mut tape = Tape::new("misuse");
    let g = tape.leaf("g", 2, 2);
    tape.kernel_symmetric(Liar, g, &[]);
}

#[test]
#[should_panic(expected = "kernel_symmetric: 1 parameters for a kernel of [\"height\", \"lengthscale\"]")]
fn every_parameter_must_be_given() {
    let mut tape = Tape::new("misuse");
    let (g, h) = (tape.leaf("g", 2, 2), tape.leaf("h", 1, 1));
    tape.kernel_symmetric(Test, g, &[h]);
}

#[test]
fn blocks_agree_where_they_overlap() {
    let n = 11;
    let mut tape = Tape::new("blocks");
    let x = tape.leaf("x", n, 3);
    let (h, l) = (tape.number(1.1), tape.number(0.8));
    let g = tape.symmetric_product(x);
    let d = tape.diagonal(g);
    let symmetric = tape.kernel_symmetric(Test, g, &[h, l]);
    let cross = tape.kernel_cross(Test, g, d, d, &[h, l]);
    let diagonal = tape.kernel_diagonal(Test, d, &[h, l]);
    let mut run = tape.finish().workspace();
    run.set(x, cases::matrix(6, n, 3).as_ref()).unwrap();
    run.forward(Key::new(0), Pass::Value).unwrap();
    let values = run.value(symmetric).to_owned();
    assert_eq!(values, run.value(cross));
    assert!((0..n).all(|i| values[(i, i)] == run.value(diagonal)[(i, 0)]));
    // the pass with derivatives has the same values
    run.forward(Key::new(0), Pass::Gradient).unwrap();
    assert_eq!(values, run.value(symmetric));
}
