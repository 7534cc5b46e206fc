use super::*;
use crate::gradcheck::{cases, gradcheck};
use crate::{Pass, random::Key};
use faer::Mat;

/// h·exp(−R/(2ℓ²))·(1 + r/10 + c²/10): depends on all arguments, each in its own way.
struct Test;

impl KernelMap for Test {
    type Form = General<2>;
    const NAMES: &'static [&'static str] = &["height", "lengthscale"];

    #[inline(always)]
    fn at(&self, [h, l]: &[f64; 2], Element { g, row, col }: Element) -> Jet<2> {
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

/// h²·exp(−a·R/ℓ²), in every form that can have it.
struct Plain;
struct ByDistance;
struct ByExponent;

impl KernelMap for Plain {
    type Form = General<3>;
    const NAMES: &'static [&'static str] = &["height", "lengthscale", "rate"];

    #[inline(always)]
    fn at(&self, [h, l, a]: &[f64; 3], Element { g, row, col }: Element) -> Jet<3> {
        let u = crate::math::positive_part(row + col - 2.0 * g) / (l * l);
        let value = h * h * crate::math::exp(-a * u);
        let slope = -a * value / (l * l);
        let parameters = [2.0 * value / h, 2.0 * a * u * value / l, -u * value];
        Jet { value, g: -2.0 * slope, row: slope, col: slope, parameters }
    }
}

impl KernelMap for ByDistance {
    type Form = Stationary<1>;
    const NAMES: &'static [&'static str] = &["rate"];

    #[inline(always)]
    fn at(&self, [a]: &[f64; 1], u: f64) -> Profile<1> {
        let value = crate::math::exp(-a * u);
        Profile { value, slope: -a * value, parameters: [-u] }
    }
}

impl KernelMap for ByExponent {
    type Form = Exponential<1>;
    const NAMES: &'static [&'static str] = &["rate"];

    #[inline(always)]
    fn at(&self, [a]: &[f64; 1], u: f64) -> Profile<1> {
        Profile { value: -a * u, slope: -a, parameters: [-u] }
    }
}

/// w·g/√(rc).
struct Cosine;

impl KernelMap for Cosine {
    type Form = Angular<1>;
    const NAMES: &'static [&'static str] = &["weight"];

    #[inline(always)]
    fn at(&self, [w]: &[f64; 1], Element { g, row, col }: Element<Point>) -> Jet<1> {
        let inverse = row.inverse * col.inverse;
        let value = w * g * inverse;
        Jet {
            value,
            g: w * inverse,
            row: -0.5 * value / row.square,
            col: -0.5 * value / col.square,
            parameters: [g * inverse],
        }
    }
}

/// Runs `$body` for a kernel `$kernel` of every form.
macro_rules! for_every_form {
    (|$kernel:ident| $body:block) => {{
        for_every_form!(@one $kernel $body Test);
        for_every_form!(@one $kernel $body Plain);
        for_every_form!(@one $kernel $body ByDistance);
        for_every_form!(@one $kernel $body ByExponent);
        for_every_form!(@one $kernel $body Cosine);
    }};
    (@one $kernel:ident $body:block $type:ident) => {{
        #[allow(non_upper_case_globals, reason = "a kernel for each call")]
        const $kernel: $type = $type;
        $body
    }};
}

fn parameters<K: KernelMap>(_: K) -> Vec<Mat<f64>> {
    [1.3, 0.9, 0.7][..K::names().len()].iter().map(|&v| Mat::from_fn(1, 1, |_, _| v)).collect()
}

#[test]
fn gradients_over_a_cross_block() {
    for (m, n) in cases::SHAPES {
        for rows in [cases::positive(2, m, 1), Mat::from_fn(m, 1, |_, _| 0.5)] {
            // far enough from where the distance is clipped
            let leaves = [cases::matrix(1, m, n), rows, cases::positive(3, 1, n)];
            for_every_form!(|kernel| {
                let report = gradcheck(&[&leaves[..], &parameters(kernel)].concat(), |t, x| {
                    let far = t.affine(x[2], 1.0, 12.0);
                    t.kernel_cross(kernel, x[0], x[1], far, &x[3..])
                });
                report.unwrap().assert_below(1e-7);
            });
        }
    }
}

#[test]
fn gradients_over_a_symmetric_block_and_a_diagonal() {
    for n in [1, 4, 19] {
        for g in cases::awkward(1, n, n + 1).into_iter().chain([cases::matrix(2, n, n)]) {
            // widely scaled points are far apart: keep the exponent moderate
            let g = Mat::from_fn(g.nrows(), g.ncols(), |i, j| g[(i, j)].clamp(-2.0, 2.0));
            for_every_form!(|kernel| {
                let report = gradcheck(&[&[g.clone()][..], &parameters(kernel)].concat(), |t, x| {
                    let (g, shift) = (t.symmetric_product(x[0]), t.number(0.5));
                    let g = t.add_diagonal(g, shift);
                    let k = t.kernel_symmetric(kernel, g, &x[1..]);
                    // some kernels are the same for all points with themselves
                    t.product(k, g)
                });
                report.unwrap().assert_below(1e-6);
            });
        }
        for d in [cases::positive(3, n, 1), cases::positive(3, 1, n)] {
            for_every_form!(|kernel| {
                let leaves = [&[d.clone()][..], &parameters(kernel)].concat();
                let report = gradcheck(&leaves, |t, x| {
                    let k = t.kernel_diagonal(kernel, x[0], &x[1..]);
                    t.product(k, x[0])
                });
                report.unwrap().assert_below(1e-8);
            });
        }
    }
}

/// What one form computes from its parts another is told.
#[test]
fn a_kernel_is_the_same_in_every_form() {
    let theta = [1.3, 0.9, 0.7];
    for i in 0..100 {
        let (row, col) = (0.1 + 0.03 * i as f64, 2.0 + (i as f64).sin());
        let g = (0.7 * i as f64).cos() * (row * col).sqrt();
        let element = Element { g, row, col };
        let plain = Plain.jet(&theta, element);
        let numbers = |j: &Jet<MOST_PARAMETERS>| [&[j.value, j.g, j.row, j.col], &j.parameters[..]].concat();
        for jet in [ByDistance.jet(&theta, element), ByExponent.jet(&theta, element)] {
            for (a, b) in numbers(&jet).into_iter().zip(numbers(&plain)) {
                assert!((a - b).abs() <= 1e-14 * b.abs(), "{element:?}: {jet:?} and {plain:?}");
            }
        }
    }
    assert_eq!(ByExponent::names(), Plain::names());
}

#[test]
#[should_panic(expected = "kernel_symmetric: 1 parameters for a kernel of [\"height\", \"lengthscale\", \"rate\"]")]
fn every_parameter_must_be_given() {
    let mut tape = Tape::new("misuse");
    let (g, h) = (tape.leaf("g", 2, 2), tape.leaf("h", 1, 1));
    tape.kernel_symmetric(ByDistance, g, &[h]);
}

#[test]
#[should_panic(expected = "jet: 1 parameters for a kernel of [\"height\", \"lengthscale\", \"rate\"]")]
fn a_jet_needs_every_parameter() {
    ByDistance.jet(&[1.0], Element { g: 0.5, row: 1.0, col: 1.0 });
}

#[test]
fn blocks_agree_where_they_overlap() {
    let n = 11;
    for_every_form!(|kernel| {
        let mut tape = Tape::new("blocks");
        let x = tape.leaf("x", n, 3);
        let theta: Vec<_> = parameters(kernel).iter().map(|p| tape.number(p[(0, 0)])).collect();
        let g = tape.symmetric_product(x);
        let d = tape.diagonal(g);
        let symmetric = tape.kernel_symmetric(kernel, g, &theta);
        let cross = tape.kernel_cross(kernel, g, d, d, &theta);
        let diagonal = tape.kernel_diagonal(kernel, d, &theta);
        let mut run = tape.finish().workspace();
        run.set(x, cases::matrix(6, n, 3).as_ref()).unwrap();
        run.forward(Key::new(0), Pass::Value).unwrap();
        let values = run.value(symmetric).to_owned();
        assert_eq!(values, run.value(cross));
        assert!((0..n).all(|i| values[(i, i)] == run.value(diagonal)[(i, 0)]));
        // the pass with derivatives has the same values
        run.forward(Key::new(0), Pass::Gradient).unwrap();
        assert_eq!(values, run.value(symmetric));
    });
}
