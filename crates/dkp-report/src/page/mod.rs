//! The page: one section a file, in the order in which they are read.

mod classification;
mod comparison;
mod effects;
mod layers;
mod noise;
mod regression;
mod relevance;
mod surprises;
mod training;

pub use comparison::comparison_html;

use crate::report::{Evaluation, Fact, Report};
use crate::text::{count, escape};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
/// Browsers refuse to load or run anything for this page, whatever text gets into it.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" \
                      content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">";

/// A part of the page with a heading.
struct Section {
    id: &'static str,
    heading: &'static str,
    body: String,
}

/// The report as one HTML file.
pub fn html(report: &Report) -> String {
    page(&report.title, "Model report", &facts_of(report), &report.warnings, &sections(report))
}

/// A file of some sections below a heading, `otherwise` if that is empty.
fn page(title: &str, otherwise: &str, facts: &str, doubts: &[String], sections: &[Section]) -> String {
    let title = if title.trim().is_empty() { otherwise } else { title.trim() };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{POLICY}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<header>\n<h1>{0}</h1>\n{facts}</header>\n",
        escape(title)
    );
    page.push_str("<nav aria-label=\"Sections\">");
    for section in sections {
        let _ = write!(page, "<a href=\"#{}\">{}</a>", section.id, section.heading);
    }
    page.push_str("</nav>\n<main>\n");
    page.push_str(&warnings(doubts));
    for Section { id, heading, body } in sections {
        let _ = write!(page, "<section id=\"{id}\">\n<h2>{heading}</h2>\n{body}</section>\n");
    }
    page.push_str(
        "</main>\n<footer><p>Made by dkp. This file loads nothing from elsewhere.</p></footer>\n</body>\n</html>\n",
    );
    page
}

fn sections(report: &Report) -> Vec<Section> {
    let summary = if report.summary.is_empty() { absent("No key numbers were given.") } else { tiles(&report.summary) };
    let evaluation = match report.evaluations.as_slice() {
        [] if report.rows_held_out == 0 => {
            absent("No rows were held out, so how well the model predicts was not measured.")
        }
        [] => absent("Rows were held out, but no predictions for them were given."),
        evaluations => by_target(evaluations.iter().map(|e| (e.target(), predictions(e)))),
    };
    let explanations = || report.explanations.iter().enumerate();
    let surprises = explanations().map(|(i, e)| (&*e.target, surprises::body(report.evaluations.get(i), &e.surprises)));
    let surprises = by_target(surprises);
    let effects = by_target(explanations().map(|(_, e)| (&*e.target, effects::body(e))));
    let features = relevance::body(&report.relevance) + &effects;
    let validation = &report.cross_validation;
    let validation = if validation.is_empty() { String::new() } else { lead(validation) };
    let evaluation = validation + &evaluation;
    let sections = [
        Section { id: "summary", heading: "Summary", body: summary },
        Section { id: "predictions", heading: "Predictions", body: evaluation },
        Section { id: "surprises", heading: "Surprises", body: surprises },
        Section { id: "features", heading: "Features", body: features },
        Section { id: "training", heading: "Training", body: training::body(&report.trace) },
        Section { id: "layers", heading: "Layers", body: layers::body(&report.layers) },
        Section { id: "settings", heading: "Settings", body: settings(&report.settings) },
    ];
    sections.into_iter().filter(|s| !s.body.is_empty()).collect()
}

fn predictions(evaluation: &Evaluation) -> String {
    match evaluation {
        Evaluation::Regression { target, points, noise, metrics } => {
            regression::body(target, points, noise.as_ref(), metrics)
        }
        Evaluation::Classification { target, labels, points, metrics } => {
            classification::body(target, labels, points, metrics)
        }
    }
}

/// What is said of each target; of several, below their names.
fn by_target<'a>(parts: impl Iterator<Item = (&'a str, String)>) -> String {
    let parts: Vec<(&str, String)> = parts.collect();
    let several = parts.len() > 1;
    let part = |(target, body): (&str, String)| match several {
        true => format!("<h3 class=\"target\">{}</h3>\n{body}", escape(target)),
        false => body,
    };
    parts.into_iter().filter(|(_, body)| !body.is_empty()).map(part).collect()
}

/// What was learned, from what.
fn facts_of(report: &Report) -> String {
    let mut out = String::new();
    if !report.model.is_empty() {
        let _ = writeln!(out, "<p class=\"model\">{}</p>", escape(&report.model));
    }
    let rows = match (report.rows_trained, report.rows_held_out) {
        (0, 0) => String::new(),
        (trained, 0) => count(trained, "row"),
        (trained, held_out) => format!("{}, {} held out", count(trained, "row"), count(held_out, "row")),
    };
    out + &about(&[("Data", report.data.as_str()), ("Task", &report.task), ("Learned from", &rows)])
}

/// Facts with their names.
fn about(facts: &[(&str, &str)]) -> String {
    let items = facts.iter().filter(|f| !f.1.is_empty());
    let items: String =
        items.map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", escape(value))).collect();
    if items.is_empty() { items } else { format!("<dl class=\"about\">{items}</dl>\n") }
}

fn warnings(warnings: &[String]) -> String {
    let items: String = warnings.iter().map(|w| format!("<li>{}</li>", escape(w))).collect();
    let heading = if warnings.len() == 1 { "A warning" } else { "Warnings" };
    if items.is_empty() {
        return items;
    }
    format!("<aside class=\"warnings\" aria-label=\"Warnings\"><h2>{heading}</h2><ul>{items}</ul></aside>\n")
}

fn settings(settings: &[(String, String)]) -> String {
    if settings.is_empty() {
        return absent("No settings were given.");
    }
    let rows = settings
        .iter()
        .map(|(name, value)| format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(value)));
    format!("<table class=\"settings\"><tbody>\n{}</tbody></table>\n", rows.collect::<String>())
}

/// Numbers with what they mean.
fn tiles(facts: &[Fact]) -> String {
    let tile = |f: &Fact| {
        let explanation =
            if f.explanation.is_empty() { String::new() } else { format!("<p>{}</p>", escape(&f.explanation)) };
        let (label, value) = (escape(&f.label), escape(&f.value));
        format!("<div class=\"tile\"><h3>{label}</h3><p class=\"value\">{value}</p>{explanation}</div>\n")
    };
    if facts.is_empty() {
        return String::new();
    }
    format!("<div class=\"tiles\">\n{}</div>\n", facts.iter().map(tile).collect::<String>())
}

/// Why there is nothing to see.
fn absent(reason: &str) -> String {
    format!("<p class=\"absent\">{}</p>\n", escape(reason))
}

/// A paragraph that leads into a section.
fn lead(text: &str) -> String {
    format!("<p class=\"lead\">{}</p>\n", escape(text))
}

/// A chart with what to look for above and what it shows below.
fn figure(title: &str, svg: &str, caption: &str) -> String {
    figure_of_class("upright", title, svg, caption)
}

/// A chart with what it shows beside it where there is room.
fn wide_figure(title: &str, svg: &str, caption: &str) -> String {
    figure_of_class("beside", title, svg, caption)
}

fn figure_of_class(class: &str, title: &str, svg: &str, caption: &str) -> String {
    let (title, caption) = (escape(title), escape(caption));
    format!("<figure class=\"{class}\"><h3>{title}</h3>{svg}<figcaption>{caption}</figcaption></figure>\n")
}

/// Figures, two to a row where there is room; titles, charts and captions of a row are level.
fn grid(figures: &str) -> String {
    if figures.is_empty() { String::new() } else { format!("<div class=\"figures\">\n{figures}</div>\n") }
}

/// Figures of different heights, each caption right below its chart.
fn loose_grid(figures: &str) -> String {
    format!("<div class=\"figures loose\">\n{figures}</div>\n")
}

/// In the place of a chart for which there are no data: its title, and why.
fn no_figure(title: &str, reason: &str) -> String {
    format!("<figure><h3>{}</h3>{}</figure>\n", escape(title), absent(reason))
}
