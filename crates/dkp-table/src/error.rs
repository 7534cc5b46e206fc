//! What can be wrong with a table: one line each, which names the file (if there is one) and the cell and says what to do.

use crate::{Format, Origin};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Where a row is. Row 1 is the first after the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The row, from 1.
    pub row: usize,
    /// Where that is in the file, if the row's number does not tell.
    pub within: Option<Within>,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// The line where the row begins, from 1.
    Line(usize),
    /// The row of the sheet, from 1.
    Sheet(usize),
}

impl Place {
    /// A row of a file that has no lines.
    pub(crate) fn row(row: usize) -> Place {
        Place { row, within: None }
    }

    /// A row that begins in a line.
    #[cfg(any(feature = "csv", feature = "json"))]
    pub(crate) fn in_line(row: usize, line: usize) -> Place {
        Place { row, within: Some(Within::Line(line)) }
    }

    /// A row of the table in a row of a sheet.
    #[cfg(feature = "xlsx")]
    pub(crate) fn in_sheet(row: usize, sheet: usize) -> Place {
        Place { row, within: Some(Within::Sheet(sheet)) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some(Within::Line(line)) => write!(f, "row {} (line {line})", self.row),
            Some(Within::Sheet(row)) => write!(f, "row {} (row {row} of the sheet)", self.row),
            None => write!(f, "row {}", self.row),
        }
    }
}

/// Why a table cannot be read, used or written.
///
/// What is wrong with a file has its path; what may be wrong with columns in memory too has its [`Origin`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are named in the messages: a path or an origin, a place, a column, a text
pub enum Error {
    /// The system could not read the file.
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The system could not write the file: the only variant that is not the input's fault.
    #[error("{} cannot be written", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// No such file.
    #[error("{}: there is no such file", path.display())]
    Missing { path: PathBuf },
    /// A folder.
    #[error("{} is a folder: give a file", path.display())]
    Directory { path: PathBuf },
    /// A file of no bytes.
    #[error("{} is empty: expected a table", path.display())]
    Empty { path: PathBuf },
    /// Columns, and nothing in them.
    #[error("{} has {}no rows", origin.path().map_or("the table".into(), |p| p.display().to_string()), origin.choose("columns but ", ""))]
    NoRows { origin: Origin },
    /// A name that says nothing of the format.
    #[error("{}: unknown kind of file: use {}", path.display(), crate::Format::EXTENSIONS)]
    Extension { path: PathBuf },
    /// A compressed file that is not text.
    #[error("{}: only CSV and JSON lines may be compressed: unpack it first", path.display())]
    Compressed { path: PathBuf },
    /// A format that this build cannot read or write, as `action` says.
    #[error("{}: {} files cannot be {action} here: built without the feature {}", path.display(), format.name(), format.feature())]
    NotBuilt { path: PathBuf, format: Format, action: &'static str },
    /// A format that is read, but not written.
    #[error("{}: {} files are not written: give another ending, such as .csv", path.display(), format.name())]
    NotWritten { path: PathBuf, format: Format },
    /// A column in a file of its own that does not fit.
    #[error("{}: {reason}", path.display())]
    Beside { path: PathBuf, reason: String },
    /// A row with too few or too many fields.
    #[error("{}: {place} has {found} fields, but the header has {expected}: quote cells that contain the delimiter, or set --delimiter", path.display())]
    Ragged { path: PathBuf, place: Place, expected: usize, found: usize },
    /// Numbers where names should be.
    #[error("{}: the first row has \"{text}\" where a column's name should be: add a row with names before it", path.display())]
    NoHeader { path: PathBuf, text: String },
    /// A header that is not UTF-8.
    #[error("{}: the header is not UTF-8: save the file as UTF-8", path.display())]
    HeaderNotUtf8 { path: PathBuf },
    /// A cell that is not UTF-8.
    #[error("{origin}{place}, column \"{name}\": the text is not UTF-8: save the file as UTF-8", name = one_line(column))]
    NotUtf8 { origin: Origin, place: Place, column: String },
    /// Two columns of one name.
    #[error("{origin}two columns are named \"{name}\": rename one", name = one_line(column))]
    DuplicateColumn { origin: Origin, column: String },
    /// A column without a name.
    #[error("{origin}column {position} has no name: name it{}", origin.choose(" in the header (an index written by pandas goes away with index=False)", ""))]
    UnnamedColumn { origin: Origin, position: usize },
    /// A column that is not there.
    #[error("{origin}there is no column \"{name}\"; the nearest name is \"{nearest}\"", name = one_line(column))]
    UnknownColumn { origin: Origin, column: String, nearest: String },
    /// Text where a number should be.
    #[error("{origin}{place}, column \"{name}\": \"{text}\" is not a number: correct it, or use {na} \"{text}\" if it means a missing value", name = one_line(column), na = origin.option("na"))]
    NotNumber { origin: Origin, place: Place, column: String, text: String },
    /// Something other than true, false, 1 and 0.
    #[error("{origin}{place}, column \"{name}\": \"{text}\" is neither true nor false: correct it, or use {na} \"{text}\" if it means a missing value", name = one_line(column), na = origin.option("na"))]
    NotBool { origin: Origin, place: Place, column: String, text: String },
    /// A number that is infinite, or too large for a double.
    #[error("{origin}{place}, column \"{name}\": {text} is infinite: correct it, or use {na} \"{text}\" if it means a missing value", name = one_line(column), na = origin.option("na"))]
    Infinite { origin: Origin, place: Place, column: String, text: String },
    /// Something other than a date or a time.
    #[error("{origin}{place}, column \"{name}\": \"{text}\" is no date like the others: correct it, or use {na} \"{text}\" if it means a missing value", name = one_line(column), na = origin.option("na"))]
    NotDate { origin: Origin, place: Place, column: String, text: String },
    /// Dates of which day and month cannot be told apart.
    #[error("{origin}column \"{name}\": \"{text}\" may begin with the day or the month: write dates as 2024-01-31, or use {ignore} \"{name}\"", name = one_line(column), ignore = origin.option("ignore"))]
    AmbiguousDates { origin: Origin, column: String, text: String },
    /// A column of dates in several forms.
    #[error("{origin}column \"{name}\" holds dates in different forms, such as \"{text}\": write all alike, as 2024-01-31, or use {ignore} \"{name}\"", name = one_line(column), ignore = origin.option("ignore"))]
    Dates { origin: Origin, column: String, text: String },
    /// A target that is a date.
    #[error("{origin}the target \"{name}\" holds dates, such as \"{text}\": convert them to a number such as days", name = one_line(column))]
    TargetDates { origin: Origin, column: String, text: String },
    /// Numbers of which the decimals cannot be told from thousands.
    #[error("{origin}column \"{name}\": \"{text}\" may have a decimal comma, or a mark between thousands: say {decimal} comma, or {decimal} point", name = one_line(column), decimal = origin.option("decimal"))]
    AmbiguousNumbers { origin: Origin, column: String, text: String },
    /// Numbers of which only some have a sign, or that have different signs.
    #[error("{origin}column \"{name}\" has numbers with different signs or with and without one, such as \"{text}\": write all alike, or use {ignore} \"{name}\"", name = one_line(column), ignore = origin.option("ignore"))]
    MixedSigns { origin: Origin, column: String, text: String },
    /// A text column in which nearly every row is different.
    #[error("{origin}column \"{name}\" is text, such as \"{text}\", with {levels} different ones in {values} rows: use {id} \"{name}\" if it names the rows, or {ignore} \"{name}\"", name = one_line(column), ignore = origin.option("ignore"), id = origin.option("id"))]
    LevelsOfOneRow { origin: Origin, column: String, levels: usize, values: usize, text: String },
    /// A target of text in which nearly every row is different.
    #[error("{origin}the target \"{name}\" is text, such as \"{text}\", with {levels} different ones in {values} rows: that is no classification; correct what should be numbers, or choose another column", name = one_line(column))]
    ClassesOfFewRows { origin: Origin, column: String, levels: usize, values: usize, text: String },
    /// A text column with too many different texts.
    #[error("{origin}column \"{name}\" has more than {} different texts: use {ignore} \"{name}\", or {id} \"{name}\" if it names the rows", crate::MAX_LEVELS, name = one_line(column), ignore = origin.option("ignore"), id = origin.option("id"))]
    TooManyLevels { origin: Origin, column: String },
    /// A target with too many classes.
    #[error("{origin}the target \"{name}\" has more than {} classes: choose a column with fewer", crate::MAX_LEVELS, name = one_line(column))]
    TooManyClasses { origin: Origin, column: String },
    /// A target without values.
    #[error("{origin}the target \"{name}\" has no values at all", name = one_line(column))]
    NoTarget { origin: Origin, column: String },
    /// A column of a type that cannot be used.
    #[error("{origin}column \"{name}\" is of type {kind}: expected numbers, booleans or text; use {ignore} \"{name}\"", kind = one_line(found), name = one_line(column), ignore = origin.option("ignore"))]
    UnsupportedType { origin: Origin, column: String, found: String },
    /// A file that is not what it should be.
    #[error("{} is damaged or not a {format} file: {reason}", path.display())]
    Damaged { path: PathBuf, format: &'static str, reason: String },
    /// Columns of one table (or arrays of one file) with different numbers of rows.
    #[error("{origin}{} \"{second}\" has {found} rows, but \"{first}\" has {expected}: all must have equally many", origin.choose("array", "column"))]
    UnequalLengths { origin: Origin, first: String, expected: usize, second: String, found: usize },
    /// Text in a format that holds numbers only.
    #[error("{}: column \"{name}\" is text, which {format} files cannot hold here: write CSV or Parquet", path.display(), name = one_line(column))]
    TextColumn { path: PathBuf, column: String, format: &'static str },
    /// A frame that lacks a column.
    #[error("the frame has no column \"{name}\"", name = one_line(column))]
    NotInFrame { column: String },
    /// A frame's column of the other kind.
    #[error("the frame's column \"{name}\" does not hold {expected}", name = one_line(column))]
    WrongKind { column: String, expected: &'static str },
    /// Columns of one frame with different numbers of rows.
    #[error("column \"{name}\" has {found} rows, but the frame has {expected}", name = one_line(column))]
    FrameRows { column: String, expected: usize, found: usize },
    /// A row that is not in the frame.
    #[error("row {row} is not in the frame, which has {rows}")]
    NoSuchRow { row: usize, rows: usize },
}

impl Error {
    /// What a reader has found in a file.
    #[cfg_attr(not(any(feature = "json", feature = "numpy", feature = "parquet")), allow(dead_code))]
    pub(crate) fn damaged(path: &Path, format: &'static str, reason: &str) -> Error {
        Error::Damaged { path: path.to_path_buf(), format, reason: one_line(reason) }
    }

    /// Whether the output is at fault (not writable, disk full), rather than the input.
    pub fn is_output(&self) -> bool {
        matches!(self, Error::Write { .. })
    }
}

/// A text on one line: line ends and other control characters are escaped, and a long text is cut.
pub(crate) fn one_line(text: &str) -> String {
    const LONGEST: usize = 60;
    let line: String = text.chars().take(LONGEST).flat_map(printable).collect();
    if text.chars().nth(LONGEST).is_some() { line + "…" } else { line }
}

fn printable(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}
