//! What an inverse-Wishart layer costs beside a plain matrix product: its draw at M inducing points with log P − log Q, and its
//! extension to B data points, each forward and backward, without the kernels around them.
//!
//! `cargo bench -p dkp --bench processes`

#[path = "../../dkp-tape/benches/timer/mod.rs"]
mod timer;

use dkp::gram::{Block, DataBlock, Gram};
use dkp::processes::{InverseWishartLaw, Law as _};
use dkp_tape::random::Key;
use dkp_tape::{Pass, Tape};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use timer::seconds;

/// Useful floating-point operations of a draw, in units of M³, forward and backward: the factors of K and of δK + VVᵀ, ‖L_q⁻¹L‖²,
/// F = L_qA⁻¹ and FFᵀ (⅓ + ⅔ each); Q = L⁻¹F forward only, since gradients reach it from tiles alone (with them a draw has 6).
const DRAW: f64 = 5.0 * (1.0 / 3.0 + 2.0 / 3.0) + 1.0 / 3.0;
/// Of an extension, in units of M²B: K_ti·L⁻ᵀ, (W + √g·ε)·Q and U·Fᵀ (1 each; backward 1 for the rows, 1 for the triangle).
const EXTENSION: f64 = 3.0 * (1.0 + 2.0);

fn main() {
    for (m, b) in [(100, 455), (100, 128), (200, 128)] {
        measure(m, b);
    }
}

fn measure(m: usize, b: usize) {
    let (a, x) = (Mat::from_fn(m, m, |i, j| (i + 2 * j) as f64), Mat::from_fn(m, b, |i, j| (2 * i + j) as f64));
    let mut y = Mat::zeros(m, b);
    let product = seconds(|| matmul(y.as_mut(), Accum::Replace, a.as_ref(), x.as_ref(), 1.0, Par::Seq));
    let rate = 2.0 * (m * m * b) as f64 / product;
    println!("M {m}, B {b}; plain product M×M by M×B: {:.1} GFLOP/s", rate * 1e-9);

    let mut step = Tape::new("step");
    let root = step.leaf("root of K", m, m);
    let (ti, tt) = (step.leaf("K_ti", b, m), step.leaf("K_tt", 1, b));
    let (log_delta, log_gamma, v) = (step.leaf("log δ", 1, 1), step.leaf("log γ", 1, 1), step.leaf("V", m, m));
    let (delta, gamma) = (step.exp(log_delta), step.exp(log_gamma));
    let k = step.symmetric_product(root);
    let process = InverseWishartLaw::posterior(&mut step, delta, gamma, v);

    let mut draw = step.nested("draw");
    let kernel = Block::new(&mut draw, k);
    let drawn = process.draw(&mut draw, kernel);
    draw.output("log ratio", drawn.log_ratio.expect("a posterior"));
    let size = draw.squared_norm(drawn.gram.matrix);
    draw.output("size", size);

    let mut tile = draw.nested("tile");
    tile.points(b);
    let data = Gram { ii: kernel, ti, tt: DataBlock::Diagonal(tt) };
    let extended = drawn.extension.extend(&mut tile, data);
    let DataBlock::Diagonal(tt_extended) = extended.tt else { unreachable!("points one by one") };
    let (first, second) = (tile.squared_norm(extended.ti), tile.sum(tt_extended));
    tile.output("ti", first);
    tile.output("tt", second);

    let wave = |i: usize, j: usize| ((3 * i + 7 * j) as f64).sin();
    let mut step = step.finish().workspace();
    let root_value = Mat::from_fn(m, m, |i, j| if i == j { 2.0 } else { 0.1 * wave(i, j) });
    step.set(root, root_value.as_ref()).expect("finite");
    step.set(ti, Mat::from_fn(b, m, |i, j| 0.01 * wave(j, i)).as_ref()).expect("finite");
    step.set(tt, Mat::from_fn(1, b, |_, _| 1.5).as_ref()).expect("finite");
    step.set(v, Mat::from_fn(m, m, |i, j| 0.3 * wave(j, i)).as_ref()).expect("finite");
    step.set_slice(log_delta, &[2.0]).expect("finite");
    step.set_slice(log_gamma, &[1.0]).expect("finite");
    step.forward(Key::new(1), Pass::Gradient).expect("a run");
    let (mut draw, mut tile) = (draw.finish().workspace(), tile.finish().workspace());
    tile.set_point_ids(&(0..b as u64).collect::<Vec<_>>());

    let time = seconds(|| {
        draw.forward_within(&[&step], Key::new(1), Pass::Gradient).expect("a run");
        draw.backward_within(&[&step], &[1.0, 1.0]).expect("a run");
    });
    let flops = DRAW * (m * m * m) as f64;
    report("draw with log ratio", &format!("{DRAW:.1}·M³"), time, flops, rate);
    draw.forward_within(&[&step], Key::new(1), Pass::Gradient).expect("a run");
    let time = seconds(|| {
        tile.forward_within(&[&step, &draw], Key::new(1), Pass::Gradient).expect("a run");
        tile.backward_within(&[&step, &draw], &[1.0, 1.0]).expect("a run");
    });
    let flops = EXTENSION * (m * m * b) as f64;
    report("extension", &format!("{EXTENSION:.0}·M²B"), time, flops, rate);
}

fn report(what: &str, count: &str, time: f64, flops: f64, rate: f64) {
    let achieved = flops / time;
    println!(
        "  {what:20} {count:>9} {:>8.1} µs {:>6.1} GFLOP/s, {:.2} of the product's rate",
        time * 1e6,
        achieved * 1e-9,
        achieved / rate
    );
}
