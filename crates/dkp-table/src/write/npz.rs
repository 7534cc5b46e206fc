//! An archive of vectors out, one a column.

use super::Sink;
use super::npy::header;
use crate::{Column, Kind};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// From this size on, in bytes, an array needs the large form of an archive entry.
const LARGE_BYTES: u64 = (1 << 32) - 4096;

/// Begins an .npz file.
pub fn begin(file: NamedTempFile, columns: &[(String, Kind)]) -> io::Result<Box<dyn Sink>> {
    Ok(Box::new(NpzSink::new(file, columns)?))
}

/// An .npz file being written. Numbers are kept in one unnamed file, frame by frame, until all rows are known.
struct NpzSink {
    file: NamedTempFile,
    frames: BufWriter<File>,
    /// Rows of each frame that was written.
    rows: Vec<usize>,
    names: Vec<String>,
}

impl NpzSink {
    fn new(file: NamedTempFile, columns: &[(String, Kind)]) -> io::Result<NpzSink> {
        let folder = file.path().parent().unwrap_or(Path::new("."));
        let frames = BufWriter::new(tempfile::tempfile_in(folder)?);
        Ok(NpzSink { file, frames, rows: Vec::new(), names: columns.iter().map(|c| c.0.clone()).collect() })
    }
}

impl Sink for NpzSink {
    fn write(&mut self, columns: &[&Column]) -> io::Result<()> {
        for column in columns {
            if let Column::Numbers(numbers) = column {
                numbers.iter().try_for_each(|v| self.frames.write_all(&v.to_le_bytes()))?;
            }
        }
        self.rows.push(columns.first().map_or(0, |c| c.len()));
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<NamedTempFile> {
        let mut frames = self.frames.into_inner().map_err(io::IntoInnerError::into_error)?;
        let (count, columns) = (self.rows.iter().sum::<usize>(), self.names.len() as u64);
        let mut archive = ZipWriter::new(BufWriter::new(self.file));
        let large = count as u64 * 8 >= LARGE_BYTES;
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
        for (i, name) in self.names.iter().enumerate() {
            archive.start_file(format!("{name}.npy"), options)?;
            archive.write_all(&header(&format!("({count},)")))?;
            let mut begin = 0;
            for &rows in &self.rows {
                let bytes = rows as u64 * 8;
                frames.seek(SeekFrom::Start(begin + i as u64 * bytes))?;
                io::copy(&mut io::Read::take(&mut frames, bytes), &mut archive)?;
                begin += columns * bytes;
            }
        }
        archive.finish()?.into_inner().map_err(io::IntoInnerError::into_error)
    }
}
