//! Writes `fuzz/seeds`, small files of every kind that fuzzing begins with: `cargo run -p dkp-cli --example fuzz_seeds`.

use dkp_fit::{Fit, Task};
use dkp_table::{Column, Format, Frame, Kind, Table, Values, Writer};
use rust_xlsxwriter::{ExcelDateTime, Formula, Workbook};
use std::error::Error;
use std::path::Path;

type Outcome = Result<(), Box<dyn Error>>;

const ROWS: usize = 12;
/// What stands between the parts of an archive.
const SEPARATOR: &str = "\n--\n";

fn main() -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for name in ["csv", "jsonl", "model", "npz", "parquet", "xlsx"] {
        std::fs::create_dir_all(folder.join(name))?;
    }
    csv(&folder.join("csv"))?;
    jsonl(&folder.join("jsonl"))?;
    tables(&folder)?;
    arrays(&folder.join("npz"))?;
    workbooks(&folder.join("xlsx"))?;
    models(&folder.join("model"))
}

fn csv(to: &Path) -> Outcome {
    std::fs::write(
        to.join("quoted.csv"),
        "name,size,\"a \"\"b\"\"\"\n\"x, y\",1.5,true\nz,NA,\n\n\"two\nlines\",-3e7,false\n",
    )?;
    std::fs::write(
        to.join("written.csv"),
        "price;share;when;at\n1.234,50 €;18 %;31.01.2024;12:30\n$24.0k;7 %;1.2.2024 08:15;1:05:00\n",
    )?;
    let utf16: Vec<u8> =
        [0xfeff].into_iter().chain("a\tb\nBäcker\t1\n".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    std::fs::write(to.join("utf16.csv"), utf16)?;
    Ok(())
}

fn jsonl(to: &Path) -> Outcome {
    std::fs::write(
        to.join("values.jsonl"),
        "{\"a\":1,\"b\":\"x\\u00e9\",\"c\":true}\n\n{\"b\":null,\"d\":-2.5e-7}\n{\"a\":9007199254740993,\"d\":0}\n",
    )?;
    std::fs::write(
        to.join("nested.jsonl"),
        "{\"when\":\"2024-01-31T12:00:00Z\",\"n\":[1,{\"m\":2}]}\n{\"when\":\"2024-02-01\",\"n\":{}}\n",
    )?;
    Ok(())
}

/// A table of each kind of column, as Parquet; its numbers as arrays.
fn tables(to: &Path) -> Outcome {
    let texts: Vec<String> = (0..ROWS).map(|i| format!("2024-01-{:02}", 1 + i)).collect();
    let columns = vec![
        (
            "x0".to_string(),
            Column::Numbers((0..ROWS).map(|i| if i == 3 { f64::NAN } else { i as f64 / 7.0 }).collect()),
        ),
        ("x1".to_string(), Column::Numbers((0..ROWS).map(|i| (i % 2) as f64).collect())),
        ("x2".to_string(), Column::Texts((0..ROWS).map(|i| (i != 5).then_some(texts[i].as_str())).collect())),
    ];
    let frame = Frame::new(0, columns)?;
    let kinds = [("x0", Kind::Number), ("x1", Kind::Bool), ("x2", Kind::Text)].map(|(n, k)| (n.to_string(), k));
    for (name, format, kinds) in [
        ("parquet/table.parquet", Format::Parquet, &kinds[..]),
        ("parquet/number.parquet", Format::Parquet, &kinds[..1]),
        ("npz/matrix.npy", Format::Npy, &kinds[..2]),
        ("npz/vectors.npz", Format::Npz, &kinds[..2]),
    ] {
        let mut writer = Writer::create(&to.join(name), format, kinds)?;
        writer.write(&frame)?;
        writer.finish()?;
    }
    Ok(())
}

/// Arrays of several types, one after another.
fn arrays(to: &Path) -> Outcome {
    let array = |descr: &str, fortran: bool, shape: &str, data: &[u8]| {
        let order = if fortran { "True" } else { "False" };
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
    };
    std::fs::write(to.join("halves.npy"), array("<f2", true, "(2, 2)", &[0, 0x3c, 0, 0xc0, 1, 0x7c, 2, 3]))?;
    std::fs::write(to.join("bytes.npy"), array("|u1", false, "(4,)", &[1, 2, 3, 4]))?;
    let parts = [array("|i1", false, "(2, 2)", &[1, 2, 3, 4]), array("|b1", false, "(2,)", &[1, 1])];
    std::fs::write(to.join("parts"), [b"+", &parts.join(SEPARATOR.as_bytes())[..]].concat())?;
    Ok(())
}

/// A workbook, and parts of one.
fn workbooks(to: &Path) -> Outcome {
    let mut book = Workbook::new();
    let (sheet, date) = (book.add_worksheet(), rust_xlsxwriter::Format::new().set_num_format("yyyy-mm-dd hh:mm"));
    sheet.write(0, 0, "number")?.write(0, 1, "text")?.write(0, 2, "truth")?.write(0, 3, "when")?;
    for row in 1..5 {
        let when = ExcelDateTime::from_ymd(2024, 1, row as u8)?.and_hms(12, 30, 15)?;
        sheet.write(row, 0, f64::from(row) / 7.0)?.write(row, 1, ["a", "b"][row as usize % 2])?;
        sheet.write(row, 2, row == 2)?.write_with_format(row, 3, &when, &date)?;
    }
    sheet.write(6, 0, Formula::new("=1/0").set_result("#DIV/0!"))?;
    book.save(to.join("book.xlsx"))?;
    let cell = |place: &str, kind: &str, value: &str| format!("<c r=\"{place}\" {kind}><v>{value}</v></c>");
    let header = cell("A1", "t=\"s\"", "0") + &cell("B1", "t=\"s\"", "1");
    let rows = cell("A2", "", "1.5") + &cell("B2", "s=\"1\"", "45322.25") + &cell("C2", "t=\"b\"", "1");
    let sheet = format!(
        "<worksheet><dimension ref=\"A1:C2\"/><sheetData><row r=\"1\">{header}{}</row><row r=\"2\">{rows}</row></sheetData></worksheet>",
        cell("C1", "t=\"str\"", "c")
    );
    let texts =
        "<sst count=\"2\" uniqueCount=\"2\"><si><t>a</t></si><si><r><t>b</t></r><r><t> &amp; c</t></r></si></sst>";
    let styles = "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\"/></numFmts><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>";
    let book = "<workbook><workbookPr date1904=\"1\"/><sheets><sheet name=\"a\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>";
    std::fs::write(to.join("parts"), [&sheet, texts, styles, book].join(SEPARATOR))?;
    let inline = "<worksheet><sheetData><row><c t=\"inlineStr\"><is><t>a</t></is></c></row><row r=\"3\"><c r=\"A3\" s=\"1\"><v>45322.5</v></c></row></sheetData></worksheet>";
    std::fs::write(to.join("inline"), inline)?;
    Ok(())
}

/// Models of numbers, one and several, and of classes.
fn models(to: &Path) -> Outcome {
    let days: Vec<String> = (0..ROWS).map(|i| format!("2024-{:02}-{:02}", 1 + i, 3 + i)).collect();
    let column = |f: fn(usize) -> f64| (0..ROWS).map(f).collect::<Vec<f64>>();
    let columns: Vec<(&str, Values)> = vec![
        ("a", column(|i| if i == 2 { f64::NAN } else { (1.3 * i as f64).sin() }).into()),
        ("town", (0..ROWS).map(|i| ["Bath", "York"][i % 2]).collect::<Vec<_>>().into()),
        ("day", days.iter().map(String::as_str).collect::<Vec<_>>().into()),
        ("y", column(|i| (0.7 * i as f64).cos()).into()),
        ("z", column(|i| if i % 4 == 1 { f64::NAN } else { (1.1 * i as f64).cos() }).into()),
    ];
    let table = Table::from_columns(columns, &[])?;
    let cases = [
        ("diwp.dkp", &["y"][..], "diwp", None),
        ("several.dkp", &["y", "z"], "diwp", None),
        ("dgp.dkp", &["y"], "dgp", None),
        ("classes.dkp", &["town"], "nngp", Some(Task::Classification)),
    ];
    for (name, targets, family, task) in cases {
        let mut fit = Fit::default();
        fit.config.table.targets = targets.iter().map(|t| t.to_string()).collect();
        fit.config.table.task = task;
        let choices = &mut fit.config.model;
        (choices.steps, choices.start_steps, choices.draws, choices.inducing) = (Some(2), Some(2), Some(1), Some(2));
        (choices.family, choices.evaluation_draws) = (Some(family.to_string()), Some(1));
        fit.run(&table)?.save(&to.join(name))?;
    }
    Ok(())
}
