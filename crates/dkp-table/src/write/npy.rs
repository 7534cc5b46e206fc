//! One matrix of doubles out, a row of the table a row.

use super::Sink;
use crate::read::npy::MAGIC;
use crate::{Column, Kind};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use tempfile::NamedTempFile;

/// Bytes of a header: room for any shape, and a multiple of 64 as NumPy has it.
const HEADER_BYTES: usize = 128;

/// The header of an array of doubles, rows contiguous. The shape is as Python writes it: `(3, 2)` or `(3,)`.
pub fn header(shape: &str) -> Vec<u8> {
    let mut bytes = [MAGIC, &[1, 0], &((HEADER_BYTES - 10) as u16).to_le_bytes()].concat();
    bytes.extend_from_slice(format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}").as_bytes());
    bytes.resize(HEADER_BYTES - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Begins an .npy file.
pub fn begin(file: NamedTempFile, columns: &[(String, Kind)]) -> io::Result<Box<dyn Sink>> {
    Ok(Box::new(NpySink::new(file, columns.len())?))
}

/// An .npy file being written. How many rows it has is written at the end.
struct NpySink {
    file: BufWriter<NamedTempFile>,
    columns: usize,
    rows: usize,
}

impl NpySink {
    fn new(file: NamedTempFile, columns: usize) -> io::Result<NpySink> {
        let mut file = BufWriter::new(file);
        file.write_all(&header(&format!("(0, {columns})")))?;
        Ok(NpySink { file, columns, rows: 0 })
    }
}

impl Sink for NpySink {
    fn write(&mut self, columns: &[&Column]) -> io::Result<()> {
        let rows = columns.first().map_or(0, |c| c.len());
        for row in 0..rows {
            for column in columns {
                if let Column::Numbers(numbers) = column {
                    self.file.write_all(&numbers[row].to_le_bytes())?;
                }
            }
        }
        self.rows += rows;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<NamedTempFile> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header(&format!("({}, {})", self.rows, self.columns)))?;
        self.file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}
