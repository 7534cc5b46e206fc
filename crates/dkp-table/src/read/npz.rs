//! Archives of NumPy arrays.

use super::Opened;
use super::npy::{Array, Arrays, Header};
use crate::{Error, ReadOptions};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use zip::{CompressionMethod, ZipArchive};

/// Opens an .npz file. All of it is read once: checksums are compared, and what is compressed is unpacked into a temporary file.
pub fn open(path: &Path, _options: &ReadOptions) -> Result<Opened, Error> {
    let file = File::open(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
    let fail = |reason: String| damaged(path, &reason);
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|e| fail(e.to_string()))?;
    let (mut spool, mut spooled, mut list) = (None, 0, Vec::new());
    for i in 0..archive.len() {
        list.push(array(path, &mut archive, i, &mut spool, &mut spooled)?);
    }
    let mut usable = list.iter().filter(|a| a.item.is_ok());
    let Some(first) = usable.next() else { return Err(fail("it holds no arrays of numbers".to_string())) };
    if let Some(other) = usable.find(|a| a.rows != first.rows) {
        let name = |a: &Array| a.names.first().cloned().unwrap_or_default();
        return Err(Error::UnequalLengths {
            origin: path.into(),
            first: name(first),
            expected: first.rows,
            second: name(other),
            found: other.rows,
        });
    }
    if first.rows == 0 {
        return Err(Error::NoRows { origin: path.into() });
    }
    Ok(Arrays { path: path.to_path_buf(), rows: first.rows, list, spool }.opened())
}

fn damaged(path: &Path, reason: &str) -> Error {
    Error::damaged(path, "npz", reason)
}

/// Array i of an archive. `spooled` bytes are in the temporary file so far.
fn array(
    path: &Path,
    archive: &mut ZipArchive<BufReader<File>>,
    i: usize,
    spool: &mut Option<NamedTempFile>,
    spooled: &mut u64,
) -> Result<Array, Error> {
    let fail = |reason: String| damaged(path, &reason);
    let mut entry = archive.by_index(i).map_err(|e| fail(e.to_string()))?;
    let name = entry.name().map_err(|e| fail(e.to_string()))?.into_owned();
    let name = name.strip_suffix(".npy").unwrap_or(&name).to_string();
    let data = entry.data_start();
    let stored = entry.compression() == CompressionMethod::Stored && data.is_some();
    let header = Header::read(&mut entry).map_err(|reason| fail(format!("array \"{name}\": {reason}")))?;
    let unreadable = |e: io::Error| fail(format!("array \"{name}\": {e}"));
    let (start, length) = if stored {
        (data.unwrap_or(0) + header.bytes, io::copy(&mut entry, &mut io::sink()).map_err(unreadable)?)
    } else {
        if spool.is_none() {
            *spool = Some(NamedTempFile::new().map_err(|source| write_error(&std::env::temp_dir(), source))?);
        }
        let start = *spooled;
        if let Some(file) = spool {
            *spooled += unpack(&mut entry, file, unreadable)?;
        }
        (start, *spooled - start)
    };
    Array::new(&name, &header, start, length, !stored).map_err(fail)
}

fn write_error(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_path_buf(), source }
}

/// Copies, and tells whether reading or writing failed.
fn unpack(from: &mut impl Read, to: &mut NamedTempFile, unreadable: impl Fn(io::Error) -> Error) -> Result<u64, Error> {
    let (mut buffer, mut count) = (vec![0; 1 << 16], 0);
    loop {
        let n = from.read(&mut buffer).map_err(&unreadable)?;
        if n == 0 {
            return Ok(count);
        }
        to.write_all(&buffer[..n]).map_err(|source| write_error(to.path(), source))?;
        count += n as u64;
    }
}
