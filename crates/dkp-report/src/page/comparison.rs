//! The page about several models: their metrics side by side, and how far they differ from the first.

use super::{Section, about, absent, figure, grid, lead, page};
use crate::chart::{Axis, IntervalChart};
use crate::comparison::{Better, Comparison, Contender, Measure};
use crate::text::{count, escape, rounded};

/// Standard errors on each side of a difference that are drawn.
const ERRORS: f64 = 2.0;
/// Significant digits of a difference.
const DIGITS: i32 = 3;

/// Several models as one HTML file.
pub fn comparison_html(comparison: &Comparison) -> String {
    let rows = count(comparison.rows, "row");
    let left_out = &comparison.left_out;
    let rows = if left_out.is_empty() { rows } else { format!("{rows} ({left_out})") };
    let facts = [("Data", comparison.data.as_str()), ("Task", &comparison.task), ("Judged by", &rows)];
    let sections = [
        Section { id: "models", heading: "Models", body: models(&comparison.models) },
        Section { id: "metrics", heading: "Metrics", body: metrics(comparison) },
        Section { id: "differences", heading: "Differences", body: differences(comparison) },
    ];
    page(&comparison.title, "Models compared", &about(&facts), &comparison.warnings, &sections)
}

fn models(models: &[Contender]) -> String {
    let row = |m: &Contender| {
        let (name, what, rows) = (escape(&m.name), escape(&m.description), count(m.rows_trained, "row"));
        format!("<tr><th scope=\"row\">{name}</th><td>{what}</td><td>{rows}</td></tr>\n")
    };
    let rows: String = models.iter().map(row).collect();
    if rows.is_empty() {
        return absent("No models were given.");
    }
    let head = "<tr><th scope=\"col\">File</th><th scope=\"col\">Model</th><th scope=\"col\">Learned from</th></tr>";
    format!("<table class=\"models\"><thead>{head}</thead><tbody>\n{rows}</tbody></table>\n")
}

fn metrics(comparison: &Comparison) -> String {
    if comparison.measures.is_empty() {
        return absent("No metrics were given.");
    }
    let heads = comparison.models.iter().map(|m| format!("<th scope=\"col\">{}</th>", escape(&m.name)));
    let row = |m: &Measure| {
        let values: String = m.values.iter().map(|v| format!("<td>{}</td>", escape(v))).collect();
        let (name, what) = (escape(&m.name), escape(&m.explanation));
        format!("<tr><th scope=\"row\">{name}<span>{what}</span></th>{values}</tr>\n")
    };
    let text = "All models are judged on the same rows, those whose target is known to all.";
    lead(text)
        + &format!(
            "<div class=\"scroll\"><table class=\"numbers\"><thead><tr><th></th>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
            heads.collect::<String>(),
            comparison.measures.iter().map(row).collect::<String>()
        )
}

fn differences(comparison: &Comparison) -> String {
    let [first, others @ ..] = comparison.models.as_slice() else { return absent("No models were given.") };
    if others.is_empty() {
        return absent("There is one model: nothing to compare it with.");
    }
    let text = format!(
        "How far each model is above {}, row by row on the same rows. Dots are the differences, lines reach two standard errors to each side: a line that \
         crosses the dashed one at 0 says that chance alone may explain the difference. Errors are those of independent rows.",
        first.name
    );
    let figures: String = comparison.measures.iter().filter_map(|m| picture(m, &first.name, others)).collect();
    lead(&text) + &grid(&figures)
}

/// A metric's differences; none where none has an error, or where neither side is better.
fn picture(measure: &Measure, first: &str, others: &[Contender]) -> Option<String> {
    let side = match measure.better? {
        Better::Higher => "right",
        Better::Lower => "left",
    };
    let known = others.iter().zip(&measure.differences).filter_map(|(m, d)| Some((m, (*d)?)));
    let known: Vec<(&Contender, (f64, f64))> = known.collect();
    if known.is_empty() {
        return None;
    }
    let row = |(m, (value, error)): &(&Contender, (f64, f64))| {
        (m.name.clone(), *value, value - ERRORS * error, value + ERRORS * error)
    };
    let title = format!("{}: better on the {side}", measure.name);
    let said = known
        .iter()
        .map(|(m, (value, error))| format!("{}: {} ± {}", m.name, rounded(*value, DIGITS), rounded(*error, DIGITS)));
    let caption = said.collect::<Vec<_>>().join("; ") + " (standard error).";
    let chart = IntervalChart {
        title: title.clone(),
        description: caption.clone(),
        x: Axis::new(format!("difference to {first}")),
        rows: known.iter().map(row).collect(),
    };
    Some(figure(&title, &chart.inline(), &caption))
}
