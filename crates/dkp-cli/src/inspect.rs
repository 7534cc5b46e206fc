//! `dkp inspect`: what a model is, what it was trained on, and what it learned.

use crate::relevance;
use crate::trained::Trained;
use clap::Args;
use serde_json::json;
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
    let mut out = format!(
        "{}\n{} from {} ({} rows, {} held out)\n",
        r.settings.description(),
        r.task_name(),
        r.data,
        r.rows_trained,
        r.rows_held_out
    );
    out.extend(r.notes.iter().map(|n| format!("  {n}\n")));
    if let Some(b) = &r.bound {
        out += &format!("\nbound {:.4} ± {:.4} nats a row:\n", b.total, b.standard_error);
        out += &format!("  likelihood {:.4}, input {:+.4}", b.likelihood, b.input);
        out.extend(b.layers.iter().enumerate().map(|(i, l)| format!(", layer {} {l:+.4}", i + 1)));
        out += &format!(", output {:+.4}\n", b.output);
    }
    out += "\nlayers (δ is an effective width: the larger, the closer to the infinitely wide network)\n";
    out += &layers(r.settings.layers, scalars);
    let (_, unit) = r.target_scale();
    out.extend(scalars.iter().filter_map(|(name, value)| match name.strip_prefix("likelihood.")? {
        "noise" => Some(format!("  noise    sd {:.4} in the target's units\n", value.sqrt() * unit)),
        other => Some(format!("  {other:<8} {value:.4}\n")),
    }));
    out += "\nwhat matters (share of the distance between rows, from feature scales and E[Ω])\n";
    for (column, share) in relevance {
        let bar = "█".repeat((40.0 * share).round() as usize);
        out += &format!("  {column:<24} {:>5.1} %  {bar}\n", 100.0 * share);
    }
    match &r.evaluation {
        Some(evaluation) => out + "\n" + &crate::judge::lines(evaluation),
        None => out,
    }
}

/// A line for each layer: what it learned.
fn layers(hidden: u64, scalars: &[(String, f64)]) -> String {
    let names = ["input".to_string()].into_iter().chain((1..=hidden).map(|i| format!("layer {i}")));
    let line = |layer: String| {
        let own = scalars.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(&layer)?.strip_prefix('.')?;
            let name = name.replace("kernel.", "").replace("delta", "δ").replace("gamma", "γ");
            Some(format!("{name} {value:.4}"))
        });
        let own: Vec<String> = own.collect();
        if own.is_empty() { String::new() } else { format!("  {layer:<8} {}\n", own.join(", ")) }
    };
    names.chain(["output".to_string()]).map(line).collect()
}
