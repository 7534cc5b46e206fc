//! CSV out: cells are quoted where they must be, numbers are the shortest that read back the same, missing is empty. Where decimals have a comma, semicolons
//! stand between cells.

use super::Sink;
use crate::{Column, Decimal, Kind, Notation, cell};
use csv::QuoteStyle;
use std::io;
use tempfile::NamedTempFile;

/// Begins a CSV file.
pub fn begin(file: NamedTempFile, columns: &[(String, Kind)]) -> io::Result<Box<dyn Sink>> {
    Ok(Box::new(CsvSink::new(file, columns)?))
}

/// A CSV file being written.
struct CsvSink {
    writer: csv::Writer<NamedTempFile>,
    kinds: Vec<Kind>,
}

impl CsvSink {
    fn new(file: NamedTempFile, columns: &[(String, Kind)]) -> io::Result<CsvSink> {
        // another delimiter in a name must not be taken for the file's
        let comma = |c: &(String, Kind)| matches!(c.1, Kind::Written(Notation { decimal: Decimal::Comma, .. }));
        let (delimiter, others) =
            if columns.iter().any(comma) { (b';', [',', '\t', '|']) } else { (b',', [';', '\t', '|']) };
        let ambiguous = columns.iter().any(|c| c.0.contains(others));
        let style = if ambiguous { QuoteStyle::Always } else { QuoteStyle::Necessary };
        let mut header = csv::WriterBuilder::new().quote_style(style).delimiter(delimiter).from_writer(file);
        header.write_record(columns.iter().map(|c| &c.0)).map_err(failure)?;
        let file = header.into_inner().map_err(csv::IntoInnerError::into_error)?;
        let kinds = columns.iter().map(|c| c.1).collect();
        let writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(file);
        Ok(CsvSink { writer, kinds })
    }
}

impl Sink for CsvSink {
    fn write(&mut self, columns: &[&Column]) -> io::Result<()> {
        let mut text = String::new();
        for row in 0..columns.first().map_or(0, |c| c.len()) {
            for (column, kind) in columns.iter().zip(&self.kinds) {
                text.clear();
                let field = match column {
                    Column::Texts(texts) => texts.get(row).unwrap_or(""),
                    Column::Numbers(numbers) if numbers[row].is_nan() => "",
                    Column::Numbers(numbers) => match kind {
                        Kind::Bool => boolean(numbers[row]),
                        Kind::Written(notation) => {
                            notation.write(&mut text, numbers[row]);
                            &text
                        }
                        Kind::Date(form) => {
                            form.write(&mut text, numbers[row]);
                            &text
                        }
                        _ => {
                            cell::write_number(&mut text, numbers[row]);
                            &text
                        }
                    },
                };
                self.writer.write_field(field).map_err(failure)?;
            }
            self.writer.write_record(None::<&[u8]>).map_err(failure)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<NamedTempFile> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

fn boolean(value: f64) -> &'static str {
    if value == 0.0 { "false" } else { "true" }
}

fn failure(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}
