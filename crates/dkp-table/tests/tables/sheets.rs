//! The first sheet of a workbook.

use crate::common::{csv, folder, message, open, write_npy};
use dkp_table::{DateForm, Format, Kind, ReadOptions, Table};
use rust_xlsxwriter::{ExcelDateTime, Formula, Workbook, Worksheet, XlsxError};
use std::io::Write as _;
use tempfile::TempDir;

/// A workbook of one sheet.
fn sheet(folder: &TempDir, fill: impl FnOnce(&mut Worksheet) -> Result<(), XlsxError>) -> Result<Table, String> {
    let mut book = Workbook::new();
    fill(book.add_worksheet()).unwrap();
    book.add_worksheet().write(0, 0, "another sheet").unwrap();
    book.save(folder.path().join("t.xlsx")).unwrap();
    open(folder, "t.xlsx").map_err(|e| message(folder, e))
}

/// Rows of text from a cell on.
fn texts(sheet: &mut Worksheet, rows: &[&[&str]]) -> Result<(), XlsxError> {
    for (r, row) in (0..).zip(rows) {
        for (c, text) in (0..).zip(*row).filter(|(_, text)| !text.is_empty()) {
            match text.parse::<f64>() {
                Ok(number) => sheet.write(r, c, number)?,
                Err(_) => sheet.write(r, c, *text)?,
            };
        }
    }
    Ok(())
}

fn features(table: &Table) -> Vec<(String, Kind)> {
    table.survey().unwrap().features(table.names()).unwrap().columns
}

/// Numbers, text, truth values, dates and times: what a CSV file of them would be, to the bit. The table may begin anywhere, and blank rows do not count.
#[test]
fn a_sheet_is_the_table_that_it_shows() {
    let folder = folder();
    let format = |text: &str| rust_xlsxwriter::Format::new().set_num_format(text);
    let table = sheet(&folder, |s| {
        for (i, name) in (1..).zip([" rooms ", "town", "lift", "built", "seen", "open", "1990", "took"]) {
            s.write(2, i, name)?;
        }
        for (row, day) in [(3, 1), (4, 2), (6, 31)] {
            let seen = ExcelDateTime::from_ymd(2024, 1, day)?.and_hms(12, 34, 56)?;
            s.write(row, 1, f64::from(row) / 7.0)?;
            s.write(row, 2, if row == 3 { "Bath" } else { "York" })?;
            s.write(row, 3, row == 4)?;
            s.write_with_format(row, 4, &ExcelDateTime::from_ymd(1950 + row as u16, 3, day)?, &format("d mmm yyyy"))?;
            s.write_with_format(row, 5, &seen, &format("yyyy-mm-dd hh:mm"))?;
            s.write_with_format(row, 6, 0.25 * f64::from(day % 3), &format("hh:mm"))?;
            s.write(row, 7, Formula::new("=1/3").set_result("0.125"))?;
            s.write_with_format(row, 8, 1.5, &format("[h]:mm"))?;
        }
        // a row without the rest, and cells that look empty
        s.write(7, 2, "Ely")?.write(7, 1, "  ")?.write(8, 2, " ")?.write_blank(9, 3, &format("0.0"))?;
        Ok(())
    })
    .unwrap();
    assert_eq!(table.format(), Some(Format::Xlsx));
    let columns = features(&table);
    let kinds: Vec<Kind> = columns.iter().map(|c| c.1).collect();
    let dates = [Kind::Date(DateForm::Iso), Kind::Date(DateForm::Iso), Kind::Date(DateForm::Clock)];
    assert_eq!(kinds, [&[Kind::Number, Kind::Text, Kind::Bool][..], &dates, &[Kind::Number; 2]].concat());
    let row = |n: u32, day: u32, town: &str| {
        let (rooms, lift, open) = (f64::from(n) / 7.0, n == 4, ["00:00", "06:00", "12:00"][day as usize % 3]);
        format!("{rooms},{town},{lift},{}-03-{day:02},2024-01-{day:02} 12:34:56,{open},0.125,1.5\n", 1950 + n)
    };
    let text = [
        "rooms,town,lift,built,seen,open,1990,took\n",
        &row(3, 1, "Bath"),
        &row(4, 2, "York"),
        &row(6, 31, "York"),
        ",Ely,,,,,,\n",
    ]
    .concat();
    let expected = csv(&folder, &text);
    assert_eq!(features(&expected), columns);
    assert_eq!(format!("{:?}", table.read(&columns)), format!("{:?}", expected.read(&columns)));
}

#[test]
fn mistakes_are_told_with_the_sheets_row() {
    let folder = folder();
    let table = sheet(&folder, |s| texts(s, &[&[], &["a", "b"], &["1", "x"], &[], &["many", "y"]])).unwrap();
    let error = message(&folder, table.read(&[("a".into(), Kind::Number)]).unwrap_err());
    let expected = "t.xlsx: row 2 (row 5 of the sheet), column \"a\": \"many\" is not a number: correct it, or use --na \"many\" if it means a missing value";
    assert_eq!(error, expected);
    let table = sheet(&folder, |s| {
        (0..40).try_for_each(|r| s.write(r, 0, f64::from(r)).map(drop))?;
        s.write(0, 0, "a")?.write(30, 0, Formula::new("=1/0").set_result("#DIV/0!"))?;
        s.write(31, 0, Formula::new("=NA()").set_result("#N/A")).map(drop)
    });
    let survey = table.unwrap().survey().unwrap();
    assert_eq!(survey.column("a").unwrap().missing, 1);
    let expected = "t.xlsx: row 30 (row 31 of the sheet), column \"a\": \"#DIV/0!\" is not a number: correct it, or use --na \"#DIV/0!\" if it means a missing value";
    assert_eq!(message(&folder, survey.features(&["a".into()]).unwrap_err()), expected);
}

#[test]
fn sheets_that_are_no_tables() {
    let folder = folder();
    let refused = |rows: &[&[&str]]| sheet(&folder, |s| texts(s, rows)).unwrap_err();
    assert_eq!(refused(&[]), "t.xlsx is empty: expected a table");
    assert_eq!(refused(&[&["a", "b"], &[]]), "t.xlsx has columns but no rows");
    assert_eq!(refused(&[&["a", "a"], &["1", "2"]]), "t.xlsx: two columns are named \"a\": rename one");
    let unnamed = "name it in the header (an index written by pandas goes away with index=False)";
    assert_eq!(refused(&[&["a", "", "c"], &["1"], &["1", "2"]]), format!("t.xlsx: column 2 has no name: {unnamed}"));
    let header = "t.xlsx: the first row has \"1.5\" where a column's name should be: add a row with names before it";
    assert_eq!(refused(&[&["1.5", "2"], &["1", "2"]]), header);
    // a column between that holds nothing is none
    let table = sheet(&folder, |s| texts(s, &[&["a", "", "c"], &["1", "", "2"]])).unwrap();
    assert_eq!(table.names(), ["a", "c"]);
}

/// A workbook of these parts.
fn workbook(folder: &TempDir, sheet: &str, texts: &str) -> Result<Table, String> {
    let relations = |name: &str, target: &str| {
        let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        format!("<Relationships><Relationship Id=\"rId1\" Type=\"{kind}/{name}\" Target=\"{target}\"/></Relationships>")
    };
    let parts = [
        ("_rels/.rels", relations("officeDocument", "xl/workbook.xml")),
        ("xl/_rels/workbook.xml.rels", relations("worksheet", "worksheets/sheet1.xml")),
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name=\"a\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>".to_string(),
        ),
        ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{sheet}</sheetData></worksheet>")),
        ("xl/sharedStrings.xml", texts.to_string()),
    ];
    let mut archive = zip::ZipWriter::new(std::fs::File::create(folder.path().join("t.xlsx")).unwrap());
    for (name, text) in parts {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    open(folder, "t.xlsx").map_err(|e| message(folder, e))
}

/// A list of texts that is empty.
const NO_TEXTS: &str = "<sst></sst>";

/// Claims of a workbook that would take all memory, or none.
#[test]
fn workbooks_that_contradict_themselves() {
    let folder = folder();
    let cell = |place: &str, value: &str| format!("<row><c r=\"{place}\">{value}</c></row>");
    let header = "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>a</v></c></row>";
    let one = cell("A2", "<v>1</v>");
    assert!(workbook(&folder, &format!("{header}{one}"), "<sst uniqueCount=\"0\"/>").is_ok());
    let damaged = "t.xlsx is damaged or not a xlsx file: ";
    let claim = workbook(&folder, &format!("{header}{one}"), "<sst uniqueCount=\"700000000000\"></sst>");
    assert_eq!(claim.unwrap_err(), format!("{damaged}xl/sharedStrings.xml has fewer texts than it says"));
    for place in ["A1048577", "XFE2", "A4000000000"] {
        let far = workbook(&folder, &format!("{header}{}", cell(place, "<v>1</v>")), NO_TEXTS).unwrap_err();
        assert_eq!(far, format!("{damaged}a cell of it is outside of any sheet"), "{place}");
    }
    let backward = format!("<row><c r=\"A3\" t=\"str\"><v>a</v></c></row>{one}");
    assert_eq!(workbook(&folder, &backward, NO_TEXTS).unwrap_err(), format!("{damaged}its rows are not in order"));
    // numbers that overflow where the place is computed
    let overflow = workbook(&folder, &format!("{header}{}", cell("ZZZZZZZZZ99999999999999", "<v>1</v>")), NO_TEXTS);
    assert!(overflow.unwrap_err().starts_with(damaged));
    let infinite = workbook(&folder, &format!("{header}{}", cell("A2", "<v>1e999</v>")), NO_TEXTS).unwrap();
    let error = infinite.survey().unwrap().features(&["a".into()]).unwrap_err();
    assert!(message(&folder, error).starts_with("t.xlsx: row 1 (row 2 of the sheet), column \"a\": inf is infinite"));
}

/// What an archive is called does not matter.
#[test]
fn archives_are_told_apart_by_what_is_in_them() {
    let folder = folder();
    sheet(&folder, |s| texts(s, &[&["a"], &["1"]])).unwrap();
    std::fs::rename(folder.path().join("t.xlsx"), folder.path().join("t.npz")).unwrap();
    assert_eq!(open(&folder, "t.npz").unwrap().format(), Some(Format::Xlsx));
    let array = write_npy("|u1", false, "(2,)", &[1, 2]);
    crate::common::write_npz(&folder, "t.xlsx", &[("y", array)], true);
    assert_eq!(open(&folder, "t.xlsx").unwrap().format(), Some(Format::Npz));
}

/// A matrix and its target, in a file each.
#[test]
fn a_column_may_be_in_an_array_of_its_own() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, shape: &str, data: &[u8]| {
        std::fs::write(path(name), write_npy("|u1", false, shape, data)).unwrap();
    };
    write("X.npy", "(3, 2)", &[1, 2, 3, 4, 5, 6]);
    let with = |name: &str, file: &str, table: &str| {
        let names = name.split(' ').map(str::to_string).collect();
        let options = ReadOptions { beside: Some((names, path(file))), ..ReadOptions::default() };
        Table::open(&path(table), &options).map_err(|e| message(&folder, e))
    };
    for shape in ["(3,)", "(3, 1)"] {
        write("y.npy", shape, &[7, 8, 9]);
        let table = with("y", "y.npy", "X.npy").unwrap();
        assert_eq!(table.names(), ["x0", "x1", "y"]);
        let columns = ["y", "x1"].map(|n| (n.to_string(), Kind::Number));
        for rows in [1, 3] {
            let frames: Vec<_> = table.frames(&columns, rows).unwrap().map(Result::unwrap).collect();
            let read = |c: &str| frames.iter().flat_map(|f| f.numbers(c).unwrap().to_vec()).collect::<Vec<_>>();
            assert_eq!((read("y"), read("x1")), (vec![7.0, 8.0, 9.0], vec![2.0, 4.0, 6.0]));
        }
    }
    assert_eq!(with("x1", "y.npy", "X.npy").unwrap_err(), "X.npy: two columns are named \"x1\": rename one");
    assert_eq!(with("a b c", "X.npy", "X.npy").unwrap_err(), "X.npy: it has 2 columns where 3 are needed");
    write("two.npy", "(3, 2)", &[7, 8, 9, 10, 11, 12]);
    for (names, found) in [("a b", ["x0", "x1", "a", "b"]), ("y", ["x0", "x1", "y0", "y1"])] {
        let table = with(names, "two.npy", "X.npy").unwrap();
        assert_eq!(table.names(), found);
        let frame = table.read(&[(found[3].to_string(), Kind::Number)]).unwrap();
        assert_eq!(frame.numbers(found[3]).unwrap(), [8.0, 10.0, 12.0]);
    }
    assert_eq!(with("y", "z.npy", "X.npy").unwrap_err(), "z.npy cannot be read");
    write("y.npy", "(2,)", &[7, 8]);
    let unequal = "X.npy: array \"y\" has 2 rows, but \"x0\" has 3: all must have equally many";
    assert_eq!(with("y", "y.npy", "X.npy").unwrap_err(), unequal);
    csv(&folder, "a\n1\n");
    let refused =
        format!("y.npy: a column in a file of its own is for .npy files, which {} is not", path("t.csv").display());
    assert_eq!(with("y", "y.npy", "t.csv").unwrap_err(), refused.replace(&format!("{}/", folder.path().display()), ""));
}
