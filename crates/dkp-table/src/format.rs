//! Which kind of file a table is in.

use crate::Error;
use std::path::{Path, PathBuf};

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

/// What compressed files begin with.
pub(crate) const GZIP: &[u8] = b"\x1f\x8b";
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// The name of standard input, and of standard output.
pub const STANDARD: &str = "-";

/// The name that a file has without the ending that says how it is compressed.
///
/// ```
/// assert_eq!(dkp_table::uncompressed("a.csv.gz".as_ref()), std::path::Path::new("a.csv"));
/// ```
pub fn uncompressed(path: &Path) -> PathBuf {
    match path.extension() {
        Some(e) if e.eq_ignore_ascii_case("gz") || e.eq_ignore_ascii_case("zst") => path.with_extension(""),
        _ => path.to_path_buf(),
    }
}

impl Format {
    /// What names of tables end in.
    pub const EXTENSIONS: &str = ".csv, .tsv or .txt (perhaps with .gz or .zst), .parquet, .pq, .npy or .npz";

    /// The format that a file's name says.
    ///
    /// ```
    /// use dkp_table::Format;
    /// use std::path::Path;
    /// assert_eq!(Format::of_name(Path::new("houses.PQ"))?, Format::Parquet);
    /// assert_eq!(
    ///     Format::of_name(Path::new("houses.xlsx")).unwrap_err().to_string(),
    ///     "houses.xlsx: unknown kind of file: use .csv, .tsv or .txt (perhaps with .gz or .zst), .parquet, .pq, .npy or .npz"
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

    /// Whether the first bytes of a file are those of a compressed one: gzip or Zstandard.
    pub(crate) fn is_compressed(start: &[u8]) -> bool {
        start.starts_with(GZIP) || start.starts_with(ZSTD)
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
