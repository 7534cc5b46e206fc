//! What every kernel costs, in ns an element of a 100×128 cross block, forward with derivatives and backward.
//!
//! `cargo bench -p dkp`

#[path = "../../dkp-tape/benches/timer/mod.rs"]
mod timer;

use dkp::kernels::*;
use dkp_tape::random::Key;
use dkp_tape::{KernelMap, Node, Pass, Tape};
use timer::seconds;

const ROWS: usize = 100;
const COLS: usize = 128;

fn main() {
    println!("ns an element of a {ROWS}×{COLS} cross block");
    println!("{:22} {:>8} {:>14} {:>9}", "", "value", "with gradient", "backward");
    time("Linear", Linear);
    time("SquaredExponential", SquaredExponential);
    time("Matern12", Matern12);
    time("Matern32", Matern32);
    time("Matern52", Matern52);
    time("RationalQuadratic", RationalQuadratic);
    time("ArcCosine0", ArcCosine0);
    time("Relu", Relu);
    time("ArcCosine2", ArcCosine2);
    time("Arcsine", Arcsine);
    time("LeakyRelu", LeakyRelu { slope: 0.1 });
}

/// Times the kernel's node among those that its arguments need: a Gram matrix of points in ten dimensions.
fn time<K: KernelMap>(name: &str, kernel: K) {
    let mut tape = Tape::new(name);
    let (x, z) = (tape.leaf("x", 10, ROWS), tape.leaf("z", 10, COLS));
    let theta: Vec<Node> = K::names().iter().map(|_| tape.leaf("parameter", 1, 1)).collect();
    let (g, rows, cols) = (tape.matmul(x.t(), z), tape.column_norms(x), tape.column_norms(z));
    let mut without = tape.nested("without");
    let element = without.slice(g, 0..1, 0..1);
    without.output("element", element);
    let mut with = tape.nested("with");
    let k = with.kernel_cross(kernel, g, rows, cols, &theta);
    let element = with.slice(k, 0..1, 0..1);
    with.output("element", element);

    let mut outer = tape.finish().workspace();
    let wave = |n: usize, phase: f64| (0..n).map(|i| (1.7 * i as f64 + phase).sin()).collect::<Vec<f64>>();
    outer.set_slice(x, &wave(10 * ROWS, 0.0)).expect("finite");
    outer.set_slice(z, &wave(10 * COLS, 1.0)).expect("finite");
    for p in theta {
        outer.set_slice(p, &[1.5]).expect("finite");
    }
    outer.forward(Key::new(0), Pass::Gradient).expect("a run");
    let [(value, gradient, back), (value0, gradient0, back0)] = [with, without].map(|program| {
        let mut run = program.finish().workspace();
        let mut forward = |pass| seconds(|| run.forward_within(&[&outer], Key::new(0), pass).expect("a run"));
        let (value, gradient) = (forward(Pass::Value), forward(Pass::Gradient));
        let back = seconds(|| run.backward_within(&[&outer], &[1.0]).expect("finite gradients"));
        (value, gradient, back)
    });
    let each = |s: f64| s * 1e9 / (ROWS * COLS) as f64;
    let (value, gradient, back) = (each(value - value0), each(gradient - gradient0), each(back - back0));
    println!("{name:22} {value:8.2} {gradient:14.2} {back:9.2}");
}
