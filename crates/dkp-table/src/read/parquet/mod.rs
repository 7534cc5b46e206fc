//! Parquet, through its column readers: row groups one after the other, pages as they are needed.

mod values;

use super::guard::guard;
use super::value::Reading;
use super::{Content, Opened, Pick, Rows, Stored};
use crate::cell::Na;
use crate::{Column, Error, Origin, Place, ReadOptions};
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;
use std::fs::File;
use std::path::{Path, PathBuf};
use values::{Failure, Meaning, decode, meaning};

/// What files of this format are called where one is damaged.
const NAME: &str = "Parquet";

/// Opens a Parquet file.
pub fn open(path: &Path, _options: &ReadOptions) -> Result<Opened, Error> {
    let (layout, names) = Layout::open(path)?;
    Ok((Box::new(layout), names))
}

/// The columns of a Parquet file.
#[derive(Debug)]
struct Layout {
    path: PathBuf,
    /// The leaf and the meaning of each top-level column.
    columns: Vec<(usize, Meaning)>,
}

impl Layout {
    /// Reads the file's metadata. Gives the column names too.
    fn open(path: &Path) -> Result<(Layout, Vec<String>), Error> {
        let file = reader(path)?;
        guard(path, NAME, || {
            let metadata = file.metadata();
            let chunks = || metadata.row_groups().iter().flat_map(|g| g.columns());
            let starts = |c: &ColumnChunkMetaData| c.dictionary_page_offset().unwrap_or(0).min(c.data_page_offset());
            if metadata.row_groups().iter().any(|g| g.num_rows() < 0)
                || chunks().any(|c| starts(c).min(c.compressed_size()) < 0)
            {
                return Err(damaged(path, "a size or a position in it is negative"));
            }
            if metadata.row_groups().iter().all(|g| g.num_rows() == 0) {
                return Err(Error::NoRows { origin: path.into() });
            }
            let schema = metadata.file_metadata().schema_descr();
            let fields = schema.root_schema().get_fields();
            let names = fields.iter().map(|f| f.name().to_string()).collect();
            let columns = (0..fields.len()).map(|i| meaning_of_field(schema, i)).collect();
            Ok((Layout { path: path.to_path_buf(), columns }, names))
        })
    }
}

impl Content for Layout {
    fn stored(&self, column: usize) -> Stored {
        match &self.columns[column].1 {
            Meaning::Bool => Stored::Bools,
            Meaning::Signed | Meaning::Unsigned | Meaning::Float | Meaning::Half | Meaning::Decimal(_) => {
                Stored::Numbers
            }
            Meaning::Day | Meaning::Moment(..) => Stored::Dates,
            Meaning::Text => Stored::Texts,
            Meaning::Unsupported(found) => Stored::Unsupported(found.clone()),
        }
    }

    fn rows(&self, picks: Vec<Pick>, na: Na, infinite: bool) -> Result<Box<dyn Rows + '_>, Error> {
        let (file, readers) = (reader(&self.path)?, Vec::new());
        Ok(Box::new(ParquetRows { layout: self, file, picks, na, infinite, group: 0, readers, left: 0, row: 0 }))
    }
}

fn reader(path: &Path) -> Result<SerializedFileReader<File>, Error> {
    let file = File::open(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
    guard(path, NAME, || SerializedFileReader::new(file).map_err(|e| failure(path, e)))
}

fn damaged(path: &Path, reason: &str) -> Error {
    Error::damaged(path, NAME, reason)
}

fn failure(path: &Path, error: ParquetError) -> Error {
    let text = match &error {
        ParquetError::General(text) | ParquetError::NYI(text) | ParquetError::EOF(text) => text.clone(),
        other => other.to_string(),
    };
    damaged(path, &text)
}

/// The leaf of a top-level field, and what it means.
fn meaning_of_field(schema: &SchemaDescriptor, field: usize) -> (usize, Meaning) {
    let leaves = 0..schema.num_columns();
    let Some(leaf) = leaves.into_iter().find(|&i| schema.get_column_root_idx(i) == field) else {
        return (0, Meaning::Unsupported("an empty group".to_string()));
    };
    let column = schema.column(leaf);
    let nested = column.path().parts().len() > 1 || column.max_rep_level() > 0;
    (leaf, if nested { Meaning::Unsupported("a nested list, map or struct".to_string()) } else { meaning(&column) })
}

/// Rows of some columns.
struct ParquetRows<'a> {
    layout: &'a Layout,
    file: SerializedFileReader<File>,
    picks: Vec<Pick>,
    na: Na,
    infinite: bool,
    /// The next row group.
    group: usize,
    /// Readers of the current one, and its rows that are left.
    readers: Vec<ColumnReader>,
    left: usize,
    /// Rows read.
    row: usize,
}

impl Rows for ParquetRows<'_> {
    fn next(&mut self, rows: usize) -> Result<Vec<Column>, Error> {
        let path = self.layout.path.clone();
        guard(&path, NAME, || self.fill(rows))
    }
}

impl ParquetRows<'_> {
    fn fill(&mut self, rows: usize) -> Result<Vec<Column>, Error> {
        let mut columns: Vec<Column> = self.picks.iter().map(|p| Column::empty(p.kind)).collect();
        let mut needed = rows;
        while needed > 0 && (self.left > 0 || self.next_group()?) {
            let count = needed.min(self.left);
            for (i, column) in columns.iter_mut().enumerate() {
                self.fill_column(i, count, column)?;
            }
            (self.left, needed, self.row) = (self.left - count, needed - count, self.row + count);
        }
        Ok(columns)
    }

    /// Goes to the next row group, if there is one.
    fn next_group(&mut self) -> Result<bool, Error> {
        if self.group >= self.file.num_row_groups() {
            return Ok(false);
        }
        let fail = |e| failure(&self.layout.path, e);
        let group = self.file.get_row_group(self.group).map_err(fail)?;
        let leaves = self.picks.iter().map(|p| self.layout.columns[p.column].0);
        self.readers = leaves.map(|leaf| group.get_column_reader(leaf)).collect::<Result<_, _>>().map_err(fail)?;
        self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        self.group += 1;
        Ok(true)
    }

    fn fill_column(&mut self, i: usize, count: usize, column: &mut Column) -> Result<(), Error> {
        let (pick, path) = (&self.picks[i], &self.layout.path);
        let (leaf, meaning) = &self.layout.columns[pick.column];
        let most = self.file.metadata().file_metadata().schema_descr().column(*leaf).max_def_level();
        let (reading, before) = (Reading { kind: pick.kind, na: &self.na, infinite: self.infinite }, column.len());
        let outcome = decode(&mut self.readers[i], meaning, most, count, |value| reading.push(column, value));
        let place = Place::row(self.row + column.len() - before + 1);
        match outcome {
            Ok(()) if column.len() - before == count => Ok(()),
            Ok(()) => Err(damaged(path, &format!("column \"{}\" ends early", pick.name))),
            Err(Failure::File(error)) => Err(failure(path, error)),
            Err(Failure::NotUtf8) => {
                Err(Error::NotUtf8 { origin: Origin::File(path.clone()), place, column: pick.name.clone() })
            }
            Err(Failure::Value(refusal)) => Err(super::refused(Origin::File(path.clone()), place, &pick.name, refusal)),
        }
    }
}
