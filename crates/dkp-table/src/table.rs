//! A table on disk: its columns, and its rows a frame at a time.

use crate::cell::Na;
use crate::error::one_line;
use crate::read::{Pick, Rows, Stored, csv, npy, npz, parquet};
use crate::survey::{Observer, Survey};
use crate::{Error, Format, Frame, Kind};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Rows that are read at once where the caller does not say.
const FRAME_ROWS: usize = 4096;

/// How to read a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// What stands between the cells of a CSV file; found in its header if `None`.
    pub delimiter: Option<u8>,
    /// Texts that mean a missing value, beside the usual ones; a number stands for its value.
    pub na: Vec<String>,
}

/// A table on disk, opened: its columns are known, its rows are read when asked for.
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
    path: PathBuf,
    format: Format,
    names: Vec<String>,
    na: Na,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Csv(csv::Layout),
    Parquet(parquet::Layout),
    Arrays(npy::Arrays),
}

impl Table {
    /// Opens a file. What its first bytes say of its format counts for more than its name.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Table, Error> {
        let format = recognise(path)?;
        let (source, names) = match format {
            Format::Csv => {
                let (layout, names) = csv::Layout::open(path, options.delimiter)?;
                (Source::Csv(layout), names)
            }
            Format::Parquet => {
                let (layout, names) = parquet::Layout::open(path)?;
                (Source::Parquet(layout), names)
            }
            Format::Npy | Format::Npz => {
                let arrays = if format == Format::Npy { npy::Arrays::open(path)? } else { npz::open(path)? };
                let names = arrays.names();
                (Source::Arrays(arrays), names)
            }
        };
        check_names(path, &names)?;
        Ok(Table { path: path.to_path_buf(), format, names, na: Na::new(&options.na), source })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The columns' names, in the file's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads the whole file once, and tells of each column what it holds.
    pub fn survey(&self) -> Result<Survey, Error> {
        let stored = |i| self.stored(i);
        let mut observers: Vec<Observer> =
            self.names.iter().enumerate().map(|(i, name)| Observer::new(name, stored(i))).collect();
        match &self.source {
            Source::Csv(layout) => layout.observe(&mut observers, &self.na)?,
            Source::Parquet(_) | Source::Arrays(_) => self.observe(&mut observers)?,
        }
        let place = |row, byte| match &self.source {
            Source::Csv(layout) => layout.place(row, byte),
            Source::Parquet(_) | Source::Arrays(_) => crate::Place::row(row),
        };
        let columns = observers.into_iter().map(|o| o.finish(&place)).collect();
        Ok(Survey::new(self.path.clone(), columns))
    }

    /// The rows of some columns, up to `rows` at a time. Columns are found by name: their order in the file and other columns do
    /// not matter.
    pub fn frames(&self, columns: &[(String, Kind)], rows: usize) -> Result<Frames<'_>, Error> {
        let picks = columns.iter().map(|(name, kind)| {
            let column = self.find(name)?;
            if let Stored::Unsupported(found) = self.stored(column) {
                return Err(Error::UnsupportedType { path: self.path.clone(), column: name.clone(), found });
            }
            Ok(Pick { column, name: name.clone(), kind: *kind })
        });
        self.frames_of(picks.collect::<Result<_, _>>()?, rows, false)
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
        self.names.iter().position(|n| n == name).ok_or_else(|| unknown(&self.path, name, &self.names))
    }

    fn stored(&self, column: usize) -> Stored {
        match &self.source {
            Source::Csv(_) => Stored::Cells,
            Source::Parquet(layout) => layout.stored(column),
            Source::Arrays(arrays) => arrays.stored(column),
        }
    }

    fn frames_of(&self, picks: Vec<Pick>, rows: usize, infinite: bool) -> Result<Frames<'_>, Error> {
        let names = picks.iter().map(|p| p.name.clone()).collect();
        let source: Box<dyn Rows + '_> = match &self.source {
            Source::Csv(layout) => Box::new(layout.rows(picks, self.na.clone())?),
            Source::Parquet(layout) => Box::new(layout.rows(picks, self.na.clone(), infinite)?),
            Source::Arrays(arrays) => Box::new(arrays.rows(picks, self.na.clone(), infinite)?),
        };
        Ok(Frames { names, source, rows: rows.max(1), first: 0, done: false })
    }

    /// Shows the columns of a file that has types to their observers, each as what it is.
    fn observe(&self, observers: &mut [Observer]) -> Result<(), Error> {
        let pick = |column: usize| {
            let kind = match self.stored(column) {
                Stored::Numbers => Kind::Number,
                Stored::Bools => Kind::Bool,
                Stored::Cells | Stored::Dates | Stored::Texts => Kind::Text,
                Stored::Unsupported(_) => return None,
            };
            Some(Pick { column, name: self.names[column].clone(), kind })
        };
        let picks: Vec<Pick> = (0..self.names.len()).filter_map(pick).collect();
        let places: Vec<usize> = picks.iter().map(|p| p.column).collect();
        for frame in self.frames_of(picks, FRAME_ROWS, true)? {
            let frame = frame?;
            places.iter().zip(frame.columns()).for_each(|(&i, (_, column))| observers[i].column(frame.first(), column));
        }
        Ok(())
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

fn recognise(path: &Path) -> Result<Format, Error> {
    let read = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => Error::Missing { path: path.to_path_buf() },
        _ => Error::Read { path: path.to_path_buf(), source },
    };
    if std::fs::metadata(path).map_err(read)?.is_dir() {
        return Err(Error::Directory { path: path.to_path_buf() });
    }
    let mut start = Vec::new();
    File::open(path).and_then(|f| f.take(8).read_to_end(&mut start)).map_err(read)?;
    if let Some(format) = Format::of_content(&start) {
        return Ok(format);
    }
    let format = Format::of_name(path)?;
    if start.is_empty() { Err(Error::Empty { path: path.to_path_buf() }) } else { Ok(format) }
}

/// Each column must have a name of its own.
pub(crate) fn check_names(path: &Path, names: &[String]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for (i, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(Error::UnnamedColumn { path: path.to_path_buf(), position: i + 1 });
        }
        if !seen.insert(name) {
            return Err(Error::DuplicateColumn { path: path.to_path_buf(), column: name.clone() });
        }
    }
    Ok(())
}

/// The error for a column that is not there.
pub(crate) fn unknown(path: &Path, name: &str, names: &[String]) -> Error {
    let nearest = names.iter().min_by_key(|n| strsim::levenshtein(&n.to_lowercase(), &name.to_lowercase()));
    let nearest = nearest.map_or(String::new(), |n| one_line(n));
    Error::UnknownColumn { path: path.to_path_buf(), column: name.to_string(), nearest }
}
