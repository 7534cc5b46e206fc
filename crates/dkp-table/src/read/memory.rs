//! Columns in memory, read as those of a file that has types.

use super::value::{Reading, Value};
use super::{Content, Pick, Rows, Stored, refused};
use crate::cell::Na;
use crate::{Column, Error, Origin, Place, Values};

/// Columns of equal length.
#[derive(Debug)]
pub struct Memory {
    columns: Vec<Values>,
    rows: usize,
}

impl Memory {
    /// Columns with their names.
    pub fn new(names: &[String], columns: Vec<Values>) -> Result<Memory, Error> {
        let mut lengths = names.iter().zip(&columns).filter_map(|(name, c)| Some((name, c.rows()?)));
        let (first, rows) = lengths.next().filter(|l| l.1 > 0).ok_or(Error::NoRows { origin: Origin::Memory })?;
        if let Some((second, found)) = lengths.find(|l| l.1 != rows) {
            let (origin, first, second) = (Origin::Memory, first.clone(), second.clone());
            return Err(Error::UnequalLengths { origin, first, expected: rows, second, found });
        }
        Ok(Memory { columns, rows })
    }
}

impl Content for Memory {
    fn stored(&self, column: usize) -> Stored {
        match &self.columns[column] {
            Values::Numbers(_) | Values::Integers(_) => Stored::Numbers,
            Values::Booleans(_) => Stored::Bools,
            Values::Texts(_) => Stored::Texts,
            Values::Categories(_) => Stored::Categories,
            Values::Unsupported(found) => Stored::Unsupported(found.clone()),
        }
    }

    fn rows(&self, picks: Vec<Pick>, na: Na, infinite: bool) -> Result<Box<dyn Rows + '_>, Error> {
        Ok(Box::new(MemoryRows { memory: self, picks, na, infinite, row: 0 }))
    }
}

/// Rows of some columns.
struct MemoryRows<'a> {
    memory: &'a Memory,
    picks: Vec<Pick>,
    na: Na,
    infinite: bool,
    row: usize,
}

impl Rows for MemoryRows<'_> {
    fn next(&mut self, rows: usize) -> Result<Vec<Column>, Error> {
        let end = self.memory.rows.min(self.row.saturating_add(rows));
        let columns = self.picks.iter().map(|pick| self.read(pick, end)).collect();
        self.row = end;
        columns
    }
}

impl MemoryRows<'_> {
    /// A column from the present row to another.
    fn read(&self, pick: &Pick, end: usize) -> Result<Column, Error> {
        let rows = self.row..end;
        match &self.memory.columns[pick.column] {
            Values::Numbers(v) => self.collect(pick, v[rows].iter().map(|&v| Some(Value::Double(v)))),
            Values::Integers(v) => self.collect(pick, v[rows].iter().map(|v| v.map(Value::Integer))),
            Values::Booleans(v) => self.collect(pick, v[rows].iter().map(|v| v.map(Value::Bool))),
            Values::Texts(t) | Values::Categories(t) => self.collect(pick, rows.map(|i| t.get(i).map(Value::Text))),
            // no such column is picked
            Values::Unsupported(_) => Ok(Column::empty(pick.kind)),
        }
    }

    fn collect<'v>(&self, pick: &Pick, values: impl Iterator<Item = Option<Value<'v>>>) -> Result<Column, Error> {
        let reading = Reading { kind: pick.kind, na: &self.na, infinite: self.infinite };
        let mut column = Column::empty(pick.kind);
        for value in values {
            if let Err(refusal) = reading.push(&mut column, value) {
                let place = Place::row(self.row + column.len() + 1);
                return Err(refused(Origin::Memory, place, &pick.name, refusal));
            }
        }
        Ok(column)
    }
}
