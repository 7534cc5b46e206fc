//! `dkp inspect`: what a model is, what it was trained on, and what it learned.

use crate::print::{self, evaluation_lines};
use clap::Args;
use dkp_fit::{Card, Fitted, LearnedNumber, in_units};
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
    let fitted = Fitted::load(&a.model)?;
    let (relevance, numbers) = (fitted.relevance()?, fitted.learned_numbers());
    if a.json {
        let card = &fitted.card;
        let map = |pairs: Vec<(String, f64)>| {
            pairs.into_iter().map(|(name, value)| (name, json!(value))).collect::<serde_json::Map<_, _>>()
        };
        let names = card.targets.names();
        let key = |n: &LearnedNumber| n.target.map_or(n.name.clone(), |t| format!("{} of {}", n.name, names[t]));
        let learned = numbers.iter().map(|n| (key(n), n.value)).collect();
        let object = json!({
            "data": card.data, "task": card.task, "targets": card.targets.names(), "classes": card.labels(),
            "rows": { "trained": card.rows_trained, "held_out": card.rows_held_out },
            "settings": card.settings, "calibration": card.calibration, "bound": card.bound, "evaluation": card.evaluation,
            "cross_validation": card.cross_validation,
            "relevance": map(relevance), "learned": map(learned),
        });
        return print::text(&format!("{object}\n"));
    }
    print::text(&text(&fitted, &relevance, &numbers))
}

fn text(fitted: &Fitted, relevance: &[(String, f64)], numbers: &[LearnedNumber]) -> String {
    let card = &fitted.card;
    let mut out = format!(
        "{}\n{} from {} ({} rows, {} held out)\n",
        fitted.description(),
        card.task_name(),
        card.data,
        card.rows_trained,
        card.rows_held_out
    );
    let calibration = card.calibration.as_ref().map(|c| &c.line);
    out.extend(card.notes.iter().chain(&card.noise).chain(calibration).map(|n| format!("  {n}\n")));
    if let Some(b) = &card.bound {
        out += &format!("\nbound {:.4} ± {:.4} nats a row:\n", b.total, b.standard_error);
        out += &format!("  likelihood {:.4}, input {:+.4}", b.likelihood, b.input);
        out.extend(b.layers.iter().enumerate().map(|(i, l)| format!(", layer {} {l:+.4}", i + 1)));
        out += &format!(", output {:+.4}\n", b.output);
    }
    out += "\nlayers (δ is an effective width: the larger, the closer to the infinitely wide network)\n";
    out += &layers(card.settings.layers, numbers);
    out.extend(numbers.iter().filter_map(|number| noise(card, number)));
    out += "\nwhat matters (share of the distance between rows, from feature scales and E[Ω])\n";
    for (column, share) in relevance {
        let bar = "█".repeat((40.0 * share).round() as usize);
        out += &format!("  {column:<24} {:>5.1} %  {bar}\n", 100.0 * share);
    }
    match evaluation_lines(card) {
        lines if lines.is_empty() => out,
        lines => out + "\n" + &lines,
    }
}

/// A parameter of the likelihood, perhaps of one of several targets, as it counts in predictions.
fn noise(card: &Card, LearnedNumber { name, target, value }: &LearnedNumber) -> Option<String> {
    let name = name.strip_prefix("likelihood.")?;
    let target = target.map(|t| (t, card.targets.names().swap_remove(t)));
    let place = target.as_ref().map_or(0, |t| t.0);
    let unit = card.units(place).1 * card.calibration.as_ref().map_or(1.0, |c| c.latents.noise);
    let of = target.as_ref().map_or("the target's units".to_string(), |(_, name)| format!("units of {name}"));
    let which = target.as_ref().map_or(String::new(), |(_, name)| format!(" for {name}"));
    Some(match name {
        "noise" => format!("  noise    sd {} in {of}\n", in_units(value.sqrt() * unit)),
        "scale" => format!("  scale    {} in {of}\n", in_units(value * unit)),
        "tails" => format!("  tails    of Student's t with {:.1} degrees of freedom{which}\n", 2.0 + 1.0 / value),
        other => format!("  {other:<8} {value:.4}{which}\n"),
    })
}

/// A line for each layer: what it learned.
fn layers(hidden: u64, numbers: &[LearnedNumber]) -> String {
    let names = ["input".to_string()].into_iter().chain((1..=hidden).map(|i| format!("layer {i}")));
    let line = |layer: String| {
        let own = numbers.iter().filter_map(|LearnedNumber { name, value, .. }| {
            let name = name.strip_prefix(&layer)?.strip_prefix('.')?;
            let name = name.replace("kernel.", "").replace("delta", "δ").replace("gamma", "γ");
            Some(format!("{name} {value:.4}"))
        });
        let own: Vec<String> = own.collect();
        if own.is_empty() { String::new() } else { format!("  {layer:<8} {}\n", own.join(", ")) }
    };
    names.chain(["output".to_string()]).map(line).collect()
}
