//! How columns are read, from what they hold.

use crate::common::{csv, folder, message, open, write_npy};
use dkp_table::{DateForm, Decimal, Encoder, Format, Kind, Notation, ReadOptions, Table, Writer};
use std::fmt::Write as _;

/// The kind that a column of these cells is as a feature, or the error.
fn feature(cells: &[&str]) -> Result<Option<Kind>, String> {
    let folder = folder();
    let content: String = cells.iter().fold("c,other\n".to_string(), |text, c| text + c + ",1\n");
    let survey = csv(&folder, &content).survey().unwrap();
    let features = survey.features(&["c".into()]).map_err(|e| message(&folder, e))?;
    assert_eq!(features.ignored.len() + features.columns.len(), 1);
    Ok(features.columns.first().map(|c| c.1))
}

fn target(cells: &[&str], classes: bool) -> Result<Kind, String> {
    let folder = folder();
    let content: String = cells.iter().fold("c,other\n".to_string(), |text, c| text + c + ",1\n");
    csv(&folder, &content).survey().unwrap().target("c", classes).map_err(|e| message(&folder, e))
}

/// Nineteen numbers and another cell.
fn nineteen_and(cell: &str) -> Vec<&str> {
    let mut cells = vec!["1.5"; 19];
    cells.push(cell);
    cells
}

#[test]
fn features_are_numbers_truth_values_or_categories() {
    assert_eq!(feature(&["1", "", "2.5", "NA", "-3e4"]), Ok(Some(Kind::Number)));
    assert_eq!(feature(&["7", "7"]), Ok(Some(Kind::Number)));
    assert_eq!(feature(&["true", "FALSE", "NA"]), Ok(Some(Kind::Bool)));
    assert_eq!(feature(&["red", "blue", "1"]), Ok(Some(Kind::Text)));
    assert_eq!(feature(&["NA", "", "null"]), Ok(None));
    assert_eq!(feature(&["red", "red"]), Ok(Some(Kind::Text)));
    // one in twenty is stray; two are categories
    let mut cells = nineteen_and("low");
    cells.push("low");
    assert_eq!(feature(&cells), Ok(Some(Kind::Text)));
}

#[test]
fn stray_text_infinite_cells_and_dates_are_errors_with_a_remedy() {
    assert_eq!(
        feature(&nineteen_and("-")),
        Err("t.csv: row 20, column \"c\": \"-\" is not a number: correct it, or use --na \"-\" if it means a missing value".into())
    );
    assert_eq!(
        feature(&nineteen_and("inf")),
        Err(
            "t.csv: row 20, column \"c\": inf is infinite: correct it, or use --na \"inf\" if it means a missing value"
                .into()
        )
    );
    assert_eq!(
        feature(&["2024-01-31", "NA", "31/01/2024 12:30"]),
        Err("t.csv: column \"c\" holds dates in different forms, such as \"2024-01-31\": write all alike, as 2024-01-31, or use --ignore \"c\"".into())
    );
    assert_eq!(
        feature(&["03/04/2024", "04/05/2024"]),
        Err("t.csv: column \"c\": \"03/04/2024\" may begin with the day or the month: write dates as 2024-01-31, or use --ignore \"c\"".into())
    );
    assert_eq!(
        target(&["31/12/2024", "12/31/2024"], false),
        Err("t.csv: the target \"c\" holds dates, such as \"31/12/2024\": convert them to a number such as days".into())
    );
}

#[test]
fn dates_in_one_form_are_features() {
    let iso = feature(&["2024-01-31", "NA", "2024-02-01 12:30"]);
    assert_eq!(iso, Ok(Some(Kind::Date(DateForm::Iso))));
    assert_eq!(feature(&["03/04/2024", "13/04/2024"]), Ok(Some(Kind::Date(DateForm::DayFirst))));
    assert_eq!(feature(&["03/04/2024", "03/14/2024"]), Ok(Some(Kind::Date(DateForm::MonthFirst))));
    assert_eq!(feature(&["3.4.2024", "4.4.2024"]), Ok(Some(Kind::Date(DateForm::DayFirst))));
    assert_eq!(feature(&["7:30", "23:05"]), Ok(Some(Kind::Date(DateForm::Clock))));

    let folder = folder();
    let days = ["2023-01-01", "2023-06-30 18:00", "", "2024-01-01"];
    let table = csv(&folder, &days.iter().fold("d,x\n".to_string(), |text, d| format!("{text}{d},1\n")));
    let columns = table.survey().unwrap().features(&["d".into()]).unwrap().columns;
    let frame = table.read(&columns).unwrap();
    let encoder = Encoder::fit(&frame, &[0, 1, 2, 3], &columns).unwrap();
    let names: Vec<String> = encoder.features().into_iter().map(|f| f.name).collect();
    let cycle = |part: &str| ["sine", "cosine"].map(|c| format!("d, {part} ({c})"));
    let expected =
        [vec!["d".into()], cycle("season").to_vec(), cycle("weekday").to_vec(), cycle("hour").to_vec()].concat();
    assert_eq!(names, [expected, vec!["d is missing".into()]].concat());
    let (points, _) = encoder.encode(&frame).unwrap();
    let row = |i: usize| &points[i * 8..(i + 1) * 8];
    assert_eq!((row(0)[0], row(1)[0], row(3)[0]), (19_358.0, 19_538.75, 19_723.0));
    // the missing one is the median, and says so; a sixth of an evening before midnight
    assert_eq!((row(2)[0], row(2)[7], row(1)[7]), (19_538.75, 1.0, 0.0));
    assert!((row(1)[5] + 1.0).abs() < 1e-12 && (row(0)[6] - 1.0).abs() < 1e-12);
    // what is written can be read
    let path = folder.path().join("out.csv");
    let mut writer = Writer::create(&path, Format::Csv, &columns).unwrap();
    writer.write(&frame).unwrap();
    writer.finish().unwrap();
    let text = "d\n2023-01-01\n2023-06-30T18:00:00\n\"\"\n2024-01-01\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let stray = csv(&folder, "d\n2024-13-01\n").read(&columns).unwrap_err();
    let expected = "t.csv: row 1, column \"d\": \"2024-13-01\" is no date like the others: correct it";
    assert!(message(&folder, stray).starts_with(expected));
}

#[test]
fn a_stray_cell_after_quoted_line_ends_has_its_line() {
    let folder = folder();
    let mut content = "c,note\n".to_string();
    (0..19).for_each(|i| write!(content, "{i},\"two\nlines\"\n").unwrap());
    let survey = csv(&folder, &format!("{content}oops,x\n")).survey().unwrap();
    let error = message(&folder, survey.features(&["c".into()]).unwrap_err());
    assert!(error.starts_with("t.csv: row 20 (line 40), column \"c\": \"oops\" is not a number"), "{error}");
}

#[test]
fn a_thousand_levels_are_enough() {
    let names: Vec<String> = (0..1001).map(|i| format!("name {i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let twice = [&names[..1000], &names[..1000]].concat();
    assert_eq!(feature(&twice), Ok(Some(Kind::Text)));
    assert_eq!(
        feature(&names),
        Err("t.csv: column \"c\" has more than 1000 different texts: use --ignore \"c\", or --id \"c\" if it names the rows".into())
    );
    assert_eq!(target(&twice, false), Ok(Kind::Text));
    assert_eq!(target(&names[..1000], true), Ok(Kind::Text));
    let expected = "t.csv: the target \"c\" has more than 1000 classes: choose a column with fewer";
    assert_eq!(target(&names, false), Err(expected.into()));
}

#[test]
fn texts_that_hardly_repeat_are_no_categories_and_no_classes() {
    let names: Vec<String> = (0..20).map(|i| format!("name {}", i.min(18))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let expected = "t.csv: column \"c\" is text, such as \"name 0\", with 19 different ones in 20 rows: use --id \"c\" if it names the rows, or --ignore \"c\"";
    assert_eq!(feature(&names), Err(expected.into()));
    let expected = "t.csv: the target \"c\" is text, such as \"name 0\", with 19 different ones in 20 rows: that is no classification; correct what should be numbers, or choose another column";
    assert_eq!(target(&names, false), Err(expected.into()));
    // nine in ten may differ; of few rows all
    let some = [&names[..18], &["name 0", "name 1"]].concat();
    assert_eq!(feature(&some), Ok(Some(Kind::Text)));
    assert_eq!(feature(&names[..9]), Ok(Some(Kind::Text)));
    // nearly all are numbers
    let numbers: Vec<String> = (0..12).map(|i| if i == 6 { "n.d.".into() } else { format!("{i}.5") }).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    for refused in [feature(&numbers).map(|_| ()), target(&numbers, false).map(|_| ())] {
        assert!(refused.unwrap_err().starts_with("t.csv: row 7, column \"c\": \"n.d.\" is not a number"));
    }
}

/// The kinds of two columns with semicolons between them, the first of which has these cells, or the error.
fn beside(cells: &[&str], other: &str, decimal: Option<Decimal>) -> Result<Vec<Kind>, String> {
    let folder = folder();
    let content: String = cells.iter().fold("c;other\n".to_string(), |text, c| text + c + ";" + other + "\n");
    csv(&folder, &content);
    let table = Table::open(&folder.path().join("t.csv"), &ReadOptions { decimal, ..ReadOptions::default() }).unwrap();
    let features = table.survey().unwrap().features(table.names()).map_err(|e| message(&folder, e))?;
    Ok(features.columns.into_iter().map(|c| c.1).collect())
}

#[test]
fn numbers_are_recognised_as_people_write_them() {
    let [point, comma] = [Decimal::Point, Decimal::Comma].map(|d| Kind::Written(Notation::new(d)));
    let kinds = |cells: &[&str], other: &str| beside(cells, other, None);
    assert_eq!(kinds(&["18,0", "0,00632", "7", "NA"], "x"), Ok(vec![comma, Kind::Text]));
    assert_eq!(kinds(&["2,960,100", "5"], "x"), Ok(vec![point, Kind::Text]));
    // one column tells what another means; plain columns stay plain
    assert_eq!(kinds(&["1,234", "5"], "0,5"), Ok(vec![comma, comma]));
    assert_eq!(kinds(&["1,234", "5"], "0.5"), Ok(vec![point, Kind::Number]));
    assert_eq!(kinds(&["1.234", "5.678"], "0,5"), Ok(vec![comma, comma]));
    assert_eq!(kinds(&["1.234", "5.678"], "12"), Ok(vec![Kind::Number; 2]));
    assert_eq!(kinds(&["12", "13"], "0,5"), Ok(vec![Kind::Number, comma]));
    let ambiguous = "t.csv: column \"c\": \"1,234\" may have a decimal comma, or a mark between thousands: say --decimal comma, or --decimal point";
    assert_eq!(kinds(&["1,234", "5"], "12"), Err(ambiguous.into()));
    assert_eq!(beside(&["1,234", "5"], "12", Some(Decimal::Comma)), Ok(vec![comma, Kind::Number]));
    assert_eq!(beside(&["1,234", "5"], "12", Some(Decimal::Point)), Ok(vec![point, Kind::Number]));
    // a sign that all have
    assert!(
        matches!(kinds(&["$24.0k", "$1.5"], "x").unwrap()[0], Kind::Written(n) if n != Notation::new(Decimal::Point))
    );
    assert!(kinds(&["5 %", "5"], "x").unwrap_err().starts_with("t.csv: column \"c\" has numbers with different signs"));
    // nineteen of twenty
    let mut cells = vec!["1,5"; 19];
    cells.push("viel");
    assert!(kinds(&cells, "x").unwrap_err().starts_with("t.csv: row 20, column \"c\": \"viel\" is not a number"));
}

#[test]
fn numbers_are_read_and_written_in_their_notation() {
    let folder = folder();
    let table = csv(&folder, "a;b\n1.234,5;-3 %\n7;4,25 %\nNA;\n");
    let columns = table.survey().unwrap().features(table.names()).unwrap().columns;
    let frame = table.read(&columns).unwrap();
    let present = |name: &str| frame.numbers(name).unwrap()[..2].to_vec();
    assert_eq!((present("a"), present("b")), (vec![1234.5, 7.0], vec![-3.0, 4.25]));
    let notes = table.survey().unwrap().notation_notes(&columns);
    assert_eq!(
        notes,
        ["column \"a\": numbers are written like 1.234,5", "column \"b\": numbers are written like -3 %"]
    );
    let path = folder.path().join("out.csv");
    let mut writer = Writer::create(&path, Format::Csv, &columns).unwrap();
    writer.write(&frame).unwrap();
    writer.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a;b\n1234,5;-3 %\n7;4,25 %\n;\n");
    // another notation may be said when it is read again
    let plain = csv(&folder, "a;b\n1234.5;3\n");
    assert!(plain.read(&columns).is_err());
    let options = ReadOptions { decimal: Some(Decimal::Point), ..ReadOptions::default() };
    let plain = Table::open(&folder.path().join("t.csv"), &options).unwrap();
    assert_eq!(plain.read(&columns).unwrap().numbers("a").unwrap(), [1234.5]);
}

#[test]
fn targets_are_numbers_unless_they_are_not_or_classes_are_asked_for() {
    assert_eq!(target(&["1", "2", "NA"], false), Ok(Kind::Number));
    assert_eq!(target(&["1", "2", "NA"], true), Ok(Kind::Text));
    assert_eq!(target(&["true", "false"], false), Ok(Kind::Text));
    assert_eq!(target(&["NA", ""], true), Err("t.csv: the target \"c\" has no values at all".into()));
    assert!(target(&nineteen_and("?"), false).unwrap_err().contains("\"?\" is not a number"));
    assert_eq!(target(&nineteen_and("?"), true), Ok(Kind::Text));
}

/// Of few values a single text is less than 5 %, and a mistake all the same; two of them, or one among four, may be meant.
#[test]
fn one_text_among_numbers_is_a_mistake_in_few_rows_too() {
    let few = ["3", "1", "oops", "4", "1", "5"];
    let refused = "row 3, column \"c\": \"oops\" is not a number";
    assert!(target(&few, false).unwrap_err().contains(refused), "{:?}", target(&few, false));
    assert!(beside(&few, "1", None).unwrap_err().contains(refused), "{:?}", beside(&few, "1", None));
    assert_eq!(target(&few, true), Ok(Kind::Text));
    assert_eq!(target(&["3", "1", "other", "other", "1", "5"], false), Ok(Kind::Text));
    assert_eq!(target(&["3", "1", "other", "4"], false), Ok(Kind::Text));
    // a number that is written otherwise is one
    assert!(matches!(beside(&["3", "1", "2,5", "4", "1", "5"], "1", None).unwrap()[0], Kind::Written(_)));
}

#[test]
fn a_survey_counts() {
    let folder = folder();
    let survey = csv(&folder, "a,b\n3,x\n-1,2\nNA,2020-01-01\ninf,TRUE\n4,x\n").survey().unwrap();
    let (a, b) = (survey.column("a").unwrap(), survey.column("b").unwrap());
    assert_eq!((survey.rows(), a.missing, a.numeric, a.values(), a.range), (5, 1, 4, 4, Some((-1.0, 4.0))));
    assert_eq!((a.infinite.as_ref().unwrap().place.row, a.stray.as_ref()), (4, None));
    assert_eq!((b.numeric, b.booleans, b.dates, b.missing), (1, 1, 1, 0));
    assert_eq!(b.levels.as_deref().unwrap(), ["2", "2020-01-01", "TRUE", "x"]);
    assert_eq!(b.stray.as_ref().unwrap().text, "x");
    let error = survey.column("bb").unwrap_err();
    assert_eq!(message(&folder, error), "t.csv: there is no column \"bb\"; the nearest name is \"b\"");
}

#[test]
fn typed_files_are_surveyed_by_their_types() {
    let folder = folder();
    std::fs::write(folder.path().join("t.npy"), write_npy("|b1", false, "(3,)", &[1, 0, 1])).unwrap();
    let survey = open(&folder, "t.npy").unwrap().survey().unwrap();
    assert_eq!(survey.features(&["x0".into()]).unwrap().columns[0].1, Kind::Bool);
    assert_eq!(survey.column("x0").unwrap().levels.as_deref().unwrap(), ["false", "true"]);
    std::fs::write(folder.path().join("t.npy"), write_npy("|u1", false, "(3,)", &[9, 10, 9])).unwrap();
    let options = ReadOptions { na: vec!["10".into()], ..ReadOptions::default() };
    let survey = Table::open(&folder.path().join("t.npy"), &options).unwrap().survey().unwrap();
    let column = survey.column("x0").unwrap();
    assert_eq!((column.numeric, column.missing, column.range), (2, 1, Some((9.0, 9.0))));
}
