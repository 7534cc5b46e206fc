//! Parquet out: doubles, booleans and text, all of which may be null.

use super::Sink;
use crate::{Column, Kind};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::{self, BufWriter};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 17;
/// Bytes of text after which a row group ends early.
const GROUP_TEXT_BYTES: usize = 1 << 26;

/// Begins a Parquet file.
pub fn begin(file: NamedTempFile, columns: &[(String, Kind)]) -> io::Result<Box<dyn Sink>> {
    Ok(Box::new(ParquetSink::new(file, columns)?))
}

/// A Parquet file being written. Rows are kept until they make a row group.
struct ParquetSink {
    writer: SerializedFileWriter<BufWriter<NamedTempFile>>,
    kinds: Vec<Kind>,
    kept: Vec<Column>,
}

impl ParquetSink {
    fn new(file: NamedTempFile, columns: &[(String, Kind)]) -> io::Result<ParquetSink> {
        let field = |(name, kind): &(String, Kind)| {
            let (physical, logical) = match kind {
                Kind::Number | Kind::Written(_) | Kind::Date(_) => (Physical::DOUBLE, None),
                Kind::Bool => (Physical::BOOLEAN, None),
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            builder.with_logical_type(logical).build().map(Arc::new)
        };
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>().map_err(failure)?;
        let schema = Type::group_type_builder("table").with_fields(fields).build().map_err(failure)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(BufWriter::new(file), Arc::new(schema), Arc::new(properties));
        let kinds: Vec<Kind> = columns.iter().map(|c| c.1).collect();
        let kept = kinds.iter().map(|&k| Column::empty(k)).collect();
        Ok(ParquetSink { writer: writer.map_err(failure)?, kinds, kept })
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.kept.first().is_none_or(Column::is_empty) {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (column, &kind) in self.kept.iter_mut().zip(&self.kinds) {
            let Some(mut writer) = group.next_column()? else { break };
            let column = std::mem::replace(column, Column::empty(kind));
            let (present, levels): (Vec<usize>, Vec<i16>) = levels(&column);
            match (&column, kind) {
                (Column::Texts(texts), _) => {
                    let bytes = |&i: &usize| ByteArray::from(texts.get(i).unwrap_or(""));
                    let values: Vec<ByteArray> = present.iter().map(bytes).collect();
                    writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
                }
                (Column::Numbers(numbers), Kind::Bool) => {
                    let values: Vec<bool> = present.iter().map(|&i| numbers[i] != 0.0).collect();
                    writer.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
                }
                (Column::Numbers(numbers), _) => {
                    let values: Vec<f64> = present.iter().map(|&i| numbers[i]).collect();
                    writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                }
            }
            writer.close()?;
        }
        group.close().map(drop)
    }
}

/// The rows that are not missing, and for each row whether it is there.
fn levels(column: &Column) -> (Vec<usize>, Vec<i16>) {
    let there = |i: usize| match column {
        Column::Numbers(numbers) => !numbers[i].is_nan(),
        Column::Texts(texts) => texts.get(i).is_some(),
    };
    ((0..column.len()).filter(|&i| there(i)).collect(), (0..column.len()).map(|i| i16::from(there(i))).collect())
}

impl Sink for ParquetSink {
    fn write(&mut self, columns: &[&Column]) -> io::Result<()> {
        self.kept.iter_mut().zip(columns).for_each(|(kept, column)| kept.append(column));
        let rows = self.kept.first().map_or(0, Column::len);
        let bytes = |column: &Column| if let Column::Texts(texts) = column { texts.bytes() } else { 0 };
        if rows >= GROUP_ROWS || self.kept.iter().any(|c| bytes(c) > GROUP_TEXT_BYTES) {
            self.flush().map_err(failure)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<NamedTempFile> {
        self.flush().map_err(failure)?;
        let file = self.writer.into_inner().map_err(failure)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// What the system said, where it did.
fn failure(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => *source,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
