//! Readers, one format a file, and columns in memory. Each hands out consecutive rows of chosen columns.

#[cfg(feature = "csv")]
mod csv;
mod guard;
#[cfg(any(feature = "csv", feature = "xlsx"))]
mod header;
#[cfg(feature = "json")]
mod json;
pub mod memory;
#[cfg(feature = "numpy")]
pub mod npy;
#[cfg(feature = "numpy")]
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(any(feature = "csv", feature = "json"))]
mod source;
// values that only some formats have
#[cfg_attr(not(all(feature = "parquet", feature = "numpy")), allow(dead_code))]
mod value;
#[cfg(feature = "xlsx")]
mod xlsx;

use crate::cell::Na;
use crate::error::one_line;
use crate::survey::Observer;
use crate::{Column, Error, Format, Kind, Origin, Place, ReadOptions};
use std::fmt::Debug;
use std::path::Path;
use value::Refusal;

pub use guard::silence_caught_panics;

/// Rows that are read at once where the caller does not say.
pub const FRAME_ROWS: usize = 4096;

/// What a table says a column holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// Numbers.
    Numbers,
    /// Truth values.
    Bools,
    /// Dates, times or both.
    Dates,
    /// Text that may be numbers, truth values or dates, which is seen from all of it.
    Texts,
    /// Text that is not to be taken for anything else.
    Categories,
    /// Something else, by name.
    Unsupported(String),
}

impl Stored {
    /// What such a column is read as to see what it holds, if it can be read.
    fn kind(&self) -> Option<Kind> {
        match self {
            Stored::Numbers => Some(Kind::Number),
            Stored::Bools => Some(Kind::Bool),
            Stored::Dates | Stored::Texts | Stored::Categories => Some(Kind::Text),
            Stored::Unsupported(_) => None,
        }
    }
}

/// A column that is asked for.
#[derive(Clone, Debug)]
pub struct Pick {
    /// Its place among the table's columns.
    pub column: usize,
    /// Its name.
    pub name: String,
    /// What it is read as.
    pub kind: Kind,
}

/// Rows of a table, in order.
pub trait Rows {
    /// Up to `rows` further rows of each chosen column; fewer only at the end of the table.
    fn next(&mut self, rows: usize) -> Result<Vec<Column>, Error>;
}

/// Columns of which rows can be had: a file of some format, or memory.
pub trait Content: Debug + Send + Sync {
    /// What a column holds.
    fn stored(&self, column: usize) -> Stored;

    /// All rows of some columns. Whether `infinite` numbers pass is for those that have types.
    fn rows(&self, picks: Vec<Pick>, na: Na, infinite: bool) -> Result<Box<dyn Rows + '_>, Error>;

    /// Shows all cells to their columns' observers, those of each column as what it holds.
    fn observe(&self, observers: &mut [Observer], na: &Na) -> Result<(), Error> {
        let pick = |column: usize| {
            let kind = self.stored(column).kind()?;
            Some(Pick { column, name: observers[column].name().to_string(), kind })
        };
        let picks: Vec<Pick> = (0..observers.len()).filter_map(pick).collect();
        let places: Vec<usize> = picks.iter().map(|p| p.column).collect();
        let (mut rows, mut first) = (self.rows(picks, na.clone(), true)?, 0);
        loop {
            let columns = rows.next(FRAME_ROWS)?;
            places.iter().zip(&columns).for_each(|(&i, column)| observers[i].column(first, column));
            let count = columns.first().map_or(0, Column::len);
            if count < FRAME_ROWS {
                return Ok(());
            }
            first += count;
        }
    }

    /// Where a row (from 1) is that begins at a byte.
    fn place(&self, row: usize, _byte: u64) -> Place {
        Place::row(row)
    }
}

/// A file's contents and the names of its columns.
pub type Opened = (Box<dyn Content>, Vec<String>);

/// Opens a file of some format.
pub fn open(path: &Path, format: Format, options: &ReadOptions) -> Result<Opened, Error> {
    let unread = || Error::NotBuilt { path: path.to_path_buf(), format, action: "read" };
    opener(format).ok_or_else(unread)?(path, options)
}

type Opener = fn(&Path, &ReadOptions) -> Result<Opened, Error>;

/// What opens files of a format, if it was built in.
fn opener(format: Format) -> Option<Opener> {
    match format {
        #[cfg(feature = "csv")]
        Format::Csv => Some(csv::open),
        #[cfg(feature = "json")]
        Format::Json => Some(json::open),
        #[cfg(feature = "xlsx")]
        Format::Xlsx => Some(xlsx::open),
        #[cfg(feature = "parquet")]
        Format::Parquet => Some(parquet::open),
        #[cfg(feature = "numpy")]
        Format::Npy => Some(npy::open),
        #[cfg(feature = "numpy")]
        Format::Npz => Some(npz::open),
        #[allow(unreachable_patterns)] // where all are built in
        _ => None,
    }
}

/// The error for a value that cannot be read as asked.
pub fn refused(origin: Origin, place: Place, column: &str, refusal: Refusal) -> Error {
    let column = column.to_string();
    match refusal {
        Refusal::NotNumber(text) => Error::NotNumber { origin, place, column, text: one_line(&text) },
        Refusal::NotBool(text) => Error::NotBool { origin, place, column, text: one_line(&text) },
        Refusal::NotDate(text) => Error::NotDate { origin, place, column, text: one_line(&text) },
        Refusal::Infinite(text) => Error::Infinite { origin, place, column, text },
    }
}
