//! Gram and kernel matrices through the layers of two processes.

use dkp::kernels::SquaredExponential;
use dkp::model::{Prior, PriorError, PriorKernel};
use dkp::processes::Input;
use dkp_report::chart::{Axis, Content, Grid, Panel};
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

/// The colours' range, which holds all elements.
const LOW: f64 = -2.0;
const HIGH: f64 = 2.0;

pub fn figure() -> Result<Grid, PriorError> {
    let x = Mat::from_fn(1, POINTS, |_, j| EXTENT * (2.0 * j as f64 / (POINTS - 1) as f64 - 1.0));
    let kernel = PriorKernel::new(SquaredExponential, &[1.0, LENGTHSCALE]);
    // With one feature Ω is only another lengthscale: it is left out, so that both rows begin with one and the same matrix.
    let wishart = Prior { input: Input::Fixed, ..Prior::deep_wishart(kernel.clone(), &[WIDTH; 3]) };
    let inverse_wishart = Prior { input: Input::Fixed, ..Prior::diwp(kernel, &[DELTA; 3]) };

    let mut panels = Vec::new();
    for (row, prior) in [wishart, inverse_wishart].into_iter().enumerate() {
        let draw = prior.draw(x.as_ref(), 1, Key::new(SEED))?;
        let matrices = draw.grams.iter().zip(&draw.kernels).flat_map(|(g, k)| [g, k]);
        let titled = matrices.enumerate().map(|(column, matrix)| {
            let title = if row == 0 { title(column) } else { String::new() };
            Panel { title, content: content(matrix.as_ref()) }
        });
        panels.extend(titled);
    }
    // each point is the middle of its cell
    let edge = EXTENT * POINTS as f64 / (POINTS - 1) as f64;
    Ok(Grid {
        description: "Gram and kernel matrices of three layers of a deep Wishart and a deep inverse Wishart process"
            .to_string(),
        x: Axis::new("input x").over(-edge, edge),
        // matrices have their first row at the top
        y: Axis::new("input x′").over(edge, -edge),
        value: Axis::new("matrix element").over(LOW, HIGH),
        columns: 6,
        panels,
        rows: vec![format!("Wishart\nN = {WIDTH}"), format!("inverse Wishart\nδ = {DELTA}")],
        size: (110.0, 110.0),
        ..Grid::default()
    })
}

/// Of the columns G₁, K(G₁), G₂, …
fn title(column: usize) -> String {
    let layer = ['₁', '₂', '₃'][column / 2];
    if column.is_multiple_of(2) { format!("G{layer}") } else { format!("K(G{layer})") }
}

/// A points × points matrix.
fn content(matrix: MatRef<'_, f64>) -> Content {
    let values: Vec<f64> = matrix.col_iter().flat_map(|column| column.iter().copied()).collect();
    for element in &values {
        assert!((LOW..=HIGH).contains(element), "the element {element} is not among the colours");
    }
    Content::Matrix { rows: matrix.nrows(), columns: matrix.ncols(), values }
}
