//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a file under a temporary name beside it, then renames it.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".{}.partial", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let outcome = written.and_then(|()| std::fs::rename(&temporary, path));
    if outcome.is_err() {
        // what could not be written must not stay
        let _ = std::fs::remove_file(&temporary);
    }
    outcome
}
