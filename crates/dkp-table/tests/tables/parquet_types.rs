//! Parquet files as other programs write them.

use crate::common::{folder, message, open};
use dkp_table::{DateForm, Kind, Table};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;
use tempfile::TempDir;

/// A file with two row groups of the same three values in each column, of which an optional one lacks the second.
fn written(folder: &TempDir, fields: &str) -> Table {
    let schema = Arc::new(parse_message_type(&format!("message t {{ {fields} }}")).unwrap());
    let file = std::fs::File::create(folder.path().join("t.parquet")).unwrap();
    let properties = Arc::new(WriterProperties::builder().set_dictionary_enabled(true).build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    for _ in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        while let Some(mut column) = group.next_column().unwrap() {
            write_values(column.untyped());
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    open(folder, "t.parquet").unwrap()
}

fn write_values(column: &mut ColumnWriter<'_>) {
    let (optional, repeated) = match column {
        ColumnWriter::Int64ColumnWriter(w) => {
            (w.get_descriptor().max_def_level() > 0, w.get_descriptor().max_rep_level() > 0)
        }
        ColumnWriter::ByteArrayColumnWriter(w) => (w.get_descriptor().max_def_level() > 0, false),
        _ => (false, false),
    };
    let levels = optional.then_some(&[1_i16, 0, 1][..]);
    let repeats = repeated.then_some(&[0_i16, 0, 0][..]);
    let count = if optional { 2 } else { 3 };
    let bytes = |of: [&'static [u8]; 3]| of.map(|b| ByteArray::from(b.to_vec()));
    let fixed = |of: [&'static [u8]; 3]| bytes(of).map(FixedLenByteArray::from);
    match column {
        ColumnWriter::BoolColumnWriter(w) => w.write_batch(&[true, false, true], None, None),
        ColumnWriter::Int32ColumnWriter(w) => w.write_batch(&[-1, 0, 19_782], None, None),
        ColumnWriter::Int64ColumnWriter(w) => w.write_batch(&[-1, i64::MAX, 5][..count], levels, repeats),
        ColumnWriter::Int96ColumnWriter(w) => w.write_batch(&[Int96::from(vec![0, 0, 2_440_589]); 3], None, None),
        ColumnWriter::FloatColumnWriter(w) => w.write_batch(&[0.1, f32::NAN, 2.0], None, None),
        ColumnWriter::DoubleColumnWriter(w) => w.write_batch(&[0.1, f64::INFINITY, 2.0], None, None),
        ColumnWriter::ByteArrayColumnWriter(w) if optional => {
            w.write_batch(&bytes([b"NA", "é".as_bytes(), b""])[..count], levels, None)
        }
        ColumnWriter::ByteArrayColumnWriter(w) => w.write_batch(&bytes([b"NA", b"\xff", b""]), None, None),
        ColumnWriter::FixedLenByteArrayColumnWriter(w) => {
            w.write_batch(&fixed([b"\x00\x3c", b"\xff\xfe", b"\x00\xc0"]), None, None)
        }
    }
    .unwrap();
}

fn numbers(field: &str) -> Vec<f64> {
    let folder = folder();
    let frame = written(&folder, &format!("{field};")).read(&[("c".into(), Kind::Number)]).unwrap();
    let numbers = frame.numbers("c").unwrap();
    assert_eq!(numbers.len(), 6);
    assert!(numbers[..3].iter().zip(&numbers[3..]).all(|(a, b)| a == b || a.is_nan()));
    numbers[..3].to_vec()
}

fn texts(field: &str) -> Vec<Option<String>> {
    let folder = folder();
    let frame = written(&folder, &format!("{field};")).read(&[("c".into(), Kind::Text)]).unwrap();
    frame.texts("c").unwrap().iter().take(3).map(|t| t.map(str::to_string)).collect()
}

fn some(of: [&str; 3]) -> Vec<Option<String>> {
    of.map(|t| Some(t.to_string())).to_vec()
}

#[test]
fn numbers_of_all_types() {
    assert_eq!(numbers("required boolean c"), [1.0, 0.0, 1.0]);
    assert_eq!(numbers("required int32 c"), [-1.0, 0.0, 19_782.0]);
    assert_eq!(numbers("required int32 c (INTEGER(32,false))"), [4_294_967_295.0, 0.0, 19_782.0]);
    assert_eq!(numbers("required int32 c (UINT_32)"), [4_294_967_295.0, 0.0, 19_782.0]);
    assert_eq!(numbers("required int32 c (DECIMAL(9,2))"), [-0.01, 0.0, 197.82]);
    assert_eq!(numbers("required int64 c"), [-1.0, i64::MAX as f64, 5.0]);
    let float = numbers("required float c");
    assert_eq!((float[0], float[1].is_nan(), float[2]), (f64::from(0.1_f32), true, 2.0));
    let half = numbers("required fixed_len_byte_array(2) c (FLOAT16)");
    assert_eq!((half[0], half[2]), (1.0, -2.0));
    // big-endian: 0x003c, 0xfffe, 0x00c0
    assert_eq!(numbers("required fixed_len_byte_array(2) c (DECIMAL(4,1))"), [6.0, -0.2, 19.2]);
    let optional = numbers("optional int64 c");
    assert_eq!((optional[0], optional[1].is_nan(), optional[2]), (-1.0, true, i64::MAX as f64));
}

#[test]
fn text_of_all_types() {
    // in a file with types, only null is missing
    assert_eq!(texts("optional byte_array c (UTF8)"), [Some("NA".into()), None, Some("é".into())]);
    assert_eq!(texts("required boolean c"), some(["true", "false", "true"]));
    assert_eq!(texts("required int64 c"), some(["-1", "9223372036854775807", "5"]));
    assert_eq!(texts("required float c"), [Some("0.1".into()), None, Some("2".into())]);
    assert_eq!(texts("required int32 c (DATE)"), some(["1969-12-31", "1970-01-01", "2024-02-29"]));
    assert_eq!(texts("required int64 c (TIMESTAMP(MILLIS,true))")[2], Some("1970-01-01T00:00:00.005".into()));
    assert_eq!(texts("required int64 c (TIMESTAMP_MICROS)")[0], Some("1969-12-31T23:59:59.999999".into()));
    assert_eq!(texts("required int96 c")[0], Some("1970-01-02T00:00:00".into()));
}

#[test]
fn columns_that_cannot_be_features_say_so() {
    let folder = folder();
    let table =
        written(&folder, "required int32 day (DATE); repeated int64 list; required double size; required boolean yes;");
    assert_eq!(table.names(), ["day", "list", "size", "yes"]);
    let survey = table.survey().unwrap();
    let feature = |name: &str| survey.features(&[name.to_string()]).map_err(|e| message(&folder, e));
    let day = feature("day").unwrap().columns;
    assert_eq!(day[0].1, Kind::Date(DateForm::Iso));
    assert_eq!(table.read(&day).unwrap().numbers("day").unwrap()[..3], [-1.0, 0.0, 19_782.0]);
    let unsupported = "t.parquet: column \"list\" is of type a nested list, map or struct: expected numbers, booleans or text; use --ignore \"list\"";
    assert_eq!(feature("list").unwrap_err(), unsupported);
    assert_eq!(message(&folder, table.read(&[("list".into(), Kind::Number)]).unwrap_err()), unsupported);
    let infinite = "t.parquet: row 2, column \"size\": inf is infinite: correct it, or use --na \"inf\" if it means a missing value";
    assert_eq!(feature("size").unwrap_err(), infinite);
    assert_eq!(message(&folder, table.read(&[("size".into(), Kind::Number)]).unwrap_err()), infinite);
    assert_eq!(feature("yes").unwrap().columns[0].1, Kind::Bool);
    let number = table.read(&[("day".into(), Kind::Number)]).unwrap_err();
    assert!(message(&folder, number).starts_with("t.parquet: row 1, column \"day\": \"1969-12-31\" is not a number"));
    let date = table.read(&[("size".into(), Kind::Date(DateForm::Iso))]).unwrap_err();
    assert!(message(&folder, date).starts_with("t.parquet: row 1, column \"size\": "), "no date");
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let folder = folder();
    let table = written(&folder, "required byte_array c;");
    let text = message(&folder, table.read(&[("c".into(), Kind::Text)]).unwrap_err());
    assert_eq!(text, "t.parquet: row 2, column \"c\": the text is not UTF-8: save the file as UTF-8");
}

#[test]
fn rows_are_counted_across_row_groups() {
    let folder = folder();
    let table = written(&folder, "required int64 c; required boolean b;");
    let frames = table.frames(&[("b".into(), Kind::Number), ("c".into(), Kind::Number)], 4).unwrap();
    let sizes: Vec<(usize, usize)> = frames.map(Result::unwrap).map(|f| (f.first(), f.rows())).collect();
    assert_eq!(sizes, [(0, 4), (4, 2)]);
}
