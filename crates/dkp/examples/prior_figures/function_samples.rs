//! Functions under deep inverse Wishart processes.

use crate::drawing::{Anchor, Axis, BLACK, GREY, Panel, RGBColor, Scene, TICK};
use dkp::kernels::SquaredExponential;
use dkp::model::{Prior, PriorError, PriorKernel};
use dkp_tape::random::Key;
use faer::Mat;

const POINTS: usize = 201;
/// Inputs run from −EXTENT to EXTENT.
const EXTENT: f64 = 5.0;
const LENGTHSCALE: f64 = 1.0;
const FUNCTIONS: usize = 4;
/// The δ of each column; None is the limit δ → ∞.
const COLUMNS: [Option<f64>; 6] = [None, Some(10.0), Some(10.0), Some(1.0), Some(1.0), Some(1.0)];
const SEED: u64 = 1;

const WIDTH: f64 = 228.0;
const HEIGHT: f64 = 210.0;
const GAP: f64 = 22.0;
const LEFT: f64 = 126.0;
const TOP: f64 = 74.0;
const FONT: f64 = 24.0;
const SMALL: f64 = 21.0;

/// Colours that readers with any colour vision can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; FUNCTIONS] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// One draw of the Gram matrices a panel, and several functions given them, by colour.
pub fn figure() -> Result<Scene, PriorError> {
    // One feature. A second that is constant would change nothing: the kernel is of
    // R_ij = (x_i−x_j)ᵀΩ(x_i−x_j)/N₀, where it cancels. So Ω is a prior on the lengthscale, and no more.
    let x = Mat::from_fn(1, POINTS, |_, j| input(j));
    let mut scene = Scene::new(1640, 606);
    for row in 0..2 {
        for (column, &delta) in COLUMNS.iter().enumerate() {
            let key = Key::new(SEED).draw((row * COLUMNS.len() + column) as u32);
            let functions = prior(row + 1, delta).draw(x.as_ref(), FUNCTIONS, key)?.functions;
            let panel = panel(row, column);
            for (function, &colour) in COLOURS.iter().enumerate() {
                let points = (0..POINTS).map(|j| (input(j), functions[(j, function)]));
                panel.curve(&mut scene, points, 2.5, colour);
            }
            panel.frame(&mut scene);
            label(&mut scene, &panel, row, column);
        }
    }
    headings(&mut scene);
    Ok(scene)
}

fn input(j: usize) -> f64 {
    EXTENT * (2.0 * j as f64 / (POINTS - 1) as f64 - 1.0)
}

fn prior(layers: usize, delta: Option<f64>) -> Prior {
    let kernel = PriorKernel::new(SquaredExponential, &[1.0, LENGTHSCALE]);
    match delta {
        None => Prior::nngp(kernel, layers - 1),
        Some(delta) => Prior::diwp(kernel, &vec![delta; layers]),
    }
}

fn panel(row: usize, column: usize) -> Panel {
    let ticks = |values: &[f64]| values.iter().map(|&v| (v, format!("{v}").replace('-', "−"))).collect();
    Panel {
        left: LEFT + column as f64 * (WIDTH + GAP),
        top: TOP + row as f64 * (HEIGHT + GAP),
        width: WIDTH,
        height: HEIGHT,
        x: Axis { low: -EXTENT, high: EXTENT, ticks: ticks(&[-4.0, 0.0, 4.0]) },
        y: Axis { low: -4.0, high: 4.0, ticks: ticks(&[-3.0, 0.0, 3.0]) },
    }
}

fn label(scene: &mut Scene, panel: &Panel, row: usize, column: usize) {
    if row == 1 {
        panel.x_tick_labels(scene, SMALL);
        let below = panel.bottom() + TICK + 2.3 * SMALL;
        scene.text("input x", (panel.left + 0.5 * WIDTH, below), SMALL, Anchor::Centre, BLACK);
    }
    if column == 0 {
        panel.y_tick_labels(scene, SMALL);
        let middle = panel.top + 0.5 * HEIGHT;
        scene.text("f(x)", (LEFT - 62.0, middle), SMALL, Anchor::Upwards, BLACK);
        scene.text(["one layer", "two layers"][row], (LEFT - 104.0, middle), FONT, Anchor::Upwards, BLACK);
    }
}

/// A heading over the columns of each δ, with a rule as wide as they are.
fn headings(scene: &mut Scene) {
    for group in COLUMNS.chunk_by(|a, b| a == b) {
        let first = COLUMNS.iter().position(|c| *c == group[0]).unwrap_or(0);
        let (left, right) = (panel(0, first).left, panel(0, first + group.len() - 1).right());
        let text = match group[0] {
            None => "GP (δ → ∞)".to_string(),
            Some(delta) => format!("deep inverse Wishart process, δ = {delta}"),
        };
        scene.text(&text, (0.5 * (left + right), TOP - 40.0), FONT, Anchor::Centre, BLACK);
        scene.line(vec![(left, TOP - 16.0), (right, TOP - 16.0)], 1.5, GREY);
    }
}
