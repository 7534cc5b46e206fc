//! CSV: a header, then rows of cells between delimiters.

use super::header::number_in_header;
use super::source::{Reader, Source};
use super::{Content, Opened, Pick, Rows, Stored};
use crate::cell::{self, Na};
use crate::error::one_line;
use crate::survey::Observer;
use crate::{Column, Error, Kind, Origin, Place, ReadOptions};
use csv::ByteRecord;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Delimiters that are looked for, the first of equals first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// How much of a file is searched for the end of its header, in bytes.
const HEADER_BYTES: u64 = 1 << 20;
/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 18;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Texts that mean a missing value, beside the empty one.
const MISSING: [&[u8]; 5] = [b"NA", b"N/A", b"NaN", b"nan", b"null"];

/// Opens a CSV file.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Opened, Error> {
    let (layout, names) = Layout::open(Source::of(path)?, options.delimiter)?;
    Ok((Box::new(layout), names))
}

/// How a CSV file is written.
#[derive(Clone, Debug)]
struct Layout {
    source: Source,
    delimiter: u8,
    /// Where the text begins, after a byte order mark.
    start: u64,
    /// Fields of a row.
    fields: usize,
}

impl Layout {
    /// Looks at the header of a file. Gives the column names too.
    fn open(source: Source, delimiter: Option<u8>) -> Result<(Layout, Vec<String>), Error> {
        let path = || source.name().to_path_buf();
        let read = |source| Error::Read { path: path(), source };
        let mut head = Vec::new();
        source.from(0).take(HEADER_BYTES).read_to_end(&mut head).map_err(read)?;
        let start = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let delimiter = delimiter.unwrap_or_else(|| detect(&head[start..]));
        let mut layout = Layout { source: source.clone(), delimiter, start: start as u64, fields: 0 };
        let (mut reader, mut record) = (layout.reader(), ByteRecord::new());
        if !layout.read(&mut reader, &mut record)? {
            return Err(Error::Empty { path: path() });
        }
        let name = |field: &[u8]| std::str::from_utf8(field).map(|f| f.trim().to_string());
        let names = record.iter().map(name).collect::<Result<Vec<String>, _>>();
        layout.fields = record.len();
        let names = names.map_err(|_| Error::HeaderNotUtf8 { path: path() })?;
        if let Some(text) = number_in_header(&names) {
            return Err(Error::NoHeader { path: path(), text });
        }
        if !layout.read(&mut reader, &mut record)? {
            return Err(Error::NoRows { origin: Origin::File(path()) });
        }
        Ok((layout, names))
    }

    fn origin(&self) -> Origin {
        Origin::File(self.source.name().to_path_buf())
    }

    fn reader(&self) -> csv::Reader<Reader> {
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(self.delimiter).has_headers(false).flexible(true).buffer_capacity(BUFFER_BYTES);
        builder.from_reader(self.source.from(self.start))
    }

    fn read(&self, reader: &mut csv::Reader<Reader>, record: &mut ByteRecord) -> Result<bool, Error> {
        // with a flexible reader of bytes only the system can fail
        reader.read_byte_record(record).map_err(|e| {
            let source = match e.into_kind() {
                csv::ErrorKind::Io(source) => source,
                other => io::Error::other(format!("{other:?}")),
            };
            Error::Read { path: self.source.name().to_path_buf(), source }
        })
    }

    fn line(&self, byte: u64) -> io::Result<usize> {
        let (mut line, mut before) = (1, 0);
        for (i, c) in BufReader::with_capacity(BUFFER_BYTES, self.source.from(0)).bytes().enumerate() {
            let c = c?;
            if i as u64 >= byte && c != b'\n' && c != b'\r' {
                break;
            }
            // an end of line is \n, \r\n or \r
            line += usize::from(c == b'\r' || (c == b'\n' && before != b'\r'));
            before = c;
        }
        Ok(line)
    }
}

impl Content for Layout {
    fn stored(&self, _column: usize) -> Stored {
        Stored::Texts
    }

    fn rows(&self, picks: Vec<Pick>, na: Na, _infinite: bool) -> Result<Box<dyn Rows + '_>, Error> {
        Ok(Box::new(CsvRows { cells: Cells::new(self.clone())?, picks, na }))
    }

    fn observe(&self, observers: &mut [Observer], na: &Na) -> Result<(), Error> {
        let mut cells = Cells::new(self.clone())?;
        while cells.advance()? {
            let (row, byte) = (cells.row, cells.byte());
            observers.iter_mut().zip(&cells.record).for_each(|(observer, cell)| show(observer, row, byte, cell, na));
        }
        Ok(())
    }

    /// The row that begins at a byte (or after blank lines there), with its line if that is not `row` + 1.
    fn place(&self, row: usize, byte: u64) -> Place {
        match self.line(byte + self.start) {
            Ok(line) if line != row + 1 => Place::in_line(row, line),
            _ => Place::row(row),
        }
    }
}

/// Shows a cell to its column's observer as what it may be.
fn show(observer: &mut Observer, row: usize, byte: u64, cell: &[u8], na: &Na) {
    match cell::number(cell) {
        Some(value) if na.has_number(value) => observer.missing(),
        Some(value) => observer.number(row, byte, value, cell),
        None if is_missing(cell, na) => observer.missing(),
        None => observer.text(row, byte, cell),
    }
}

/// Whether a cell that is no number is missing.
fn is_missing(cell: &[u8], na: &Na) -> bool {
    let cell = cell.trim_ascii();
    cell.is_empty() || MISSING.contains(&cell) || na.has_text(cell)
}

/// The delimiter that is most frequent in the first line that is not blank, outside of quotes.
fn detect(head: &[u8]) -> u8 {
    let (mut counts, mut quoted) = ([0_usize; DELIMITERS.len()], false);
    let blank = head.iter().take_while(|&&c| c == b'\n' || c == b'\r').count();
    for &c in &head[blank..] {
        quoted ^= c == b'"';
        if !quoted && (c == b'\n' || c == b'\r') {
            break;
        }
        if let Some(i) = DELIMITERS.iter().position(|&d| d == c && !quoted) {
            counts[i] += 1;
        }
    }
    let most = (0..DELIMITERS.len()).rev().max_by_key(|&i| counts[i]).unwrap_or(0);
    DELIMITERS[most]
}

/// The rows of a file, one at a time.
struct Cells {
    layout: Layout,
    reader: csv::Reader<Reader>,
    record: ByteRecord,
    /// The row in `record`, from 1; 0 before the first.
    row: usize,
}

impl Cells {
    fn new(layout: Layout) -> Result<Cells, Error> {
        let (mut reader, mut record) = (layout.reader(), ByteRecord::new());
        layout.read(&mut reader, &mut record)?;
        Ok(Cells { layout, reader, record, row: 0 })
    }

    fn advance(&mut self) -> Result<bool, Error> {
        if !self.layout.read(&mut self.reader, &mut self.record)? {
            return Ok(false);
        }
        self.row += 1;
        if self.record.len() != self.layout.fields {
            let (place, path) = (self.place(), self.layout.source.name().to_path_buf());
            return Err(Error::Ragged { path, place, expected: self.layout.fields, found: self.record.len() });
        }
        Ok(true)
    }

    fn byte(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::byte)
    }

    fn place(&self) -> Place {
        self.layout.place(self.row, self.byte())
    }
}

/// Rows of some columns.
struct CsvRows {
    cells: Cells,
    picks: Vec<Pick>,
    na: Na,
}

impl Rows for CsvRows {
    fn next(&mut self, rows: usize) -> Result<Vec<Column>, Error> {
        let mut columns: Vec<Column> = self.picks.iter().map(|p| Column::empty(p.kind)).collect();
        for _ in 0..rows {
            if !self.cells.advance()? {
                break;
            }
            for (pick, column) in self.picks.iter().zip(&mut columns) {
                let cell = &self.cells.record[pick.column];
                match column {
                    Column::Numbers(numbers) => numbers.push(self.number(pick, cell)?),
                    Column::Texts(_) if is_missing(cell, &self.na) => push(column, None),
                    Column::Texts(_) => push(column, Some(self.utf8(pick, cell)?)),
                }
            }
        }
        Ok(columns)
    }
}

fn push(column: &mut Column, text: Option<&str>) {
    if let Column::Texts(texts) = column {
        texts.push(text);
    }
}

impl CsvRows {
    fn number(&self, pick: &Pick, cell: &[u8]) -> Result<f64, Error> {
        let parsed = match pick.kind {
            Kind::Bool => cell::truth(cell),
            Kind::Written(notation) => notation.number(cell),
            Kind::Date(form) => form.days(cell),
            Kind::Number | Kind::Text => cell::number(cell),
        };
        match parsed {
            Some(value) if self.na.has_number(value) => Ok(f64::NAN),
            Some(value) if value.is_finite() => Ok(value),
            _ if is_missing(cell, &self.na) => Ok(f64::NAN),
            _ => Err(self.refuse(pick, cell, parsed.is_some())),
        }
    }

    fn utf8<'a>(&self, pick: &Pick, cell: &'a [u8]) -> Result<&'a str, Error> {
        std::str::from_utf8(cell).map_err(|_| {
            let (origin, place) = (self.cells.layout.origin(), self.cells.place());
            Error::NotUtf8 { origin, place, column: pick.name.clone() }
        })
    }

    #[cold]
    fn refuse(&self, pick: &Pick, cell: &[u8], infinite: bool) -> Error {
        let text = match self.utf8(pick, cell) {
            Ok(text) => one_line(text),
            Err(error) => return error,
        };
        let (origin, place, column) = (self.cells.layout.origin(), self.cells.place(), pick.name.clone());
        match pick.kind {
            _ if infinite => Error::Infinite { origin, place, column, text },
            Kind::Bool => Error::NotBool { origin, place, column, text },
            Kind::Date(_) => Error::NotDate { origin, place, column, text },
            Kind::Number | Kind::Written(_) | Kind::Text => Error::NotNumber { origin, place, column, text },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_cells_are_the_listed_ones_and_the_users() {
        let na = Na::new(&["-999".to_string(), "?".to_string()]);
        for cell in ["", "  ", "NA", "N/A", "NaN", "nan", "null", " NA ", "-999", "?"] {
            assert!(is_missing(cell.as_bytes(), &na), "{cell:?}");
        }
        assert!(na.has_number(-999.0) && !na.has_number(999.0));
        for cell in ["na", "None", "0", "-9990", "n", "NULL"] {
            assert!(!is_missing(cell.as_bytes(), &na), "{cell:?}");
        }
    }
}
