//! Features as numbers: what was learned from the training rows, and how rows are encoded by it.

use crate::{DateForm, DatePart, Error, Frame, Kind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How one column becomes numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Code {
    /// As it is; missing is the median, and 1 in a second feature if training rows had missing ones.
    Number { kind: Kind, median: f64, missing: bool },
    /// A date's parts; missing is the median, and 1 in a further feature if training rows had missing ones.
    Date { form: DateForm, parts: Vec<DatePart>, median: f64, missing: bool },
    /// One feature a level, which is 1 where the text is that; the last for missing if training rows had missing ones.
    Levels { levels: Vec<String>, missing: bool },
}

/// A feature that models see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name: `age`, `age is missing`, `colour = red`.
    pub name: String,
    /// The column it comes from.
    pub column: String,
}

/// Values that training rows did not have, counted by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfamiliar {
    /// Texts that are no level: all its features are 0.
    pub unseen: BTreeMap<String, usize>,
    /// Missing values in columns that had none: numbers are the median, the features of a text are 0.
    pub missing: BTreeMap<String, usize>,
}

impl Unfamiliar {
    /// Adds the counts of another frame.
    pub fn add(&mut self, other: &Unfamiliar) {
        other.unseen.iter().for_each(|(column, n)| *self.unseen.entry(column.clone()).or_default() += n);
        other.missing.iter().for_each(|(column, n)| *self.missing.entry(column.clone()).or_default() += n);
    }
}

/// Turns columns into features, by what the training rows had.
///
/// ```
/// use dkp_table::{Column, Encoder, Frame, Kind};
/// let frame = Frame::new(0, vec![
///     ("age".into(), Column::Numbers(vec![30.0, f64::NAN, 40.0])),
///     ("colour".into(), Column::Texts([Some("red"), Some("blue"), Some("green")].into_iter().collect())),
/// ])?;
/// let columns = [("age".into(), Kind::Number), ("colour".into(), Kind::Text)];
/// // the first two rows are for training
/// let encoder = Encoder::fit(&frame, &[0, 1], &columns)?;
/// let names: Vec<String> = encoder.features().into_iter().map(|f| f.name).collect();
/// assert_eq!(names, ["age", "age is missing", "colour = blue", "colour = red"]);
/// let (points, unfamiliar) = encoder.encode(&frame)?;
/// assert_eq!(points, [30.0, 0.0, 0.0, 1.0, /**/ 30.0, 1.0, 1.0, 0.0, /**/ 40.0, 0.0, 0.0, 0.0]);
/// assert_eq!(unfamiliar.unseen["colour"], 1);
/// # Ok::<(), dkp_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    columns: Vec<(String, Code)>,
    ignored: Vec<String>,
}

impl Encoder {
    /// Learns from some rows of a frame (from 0): medians, levels, and where values are missing.
    pub fn fit(frame: &Frame, rows: &[usize], columns: &[(String, Kind)]) -> Result<Encoder, Error> {
        frame.check_rows(rows)?;
        let mut encoder = Encoder { columns: Vec::new(), ignored: Vec::new() };
        for (name, kind) in columns {
            let code = match kind {
                Kind::Text => learn_levels(frame, name, rows)?,
                Kind::Date(form) => learn_dates(frame.numbers(name)?, rows, *form),
                Kind::Number | Kind::Written(_) | Kind::Bool => learn_median(frame.numbers(name)?, rows, *kind),
            };
            match code {
                Some(code) => encoder.columns.push((name.clone(), code)),
                None => encoder.ignored.push(name.clone()),
            }
        }
        Ok(encoder)
    }

    /// The columns to read, and how.
    pub fn columns(&self) -> Vec<(String, Kind)> {
        let kind = |code: &Code| match code {
            Code::Number { kind, .. } => *kind,
            Code::Date { form, .. } => Kind::Date(*form),
            Code::Levels { .. } => Kind::Text,
        };
        self.columns.iter().map(|(name, code)| (name.clone(), kind(code))).collect()
    }

    /// Columns that had no values in the training rows, and are left out.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The features, in the order in which points have them.
    pub fn features(&self) -> Vec<Feature> {
        let names = self.columns.iter().flat_map(|(column, code)| {
            let names: Vec<String> = match code {
                Code::Number { missing: false, .. } => vec![column.clone()],
                Code::Number { missing: true, .. } => vec![column.clone(), format!("{column} is missing")],
                Code::Date { parts, missing, .. } => {
                    let of_part = |part: &DatePart| match part.width() {
                        1 => vec![column.clone()],
                        _ => ["sine", "cosine"].map(|c| format!("{column}, {} ({c})", part.name())).to_vec(),
                    };
                    let missing = missing.then(|| format!("{column} is missing"));
                    parts.iter().flat_map(of_part).chain(missing).collect()
                }
                Code::Levels { levels, missing } => {
                    let levels = levels.iter().map(|level| format!("{column} = {level}"));
                    levels.chain(missing.then(|| format!("{column} = (missing)"))).collect()
                }
            };
            names.into_iter().map(|name| Feature { name, column: column.clone() })
        });
        names.collect()
    }

    /// What of a column's dates are features.
    pub fn date_parts(&self, column: &str) -> &[DatePart] {
        let found = self.columns.iter().find(|(name, _)| name == column);
        match found.map(|(_, code)| code) {
            Some(Code::Date { parts, .. }) => parts,
            _ => &[],
        }
    }

    /// How many features a point has.
    pub fn width(&self) -> usize {
        self.columns.iter().map(|(_, code)| code.width()).sum()
    }

    /// All rows of a frame: the features of the first, then of the second, and so on. And what training rows did not have.
    pub fn encode(&self, frame: &Frame) -> Result<(Vec<f64>, Unfamiliar), Error> {
        self.encode_each(frame, 0..frame.rows())
    }

    /// Some rows of a frame (from 0), in this order: those of training, say, and then the others.
    pub fn encode_rows(&self, frame: &Frame, rows: &[usize]) -> Result<(Vec<f64>, Unfamiliar), Error> {
        frame.check_rows(rows)?;
        self.encode_each(frame, rows.iter().copied())
    }

    fn encode_each(
        &self,
        frame: &Frame,
        rows: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> Result<(Vec<f64>, Unfamiliar), Error> {
        let width = self.width();
        let (mut points, mut unfamiliar, mut at) = (vec![0.0; width * rows.len()], Unfamiliar::default(), 0);
        for (name, code) in &self.columns {
            let (mut unseen, mut missing) = (0, 0);
            match code {
                Code::Number { median, missing: indicated, .. } => {
                    let numbers = frame.numbers(name)?;
                    for (i, row) in rows.clone().enumerate() {
                        let (value, absent) = (numbers[row], numbers[row].is_nan());
                        points[i * width + at] = if absent { *median } else { value };
                        if *indicated {
                            points[i * width + at + 1] = f64::from(absent);
                        } else {
                            missing += usize::from(absent);
                        }
                    }
                }
                Code::Date { parts, median, missing: indicated, .. } => {
                    let numbers = frame.numbers(name)?;
                    for (i, row) in rows.clone().enumerate() {
                        let absent = numbers[row].is_nan();
                        let day = if absent { *median } else { numbers[row] };
                        let mut place = i * width + at;
                        for part in parts {
                            part.write(day, &mut points[place..place + part.width()]);
                            place += part.width();
                        }
                        if *indicated {
                            points[place] = f64::from(absent);
                        } else {
                            missing += usize::from(absent);
                        }
                    }
                }
                Code::Levels { levels, missing: indicated } => {
                    let texts = frame.texts(name)?;
                    for (i, row) in rows.clone().enumerate() {
                        let text = texts.get(row);
                        let level = match text {
                            Some(text) => levels.binary_search_by(|level| level.as_str().cmp(text)).ok(),
                            None => indicated.then_some(levels.len()),
                        };
                        match level {
                            Some(level) => points[i * width + at + level] = 1.0,
                            None if text.is_some() => unseen += 1,
                            None => missing += 1,
                        }
                    }
                }
            }
            if unseen > 0 {
                unfamiliar.unseen.insert(name.clone(), unseen);
            }
            if missing > 0 {
                unfamiliar.missing.insert(name.clone(), missing);
            }
            at += code.width();
        }
        Ok((points, unfamiliar))
    }
}

impl Code {
    fn width(&self) -> usize {
        match self {
            Code::Number { missing, .. } => 1 + usize::from(*missing),
            Code::Date { parts, missing, .. } => parts.iter().map(|p| p.width()).sum::<usize>() + usize::from(*missing),
            Code::Levels { levels, missing } => levels.len() + usize::from(*missing),
        }
    }
}

/// None if no part differs between rows.
fn learn_dates(numbers: &[f64], rows: &[usize], form: DateForm) -> Option<Code> {
    let Code::Number { median, missing, .. } = learn_median(numbers, rows, Kind::Date(form))? else { return None };
    let parts = DatePart::of(form, rows.iter().map(|&row| numbers[row]).filter(|v| !v.is_nan()));
    (!parts.is_empty() || missing).then_some(Code::Date { form, parts, median, missing })
}

fn learn_median(numbers: &[f64], rows: &[usize], kind: Kind) -> Option<Code> {
    let mut values: Vec<f64> = rows.iter().map(|&row| numbers[row]).filter(|v| !v.is_nan()).collect();
    let missing = values.len() < rows.len();
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = if even { below.iter().copied().fold(f64::NEG_INFINITY, f64::max) } else { upper };
    Some(Code::Number { kind, median: f64::midpoint(lower, upper), missing })
}

fn learn_levels(frame: &Frame, name: &str, rows: &[usize]) -> Result<Option<Code>, Error> {
    let texts = frame.texts(name)?;
    let levels: BTreeSet<&str> = rows.iter().filter_map(|&row| texts.get(row)).collect();
    let missing = rows.iter().any(|&row| texts.get(row).is_none());
    let levels: Vec<String> = levels.into_iter().map(str::to_string).collect();
    Ok((!levels.is_empty()).then_some(Code::Levels { levels, missing }))
}
