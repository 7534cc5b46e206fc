//! What each column of a table holds, from one pass over it.

use crate::cell;
use crate::error::one_line;
use crate::notation::Written;
use crate::read::Stored;
use crate::table::unknown;
use crate::{Column, Decimal, Error, Origin, Place};
use std::collections::HashSet;

/// Different texts that a text column may have.
pub const MAX_LEVELS: usize = 1000;

/// A cell that was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noticed {
    /// Where it is.
    pub place: Place,
    /// What it says, on one line.
    pub text: String,
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSurvey {
    /// Its name.
    pub name: String,
    /// Cells.
    pub rows: usize,
    /// Those that are missing.
    pub missing: usize,
    /// Those that are numbers, infinite ones too.
    pub numeric: usize,
    /// Those that are true or false.
    pub booleans: usize,
    /// Those that look like dates.
    pub dates: usize,
    /// The different texts, sorted, of cells that are not missing; `None` if there are more than [`MAX_LEVELS`].
    pub levels: Option<Vec<String>>,
    /// The least and the greatest finite number.
    pub range: Option<(f64, f64)>,
    /// The first cell that is neither missing nor a number.
    pub stray: Option<Noticed>,
    /// The first infinite number.
    pub infinite: Option<Noticed>,
    /// The first text that is not UTF-8.
    pub not_utf8: Option<Place>,
    /// A type that cannot be used, by its name.
    pub unsupported: Option<String>,
}

impl ColumnSurvey {
    /// Cells that are not missing.
    pub fn values(&self) -> usize {
        self.rows - self.missing
    }

    /// Whether at least 95 % of the values are such.
    pub(crate) fn mostly(&self, count: usize) -> bool {
        count > 0 && count as u128 * 100 >= self.values() as u128 * 95
    }

    /// Whether it looks like dates.
    pub fn looks_like_dates(&self) -> bool {
        self.mostly(self.dates)
    }

    /// Whether all values are true or false.
    pub fn is_boolean(&self) -> bool {
        self.booleans > 0 && self.booleans == self.values()
    }
}

/// What the columns of a table hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    origin: Origin,
    columns: Vec<ColumnSurvey>,
    /// How numbers in their texts are written.
    written: Vec<Written>,
    /// What stands before decimals, if that was said.
    pub(crate) decimal: Option<Decimal>,
}

impl Survey {
    pub(crate) fn new(origin: Origin, columns: Vec<(ColumnSurvey, Written)>, decimal: Option<Decimal>) -> Survey {
        let (columns, written) = columns.into_iter().unzip();
        Survey { origin, columns, written, decimal }
    }

    /// The columns with how numbers in their texts are written.
    pub(crate) fn writings(&self) -> impl Iterator<Item = (&ColumnSurvey, &Written)> {
        self.columns.iter().zip(&self.written)
    }

    /// Where the table comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Rows of the table.
    pub fn rows(&self) -> usize {
        self.columns.iter().map(|c| c.rows).max().unwrap_or(0)
    }

    /// The columns, in the table's order.
    pub fn columns(&self) -> &[ColumnSurvey] {
        &self.columns
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Result<&ColumnSurvey, Error> {
        let names = || self.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        self.columns.iter().find(|c| c.name == name).ok_or_else(|| unknown(&self.origin, name, &names()))
    }
}

/// Sees the cells of a column go by.
pub struct Observer {
    column: ColumnSurvey,
    written: Written,
    stored: Stored,
    /// Until there are too many.
    levels: Option<HashSet<String>>,
    /// The bytes at which the rows of what was noticed begin.
    stray_byte: u64,
    infinite_byte: u64,
    not_utf8_byte: u64,
    strays_bytes: [u64; 2],
}

impl Observer {
    pub fn new(name: &str, stored: Stored) -> Observer {
        let unsupported = if let Stored::Unsupported(found) = &stored { Some(found.clone()) } else { None };
        let column = ColumnSurvey {
            name: name.to_string(),
            rows: 0,
            missing: 0,
            numeric: 0,
            booleans: 0,
            dates: 0,
            levels: None,
            range: None,
            stray: None,
            infinite: None,
            not_utf8: None,
            unsupported,
        };
        let levels = Some(HashSet::new());
        Observer {
            column,
            written: Written::default(),
            stored,
            levels,
            stray_byte: 0,
            infinite_byte: 0,
            not_utf8_byte: 0,
            strays_bytes: [0; 2],
        }
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.column.name
    }

    /// Rows of a table that has types, the first of which has a number from 0.
    pub fn column(&mut self, first: usize, column: &Column) {
        match column {
            Column::Numbers(numbers) => numbers.iter().enumerate().for_each(|(i, &v)| self.typed(first + i + 1, v)),
            Column::Texts(texts) => {
                for (i, text) in texts.iter().enumerate() {
                    match text {
                        None => self.missing(),
                        Some(text) => self.typed_text(first + i + 1, text),
                    }
                }
            }
        }
    }

    fn typed(&mut self, row: usize, value: f64) {
        if value.is_nan() {
            self.missing();
        } else if self.stored == Stored::Bools {
            self.text(row, 0, if value == 1.0 { b"true" } else { b"false" });
        } else {
            let mut text = String::new();
            if self.levels.is_some() || value.is_infinite() {
                cell::write_number(&mut text, value);
            }
            self.number(row, 0, value, text.as_bytes());
        }
    }

    fn typed_text(&mut self, row: usize, text: &str) {
        match cell::number(text.as_bytes()) {
            Some(value) if self.stored == Stored::Texts => self.number(row, 0, value, text.as_bytes()),
            _ => self.text(row, 0, text.as_bytes()),
        }
    }

    /// A cell that is missing.
    pub fn missing(&mut self) {
        self.column.rows += 1;
        self.column.missing += 1;
    }

    /// A cell that is a number, in a row (from 1) that begins at a byte.
    pub fn number(&mut self, row: usize, byte: u64, value: f64, cell: &[u8]) {
        self.column.rows += 1;
        self.column.numeric += 1;
        if value.is_finite() {
            let (least, greatest) = self.column.range.unwrap_or((value, value));
            self.column.range = Some((least.min(value), greatest.max(value)));
        } else if self.column.infinite.is_none() {
            self.column.infinite =
                Some(Noticed { place: Place::row(row), text: one_line(&String::from_utf8_lossy(cell)) });
            self.infinite_byte = byte;
        }
        if self.stored == Stored::Texts {
            let comma = self.written.plain(cell);
            self.misfit(row, byte, [true, comma], cell);
        }
        self.level(cell);
    }

    /// Remembers the first cell that does not fit a notation.
    fn misfit(&mut self, row: usize, byte: u64, fits: [bool; 2], cell: &[u8]) {
        for (i, fits) in fits.into_iter().enumerate() {
            if !fits && self.written.strays[i].is_none() {
                let text = one_line(&String::from_utf8_lossy(cell));
                self.written.strays[i] = Some(Noticed { place: Place::row(row), text });
                self.strays_bytes[i] = byte;
            }
        }
    }

    /// A cell that is neither, in a row (from 1) that begins at a byte.
    pub fn text(&mut self, row: usize, byte: u64, cell: &[u8]) {
        self.column.rows += 1;
        let Ok(text) = std::str::from_utf8(cell) else {
            if self.column.not_utf8.is_none() {
                self.column.not_utf8 = Some(Place::row(row));
                self.not_utf8_byte = byte;
            }
            return;
        };
        // what is declared to be categories is nothing else, whatever it looks like
        if self.stored != Stored::Categories {
            self.column.booleans += usize::from(cell::boolean(cell).is_some());
            let is_date = self.written.date(cell);
            self.column.dates += usize::from(self.stored == Stored::Dates || is_date);
        }
        if self.stored == Stored::Texts {
            let fits = self.written.other(text.as_bytes());
            self.misfit(row, byte, fits, cell);
        }
        if self.column.stray.is_none() {
            self.column.stray = Some(Noticed { place: Place::row(row), text: one_line(text) });
            self.stray_byte = byte;
        }
        self.level(cell);
    }

    /// A cell that is UTF-8.
    fn level(&mut self, cell: &[u8]) {
        let Some(levels) = &mut self.levels else { return };
        let text = std::str::from_utf8(cell).unwrap_or_default();
        if !levels.contains(text) {
            levels.insert(text.to_string());
            if levels.len() > MAX_LEVELS {
                self.levels = None;
            }
        }
    }

    /// What was seen. Lines are looked up (which reads the file) only for cells that make the column unusable.
    pub fn finish(self, place: &dyn Fn(usize, u64) -> Place) -> (ColumnSurvey, Written) {
        let (mut column, mut written) = (self.column, self.written);
        let sorted = |levels: HashSet<String>| {
            let mut levels: Vec<String> = levels.into_iter().collect();
            levels.sort_unstable();
            levels
        };
        column.levels = self.levels.map(sorted);
        for (decimal, byte) in [Decimal::Point, Decimal::Comma].into_iter().zip(self.strays_bytes) {
            if column.numeric < column.values() && column.mostly(written.fitting(decimal)) {
                written.strays[decimal as usize].iter_mut().for_each(|n| n.place = place(n.place.row, byte));
            }
        }
        if column.mostly(column.numeric) {
            let find = |noticed: &mut Noticed, byte| noticed.place = place(noticed.place.row, byte);
            column.stray.iter_mut().for_each(|n| find(n, self.stray_byte));
            column.infinite.iter_mut().for_each(|n| find(n, self.infinite_byte));
        }
        column.not_utf8 = column.not_utf8.map(|p| place(p.row, self.not_utf8_byte));
        (column, written)
    }
}
