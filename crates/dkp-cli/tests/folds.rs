//! `dkp train --folds`: cross-validation with the real binary.

mod support;

use serde_json::Value;
use std::time::{Duration, Instant};
use support::{Outcome, Place, flats};

const TINY: [&str; 8] = ["--inducing", "10", "--steps", "20", "--start-steps", "20", "--draws", "1"];
const BASE: [&str; 6] = ["train", "flats.csv", "--target", "price", "--ignore", "id,sold,kind"];

#[test]
fn a_small_table_is_judged_by_its_folds() {
    let place = Place::new();
    place.write("flats.csv", flats());
    let flags = |more: &[&'static str]| [&BASE[..], more, &TINY].concat();
    let said = place.done(&flags(&["--folds", "3"]));
    for line in [
        "flats.csv: 120 rows to learn from, in 3 folds; 7 features",
        "fold 1 of 3\n",
        "fold 3 of 3: log-likelihood",
        "all rows\n",
    ] {
        assert!(said.err.contains(line), "{line}: {}", said.err);
    }
    let head = "cross-validated: 3 folds at random, each judged by a model of the others\non 120 rows, and the mean of folds ± its standard error:\n";
    assert!(said.out.contains(head), "{}", said.out);
    let rmse = said.out.lines().find(|l| l.trim_start().starts_with("RMSE")).unwrap();
    assert!(rmse.contains(" ± "), "{rmse}");
    assert!(!place.file("flats.run/folds").exists());
    assert!(place.done(&["inspect", "flats.dkp"]).out.contains(head));
    place.done(&["report", "flats.dkp", "--quiet"]);
    assert!(
        place.text("flats.html").contains("Cross-validated: 3 folds at random, each judged by a model of the others.")
    );

    // the same seed gives the same bits, on any number of threads
    place.done(&flags(&["--folds", "3", "--out", "again.dkp", "--quiet", "--threads", "1"]));
    assert_eq!(place.read("again.dkp"), place.read("flats.dkp"));
    let told = place.done(&flags(&["--folds", "3", "--out", "again.dkp", "--seed", "1", "--json"])).out;
    assert_ne!(place.read("again.dkp"), place.read("flats.dkp"));
    let told: Value = serde_json::from_str(&told).unwrap();
    let validated = &told["cross_validation"];
    assert_eq!((validated["folds"].as_array().unwrap().len(), &told["rows"]["trained"]), (3, &120.into()));
    assert_eq!((&told["evaluation"]["rows"], &told["rows"]["held_out"]), (&120.into(), &0.into()));
    let values: Vec<f64> = (0..3).map(|k| validated["folds"][k]["crps"].as_f64().unwrap()).collect();
    let mean = values.iter().sum::<f64>() / 3.0;
    let over = &validated["over_folds"]["crps"];
    assert!((over["mean"].as_f64().unwrap() - mean).abs() < 1e-9 && over["standard_error"].as_f64().unwrap() > 0.0);
    let inspected = place.done(&["inspect", "again.dkp", "--json"]).out;
    assert_eq!(serde_json::from_str::<Value>(&inspected).unwrap()["cross_validation"], *validated);
    // a model that is not cross-validated says nothing of it
    assert!(!place.done(&flags(&["--out", "plain.dkp"])).out.contains("cross-validated"));

    // rows are placed by a time, and settings may come from a file
    place.write("folds.toml", "[table]\ntarget = \"price\"\nfolds = 2\ntime = \"rooms\"\n");
    let said = place
        .done(&[&["train", "flats.csv", "--config", "folds.toml", "--ignore", "id,sold,kind"], &TINY[..]].concat());
    let line = "cross-validated: 2 folds in the order of \"rooms\", each judged by a model of the rows before it; 48 rows are not judged\non 72 rows";
    assert!(said.out.contains(line), "{}", said.out);
    let config = place.done(&["config", "--config", "folds.toml"]).out;
    assert!(config.contains("folds = 2"), "{config}");
}

/// Ctrl-C in a fold ends the run in one line; killed and resumed, it gives the bytes of a run that was not stopped.
#[cfg(unix)]
#[test]
fn a_run_that_is_stopped_in_a_fold_goes_on() {
    let place = Place::new();
    place.write("flats.csv", flats());
    let steps =
        ["--folds", "3", "--inducing", "10", "--steps", "1500", "--start-steps", "20", "--draws", "1", "--quiet"];
    let arguments = |out: &'static str| [&BASE[..], &steps, &["--out", out]].concat();
    place.done(&arguments("whole.dkp"));
    let begun = |file: &str| {
        let (file, begun) = (place.file(file), Instant::now());
        while !file.exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(file.exists());
    };
    let child = place.command(&arguments("part.dkp")).stderr(std::process::Stdio::piped()).spawn().unwrap();
    begun("part.run/folds/fold-1.dkp");
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let told =
        [2, 3].map(|fold| format!("dkp: stopped in fold {fold} of 3; go on with `dkp train --resume part.run`\n"));
    assert!(told.contains(&outcome.err), "{outcome:?}");
    let again = place.dkp(&arguments("part.dkp"));
    assert!(again.code == 2 && again.err.contains("part.run is an unfinished run"), "{again:?}");
    assert!(place.text("part.run/settings.toml").contains("folds = 3"));
    place.done(&["report", "part.run", "--out", "going.html", "--quiet"]);
    let mut child = place.command(&["train", "--resume", "part.run", "--quiet"]).spawn().unwrap();
    begun("part.run/folds/fold-2.dkp");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.file("part.dkp").exists());
    place.done(&["train", "--resume", "part.run", "--quiet"]);
    assert_eq!(place.read("part.dkp"), place.read("whole.dkp"));
    assert_eq!(place.read("part.run/metrics.jsonl"), place.read("whole.run/metrics.jsonl"));
    assert!(!place.file("part.run/folds").exists());
}
