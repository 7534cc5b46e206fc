//! Columns in memory are the table that a file of them would be.

use crate::common::{folder, message};
use dkp_table::{
    Column, DateForm, Encoder, Error, Format, Frame, Kind, Origin, ReadOptions, Survey, Table, Target, Texts, Values,
    Writer,
};
use proptest::prelude::*;

fn table(columns: Vec<(&str, Values)>) -> Table {
    Table::from_columns(columns, &[]).unwrap()
}

fn feature(values: Values) -> Result<Option<Kind>, String> {
    let survey = table(vec![("c", values)]).survey().unwrap();
    let features = survey.features(&["c".into()]).map_err(|e| e.to_string())?;
    Ok(features.columns.first().map(|c| c.1))
}

/// Rows of a number, an integer, a truth value and a text, each of which may be missing.
type Rows = Vec<(f64, Option<i64>, Option<bool>, Option<&'static str>)>;

fn rows() -> impl Strategy<Value = Rows> {
    let number = proptest::sample::select(vec![0.0, -0.5, 3.0, 0.1, 1e300, 7e-9, f64::NAN]);
    let text =
        proptest::sample::select(vec!["red", "a, \"b\"", "é\n", "12", "-0.5", "true", "2024-01-31", "2024-02-01"]);
    let row =
        (number, proptest::option::of(-5..5_i64), proptest::option::of(any::<bool>()), proptest::option::of(text));
    proptest::collection::vec(row, 1..40)
}

fn in_memory(rows: &Rows) -> Table {
    table(vec![
        ("number", rows.iter().map(|r| r.0).collect::<Vec<f64>>().into()),
        ("integer", rows.iter().map(|r| r.1).collect::<Vec<_>>().into()),
        ("truth", rows.iter().map(|r| r.2).collect::<Vec<_>>().into()),
        ("text", rows.iter().map(|r| r.3).collect::<Vec<_>>().into()),
    ])
}

fn on_disk(rows: &Rows, folder: &tempfile::TempDir, name: &str, format: Format) -> Table {
    let truth = |t: Option<bool>| t.map_or(f64::NAN, f64::from);
    let columns = vec![
        ("number".into(), Column::Numbers(rows.iter().map(|r| r.0).collect())),
        ("integer".into(), Column::Numbers(rows.iter().map(|r| r.1.map_or(f64::NAN, |v| v as f64)).collect())),
        ("truth".into(), Column::Numbers(rows.iter().map(|r| truth(r.2)).collect())),
        ("text".into(), Column::Texts(rows.iter().map(|r| r.3).collect())),
    ];
    let kinds = [Kind::Number, Kind::Number, Kind::Bool, Kind::Text];
    let frame = Frame::new(0, columns).unwrap();
    let kinds: Vec<_> = frame.columns().iter().zip(kinds).map(|(c, kind)| (c.0.clone(), kind)).collect();
    let mut writer = Writer::create(&folder.path().join(name), format, &kinds).unwrap();
    writer.write(&frame).unwrap();
    writer.finish().unwrap();
    Table::open(&folder.path().join(name), &ReadOptions::default()).unwrap()
}

/// What the columns are typed as, or the message without the file and the dashes of flags.
fn typed(folder: &tempfile::TempDir, survey: &Survey) -> Vec<Result<Kind, String>> {
    let said = |e: Error| {
        let text = message(folder, e);
        let text = text.strip_prefix("t.csv: ").or(text.strip_prefix("t.parquet: ")).unwrap_or(&text);
        let text = ["--ignore", "--na", "--id"].iter().fold(text.to_string(), |t, flag| t.replace(flag, &flag[2..]));
        match (text.find(" (line "), text.find(", column")) {
            (Some(a), Some(b)) if a < b => [&text[..a], &text[b..]].concat(),
            _ => text,
        }
    };
    let features = survey.columns().iter().map(|c| match survey.features(std::slice::from_ref(&c.name)) {
        Ok(features) => features.columns.first().map(|c| c.1).ok_or("ignored".to_string()),
        Err(error) => Err(said(error)),
    });
    let targets = |classes: bool| survey.columns().iter().map(move |c| survey.target(&c.name, classes).map_err(said));
    features.chain(targets(false)).chain(targets(true)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_table_in_memory_is_surveyed_typed_and_encoded_like_its_file(rows in rows()) {
        let folder = folder();
        let memory = in_memory(&rows);
        let survey = memory.survey().unwrap();
        for (name, format) in [("t.csv", Format::Csv), ("t.parquet", Format::Parquet)] {
            let file = on_disk(&rows, &folder, name, format);
            let on_disk = file.survey().unwrap();
            prop_assert_eq!(memory.names(), file.names());
            let without_lines = |survey: &Survey| {
                let mut columns = survey.columns().to_vec();
                columns.iter_mut().flat_map(|c| &mut c.stray).for_each(|stray| stray.place.within = None);
                columns
            };
            prop_assert_eq!(without_lines(&survey), without_lines(&on_disk));
            prop_assert_eq!(typed(&folder, &survey), typed(&folder, &on_disk));
            for kinds in [[Kind::Number, Kind::Number, Kind::Bool, Kind::Text], [Kind::Text; 4]] {
                let columns: Vec<_> = memory.names().iter().cloned().zip(kinds).collect();
                let (ours, theirs) = (memory.read(&columns).unwrap(), file.read(&columns).unwrap());
                let train: Vec<usize> = (0..rows.len()).step_by(2).collect();
                let encoder = Encoder::fit(&ours, &train, &columns).unwrap();
                prop_assert_eq!(&encoder, &Encoder::fit(&theirs, &train, &columns).unwrap());
                prop_assert_eq!(encoder.encode(&ours).unwrap(), encoder.encode(&theirs).unwrap());
                let target = Target::fit(&ours, &train, "text", Kind::Text).unwrap();
                prop_assert_eq!(&target, &Target::fit(&theirs, &train, "text", Kind::Text).unwrap());
            }
        }
    }
}

#[test]
fn columns_are_what_they_are_given_as() {
    assert_eq!(feature(vec![1.5, f64::NAN].into()), Ok(Some(Kind::Number)));
    assert_eq!(feature(vec![Some(1.5), None].into()), Ok(Some(Kind::Number)));
    assert_eq!(feature(vec![1, 0].into()), Ok(Some(Kind::Number)));
    assert_eq!(feature(vec![true, false].into()), Ok(Some(Kind::Bool)));
    assert_eq!(feature(vec!["red".to_string()].into()), Ok(Some(Kind::Text)));
    assert_eq!(feature(vec![Some("red".to_string()), None].into()), Ok(Some(Kind::Text)));
    assert_eq!(feature(vec![None::<&str>; 3].into()), Ok(None));
    assert_eq!(feature(Column::Numbers(vec![1.0]).into()), Ok(Some(Kind::Number)));
    // texts are seen through, as in files that have types; only None is missing
    assert_eq!(feature(vec!["1", "2"].into()), Ok(Some(Kind::Number)));
    assert_eq!(feature(vec!["true", "FALSE"].into()), Ok(Some(Kind::Bool)));
    assert_eq!(table(vec![("c", vec!["NA", ""].into())]).survey().unwrap().columns()[0].missing, 0);
}

#[test]
fn categories_are_nothing_else() {
    for values in [
        Values::from(vec![3.5, 2.0, f64::NAN]),
        vec![3, 1, 3].into(),
        vec![true, false].into(),
        vec!["1", "2"].into(),
        vec!["2024-01-31", "2024-02-01"].into(),
    ] {
        let (values, plain) = (values.clone().into_categories(), table(vec![("c", values)]));
        assert_eq!(feature(values.clone()), Ok(Some(Kind::Text)), "{values:?}");
        let declared = table(vec![("c", values)]);
        assert_eq!(declared.survey().unwrap().target("c", false).unwrap(), Kind::Text);
        // a model that learned of categories reads them from the plain column too
        let columns = [("c".to_string(), Kind::Text)];
        assert_eq!(declared.read(&columns).unwrap(), plain.read(&columns).unwrap());
    }
}

#[test]
fn integers_keep_their_digits_as_text() {
    let table = table(vec![("id", vec![i64::MAX, 9_007_199_254_740_993].into())]);
    let frame = table.read(&[("id".into(), Kind::Text)]).unwrap();
    assert_eq!(
        frame.texts("id").unwrap().iter().flatten().collect::<Vec<_>>(),
        ["9223372036854775807", "9007199254740993"]
    );
    assert_eq!(table.read(&[("id".into(), Kind::Number)]).unwrap().numbers("id").unwrap()[0], i64::MAX as f64);
}

#[test]
fn frames_of_memory_are_consecutive_and_what_is_missing_is_told() {
    let texts: Texts = (0..10).map(|i| if i % 3 == 0 { Some("?") } else { Some("x") }).collect();
    let columns = vec![("a", (0..10).map(f64::from).collect::<Vec<f64>>().into()), ("b", texts.into())];
    let table = Table::from_columns(columns, &["?".into(), "4".into()]).unwrap();
    assert_eq!((table.origin(), table.format()), (&Origin::Memory, None));
    let columns = [("b".to_string(), Kind::Text), ("a".to_string(), Kind::Number)];
    let frames: Vec<_> = table.frames(&columns, 4).unwrap().map(Result::unwrap).collect();
    assert_eq!(frames.iter().map(|f| (f.first(), f.rows())).collect::<Vec<_>>(), [(0, 4), (4, 4), (8, 2)]);
    assert!(frames[1].numbers("a").unwrap()[0].is_nan());
    assert_eq!(frames[2].texts("b").unwrap().iter().collect::<Vec<_>>(), [Some("x"), None]);
    let survey = table.survey().unwrap();
    assert_eq!((survey.rows(), survey.column("a").unwrap().missing, survey.column("b").unwrap().missing), (10, 1, 4));
}

#[test]
fn columns_that_make_no_table() {
    let refused = |columns: Vec<(&str, Values)>| Table::from_columns(columns, &[]).unwrap_err().to_string();
    let two = || Values::from(vec![1.0, 2.0]);
    assert_eq!(refused(vec![("a", two()), ("a", two())]), "two columns are named \"a\": rename one");
    assert_eq!(refused(vec![("a", two()), ("", two())]), "column 2 has no name: name it");
    let unequal = vec![("a", two()), ("list", Values::Unsupported("list".into())), ("b", vec![true].into())];
    assert_eq!(refused(unequal), "column \"b\" has 1 rows, but \"a\" has 2: all must have equally many");
    assert_eq!(refused(vec![("a", Vec::<f64>::new().into())]), "the table has no rows");
    assert_eq!(refused(vec![]), "the table has no rows");
}

#[test]
fn messages_without_a_file_name_the_column_and_no_flags() {
    let numbers = |last: f64| Values::from([vec![1.5; 19], vec![last]].concat());
    assert_eq!(
        feature(numbers(f64::INFINITY)),
        Err("row 20, column \"c\": inf is infinite: correct it, or use na \"inf\" if it means a missing value".into())
    );
    assert_eq!(feature(vec!["2024-01-31"; 3].into()), Ok(Some(Kind::Date(DateForm::Iso))));
    let dates = "may begin with the day or the month: write dates as 2024-01-31, or use ignore \"c\"";
    assert_eq!(feature(vec!["03/04/2024"; 3].into()), Err(format!("column \"c\": \"03/04/2024\" {dates}")));
    let names: Vec<String> = (0..1001).map(|i| format!("name {i}")).collect();
    assert_eq!(
        feature(names.into()),
        Err("column \"c\" has more than 1000 different texts: use ignore \"c\", or id \"c\" if it names the rows"
            .into())
    );
    let unsupported = || vec![("c", Values::Unsupported("list".into())), ("d", vec!["x", "3"].into())];
    let expected = "column \"c\" is of type list: expected numbers, booleans or text; use ignore \"c\"";
    let survey = table(unsupported()).survey().unwrap();
    assert_eq!(survey.features(&["c".into()]).unwrap_err().to_string(), expected);
    assert_eq!(survey.features(&["d".into()]).unwrap().columns.len(), 1);
    let read = |name: &str, kind: Kind| table(unsupported()).read(&[(name.into(), kind)]).unwrap_err().to_string();
    assert_eq!(read("c", Kind::Text), expected);
    let na = "correct it, or use na \"x\" if it means a missing value";
    assert_eq!(read("d", Kind::Number), format!("row 1, column \"d\": \"x\" is not a number: {na}"));
    assert_eq!(read("d", Kind::Bool), format!("row 1, column \"d\": \"x\" is neither true nor false: {na}"));
    assert_eq!(read("e", Kind::Bool), "there is no column \"e\"; the nearest name is \"c\"");
    assert_eq!(
        survey.target("dd", false).unwrap_err().to_string(),
        "there is no column \"dd\"; the nearest name is \"d\""
    );
}
