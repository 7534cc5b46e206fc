//! What a text file is read from: itself, or where it is compressed, in UTF-16 or standard input, a temporary copy in plain UTF-8, since tables are read
//! more than once.

use crate::Error;
use crate::format::{GZIP, STANDARD, ZSTD};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::{NamedTempFile, TempPath};

const UTF_16_LITTLE: &[u8] = b"\xff\xfe";
const UTF_16_BIG: &[u8] = b"\xfe\xff";
/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that can be read again and again.
#[derive(Clone, Debug)]
pub struct Source {
    /// What messages call it.
    name: PathBuf,
    /// The copy that is read, which goes away with the last of its readers.
    copy: Option<Arc<TempPath>>,
}

impl Source {
    /// Makes a copy where one is needed.
    pub fn of(path: &Path) -> Result<Source, Error> {
        let failed = |source| Error::Read { path: path.to_path_buf(), source };
        if path == Path::new(STANDARD) {
            let copy = plain(BufReader::new(io::stdin().lock())).map_err(failed)?;
            return Ok(Source { name: "standard input".into(), copy: Some(Arc::new(copy)) });
        }
        let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(failed)?);
        let start = file.fill_buf().map_err(failed)?;
        let is_plain = ![GZIP, ZSTD, UTF_16_LITTLE, UTF_16_BIG].iter().any(|mark| start.starts_with(mark));
        let copy = if is_plain { None } else { Some(Arc::new(plain(file).map_err(failed)?)) };
        Ok(Source { name: path.to_path_buf(), copy })
    }

    /// A copy that is made.
    #[cfg(feature = "xlsx")]
    pub fn copied(path: &Path, copy: TempPath) -> Source {
        Source { name: path.to_path_buf(), copy: Some(Arc::new(copy)) }
    }

    /// What messages call it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Opens it from its start.
    pub fn open(&self) -> io::Result<File> {
        match &self.copy {
            Some(copy) => File::open(&**copy),
            None => File::open(&self.name),
        }
    }
}

/// A temporary copy without compression, in UTF-8.
fn plain<'a>(mut from: impl BufRead + 'a) -> io::Result<TempPath> {
    let start = from.fill_buf()?;
    let mut expanded: Box<dyn BufRead + 'a> = if start.starts_with(GZIP) {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, flate2::bufread::MultiGzDecoder::new(from)))
    } else if start.starts_with(ZSTD) {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, zstd::Decoder::with_buffer(from)?))
    } else {
        Box::new(from)
    };
    let mut to = BufWriter::with_capacity(BUFFER_BYTES, NamedTempFile::new()?);
    let start = expanded.fill_buf()?;
    match (start.starts_with(UTF_16_LITTLE), start.starts_with(UTF_16_BIG)) {
        (true, _) => transcode(expanded, &mut to, u16::from_le_bytes)?,
        (_, true) => transcode(expanded, &mut to, u16::from_be_bytes)?,
        _ => drop(io::copy(&mut expanded, &mut to)?),
    }
    Ok(to.into_inner().map_err(io::IntoInnerError::into_error)?.into_temp_path())
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
