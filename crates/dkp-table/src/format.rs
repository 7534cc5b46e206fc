//! Which kind of file a table is in.

use crate::Error;
use std::path::{Path, PathBuf};

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a header and delimiters.
    Csv,
    /// A JSON object a line.
    Json,
    /// An Excel workbook, of which the first sheet is read.
    Xlsx,
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
    pub const EXTENSIONS: &str =
        ".csv, .tsv, .txt, .jsonl or .ndjson (these perhaps with .gz or .zst), .xlsx, .parquet, .pq, .npy or .npz";

    /// The format that a file's name says.
    ///
    /// ```
    /// use dkp_table::Format;
    /// use std::path::Path;
    /// assert_eq!(Format::of_name(Path::new("houses.PQ"))?, Format::Parquet);
    /// assert_eq!(
    ///     Format::of_name(Path::new("houses.ods")).unwrap_err().to_string(),
    ///     format!("houses.ods: unknown kind of file: use {}", Format::EXTENSIONS)
    /// );
    /// # Ok::<(), dkp_table::Error>(())
    /// ```
    pub fn of_name(path: &Path) -> Result<Format, Error> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv" | "tsv" | "txt") => Ok(Format::Csv),
            Some("jsonl" | "ndjson") => Ok(Format::Json),
            Some("xlsx" | "xlsm") => Ok(Format::Xlsx),
            Some("parquet" | "pq") => Ok(Format::Parquet),
            Some("npy") => Ok(Format::Npy),
            Some("npz") => Ok(Format::Npz),
            _ => Err(Error::Extension { path: path.to_path_buf() }),
        }
    }

    /// The format that the first bytes of a file say, if they do.
    pub(crate) fn of_content(start: &[u8]) -> Option<Format> {
        // an archive begins with the length of a name, 26 bytes after its own, and the name
        let archived = |part: &[u8]| {
            let length = start.get(26..28).map_or(0, |n| usize::from(u16::from_le_bytes([n[0], n[1]])));
            let name = start.get(30..).map_or(&[][..], |rest| &rest[..length.min(rest.len())]);
            start.starts_with(b"PK\x03\x04") && name.windows(part.len()).any(|w| w == part)
        };
        let magic: [(bool, Format); 4] = [
            (start.starts_with(b"PAR1"), Format::Parquet),
            (start.starts_with(b"\x93NUMPY"), Format::Npy),
            (archived(b".npy"), Format::Npz),
            (archived(b"xl/") || archived(b"[Content_Types].xml") || archived(b"_rels/"), Format::Xlsx),
        ];
        magic.into_iter().find(|(found, _)| *found).map(|m| m.1)
    }

    /// Whether tables are written in it too.
    pub fn is_written(self) -> bool {
        self != Format::Xlsx
    }

    /// Whether it holds text, rather than numbers only.
    pub fn holds_text(self) -> bool {
        !matches!(self, Format::Npy | Format::Npz)
    }

    /// Whether the first bytes of a file are those of a compressed one: gzip or Zstandard.
    pub(crate) fn is_compressed(start: &[u8]) -> bool {
        start.starts_with(GZIP) || start.starts_with(ZSTD)
    }

    /// The feature of this crate that reads and writes it.
    pub fn feature(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Xlsx => "xlsx",
            Format::Parquet => "parquet",
            Format::Npy | Format::Npz => "numpy",
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "CSV",
            Format::Json => "JSON lines",
            Format::Xlsx => "xlsx",
            Format::Parquet => "Parquet",
            Format::Npy => "npy",
            Format::Npz => "npz",
        }
    }
}
