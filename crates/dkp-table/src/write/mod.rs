//! Writing tables: to a temporary name in the same folder, which takes the final name when all is written.

#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "numpy")]
mod npy;
#[cfg(feature = "numpy")]
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use crate::format::STANDARD;
use crate::table::check_names;
use crate::{Column, Error, Format, Frame, Kind};
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes a table, a frame at a time; with the name `-` to standard output. Unless it is finished, nothing is left behind.
///
/// ```
/// use dkp_table::{Column, Format, Frame, Kind, Writer};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("out.csv");
/// let mut writer = Writer::create(&path, Format::Csv, &[("id".into(), Kind::Text), ("mean".into(), Kind::Number)])?;
/// writer.write(&Frame::new(0, vec![
///     ("id".into(), Column::Texts([Some("a, b")].into_iter().collect())),
///     ("mean".into(), Column::Numbers(vec![0.1])),
/// ])?)?;
/// assert!(!path.exists());
/// writer.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "id,mean\n\"a, b\",0.1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer {
    path: PathBuf,
    columns: Vec<(String, Kind)>,
    sink: Box<dyn Sink>,
}

/// A format's part of writing.
trait Sink {
    /// Adds rows; the columns are those of the table.
    fn write(&mut self, columns: &[&Column]) -> io::Result<()>;

    /// Ends the file, all of whose bytes are then given to the system.
    fn finish(self: Box<Self>) -> io::Result<NamedTempFile>;
}

impl Writer {
    /// Begins a table with these columns. Text columns need a format that holds text.
    pub fn create(path: &Path, format: Format, columns: &[(String, Kind)]) -> Result<Writer, Error> {
        let names: Vec<String> = columns.iter().map(|c| c.0.clone()).collect();
        check_names(&path.into(), &names)?;
        if !format.is_written() {
            return Err(Error::NotWritten { path: path.to_path_buf(), format });
        }
        if !format.holds_text()
            && let Some((name, _)) = columns.iter().find(|c| c.1 == Kind::Text)
        {
            let (path, column) = (path.to_path_buf(), name.clone());
            return Err(Error::TextColumn { path, column, format: format.name() });
        }
        let unwritten = || Error::NotBuilt { path: path.to_path_buf(), format, action: "written" };
        let begin = beginner(format).ok_or_else(unwritten)?;
        // standard output gets all of it in the end
        let sink = if path == Path::new(STANDARD) { NamedTempFile::new() } else { temporary(path) };
        let sink = sink.and_then(|file| begin(file, columns)).map_err(|source| write_error(path, source))?;
        Ok(Writer { path: path.to_path_buf(), columns: columns.to_vec(), sink })
    }

    /// Adds the rows of a frame. Its columns are found by name.
    pub fn write(&mut self, frame: &Frame) -> Result<(), Error> {
        let find = |(name, kind): &(String, Kind)| {
            let column = frame.column(name)?;
            // asked for what it is: a column of the other kind is an error
            match kind {
                Kind::Text => frame.texts(name).map(|_| column),
                Kind::Number | Kind::Written(_) | Kind::Date(_) | Kind::Bool => frame.numbers(name).map(|_| column),
            }
        };
        let columns = self.columns.iter().map(find).collect::<Result<Vec<&Column>, Error>>()?;
        self.sink.write(&columns).map_err(|source| write_error(&self.path, source))
    }

    /// Ends the table and gives it its name.
    pub fn finish(self) -> Result<(), Error> {
        let write = |source| write_error(&self.path, source);
        let mut file = self.sink.finish().map_err(write)?;
        if self.path == Path::new(STANDARD) {
            let copied = file.rewind().and_then(|()| io::copy(&mut file, &mut io::stdout().lock()));
            // whoever reads it may have seen enough
            let copied = copied.or_else(|e| if e.kind() == io::ErrorKind::BrokenPipe { Ok(0) } else { Err(e) });
            return copied.map(drop).map_err(|source| write_error(Path::new("standard output"), source));
        }
        file.as_file().sync_all().map_err(write)?;
        file.persist(&self.path).map(drop).map_err(|e| write(e.error))
    }
}

type Beginner = fn(NamedTempFile, &[(String, Kind)]) -> io::Result<Box<dyn Sink>>;

/// What begins files of a format, if it was built in.
fn beginner(format: Format) -> Option<Beginner> {
    match format {
        #[cfg(feature = "csv")]
        Format::Csv => Some(csv::begin),
        #[cfg(feature = "json")]
        Format::Json => Some(json::begin),
        #[cfg(feature = "parquet")]
        Format::Parquet => Some(parquet::begin),
        #[cfg(feature = "numpy")]
        Format::Npy => Some(npy::begin),
        #[cfg(feature = "numpy")]
        Format::Npz => Some(npz::begin),
        #[allow(unreachable_patterns)] // where all are built in
        _ => None,
    }
}

/// A temporary file in the folder of another, with the permissions of any new file.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    if path.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dkp-");
    #[cfg(unix)]
    let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn write_error(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_path_buf(), source }
}
