//! Every way in which a file can be wrong, and the one line that says so.

use crate::common::{folder, message, numbers, open, write_npy, write_npz};
use dkp_table::{Error, Format, Frame, Kind, ReadOptions, Table, Writer};

fn csv_message(content: &str, columns: &[(&str, Kind)]) -> String {
    let folder = folder();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, content).unwrap();
    let columns: Vec<(String, Kind)> = columns.iter().map(|(n, k)| (n.to_string(), *k)).collect();
    let outcome = Table::open(&path, &ReadOptions::default()).and_then(|t| t.read(&columns));
    message(&folder, outcome.unwrap_err())
}

const A: &[(&str, Kind)] = &[("a", Kind::Number)];

#[test]
fn files_that_are_no_tables() {
    let folder = folder();
    let open = |name: &str| message(&folder, open(&folder, name).unwrap_err());
    assert_eq!(open("none.csv"), "none.csv: there is no such file");
    std::fs::create_dir(folder.path().join("d.csv")).unwrap();
    assert_eq!(open("d.csv"), "d.csv is a folder: give a file");
    for name in ["e.csv", "e.jsonl", "e.parquet", "e.npy", "e.npz", "e.xlsx"] {
        std::fs::write(folder.path().join(name), "").unwrap();
        assert_eq!(open(name), format!("{name} is empty: expected a table"));
    }
    std::fs::write(folder.path().join("t.ods"), "a\n1\n").unwrap();
    assert_eq!(open("t.ods"), format!("t.ods: unknown kind of file: use {}", Format::EXTENSIONS));
    std::fs::write(folder.path().join("blank.csv"), "\n\r\n").unwrap();
    assert_eq!(open("blank.csv"), "blank.csv is empty: expected a table");
    std::fs::write(folder.path().join("u.csv"), b"gr\xf6\xdfe\n1\n").unwrap();
    assert_eq!(open("u.csv"), "u.csv: the header is not UTF-8: save the file as UTF-8");
    std::fs::write(folder.path().join("p.parquet"), "this is no Parquet file at all").unwrap();
    assert!(open("p.parquet").starts_with("p.parquet is damaged or not a Parquet file: "), "{}", open("p.parquet"));
    std::fs::write(folder.path().join("x.npy"), "this is no array").unwrap();
    assert_eq!(open("x.npy"), "x.npy is damaged or not a npy file: it does not begin with \\x93NUMPY");
    std::fs::write(folder.path().join("x.npz"), "this is no archive").unwrap();
    assert!(open("x.npz").starts_with("x.npz is damaged or not a npz file: "), "{}", open("x.npz"));
    std::fs::write(folder.path().join("x.xlsx"), "this is no workbook").unwrap();
    assert!(open("x.xlsx").starts_with("x.xlsx is damaged or not a xlsx file: "), "{}", open("x.xlsx"));
}

/// A row in the place of a header is noticed; years and counted columns are names.
#[test]
fn a_file_without_a_header_is_noticed() {
    let folder = folder();
    let opened = |header: &str| {
        std::fs::write(folder.path().join("t.csv"), format!("{header}\n{header}\n")).unwrap();
        open(&folder, "t.csv").map(|_| ()).map_err(|e| message(&folder, e))
    };
    for (header, text) in
        [("0.00632,18,2.31", "0.00632"), ("red,3,1.5", "1.5"), ("5,7,9", "5"), ("0;18,5;2", "0"), ("a;18,5;2", "18,5")]
    {
        let expected = format!(
            "t.csv: the first row has \"{text}\" where a column's name should be: add a row with names before it"
        );
        assert_eq!(opened(header), Err(expected), "{header}");
    }
    for header in ["country,1990,1991", "0,1,2", "1,2,3", "0", "a,b", "x1,x2"] {
        assert_eq!(opened(header), Ok(()), "{header}");
    }
}

#[test]
fn headers_that_cannot_be_used() {
    assert_eq!(csv_message("a,b\n", A), "t.csv has columns but no rows");
    assert_eq!(csv_message("a,b,a\n1,2,3\n", A), "t.csv: two columns are named \"a\": rename one");
    assert_eq!(
        csv_message(",a\n0,1\n", A),
        "t.csv: column 1 has no name: name it in the header (an index written by pandas goes away with index=False)"
    );
    assert_eq!(
        csv_message("\"a\nb\"\nx\n", &[("a\nb", Kind::Number)]),
        "t.csv: row 1 (line 3), column \"a\\nb\": \"x\" is not a number: correct it, or use --na \"x\" if it means a missing value"
    );
    assert_eq!(
        csv_message("colour,agee\n1,2\n", &[("Age", Kind::Number)]),
        "t.csv: there is no column \"Age\"; the nearest name is \"agee\""
    );
}

#[test]
fn rows_are_named_with_their_line_where_that_differs() {
    let advice = "quote cells that contain the delimiter, or set --delimiter";
    assert_eq!(csv_message("a,b\n1,2\n3\n", A), format!("t.csv: row 2 has 1 fields, but the header has 2: {advice}"));
    for end in ["\n", "\r\n", "\r"] {
        let rows = ["a,b", "1,2", "", "1,\"two", "lines\"", "", "x,2", ""].join(end);
        let na = "correct it, or use --na \"x\" if it means a missing value";
        let expected = format!("t.csv: row 3 (line 7), column \"a\": \"x\" is not a number: {na}");
        assert_eq!(csv_message(&rows, A), expected, "{end:?}");
    }
    let rows = "\u{feff}a,b\n1,\"\n\"\n1,2,3\n";
    assert_eq!(csv_message(rows, A), format!("t.csv: row 2 (line 4) has 3 fields, but the header has 2: {advice}"));
}

#[test]
fn cells_that_cannot_be_used() {
    let na = |text: &str| format!("correct it, or use --na \"{text}\" if it means a missing value");
    let number = csv_message("a\n1\nabc\n", A);
    assert_eq!(number, format!("t.csv: row 2, column \"a\": \"abc\" is not a number: {}", na("abc")));
    for text in ["inf", "-Infinity", "1e999"] {
        let infinite = csv_message(&format!("a\n1\n{text}\n"), A);
        assert_eq!(infinite, format!("t.csv: row 2, column \"a\": {text} is infinite: {}", na(text)));
    }
    let bool = csv_message("a\ntrue\nmaybe\n", &[("a", Kind::Bool)]);
    assert_eq!(bool, format!("t.csv: row 2, column \"a\": \"maybe\" is neither true nor false: {}", na("maybe")));
    let lines = csv_message("a\n\"x\ny\"\n", A);
    assert_eq!(lines, format!("t.csv: row 1, column \"a\": \"x\\ny\" is not a number: {}", na("x\\ny")));
}

#[test]
fn bytes_that_are_not_utf8_are_named_where_they_are_used() {
    let folder = folder();
    std::fs::write(folder.path().join("t.csv"), b"a,b\n1,fine\n2,caf\xe9\n").unwrap();
    let table = open(&folder, "t.csv").unwrap();
    let expected = "t.csv: row 2, column \"b\": the text is not UTF-8: save the file as UTF-8";
    assert_eq!(message(&folder, table.read(&[("b".into(), Kind::Text)]).unwrap_err()), expected);
    assert_eq!(message(&folder, table.read(&[("b".into(), Kind::Number)]).unwrap_err()).matches("fine").count(), 2);
    assert_eq!(table.read(&[("a".into(), Kind::Number)]).unwrap().numbers("a").unwrap(), [1.0, 2.0]);
    let survey = table.survey().unwrap();
    assert_eq!(message(&folder, survey.features(&["b".into()]).unwrap_err()), expected);
    assert!(survey.features(&["a".into()]).is_ok());
}

#[test]
fn arrays_that_do_not_fit() {
    let folder = folder();
    let vector = |n: usize| write_npy("<f8", false, &format!("({n},)"), &vec![0; 8 * n]);
    write_npz(&folder, "t.npz", &[("y", vector(3)), ("w", vector(2))], false);
    let error = message(&folder, open(&folder, "t.npz").unwrap_err());
    assert_eq!(error, "t.npz: array \"w\" has 2 rows, but \"y\" has 3: all must have equally many");
    std::fs::write(folder.path().join("s.npy"), write_npy("<f8", false, "(4, 2)", &[0; 63])).unwrap();
    let error = message(&folder, open(&folder, "s.npy").unwrap_err());
    assert_eq!(error, "s.npy is damaged or not a npy file: array \"x\" ends early");
    std::fs::write(folder.path().join("u.npy"), write_npy("<U3", false, "(1,)", &[0; 12])).unwrap();
    let error = message(&folder, open(&folder, "u.npy").unwrap_err());
    let advice = "expected numbers, booleans or text; use --ignore \"x\"";
    assert_eq!(error, format!("u.npy: column \"x\" is of type <U3: {advice}"));
    std::fs::write(folder.path().join("l.npy"), write_npy("<f\n9", false, "(1,)", &[0; 12])).unwrap();
    let error = message(&folder, open(&folder, "l.npy").unwrap_err());
    assert_eq!(error, format!("l.npy: column \"x\" is of type <f\\n9: {advice}"));
    std::fs::write(folder.path().join("z.npy"), write_npy("<f8", false, "(0, 2)", &[])).unwrap();
    assert_eq!(message(&folder, open(&folder, "z.npy").unwrap_err()), "z.npy has columns but no rows");
    let infinite = f64::NEG_INFINITY.to_le_bytes();
    std::fs::write(folder.path().join("i.npy"), write_npy("<f8", false, "(1,)", &infinite)).unwrap();
    let error = open(&folder, "i.npy").unwrap().read(&[("x0".into(), Kind::Number)]).unwrap_err();
    let advice = "correct it, or use --na \"-inf\" if it means a missing value";
    assert_eq!(message(&folder, error), format!("i.npy: row 1, column \"x0\": -inf is infinite: {advice}"));
}

#[test]
fn text_does_not_go_into_arrays() {
    let folder = folder();
    for (format, name) in [(Format::Npy, "npy"), (Format::Npz, "npz")] {
        let path = folder.path().join("t.out");
        let error = Writer::create(&path, format, &[("id".into(), Kind::Text)]).err().unwrap();
        let expected =
            format!("t.out: column \"id\" is text, which {name} files cannot hold here: write CSV or Parquet");
        assert_eq!(message(&folder, error), expected);
    }
}

#[test]
fn only_failures_to_write_are_the_outputs_fault() {
    let folder = folder();
    let path = folder.path().join("no such folder").join("t.csv");
    let error = Writer::create(&path, Format::Csv, &numbers(1)).err().unwrap();
    assert!(error.is_output());
    assert!(matches!(&error, Error::Write { source, .. } if source.kind() == std::io::ErrorKind::NotFound));
    assert_eq!(message(&folder, error), "no such folder/t.csv cannot be written");
    let error = Writer::create(folder.path(), Format::Csv, &numbers(1)).err().unwrap();
    assert!(error.is_output() && error.to_string().ends_with("cannot be written"));
    assert!(!open(&folder, "none.csv").unwrap_err().is_output());
    let mut writer = Writer::create(&folder.path().join("t.csv"), Format::Csv, &numbers(1)).unwrap();
    let error = writer.write(&Frame::new(0, vec![]).unwrap()).unwrap_err();
    assert_eq!((error.is_output(), error.to_string()), (false, "the frame has no column \"x0\"".to_string()));
}
