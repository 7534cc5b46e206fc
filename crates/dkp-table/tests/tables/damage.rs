//! Damaged files are errors of one line, or read as something else: never a panic.

use crate::common::{folder, message, numbers, write_npy, write_npz};
use dkp_table::{Column, Format, Frame, Kind, ReadOptions, Table, Writer};
use proptest::prelude::*;
use std::path::Path;
use std::sync::OnceLock;

/// A file's bytes with every kind of column that its format has.
fn whole(format: Format) -> Vec<u8> {
    let folder = folder();
    let path = folder.path().join("t");
    let values = |f: fn(usize) -> f64| Column::Numbers((0..300).map(f).collect());
    match format {
        Format::Parquet | Format::Json => {
            let names: Vec<String> = (0..300).map(|i| format!("name {}", i % 7)).collect();
            let columns = vec![
                ("x0".into(), values(|i| if i % 5 == 0 { f64::NAN } else { i as f64 / 7.0 })),
                ("x1".into(), values(|i| (i % 2) as f64)),
                ("x2".into(), Column::Texts(names.iter().map(|n| Some(n.as_str())).collect())),
            ];
            let kinds = [("x0".into(), Kind::Number), ("x1".into(), Kind::Bool), ("x2".into(), Kind::Text)];
            let mut writer = Writer::create(&path, format, &kinds).unwrap();
            writer.write(&Frame::new(0, columns).unwrap()).unwrap();
            writer.finish().unwrap();
        }
        Format::Npy => {
            let mut writer = Writer::create(&path, format, &numbers(2)).unwrap();
            let columns = vec![("x0".into(), values(|i| i as f64)), ("x1".into(), values(|i| -(i as f64)))];
            writer.write(&Frame::new(0, columns).unwrap()).unwrap();
            writer.finish().unwrap();
        }
        Format::Xlsx => {
            let mut book = rust_xlsxwriter::Workbook::new();
            let sheet = book.add_worksheet();
            for (i, name) in (0..).zip(["x0", "x1", "x2", "x3"]) {
                sheet.write(0, i, name).unwrap();
            }
            let date = rust_xlsxwriter::Format::new().set_num_format("yyyy-mm-dd");
            for row in 1..40 {
                sheet.write(row, 0, f64::from(row) / 7.0).unwrap();
                sheet.write(row, 1, row % 2 == 0).unwrap();
                sheet.write(row, 2, format!("name {}", row % 5)).unwrap();
                sheet.write_with_format(row, 3, 45_000 + row, &date).unwrap();
            }
            book.save(&path).unwrap();
        }
        Format::Npz | Format::Csv => {
            let data: Vec<u8> = (0..80).collect();
            let arrays =
                [("x", write_npy("<i2", false, "(10, 4)", &data)), ("y", write_npy("<f8", true, "(10,)", &data))];
            write_npz(&folder, "t", &arrays, format == Format::Csv);
        }
    }
    std::fs::read(&path).unwrap()
}

/// Reads all that can be read. A damaged file may still be a table; if not, one line must say so.
fn exercise(path: &Path) -> Result<(), String> {
    let one_line = |e: dkp_table::Error| {
        let text = e.to_string();
        if text.contains('\n') || e.is_output() { Err(text) } else { Ok(()) }
    };
    let table = match Table::open(path, &ReadOptions::default()) {
        Ok(table) => table,
        Err(error) => return one_line(error),
    };
    if let Err(error) = table.survey() {
        one_line(error)?;
    }
    for name in table.names() {
        for kind in [Kind::Number, Kind::Bool, Kind::Text] {
            if let Err(error) = table.read(&[(name.clone(), kind)]) {
                one_line(error)?;
            }
        }
    }
    Ok(())
}

/// One of the files: Parquet, npy, npz, npz with compression, a workbook, and JSON lines.
fn original(which: usize) -> (&'static [u8], &'static str) {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let formats = [Format::Parquet, Format::Npy, Format::Npz, Format::Csv, Format::Xlsx, Format::Json];
    let files = FILES.get_or_init(|| formats.into_iter().map(whole).collect());
    (&files[which], ["t.parquet", "t.npy", "t.npz", "t.npz", "t.xlsx", "t.jsonl"][which])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn changed_bytes_never_panic(which in 0..6_usize, changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4), at_end in any::<bool>()) {
        let (bytes, name) = original(which);
        let mut bytes = bytes.to_vec();
        for (index, value) in changes {
            // headers and footers are where the structure is
            let range = if at_end { bytes.len().saturating_sub(1500)..bytes.len() } else { 0..bytes.len() };
            bytes[range.start + index.index(range.len())] = value;
        }
        let folder = folder();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        prop_assert_eq!(exercise(&folder.path().join(name)), Ok(()));
    }
}

#[test]
fn a_change_of_any_one_byte_never_panics() {
    let folder = folder();
    for which in 0..6 {
        let (bytes, name) = original(which);
        // the numbers of an array are not structure
        let (head, tail) = if which == 0 { (1000, 1500) } else { (200, 400) };
        let structure = (0..bytes.len()).filter(|i| *i < head || i + tail > bytes.len());
        for (i, mask) in structure.flat_map(|i| [(i, 0x01), (i, 0xff)]) {
            let mut bytes = bytes.to_vec();
            bytes[i] ^= mask;
            std::fs::write(folder.path().join(name), bytes).unwrap();
            assert_eq!(exercise(&folder.path().join(name)), Ok(()), "byte {i} of {name}");
        }
    }
}

#[test]
fn every_truncation_is_an_error_of_one_line() {
    let folder = folder();
    // some lines of a file of lines are one too
    for which in 0..5 {
        let (bytes, name) = original(which);
        let path = folder.path().join(name);
        for length in (0..bytes.len()).step_by(bytes.len() / 400 + 1).chain(bytes.len() - 12..bytes.len()) {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let error = Table::open(&path, &ReadOptions::default()).expect_err("a truncated file was opened");
            let text = message(&folder, error);
            assert!(text.starts_with(&format!("{name} is ")), "{text}");
        }
    }
}

#[test]
fn a_damaged_page_is_told_as_such() {
    let folder = folder();
    let (bytes, name) = original(0);
    let mut bytes = bytes.to_vec();
    // the first page's header
    bytes[4..24].fill(0xff);
    std::fs::write(folder.path().join(name), bytes).unwrap();
    let table = Table::open(&folder.path().join(name), &ReadOptions::default()).unwrap();
    let text = message(&folder, table.read(&[("x0".into(), Kind::Number)]).unwrap_err());
    assert!(text.starts_with("t.parquet is damaged or not a Parquet file: "), "{text}");
}

#[test]
fn a_changed_number_in_an_archive_is_noticed_by_its_checksum() {
    let folder = folder();
    let (bytes, name) = original(2);
    let mut bytes = bytes.to_vec();
    let data = bytes.windows(4).position(|w| w == [4, 5, 6, 7]).unwrap();
    bytes[data] ^= 1;
    std::fs::write(folder.path().join(name), bytes).unwrap();
    let text = message(&folder, Table::open(&folder.path().join(name), &ReadOptions::default()).unwrap_err());
    assert!(text.starts_with("t.npz is damaged or not a npz file: array \"x\": "), "{text}");
}
