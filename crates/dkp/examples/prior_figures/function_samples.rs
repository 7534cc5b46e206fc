//! Functions under deep inverse Wishart processes.

use dkp::kernels::SquaredExponential;
use dkp::model::{Prior, PriorError, PriorKernel};
use dkp_report::chart::{Axis, Content, Grid, Ink, Layer, Mark, Panel};
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

/// One draw of the Gram matrices a panel, and several functions given them, by colour.
pub fn figure() -> Result<Grid, PriorError> {
    // One feature. A second that is constant would change nothing: the kernel is of
    // R_ij = (x_i−x_j)ᵀΩ(x_i−x_j)/N₀, where it cancels. So Ω is a prior on the lengthscale, and no more.
    let x = Mat::from_fn(1, POINTS, |_, j| input(j));
    let mut panels = Vec::new();
    for layers in [1, 2] {
        for delta in COLUMNS {
            let key = Key::new(SEED).draw(panels.len() as u32);
            let functions = prior(layers, delta).draw(x.as_ref(), FUNCTIONS, key)?.functions;
            let line = |f: usize| {
                let points = (0..POINTS).map(|j| (input(j), functions[(j, f)])).collect();
                Layer { name: String::new(), ink: Ink::Series(f), mark: Mark::Line { points, width: 1.6 } }
            };
            panels.push(Panel { title: String::new(), content: Content::Marks((0..FUNCTIONS).map(line).collect()) });
        }
    }
    Ok(Grid {
        description: "Functions drawn from Gaussian processes and from deep inverse Wishart processes".to_string(),
        x: Axis::new("input x").over(-EXTENT, EXTENT),
        y: Axis::new("f(x)").over(-4.0, 4.0),
        columns: COLUMNS.len(),
        panels,
        headings: COLUMNS.chunk_by(|a, b| a == b).map(|group| (heading(group[0]), group.len())).collect(),
        rows: vec!["one layer".to_string(), "two layers".to_string()],
        size: (122.0, 114.0),
        ..Grid::default()
    })
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

fn heading(delta: Option<f64>) -> String {
    match delta {
        None => "GP (δ → ∞)".to_string(),
        Some(delta) => format!("deep inverse Wishart process, δ = {delta}"),
    }
}
