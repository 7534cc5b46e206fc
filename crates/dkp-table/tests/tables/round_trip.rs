//! What is written is read back equal.

use crate::common::{folder, numbers, open};
use dkp_table::{Column, Format, Frame, Kind, Writer};
use proptest::prelude::*;

/// Numbers of all sizes, and missing ones.
fn number() -> impl Strategy<Value = f64> {
    let extremes = [0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.1, 1e15, 1e16, 1e17, 1e-5, 9.9e-6];
    prop_oneof![
        4 => any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite()),
        2 => proptest::sample::select(extremes.to_vec()),
        1 => Just(f64::NAN),
    ]
}

/// Texts with all that is awkward in CSV.
fn text() -> impl Strategy<Value = Option<String>> {
    let parts =
        ["\"", ",", ";", "\n", "\r\n", "\r", "\t", " ", "é", "日本", "🦀", "a", "NA", "1", "\u{feff}", "\0", "'"];
    let joined = proptest::collection::vec(proptest::sample::select(parts.to_vec()), 1..6).prop_map(|p| p.concat());
    proptest::option::weighted(0.8, joined)
}

/// A frame with a column of each kind.
fn frame() -> impl Strategy<Value = Frame> {
    let bool = prop_oneof![Just(0.0), Just(1.0), Just(f64::NAN)];
    proptest::collection::vec((number(), text(), bool), 1..20).prop_map(|rows| {
        let columns = vec![
            ("number; of; many; |things|".into(), Column::Numbers(rows.iter().map(|r| r.0).collect())),
            ("text, \"quoted\"".into(), Column::Texts(rows.iter().map(|r| r.1.as_deref()).collect())),
            ("truth".into(), Column::Numbers(rows.iter().map(|r| r.2).collect())),
        ];
        Frame::new(0, columns).unwrap()
    })
}

fn kinds(frame: &Frame) -> Vec<(String, Kind)> {
    let kinds = [Kind::Number, Kind::Text, Kind::Bool];
    frame.columns().iter().zip(kinds).map(|(c, kind)| (c.0.clone(), kind)).collect()
}

/// Writes a frame in two parts, and reads it.
fn there_and_back(frame: &Frame, name: &str, format: Format, kinds: &[(String, Kind)]) -> Frame {
    let folder = folder();
    let mut writer = Writer::create(&folder.path().join(name), format, kinds).unwrap();
    for rows in [0..frame.rows() / 2, frame.rows() / 2..frame.rows()] {
        let part = |column: &Column| match column {
            Column::Numbers(numbers) => Column::Numbers(numbers[rows.clone()].to_vec()),
            Column::Texts(texts) => Column::Texts(rows.clone().map(|i| texts.get(i)).collect()),
        };
        let columns = frame.columns().iter().map(|(name, column)| (name.clone(), part(column))).collect();
        writer.write(&Frame::new(rows.start, columns).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left, [name]);
    open(&folder, name).unwrap().read(kinds).unwrap()
}

/// Equal to the bit; any two NaN are equal.
fn same(a: &Frame, b: &Frame) -> bool {
    a.rows() == b.rows()
        && a.columns().iter().zip(b.columns()).all(|(a, b)| match (&a.1, &b.1) {
            (Column::Numbers(a), Column::Numbers(b)) => {
                a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
            }
            (a, b) => a == b,
        })
}

/// In CSV, text that says missing is missing.
fn as_csv_has_it(frame: &Frame) -> Frame {
    let blank = |t: &str| t.bytes().all(|b| b.is_ascii_whitespace()) || t.trim_ascii() == "NA";
    let change = |(name, column): &(String, Column)| match column {
        Column::Texts(texts) => (name.clone(), Column::Texts(texts.iter().map(|t| t.filter(|t| !blank(t))).collect())),
        Column::Numbers(_) => (name.clone(), column.clone()),
    };
    Frame::new(0, frame.columns().iter().map(change).collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn csv_is_read_as_written(frame in frame()) {
        let read = there_and_back(&frame, "t.csv", Format::Csv, &kinds(&frame));
        prop_assert!(same(&read, &as_csv_has_it(&frame)), "{read:?}");
    }

    #[test]
    fn parquet_is_read_as_written(frame in frame()) {
        let read = there_and_back(&frame, "t.parquet", Format::Parquet, &kinds(&frame));
        prop_assert!(same(&read, &frame), "{read:?}");
    }

    #[test]
    fn json_lines_are_read_as_written(frame in frame()) {
        let read = there_and_back(&frame, "t.jsonl", Format::Json, &kinds(&frame));
        prop_assert!(same(&read, &frame), "{read:?}");
    }

    #[test]
    fn arrays_are_read_as_written(a in proptest::collection::vec((number(), number()), 1..9)) {
        let (x0, x1) = a.into_iter().unzip();
        let frame = Frame::new(0, vec![("x0".into(), Column::Numbers(x0)), ("x1".into(), Column::Numbers(x1))]).unwrap();
        for (name, format) in [("t.npy", Format::Npy), ("t.npz", Format::Npz)] {
            let read = there_and_back(&frame, name, format, &numbers(2));
            prop_assert!(same(&read, &frame), "{name}: {read:?}");
        }
    }
}

#[test]
fn a_single_column_keeps_its_missing_rows() {
    let frame = Frame::new(0, vec![("x0".into(), Column::Numbers(vec![f64::NAN, 1.0, f64::NAN]))]).unwrap();
    assert!(same(&there_and_back(&frame, "t.csv", Format::Csv, &numbers(1)), &frame));
}

#[cfg(unix)]
#[test]
fn a_written_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    std::fs::write(folder.path().join("any"), "").unwrap();
    Writer::create(&folder.path().join("t.csv"), Format::Csv, &numbers(1)).unwrap().finish().unwrap();
    assert_eq!(mode("t.csv"), mode("any"));
}

#[test]
fn an_unfinished_writer_leaves_nothing_and_a_finished_one_replaces() {
    let folder = folder();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let path = folder.path().join("t");
    let frame = Frame::new(0, vec![("x0".into(), Column::Numbers(vec![1.0]))]).unwrap();
    for format in [Format::Csv, Format::Json, Format::Parquet, Format::Npy, Format::Npz] {
        std::fs::write(&path, "before").unwrap();
        let mut writer = Writer::create(&path, format, &numbers(1)).unwrap();
        writer.write(&frame).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        drop(writer);
        assert_eq!((files(), std::fs::read(&path).unwrap()), (1, b"before".to_vec()));
        let mut writer = Writer::create(&path, format, &numbers(1)).unwrap();
        writer.write(&frame).unwrap();
        writer.finish().unwrap();
        assert_eq!(files(), 1);
        assert_ne!(std::fs::read(&path).unwrap(), b"before");
    }
}
