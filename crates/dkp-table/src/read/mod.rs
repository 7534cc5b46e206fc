//! Readers, one format a file. Each hands out consecutive rows of chosen columns.

pub mod csv;
pub mod npy;
pub mod npz;
pub mod parquet;
pub mod value;

use crate::error::one_line;
use crate::{Column, Error, Kind, Place};
use std::path::Path;
use value::Refusal;

/// What a file says a column holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// Anything: cells are text, and what they mean is seen from all of them.
    Cells,
    /// Numbers.
    Numbers,
    /// Truth values.
    Bools,
    /// Dates, times or both.
    Dates,
    /// Text.
    Texts,
    /// Something else, by name.
    Unsupported(String),
}

/// A column that is asked for.
#[derive(Clone, Debug)]
pub struct Pick {
    /// Its place among the file's columns.
    pub column: usize,
    /// Its name.
    pub name: String,
    /// What it is read as.
    pub kind: Kind,
}

/// Rows of a file, in order.
pub trait Rows {
    /// Up to `rows` further rows of each chosen column; fewer only at the end of the file.
    fn next(&mut self, rows: usize) -> Result<Vec<Column>, Error>;
}

/// The error for a value that cannot be read as asked.
pub fn refused(path: &Path, place: Place, column: &str, refusal: Refusal) -> Error {
    let (path, column) = (path.to_path_buf(), column.to_string());
    match refusal {
        Refusal::NotNumber(text) => Error::NotNumber { path, place, column, text: one_line(&text) },
        Refusal::NotBool(text) => Error::NotBool { path, place, column, text: one_line(&text) },
        Refusal::Infinite(text) => Error::Infinite { path, place, column, text },
        Refusal::Date(text) => Error::Dates { path, column, text },
    }
}
