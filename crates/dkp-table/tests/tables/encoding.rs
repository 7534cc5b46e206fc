//! What the training rows say about encoding, and nothing else.

use crate::common::{csv, folder, open};
use dkp_table::{Column, Encoder, Format, Frame, Kind, Table, Target, Unfamiliar, Writer};

const NAN: f64 = f64::NAN;

fn texts(of: &[Option<&str>]) -> Column {
    Column::Texts(of.iter().copied().collect())
}

/// Age, colour and whether retired of five people, of whom the first three are for training.
fn people() -> (Frame, Vec<(String, Kind)>) {
    let frame = Frame::new(
        0,
        vec![
            ("age".into(), Column::Numbers(vec![20.0, 80.0, 30.0, NAN, 50.0])),
            ("colour".into(), texts(&[Some("red"), None, Some("blue"), Some("pink"), None])),
            ("retired".into(), Column::Numbers(vec![0.0, 1.0, NAN, NAN, 1.0])),
            ("town".into(), texts(&[Some("Bath"), Some("Bath"), Some("Bath"), None, Some("York")])),
        ],
    );
    let kinds = [Kind::Number, Kind::Text, Kind::Bool, Kind::Text];
    let frame = frame.unwrap();
    let columns = frame.columns().iter().zip(kinds).map(|(c, kind)| (c.0.clone(), kind)).collect();
    (frame, columns)
}

#[test]
fn features_have_names_and_sources() {
    let (frame, columns) = people();
    let encoder = Encoder::fit(&frame, &[0, 1, 2], &columns).unwrap();
    let features: Vec<(String, String)> = encoder.features().into_iter().map(|f| (f.name, f.column)).collect();
    let expected = [
        ("age", "age"),
        ("colour = blue", "colour"),
        ("colour = red", "colour"),
        ("colour = (missing)", "colour"),
        ("retired", "retired"),
        ("retired is missing", "retired"),
        ("town = Bath", "town"),
    ];
    assert_eq!(features, expected.map(|(a, b)| (a.to_string(), b.to_string())));
    assert_eq!((encoder.width(), encoder.columns()), (7, columns));
}

#[test]
fn rows_are_encoded_by_the_training_rows_alone() {
    let (frame, columns) = people();
    let encoder = Encoder::fit(&frame, &[0, 1, 2], &columns).unwrap();
    let (points, unfamiliar) = encoder.encode(&frame).unwrap();
    let expected = [
        [20.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        [80.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
        [30.0, 1.0, 0.0, 0.0, 0.5, 1.0, 1.0],
        // the median age, no colour that is known, the median of retired, no town
        [30.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0],
        [50.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
    ];
    assert_eq!(points, expected.concat());
    let count = |of: &[(&str, usize)]| of.iter().map(|(c, n)| (c.to_string(), *n)).collect();
    let counted =
        Unfamiliar { unseen: count(&[("colour", 1), ("town", 1)]), missing: count(&[("age", 1), ("town", 1)]) };
    assert_eq!(unfamiliar, counted);
    let mut twice = unfamiliar.clone();
    twice.add(&unfamiliar);
    assert_eq!((twice.unseen["colour"], twice.missing["age"]), (2, 2));
}

#[test]
fn frames_encode_like_the_whole() {
    let folder = folder();
    let table = csv(&folder, "a,b\n1,x\nNA,y\n3,\n4,x\n5,z\n");
    let columns = [("b".to_string(), Kind::Text), ("a".to_string(), Kind::Number)];
    let whole = table.read(&columns).unwrap();
    let encoder = Encoder::fit(&whole, &[0, 1, 2, 3, 4], &columns).unwrap();
    let parts = table.frames(&encoder.columns(), 2).unwrap().map(|f| encoder.encode(&f.unwrap()).unwrap().0);
    assert_eq!(parts.collect::<Vec<_>>().concat(), encoder.encode(&whole).unwrap().0);
}

#[test]
fn chosen_rows_encode_as_they_do_in_the_whole() {
    let (frame, columns) = people();
    let encoder = Encoder::fit(&frame, &[0, 1, 2], &columns).unwrap();
    let (whole, all) = encoder.encode(&frame).unwrap();
    let rows = [4, 0, 3, 3];
    let expected: Vec<f64> = rows.iter().flat_map(|r| whole[r * 7..(r + 1) * 7].to_vec()).collect();
    let (points, unfamiliar) = encoder.encode_rows(&frame, &rows).unwrap();
    assert_eq!((points, unfamiliar.missing["age"], unfamiliar.unseen["town"]), (expected, 2, 1));
    // the parts of a split are together the whole
    let mut parts = encoder.encode_rows(&frame, &[0, 1, 2]).unwrap().1;
    parts.add(&encoder.encode_rows(&frame, &[3, 4]).unwrap().1);
    assert_eq!(parts, all);
    assert_eq!(encoder.encode_rows(&frame, &[]).unwrap(), (vec![], Unfamiliar::default()));
    for (name, kind) in [("colour", Kind::Text), ("age", Kind::Number)] {
        let target = Target::fit(&frame, &[0, 1, 2], name, kind).unwrap();
        let (whole, some) = (target.encode(&frame).unwrap(), target.encode_rows(&frame, &rows).unwrap());
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&some.values), bits(&rows.map(|r| whole.values[r])));
        let missing: Vec<usize> = rows.into_iter().filter(|r| whole.missing.contains(r)).collect();
        let unseen: Vec<usize> = rows.into_iter().filter(|r| whole.unseen.contains(r)).collect();
        assert_eq!((some.missing, some.unseen), (missing, unseen));
        let error = target.encode_rows(&frame, &[5]).unwrap_err().to_string();
        assert_eq!(error, "row 5 is not in the frame, which has 5");
    }
    assert!(encoder.encode_rows(&frame, &[0, 5]).is_err());
}

#[test]
fn a_column_without_training_values_is_left_out() {
    let (frame, columns) = people();
    let encoder = Encoder::fit(&frame, &[3], &columns).unwrap();
    assert_eq!(encoder.ignored(), ["age", "retired", "town"]);
    assert_eq!(encoder.features().len(), 1);
}

#[test]
fn encoders_and_targets_survive_serialisation() {
    let (frame, columns) = people();
    let encoder = Encoder::fit(&frame, &[0, 1, 2], &columns).unwrap();
    let read: Encoder = serde_json::from_str(&serde_json::to_string(&encoder).unwrap()).unwrap();
    assert_eq!(read, encoder);
    let target = Target::fit(&frame, &[0, 2], "colour", Kind::Text).unwrap();
    let read: Target = serde_json::from_str(&serde_json::to_string(&target).unwrap()).unwrap();
    assert_eq!(read, target);
    assert_eq!(target.classes().unwrap(), ["blue", "red"]);
}

#[test]
fn the_median_of_the_largest_doubles_is_finite() {
    let frame = Frame::new(0, vec![("a".into(), Column::Numbers(vec![f64::MAX, f64::MAX, NAN]))]).unwrap();
    let encoder = Encoder::fit(&frame, &[0, 1], &[("a".into(), Kind::Number)]).unwrap();
    assert_eq!(encoder.encode(&frame).unwrap().0, [f64::MAX; 3]);
}

#[test]
fn targets_tell_missing_from_unseen() {
    let (frame, _) = people();
    let target = Target::fit(&frame, &[0, 1, 2], "colour", Kind::Text).unwrap();
    let encoded = target.encode(&frame).unwrap();
    assert_eq!((encoded.missing, encoded.unseen), (vec![1, 4], vec![3]));
    assert_eq!((encoded.values[0], encoded.values[2]), (1.0, 0.0));
    assert!([1, 3, 4].iter().all(|&i| encoded.values[i].is_nan()));
    let target = Target::fit(&frame, &[0, 1], "age", Kind::Number).unwrap();
    assert_eq!((target.classes(), target.encode(&frame).unwrap().missing), (None, vec![3]));
    assert_eq!(target.column(), ("age".to_string(), Kind::Number));
}

#[test]
fn numeric_labels_sort_as_numbers_however_they_are_written() {
    let labels = |of: &[&str]| {
        let column = Column::Texts(of.iter().map(|&t| Some(t)).collect());
        let frame = Frame::new(0, vec![("c".into(), column)]).unwrap();
        let rows: Vec<usize> = (0..of.len()).collect();
        Target::fit(&frame, &rows, "c", Kind::Text).unwrap().classes().unwrap().to_vec()
    };
    assert_eq!(labels(&["10", "9", "-1", "9.0", "0", "-0"]), ["-1", "0", "9", "10"]);
    assert_eq!(labels(&["10", "9", "a"]), ["10", "9", "a"]);
}

#[test]
fn rows_and_columns_that_are_not_there_are_errors() {
    let (frame, columns) = people();
    let error = Encoder::fit(&frame, &[5], &columns).unwrap_err().to_string();
    assert_eq!(error, "row 5 is not in the frame, which has 5");
    let encoder = Encoder::fit(&frame, &[0], &columns).unwrap();
    let other = Frame::new(0, vec![("age".into(), texts(&[None]))]).unwrap();
    let error = encoder.encode(&other).unwrap_err().to_string();
    assert_eq!(error, "the frame's column \"age\" does not hold numbers");
    let other = Frame::new(0, vec![("age".into(), Column::Numbers(vec![1.0]))]).unwrap();
    assert_eq!(encoder.encode(&other).unwrap_err().to_string(), "the frame has no column \"colour\"");
    let unequal = vec![("a".into(), Column::Numbers(vec![])), ("b".into(), texts(&[None]))];
    let error = Frame::new(0, unequal).unwrap_err().to_string();
    assert_eq!(error, "column \"b\" has 1 rows, but the frame has 0");
}

#[test]
fn the_formats_agree() {
    let folder = folder();
    let (frame, columns) = people();
    let encoder = Encoder::fit(&frame, &[0, 1, 2], &columns).unwrap();
    for (name, format) in [("t.csv", Format::Csv), ("t.jsonl", Format::Json), ("t.parquet", Format::Parquet)] {
        let mut writer = Writer::create(&folder.path().join(name), format, &columns).unwrap();
        writer.write(&frame).unwrap();
        writer.finish().unwrap();
        let table: Table = open(&folder, name).unwrap();
        let survey = table.survey().unwrap();
        assert_eq!(survey.features(table.names()).unwrap().columns, columns, "{name}");
        let read = table.read(&encoder.columns()).unwrap();
        assert_eq!(encoder.encode(&read).unwrap(), encoder.encode(&frame).unwrap(), "{name}");
    }
}
