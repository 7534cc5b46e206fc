//! Which kind of file a table is in.

use crate::Error;
use std::path::Path;

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a header and delimiters.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// One NumPy array.
    Npy,
    /// NumPy arrays in an archive.
    Npz,
}

impl Format {
    /// What names of tables end in.
    pub const EXTENSIONS: &str = ".csv, .tsv, .txt, .parquet, .pq, .npy or .npz";

    /// The format that a file's name says.
    ///
    /// ```
    /// use dkp_table::Format;
    /// use std::path::Path;
    /// assert_eq!(Format::of_name(Path::new("houses.PQ"))?, Format::Parquet);
    /// assert_eq!(
    ///     Format::of_name(Path::new("houses.xlsx")).unwrap_err().to_string(),
    ///     "houses.xlsx: unknown kind of file: use .csv, .tsv, .txt, .parquet, .pq, .npy or .npz"
    /// );
    /// # Ok::<(), dkp_table::Error>(())
    /// ```
    pub fn of_name(path: &Path) -> Result<Format, Error> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv" | "tsv" | "txt") => Ok(Format::Csv),
            Some("parquet" | "pq") => Ok(Format::Parquet),
            Some("npy") => Ok(Format::Npy),
            Some("npz") => Ok(Format::Npz),
            _ => Err(Error::Extension { path: path.to_path_buf() }),
        }
    }

    /// The format that the first bytes of a file say, if they do.
    pub(crate) fn of_content(start: &[u8]) -> Option<Format> {
        let magic: [(&[u8], Format); 3] =
            [(b"PAR1", Format::Parquet), (b"\x93NUMPY", Format::Npy), (b"PK\x03\x04", Format::Npz)];
        magic.into_iter().find(|(bytes, _)| start.starts_with(bytes)).map(|m| m.1)
    }

    /// The feature of this crate that reads and writes it.
    pub fn feature(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Parquet => "parquet",
            Format::Npy | Format::Npz => "numpy",
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "CSV",
            Format::Parquet => "Parquet",
            Format::Npy => "npy",
            Format::Npz => "npz",
        }
    }
}
