//! What is read is what the file says.

use crate::common::{csv, folder, message, open, write_npy, write_npz};
use dkp_table::{Format, Kind, ReadOptions, Table};
use std::io::Write as _;

fn columns(of: &[(&str, Kind)]) -> Vec<(String, Kind)> {
    of.iter().map(|(n, k)| (n.to_string(), *k)).collect()
}

#[test]
fn delimiters_are_found_in_the_header_outside_of_quotes() {
    let folder = folder();
    for (content, names) in [
        ("a,b\n1,2\n", vec!["a", "b"]),
        ("a;b,c;d\n1;2;3\n", vec!["a", "b,c", "d"]),
        ("a\tb\n1\t2\n", vec!["a", "b"]),
        ("a|b\r\n1|2\r\n", vec!["a", "b"]),
        ("\"a;;;\",b\n1,2\n", vec!["a;;;", "b"]),
        ("\u{feff}\"a\nb\",c\n1,2\n", vec!["a\nb", "c"]),
        ("only\n1;2\n", vec!["only"]),
        ("\n\na;b\n1;2\n", vec!["a", "b"]),
    ] {
        assert_eq!(csv(&folder, content).names(), names, "{content:?}");
    }
    let options = ReadOptions { delimiter: Some(b':'), ..ReadOptions::default() };
    std::fs::write(folder.path().join("t.csv"), "a:b,c\n1:2\n").unwrap();
    assert_eq!(Table::open(&folder.path().join("t.csv"), &options).unwrap().names(), ["a", "b,c"]);
}

#[test]
fn columns_are_found_by_name_in_any_order_and_others_do_not_matter() {
    let folder = folder();
    let table = csv(&folder, "junk,b,a\n???,1,\"x\"\"y\n\"\n!!!,NA,\n");
    let frame = table.read(&columns(&[("a", Kind::Text), ("b", Kind::Number)])).unwrap();
    assert_eq!(frame.texts("a").unwrap().iter().collect::<Vec<_>>(), [Some("x\"y\n"), None]);
    assert_eq!(frame.numbers("b").unwrap()[0], 1.0);
    assert!(frame.numbers("b").unwrap()[1].is_nan());
}

#[test]
fn frames_are_consecutive_and_complete() {
    let folder = folder();
    let content: String = (0..10).map(|i| format!("{i}\n")).collect();
    let table = csv(&folder, &format!("a\n{content}"));
    for rows in [0, 1, 3, 5, 10, 100] {
        let frames: Vec<_> =
            table.frames(&columns(&[("a", Kind::Number)]), rows).unwrap().map(Result::unwrap).collect();
        let all: Vec<f64> = frames.iter().flat_map(|f| f.numbers("a").unwrap().to_vec()).collect();
        assert_eq!(all, (0..10).map(f64::from).collect::<Vec<_>>());
        assert_eq!(frames.len(), 10_usize.div_ceil(rows.max(1)));
        assert!(frames.windows(2).all(|w| w[0].first() + w[0].rows() == w[1].first()));
    }
}

#[test]
fn the_users_missing_values_count_by_text_and_by_value() {
    let folder = folder();
    std::fs::write(folder.path().join("t.csv"), "a,b\n-999,?\n-999.0,x\n3,y\n").unwrap();
    let options = ReadOptions { na: vec!["-999".into(), "?".into()], ..ReadOptions::default() };
    let table = Table::open(&folder.path().join("t.csv"), &options).unwrap();
    let frame = table.read(&columns(&[("a", Kind::Number), ("b", Kind::Text)])).unwrap();
    assert!(frame.numbers("a").unwrap()[..2].iter().all(|v| v.is_nan()));
    assert_eq!(frame.texts("b").unwrap().get(0), None);
    let survey = table.survey().unwrap();
    assert_eq!((survey.column("a").unwrap().missing, survey.column("b").unwrap().missing), (2, 1));
}

#[test]
fn content_counts_for_more_than_the_name() {
    let folder = folder();
    std::fs::write(folder.path().join("t.csv"), write_npy("<f8", false, "(1,)", &1.5_f64.to_le_bytes())).unwrap();
    let table = open(&folder, "t.csv").unwrap();
    assert_eq!((table.format(), table.names()), (Some(Format::Npy), &["x0".to_string()][..]));
}

#[test]
fn arrays_of_all_types_and_orders_are_read() {
    let folder = folder();
    let cases: [(&str, Vec<u8>, [f64; 2]); 9] = [
        ("|b1", vec![1, 0], [1.0, 0.0]),
        ("|i1", vec![255, 2], [-1.0, 2.0]),
        ("|u1", vec![255, 2], [255.0, 2.0]),
        ("<i2", vec![0xfe, 0xff, 2, 0], [-2.0, 2.0]),
        (">i4", vec![0xff, 0xff, 0xff, 0xfd, 0, 0, 1, 0], [-3.0, 256.0]),
        ("<u8", [u64::MAX.to_le_bytes(), 7_u64.to_le_bytes()].concat(), [u64::MAX as f64, 7.0]),
        ("<f2", vec![0x00, 0x3c, 0x00, 0xc0], [1.0, -2.0]),
        (">f4", [1.5_f32.to_be_bytes(), 2.5_f32.to_be_bytes()].concat(), [1.5, 2.5]),
        ("<f8", [1e300_f64.to_le_bytes(), 2.5_f64.to_le_bytes()].concat(), [1e300, 2.5]),
    ];
    for (descr, data, expected) in cases {
        std::fs::write(folder.path().join("t.npy"), write_npy(descr, false, "(2,)", &data)).unwrap();
        let frame = open(&folder, "t.npy").unwrap().read(&columns(&[("x0", Kind::Number)])).unwrap();
        assert_eq!(frame.numbers("x0").unwrap(), expected, "{descr}");
    }
    // rows (1, 2, 3) and (4, 5, 6)
    for (fortran, data) in [(false, [1_u8, 2, 3, 4, 5, 6]), (true, [1, 4, 2, 5, 3, 6])] {
        std::fs::write(folder.path().join("t.npy"), write_npy("|u1", fortran, "(2, 3)", &data)).unwrap();
        let table = open(&folder, "t.npy").unwrap();
        assert_eq!(table.names(), ["x0", "x1", "x2"]);
        let frames = table.frames(&columns(&[("x2", Kind::Number), ("x0", Kind::Text)]), 1).unwrap();
        let rows: Vec<_> = frames
            .map(Result::unwrap)
            .map(|f| (f.numbers("x2").unwrap()[0], f.texts("x0").unwrap().get(0) == Some("4")))
            .collect();
        assert_eq!(rows, [(3.0, false), (6.0, true)]);
    }
}

#[test]
fn archives_are_read_side_by_side_compressed_or_not() {
    let folder = folder();
    let y = write_npy("<f8", false, "(2,)", &[1.5_f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat());
    let arrays = [
        ("x", write_npy("|u1", true, "(2, 2)", &[1, 3, 2, 4])),
        ("y", y),
        ("note", write_npy("<U1", false, "()", &[0; 4])),
    ];
    for compressed in [false, true] {
        write_npz(&folder, "t.npz", &arrays, compressed);
        let table = open(&folder, "t.npz").unwrap();
        assert_eq!(table.names(), ["x0", "x1", "y", "note"]);
        let frame = table.read(&columns(&[("y", Kind::Number), ("x1", Kind::Number)])).unwrap();
        assert_eq!((frame.numbers("y").unwrap()[0], frame.numbers("x1").unwrap()), (1.5, &[2.0, 4.0][..]));
        assert_eq!(table.survey().unwrap().column("y").unwrap().missing, 1);
        let error = table.read(&columns(&[("note", Kind::Text)])).unwrap_err().to_string();
        assert!(error.contains("column \"note\" is of type an array of 0 dimensions"), "{error}");
    }
}

/// Compressed text, and text of other programs, is the same table; places in it are those of the text.
#[test]
fn compressed_files_and_utf16_are_the_same_table() {
    let folder = folder();
    let text = "name,size\nBäckerei,1.5\nCafé,2\n\"a\nb\",3\n";
    let wanted = columns(&[("name", Kind::Text), ("size", Kind::Number)]);
    let expected = csv(&folder, text).read(&wanted).unwrap();
    let gzip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let little: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    // two members in a row, as `cat a.gz b.gz` makes them
    write("two.csv.gz", &[gzip(&text.as_bytes()[..20]), gzip(&text.as_bytes()[20..])].concat());
    for (name, bytes) in [
        ("t.csv.gz", gzip(text.as_bytes())),
        ("t.CSV.ZST", zstd::encode_all(text.as_bytes(), 1).unwrap()),
        ("t.gz", gzip(&[b"\xef\xbb\xbf", text.as_bytes()].concat())),
        ("little.csv", little.clone()),
        ("big.txt", big),
        ("both.csv.gz", gzip(&little)),
    ] {
        write(name, &bytes);
        let table = open(&folder, name).unwrap();
        assert_eq!((table.format(), table.read(&wanted).unwrap()), (Some(Format::Csv), expected.clone()), "{name}");
    }
    assert_eq!(open(&folder, "two.csv.gz").unwrap().read(&wanted).unwrap(), expected);

    let refused = |name: &str, bytes: &[u8]| {
        write(name, bytes);
        message(&folder, open(&folder, name).unwrap_err())
    };
    assert_eq!(
        refused("t.parquet.gz", &gzip(b"PAR1")),
        "t.parquet.gz: only CSV and JSON lines may be compressed: unpack it first"
    );
    let whole = gzip(&text.as_bytes().repeat(20));
    assert_eq!(refused("cut.csv.gz", &whole[..whole.len() / 2]), "cut.csv.gz cannot be read");
    assert_eq!(refused("odd.csv", b"\xff\xfea\0\x00\xd8b\0"), "odd.csv cannot be read");
    assert_eq!(refused("none.csv.gz", &gzip(b"")), "none.csv.gz is empty: expected a table");
    write("bad.csv.gz", &gzip(b"x\n1\n2\n\n?\n"));
    let error = open(&folder, "bad.csv.gz").unwrap().read(&columns(&[("x", Kind::Number)])).unwrap_err();
    assert!(message(&folder, error).starts_with("bad.csv.gz: row 3 (line 5), column \"x\": \"?\" is not a number"));
}
