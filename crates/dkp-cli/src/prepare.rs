//! From a table to what a model learns from: roles of columns, held-out rows, encoding, scales.

use crate::choices::{Choices, Roles, Task};
use crate::settings::Settings;
use crate::trained::Record;
use anyhow::{Context as _, bail};
use dkp::data::{Dataset, Scaler, Split};
use dkp::likelihoods;
use dkp_table::{Column, Encoder, Frame, Kind, Survey, Table, Target};
use faer::MatRef;
use std::path::Path;

/// Data in a model's scales, and what is known of them.
pub struct Prepared {
    /// Rows to learn from.
    pub train: Dataset,
    /// Rows to be judged on, of which there may be none.
    pub held_out: Option<Dataset>,
    /// What a model file says of its data; without the results of training.
    pub record: Record,
    /// What was done to the table, a line each.
    pub notes: Vec<String>,
}

/// A table with its target encoded; rows are those whose target is known.
struct Rows {
    frame: Frame,
    rows: Vec<usize>,
}

/// Reads a table.
pub fn prepare(data: &Path, roles: &Roles, choices: &Choices) -> anyhow::Result<Prepared> {
    let table = Table::open(data, &roles.options())?;
    let file = data.display();
    let name = roles.target.as_deref().with_context(|| {
        format!("{file}: which column is to be predicted? Give --target; there are {}", list(table.names()))
    })?;
    let survey = table.survey()?;
    let (features, ids) = split_columns(&table, roles, name)?;
    let features = survey.features(&features)?;
    let mut notes = features.notes();
    if features.columns.is_empty() {
        bail!("{file}: there is no column to learn from beside the target \"{name}\"");
    }
    let (task, kind) = task(&survey, roles, choices, name)?;
    let mut columns = features.columns.clone();
    columns.push((name.to_string(), kind));
    let placed: Vec<&String> = roles.group.iter().chain(&roles.time).collect();
    for column in placed {
        columns.push((column.clone(), placing_kind(&survey, roles, column)?));
    }
    let whole = known_rows(&table, &columns, name, kind, &mut notes)?;
    let (rows, test) = match &roles.test {
        None => (split(&whole, roles, choices)?, None),
        Some(path) => {
            let test = Table::open(path, &roles.options())?;
            let columns = &columns[..features.columns.len() + 1];
            let test = known_rows(&test, columns, name, kind, &mut notes)?;
            (Split { train: whole.rows.clone(), held_out: Vec::new() }, Some(test))
        }
    };
    let target = Target::fit(&whole.frame, &rows.train, name, kind)?;
    let y = target.encode(&whole.frame)?.values;
    check_variety(&rows.train.iter().map(|&r| y[r]).collect::<Vec<_>>(), &target, data)?;
    let varying = varying(&whole.frame, &rows.train, features.columns, &mut notes)?;
    if varying.is_empty() {
        bail!("{file}: no column beside the target \"{name}\" varies over the training rows");
    }
    let encoder = Encoder::fit(&whole.frame, &rows.train, &varying)?;
    notes.extend(encoding_notes(&encoder, &survey));
    let likelihood = likelihood(task, choices, &target)?;
    if task == Task::Regression && survey.column(name)?.levels.as_ref().is_some_and(|l| l.len() == 2) {
        notes.push(format!("the target \"{name}\" has two different values: --task classification may be meant"));
    }
    let (train_x, train_y) = encoded(&encoder, &target, &whole.frame, &rows.train, &mut notes)?;
    check_targets(&likelihood, &target, &whole.frame, data)?;
    let held_out = match (&test, &roles.test) {
        (Some(test), Some(path)) => {
            check_targets(&likelihood, &target, &test.frame, path)?;
            encoded(&encoder, &target, &test.frame, &test.rows, &mut notes)?
        }
        _ => encoded(&encoder, &target, &whole.frame, &rows.held_out, &mut notes)?,
    };
    let width = encoder.width();
    let raw = dataset(&train_x, &train_y, width).with_context(|| file.to_string())?;
    let (feature_scale, target_scale) = raw.scales();
    let scaled = matches!(task, Task::Regression) && likelihood != "poisson";
    let target_scale = if scaled { target_scale } else { Scaler::identity(1) };
    let settings = Settings::resolve(choices, raw.points(), width, likelihood)?;
    let held_out = if held_out.1.is_empty() { None } else { Some(dataset(&held_out.0, &held_out.1, width)?) };
    let held_out = held_out.map(|d| d.scaled(&feature_scale, &target_scale));
    let train = raw.scaled(&feature_scale, &target_scale);
    let record = Record {
        data: file_name(data),
        rows_trained: train.points(),
        rows_held_out: held_out.as_ref().map_or(0, Dataset::points),
        task,
        id: ids,
        na: roles.na.clone(),
        encoder,
        target,
        feature_scale,
        target_scale,
        settings,
        notes: notes.clone(),
        bound: None,
        evaluation: None,
    };
    Ok(Prepared { train, held_out, record, notes })
}

/// The last part of a path: a model file says nothing of folders.
fn file_name(path: &Path) -> String {
    path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned())
}

fn list(names: &[String]) -> String {
    const MOST: usize = 12;
    let shown = names.iter().take(MOST).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}

/// Columns to learn from, and those that name rows.
fn split_columns(table: &Table, roles: &Roles, target: &str) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    table.find(target).context("--target")?;
    for (flag, columns) in [("--ignore", &roles.ignore), ("--id", &roles.id)] {
        for column in columns {
            table.find(column).context(flag)?;
            if column == target {
                bail!("{flag} {column}: this is the target");
            }
        }
    }
    for (flag, column) in [("--group", &roles.group), ("--time", &roles.time)] {
        if let Some(column) = column {
            table.find(column).context(flag)?;
            if column == target {
                bail!("{flag} {column}: this is the target");
            }
        }
    }
    let placed = |name: &String| roles.group.as_ref() == Some(name) || roles.time.as_ref() == Some(name);
    let left_out =
        |name: &String| name == target || roles.ignore.contains(name) || roles.id.contains(name) || placed(name);
    Ok((table.names().iter().filter(|n| !left_out(n)).cloned().collect(), roles.id.clone()))
}

/// Whether numbers or classes are predicted, and how the column is read for it.
fn task(survey: &Survey, roles: &Roles, choices: &Choices, name: &str) -> anyhow::Result<(Task, Kind)> {
    let classes = match choices.likelihood.as_deref() {
        Some("bernoulli" | "categorical") => Some(true),
        Some("gaussian" | "student_t" | "poisson") => Some(false),
        Some(other) => bail!(
            "--likelihood {other}: there are gaussian, student_t and poisson for numbers, bernoulli and categorical for classes"
        ),
        None => None,
    };
    let asked = roles.task.map(|t| t == Task::Classification);
    if let (Some(a), Some(b)) = (asked, classes)
        && a != b
    {
        let likelihood = choices.likelihood.as_deref().unwrap_or_default();
        bail!(
            "--task and --likelihood contradict each other: {likelihood} is for {}",
            if b { "classes" } else { "numbers" }
        );
    }
    let column = survey.column(name)?;
    let boolean = column.is_boolean();
    let kind = survey.target(name, asked.or(classes).unwrap_or(boolean))?;
    match (asked.or(classes), kind) {
        (Some(false), Kind::Text) => {
            let text =
                column.stray.as_ref().map_or(String::new(), |s| format!(", such as \"{}\" in {}", s.text, s.place));
            bail!(
                "{}column \"{name}\" holds text{text}: regression needs numbers; use --task classification",
                survey.origin()
            )
        }
        (_, Kind::Text) => Ok((Task::Classification, kind)),
        _ => Ok((Task::Regression, kind)),
    }
}

/// Groups are compared as text; times are numbers, or dates that sort as text.
fn placing_kind(survey: &Survey, roles: &Roles, name: &str) -> anyhow::Result<Kind> {
    if roles.time.as_deref() != Some(name) {
        return Ok(Kind::Text);
    }
    let (origin, column) = (survey.origin(), survey.column(name)?);
    if column.missing > 0 {
        bail!("--time {name}: {origin}{} values are missing: every row needs its time", column.missing);
    }
    if column.numeric == column.values() {
        return Ok(Kind::Number);
    }
    if column.looks_like_dates() {
        return Ok(Kind::Text);
    }
    let sample = column.stray.as_ref().map_or(String::new(), |s| format!(": \"{}\" in {} is neither", s.text, s.place));
    bail!("--time {name}: {origin}expected numbers, or dates such as 2024-01-31{sample}")
}

/// The ranks of dates that begin with the year.
fn date_ranks(texts: &[&str], name: &str) -> anyhow::Result<Vec<f64>> {
    let iso = |t: &str| t.len() >= 10 && t.as_bytes()[4] == b'-' && t[..4].bytes().all(|b| b.is_ascii_digit());
    if let Some(text) = texts.iter().find(|t| !iso(t)) {
        bail!("--time {name}: \"{text}\" does not sort by time: write dates as 2024-01-31");
    }
    let mut sorted: Vec<&str> = texts.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    Ok(texts.iter().map(|t| sorted.partition_point(|s| s < t) as f64).collect())
}

/// The rows whose target is known.
fn known_rows(
    table: &Table,
    columns: &[(String, Kind)],
    target: &str,
    kind: Kind,
    notes: &mut Vec<String>,
) -> anyhow::Result<Rows> {
    let frame = table.read(columns)?;
    let known = |row: usize| match (kind, frame.column(target)) {
        (Kind::Text, Ok(Column::Texts(t))) => t.get(row).is_some(),
        (_, Ok(Column::Numbers(v))) => !v[row].is_nan(),
        _ => false,
    };
    let rows: Vec<usize> = (0..frame.rows()).filter(|&r| known(r)).collect();
    let file = table.origin().path().map_or(String::new(), file_name);
    match frame.rows() - rows.len() {
        0 => {}
        1 => notes.push(format!("{file}: 1 row without a target is left out")),
        n => notes.push(format!("{file}: {n} rows without a target are left out")),
    }
    Ok(Rows { frame, rows })
}

/// Which rows are learned from.
fn split(whole: &Rows, roles: &Roles, choices: &Choices) -> anyhow::Result<Split> {
    let fraction = roles.holdout.unwrap_or(0.1);
    let seed = choices.seed.unwrap_or(0);
    let text = |texts: &dkp_table::Texts, row: usize| texts.get(row).unwrap_or("").to_string();
    let split = match (&roles.group, &roles.time) {
        (Some(group), _) => {
            let texts = whole.frame.texts(group)?;
            let groups: Vec<String> = whole.rows.iter().map(|&r| text(texts, r)).collect();
            Split::by_group(&groups.iter().map(String::as_str).collect::<Vec<_>>(), fraction, seed)
        }
        (None, Some(time)) => {
            let times = match whole.frame.column(time)? {
                Column::Numbers(v) => whole.rows.iter().map(|&r| v[r]).collect(),
                Column::Texts(t) => {
                    date_ranks(&whole.rows.iter().map(|&r| t.get(r).unwrap_or("")).collect::<Vec<_>>(), time)?
                }
            };
            Split::by_time(&times, fraction)
        }
        (None, None) => Split::random(whole.rows.len(), fraction, seed),
    };
    let place = |rows: Vec<usize>| rows.into_iter().map(|i| whole.rows[i]).collect();
    Ok(Split { train: place(split.train), held_out: place(split.held_out) })
}

/// Columns without those that are the same in all training rows.
fn varying(
    frame: &Frame,
    rows: &[usize],
    columns: Vec<(String, Kind)>,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<(String, Kind)>> {
    let mut kept = Vec::new();
    for (name, kind) in columns {
        let varies = match frame.column(&name)? {
            Column::Numbers(v) => rows.iter().any(|&r| v[r].to_bits() != v[rows[0]].to_bits()),
            Column::Texts(t) => rows.iter().any(|&r| t.get(r) != t.get(rows[0])),
        };
        if varies {
            kept.push((name, kind));
        } else {
            notes.push(format!("column \"{name}\" is the same in all training rows and is ignored"));
        }
    }
    Ok(kept)
}

/// What encoding does to columns.
fn encoding_notes(encoder: &Encoder, survey: &Survey) -> Vec<String> {
    let features = encoder.features();
    let mut notes = Vec::new();
    for (column, kind) in encoder.columns() {
        let own = features.iter().filter(|f| f.column == column).count();
        let missing = survey.column(&column).map_or(0, |c| c.missing);
        match kind {
            Kind::Text if missing > 0 => notes
                .push(format!("column \"{column}\" is text: {own} levels, of which missing is one, one feature each")),
            Kind::Text => notes.push(format!("column \"{column}\" is text: {own} levels, one feature each")),
            _ if missing > 0 => notes.push(format!(
                "column \"{column}\" lacks {missing} value{}: the median instead{}",
                if missing == 1 { "" } else { "s" },
                if own > 1 { ", and a feature that says where" } else { "" }
            )),
            _ => {}
        }
    }
    notes.extend(
        encoder.ignored().iter().map(|c| format!("column \"{c}\" has no values in the training rows and is ignored")),
    );
    notes
}

/// The likelihood by its full name.
fn likelihood(task: Task, choices: &Choices, target: &Target) -> anyhow::Result<String> {
    let Task::Classification = task else {
        return match choices.likelihood.as_deref() {
            None | Some("gaussian") => Ok("gaussian(1)".to_string()),
            Some(other @ ("student_t" | "poisson")) => Ok(other.to_string()),
            Some(other) => bail!("--likelihood {other}: this is for classes"),
        };
    };
    match (target.classes().map_or(0, <[String]>::len), choices.likelihood.as_deref()) {
        (2, None | Some("bernoulli")) => Ok("bernoulli".to_string()),
        (n, Some("bernoulli")) => {
            bail!("--likelihood bernoulli: the target \"{}\" has {n} classes, not 2", target.column().0)
        }
        (n, _) => Ok(format!("categorical({n})")),
    }
}

/// Features and targets of some rows, point by point.
fn encoded(
    encoder: &Encoder,
    target: &Target,
    frame: &Frame,
    rows: &[usize],
    notes: &mut Vec<String>,
) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let (x, _) = encoder.encode(frame)?;
    let y = target.encode(frame)?.values;
    let width = encoder.width();
    let known: Vec<usize> = rows.iter().copied().filter(|&r| !y[r].is_nan()).collect();
    if known.len() < rows.len() {
        let n = rows.len() - known.len();
        notes.push(format!(
            "{n} held-out row{} of a class that no training row has: left out",
            if n == 1 { "" } else { "s" }
        ));
    }
    let values = known.iter().flat_map(|&r| &x[r * width..(r + 1) * width]).copied().collect();
    Ok((values, known.iter().map(|&r| y[r]).collect()))
}

/// Too few targets to learn from, or nothing to learn.
fn check_variety(y: &[f64], target: &Target, file: &Path) -> anyhow::Result<()> {
    let (file, name) = (file.display(), target.column().0);
    if y.len() < 2 {
        let rows = if y.len() == 1 { "1 row" } else { "0 rows" };
        bail!("{file}: {rows} with a known target \"{name}\" to learn from; at least 2 are needed");
    }
    if y.iter().all(|v| *v == y[0]) {
        let value = target.classes().and_then(|c| c.first().cloned()).unwrap_or_else(|| y[0].to_string());
        bail!("{file}: the target \"{name}\" is {value} in all training rows: there is nothing to learn");
    }
    Ok(())
}

/// Targets that a likelihood cannot have, by their place in the table.
pub fn check_targets(likelihood: &str, target: &Target, frame: &Frame, file: &Path) -> anyhow::Result<()> {
    let likelihood = likelihoods::named(likelihood)?;
    for (i, &value) in target.encode(frame)?.values.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
        if let Err(expected) = likelihood.accepts(value) {
            let (file, row, name) = (file.display(), frame.first() + i + 1, target.column().0);
            bail!(
                "{file}: row {row}, column \"{name}\": {value} must be {expected} for --likelihood {}",
                likelihood.name()
            );
        }
    }
    Ok(())
}

/// Points as a model takes them.
fn dataset(x: &[f64], y: &[f64], width: usize) -> anyhow::Result<Dataset> {
    let x = MatRef::from_column_major_slice(x, width, y.len());
    Ok(Dataset::new(x, MatRef::from_column_major_slice(y, 1, y.len()))?)
}
