//! What the columns of a table are: features, target, and those that place rows.

use crate::choice::AUTO;
use crate::{Choices, Error, Roles, Targets, Task};
use dkp::Registry;
use dkp::likelihoods::{Likelihood, TargetKind};
use dkp_table::{Kind, Survey, Table};
use std::sync::Arc;

/// Columns to predict; those of a matrix in a file of its own are numbered.
pub(crate) fn target_names(table: &Table, roles: &Roles) -> Result<Vec<String>, Error> {
    let is_there = |name: &String| table.names().contains(name);
    let names = match (roles.targets.as_slice(), &roles.target_file) {
        ([name], Some(_)) if !is_there(name) => (0..).map(|i| format!("{name}{i}")).take_while(is_there).collect(),
        (names, _) => names.to_vec(),
    };
    for (i, name) in names.iter().enumerate() {
        table.find(name).map_err(|e| Error::named("target", e))?;
        if names[..i].contains(name) {
            return Err(Error::setting("target", name, "it is given twice"));
        }
    }
    Ok(names)
}

/// Columns to learn from, by the roles of the others.
pub(crate) fn feature_names(table: &Table, roles: &Roles, targets: &[String]) -> Result<Vec<String>, Error> {
    let found = |role: &'static str, column: &str| table.find(column).map_err(|e| Error::named(role, e));
    let lists = [("ignore", &roles.ignore), ("id", &roles.id)];
    let listed = lists.into_iter().flat_map(|(role, columns)| columns.iter().map(move |c| (role, c)));
    let placing = [("group", &roles.group), ("time", &roles.time)];
    let placing = placing.into_iter().filter_map(|(role, column)| Some((role, column.as_ref()?)));
    let others: Vec<(&'static str, &String)> = listed.chain(placing).collect();
    for (role, column) in &others {
        found(role, column)?;
        if targets.contains(column) {
            return Err(Error::setting(role, column, "this is the target"));
        }
    }
    let left_out = |name: &String| targets.contains(name) || others.iter().any(|(_, c)| *c == name);
    Ok(table.names().iter().filter(|n| !left_out(n)).cloned().collect())
}

/// Whether numbers or classes are predicted, and how the columns are read for it.
pub(crate) fn tasks(
    survey: &Survey,
    roles: &Roles,
    choices: &Choices,
    registry: &Registry,
    names: &[String],
) -> Result<(Task, Vec<Kind>), Error> {
    let mut found = Vec::new();
    for name in names {
        // with `task` regression a text among numbers is named
        let is_text = names.len() > 1 && roles.task.is_none() && survey.target(name, false)? == Kind::Text;
        let own =
            if is_text { (Task::Classification, Kind::Text) } else { task(survey, roles, choices, registry, name)? };
        if names.len() > 1 && roles.task == Some(Task::Classification) {
            return Err(Error::setting("task", "classification", "several targets must be numbers"));
        }
        if names.len() > 1 && own.0 == Task::Classification {
            let reason = format!(
                "column \"{name}\" holds classes, but several targets must be numbers: classes need a model of their own"
            );
            return Err(Error::data(survey.origin(), reason));
        }
        found.push(own);
    }
    Ok((found.first().map_or(Task::Regression, |f| f.0), found.into_iter().map(|f| f.1).collect()))
}

/// The same for one of them.
fn task(
    survey: &Survey,
    roles: &Roles,
    choices: &Choices,
    registry: &Registry,
    name: &str,
) -> Result<(Task, Kind), Error> {
    let named = choices.likelihood.as_deref().filter(|l| *l != AUTO);
    let by_likelihood = named.map(|l| task_of(registry, l)).transpose()?;
    if let (Some(asked), Some(found), Some(likelihood)) = (roles.task, by_likelihood, &choices.likelihood)
        && asked != found
    {
        return Err(Error::setting(
            "likelihood",
            likelihood,
            format!("this is for {}, which is not the task", of(found)),
        ));
    }
    let wanted = roles.task.or(by_likelihood);
    let column = survey.column(name)?;
    let classes = wanted.map_or(column.is_boolean(), |t| t == Task::Classification);
    let kind = survey.target(name, classes)?;
    match (wanted, kind) {
        (Some(Task::Regression), Kind::Text) => {
            let text = |s: &dkp_table::Noticed| format!(", such as \"{}\" in {}", s.text, s.place);
            let (text, option) = (column.stray.as_ref().map_or(String::new(), text), survey.origin().option("task"));
            let reason =
                format!("column \"{name}\" holds text{text}: regression needs numbers; use {option} classification");
            Err(Error::data(survey.origin(), reason))
        }
        (_, Kind::Text) => Ok((Task::Classification, kind)),
        _ => Ok((Task::Regression, kind)),
    }
}

fn of(task: Task) -> &'static str {
    if task == Task::Regression { "numbers" } else { "classes" }
}

/// What a likelihood is for, by its name without a number of classes.
fn task_of(registry: &Registry, name: &str) -> Result<Task, Error> {
    let task = |l: Arc<dyn Likelihood>| match l.target_kind() {
        TargetKind::Class => Task::Classification,
        TargetKind::Real | TargetKind::Count => Task::Regression,
    };
    let known = |wanted: Task| {
        let names = registry.likelihoods().map(|form| form.split(['(', '[']).next().unwrap_or(form));
        let own =
            names.filter(|n| registry.likelihood(&full_name(registry, n, 2)).map(task).is_ok_and(|t| t == wanted));
        own.collect::<Vec<_>>().join(", ")
    };
    let unknown = |_| {
        let reason = format!(
            "there are {AUTO}, {} for numbers, and {} for classes",
            known(Task::Regression),
            known(Task::Classification)
        );
        Error::setting("likelihood", name, reason)
    };
    registry.likelihood(&full_name(registry, name, 2)).map(task).map_err(unknown)
}

/// A likelihood's name with the number of classes, if its form asks for that.
fn full_name(registry: &Registry, name: &str, classes: usize) -> String {
    let asks = registry.likelihoods().any(|form| form == format!("{name}(classes)"));
    if asks { format!("{name}({classes})") } else { name.to_string() }
}

/// A likelihood's name with the number of targets, if there are several and its form takes that.
pub(crate) fn name_for(registry: &Registry, name: &str, targets: usize) -> String {
    let takes = registry.likelihoods().any(|form| form == format!("{name}[(targets)]"));
    if takes && targets > 1 { format!("{name}({targets})") } else { name.to_string() }
}

/// The likelihood by its full name.
pub(crate) fn likelihood_name(registry: &Registry, choices: &Choices, targets: &Targets) -> Result<String, Error> {
    let named = choices.likelihood.as_deref().filter(|l| *l != AUTO);
    match (named, targets.labels().map(<[String]>::len)) {
        (None, None) => Ok(AUTO.to_string()),
        (None, Some(2)) => Ok("bernoulli".to_string()),
        (None, Some(n)) => Ok(format!("categorical({n})")),
        (Some(name), None) => {
            let full = name_for(registry, name, targets.count());
            let likelihood = registry.likelihood(&full).map_err(|e| Error::named("likelihood", e))?;
            if likelihood.targets() != targets.count() {
                let (own, count) = (likelihood.targets(), targets.count());
                let s = if own == 1 { "" } else { "s" };
                let reason = format!("this is for {own} target{s}, but there are {count}");
                return Err(Error::setting("likelihood", name, reason));
            }
            Ok(full)
        }
        (Some(name), Some(n)) => {
            let full = full_name(registry, name, n);
            let likelihood = registry.likelihood(&full).map_err(|e| Error::named("likelihood", e))?;
            let target_name = || targets.names().join(", ");
            // it must have as many classes, no more and no fewer, and tell their probabilities
            let latents = likelihood.latents();
            let parameters: Vec<Vec<f64>> = likelihood.parameters().iter().map(|p| vec![1.0; p.rows]).collect();
            let probabilities = likelihood.probabilities(&parameters, &vec![0.0; latents], &vec![1.0; latents]);
            match likelihood.accepts((n - 1) as f64) {
                Ok(()) if probabilities.is_some_and(|p| p.len() == n) => Ok(full),
                Ok(()) => {
                    let reason =
                        format!("it does not tell the probabilities of the {n} classes of \"{}\"", target_name());
                    Err(Error::setting("likelihood", name, reason))
                }
                Err(expected) => {
                    let reason =
                        format!("the target \"{}\" has {n} classes, but this is for {expected}", target_name());
                    Err(Error::setting("likelihood", name, reason))
                }
            }
        }
    }
}

/// Groups are compared as text; times are numbers or dates.
pub(crate) fn placing_kind(survey: &Survey, roles: &Roles, name: &str) -> Result<Kind, Error> {
    if roles.time.as_deref() != Some(name) {
        return Ok(Kind::Text);
    }
    let (origin, column) = (survey.origin(), survey.column(name)?);
    let wrong = |reason: String| Error::setting("time", name, format!("{origin}{reason}"));
    if column.missing > 0 {
        return Err(wrong(format!("{} values are missing: every row needs its time", column.missing)));
    }
    if let kind @ (Kind::Number | Kind::Written(_)) = survey.target(name, false).unwrap_or(Kind::Text) {
        return Ok(kind);
    }
    if column.looks_like_dates() {
        return survey.date(column).map_err(|e| Error::named("time", e));
    }
    let sample = column.stray.as_ref().map_or(String::new(), |s| format!(": \"{}\" in {} is neither", s.text, s.place));
    Err(wrong(format!("expected numbers, or dates such as 2024-01-31{sample}")))
}
