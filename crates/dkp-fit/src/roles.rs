//! What the columns of a table are for.

use crate::Scaling;
use dkp_table::{Decimal, ReadOptions};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::PathBuf;

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A number, or several.
    Regression,
    /// A class.
    Classification,
}

/// Which columns are what, and which rows are held out; what is left open follows from the table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roles {
    /// The column to predict, or several of numbers, which are predicted together; in files one name, or a list.
    #[serde(rename = "target", skip_serializing_if = "Vec::is_empty", serialize_with = "one_or_list")]
    #[serde(deserialize_with = "list_or_one")]
    pub targets: Vec<String>,
    /// The .npy file that they are in, where the table is an .npy file without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_file: Option<PathBuf>,
    /// What to predict: by default numbers mean regression, text and true/false mean classification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Columns to leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Columns that name rows: not learned from, but passed through to predictions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub id: Vec<String>,
    /// Texts that mean a missing value, beside the usual ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub na: Vec<String>,
    /// What stands between the cells of a CSV file, if its header does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// What stands before the decimals of numbers, if the columns do not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<Decimal>,
    /// In which scale the model sees features; by default each column's own, or for classes that in which rows' nearest neighbours tell most of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// The fraction of rows to hold out, 0.1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
    /// Cross-validate: the rows are divided in so many folds, each is judged by a model of the others, and the model itself learns from all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<u64>,
    /// Hold out whole groups: rows that share a value of this column, which is not learned from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Hold out the latest rows by this column, which is not learned from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// A file of rows to hold out, instead of some of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<PathBuf>,
}

/// The fraction of rows that is held out if nothing is said.
pub(crate) const HOLDOUT: f64 = 0.1;

impl Roles {
    /// How files are read.
    pub fn read_options(&self) -> ReadOptions {
        let (delimiter, na) = (self.delimiter.map(|c| c as u8), self.na.clone());
        ReadOptions { delimiter, na, decimal: self.decimal, beside: None }
    }

    /// How the file to learn from is read: with the target, where that is in a file of its own.
    pub fn data_options(&self) -> ReadOptions {
        let beside = self.target_file.clone().map(|file| (self.targets.clone(), file));
        ReadOptions { beside, ..self.read_options() }
    }
}

/// A list of one is written as the one.
fn one_or_list<S: Serializer>(list: &[String], to: S) -> Result<S::Ok, S::Error> {
    match list {
        [one] => one.serialize(to),
        list => list.serialize(to),
    }
}

/// A list, of which one, or none, may stand for itself.
pub(crate) fn list_or_one<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected one, or a list")]
    enum Either<T> {
        List(Vec<T>),
        One(T),
        None(()),
    }
    Ok(match Either::deserialize(from)? {
        Either::List(list) => list,
        Either::One(one) => vec![one],
        Either::None(()) => Vec::new(),
    })
}
