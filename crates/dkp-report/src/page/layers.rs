//! What the layers learned: their Gram matrices and spectra.

use super::{absent, figure, grid, lead};
use crate::chart::{Axis, HeatMap, Ink, Mark, Plot, Spacing, drawable};
use crate::report::LayerMatrix;
use crate::text::{count, escape, number};

/// Layers that are drawn: a matrix may take 80 kB.
const MOST_LAYERS: usize = 12;
/// One direction in so many is few.
const FEW: f64 = 5.0;

/// The section about layers.
pub(super) fn body(layers: &[LayerMatrix]) -> String {
    if layers.is_empty() {
        return absent("The model has no learned Gram matrices to show.");
    }
    let text = "Each layer holds a Gram matrix: how alike any two inducing points, which stand for the data, look to the \
                model. Blocks are groups that it treats alike.";
    let mut body = lead(text) + &layers.iter().take(MOST_LAYERS).map(layer).collect::<String>();
    if layers.len() > MOST_LAYERS {
        body += &absent(&format!("{} are not shown.", count(layers.len() - MOST_LAYERS, "more layer")));
    }
    body
}

fn layer(layer: &LayerMatrix) -> String {
    let name = if layer.name.is_empty() { "Layer" } else { &layer.name };
    let delta = layer.delta.filter(|d| !d.is_nan()).map(|d| {
        let meaning = if d.is_infinite() { "fixed by its kernel" } else { "the larger, the closer to its kernel" };
        format!("δ = {} ({meaning}). ", number(d))
    });
    let mut note = delta.unwrap_or_default();
    note.push_str(&layer.note);
    let figures = format!("{}{}", map(layer, name), spectrum(layer, name));
    let content = if figures.is_empty() { absent("No matrix was recorded for this layer.") } else { grid(&figures) };
    let note = if note.is_empty() { note } else { format!("<p class=\"note\">{}</p>\n", escape(note.trim_end())) };
    format!("<div class=\"layer\"><h3 class=\"name\">{}</h3>\n{note}{content}</div>\n", escape(name))
}

fn map(layer: &LayerMatrix, name: &str) -> String {
    let size = layer.size;
    if size.checked_mul(size) != Some(layer.gram.len()) || !layer.gram.iter().any(|v| drawable(*v)) {
        return String::new();
    }
    let order = permutation(&layer.order, size);
    let title = "Blocks are groups of points that look alike";
    let arranged =
        if order.is_some() { "arranged so that similar ones stand side by side" } else { "in their own order" };
    let caption = format!("Rows and columns are the {}, {arranged}.", count(size, "inducing point"));
    let source = |i: usize| order.as_ref().map_or(i, |o| o[i]);
    let cells = (0..size).flat_map(|j| (0..size).map(move |i| (i, j)));
    let chart = HeatMap {
        title: title.to_string(),
        description: format!("Gram matrix of {name}. {caption}"),
        rows: size,
        columns: size,
        values: cells.map(|(i, j)| layer.gram[source(j) * size + source(i)]).collect(),
        x: Axis::new("inducing point"),
        y: Axis::new("inducing point"),
        value: "Gram value".to_string(),
        ..HeatMap::default()
    };
    figure(title, &chart.inline(), &caption)
}

/// The order, if it names every row once.
fn permutation(order: &[usize], size: usize) -> Option<Vec<usize>> {
    let mut seen = vec![false; order.len()];
    let all = order.len() == size && order.iter().all(|&i| i < size && !std::mem::replace(&mut seen[i], true));
    all.then(|| order.to_vec())
}

fn spectrum(layer: &LayerMatrix, name: &str) -> String {
    let mut values: Vec<f64> = layer.spectrum.iter().copied().filter(|v| drawable(*v) && *v > 0.0).collect();
    if values.is_empty() {
        return String::new();
    }
    values.sort_by(|a, b| b.total_cmp(a));
    let total: f64 = values.iter().map(|v| v / values[0]).sum();
    let mut carried = 0.0;
    let enough = values.iter().position(|v| {
        carried += v / values[0] / total;
        carried >= 0.95 - 1e-12
    });
    let enough = enough.map_or(values.len(), |i| i + 1);
    let few = FEW * enough as f64 <= layer.spectrum.len() as f64;
    let title = if few { "A steep fall: few directions carry the layer" } else { "Many directions carry the layer" };
    let mut caption = format!(
        "Eigenvalues from the largest down; {enough} of {} carry 95\u{202f}% of the sum.",
        layer.spectrum.len()
    );
    if values.len() < layer.spectrum.len() {
        caption.push_str(&format!(" {} not above zero left out.", layer.spectrum.len() - values.len()));
    }
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(i, v)| (i as f64 + 1.0, *v)).collect();
    let last = points.len() as f64;
    let air = 0.03 * last.max(10.0);
    let x = Axis::new("rank").over(1.0 - air, last + air).spaced(Spacing::Count);
    let plot = Plot::new(title, x, Axis::new("eigenvalue, logarithmic").spaced(Spacing::Log))
        .sized(400.0, 370.0)
        .described(format!("Spectrum of {name}. {caption}"))
        .with("", Ink::Series(0), Mark::Line { points: points.clone(), width: 1.2 });
    let dots = points.len() <= 80;
    let plot = if dots { plot.with("", Ink::Series(0), Mark::Points { points, radius: 2.4 }) } else { plot };
    figure(title, &plot.inline(), &caption)
}
