//! What is to be predicted, as numbers.

use crate::{Error, Frame, Kind, cell};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How the target column becomes a number.
///
/// ```
/// use dkp_table::{Column, Frame, Kind, Target};
/// let grades = [Some("10"), None, Some("9"), Some("9.0")].into_iter().collect();
/// let frame = Frame::new(0, vec![("grade".into(), Column::Texts(grades))])?;
/// let target = Target::fit(&frame, &[0, 1, 2, 3], "grade", Kind::Text)?;
/// assert_eq!(target.classes(), Some(&["9".to_string(), "10".to_string()][..]));
/// let encoded = target.encode(&frame)?;
/// assert_eq!((encoded.values[0], encoded.values[2]), (1.0, 0.0));
/// assert_eq!(encoded.missing, [1]);
/// # Ok::<(), dkp_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    column: String,
    kind: Kind,
    classes: Option<Classes>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Classes {
    labels: Vec<String>,
    /// Whether all are numbers, which are then compared by value.
    numeric: bool,
    /// Whether they are true and false, however these are written.
    boolean: bool,
}

/// The target of some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedTargets {
    /// A number or the index of a class, row by row; NaN where it is missing or unseen.
    pub values: Vec<f64>,
    /// The rows of the frame, from 0, where it is missing.
    pub missing: Vec<usize>,
    /// The rows where it is a class that training rows did not have.
    pub unseen: Vec<usize>,
}

impl Target {
    /// Learns the classes of some rows of a frame (from 0), if the target is read as text: sorted, as numbers if all of them are.
    pub fn fit(frame: &Frame, rows: &[usize], column: &str, kind: Kind) -> Result<Target, Error> {
        frame.check_rows(rows)?;
        let classes = match kind {
            Kind::Number | Kind::Written(_) | Kind::Date(_) | Kind::Bool => frame.numbers(column).map(|_| None)?,
            Kind::Text => {
                let texts = frame.texts(column)?;
                Some(Classes::of(rows.iter().filter_map(|&row| texts.get(row))))
            }
        };
        Ok(Target { column: column.to_string(), kind, classes })
    }

    /// The column to read, and how.
    pub fn column(&self) -> (String, Kind) {
        (self.column.clone(), self.kind)
    }

    /// The classes' names, by index, if the target is one of classes.
    pub fn classes(&self) -> Option<&[String]> {
        self.classes.as_ref().map(|c| &c.labels[..])
    }

    /// The target of all rows of a frame.
    pub fn encode(&self, frame: &Frame) -> Result<EncodedTargets, Error> {
        self.encode_each(frame, 0..frame.rows())
    }

    /// The target of some rows of a frame (from 0), in this order.
    pub fn encode_rows(&self, frame: &Frame, rows: &[usize]) -> Result<EncodedTargets, Error> {
        frame.check_rows(rows)?;
        self.encode_each(frame, rows.iter().copied())
    }

    fn encode_each(&self, frame: &Frame, rows: impl Iterator<Item = usize> + Clone) -> Result<EncodedTargets, Error> {
        let Some(classes) = &self.classes else {
            let numbers = frame.numbers(&self.column)?;
            let missing = rows.clone().filter(|&row| numbers[row].is_nan()).collect();
            return Ok(EncodedTargets { values: rows.map(|row| numbers[row]).collect(), missing, unseen: Vec::new() });
        };
        let texts = frame.texts(&self.column)?;
        let mut targets = EncodedTargets::default();
        for row in rows {
            let text = texts.get(row);
            let class = text.and_then(|t| classes.index(t));
            targets.values.push(class.map_or(f64::NAN, |c| c as f64));
            match (text, class) {
                (None, _) => targets.missing.push(row),
                (Some(_), None) => targets.unseen.push(row),
                (Some(_), Some(_)) => {}
            }
        }
        Ok(targets)
    }
}

impl Classes {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Classes {
        let distinct: BTreeSet<&str> = texts.collect();
        let lower: BTreeSet<String> = distinct.iter().map(|t| t.to_lowercase()).collect();
        if lower.iter().all(|t| t == "true" || t == "false") && !lower.is_empty() {
            return Classes { labels: lower.into_iter().collect(), numeric: false, boolean: true };
        }
        let numbers: Option<Vec<f64>> = distinct.iter().map(|t| number(t)).collect();
        let Some(mut numbers) = numbers.filter(|n| !n.is_empty()) else {
            return Classes {
                labels: distinct.into_iter().map(str::to_string).collect(),
                numeric: false,
                boolean: false,
            };
        };
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        Classes { labels: numbers.into_iter().map(cell::number_text).collect(), numeric: true, boolean: false }
    }

    fn index(&self, text: &str) -> Option<usize> {
        if self.numeric {
            let label = cell::number_text(number(text)?);
            return self.labels.iter().position(|l| *l == label);
        }
        if self.boolean {
            return self.labels.iter().position(|l| l.eq_ignore_ascii_case(text));
        }
        self.labels.binary_search_by(|l| l.as_str().cmp(text)).ok()
    }
}

/// A finite number, of which there is one zero.
fn number(text: &str) -> Option<f64> {
    cell::number(text.as_bytes()).filter(|v| v.is_finite()).map(|v| v + 0.0)
}
