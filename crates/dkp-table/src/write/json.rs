//! JSON lines out: an object a row. Missing values, and numbers that are not finite, are null; dates are text.

use super::Sink;
use crate::{Column, Kind, cell};
use std::io::{self, BufWriter, Write as _};
use tempfile::NamedTempFile;

/// Begins a file of JSON lines.
pub fn begin(file: NamedTempFile, columns: &[(String, Kind)]) -> io::Result<Box<dyn Sink>> {
    let key = |(name, kind): &(String, Kind)| Ok((serde_json::to_string(name)?, *kind));
    let keys = columns.iter().map(key).collect::<io::Result<_>>()?;
    Ok(Box::new(JsonSink { file: BufWriter::new(file), keys }))
}

/// A file of JSON lines being written.
struct JsonSink {
    file: BufWriter<NamedTempFile>,
    /// The columns' names in quotes.
    keys: Vec<(String, Kind)>,
}

impl Sink for JsonSink {
    fn write(&mut self, columns: &[&Column]) -> io::Result<()> {
        let mut text = String::new();
        for row in 0..columns.first().map_or(0, |c| c.len()) {
            for (i, (column, (key, kind))) in columns.iter().zip(&self.keys).enumerate() {
                text.clear();
                match (column, kind) {
                    (Column::Texts(texts), _) => text = serde_json::to_string(&texts.get(row))?,
                    (Column::Numbers(numbers), _) if !numbers[row].is_finite() => text.push_str("null"),
                    (Column::Numbers(numbers), Kind::Bool) => text = (numbers[row] != 0.0).to_string(),
                    (Column::Numbers(numbers), Kind::Date(form)) => {
                        text.push('"');
                        form.write(&mut text, numbers[row]);
                        text.push('"');
                    }
                    (Column::Numbers(numbers), _) => cell::write_number(&mut text, numbers[row]),
                }
                write!(self.file, "{}{key}:{text}", if i == 0 { '{' } else { ',' })?;
            }
            self.file.write_all(b"}\n")?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<NamedTempFile> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}
