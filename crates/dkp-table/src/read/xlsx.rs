//! The first sheet of a workbook, which is written to a temporary file as JSON lines, line by row, and read as those.

use super::guard::guard;
use super::header::number_in_header;
use super::json::Lines;
use super::source::Source;
use super::{Opened, Place};
use crate::cell::{number_text, write_day, write_moment};
use crate::table::check_names;
use crate::{Error, Origin, ReadOptions};
use calamine::{CellErrorType, DataRef, Reader as _, SheetType, Xlsx, XlsxError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::path::Path;
use zip::ZipArchive;

/// What files of this format are called where one is damaged.
const NAME: &str = "xlsx";
/// Rows and columns of the largest sheet.
const MOST_ROWS: u32 = 1 << 20;
const MOST_COLUMNS: u32 = 1 << 14;

/// Opens the first sheet of a workbook. Its first row that is not blank has the names.
pub fn open(path: &Path, _options: &ReadOptions) -> Result<Opened, Error> {
    check_archive(path)?;
    let (names, copy) = guard(path, NAME, || transcribe(path))?;
    if names.is_empty() {
        return Err(Error::Empty { path: path.to_path_buf() });
    }
    let (lines, names) = Lines::open(Source::copied(path, copy), names, Place::in_sheet)?;
    if lines.rows == 0 {
        return Err(Error::NoRows { origin: path.into() });
    }
    Ok((Box::new(lines), names))
}

/// Reads all of an archive, whose checksums are compared. The crate would reserve memory for as many texts as the file claims to have.
fn check_archive(path: &Path) -> Result<(), Error> {
    let fail = |reason: String| Error::damaged(path, NAME, &reason);
    let file = File::open(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|e| fail(e.to_string()))?;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(|e| fail(e.to_string()))?;
        let name = entry.name().map_err(|e| fail(e.to_string()))?.into_owned();
        let unreadable = |e: io::Error| fail(format!("{name}: {e}"));
        let mut start = Vec::new();
        (&mut entry).take(1 << 12).read_to_end(&mut start).map_err(unreadable)?;
        let bytes = start.len() as u64 + io::copy(&mut entry, &mut io::sink()).map_err(unreadable)?;
        if claimed_texts(&start) > bytes {
            return Err(fail(format!("{name} has fewer texts than it says")));
        }
    }
    Ok(())
}

/// How many texts the beginning of a list of them says that there are.
fn claimed_texts(start: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(start);
    let Some((_, claim)) = text.split_once("uniqueCount") else { return 0 };
    let digits = claim.trim_start_matches(|c: char| c.is_whitespace() || "=\"'".contains(c));
    let digits = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    if digits.is_empty() { 0 } else { digits.parse().unwrap_or(u64::MAX) }
}

fn failure(path: &Path, error: &XlsxError) -> Error {
    Error::damaged(path, NAME, &error.to_string())
}

/// The names of the first sheet's columns, and its rows as lines: the header and blank rows are blank lines.
fn transcribe(path: &Path) -> Result<(Vec<String>, File), Error> {
    let fail = |e: XlsxError| failure(path, &e);
    let file = File::open(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
    let mut book = Xlsx::new(BufReader::new(file)).map_err(fail)?;
    let mut sheets = book.sheets_metadata().iter().filter(|s| s.typ == SheetType::WorkSheet);
    let sheet = sheets.next().map(|s| s.name.clone());
    let sheet = sheet.ok_or_else(|| Error::damaged(path, NAME, "it has no sheet"))?;
    let from_1904 = book.has_1904_epoch();
    let mut cells = book.worksheet_cells_reader(&sheet).map_err(fail)?;
    let mut transcript = Transcript::new(path)?;
    while let Some(cell) = cells.next_cell().map_err(fail)? {
        let (row, column) = cell.get_position();
        if let Some(value) = value(cell.get_value(), from_1904) {
            transcript.add(row, column, value)?;
        }
    }
    transcript.finish()
}

/// A sheet being written as lines.
struct Transcript<'a> {
    path: &'a Path,
    to: BufWriter<File>,
    /// The present row from 0, which is as many lines as are written, and its values by column.
    row: u32,
    values: BTreeMap<u32, Value>,
    /// Names by column.
    names: BTreeMap<u32, String>,
}

impl Transcript<'_> {
    fn new(path: &Path) -> Result<Transcript<'_>, Error> {
        let file = tempfile::tempfile().map_err(|e| write_error(path, e))?;
        Ok(Transcript { path, to: BufWriter::new(file), row: 0, values: BTreeMap::new(), names: BTreeMap::new() })
    }

    fn add(&mut self, row: u32, column: u32, value: Value) -> Result<(), Error> {
        if row >= MOST_ROWS || column >= MOST_COLUMNS {
            return Err(Error::damaged(self.path, NAME, "a cell of it is outside of any sheet"));
        }
        if row < self.row {
            return Err(Error::damaged(self.path, NAME, "its rows are not in order"));
        }
        while self.row < row {
            self.end_row()?;
        }
        self.values.insert(column, value);
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), Error> {
        let values = std::mem::take(&mut self.values);
        self.row += 1;
        let text = if self.names.is_empty() {
            self.names = values.into_iter().map(|(column, value)| (column, name(&value))).collect();
            String::new()
        } else if values.is_empty() {
            String::new()
        } else {
            self.object(values)?
        };
        writeln!(self.to, "{text}").map_err(|e| write_error(self.path, e))
    }

    fn object(&self, values: BTreeMap<u32, Value>) -> Result<String, Error> {
        let mut text = String::from("{");
        for (column, value) in values {
            let position = column as usize + 1;
            let unnamed = || Error::UnnamedColumn { origin: self.path.into(), position };
            let name = self.names.get(&column).ok_or_else(unnamed)?;
            let comma = if text.len() > 1 { "," } else { "" };
            text += &format!("{comma}{}:{value}", Value::from(name.as_str()));
        }
        Ok(text + "}")
    }

    fn finish(mut self) -> Result<(Vec<String>, File), Error> {
        self.end_row()?;
        let file = self.to.into_inner().map_err(|e| write_error(self.path, e.into_error()))?;
        let (origin, names) = (Origin::from(self.path), self.names.into_values().collect::<Vec<String>>());
        check_names(&origin, &names)?;
        match number_in_header(&names) {
            Some(text) => Err(Error::NoHeader { path: self.path.to_path_buf(), text }),
            None => Ok((names, file)),
        }
    }
}

fn write_error(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_path_buf(), source }
}

/// What a cell of the header calls its column.
fn name(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_string(),
        Value::Number(number) => number.as_f64().map_or(String::new(), number_text),
        other => other.to_string(),
    }
}

/// A cell's value, or of a formula its result, if there is one; null where it says that it is missing.
fn value(cell: &DataRef<'_>, from_1904: bool) -> Option<Value> {
    Some(match cell {
        DataRef::Empty => return None,
        DataRef::String(text) if text.trim().is_empty() => return None,
        DataRef::SharedString(text) if text.trim().is_empty() => return None,
        DataRef::Error(CellErrorType::NA) => Value::Null,
        DataRef::Bool(value) => Value::Bool(*value),
        DataRef::Int(value) => Value::from(*value),
        DataRef::Float(value) => number(*value),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => Value::from(text.as_str()),
        DataRef::SharedString(text) => Value::from(*text),
        DataRef::DateTime(duration) if duration.is_duration() => number(duration.as_f64()),
        DataRef::DateTime(moment) => Value::String(date(moment.as_f64(), from_1904)),
        DataRef::Error(error) => Value::String(error.to_string()),
    })
}

/// JSON has no infinite numbers; as text they are noticed.
fn number(value: f64) -> Value {
    if value.is_infinite() { Value::String(number_text(value)) } else { Value::from(value) }
}

/// A date, a time of day or both as text, from the days that a sheet counts: from the last of 1899, with a 29 February 1900, or from 1904.
fn date(serial: f64, from_1904: bool) -> String {
    const DAY: i64 = 86_400_000;
    let mut text = String::new();
    let milliseconds = (serial * DAY as f64).round() as i64;
    if (0..DAY).contains(&milliseconds) {
        write_moment(&mut text, milliseconds, 1000, false);
        return text;
    }
    let zero = match (from_1904, milliseconds < 60 * DAY) {
        (true, _) => 24_107,
        (false, true) => 25_568,
        (false, false) => 25_569,
    };
    let moment = milliseconds.saturating_sub(zero * DAY);
    if moment.rem_euclid(DAY) == 0 {
        write_day(&mut text, moment.div_euclid(DAY));
    } else {
        write_moment(&mut text, moment, 1000, true);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that spreadsheet programs show.
    #[test]
    fn serial_numbers_are_dates() {
        for (serial, from_1904, expected) in [
            (1.0, false, "1900-01-01"),
            (59.0, false, "1900-02-28"),
            (61.0, false, "1900-03-01"),
            (25_569.0, false, "1970-01-01"),
            (45_322.0, false, "2024-01-31"),
            (45_322.524_259_259_3, false, "2024-01-31T12:34:56"),
            (45_322.999_999_999, false, "2024-02-01"),
            (43_860.0, true, "2024-01-31"),
            (0.75, false, "18:00:00"),
            (-1.0, false, "1899-12-30"),
        ] {
            assert_eq!(date(serial, from_1904), expected, "{serial}");
        }
        // far from any calendar, and no panic
        for serial in [1e300, -1e300, f64::NAN] {
            assert!(!date(serial, false).is_empty());
        }
    }

    #[test]
    fn claims_are_found() {
        assert_eq!(claimed_texts(b"<sst xmlns=\"x\" count=\"9\" uniqueCount = '7'><si>"), 7);
        assert_eq!(claimed_texts(b"<sst uniqueCount=\"99999999999999999999999\">"), u64::MAX);
        assert_eq!((claimed_texts(b"<sst>"), claimed_texts(b"<sst uniqueCount=\"\">")), (0, 0));
    }
}
