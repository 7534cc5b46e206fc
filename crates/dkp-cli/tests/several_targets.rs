//! Several targets with the real binary: `--target a --target b`, and a matrix of them.

mod support;

use dkp_table::{Format, Kind, ReadOptions, Table, Writer};
use serde_json::{Value, json};
use support::Place;

const TINY: [&str; 10] =
    ["--inducing", "12", "--steps", "40", "--start-steps", "150", "--draws", "2", "--likelihood", "gaussian"];

/// Heat in thousands with decimal commas, wear in thousandths, which a third of the rows lack.
fn engines() -> String {
    let row = |i: usize| {
        let x = 6.0 * (i as f64 * 0.618_034).fract();
        let noise = (i as f64 * 0.414_214).fract() - 0.5;
        let heat = format!("{:.3}", 1e3 * x.sin() + 50.0 * noise).replace('.', ",");
        let wear =
            if i % 3 == 1 { String::new() } else { format!("{:.7}", 1e-3 * x.cos() + 1e-4 * noise).replace('.', ",") };
        format!("{};{heat};{wear};engine {}\n", format!("{x:.4}").replace('.', ","), i % 4)
    };
    "load;heat;wear;name\n".to_string() + &(0..120).map(row).collect::<String>()
}

#[test]
fn two_columns_are_predicted_together() {
    let place = Place::new();
    place.write("engines.csv", engines());
    let both = [&["train", "engines.csv", "--target", "heat", "--target", "wear", "--id", "name"], &TINY[..]].concat();
    let said = place.done(&both);
    for line in ["regression of heat, wear (--task overrides)", "the target \"wear\" is missing in "] {
        assert!(said.err.contains(line), "{line}: {}", said.err);
    }
    let order: Vec<usize> =
        ["on 12 held-out rows:\n  log-likelihood", "\nheat\n  log-likelihood", "\nwear\n  log-likelihood"]
            .iter()
            .map(|part| said.out.find(part).unwrap_or_else(|| panic!("{part}: {}", said.out)))
            .collect();
    assert!(order.is_sorted());

    // predictions are written as the table is, a block of columns a target
    place.done(&["predict", "engines.dkp", "engines.csv", "--quiet"]);
    let written = place.text("engines-predictions.csv");
    let head = "name,heat: mean,heat: sd,heat: sd of model,heat: sd of noise,heat: quantile 0.05,heat: quantile 0.5,heat: quantile 0.95,wear: mean";
    assert!(written.replace(';', ",").starts_with(head), "{}", &written[..200]);
    let cells: Vec<&str> = written.lines().nth(1).unwrap().split(';').collect();
    assert!(cells.len() == 15 && cells[0] == "engine 0" && cells[1].contains(','), "{cells:?}");

    let told = |arguments: &[&str]| serde_json::from_str::<Value>(&place.done(arguments).out).unwrap();
    let judged = told(&["evaluate", "engines.dkp", "engines.csv", "--json"]);
    assert_eq!((&judged["rows"], &judged["targets"][1]["rows"]), (&json!(120), &json!(80)));
    assert_eq!(judged["targets"][1]["target"], json!("wear"));
    assert!(
        judged["targets"][0]["rmse"].as_f64().unwrap() < 60.0 && judged["targets"][1]["rmse"].as_f64().unwrap() < 1e-4
    );
    let inspected = told(&["inspect", "engines.dkp", "--json"]);
    assert_eq!(inspected["targets"], json!(["heat", "wear"]));
    assert!(inspected["learned"]["likelihood.noise of wear"].is_number());
    let text = place.done(&["inspect", "engines.dkp"]).out;
    assert!(text.contains(" in units of heat\n") && text.contains(" in units of wear\n"), "{text}");
    place.done(&["report", "engines.dkp", "--quiet"]);
    assert!(place.text("engines.html").contains("<h3 class=\"target\">wear</h3>"));

    let other = [&both[..], &["--out", "other.dkp", "--kernel", "linear", "--quiet"]].concat();
    place.done(&other);
    let compared = place.done(&["compare", "engines.dkp", "other.dkp", "engines.csv", "--report", "c.html"]).out;
    assert!(compared.contains("\nwear\n  log-likelihood") && compared.contains("other.dkp is worse"), "{compared}");
    assert!(place.text("c.html").contains("wear: RMSE"));

    // settings from a file, and back
    place.write("both.toml", "[table]\ntarget = [\"heat\", \"wear\"]\nid = [\"name\"]\n");
    place.done(&[&["train", "engines.csv", "--config", "both.toml", "--out", "c.dkp", "--quiet"], &TINY[..]].concat());
    assert_eq!(place.read("c.dkp"), place.read("engines.dkp"));
    let config = place.done(&["config", "--config", "both.toml"]).out;
    assert!(config.contains("target = [\"heat\", \"wear\"]"), "{config}");
    let folds = place.done(&[&both[..], &["--folds", "2", "--out", "f.dkp", "--quiet"]].concat());
    assert_eq!((folds.code, folds.out.as_str()), (0, ""));
}

#[test]
fn a_matrix_of_targets() {
    let place = Place::new();
    place.write("t.csv", engines().replace(';', "\t").replace(',', "."));
    let read = Table::open(&place.file("t.csv"), &ReadOptions::default()).unwrap();
    for (name, columns) in [("X.npy", vec!["load"]), ("y.npy", vec!["heat", "wear"])] {
        let columns: Vec<(String, Kind)> = columns.iter().map(|c| (c.to_string(), Kind::Number)).collect();
        let mut writer = Writer::create(&place.file(name), Format::Npy, &columns).unwrap();
        writer.write(&read.read(&columns).unwrap()).unwrap();
        writer.finish().unwrap();
    }
    place.done(&[&["train", "X.npy", "--target", "y.npy", "--quiet"], &TINY[..]].concat());
    let judged = place.done(&["evaluate", "X.dkp", "X.npy", "--target", "y.npy"]).out;
    assert!(judged.contains("\ny0\n") && judged.contains("\ny1\n"), "{judged}");
    // the same model as of the columns by their names
    let named = [&["train", "t.csv", "--target", "heat", "--target", "wear", "--ignore", "name", "--quiet"], &TINY[..]];
    place.done(&named.concat());
    let other = place.done(&["evaluate", "t.dkp", "t.csv"]).out;
    assert_eq!(judged.replace("\ny0\n", "\nheat\n").replace("\ny1\n", "\nwear\n"), other);
    place.done(
        &[&["train", "t.csv", "--target", "heat", "--ignore", "name,wear", "--out", "one.dkp", "--quiet"], &TINY[..]]
            .concat(),
    );
    let many = place.dkp(&["evaluate", "one.dkp", "X.npy", "--target", "y.npy"]);
    assert_eq!(
        (many.code, many.err.as_str()),
        (2, "dkp: --target y.npy: it has several columns where one is needed\n")
    );
    let few = place.dkp(&["evaluate", "t.dkp", "X.npy", "--target", "X.npy"]);
    assert_eq!(few.code, 2);
    assert!(few.err.contains("it has 1 column where 2 are needed"), "{}", few.err);
}

#[test]
fn what_several_targets_cannot_be() {
    let place = Place::new();
    place.write("engines.csv", engines());
    let refused = |flags: &[&str]| {
        let said = place.dkp(&[&["train", "engines.csv", "--target", "heat"], flags].concat());
        assert_eq!((said.code, said.err.lines().count()), (2, 1), "{}", said.err);
        said.err
    };
    for (flags, message) in [
        (&["--target", "name"][..], "column \"name\" holds classes, but several targets must be numbers"),
        (&["--target", "heat"], "--target heat: it is given twice"),
        (&["--target", "speed"], "there is no column \"speed\""),
        (
            &["--target", "wear", "--likelihood", "gaussian(3)"],
            "--likelihood gaussian(3): this is for 3 targets, but there are 2",
        ),
        (&["--target", "wear", "--task", "classification"], "--task classification: several targets must be numbers"),
        (&["--target", "name", "--task", "regression"], "holds text, such as \"engine 0\""),
    ] {
        let said = refused(flags);
        assert!(said.contains(message), "{said}");
    }
}
