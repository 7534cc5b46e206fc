//! JSON lines: an object a line. Columns are the keys, in the order in which they appear.

use super::source::{Reader, Source};
use super::value::{Reading, Value};
use super::{Content, Opened, Pick, Rows, Stored, refused};
use crate::cell::Na;
use crate::error::one_line;
use crate::{Column, Error, Origin, Place, ReadOptions};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// What files of this format are called where one is damaged.
const NAME: &str = "JSON lines";
/// Keys that a table may have, as many as a sheet has columns: ids as keys would make a matrix of nearly nothing.
const MOST_KEYS: usize = 1 << 14;
/// Bytes that a line may have: an array of all rows in one line is no JSON lines.
const LONGEST_LINE: u64 = 1 << 26;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Opens a file of JSON lines.
pub fn open(path: &Path, _options: &ReadOptions) -> Result<Opened, Error> {
    let source = Source::of(path)?;
    let name = source.name().to_path_buf();
    let (lines, names) = Lines::open(source, Vec::new(), Place::in_line)?;
    if lines.rows == 0 {
        return Err(Error::Empty { path: name });
    }
    if names.is_empty() {
        return Err(Error::damaged(&name, NAME, "its objects have no keys"));
    }
    Ok((Box::new(lines), names))
}

/// A file of objects.
#[derive(Debug)]
pub struct Lines {
    source: Source,
    keys: Keys,
    stored: Vec<Stored>,
    /// Lines that are not blank.
    pub rows: usize,
    /// Where a row is that is in some line.
    place: fn(usize, usize) -> Place,
}

impl Lines {
    /// Reads all lines once, to see which columns there are beside those that are known, and what they hold. Gives their names too.
    pub fn open(
        source: Source,
        names: Vec<String>,
        place: fn(usize, usize) -> Place,
    ) -> Result<(Lines, Vec<String>), Error> {
        let mut objects = Objects::new(&source, Keys::new(names))?;
        let mut seen: Vec<Seen> = Vec::new();
        while objects.advance()? {
            seen.resize_with(objects.keys.names.len(), Seen::default);
            seen.iter_mut().zip(&objects.cells).for_each(|(seen, cell)| seen.see(cell, objects.line));
        }
        seen.resize_with(objects.keys.names.len(), Seen::default);
        let (rows, keys, stored) = (objects.row, objects.keys, seen.into_iter().map(Seen::stored).collect());
        let names = keys.names.clone();
        Ok((Lines { source, keys, stored, rows, place }, names))
    }

    /// The line of a row.
    fn line(&self, row: usize) -> Option<usize> {
        let lines = BufReader::new(self.source.from(0)).split(b'\n').map_while(Result::ok);
        let rows = lines.enumerate().filter(|(_, line)| !is_blank(line));
        rows.map(|(i, _)| i + 1).nth(row.checked_sub(1)?)
    }
}

impl Content for Lines {
    fn stored(&self, column: usize) -> Stored {
        self.stored[column].clone()
    }

    fn rows(&self, picks: Vec<Pick>, na: Na, infinite: bool) -> Result<Box<dyn Rows + '_>, Error> {
        let objects = Objects::new(&self.source, self.keys.clone())?;
        Ok(Box::new(LineRows { objects, place: self.place, picks, na, infinite }))
    }

    fn place(&self, row: usize, _byte: u64) -> Place {
        self.line(row).map_or(Place::row(row), |line| (self.place)(row, line))
    }
}

/// What values of a column were seen.
#[derive(Default)]
struct Seen {
    numbers: bool,
    bools: bool,
    texts: bool,
    /// The first line with a list or an object.
    nested: Option<usize>,
}

impl Seen {
    fn see(&mut self, cell: &Cell, line: usize) {
        match cell {
            Cell::Missing => {}
            Cell::Bool(_) => self.bools = true,
            Cell::Integer(_) | Cell::Unsigned(_) | Cell::Double(_) => self.numbers = true,
            Cell::Text(_) => self.texts = true,
            Cell::Nested => self.nested = self.nested.or(Some(line)),
        }
    }

    fn stored(self) -> Stored {
        match (self.nested, self.numbers, self.bools, self.texts) {
            (Some(line), ..) => Stored::Unsupported(format!("a nested list or object (line {line})")),
            (None, true, false, false) => Stored::Numbers,
            (None, false, true, false) => Stored::Bools,
            _ => Stored::Texts,
        }
    }
}

/// A value of an object.
enum Cell {
    Missing,
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(String),
    Nested,
}

impl Cell {
    fn value(&self) -> Option<Value<'_>> {
        match self {
            Cell::Missing | Cell::Nested => None,
            Cell::Bool(value) => Some(Value::Bool(*value)),
            Cell::Integer(value) => Some(Value::Integer(*value)),
            Cell::Unsigned(value) => Some(Value::Unsigned(*value)),
            Cell::Double(value) => Some(Value::Double(*value)),
            Cell::Text(value) => Some(Value::Text(value)),
        }
    }
}

/// Names of columns and their places.
#[derive(Clone, Debug)]
struct Keys {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Keys {
    fn new(names: Vec<String>) -> Keys {
        let places = names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        Keys { names, places }
    }

    fn place<E: de::Error>(&mut self, key: &str) -> Result<usize, E> {
        if let Some(&place) = self.places.get(key) {
            return Ok(place);
        }
        if self.names.len() == MOST_KEYS {
            return Err(E::custom(format!("there are more than {MOST_KEYS} keys")));
        }
        self.places.insert(key.to_string(), self.names.len());
        self.names.push(key.to_string());
        Ok(self.names.len() - 1)
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii().is_empty()
}

/// The objects of a file, one at a time.
struct Objects {
    source: Source,
    reader: BufReader<Reader>,
    buffer: Vec<u8>,
    keys: Keys,
    /// The values of the present object by their columns' places.
    cells: Vec<Cell>,
    /// Its line and its row, from 1.
    line: usize,
    row: usize,
}

impl Objects {
    fn new(source: &Source, keys: Keys) -> Result<Objects, Error> {
        let (source, reader) = (source.clone(), BufReader::new(source.from(0)));
        Ok(Objects { source, reader, buffer: Vec::new(), keys, cells: Vec::new(), line: 0, row: 0 })
    }

    /// Goes to the next object, if there is one.
    fn advance(&mut self) -> Result<bool, Error> {
        loop {
            self.buffer.clear();
            let mut line = (&mut self.reader).take(LONGEST_LINE);
            let read = line.read_until(b'\n', &mut self.buffer);
            read.map_err(|source| Error::Read { path: self.source.name().to_path_buf(), source })?;
            if self.buffer.is_empty() {
                return Ok(false);
            }
            self.line += 1;
            if self.buffer.len() as u64 == LONGEST_LINE {
                return Err(self.damaged("it is too long: write an object a line"));
            }
            if !is_blank(&self.buffer) {
                break;
            }
        }
        self.row += 1;
        self.cells.clear();
        self.cells.resize_with(self.keys.names.len(), || Cell::Missing);
        let line = self.buffer.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.buffer);
        let mut parser = serde_json::Deserializer::from_slice(line);
        let row = Row { keys: &mut self.keys, cells: &mut self.cells };
        let outcome = row.deserialize(&mut parser).and_then(|()| parser.end());
        outcome.map(|()| true).map_err(|e| {
            // the parser sees one line
            let text = e.to_string();
            let place = format!(" at line {} column {}", e.line(), e.column());
            self.damaged(text.strip_suffix(&place).unwrap_or(&text))
        })
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::damaged(self.source.name(), NAME, &format!("line {}: {reason}", self.line))
    }
}

/// What fills cells with the values of an object.
struct Row<'a> {
    keys: &'a mut Keys,
    cells: &'a mut Vec<Cell>,
}

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(place) = map.next_key_seed(Key(self.keys))? {
            if place >= self.cells.len() {
                self.cells.resize_with(place + 1, || Cell::Missing);
            }
            let cell = map.next_value_seed(AnyCell)?;
            if !matches!(self.cells[place], Cell::Missing) {
                let key = one_line(&self.keys.names[place]);
                return Err(de::Error::custom(format!("the key \"{key}\" is there twice")));
            }
            self.cells[place] = cell;
        }
        Ok(())
    }
}

/// What finds the place of a key.
struct Key<'a>(&'a mut Keys);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<usize, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<usize, E> {
        self.0.place(key)
    }
}

/// What takes any value.
struct AnyCell;

impl<'de> DeserializeSeed<'de> for AnyCell {
    type Value = Cell;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Cell, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyCell {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Cell, E> {
        Ok(Cell::Missing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Cell, E> {
        Ok(Cell::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Cell, E> {
        Ok(Cell::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Cell, E> {
        Ok(Cell::Unsigned(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Cell, E> {
        Ok(Cell::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Cell, E> {
        Ok(Cell::Text(value.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Cell, A::Error> {
        while list.next_element::<de::IgnoredAny>()?.is_some() {}
        Ok(Cell::Nested)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cell, A::Error> {
        while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
        Ok(Cell::Nested)
    }
}

/// Rows of some columns.
struct LineRows {
    objects: Objects,
    place: fn(usize, usize) -> Place,
    picks: Vec<Pick>,
    na: Na,
    infinite: bool,
}

impl Rows for LineRows {
    fn next(&mut self, rows: usize) -> Result<Vec<Column>, Error> {
        let mut columns: Vec<Column> = self.picks.iter().map(|p| Column::empty(p.kind)).collect();
        for _ in 0..rows {
            if !self.objects.advance()? {
                break;
            }
            for (pick, column) in self.picks.iter().zip(&mut columns) {
                let reading = Reading { kind: pick.kind, na: &self.na, infinite: self.infinite };
                let value = self.objects.cells[pick.column].value();
                reading.push(column, value).map_err(|refusal| {
                    let origin = Origin::from(self.objects.source.name());
                    refused(origin, (self.place)(self.objects.row, self.objects.line), &pick.name, refusal)
                })?;
            }
        }
        Ok(columns)
    }
}
