//! What is done with any bytes: they are opened as a file, and all that can be read is read. A mistake must be an error of one line.

use dkp_fit::Fitted;
use dkp_table::{Column, Frame, Kind, ReadOptions, Table};
use sha2::{Digest as _, Sha256};
use std::fmt::Display;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::Once;
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What archives have between their parts here.
pub const SEPARATOR: &[u8] = b"\n--\n";
/// The parts of a workbook that are tried.
pub const PARTS: [&str; 4] = ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml", "xl/workbook.xml"];
/// And the rest of it; a part that is not given is one of these too.
pub const REST: [(&str, &str); 4] = [
    (
        "_rels/.rels",
        "<Relationships><Relationship Id=\"r\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<Relationships><Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>",
    ),
    ("xl/workbook.xml", "<workbook><sheets><sheet name=\"a\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"),
    (
        "xl/styles.xml",
        "<styleSheet><cellXfs count=\"3\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"46\"/></cellXfs></styleSheet>",
    ),
];

/// Opens a table, surveys it and reads all columns as all that they could be.
pub fn table(bytes: &[u8], ending: &str) {
    let file = file(bytes, ending);
    let Some(table) = checked(Table::open(file.path(), &ReadOptions::default())) else { return };
    if let Some(survey) = checked(table.survey()) {
        for name in table.names() {
            checked(survey.features(std::slice::from_ref(name)));
            checked(survey.target(name, false));
        }
    }
    for kind in [Kind::Number, Kind::Bool, Kind::Text] {
        let columns: Vec<(String, Kind)> = table.names().iter().map(|n| (n.clone(), kind)).collect();
        checked(table.read(&columns));
    }
}

/// Loads a model whose checksum is made right, and predicts a row.
pub fn model(bytes: &[u8]) {
    let file = file(&signed(bytes), ".dkp");
    let Some(fitted) = checked(Fitted::load(file.path())) else { return };
    let column = |(name, kind): (String, Kind)| match kind {
        Kind::Text => (name, Column::Texts([Some("a")].into_iter().collect())),
        _ => (name, Column::Numbers(vec![1.0])),
    };
    let columns = fitted.card.columns().into_iter().map(column).collect();
    let Some(frame) = checked(Frame::new(0, columns)) else { return };
    if let Some(predictions) = checked(fitted.predict_frame(&frame, 2, 0)) {
        predictions.columns(&[0.05, 0.5], true);
    }
}

/// Parts with their names, and the rest.
pub fn archive(parts: &[u8], names: &[&str], rest: &[(&str, &str)]) -> Vec<u8> {
    let parts = split(parts);
    let given = names.iter().copied().zip(parts.iter().copied());
    let rest = rest.iter().filter(|(name, _)| !names[..parts.len().min(names.len())].contains(name));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in rest.map(|(name, text)| (*name, text.as_bytes())).chain(given) {
        // writing into memory cannot fail
        let _ = writer.start_file(name, options).map(|()| writer.write_all(bytes));
    }
    writer.finish().map(Cursor::into_inner).unwrap_or_default()
}

/// What is between separators.
fn split(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while let Some(at) = bytes.windows(SEPARATOR.len()).position(|w| w == SEPARATOR) {
        parts.push(&bytes[..at]);
        bytes = &bytes[at + SEPARATOR.len()..];
    }
    parts.push(bytes);
    parts
}

/// Bytes of a model file in which the checksum is that of the bytes.
fn signed(bytes: &[u8]) -> Vec<u8> {
    const KEY: &[u8] = b"sha256\\\":\\\"";
    const DIGITS: usize = 64;
    let mut bytes = bytes.to_vec();
    let at = bytes.windows(KEY.len()).rposition(|w| w == KEY).map(|at| at + KEY.len());
    let Some(at) = at.filter(|at| at + DIGITS <= bytes.len()) else { return bytes };
    bytes[at..at + DIGITS].fill(b'0');
    let digest: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
    bytes[at..at + DIGITS].copy_from_slice(digest.as_bytes());
    bytes
}

/// A file of these bytes, in memory where there is such a folder.
fn file(bytes: &[u8], ending: &str) -> NamedTempFile {
    static START: Once = Once::new();
    START.call_once(|| {
        // a panic that a reader catches is no finding
        dkp_table::silence_caught_panics();
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            let _ = tempfile::env::override_temp_dir(memory);
        }
    });
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().expect("a temporary file");
    file.write_all(bytes).expect("a temporary file");
    file
}

/// The value, or nothing; a message must be one line.
fn checked<T, E: Display>(outcome: Result<T, E>) -> Option<T> {
    outcome.map_err(|e| assert!(!e.to_string().contains('\n'), "several lines: {e}")).ok()
}
