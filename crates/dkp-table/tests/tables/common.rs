//! What the tests share: a folder of files, and arrays as NumPy writes them.

use dkp_table::{Error, Kind, ReadOptions, Table};
use std::io::Write as _;
use tempfile::TempDir;

/// A folder that goes away.
pub fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A table of the folder.
pub fn open(folder: &TempDir, name: &str) -> Result<Table, Error> {
    Table::open(&folder.path().join(name), &ReadOptions::default())
}

/// A CSV file of the folder, opened.
pub fn csv(folder: &TempDir, content: &str) -> Table {
    std::fs::write(folder.path().join("t.csv"), content).unwrap();
    open(folder, "t.csv").unwrap()
}

/// What an error says, without the folder's path. It is one line.
pub fn message(folder: &TempDir, error: Error) -> String {
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text:?} has several lines");
    text.replace(&format!("{}/", folder.path().display()), "")
}

/// Columns x0, x1, … of numbers.
pub fn numbers(count: usize) -> Vec<(String, Kind)> {
    (0..count).map(|i| (format!("x{i}"), Kind::Number)).collect()
}

/// An array in NumPy's format, version 1.
pub fn write_npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), data].concat()
}

/// An archive of arrays.
pub fn write_npz(folder: &TempDir, name: &str, arrays: &[(&str, Vec<u8>)], compressed: bool) {
    let method = if compressed { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut archive = zip::ZipWriter::new(std::fs::File::create(folder.path().join(name)).unwrap());
    for (array, bytes) in arrays {
        archive.start_file(format!("{array}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}
