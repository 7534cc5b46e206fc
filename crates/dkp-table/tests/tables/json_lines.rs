//! An object a line.

use crate::common::{csv, folder, message, open};
use dkp_table::{DateForm, Format, Kind, ReadOptions, Table};
use std::io::Write as _;
use tempfile::TempDir;

fn lines(folder: &TempDir, content: &str) -> Table {
    std::fs::write(folder.path().join("t.jsonl"), content).unwrap();
    open(folder, "t.jsonl").unwrap()
}

fn features(table: &Table) -> Vec<(String, Kind)> {
    table.survey().unwrap().features(table.names()).unwrap().columns
}

#[test]
fn keys_are_columns_in_the_order_of_their_appearance() {
    let folder = folder();
    let table = lines(
        &folder,
        "\u{feff}{\"b\": 1.5, \"a\": \"x\"}\r\n\r\n{\"a\": null, \"c\": true, \"d\": \"2024-01-31\"}\n{}\n{\"d\":\"2024-02-01\",\"b\":-2,\"c\":false,\"a\":\"y\"}",
    );
    assert_eq!((table.format(), table.names()), (Some(Format::Json), &["b", "a", "c", "d"].map(String::from)[..]));
    let columns = features(&table);
    let kinds: Vec<Kind> = columns.iter().map(|c| c.1).collect();
    assert_eq!(kinds, [Kind::Number, Kind::Text, Kind::Bool, Kind::Date(DateForm::Iso)]);
    let frame = table.read(&columns).unwrap();
    let expected = csv(&folder, "b,a,c,d\n1.5,x,,\n,,true,2024-01-31\n,,,\n-2,y,false,2024-02-01\n").read(&columns);
    assert_eq!(format!("{frame:?}"), format!("{:?}", expected.unwrap()));
}

/// Integers keep their digits, texts may be numbers, and a column of both is text unless all are numbers.
#[test]
fn values_are_typed_as_the_file_has_them() {
    let folder = folder();
    let table = lines(
        &folder,
        "{\"id\":9007199254740993,\"price\":\"1.234,50\",\"mixed\":1.125,\"both\":1}\n{\"id\":18446744073709551615,\"price\":\"7,25\",\"mixed\":\"2,5\",\"both\":\"red\"}\n",
    );
    let frame = table.read(&[("id".into(), Kind::Text)]).unwrap();
    let texts: Vec<_> = frame.texts("id").unwrap().iter().collect();
    assert_eq!(texts, [Some("9007199254740993"), Some("18446744073709551615")]);
    let columns = features(&table);
    let frame = table.read(&columns).unwrap();
    assert_eq!(frame.numbers("price").unwrap(), [1234.5, 7.25]);
    // the number in a column with decimal commas is the number that it is
    assert_eq!(frame.numbers("mixed").unwrap(), [1.125, 2.5]);
    assert_eq!(frame.texts("both").unwrap().iter().collect::<Vec<_>>(), [Some("1"), Some("red")]);
}

/// Beside null only what the user says is missing.
#[test]
fn texts_are_not_missing_by_themselves() {
    let folder = folder();
    let missing = |na: &[&str]| {
        std::fs::write(folder.path().join("t.jsonl"), "{\"a\":\"NA\"}\n{\"a\":\"\"}\n{\"a\":-9}\n{\"a\":null}\n")
            .unwrap();
        let options = ReadOptions { na: na.iter().map(|t| t.to_string()).collect(), ..ReadOptions::default() };
        let table = Table::open(&folder.path().join("t.jsonl"), &options).unwrap();
        table.survey().unwrap().column("a").unwrap().missing
    };
    assert_eq!([missing(&[]), missing(&["NA"]), missing(&["NA", "-9.0"])], [1, 2, 3]);
}

#[test]
fn mistakes_are_told_with_their_line() {
    let folder = folder();
    let refused = |content: &str| {
        std::fs::write(folder.path().join("t.jsonl"), content).unwrap();
        message(&folder, open(&folder, "t.jsonl").unwrap_err())
    };
    let damaged = "t.jsonl is damaged or not a JSON lines file: ";
    assert_eq!(refused("{\"a\":1}\n\n{\"a\":1\n"), format!("{damaged}line 3: EOF while parsing an object"));
    let array = format!("{damaged}line 1: invalid type: sequence, expected an object");
    assert_eq!(refused("[{\"a\":1}]\n"), array);
    assert_eq!(refused("{\"a\":1} 2\n"), format!("{damaged}line 1: trailing characters"));
    assert_eq!(refused("{\"a\":1,\"a\":2}\n"), format!("{damaged}line 1: the key \"a\" is there twice"));
    assert_eq!(refused("{\"a\":1e999}\n"), format!("{damaged}line 1: number out of range"));
    assert_eq!(refused("{}\n{}\n"), format!("{damaged}its objects have no keys"));
    assert_eq!(refused("\n \n"), "t.jsonl is empty: expected a table");
    assert_eq!(
        refused("{\"\":1}\n"),
        "t.jsonl: column 1 has no name: name it in the header (an index written by pandas goes away with index=False)"
    );
    let many: String = (0..16_385).map(|i| format!("{{\"k{i}\":1}}\n")).collect();
    assert_eq!(refused(&many), format!("{damaged}line 16385: there are more than 16384 keys"));

    let table = lines(&folder, "{\"a\":1,\"tags\":[]}\n{\"a\":2}\n\n{\"a\":\"x\",\"tags\":{\"b\":[1]}}\n");
    let nested = "t.jsonl: column \"tags\" is of type a nested list or object (line 1): expected numbers, booleans or text; use --ignore \"tags\"";
    let survey = table.survey().unwrap();
    assert_eq!(message(&folder, survey.features(&["tags".into()]).unwrap_err()), nested);
    assert_eq!(message(&folder, table.read(&[("tags".into(), Kind::Text)]).unwrap_err()), nested);
    let number = "t.jsonl: row 3 (line 4), column \"a\": \"x\" is not a number: correct it, or use --na \"x\" if it means a missing value";
    assert_eq!(message(&folder, table.read(&[("a".into(), Kind::Number)]).unwrap_err()), number);
    let rows: String =
        (0..50).map(|i| format!("{{\"a\":{}}}\n", if i == 30 { "\"?\"".into() } else { i.to_string() })).collect();
    let survey = lines(&folder, &rows).survey().unwrap();
    let stray = "t.jsonl: row 31 (line 31), column \"a\": \"?\" is not a number: correct it, or use --na \"?\" if it means a missing value";
    assert_eq!(message(&folder, survey.features(&["a".into()]).unwrap_err()), stray);
}

#[test]
fn compressed_lines_are_the_same_table() {
    let folder = folder();
    let text = "{\"a\":1,\"b\":\"Café\"}\n{\"a\":2}\n";
    let columns = [("a".to_string(), Kind::Number), ("b".to_string(), Kind::Text)];
    let expected = lines(&folder, text).read(&columns).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    for (name, bytes) in [
        ("t.jsonl.gz", gzip.finish().unwrap()),
        ("t.ndjson.zst", zstd::encode_all(text.as_bytes(), 1).unwrap()),
        ("t.ndjson", [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        assert_eq!(open(&folder, name).unwrap().read(&columns).unwrap(), expected, "{name}");
    }
}
