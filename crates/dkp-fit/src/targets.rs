//! What is predicted: a column of classes, or one or more of numbers.

use crate::Error;
use crate::roles::list_or_one;
use dkp::data::Dataset;
use dkp::likelihoods::Likelihood;
use dkp_table::{Column, Frame, Kind, Origin, Table, Target};
use serde::{Deserialize, Serialize};

/// How the columns that are predicted become numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Targets(#[serde(deserialize_with = "list_or_one")] Vec<Target>);

/// The targets of some rows.
pub(crate) struct EncodedTargets {
    /// For each row those of all columns: numbers or indices of classes, NaN where they are missing or unseen.
    pub y: Vec<f64>,
    /// The rows of a class that training rows did not have.
    pub unseen: Vec<usize>,
}

impl Targets {
    /// Learns the classes, if there are any, of some rows of a frame.
    pub(crate) fn fit(frame: &Frame, rows: &[usize], columns: &[(String, Kind)]) -> Result<Targets, Error> {
        let target = |(name, kind): &(String, Kind)| Target::fit(frame, rows, name, *kind);
        Ok(Targets(columns.iter().map(target).collect::<Result<_, _>>()?))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.columns().into_iter().map(|c| c.0).collect()
    }

    /// The columns to read, and how.
    pub fn columns(&self) -> Vec<(String, Kind)> {
        self.0.iter().map(Target::column).collect()
    }

    /// Names of classes, if they are predicted.
    pub fn labels(&self) -> Option<&[String]> {
        self.0.first()?.classes()
    }

    /// The targets of all rows of a frame.
    pub(crate) fn encode(&self, frame: &Frame) -> Result<EncodedTargets, Error> {
        let (count, mut unseen) = (self.count(), Vec::new());
        let mut y = vec![f64::NAN; frame.rows() * count];
        for (t, target) in self.0.iter().enumerate() {
            // a table may lack one of several
            if count > 1 && frame.column(&target.column().0).is_err() {
                continue;
            }
            let own = target.encode(frame)?;
            own.values.iter().enumerate().for_each(|(row, v)| y[row * count + t] = *v);
            unseen.extend(own.unseen);
        }
        Ok(EncodedTargets { y, unseen })
    }

    /// Whether a row of [encoded](EncodedTargets::y) targets has any.
    pub(crate) fn is_known(&self, y: &[f64], row: usize) -> bool {
        y[row * self.count()..][..self.count()].iter().any(|v| !v.is_nan())
    }

    /// Targets that a likelihood cannot have, by their place in the table, whose row `first` the first is.
    pub(crate) fn check(
        &self,
        likelihood: &dyn Likelihood,
        y: &[f64],
        first: usize,
        origin: &Origin,
    ) -> Result<(), Error> {
        let mut known = y.iter().enumerate().filter(|(_, v)| !v.is_nan());
        let refused = known.find_map(|(i, &value)| Some((i, value, likelihood.accepts(value).err()?)));
        let Some((i, value, expected)) = refused else { return Ok(()) };
        let (row, column) = (first + i / self.count() + 1, &self.names()[i % self.count()]);
        let (option, name) = (origin.option("likelihood"), likelihood.name());
        let reason = format!("row {row}, column \"{column}\": {value} must be {expected} for {option} {name}");
        Err(Error::data(origin, reason))
    }

    /// Too few targets to learn from, or nothing to learn, in some rows.
    pub(crate) fn check_variety(&self, y: &[f64], rows: &[usize], origin: &Origin) -> Result<(), Error> {
        for (t, target) in self.0.iter().enumerate() {
            let own = rows.iter().map(|&row| y[row * self.count() + t]).filter(|v| !v.is_nan());
            let (name, own) = (target.column().0, own.collect::<Vec<f64>>());
            let counted = if own.len() == 1 { "1 row" } else { "0 rows" };
            let value = || target.classes().and_then(|c| c.first().cloned()).unwrap_or_else(|| own[0].to_string());
            let reason = match own.len() {
                0 | 1 => format!("{counted} with a known target \"{name}\" to learn from; at least 2 are needed"),
                _ if own.iter().all(|v| *v == own[0]) => {
                    format!("the target \"{name}\" is {} in all training rows: there is nothing to learn", value())
                }
                _ => continue,
            };
            return Err(Error::data(origin, reason));
        }
        Ok(())
    }

    /// What is to be said of targets that are missing where others are known.
    pub(crate) fn notes(&self, y: &[f64], rows: &[usize]) -> Vec<String> {
        let missing = |t: usize| rows.iter().filter(|&&row| y[row * self.count() + t].is_nan()).count();
        let line = |(t, name): (usize, String)| match missing(t) {
            0 => None,
            1 => Some(format!("the target \"{name}\" is missing in 1 row to learn from, which tells of the others")),
            n => Some(format!("the target \"{name}\" is missing in {n} rows to learn from, which tell of the others")),
        };
        self.names().into_iter().enumerate().filter_map(line).collect()
    }
}

/// Of several columns to predict those that a table has, if it has any; else all, so that reading refuses.
pub(crate) fn columns_there(columns: &[(String, Kind)], table: &Table) -> Vec<(String, Kind)> {
    let there: Vec<(String, Kind)> = columns.iter().filter(|c| table.names().contains(&c.0)).cloned().collect();
    if there.is_empty() { columns.to_vec() } else { there }
}

/// The rows of a frame in which any of these columns is known.
pub(crate) fn known_rows(frame: &Frame, columns: &[(String, Kind)]) -> Result<Vec<usize>, Error> {
    let columns = columns.iter().map(|(name, _)| frame.column(name)).collect::<Result<Vec<_>, _>>()?;
    let known = |row: usize| {
        columns.iter().any(|column| match column {
            Column::Texts(t) => t.get(row).is_some(),
            Column::Numbers(v) => !v[row].is_nan(),
        })
    };
    Ok((0..frame.rows()).filter(|&row| known(row)).collect())
}

/// Of rows to learn from, the share in which each target is known.
pub(crate) fn known_shares(rows: &Dataset) -> Vec<f64> {
    let known = |t: usize| (0..rows.points()).filter(|&n| !rows.y(n)[t].is_nan()).count();
    (0..rows.targets()).map(|t| known(t) as f64 / rows.points() as f64).collect()
}

/// `the target "a"`, or `the targets "a", "b"`.
pub(crate) fn called<N: AsRef<str>>(names: &[N]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("\"{}\"", n.as_ref())).collect();
    format!("the target{} {}", if names.len() == 1 { "" } else { "s" }, quoted.join(", "))
}
