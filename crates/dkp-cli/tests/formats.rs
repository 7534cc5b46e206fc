//! One table gives one model, whatever file it is in.

mod support;

use dkp_fit::{Fitted, ReadOptions, Table};
use dkp_table::{Column, Format, Kind, Writer};
use rust_xlsxwriter::{ExcelDateTime, Workbook};
use std::io::Write as _;
use support::Place;

const ROWS: usize = 60;
const QUICK: [&str; 10] =
    ["--steps", "20", "--start-steps", "20", "--inducing", "10", "--draws", "2", "--likelihood", "gaussian"];

/// The model that a table gives, without the table's name.
fn model(place: &Place, arguments: &[&str]) -> Vec<u8> {
    place.done(&[&["train"], arguments, &["--out", "m.dkp", "--quiet"], &QUICK].concat());
    let mut fitted = Fitted::load(&place.file("m.dkp")).unwrap();
    fitted.card.data.clear();
    fitted.save(&place.file("n.dkp")).unwrap();
    place.read("n.dkp")
}

/// The table t.csv in other formats; its columns are written as they are.
fn rewrite(place: &Place, columns: &[(&str, Kind)], formats: &[(&str, Format)]) {
    let columns: Vec<(String, Kind)> = columns.iter().map(|(name, kind)| (name.to_string(), *kind)).collect();
    let frame = Table::open(&place.file("t.csv"), &ReadOptions::default()).unwrap().read(&columns).unwrap();
    for (name, format) in formats {
        let mut writer = Writer::create(&place.file(name), *format, &columns).unwrap();
        writer.write(&frame).unwrap();
        writer.finish().unwrap();
    }
    let text = place.text("t.csv");
    place.write("t.tsv", text.replace(',', "\t"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    place.write("t.csv.gz", gzip.finish().unwrap());
    let date = rust_xlsxwriter::Format::new().set_num_format("yyyy-mm-dd hh:mm:ss");
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (c, (name, column)) in (0..).zip(frame.columns()) {
        sheet.write(0, c, name).unwrap();
        for (r, i) in (1..).zip(0..frame.rows()).filter(|(_, i)| !column.is_missing(*i)) {
            let kind = columns[usize::from(c)].1;
            match column {
                Column::Numbers(v) if kind == Kind::Bool => sheet.write(r, c, v[i] == 1.0).unwrap(),
                Column::Numbers(v) => sheet.write(r, c, v[i]).unwrap(),
                Column::Texts(t) => match ExcelDateTime::parse_from_str(t.get(i).unwrap()) {
                    Ok(moment) => sheet.write_with_format(r, c, &moment, &date).unwrap(),
                    Err(_) => sheet.write(r, c, t.get(i).unwrap()).unwrap(),
                },
            };
        }
    }
    book.save(place.file("t.xlsx")).unwrap();
}

fn wave(f: f64, i: usize) -> f64 {
    (f * i as f64).sin()
}

#[test]
fn numbers_in_any_format_give_the_same_model() {
    let place = Place::new();
    let row = |i: usize| {
        let a = if i % 13 == 4 { String::new() } else { wave(1.3, i).to_string() };
        format!("{a},{},{}\n", i % 7, 3.0 * wave(1.3, i) + (i % 7) as f64 / 3.0)
    };
    place.write("t.csv", "x0,x1,y\n".to_string() + &(0..ROWS).map(row).collect::<String>());
    let formats = [("t.parquet", Format::Parquet), ("t.npz", Format::Npz), ("t.jsonl", Format::Json)];
    rewrite(&place, &["x0", "x1", "y"].map(|c| (c, Kind::Number)), &formats);
    let expected = model(&place, &["t.csv", "--target", "y"]);
    for name in ["t.tsv", "t.csv.gz", "t.xlsx", "t.parquet", "t.npz", "t.jsonl"] {
        assert!(model(&place, &[name, "--target", "y"]) == expected, "{name}");
    }

    // a matrix and its target, in a file each
    let read = Table::open(&place.file("t.csv"), &ReadOptions::default()).unwrap();
    for (name, columns) in [("X.npy", vec!["x0", "x1"]), ("y.npy", vec!["y"])] {
        let columns: Vec<(String, Kind)> = columns.iter().map(|c| (c.to_string(), Kind::Number)).collect();
        let mut writer = Writer::create(&place.file(name), Format::Npy, &columns).unwrap();
        writer.write(&read.read(&columns).unwrap()).unwrap();
        writer.finish().unwrap();
    }
    assert!(model(&place, &["X.npy", "--target", "y.npy"]) == expected);
    // a run is gone on with from anywhere
    let order: dkp_fit::Order = toml::from_str(&place.text("m.run/settings.toml")).unwrap();
    assert_eq!(order.config.table.target_file, Some(place.file("y.npy")));
    place.done(&["predict", "m.dkp", "X.npy", "--out", "a.csv"]);
    place.done(&["predict", "m.dkp", "t.csv", "--out", "b.csv"]);
    assert_eq!(place.text("a.csv"), place.text("b.csv"));
    let judged = place.done(&["evaluate", "m.dkp", "X.npy", "--target", "y.npy"]).out;
    assert_eq!(judged, place.done(&["evaluate", "m.dkp", "t.csv"]).out);
    let refused = place.dkp(&["train", "X.npy", "--target", "none.npy"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("there is no column \"none.npy\""), "{}", refused.err);
}

#[test]
fn text_truth_and_dates_in_any_format_give_the_same_model() {
    let place = Place::new();
    let row = |i: usize| {
        let (town, lift) = (["Bath", "York", "Ely"][i % 3], ["true", "false"][i % 2]);
        let day = format!("20{:02}-{:02}-{:02}", 10 + i % 9, 1 + i % 12, 1 + i % 28);
        let seen = if i % 11 == 3 {
            String::new()
        } else {
            format!("2024-03-{:02}T{:02}:{:02}:07", 1 + i % 30, i % 24, i % 60)
        };
        format!("{town},{lift},{day},{seen},{}\n", (i % 3) as f64 + wave(0.7, i))
    };
    place.write("t.csv", "town,lift,day,seen,price\n".to_string() + &(0..ROWS).map(row).collect::<String>());
    let columns = [
        ("town", Kind::Text),
        ("lift", Kind::Bool),
        ("day", Kind::Text),
        ("seen", Kind::Text),
        ("price", Kind::Number),
    ];
    rewrite(&place, &columns, &[("t.parquet", Format::Parquet), ("t.jsonl", Format::Json)]);
    let expected = model(&place, &["t.csv", "--target", "price"]);
    for name in ["t.tsv", "t.csv.gz", "t.xlsx", "t.parquet", "t.jsonl"] {
        assert!(model(&place, &[name, "--target", "price"]) == expected, "{name}");
    }

    // predictions of lines are lines, and those of a sheet, which is not written, are CSV
    place.done(&["predict", "m.dkp", "t.jsonl", "--id", "town"]);
    let lines = place.text("t-predictions.jsonl");
    assert!(lines.starts_with("{\"town\":\"Bath\",\"mean\":") && lines.lines().count() == ROWS, "{lines}");
    let said = place.done(&["predict", "m.dkp", "t.xlsx", "--id", "town"]);
    assert_eq!(said.err, format!("{ROWS} predictions written to t-predictions.csv\n"));
    assert!(place.text("t-predictions.csv").starts_with("town,mean,"));
    let refused = place.dkp(&["predict", "m.dkp", "t.csv", "--out", "p.xlsx"]);
    assert_eq!(refused.err, "dkp: p.xlsx: xlsx files are not written: give another ending, such as .csv\n");
}
