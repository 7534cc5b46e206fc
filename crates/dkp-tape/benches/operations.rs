//! What every operation costs, forward and backward, beside a plain matrix product of the same shape.
//!
//! `cargo bench -p dkp-tape` prints everything; `cargo bench -p dkp-tape -- step` only the named parts
//! (operations, random, step). Times are the best of many runs on one thread, except for the step.

#[path = "../tests/engine/layer.rs"]
mod layer;
mod timer;

use dkp_tape::random::{Key, fill_gamma, fill_gamma_derivative, fill_normal};
use dkp_tape::{Lower, Node, Pass, Tape};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use layer::{Problem, Size, SquaredExponential};
use timer::seconds;

fn main() {
    let parts: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|p| p == part);
    if wanted("operations") {
        for (m, b) in [(100, 455), (100, 128), (100, 64), (256, 1024)] {
            operations(m, b);
        }
    }
    if wanted("random") {
        random();
    }
    if wanted("step") {
        step();
    }
}

/// How an operation is recorded on its arguments, and on the factor of the first one if it takes one.
type Record = fn(&mut Tape, &[Node], Option<Lower>) -> Node;

/// An operation to be timed: its arguments' shapes, and its useful floating-point operations forward and backward
/// (none for operations that are bound by memory or by elementary functions).
struct Case {
    name: &'static str,
    arguments: Vec<(usize, usize)>,
    takes_factor: bool,
    flops: Option<[f64; 2]>,
    record: Record,
}

fn operations(m: usize, b: usize) {
    let (a, x) = (matrix(m, m), matrix(m, b));
    let mut y = Mat::zeros(m, b);
    let product = seconds(|| matmul(y.as_mut(), Accum::Replace, a.as_ref(), x.as_ref(), 1.0, Par::Seq));
    let rate = 2.0 * (m * m * b) as f64 / product;
    println!("\n(M, B) = ({m}, {b}); plain product M×M by M×B: {:.1} µs, {:.1} GFLOP/s", product * 1e6, rate * 1e-9);
    println!("useful flops: rate relative to the product's; others: ns an element");
    println!("{:40} {:>12} {:>12} {:>12} {:>12}", "", "forward µs", "", "backward µs", "");
    let (square, wide, tall, row, column, number) = ((m, m), (m, b), (b, m), (1, b), (m, 1), (1, 1));
    let mmb = (m * m * b) as f64;
    let mmm = (m * m * m) as f64;
    let costly = |name, arguments: &[(usize, usize)], forward, backward, record: Record| Case {
        name,
        arguments: arguments.to_vec(),
        takes_factor: name.contains('L'),
        flops: Some([forward, backward]),
        record,
    };
    let cheap = |name, arguments: &[(usize, usize)], record: Record| Case {
        name,
        arguments: arguments.to_vec(),
        takes_factor: name == "log_det",
        flops: None,
        record,
    };
    let cases = [
        costly("matmul A·X", &[square, wide], 2.0 * mmb, 4.0 * mmb, |t, x, _| t.matmul(x[0], x[1])),
        costly("matmul Aᵀ·X", &[square, wide], 2.0 * mmb, 4.0 * mmb, |t, x, _| t.matmul(x[0].t(), x[1])),
        costly("matmul X·Yᵀ", &[wide, wide], 2.0 * mmb, 4.0 * mmb, |t, x, _| t.matmul(x[0], x[1].t())),
        costly("symmetric_product X·Xᵀ", &[wide], mmb, 2.0 * mmb, |t, x, _| t.symmetric_product(x[0])),
        costly("cholesky", &[square], mmm / 3.0, mmm * 2.0 / 3.0, |t, x, _| t.cholesky(x[0]).matrix()),
        costly("cholesky_of_sum", &[square, square], mmm / 3.0, mmm * 2.0 / 3.0, |t, x, _| {
            let one = t.number(1.0);
            t.cholesky_of_sum(one, x[0], x[1]).matrix()
        }),
        costly("lower_times L·X", &[square, wide], mmb, 2.0 * mmb, |t, x, l| {
            t.lower_times(l.expect("a factor"), x[1])
        }),
        costly("times_lower X·L", &[square, tall], mmb, 2.0 * mmb, |t, x, l| {
            t.times_lower(x[1], l.expect("a factor"))
        }),
        costly("times_lower_transposed X·Lᵀ", &[square, tall], mmb, 2.0 * mmb, |t, x, l| {
            t.times_lower_transposed(x[1], l.expect("a factor"))
        }),
        costly("over_lower_transposed X·L⁻ᵀ", &[square, tall], mmb, 2.0 * mmb, |t, x, l| {
            t.over_lower_transposed(x[1], l.expect("a factor"))
        }),
        costly("over_lower_transposed_row_norms ‖L⁻¹x‖²", &[square, tall], mmb, 2.0 * mmb, |t, x, l| {
            t.over_lower_transposed_row_norms(x[1], l.expect("a factor"))
        }),
        costly("symmetric_product_lower L·Lᵀ", &[square], mmm / 3.0, mmm * 2.0 / 3.0, |t, _, l| {
            t.symmetric_product_lower(l.expect("a factor"))
        }),
        costly("lower_solve_lower L⁻¹·L", &[square], mmm / 3.0, mmm * 2.0 / 3.0, |t, _, l| {
            t.lower_solve_lower(l.expect("a factor"), l.expect("a factor")).matrix()
        }),
        costly("lower_solve_lower_squared_norm ‖L⁻¹L‖²", &[square], mmm / 3.0, mmm * 2.0 / 3.0, |t, _, l| {
            t.lower_solve_lower_squared_norm(l.expect("a factor"), l.expect("a factor"))
        }),
        costly("lower_solve L⁻¹·X", &[square, wide], mmb, 2.0 * mmb, |t, x, l| {
            t.lower_solve(l.expect("a factor"), x[1])
        }),
        costly("lower_transposed_solve L⁻ᵀ·X", &[square, wide], mmb, 2.0 * mmb, |t, x, l| {
            t.lower_transposed_solve(l.expect("a factor"), x[1])
        }),
        cheap("lower", &[square], |t, x, _| lower(t, x[0]).matrix()),
        cheap("log_det", &[square], |t, _, l| t.log_det(l.expect("a factor"))),
        cheap("diagonal", &[square], |t, x, _| t.diagonal(x[0])),
        cheap("add_diagonal", &[square, number], |t, x, _| t.add_diagonal(x[0], x[1])),
        cheap("add", &[wide, wide], |t, x, _| t.add(x[0], x[1])),
        cheap("product", &[wide, wide], |t, x, _| t.product(x[0], x[1])),
        cheap("affine", &[wide], |t, x, _| t.affine(x[0], 2.0, 1.0)),
        cheap("scale", &[wide, number], |t, x, _| t.scale(x[1], x[0])),
        cheap("scale_rows", &[wide, column], |t, x, _| t.scale_rows(x[1], x[0])),
        cheap("scale_columns", &[wide, row], |t, x, _| t.scale_columns(x[0], x[1])),
        cheap("row_norms", &[tall], |t, x, _| t.row_norms(x[0])),
        cheap("column_norms", &[wide], |t, x, _| t.column_norms(x[0])),
        cheap("column_dots", &[wide, wide], |t, x, _| t.column_dots(x[0], x[1])),
        cheap("squared_norm", &[wide], |t, x, _| t.squared_norm(x[0])),
        cheap("sum", &[wide], |t, x, _| t.sum(x[0])),
        cheap("transpose", &[wide], |t, x, _| t.transpose(x[0])),
        cheap("slice", &[wide], |t, x, _| t.slice(x[0], 0..x[0].rows() / 2, 0..x[0].cols())),
        cheap("gather_rows", &[wide], |t, x, _| {
            let rows: Vec<usize> = (0..x[0].rows()).rev().collect();
            t.gather_rows(x[0], &rows)
        }),
        cheap("log_sum_exp", &[wide], |t, x, _| t.log_sum_exp(x[0])),
        cheap("exp", &[wide], |t, x, _| t.exp(x[0])),
        cheap("softplus", &[wide], |t, x, _| t.softplus(x[0])),
        cheap("ln_gamma", &[column], |t, x, _| {
            let positive = t.square(x[0]);
            t.ln_gamma(positive)
        }),
        cheap("kernel_symmetric", &[square, number, number], |t, x, _| {
            t.kernel_symmetric(SquaredExponential, x[0], &x[1..3])
        }),
        cheap("kernel_cross", &[tall, row, column, number, number], |t, x, _| {
            t.kernel_cross(SquaredExponential, x[0], x[1], x[2], &x[3..5])
        }),
        cheap("kernel_diagonal", &[row, number, number], |t, x, _| {
            t.kernel_diagonal(SquaredExponential, x[0], &x[1..3])
        }),
        cheap("normals", &[wide], |t, x, _| t.normals(x[0].rows(), x[0].cols())),
        cheap("gammas", &[column], |t, x, _| {
            let shapes = t.map("shape", x[0], |x| (50.0 + x, 1.0));
            t.gammas(shapes)
        }),
    ];
    for case in cases {
        time_case(&case, rate);
    }
}

fn time_case(case: &Case, rate: f64) {
    let elements = (case.arguments[0].0 * case.arguments[0].1) as f64;
    print!("{:40}", case.name);
    for (i, seconds) in case_seconds(case).into_iter().enumerate() {
        let per = match case.flops {
            Some(flops) => format!("{:.2}", flops[i] / seconds / rate),
            None => format!("{:.2} ns", seconds * 1e9 / elements),
        };
        print!(" {:12.1} {per:>12}", seconds * 1e6);
    }
    println!();
}

/// Seconds of an operation's forward pass and of its adjoint: those of a program with it, less one without it.
fn case_seconds(case: &Case) -> [f64; 2] {
    let time = |with: bool| {
        let mut tape = Tape::new("bench");
        let nodes: Vec<Node> = case.arguments.iter().map(|&(r, c)| tape.leaf("x", r, c)).collect();
        // a copy of each leaf, so that adjoints are not those of leaves
        let copies: Vec<Node> = nodes.iter().map(|&n| tape.affine(n, 1.0, 0.0)).collect();
        // what the operation is not charged for: its arguments, and a triangular factor for those that take one
        let factor = case.takes_factor.then(|| lower(&mut tape, copies[0]));
        let mut ends = copies.clone();
        ends.extend(factor.map(Lower::matrix));
        if with {
            ends.push((case.record)(&mut tape, &copies, factor));
        }
        // outputs are single elements: they cost next to nothing, and their adjoints fill a whole matrix
        for end in &ends {
            let element = tape.slice(*end, 0..1, 0..1);
            tape.output("element", element);
        }
        let weights = vec![1.0; ends.len()];
        let mut run = tape.finish().workspace();
        for (&node, &(r, c)) in nodes.iter().zip(&case.arguments) {
            run.set(node, matrix(r, c).as_ref()).expect("finite");
        }
        let forward = seconds(|| run.forward(Key::new(0), Pass::Gradient).expect("a run"));
        let both = seconds(|| {
            run.forward(Key::new(0), Pass::Gradient).expect("a run");
            run.backward(&weights).expect("finite gradients");
        });
        [forward, both - forward]
    };
    let (with, without) = (time(true), time(false));
    // what is faster than the clock's noise shows as zero
    [0, 1].map(|i| (with[i] - without[i]).max(0.0))
}

fn matrix(rows: usize, cols: usize) -> Mat<f64> {
    // positive definite if square
    Mat::from_fn(rows, cols, |i, j| 0.1 * ((i * 7 + j * 13) as f64).sin() + if i == j { 20.0 } else { 0.0 })
}

fn lower(tape: &mut Tape, x: Node) -> Lower {
    let d = tape.diagonal(x);
    tape.lower(d, x)
}

fn random() {
    let key = Key::new(1).stream(0, 0);
    println!("\nrandom numbers, ns each");
    for rows in [100, 13, 256] {
        let mut x = vec![0.0; rows * 128];
        let t = seconds(|| fill_normal(key, rows, |j| j as u64, &mut x));
        println!("normals, 128 streams of {rows:3}      {:6.2}", t * 1e9 / x.len() as f64);
    }
    for a in [0.5, 2.0, 10.0, 57.0, 1000.0] {
        let (mut x, mut d) = (vec![0.0; 1024], vec![0.0; 1024]);
        let t = seconds(|| fill_gamma(key, &[a], |i| i as u64, &mut x));
        let u = seconds(|| fill_gamma_derivative(&[a], &x, &mut d));
        let (t, u) = (t * 1e9 / 1024.0, u * 1e9 / 1024.0);
        println!("gamma({a:6.1}): draw {t:6.1}, derivative {u:6.1}, both {:6.1}", t + u);
    }
}

fn step() {
    let parameters: usize = Problem::new(BOSTON).leaves.iter().map(|(leaf, _)| leaf.len()).sum();
    let Size { features, inducing, points, draws, .. } = BOSTON;
    println!("\none step: input Ω, one inverse-Wishart layer, two squared-exponential kernels, closed-form output");
    println!("N {points}, {features} features, M {inducing}, S {draws}; {parameters} parameters");
    for tile in [64, 92, 114, 152] {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            let [gradient, value] = pool.install(|| {
                let mut problem = Problem::new(Size { tile, ..BOSTON });
                let gradient = seconds(|| {
                    problem.gradient(Key::new(1)).expect("a step");
                });
                let value = seconds(|| {
                    problem.bound(Key::new(1)).expect("a bound");
                });
                [gradient, value].map(|s| s * 1e3)
            });
            println!("tile {tile:3}, {threads} thread(s): {gradient:6.2} ms with gradient, {value:6.2} ms without");
        }
    }
}

/// The boston table's shape.
const BOSTON: Size = Size { features: 13, inducing: 100, tile: 114, points: 455, draws: 10 };
