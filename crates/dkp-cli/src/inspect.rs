//! `dkp inspect`: what a model is, what it was trained on, and what it learned.

use crate::relevance;
use crate::trained::Trained;
use clap::Args;
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Tell what a model is and what it learned.
#[derive(Args)]
pub struct Arguments {
    /// The model.
    model: PathBuf,
    /// One JSON object on standard output.
    #[arg(long)]
    json: bool,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    let mut trained = Trained::load(&a.model)?;
    let relevance = relevance::of_columns(&mut trained)?;
    let scalars: Vec<(String, f64)> = scalars(&trained);
    if a.json {
        let r = &trained.record;
        let shares: serde_json::Map<_, _> = relevance.into_iter().map(|(c, w)| (c, json!(w))).collect();
        let learned: serde_json::Map<_, _> = scalars.into_iter().map(|(c, w)| (c, json!(w))).collect();
        let object = json!({
            "data": r.data, "task": r.task, "target": r.target_name(), "classes": r.labels(),
            "rows": { "trained": r.rows_trained, "held_out": r.rows_held_out },
            "settings": r.settings, "bound": r.bound, "evaluation": r.evaluation, "relevance": shares, "learned": learned,
        });
        return crate::print(&format!("{object}\n"));
    }
    crate::print(&text(&trained, &relevance, &scalars))
}

/// Parameters that are one number.
fn scalars(trained: &Trained) -> Vec<(String, f64)> {
    let parameters = trained.model.parameters();
    let single = parameters.iter().filter(|p| p.rows * p.cols == 1);
    single.filter_map(|p| Some((p.name.clone(), *parameters.get(&p.name).ok()?.first()?))).collect()
}

fn text(trained: &Trained, relevance: &[(String, f64)], scalars: &[(String, f64)]) -> String {
    let r = &trained.record;
    let mut out = String::new();
    // writing to a string does not fail
    let _ = writeln!(
        out,
        "{}\n{} from {} ({} rows, {} held out)\n",
        r.settings.description(),
        r.task_name(),
        r.data,
        r.rows_trained,
        r.rows_held_out
    );
    r.notes.iter().for_each(|n| drop(writeln!(out, "  {n}")));
    if let Some(b) = &r.bound {
        let _ = writeln!(out, "bound {:.4} ± {:.4} nats a row:", b.total, b.standard_error);
        let _ = write!(out, "  likelihood {:.4}, input {:+.4}", b.likelihood, b.input);
        b.layers.iter().enumerate().for_each(|(i, l)| drop(write!(out, ", layer {} {l:+.4}", i + 1)));
        let _ = writeln!(out, ", output {:+.4}\n", b.output);
    }
    let _ = writeln!(out, "layers (δ is an effective width: the larger, the closer to the infinitely wide network)");
    for layer in std::iter::once("input".to_string())
        .chain((1..=r.settings.layers).map(|i| format!("layer {i}")))
        .chain(["output".to_string()])
    {
        let own: Vec<String> = (scalars.iter().filter(|(n, _)| n.starts_with(&format!("{layer}."))))
            .map(|(n, v)| {
                format!(
                    "{} {v:.4}",
                    n[layer.len() + 1..].replace("kernel.", "").replace("delta", "δ").replace("gamma", "γ")
                )
            })
            .collect();
        let _ = writeln!(out, "  {layer:<8} {}", own.join(", "));
    }
    let (_, unit) = r.target_scale();
    for (name, value) in scalars.iter().filter(|(n, _)| n.starts_with("likelihood.")) {
        match name.as_str() {
            "likelihood.noise" => drop(writeln!(out, "  noise    sd {:.4} in the target's units", value.sqrt() * unit)),
            _ => drop(writeln!(out, "  {} {value:.4}", name.replace("likelihood.", ""))),
        }
    }
    let _ = writeln!(out, "\nwhat matters (share of the distance between rows, from feature scales and E[Ω])");
    for (column, share) in relevance {
        let bar = "█".repeat((40.0 * share).round() as usize);
        let _ = writeln!(out, "  {column:<24} {:>5.1} %  {bar}", 100.0 * share);
    }
    if let Some(evaluation) = &r.evaluation {
        let _ = write!(out, "\n{}", crate::judge::lines(evaluation));
    }
    out
}
