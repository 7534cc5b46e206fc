//! Formats that were built in are read; the others are errors that say so. With any features.

use dkp_table::{Column, Format, Frame, Kind, ReadOptions, Table, Writer};

#[test]
fn a_format_without_its_feature_is_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let files: [(&str, Format, bool, &[u8]); 5] = [
        ("t.csv", Format::Csv, cfg!(feature = "csv"), b"x0\n1\n"),
        ("t.jsonl", Format::Json, cfg!(feature = "json"), b"{"),
        ("t.parquet", Format::Parquet, cfg!(feature = "parquet"), b"PAR1"),
        ("t.npy", Format::Npy, cfg!(feature = "numpy"), b"\x93NUMPY"),
        ("t.npz", Format::Npz, cfg!(feature = "numpy"), b"PK\x03\x04"),
    ];
    let columns = [("x0".to_string(), Kind::Number)];
    let frame = Frame::new(0, vec![("x0".into(), Column::Numbers(vec![1.5, -2.0]))]).unwrap();
    for (name, format, built, start) in files {
        let path = folder.path().join(name);
        let refused = |action: &str| {
            let (path, kind, feature) = (path.display(), format.name(), format.feature());
            format!("{path}: {kind} files cannot be {action} here: built without the feature {feature}")
        };
        match Writer::create(&path, format, &columns) {
            Ok(mut writer) => {
                assert!(built);
                writer.write(&frame).unwrap();
                writer.finish().unwrap();
                let table = Table::open(&path, &ReadOptions::default()).unwrap();
                let name = table.names()[0].clone();
                assert_eq!(table.read(&[(name.clone(), Kind::Number)]).unwrap().numbers(&name).unwrap(), [1.5, -2.0]);
            }
            Err(error) => {
                assert!(!built);
                assert_eq!(error.to_string(), refused("written"));
                std::fs::write(&path, start).unwrap();
                let error = Table::open(&path, &ReadOptions::default()).unwrap_err();
                assert_eq!(error.to_string(), refused("read"));
            }
        }
    }
}

#[test]
fn workbooks_are_read_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.xlsx");
    let error = Writer::create(&path, Format::Xlsx, &[("x0".to_string(), Kind::Number)]).err().unwrap();
    let expected = format!("{}: xlsx files are not written: give another ending, such as .csv", path.display());
    assert_eq!(error.to_string(), expected);
    std::fs::write(&path, b"PK\x03\x04").unwrap();
    let error = Table::open(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error.ends_with("cannot be read here: built without the feature xlsx"), !cfg!(feature = "xlsx"));
}

#[test]
fn tables_in_memory_need_no_feature() {
    let table = Table::from_columns(vec![("a", vec![1.0, 2.0].into())], &[]).unwrap();
    assert_eq!(table.survey().unwrap().features(table.names()).unwrap().columns[0].1, Kind::Number);
}
