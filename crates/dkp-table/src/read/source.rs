//! What a text file is read from: itself, or where it is compressed, in UTF-16 or standard input, a temporary copy in plain UTF-8, since tables are read
//! more than once.

use crate::Error;
use crate::format::{GZIP, STANDARD, ZSTD};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const UTF_16_LITTLE: &[u8] = b"\xff\xfe";
const UTF_16_BIG: &[u8] = b"\xfe\xff";
/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that can be read again and again.
#[derive(Clone, Debug)]
pub struct Source {
    /// What messages call it.
    name: PathBuf,
    /// Itself, or a copy that has no name, so that nothing is left of it however the program ends.
    file: Arc<File>,
}

impl Source {
    /// Makes a copy where one is needed.
    pub fn of(path: &Path) -> Result<Source, Error> {
        let failed = |source| Error::Read { path: path.to_path_buf(), source };
        if path == Path::new(STANDARD) {
            let copy = plain(BufReader::new(io::stdin().lock())).map_err(failed)?;
            return Ok(Source::copied(Path::new("standard input"), copy));
        }
        let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(failed)?);
        let start = file.fill_buf().map_err(failed)?;
        let is_plain = ![GZIP, ZSTD, UTF_16_LITTLE, UTF_16_BIG].iter().any(|mark| start.starts_with(mark));
        let file = if is_plain { file.into_inner() } else { plain(file).map_err(failed)? };
        Ok(Source::copied(path, file))
    }

    /// What is read in the place of a file.
    pub fn copied(name: &Path, file: File) -> Source {
        Source { name: name.to_path_buf(), file: Arc::new(file) }
    }

    /// What messages call it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Reads it from a byte on.
    pub fn from(&self, start: u64) -> Reader {
        Reader { file: self.file.clone(), at: start }
    }
}

/// What reads a file, wherever others are that read it too.
#[derive(Debug)]
pub struct Reader {
    file: Arc<File>,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = read_at(&self.file, bytes, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, start)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, start)
}

/// A temporary copy without compression, in UTF-8.
fn plain<'a>(mut from: impl BufRead + 'a) -> io::Result<File> {
    let start = from.fill_buf()?;
    let mut expanded: Box<dyn BufRead + 'a> = if start.starts_with(GZIP) {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, flate2::bufread::MultiGzDecoder::new(from)))
    } else if start.starts_with(ZSTD) {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, zstd::Decoder::with_buffer(from)?))
    } else {
        Box::new(from)
    };
    let mut to = BufWriter::with_capacity(BUFFER_BYTES, tempfile::tempfile()?);
    let start = expanded.fill_buf()?;
    match (start.starts_with(UTF_16_LITTLE), start.starts_with(UTF_16_BIG)) {
        (true, _) => transcode(expanded, &mut to, u16::from_le_bytes)?,
        (_, true) => transcode(expanded, &mut to, u16::from_be_bytes)?,
        _ => drop(io::copy(&mut expanded, &mut to)?),
    }
    to.into_inner().map_err(io::IntoInnerError::into_error)
}

/// UTF-16 as UTF-8, with its mark.
fn transcode(mut from: impl Read, to: &mut impl Write, unit: fn([u8; 2]) -> u16) -> io::Result<()> {
    let (mut failed, mut pair) = (None, [0; 2]);
    let units = std::iter::from_fn(|| match from.read_exact(&mut pair) {
        Ok(()) => Some(unit(pair)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    for text in char::decode_utf16(units) {
        let text = text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "this is no UTF-16"))?;
        to.write_all(text.encode_utf8(&mut [0; 4]).as_bytes())?;
    }
    failed.map_or(Ok(()), Err)
}
