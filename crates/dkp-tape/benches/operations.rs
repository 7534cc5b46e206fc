//! What every operation costs, forward and backward, beside a plain matrix product of the same shape.
//!
//! `cargo bench -p dkp-tape` prints everything; `cargo bench -p dkp-tape -- step` only the named parts
//! (operations, random, step). Times are the best of many runs on one thread, except for the step.

#[path = "../tests/engine/layer.rs"]
mod layer;

use dkp_tape::random::{Key, fill_gamma, fill_gamma_derivative, fill_normal};
use dkp_tape::{Lower, Node, Pass, Tape};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use layer::{Problem, Size, SquaredExponential};
use std::time::Instant;

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

/// Seconds of one call: the best of some batches, each long enough for the clock.
fn seconds(mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    f();
    let once = start.elapsed().as_secs_f64().max(1e-7);
    let batch = (2e-3 / once).ceil().max(1.0) as usize;
    let mut best = f64::INFINITY;
    for _ in 0..25 {
        let start = Instant::now();
        (0..batch).for_each(|_| f());
        best = best.min(start.elapsed().as_secs_f64() / batch as f64);
    }
    best
}

/// An operation to be timed: what it is called, its leaves, how it is recorded, and its useful floating-point
/// operations forward and backward (none for operations that are bound by memory).
struct Case {
    name: &'static str,
    leaves: Vec<(usize, usize)>,
    record: fn(&mut Tape, &[Node]) -> Node,
    flops: Option<(f64, f64)>,
}

impl Case {
    /// What the operation needs beforehand and is not charged for: the triangular factor, for those that take one.
    fn record_base(&self, tape: &mut Tape, leaves: &[Node]) {
        if self.name.starts_with("solve") || self.name == "log_det" {
            lower(tape, leaves[0]);
        }
    }
}

fn operations(m: usize, b: usize) {
    let (a, x) = (matrix(m, m), matrix(m, b));
    let mut y = Mat::zeros(m, b);
    let product = seconds(|| matmul(y.as_mut(), Accum::Replace, a.as_ref(), x.as_ref(), 1.0, Par::Seq));
    let (mf, bf) = (m as f64, b as f64);
    let rate = 2.0 * mf * mf * bf / product;
    println!("\n(M, B) = ({m}, {b}); plain product M×M by M×B: {:.1} µs, {:.1} GFLOP/s", product * 1e6, rate * 1e-9);
    println!("{:28} {:>11} {:>11} {:>12} {:>11}", "", "forward µs", "of product", "backward µs", "of product");
    let wide = |name, record, flops| Case { name, leaves: vec![(m, b)], record, flops };
    let two = |name, record, flops| Case { name, leaves: vec![(m, b), (m, b)], record, flops };
    let square = |name, record, flops| Case { name, leaves: vec![(m, m)], record, flops };
    let mmb = mf * mf * bf;
    let cases = [
        Case {
            name: "matmul A·X",
            leaves: vec![(m, m), (m, b)],
            record: |t, x| t.matmul(x[0], x[1]),
            flops: Some((2.0 * mmb, 4.0 * mmb)),
        },
        Case {
            name: "matmul Aᵀ·X",
            leaves: vec![(m, m), (m, b)],
            record: |t, x| t.matmul(x[0].t(), x[1]),
            flops: Some((2.0 * mmb, 4.0 * mmb)),
        },
        two("matmul X·Yᵀ", |t, x| t.matmul(x[0], x[1].t()), Some((2.0 * mmb, 4.0 * mmb))),
        wide("symmetric_product X·Xᵀ", |t, x| t.symmetric_product(x[0]), Some((mmb, 2.0 * mmb))),
        square("cholesky", |t, x| t.cholesky(x[0]).matrix(), Some((mf.powi(3) / 3.0, mf.powi(3) * 7.0 / 3.0))),
        Case {
            name: "solve L⁻¹·X",
            leaves: vec![(m, m), (m, b)],
            record: |t, x| {
                let l = lower(t, x[0]);
                t.solve(l, x[1])
            },
            flops: Some((mmb, 2.0 * mmb)),
        },
        Case {
            name: "solve_transposed L⁻ᵀ·X",
            leaves: vec![(m, m), (m, b)],
            record: |t, x| {
                let l = lower(t, x[0]);
                t.solve_transposed(l, x[1])
            },
            flops: Some((mmb, 2.0 * mmb)),
        },
        square("lower", |t, x| lower(t, x[0]).matrix(), None),
        square(
            "log_det",
            |t, x| {
                let l = lower(t, x[0]);
                t.log_det(l)
            },
            None,
        ),
        square("diagonal", |t, x| t.diagonal(x[0]), None),
        square(
            "add_diagonal",
            |t, x| {
                let one = t.number(1.0);
                t.add_diagonal(x[0], one)
            },
            None,
        ),
        two("add", |t, x| t.add(x[0], x[1]), None),
        two("product", |t, x| t.product(x[0], x[1]), None),
        wide("affine", |t, x| t.affine(x[0], 2.0, 1.0), None),
        Case { name: "scale", leaves: vec![(1, 1), (m, b)], record: |t, x| t.scale(x[0], x[1]), flops: None },
        Case { name: "scale_rows", leaves: vec![(m, 1), (m, b)], record: |t, x| t.scale_rows(x[0], x[1]), flops: None },
        Case {
            name: "scale_columns",
            leaves: vec![(1, b), (m, b)],
            record: |t, x| t.scale_columns(x[1], x[0]),
            flops: None,
        },
        wide("column_norms", |t, x| t.column_norms(x[0]), None),
        two("column_dots", |t, x| t.column_dots(x[0], x[1]), None),
        wide("squared_norm", |t, x| t.squared_norm(x[0]), None),
        wide("transpose", |t, x| t.transpose(x[0]), None),
        wide("slice", |t, x| t.slice(x[0], 0..x[0].rows() / 2, 0..x[0].cols()), None),
        wide(
            "gather_rows",
            |t, x| {
                let rows: Vec<usize> = (0..x[0].rows()).rev().collect();
                t.gather_rows(x[0], &rows)
            },
            None,
        ),
        wide("log_sum_exp", |t, x| t.log_sum_exp(x[0]), None),
        wide("exp", |t, x| t.exp(x[0]), None),
        Case {
            name: "kernel_symmetric",
            leaves: vec![(m, m), (1, 1), (1, 1)],
            record: |t, x| t.kernel_symmetric(SquaredExponential, x[0], &[x[1], x[2]]),
            flops: None,
        },
        Case {
            name: "kernel_cross",
            leaves: vec![(m, b), (m, 1), (1, b), (1, 1), (1, 1)],
            record: |t, x| t.kernel_cross(SquaredExponential, x[0], x[1], x[2], &[x[3], x[4]]),
            flops: None,
        },
    ];
    for case in cases {
        time_case(&case, rate, m * if case.leaves.contains(&(m, b)) { b } else { m });
    }
}

fn time_case(case: &Case, rate: f64, elements: usize) {
    let [forward, backward] = case_seconds(case);
    let print = |seconds: f64, flops: Option<f64>| match flops {
        Some(f) => format!("{:11.1} {:>11.2}", seconds * 1e6, f / seconds / rate),
        None => format!("{:11.1} {:>8.2} ns", seconds * 1e6, seconds * 1e9 / elements as f64),
    };
    let (f, b) = (case.flops.map(|f| f.0), case.flops.map(|f| f.1));
    println!("{:28} {} {:>1}{}", case.name, print(forward, f), "", print(backward, b));
}

/// Seconds of an operation's forward pass and of its adjoint: those of a program with it, less one without it.
fn case_seconds(case: &Case) -> [f64; 2] {
    let time = |with: bool| {
        let mut tape = Tape::new("bench");
        let nodes: Vec<Node> = case.leaves.iter().map(|&(r, c)| tape.leaf("x", r, c)).collect();
        // a copy of each leaf, so that adjoints are not those of leaves
        let copies: Vec<Node> = nodes.iter().map(|&n| tape.affine(n, 1.0, 0.0)).collect();
        // outputs are single elements: they cost next to nothing, and their adjoints fill a whole matrix
        let ends = if with {
            vec![(case.record)(&mut tape, &copies)]
        } else {
            case.record_base(&mut tape, &copies);
            copies
        };
        for end in &ends {
            let element = tape.slice(*end, 0..1, 0..1);
            tape.output("element", element);
        }
        let weights = vec![1.0; ends.len()];
        let mut run = tape.finish().workspace();
        for (&node, &(r, c)) in nodes.iter().zip(&case.leaves) {
            run.set(node, matrix(r, c).as_ref()).expect("finite");
        }
        let forward = seconds(|| run.forward(Key::new(0), Pass::Gradient).expect("a run"));
        let both = seconds(|| {
            run.forward(Key::new(0), Pass::Gradient).expect("a run");
            run.backward(&weights);
        });
        [forward, both - forward]
    };
    let (with, without) = (time(true), time(false));
    [0, 1].map(|i| (with[i] - without[i]).max(1e-9))
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
