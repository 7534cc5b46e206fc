//! Some rows of a table in memory, column by column.

use crate::{DateForm, Error, Notation};
use serde::{Deserialize, Serialize};

/// What a column is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Numbers; NaN is missing.
    Number,
    /// Numbers that are not written plainly.
    Written(Notation),
    /// Dates or times of day, as days since 1970-01-01; NaN is missing.
    Date(DateForm),
    /// True or false, as the numbers 1 and 0; NaN is missing.
    Bool,
    /// Text as it is in the file.
    Text,
}

/// Texts in one buffer; each may be missing.
///
/// ```
/// use dkp_table::Texts;
/// let texts: Texts = [Some("red"), None, Some("")].into_iter().collect();
/// assert_eq!((texts.get(0), texts.get(1), texts.get(2)), (Some("red"), None, Some("")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    buffer: String,
    ends: Vec<usize>,
    missing: Vec<bool>,
}

impl Texts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Text i, or `None` if it is missing (or if there are not so many).
    pub fn get(&self, i: usize) -> Option<&str> {
        if *self.missing.get(i)? {
            return None;
        }
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        self.buffer.get(start..self.ends[i])
    }

    /// Adds one.
    pub fn push(&mut self, text: Option<&str>) {
        self.buffer.push_str(text.unwrap_or(""));
        self.ends.push(self.buffer.len());
        self.missing.push(text.is_none());
    }

    /// Bytes of all texts together.
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl<'a> FromIterator<Option<&'a str>> for Texts {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(texts: I) -> Texts {
        let mut all = Texts::default();
        texts.into_iter().for_each(|t| all.push(t));
        all
    }
}

/// A column of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers, and booleans as 1 and 0. NaN is missing.
    Numbers(Vec<f64>),
    /// Texts.
    Texts(Texts),
}

impl Column {
    /// A column without rows.
    pub fn empty(kind: Kind) -> Column {
        match kind {
            Kind::Number | Kind::Written(_) | Kind::Date(_) | Kind::Bool => Column::Numbers(Vec::new()),
            Kind::Text => Column::Texts(Texts::default()),
        }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Numbers(numbers) => numbers.len(),
            Column::Texts(texts) => texts.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a row has no value. Rows that are not there have none.
    ///
    /// ```
    /// use dkp_table::Column;
    /// let ages = Column::Numbers(vec![31.0, f64::NAN]);
    /// assert_eq!((ages.is_missing(0), ages.is_missing(1)), (false, true));
    /// ```
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Column::Numbers(numbers) => numbers.get(row).is_none_or(|v| v.is_nan()),
            Column::Texts(texts) => texts.get(row).is_none(),
        }
    }

    /// Adds the rows of another; one of the other kind adds nothing.
    pub(crate) fn append(&mut self, other: &Column) {
        match (self, other) {
            (Column::Numbers(to), Column::Numbers(from)) => to.extend_from_slice(from),
            (Column::Texts(to), Column::Texts(from)) => from.iter().for_each(|t| to.push(t)),
            _ => {}
        }
    }
}

/// Consecutive rows of a table, with named columns.
///
/// ```
/// use dkp_table::{Column, Frame};
/// let frame = Frame::new(0, vec![("age".into(), Column::Numbers(vec![31.0, f64::NAN]))])?;
/// assert_eq!(frame.rows(), 2);
/// assert_eq!(frame.numbers("age")?[0], 31.0);
/// assert_eq!(frame.texts("age").unwrap_err().to_string(), "the frame's column \"age\" does not hold text");
/// # Ok::<(), dkp_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    first: usize,
    rows: usize,
    columns: Vec<(String, Column)>,
}

impl Frame {
    /// Columns of equal length, the first row of which is row `first` of the table, from 0.
    pub fn new(first: usize, columns: Vec<(String, Column)>) -> Result<Frame, Error> {
        let rows = columns.first().map_or(0, |c| c.1.len());
        if let Some((name, column)) = columns.iter().find(|c| c.1.len() != rows) {
            return Err(Error::FrameRows { column: name.clone(), expected: rows, found: column.len() });
        }
        Ok(Frame { first, rows, columns })
    }

    /// The number in the table of the first row, from 0.
    pub fn first(&self) -> usize {
        self.first
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names and columns, in order.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    /// A column.
    pub fn column(&self, name: &str) -> Result<&Column, Error> {
        let found = self.columns.iter().find(|c| c.0 == name);
        found.map(|c| &c.1).ok_or_else(|| Error::NotInFrame { column: name.to_string() })
    }

    /// A column of numbers.
    pub fn numbers(&self, name: &str) -> Result<&[f64], Error> {
        match self.column(name)? {
            Column::Numbers(numbers) => Ok(numbers),
            Column::Texts(_) => Err(Error::WrongKind { column: name.to_string(), expected: "numbers" }),
        }
    }

    /// A column of text.
    pub fn texts(&self, name: &str) -> Result<&Texts, Error> {
        match self.column(name)? {
            Column::Texts(texts) => Ok(texts),
            Column::Numbers(_) => Err(Error::WrongKind { column: name.to_string(), expected: "text" }),
        }
    }

    /// Whether all of these rows are there.
    pub(crate) fn check_rows(&self, rows: &[usize]) -> Result<(), Error> {
        match rows.iter().find(|&&row| row >= self.rows) {
            Some(&row) => Err(Error::NoSuchRow { row, rows: self.rows }),
            None => Ok(()),
        }
    }

    /// Adds the rows of a frame that has the same columns.
    pub(crate) fn append(&mut self, other: &Frame) {
        self.columns.iter_mut().zip(&other.columns).for_each(|(to, from)| to.1.append(&from.1));
        self.rows += other.rows;
    }
}
