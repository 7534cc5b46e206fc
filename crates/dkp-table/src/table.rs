//! A table on disk or in memory: its columns, and its rows a frame at a time.

use crate::cell::Na;
use crate::error::one_line;
use crate::format::{STANDARD, uncompressed};
use crate::read::memory::Memory;
use crate::read::{self, Content, FRAME_ROWS, Pick, Rows, Stored};
use crate::survey::{Observer, Survey};
use crate::{Decimal, Error, Format, Frame, Kind, Notation, Origin, Values};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How to read a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// What stands between the cells of a CSV file; found in its header if `None`.
    pub delimiter: Option<u8>,
    /// Texts that mean a missing value, beside the usual ones; a number stands for its value.
    pub na: Vec<String>,
    /// What stands before decimals; found in the columns if `None`.
    pub decimal: Option<Decimal>,
    /// Further columns of an .npy file, by their names, in an .npy file of their own. With one name the columns of a matrix are numbered from 0.
    pub beside: Option<(Vec<String>, PathBuf)>,
}

/// A table on disk or in memory: its columns are known, its rows are read when asked for.
///
/// ```
/// use dkp_table::{Kind, ReadOptions, Table};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name;age\nAnn;31\n\"Bo; Jr\";NA\n")?;
/// let table = Table::open(&path, &ReadOptions::default())?;
/// assert_eq!(table.names(), ["name", "age"]);
/// let frame = table.read(&[("age".into(), Kind::Number), ("name".into(), Kind::Text)])?;
/// assert_eq!(frame.numbers("age")?[0], 31.0);
/// assert_eq!(frame.texts("name")?.get(1), Some("Bo; Jr"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Table {
    origin: Origin,
    format: Option<Format>,
    names: Vec<String>,
    na: Na,
    decimal: Option<Decimal>,
    content: Box<dyn Content>,
}

impl Table {
    /// Opens a file, or with the name `-` standard input, which must be CSV. What its first bytes say of its format counts for more than its name. CSV
    /// and JSON lines may be compressed (gzip, Zstandard), and in UTF-8 or UTF-16. Of a workbook the first sheet is read.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Table, Error> {
        let name = if path == Path::new(STANDARD) { Path::new("standard input") } else { path };
        let (origin, format) = (Origin::from(name), recognise(path)?);
        if let Some((_, file)) = options.beside.as_ref().filter(|_| format != Format::Npy) {
            let reason = format!("a column in a file of its own is for .npy files, which {} is not", name.display());
            return Err(Error::Beside { path: file.clone(), reason });
        }
        let (content, names) = read::open(path, format, options)?;
        check_names(&origin, &names)?;
        Ok(Table { origin, format: Some(format), names, na: Na::new(&options.na), decimal: options.decimal, content })
    }

    /// Columns in memory, by name and of equal length. `na` is what means a missing value beside NaN and `None`, as in
    /// [`ReadOptions`].
    ///
    /// ```
    /// use dkp_table::{Kind, Table};
    /// let table = Table::from_columns(vec![
    ///     ("rooms", vec![3, 2, -1].into()),
    ///     ("lift", vec![true, false, true].into()),
    ///     ("town", vec![Some("Bath"), None, Some("York")].into()),
    /// ], &["-1".into()])?;
    /// let survey = table.survey()?;
    /// assert_eq!(survey.column("rooms")?.missing, 1);
    /// let kinds = survey.features(table.names())?.columns.into_iter().map(|c| c.1).collect::<Vec<_>>();
    /// assert_eq!(kinds, [Kind::Number, Kind::Bool, Kind::Text]);
    /// # Ok::<(), dkp_table::Error>(())
    /// ```
    pub fn from_columns<N: Into<String>>(columns: Vec<(N, Values)>, na: &[String]) -> Result<Table, Error> {
        let (names, columns): (Vec<String>, Vec<Values>) = columns.into_iter().map(|(n, c)| (n.into(), c)).unzip();
        check_names(&Origin::Memory, &names)?;
        let content = Box::new(Memory::new(&names, columns)?);
        Ok(Table { origin: Origin::Memory, format: None, names, na: Na::new(na), decimal: None, content })
    }

    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The kind of file, if it is one.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The columns' names, in the table's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads the whole table once, and tells of each column what it holds.
    pub fn survey(&self) -> Result<Survey, Error> {
        let observer = |(i, name): (usize, &String)| Observer::new(name, self.content.stored(i));
        let mut observers: Vec<Observer> = self.names.iter().enumerate().map(observer).collect();
        self.content.observe(&mut observers, &self.na)?;
        let columns = observers.into_iter().map(|o| o.finish(&|row, byte| self.content.place(row, byte))).collect();
        Ok(Survey::new(self.origin.clone(), columns, self.decimal))
    }

    /// The rows of some columns, up to `rows` at a time. Columns are found by name: their order in the table and other columns do
    /// not matter.
    pub fn frames(&self, columns: &[(String, Kind)], rows: usize) -> Result<Frames<'_>, Error> {
        let pick = |(name, kind): &(String, Kind)| {
            let column = self.find(name)?;
            if let Stored::Unsupported(found) = self.content.stored(column) {
                return Err(Error::UnsupportedType { origin: self.origin.clone(), column: name.clone(), found });
            }
            let kind = match (self.decimal, *kind) {
                (Some(decimal), Kind::Written(notation)) => Kind::Written(Notation { decimal, ..notation }),
                (Some(decimal), Kind::Number) => Kind::Written(Notation::new(decimal)),
                (_, kind) => kind,
            };
            Ok(Pick { column, name: name.clone(), kind })
        };
        let picks = columns.iter().map(pick).collect::<Result<Vec<Pick>, Error>>()?;
        let names = picks.iter().map(|p| p.name.clone()).collect();
        let source = self.content.rows(picks, self.na.clone(), false)?;
        Ok(Frames { names, source, rows: rows.max(1), first: 0, done: false })
    }

    /// All rows of some columns.
    pub fn read(&self, columns: &[(String, Kind)]) -> Result<Frame, Error> {
        let mut frames = self.frames(columns, FRAME_ROWS)?;
        let Some(mut all) = frames.next().transpose()? else { return Frame::new(0, Vec::new()) };
        frames.try_for_each(|frame| frame.map(|f| all.append(&f)))?;
        Ok(all)
    }

    /// The place of a column among the names.
    pub fn find(&self, name: &str) -> Result<usize, Error> {
        self.names.iter().position(|n| n == name).ok_or_else(|| unknown(&self.origin, name, &self.names))
    }
}

/// A table's rows, a frame at a time. After an error there are no more.
pub struct Frames<'a> {
    names: Vec<String>,
    source: Box<dyn Rows + 'a>,
    rows: usize,
    first: usize,
    done: bool,
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame, Error>;

    fn next(&mut self) -> Option<Result<Frame, Error>> {
        if self.done || self.names.is_empty() {
            return None;
        }
        let columns = self.source.next(self.rows);
        let frame = columns.and_then(|c| Frame::new(self.first, self.names.iter().cloned().zip(c).collect()));
        self.done = frame.as_ref().map_or(true, |f| f.rows() < self.rows);
        self.first += frame.as_ref().map_or(0, Frame::rows);
        Some(frame).filter(|f| f.as_ref().map_or(true, |f| f.rows() > 0))
    }
}

/// As many bytes of a file as tell its format, with the name of what is first in an archive.
const START_BYTES: u64 = 1024;

fn recognise(path: &Path) -> Result<Format, Error> {
    let read = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => Error::Missing { path: path.to_path_buf() },
        _ => Error::Read { path: path.to_path_buf(), source },
    };
    if path == Path::new(STANDARD) {
        return Ok(Format::Csv);
    }
    if std::fs::metadata(path).map_err(read)?.is_dir() {
        return Err(Error::Directory { path: path.to_path_buf() });
    }
    let mut start = Vec::new();
    File::open(path).and_then(|f| f.take(START_BYTES).read_to_end(&mut start)).map_err(read)?;
    if let Some(format) = Format::of_content(&start) {
        return Ok(format);
    }
    if Format::is_compressed(&start) {
        let inner = uncompressed(path);
        return match inner.extension().map(|_| Format::of_name(&inner)) {
            None | Some(Ok(Format::Csv)) => Ok(Format::Csv),
            Some(Ok(Format::Json)) => Ok(Format::Json),
            Some(_) => Err(Error::Compressed { path: path.to_path_buf() }),
        };
    }
    let format = Format::of_name(path)?;
    if start.is_empty() { Err(Error::Empty { path: path.to_path_buf() }) } else { Ok(format) }
}

/// Each column must have a name of its own.
pub(crate) fn check_names(origin: &Origin, names: &[String]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for (i, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(Error::UnnamedColumn { origin: origin.clone(), position: i + 1 });
        }
        if !seen.insert(name) {
            return Err(Error::DuplicateColumn { origin: origin.clone(), column: name.clone() });
        }
    }
    Ok(())
}

/// The error for a column that is not there.
pub(crate) fn unknown(origin: &Origin, name: &str, names: &[String]) -> Error {
    let nearest = names.iter().min_by_key(|n| strsim::levenshtein(&n.to_lowercase(), &name.to_lowercase()));
    let nearest = nearest.map_or(String::new(), |n| one_line(n));
    Error::UnknownColumn { origin: origin.clone(), column: name.to_string(), nearest }
}
