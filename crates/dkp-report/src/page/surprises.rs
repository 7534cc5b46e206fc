//! Held-out rows that surprised the model most.

use super::lead;
use crate::explanation::Surprise;
use crate::report::Evaluation;
use crate::text::{count, escape, fit, number, percent, rounded};

/// Longest name or value, in units of its font size.
const LONGEST: f64 = 22.0;
/// Digits of numbers in the table.
const DIGITS: i32 = 3;

/// The section about surprising rows; nothing where there are none.
pub(super) fn body(evaluation: Option<&Evaluation>, surprises: &[Surprise]) -> String {
    let rows = evaluation.map_or(0, |e| match e {
        Evaluation::Regression { points, .. } => points.len(),
        Evaluation::Classification { points, .. } => points.len(),
    });
    let known: Vec<(&Surprise, Outcome)> =
        surprises.iter().filter_map(|s| Some((s, outcome(evaluation?, s.point)?))).collect();
    if known.is_empty() {
        return String::new();
    }
    let (which, odds) = match evaluation {
        Some(Evaluation::Regression { .. }) => (
            "those outside their 90\u{202f}% intervals that the model held for least probable; one row in ten lies outside \
             by chance",
            "As far out",
        ),
        _ => ("those of another class than the most probable one, the least probable first", "Probability"),
    };
    let text = format!(
        "Among {} held out, {which}. Something that the columns do not say, a case of another kind, or an error in the \
         table: these are the rows to look at first.",
        count(rows, "row")
    );
    let body: String = known.iter().map(|(surprise, outcome)| row(surprise, outcome)).collect();
    lead(&text)
        + &format!(
            "<table class=\"surprises\"><thead><tr><th scope=\"col\">Row</th><th scope=\"col\">Observed</th>\
             <th scope=\"col\">Predicted</th><th scope=\"col\">{odds}</th></tr></thead>\n{body}</table>\n"
        )
}

/// What was, what was predicted, how improbable that is.
struct Outcome {
    observed: String,
    predicted: String,
    odds: String,
}

fn outcome(evaluation: &Evaluation, point: usize) -> Option<Outcome> {
    match evaluation {
        Evaluation::Regression { points, .. } => {
            let p = points.get(point)?;
            let shown = |v: f64| rounded(v, DIGITS);
            Some(Outcome {
                observed: number(p.observed),
                predicted: format!("{} ({} to {})", shown(p.mean), shown(p.lower), shown(p.upper)),
                odds: odds(2.0 * p.pit.min(1.0 - p.pit)),
            })
        }
        Evaluation::Classification { labels, points, .. } => {
            let p = points.get(point).filter(|p| p.probabilities.iter().all(|v| (0.0..=1.0).contains(v)))?;
            let label = |k: usize| labels.get(k).map(|l| fit(l, LONGEST));
            let best = (0..p.probabilities.len()).max_by(|&a, &b| p.probabilities[a].total_cmp(&p.probabilities[b]))?;
            Some(Outcome {
                observed: label(p.observed)?,
                predicted: format!("{} ({})", label(best)?, percent(p.probabilities[best])),
                odds: chance(*p.probabilities.get(p.observed)?),
            })
        }
    }
}

/// One row in how many is so far from the middle of its prediction.
fn odds(tails: f64) -> String {
    match 1.0 / tails {
        n if n < 1e6 => format!("one row in {}", rounded(n, 2)),
        _ => "less than one row in a million".to_string(),
    }
}

fn chance(probability: f64) -> String {
    if probability >= 1e-3 { percent(probability) } else { format!("1 in {}", rounded(1.0 / probability, 2)) }
}

fn row(surprise: &Surprise, outcome: &Outcome) -> String {
    let Outcome { observed, predicted, odds } = outcome;
    let id = surprise.id.iter().map(|(_, text)| text.clone());
    let number = surprise.row.map(|n| format!("row {n}"));
    let names: Vec<String> = id.chain(number).map(|name| escape(&fit(&name, LONGEST))).collect();
    let values = surprise
        .values
        .iter()
        .map(|(column, at)| format!("{} <b>{}</b>", escape(&fit(column, LONGEST)), escape(&fit(&at.text(), LONGEST))));
    let values = values.collect::<Vec<String>>().join(", ");
    let [observed, predicted, odds] = [observed, predicted, odds].map(|text| escape(text));
    format!(
        "<tbody><tr><th scope=\"rowgroup\">{}</th><td>{observed}</td><td>{predicted}</td><td>{odds}</td></tr>\
         <tr><td colspan=\"4\">{values}</td></tr></tbody>\n",
        names.join("<br/>")
    )
}
