//! NumPy arrays: a header that is a Python dictionary, then the numbers.

use super::value::{Reading, Value};
use super::{Content, Opened, Pick, Rows, Stored};
use crate::cell::Na;
use crate::{Column, Error, Origin, Place, ReadOptions};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

pub const MAGIC: &[u8] = b"\x93NUMPY";
/// No header that NumPy writes is longer, in bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// Opens an .npy file.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Opened, Error> {
    let mut arrays = Arrays::open(path)?;
    if let Some((names, file)) = &options.beside {
        arrays.add(names, file)?;
    }
    Ok(arrays.opened())
}

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Bytes of the header.
    pub bytes: u64,
    /// As NumPy writes it: `<f8`.
    pub descr: String,
    /// Whether columns (rather than rows) are contiguous.
    pub fortran: bool,
    /// Lengths of the dimensions.
    pub shape: Vec<usize>,
}

impl Header {
    /// Reads a header, or says what is wrong with it.
    pub fn read(from: &mut impl Read) -> Result<Header, String> {
        let mut take = |count: usize| {
            let mut bytes = vec![0; count];
            from.read_exact(&mut bytes).map(|()| bytes).map_err(|_| "its header ends early".to_string())
        };
        let start = take(8)?;
        if !start.starts_with(MAGIC) {
            return Err("it does not begin with \\x93NUMPY".to_string());
        }
        let (width, length) = match start[6] {
            1 => (2, take(2)?.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b))),
            2 | 3 => (4, take(4)?.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b))),
            version => return Err(format!("its version is {version}")),
        };
        if length > LONGEST_HEADER {
            return Err(format!("its header has {length} bytes"));
        }
        let text = String::from_utf8(take(length)?).map_err(|_| "its header is not text".to_string())?;
        Header::parse(&text, (8 + width + length) as u64).ok_or_else(|| "its header cannot be understood".to_string())
    }

    fn parse(text: &str, bytes: u64) -> Option<Header> {
        let after = |key: &str| text.split_once(key).and_then(|(_, rest)| rest.split_once(':')).map(|(_, v)| v.trim());
        let (descr, order, shape) = (after("'descr'")?, after("'fortran_order'")?, after("'shape'")?);
        // a structured array has a list of fields here
        let descr = match descr.strip_prefix('\'') {
            Some(rest) => rest.split_once('\'')?.0.to_string(),
            None => "a record".to_string(),
        };
        let fortran = order.starts_with("True");
        if !fortran && !order.starts_with("False") {
            return None;
        }
        let inside = shape.strip_prefix('(')?.split_once(')')?.0;
        let lengths = inside.split(',').map(str::trim).filter(|n| !n.is_empty());
        Some(Header { bytes, descr, fortran, shape: lengths.map(|n| n.parse().ok()).collect::<Option<_>>()? })
    }
}

/// How one number is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// `b`, `i`, `u` or `f`, as in NumPy.
    code: char,
    /// Bytes.
    size: usize,
    big_endian: bool,
}

impl Item {
    fn of(descr: &str) -> Option<Item> {
        let mut letters = descr.chars();
        let (order, code) = (letters.next()?, letters.next()?);
        let size = letters.as_str().parse().ok()?;
        let known = matches!((code, size), ('b', 1) | ('i' | 'u', 1 | 2 | 4 | 8) | ('f', 2 | 4 | 8));
        (known && "<>|=".contains(order)).then_some(Item { code, size, big_endian: order == '>' })
    }

    fn value(self, bytes: &[u8]) -> Value<'static> {
        match (self.code, self.size) {
            ('b', _) => Value::Bool(bytes.iter().any(|&b| b != 0)),
            ('i', 1) => Value::Integer(i8::from_le_bytes(self.little(bytes)).into()),
            ('i', 2) => Value::Integer(i16::from_le_bytes(self.little(bytes)).into()),
            ('i', 4) => Value::Integer(i32::from_le_bytes(self.little(bytes)).into()),
            ('i', _) => Value::Integer(i64::from_le_bytes(self.little(bytes))),
            ('u', 1) => Value::Unsigned(u8::from_le_bytes(self.little(bytes)).into()),
            ('u', 2) => Value::Unsigned(u16::from_le_bytes(self.little(bytes)).into()),
            ('u', 4) => Value::Unsigned(u32::from_le_bytes(self.little(bytes)).into()),
            ('u', _) => Value::Unsigned(u64::from_le_bytes(self.little(bytes))),
            (_, 2) => Value::Single(half::f16::from_le_bytes(self.little(bytes)).to_f32()),
            (_, 4) => Value::Single(f32::from_le_bytes(self.little(bytes))),
            _ => Value::Double(f64::from_le_bytes(self.little(bytes))),
        }
    }

    /// The bytes of a number of this size, the least first.
    fn little<const N: usize>(self, bytes: &[u8]) -> [u8; N] {
        let mut little: [u8; N] = bytes.try_into().unwrap_or([0; N]);
        if self.big_endian {
            little.reverse();
        }
        little
    }
}

/// An array whose columns are columns of the table.
#[derive(Clone, Debug)]
pub struct Array {
    /// The names of its columns.
    pub names: Vec<String>,
    /// Whether its numbers are in the temporary file.
    pub spooled: bool,
    /// Where its numbers begin.
    pub start: u64,
    pub rows: usize,
    /// The numbers, or the name of what cannot be used.
    pub item: Result<Item, String>,
    pub fortran: bool,
}

impl Array {
    /// An array of which `length` bytes are there after the header. A vector is one column of its own name; the columns of a matrix
    /// are numbered from 0.
    pub fn new(name: &str, header: &Header, start: u64, length: u64, spooled: bool) -> Result<Array, String> {
        let item = Item::of(&header.descr).ok_or_else(|| header.descr.clone());
        let (rows, cols) = match header.shape[..] {
            [rows] => (rows, None),
            [rows, cols] => (rows, Some(cols)),
            _ => {
                let item = Err(format!("an array of {} dimensions", header.shape.len()));
                return Ok(Array { names: vec![name.to_string()], spooled, start, rows: 0, item, fortran: false });
            }
        };
        let size = item.as_ref().map_or(0, |i| i.size);
        let needed = rows.checked_mul(cols.unwrap_or(1)).and_then(|n| n.checked_mul(size));
        if needed.is_none_or(|n| n as u64 > length) {
            return Err(format!("array \"{name}\" ends early"));
        }
        // a matrix of no bytes may claim any number of columns
        if cols.is_some_and(|c| rows == 0 && c > LONGEST_HEADER) {
            return Err(format!("array \"{name}\" has no rows"));
        }
        let names = match cols {
            None => vec![name.to_string()],
            Some(_) if item.is_err() => vec![name.to_string()],
            Some(cols) => (0..cols).map(|i| format!("{name}{i}")).collect(),
        };
        Ok(Array { names, spooled, start, rows, item, fortran: header.fortran })
    }
}

/// The arrays of a file, side by side.
#[derive(Debug)]
pub struct Arrays {
    pub path: PathBuf,
    pub list: Vec<Array>,
    /// Where compressed arrays are unpacked; it goes away with this.
    pub spool: Option<NamedTempFile>,
    pub rows: usize,
}

impl Arrays {
    fn open(path: &Path) -> Result<Arrays, Error> {
        let read = |source| Error::Read { path: path.to_path_buf(), source };
        let damaged = |reason| Error::Damaged { path: path.to_path_buf(), format: "npy", reason };
        let mut file = File::open(path).map_err(read)?;
        let length = file.metadata().map_err(read)?.len();
        let header = Header::read(&mut file).map_err(damaged)?;
        let rest = length.saturating_sub(header.bytes);
        let mut array = Array::new("x", &header, header.bytes, rest, false).map_err(damaged)?;
        if let Err(found) = array.item {
            return Err(Error::UnsupportedType { origin: path.into(), column: "x".to_string(), found });
        }
        if header.shape.len() == 1 {
            array.names = vec!["x0".to_string()];
        }
        if array.rows == 0 {
            return Err(Error::NoRows { origin: path.into() });
        }
        Ok(Arrays { path: path.to_path_buf(), rows: array.rows, list: vec![array], spool: None })
    }

    /// Adds columns that are in a file of their own, whose numbers are copied to the temporary file.
    fn add(&mut self, names: &[String], path: &Path) -> Result<(), Error> {
        let other = Arrays::open(path)?;
        let [array] = &other.list[..] else { return Ok(()) };
        let names = match (names, array.names.len()) {
            (names, columns) if names.len() == columns => names.to_vec(),
            ([name], columns) => (0..columns).map(|i| format!("{name}{i}")).collect(),
            (names, columns) => {
                let s = if columns == 1 { "" } else { "s" };
                let reason = format!("it has {columns} column{s} where {} are needed", names.len());
                return Err(Error::Beside { path: path.to_path_buf(), reason });
            }
        };
        if other.rows != self.rows {
            let first = self.list.first().and_then(|a| a.names.first()).cloned().unwrap_or_default();
            let (origin, second) = (Origin::from(&*self.path), names.join(", "));
            return Err(Error::UnequalLengths { origin, first, expected: self.rows, second, found: other.rows });
        }
        let copy = || {
            let (mut from, mut spool) = (File::open(path)?, NamedTempFile::new()?);
            from.seek(SeekFrom::Start(array.start))?;
            io::copy(&mut from, &mut spool)?;
            Ok(spool)
        };
        self.spool = Some(copy().map_err(|source| Error::Read { path: path.to_path_buf(), source })?);
        self.list.push(Array { names, spooled: true, start: 0, ..array.clone() });
        Ok(())
    }

    /// With the names of all columns.
    pub fn opened(self) -> Opened {
        let names = self.list.iter().flat_map(|a| a.names.iter().cloned()).collect();
        (Box::new(self), names)
    }

    /// The array that a column of the table is in, and its place there.
    fn locate(&self, mut column: usize) -> (usize, usize) {
        for (i, array) in self.list.iter().enumerate() {
            if column < array.names.len() {
                return (i, column);
            }
            column -= array.names.len();
        }
        (0, 0)
    }
}

impl Content for Arrays {
    fn stored(&self, column: usize) -> Stored {
        match &self.list[self.locate(column).0].item {
            Ok(Item { code: 'b', .. }) => Stored::Bools,
            Ok(_) => Stored::Numbers,
            Err(found) => Stored::Unsupported(found.clone()),
        }
    }

    fn rows(&self, picks: Vec<Pick>, na: Na, infinite: bool) -> Result<Box<dyn Rows + '_>, Error> {
        let read = |source| Error::Read { path: self.path.clone(), source };
        let file = File::open(&self.path).map_err(read)?;
        let spool = self.spool.as_ref().map(NamedTempFile::reopen).transpose().map_err(read)?;
        let places = picks.iter().map(|p| self.locate(p.column)).collect();
        Ok(Box::new(ArrayRows { arrays: self, file, spool, picks, places, na, infinite, row: 0 }))
    }
}

/// Rows of some columns.
struct ArrayRows<'a> {
    arrays: &'a Arrays,
    file: File,
    spool: Option<File>,
    picks: Vec<Pick>,
    /// The array and the column of each pick.
    places: Vec<(usize, usize)>,
    na: Na,
    infinite: bool,
    row: usize,
}

impl Rows for ArrayRows<'_> {
    fn next(&mut self, rows: usize) -> Result<Vec<Column>, Error> {
        let count = rows.min(self.arrays.rows - self.row);
        let mut columns: Vec<Column> = self.picks.iter().map(|p| Column::empty(p.kind)).collect();
        for a in 0..self.arrays.list.len() {
            let array = &self.arrays.list[a];
            let chosen: Vec<usize> = (0..self.picks.len()).filter(|&i| self.places[i].0 == a).collect();
            let Ok(item) = array.item else { continue };
            if chosen.is_empty() {
                continue;
            }
            let (size, cols) = (item.size as u64, array.names.len() as u64);
            if !array.fortran || cols == 1 {
                let bytes = self.bytes(array, self.row as u64 * cols * size, count * (cols * size) as usize)?;
                for i in chosen {
                    let offset = self.places[i].1 * item.size;
                    let cells = bytes.chunks_exact((cols * size) as usize).map(|r| &r[offset..offset + item.size]);
                    self.push(i, item, cells, &mut columns[i])?;
                }
            } else {
                for i in chosen {
                    let first = self.places[i].1 as u64 * array.rows as u64 + self.row as u64;
                    let bytes = self.bytes(array, first * size, count * item.size)?;
                    self.push(i, item, bytes.chunks_exact(item.size), &mut columns[i])?;
                }
            }
        }
        self.row += count;
        Ok(columns)
    }
}

impl ArrayRows<'_> {
    /// Bytes of an array's numbers.
    fn bytes(&self, array: &Array, offset: u64, count: usize) -> Result<Vec<u8>, Error> {
        let mut file = self.spool.as_ref().filter(|_| array.spooled).unwrap_or(&self.file);
        let mut bytes = vec![0; count];
        let read = file.seek(SeekFrom::Start(array.start + offset)).and_then(|_| file.read_exact(&mut bytes));
        read.map(|()| bytes).map_err(|source: io::Error| Error::Read { path: self.arrays.path.clone(), source })
    }

    fn push<'b>(
        &self,
        pick: usize,
        item: Item,
        cells: impl Iterator<Item = &'b [u8]>,
        column: &mut Column,
    ) -> Result<(), Error> {
        let pick = &self.picks[pick];
        let reading = Reading { kind: pick.kind, na: &self.na, infinite: self.infinite };
        for cell in cells {
            if let Err(refusal) = reading.push(column, Some(item.value(cell))) {
                let place = Place::row(self.row + column.len() + 1);
                return Err(super::refused(Origin::File(self.arrays.path.clone()), place, &pick.name, refusal));
            }
        }
        Ok(())
    }
}
