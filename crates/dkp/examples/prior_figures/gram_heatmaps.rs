//! Gram and kernel matrices through the layers of two processes.

use crate::drawing::{Anchor, Axis, BLACK, Panel, RGBColor, Scene, TICK};
use dkp::kernels::SquaredExponential;
use dkp::model::{Prior, PriorError, PriorInput, PriorKernel};
use dkp_tape::random::Key;
use faer::{Mat, MatRef};

const POINTS: usize = 48;
/// Inputs run from −EXTENT to EXTENT.
const EXTENT: f64 = 1.4;
const LENGTHSCALE: f64 = 0.5;
/// N of the Wishart layers and δ of the inverse Wishart ones: diagonal elements of G have the variance 2K²/N = 2K²/(δ−2).
const WIDTH: usize = 16;
const DELTA: f64 = 18.0;
const SEED: u64 = 1;

/// The colour bar's range, which holds all elements, and the space between its labels.
const LOW: f64 = -2.0;
const HIGH: f64 = 2.0;
const STEP: f64 = 1.0;

const SIDE: f64 = 198.0;
const GAP: f64 = 24.0;
const LEFT: f64 = 158.0;
const TOP: f64 = 56.0;
const FONT: f64 = 24.0;
const SMALL: f64 = 21.0;

pub fn figure() -> Result<Scene, PriorError> {
    let x = Mat::from_fn(1, POINTS, |_, j| EXTENT * (2.0 * j as f64 / (POINTS - 1) as f64 - 1.0));
    let kernel = PriorKernel::new(SquaredExponential, &[1.0, LENGTHSCALE]);
    // With one feature Ω is only another lengthscale: it is left out, so that both rows begin with one and the same matrix.
    let wishart = Prior { input: PriorInput::Fixed, ..Prior::deep_wishart(kernel.clone(), &[WIDTH; 3]) };
    let inverse_wishart = Prior { input: PriorInput::Fixed, ..Prior::diwp(kernel, &[DELTA; 3]) };

    let mut scene = Scene::new(1640, 566);
    let mut bottom = 0.0;
    let rows =
        [("Wishart", format!("N = {WIDTH}"), wishart), ("inverse Wishart", format!("δ = {DELTA}"), inverse_wishart)];
    for (row, (name, parameter, prior)) in rows.into_iter().enumerate() {
        let draw = prior.draw(x.as_ref(), 1, Key::new(SEED))?;
        let matrices = draw.grams.iter().zip(&draw.kernels).flat_map(|(g, k)| [g, k]);
        for (column, matrix) in matrices.enumerate() {
            let left = LEFT + column as f64 * (SIDE + GAP);
            let panel = panel(left, TOP + row as f64 * (SIDE + GAP));
            heatmap(&mut scene, &panel, matrix.as_ref());
            panel.frame(&mut scene);
            if row == 0 {
                panel.title(&mut scene, &title(column), FONT);
            } else {
                panel.x_tick_labels(&mut scene, SMALL);
                let below = panel.bottom() + TICK + 2.3 * SMALL;
                scene.text("input x", (left + 0.5 * SIDE, below), SMALL, Anchor::Centre, BLACK);
            }
            if column == 0 {
                panel.y_tick_labels(&mut scene, SMALL);
                let middle = panel.top + 0.5 * SIDE;
                scene.text("input x′", (LEFT - 62.0, middle), SMALL, Anchor::Upwards, BLACK);
                scene.text(&parameter, (LEFT - 104.0, middle), SMALL, Anchor::Upwards, BLACK);
                scene.text(name, (LEFT - 136.0, middle), FONT, Anchor::Upwards, BLACK);
            }
            bottom = panel.bottom();
        }
    }
    colour_bar(&mut scene, LEFT + 6.0 * (SIDE + GAP), bottom);
    Ok(scene)
}

/// Of the columns G₁, K(G₁), G₂, …
fn title(column: usize) -> String {
    let layer = ['₁', '₂', '₃'][column / 2];
    if column.is_multiple_of(2) { format!("G{layer}") } else { format!("K(G{layer})") }
}

fn panel(left: f64, top: f64) -> Panel {
    let ticks: Vec<(f64, String)> = [(-1.0, "−1"), (0.0, "0"), (1.0, "1")].map(|(x, t)| (x, t.to_string())).into();
    // each point is the middle of its cell
    let edge = EXTENT * POINTS as f64 / (POINTS - 1) as f64;
    let x = Axis { low: -edge, high: edge, ticks };
    // matrices have their first row at the top
    let y = Axis { low: edge, high: -edge, ..x.clone() };
    Panel { left, top, width: SIDE, height: SIDE, x, y }
}

/// A points × points matrix, the first row at the top.
fn heatmap(scene: &mut Scene, panel: &Panel, matrix: MatRef<'_, f64>) {
    let edge = |i: usize| SIDE * i as f64 / POINTS as f64;
    for i in 0..POINTS {
        for j in 0..POINTS {
            // A cell reaches under the next ones, to the panel's end: no seams show between cells.
            let reach = |k: usize| edge((k + 2).min(POINTS));
            let corners = [(panel.left + edge(j), panel.top + edge(i)), (panel.left + reach(j), panel.top + reach(i))];
            let element = matrix[(i, j)];
            assert!((LOW..=HIGH).contains(&element), "the element {element} is not on the colour bar");
            scene.fill(corners, viridis((element - LOW) / (HIGH - LOW)));
        }
    }
}

fn colour_bar(scene: &mut Scene, left: f64, bottom: f64) {
    const BANDS: usize = 256;
    const WIDTH: f64 = 26.0;
    let height = bottom - TOP;
    for band in 0..BANDS {
        let foot = bottom - height * band as f64 / BANDS as f64;
        // up to the bar's end, under the bands that follow: no seams here either
        scene.fill([(left, TOP), (left + WIDTH, foot)], viridis((band as f64 + 0.5) / BANDS as f64));
    }
    let right = left + WIDTH;
    scene.outline([(left, TOP), (right, bottom)]);
    let steps = ((HIGH - LOW) / STEP).round() as usize;
    for step in 0..=steps {
        let (value, y) = (LOW + STEP * step as f64, bottom - height * step as f64 / steps as f64);
        scene.line(vec![(right, y), (right + TICK, y)], 1.5, BLACK);
        let label = format!("{value}").replace('-', "−");
        scene.text(&label, (right + TICK + 8.0, y), SMALL, Anchor::Left, BLACK);
    }
    scene.text("matrix element", (right + 76.0, 0.5 * (TOP + bottom)), FONT, Anchor::Upwards, BLACK);
}

/// The map viridis at evenly spaced places from 0 to 1.
const VIRIDIS: [[f64; 3]; 11] = [
    [68.0, 1.0, 84.0],
    [72.0, 36.0, 117.0],
    [65.0, 68.0, 135.0],
    [53.0, 95.0, 141.0],
    [42.0, 120.0, 142.0],
    [33.0, 145.0, 140.0],
    [34.0, 168.0, 132.0],
    [68.0, 191.0, 112.0],
    [122.0, 209.0, 81.0],
    [189.0, 223.0, 38.0],
    [253.0, 231.0, 37.0],
];

/// Linear between the table's colours; what lies outside [0, 1] has the colour of the nearer end.
fn viridis(fraction: f64) -> RGBColor {
    let place = fraction.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let weight = place - below as f64;
    let channel = |c: usize| (VIRIDIS[below][c] * (1.0 - weight) + VIRIDIS[below + 1][c] * weight).round() as u8;
    RGBColor(channel(0), channel(1), channel(2))
}
