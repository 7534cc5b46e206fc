//! `dkp compare`: several models on the same rows, in the terminal, as JSON and as a page.

mod support;

use serde_json::Value;
use support::{Place, flats};

/// Flags for a tiny model.
const TINY: [&str; 9] = ["--inducing", "10", "--steps", "20", "--start-steps", "20", "--draws", "1", "--quiet"];

fn train(place: &Place, flags: &[&str]) {
    place.done(&[&["train", "flats.csv", "--target"], flags, &TINY].concat());
}

#[test]
fn models_are_compared_on_the_same_rows() {
    let place = Place::new();
    place.write("flats.csv", flats());
    train(&place, &["price", "--ignore", "id,sold,kind", "--out", "a.dkp"]);
    train(&place, &["price", "--ignore", "id,sold,kind,area", "--family", "nngp", "--out", "b.dkp"]);
    place.write("more.csv", flats() + "flat 120,2,40,Bath,true,,no,studio\n");
    let said = place.done(&["compare", "a.dkp", "b.dkp", "a.dkp", "more.csv", "--report", "page.html"]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines[0], "on 120 rows of more.csv (left out: 1 without a known target):");
    let words = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(words(lines[1]), ["a.dkp", "b.dkp", "a.dkp"]);
    let find = |name: &str| lines.iter().filter(|l| l.trim_start().starts_with(name)).collect::<Vec<_>>();
    let [values, differences] = find("RMSE")[..] else { panic!("{}", said.out) };
    // columns are aligned, and equal models do not differ
    assert_eq!(lines[1].len(), values.len(), "{}", said.out);
    let values = words(values);
    assert_eq!(values[1], values[3]);
    assert!(differences.ends_with("+0.0000 ± 0.0000"), "{differences}");
    assert!(lines.contains(&"a.dkp and a.dkp cannot be told apart by the log-likelihood"), "{}", said.out);
    assert!(lines.iter().any(|l| l.starts_with("b.dkp is worse than a.dkp by the log-likelihood")), "{}", said.out);
    assert_eq!(said.err, "report written to page.html\n");
    let page = place.text("page.html");
    assert!(
        page.contains("more.csv: 3 models compared") && page.matches("<svg").count() == 4 && !page.contains("<script")
    );
    assert!(page.contains("120\u{a0}rows (left out: 1 without a known target)"));

    let told = place.done(&["compare", "a.dkp", "b.dkp", "more.csv", "--json"]);
    assert_eq!(told.err, "");
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(
        (&told["rows"], &told["without_target"], &told["targets"]),
        (&120.into(), &1.into(), &serde_json::json!(["price"]))
    );
    let [a, b] = [&told["models"][0], &told["models"][1]];
    assert_eq!((&a["name"], &b["name"]), (&"a.dkp".into(), &"b.dkp".into()));
    for (model, name) in [(a, "a.dkp"), (b, "b.dkp")] {
        let alone: Value = serde_json::from_str(&place.done(&["evaluate", name, "more.csv", "--json"]).out).unwrap();
        assert_eq!(model["metrics"], alone);
    }
    let rmse = &b["differences"]["rmse"];
    let expected = b["metrics"]["rmse"].as_f64().unwrap() - a["metrics"]["rmse"].as_f64().unwrap();
    assert!(
        (rmse["value"].as_f64().unwrap() - expected).abs() < 1e-9 && rmse["standard_error"].as_f64().unwrap() > 0.0
    );
    assert!(b["differences"]["calibration"]["standard_error"].is_null());
}

/// Each model reads the table as its own training table was written.
#[test]
fn each_model_reads_the_table_in_its_own_way() {
    let place = Place::new();
    place.write("flats.csv", flats());
    train(&place, &["kind", "--ignore", "id,sold,price", "--out", "a.dkp"]);
    train(&place, &["kind", "--ignore", "id,sold,price", "--na", "large", "--out", "b.dkp"]);
    let refused = place.dkp(&["compare", "a.dkp", "b.dkp", "flats.csv"]);
    assert!(refused.code == 2 && refused.err.contains("a.dkp and b.dkp have the classes"), "{refused:?}");
    train(&place, &["price", "--ignore", "id,sold,kind", "--out", "a.dkp"]);
    train(&place, &["price", "--ignore", "id,sold,kind", "--na", "Bath", "--out", "b.dkp"]);
    let said = place.done(&["compare", "a.dkp", "b.dkp", "flats.csv"]);
    assert!(said.out.starts_with("on 120 rows of flats.csv:\n") && said.err.is_empty(), "{said:?}");
}
