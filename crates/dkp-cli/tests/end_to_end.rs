//! The command from a table to predictions, evaluations and reports.

mod support;

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::{Outcome, Place, SMALL, flats};

fn train(place: &Place, arguments: &[&str]) -> Outcome {
    place.done(&[&["train"], arguments, &SMALL].concat())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_number_is_learned_predicted_and_judged() {
    let place = Place::new();
    place.write("flats.csv", flats());
    let said = train(&place, &["flats.csv", "--target", "price", "--id", "id", "--ignore", "sold,kind"]);
    for line in [
        "flats.csv: 108 rows to learn from, 12 held out; 7 features from 4 columns",
        "  column \"area\" lacks 7 values: the median instead, and a feature that says where",
        "  column \"town\" is text: 3 levels, one feature each",
        "regression of price (--task overrides)",
        "deep inverse Wishart process, 1 hidden layer, sqexp kernel, 15 inducing points",
    ] {
        assert!(said.err.contains(line), "{line}: {}", said.err);
    }
    assert!(
        said.out.contains("on 12 held-out rows:") && said.out.contains("model written to flats.dkp"),
        "{}",
        said.out
    );

    place.done(&["predict", "flats.dkp", "flats.csv"]);
    let predictions = place.text("flats-predictions.csv");
    let mut lines = predictions.lines();
    assert_eq!(lines.next(), Some("id,mean,sd,sd of model,sd of noise,quantile 0.05,quantile 0.5,quantile 0.95"));
    assert_eq!(lines.clone().count(), 120);
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(first[0], "flat 0");
    let numbers: Vec<f64> = first[1..].iter().map(|v| v.parse().unwrap()).collect();
    assert!(numbers[4] < numbers[5] && numbers[5] < numbers[6], "{numbers:?}");
    assert!((numbers[1].powi(2) - numbers[2].powi(2) - numbers[3].powi(2)).abs() < 1e-6 * numbers[1].powi(2));

    let metrics = json(&place.done(&["evaluate", "flats.dkp", "flats.csv", "--json"]).out);
    assert_eq!(metrics["rows"], 120);
    // prices have a standard deviation of about 90
    assert!(metrics["rmse"].as_f64().unwrap() < 30.0, "{metrics}");
    for key in ["log_likelihood", "mae", "crps", "calibration"] {
        assert!(metrics[key].is_number(), "{key}: {metrics}");
    }
    assert!(metrics["coverage"]["90%"].as_f64().unwrap() > 0.7, "{metrics}");

    let told = place.done(&["inspect", "flats.dkp"]).out;
    for part in ["regression of price from flats.csv", "bound ", "layer 1", "δ ", "noise", "area", "town"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = json(&place.done(&["inspect", "flats.dkp", "--json"]).out);
    let shares: f64 = told["relevance"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9 && told["targets"] == serde_json::json!(["price"]));

    place.done(&["report", "flats.dkp"]);
    let page = place.text("flats.html");
    assert!(page.starts_with("<!doctype html>") && page.matches("<svg").count() > 8, "{}", page.len());
    place.done(&["report", "flats.run", "--out", "run.html"]);
    assert!(place.text("run.html").contains("<svg"));
}

/// Two classes and three, by their names; one column in another order and one more at prediction.
#[test]
fn classes_are_learned_by_their_names() {
    let place = Place::new();
    place.write("flats.csv", flats());
    for (target, classes) in [("sold", 2), ("kind", 3)] {
        let model = format!("{target}.dkp");
        let said = train(
            &place,
            &["flats.csv", "--target", target, "--ignore", "id,price,sold,kind", "--out", &model].map(|a| {
                if a == "id,price,sold,kind" {
                    if target == "sold" { "id,price,kind" } else { "id,price,sold" }
                } else {
                    a
                }
            }),
        );
        assert!(said.err.contains(&format!("classification of {target}: {classes} classes")), "{}", said.err);
        place.done(&["predict", &model, "flats.csv", "--out", "out.csv"]);
        let lines = place.text("out.csv");
        let head = lines.lines().next().unwrap();
        let expected = if classes == 2 {
            "class,probability of no,probability of yes"
        } else {
            "class,probability of family,probability of large,probability of studio"
        };
        assert_eq!(head, expected);
        for line in lines.lines().skip(1) {
            let sum: f64 = line.split(',').skip(1).map(|v| v.parse::<f64>().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{line}");
        }
        let metrics = json(&place.done(&["evaluate", &model, "flats.csv", "--json"]).out);
        assert!(metrics["accuracy"].as_f64().unwrap() > 0.8, "{metrics}");
        for key in ["rows", "log_likelihood", "brier", "calibration"] {
            assert!(metrics[key].is_number(), "{key}: {metrics}");
        }
        place.done(&["report", &model]);
        assert!(place.text(&format!("{target}.html")).contains("<svg"));
    }
    // numbers as classes, if asked for
    let said =
        train(&place, &["flats.csv", "--target", "rooms", "--task", "classification", "--ignore", "id,kind,sold"]);
    assert!(said.err.contains("classification of rooms: 5 classes"), "{}", said.err);
}

/// Columns may be in another order, and there may be more; values that were not seen are warned of.
#[test]
fn predictions_do_not_depend_on_the_order_of_columns_or_rows() {
    let place = Place::new();
    place.write("flats.csv", flats());
    train(&place, &["flats.csv", "--target", "price", "--ignore", "id,sold,kind"]);
    let rows: Vec<Vec<String>> = flats()
        .lines()
        .map(|l| l.replace("\"Ely, Cambs\"", "Ely; Cambs").split(',').map(str::to_string).collect())
        .collect();
    let cell = |row: &[String], i: usize| row[i].replace("Ely; Cambs", "\"Ely, Cambs\"");
    let mut turned = String::new();
    for row in [&rows[..1], &rows[1..].iter().rev().cloned().collect::<Vec<_>>()[..]].concat() {
        turned += &format!("{},extra,{},{},{}\n", cell(&row, 4), cell(&row, 3), cell(&row, 2), cell(&row, 1));
    }
    place.write("turned.csv", turned);
    place.done(&["predict", "flats.dkp", "flats.csv", "--out", "a.csv"]);
    let said = place.done(&["predict", "flats.dkp", "turned.csv", "--out", "b.csv", "--threads", "1"]);
    assert_eq!(said.err, "120 predictions written to b.csv\n");
    let (a, b) = (place.text("a.csv"), place.text("b.csv"));
    let forward: Vec<&str> = a.lines().skip(1).collect();
    let backward: Vec<&str> = b.lines().skip(1).collect();
    assert_eq!(forward, backward.into_iter().rev().collect::<Vec<_>>());

    place.write("odd.csv", "rooms,area,town,lift\n,30,Rome,true\n2,40,Bath,false\n");
    let said = place.done(&["predict", "flats.dkp", "odd.csv"]);
    assert!(said.err.contains("column \"town\": 1 value that no training row had"), "{}", said.err);
    assert!(said.err.contains("column \"rooms\": 1 value missing, though no training row's was"), "{}", said.err);
}

/// The same table as CSV, Parquet and arrays.
#[test]
fn tables_of_every_format_give_the_same_predictions() {
    let place = Place::new();
    place.write("flats.csv", flats());
    train(&place, &["flats.csv", "--target", "price", "--ignore", "town,sold,kind", "--id", "id"]);
    let expected = {
        place.done(&["predict", "flats.dkp", "flats.csv", "--out", "expected.csv"]);
        place.text("expected.csv")
    };
    // predictions as Parquet are a table themselves
    place.done(&["predict", "flats.dkp", "flats.csv", "--out", "p.parquet"]);
    let said = train(&place, &["p.parquet", "--target", "mean", "--id", "id"]);
    assert!(said.err.contains("p.parquet: 108 rows to learn from"), "{}", said.err);
    place.done(&["predict", "p.dkp", "p.parquet"]);
    assert!(place.read("p-predictions.parquet").starts_with(b"PAR1"));
    place.done(&["predict", "p.dkp", "p.parquet", "--out", "q.csv"]);
    assert_eq!(place.text("q.csv").lines().count(), 121);
    // and as arrays
    place.done(&["predict", "flats.dkp", "flats.csv", "--out", "p.npz", "--id", "rooms"]);
    let said = train(&place, &["p.npz", "--target", "mean"]);
    assert!(said.err.contains("p.npz: 108 rows"), "{}", said.err);
    place.done(&["predict", "p.dkp", "p.npz", "--out", "r.npy"]);
    assert!(place.read("r.npy").starts_with(b"\x93NUMPY"));
    assert_eq!(expected.lines().count(), 121);
}

#[test]
fn held_out_rows_are_chosen_as_asked() {
    let place = Place::new();
    place.write("flats.csv", flats());
    let base = ["flats.csv", "--target", "price", "--ignore", "id,sold,kind", "--out", "m.dkp"];
    let said = train(&place, &[&base[..], &["--holdout", "0.25"]].concat());
    assert!(said.err.contains("90 rows to learn from, 30 held out"), "{}", said.err);
    let said = train(&place, &[&base[..], &["--holdout", "0"]].concat());
    assert!(said.err.contains("120 rows to learn from, none held out"), "{}", said.err);
    let said = train(&place, &[&base[..], &["--group", "town", "--holdout", "0.4"]].concat());
    assert!(said.err.contains("80 rows to learn from, 40 held out"), "{}", said.err);
    let said = train(&place, &[&base[..], &["--time", "rooms", "--holdout", "0.2"]].concat());
    assert!(said.err.contains("96 rows to learn from, 24 held out; 6 features"), "{}", said.err);
    place.write("test.csv", flats().lines().take(31).map(|l| format!("{l}\n")).collect::<String>());
    let said = train(&place, &[&base[..], &["--test", "test.csv"]].concat());
    assert!(said.err.contains("120 rows to learn from, 30 held out"), "{}", said.err);
}

/// Dates sort by time, and few groups leave at least one out.
#[test]
fn the_latest_rows_and_at_least_one_group_are_held_out() {
    let place = Place::new();
    let day = |n: usize| format!("20{:02}-0{}-1{}", 10 + n % 7, 1 + n % 9, n % 8);
    let rows: String = (0..60).map(|n| format!("{},{},{n},{}\n", day(n), n % 3, n * n % 11)).collect();
    place.write("t.csv", format!("when,group,x,y\n{rows}"));
    let said = train(&place, &["t.csv", "--target", "y", "--time", "when", "--ignore", "group"]);
    assert!(said.err.contains("54 rows to learn from, 6 held out"), "{}", said.err);
    let said = train(&place, &["t.csv", "--target", "y", "--group", "group", "--ignore", "when"]);
    assert!(said.err.contains("40 rows to learn from, 20 held out"), "{}", said.err);
}

/// true and TRUE are one class; a reader that stops is no failure.
#[test]
fn truth_is_truth_however_it_is_written() {
    let place = Place::new();
    let cell = |n: usize| ["true", "TRUE", "False", "false"][n % 4];
    let rows: String = (0..80).map(|n| format!("{},{}\n", n % 4 + n % 3, cell(n))).collect();
    place.write("t.csv", format!("x,y\n{rows}"));
    let said = train(&place, &["t.csv", "--target", "y"]);
    assert!(said.err.contains("classification of y: 2 classes"), "{}", said.err);
    let script = format!("{} inspect t.dkp | true; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_dkp"));
    let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(place.path()).output().unwrap();
    let outcome = Outcome::of(output);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
}

/// Every family, several kernels, likelihoods; parameters set, frozen and tied; a file of settings.
#[test]
fn settings_reach_the_model() {
    let place = Place::new();
    place.write("flats.csv", flats());
    let base = ["flats.csv", "--target", "rooms", "--ignore", "id,sold,kind", "--out", "m.dkp"];
    for more in [
        &["--family", "nngp", "--layers", "2", "--kernel", "relu"][..],
        &["--family", "dgp", "--layers", "1", "--width", "3", "--kernel", "sqexp", "--kernel", "matern32"],
        &["--family", "linear_dgp", "--posterior", "own", "--width", "2"],
        &["--family", "dwp", "--layers", "1", "--width", "3"],
        &["--likelihood", "student_t"],
        &["--likelihood", "poisson", "--layers", "0"],
    ] {
        let said = train(&place, &[&base[..], more].concat());
        assert!(said.out.contains("RMSE"), "{more:?}: {said:?}");
    }
    train(
        &place,
        &[
            &base[..],
            &[
                "--set",
                "layer 1.delta=7",
                "--freeze",
                "layer 1.delta",
                "--freeze",
                "features.scale",
                "--tie",
                "layer 1.kernel.height=output.kernel.height",
            ],
        ]
        .concat(),
    );
    let told = json(&place.done(&["inspect", "m.dkp", "--json"]).out);
    assert!((told["learned"]["layer 1.delta"].as_f64().unwrap() - 7.0).abs() < 1e-9, "{told}");
    assert_eq!(told["learned"]["layer 1.kernel.height"], told["learned"]["output.kernel.height"]);

    let settings = place.done(&["config", "--layers", "2", "--target", "price", "--rows", "50000"]).out;
    assert!(
        settings.contains("layers = 2") && settings.contains("target = \"price\"") && settings.contains("rate = 0.01")
    );
    place.write("settings.toml", &settings);
    let again = place.done(&["config", "--config", "settings.toml", "--rows", "400"]).out;
    assert_eq!(settings.lines().skip(1).collect::<Vec<_>>(), again.lines().skip(1).collect::<Vec<_>>());
    let said = train(
        &place,
        &["flats.csv", "--config", "settings.toml", "--ignore", "id,sold,kind", "--likelihood", "gaussian"],
    );
    assert!(said.err.contains("regression of price") && said.err.contains("2 hidden layers"), "{}", said.err);
}

/// Killed at any time and resumed, a run ends with the same file as one that was not.
#[test]
fn a_killed_run_resumes_to_the_same_bits() {
    let place = Place::new();
    // a row without a target is noted, without the folder in which the run began
    place.write("flats.csv", flats() + "flat 120,2,40,Bath,true,,no,studio\n");
    let arguments = |out: &'static str| {
        ["train", "flats.csv", "--target", "price", "--ignore", "id,sold,kind", "--out", out, "--steps", "400"]
            .into_iter()
            .chain(["--inducing", "15", "--start-steps", "50", "--draws", "2", "--checkpoint-every", "0.05", "--quiet"])
            .collect::<Vec<_>>()
    };
    place.done(&arguments("whole.dkp"));
    assert!(!place.file("whole.run/checkpoint.safetensors").exists());
    let mut child = place.command(&arguments("part.dkp")).spawn().unwrap();
    let checkpoint = place.file("part.run/checkpoint.safetensors");
    let begun = Instant::now();
    while !checkpoint.exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(checkpoint.exists() && !place.file("part.dkp").exists());
    let again = place.dkp(&arguments("part.dkp"));
    assert_eq!(again.code, 2);
    assert!(
        again.err.contains("part.run is an unfinished run: go on with `dkp train --resume part.run`"),
        "{}",
        again.err
    );
    place.done(&["train", "--resume", "part.run", "--quiet"]);
    assert_eq!(place.read("part.dkp"), place.read("whole.dkp"));
    assert_eq!(place.read("part.run/metrics.jsonl"), place.read("whole.run/metrics.jsonl"));
    let finished = place.dkp(&["train", "--resume", "part.run"]);
    assert_eq!(finished.code, 2);
    assert!(finished.err.contains("there is no checkpoint: the run is finished"), "{}", finished.err);
}

/// Ctrl-C leaves a checkpoint, says how to go on, and is a failure of the run.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_a_checkpoint() {
    let place = Place::new();
    place.write("flats.csv", flats());
    let arguments = ["train", "flats.csv", "--target", "price", "--ignore", "id,sold,kind", "--steps", "1000000"];
    let mut command =
        place.command(&[&arguments[..], &["--inducing", "10", "--start-steps", "0", "--draws", "1"]].concat());
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let metrics = place.file("flats.run/metrics.jsonl");
    let begun = Instant::now();
    while std::fs::metadata(&metrics).map_or(0, |m| m.len()) == 0 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.err.contains("go on with `dkp train --resume flats.run`"), "{}", outcome.err);
    assert!(place.file("flats.run/checkpoint.safetensors").exists());
}

/// The time that each part takes is told at the beginning; Ctrl-C before there is anything to keep leaves nothing behind.
#[cfg(unix)]
#[test]
fn an_interrupted_start_leaves_nothing() {
    let place = Place::new();
    place.write("flats.csv", flats());
    let before = place.names();
    // of standard input there is a copy, which has no name
    let copies = tempfile::tempdir().unwrap();
    let arguments =
        ["train", "-", "--out", "flats.dkp", "--target", "price", "--ignore", "id,sold,kind", "--inducing", "10"];
    let mut command =
        place.command(&[&arguments[..], &["--likelihood", "gaussian", "--start-steps", "10000000"]].concat());
    command.stdin(std::fs::File::open(place.file("flats.csv")).unwrap()).env("TMPDIR", copies.path());
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = said.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("about "))).unwrap().unwrap();
    for part in [" threads: ", " to start, ", " to train, ", " to judge and explain; ", " MB of memory"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(told.split_once(" on ").is_some_and(|(time, _)| time.ends_with(" min") || time.ends_with(" h")), "{told}");
    assert_eq!(std::fs::read_dir(copies.path()).unwrap().count(), 0);
    std::thread::sleep(Duration::from_millis(300));
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let last = said.map_while(Result::ok).last();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(last.as_deref(), Some("dkp: stopped before the model's first step; nothing was written"));
    assert_eq!(place.names(), before);
}

/// Ctrl-C while predictions are written leaves nothing behind.
#[cfg(unix)]
#[test]
fn interrupted_predictions_leave_nothing() {
    let place = Place::new();
    place.write("flats.csv", flats());
    train(&place, &["flats.csv", "--target", "price", "--ignore", "id,sold,kind", "--quiet"]);
    let rows = flats();
    let (header, rows) = rows.split_once('\n').unwrap();
    // some blocks of rows, each of which takes a while
    place.write("many.csv", format!("{header}\n{}", rows.repeat(2000)));
    let before = place.names();
    let mut command = place.command(&["predict", "flats.dkp", "many.csv", "--draws", "100"]);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while place.names().len() == before.len() && begun.elapsed() < Duration::from_secs(60) {
        assert!(child.try_wait().unwrap().is_none(), "predictions ended before they could be interrupted");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.err.contains("rows; nothing was written"), "{}", outcome.err);
    assert_eq!(place.names(), before);
}

/// Equal runs give equal files, on any number of threads.
#[test]
fn equal_runs_give_equal_files() {
    let place = Place::new();
    place.write("flats.csv", flats());
    let base = ["flats.csv", "--target", "price", "--ignore", "id,sold,kind", "--quiet"];
    train(&place, &[&base[..], &["--out", "a.dkp", "--threads", "1"]].concat());
    train(&place, &[&base[..], &["--out", "b.dkp", "--threads", "2"]].concat());
    train(&place, &[&base[..], &["--out", "c.dkp", "--seed", "1"]].concat());
    assert_eq!(place.read("a.dkp"), place.read("b.dkp"));
    assert_ne!(place.read("a.dkp"), place.read("c.dkp"));
}

/// What scripts read of a benchmark, and that its settings have bounds.
#[test]
fn a_benchmark_is_one_object_a_line() {
    let place = Place::new();
    let measured = json(&place.done(&["bench", "--json", "--m", "5", "--b", "10", "--s", "1", "--threads", "1"]).out);
    let keys: Vec<&str> = measured.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "problem",
        "family",
        "kernel",
        "layers",
        "m",
        "s",
        "b",
        "threads",
        "ms_per_step",
        "gflops",
        "gemm_fraction",
        "peak_rss_mb",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert!(measured["ms_per_step"].as_f64().unwrap() > 0.0, "{measured}");
    let refused = place.dkp(&["bench", "--layers", "10000000000"]);
    assert!(refused.code == 2 && refused.err.contains("0..=50"), "{refused:?}");
}

#[test]
fn samples_are_written_as_pictures_and_tables() {
    let place = Place::new();
    for family in ["diwp", "nngp", "dgp", "dwp", "bnn", "shah"] {
        let picture = format!("{family}.svg");
        place.done(&["sample", "--family", family, "--layers", "2", "--points", "40", "--out", &picture]);
        assert!(place.text(&picture).starts_with("<svg"), "{family}");
    }
    place.done(&["sample", "--points", "30", "--functions", "2", "--out", "f.csv"]);
    assert_eq!(place.text("f.csv").lines().next(), Some("x,f0,f1"));
    place.done(&["sample", "--what", "gram", "--points", "30", "--out", "g.npy"]);
    place.done(&["sample", "--what", "gram", "--out", "g.svg", "--kernel", "sum(relu, linear)"]);
}

/// Cells of 1e200 among ordinary ones, in features and in a target of counts: a model is made and judged, in a moment.
#[test]
fn cells_of_a_monstrous_size_are_no_trouble() {
    let place = Place::new();
    let row = |n: usize| format!("{},{},{}\n", n % 7, if n == 5 { "1e200" } else { "2" }, (n * n) % 5);
    place.write("features.csv", "a,b,y\n".to_string() + &(0..60).map(row).collect::<String>());
    train(&place, &["features.csv", "--target", "y"]);
    let row = |n: usize| format!("{},{}\n", n % 7, if n % 9 == 3 { "1e200".to_string() } else { (n % 4).to_string() });
    place.write("counts.csv", "a,y\n".to_string() + &(0..60).map(row).collect::<String>());
    train(&place, &["counts.csv", "--target", "y", "--likelihood", "poisson"]);
}

/// Small steps: the demonstration itself takes a minute.
#[test]
fn the_demonstration_needs_no_data() {
    let place = Place::new();
    let said = place.done(&["demo", "--steps", "3"]);
    assert!(said.out.contains("log-likelihood") && said.out.contains("deep inverse Wishart process"), "{}", said.out);
    for name in ["red-wine.csv", "red-wine.dkp", "red-wine.html"] {
        assert!(place.file("dkp-demo").join(name).exists(), "{name}");
    }
    assert_eq!(place.text("dkp-demo/red-wine.csv").lines().count(), 1600);
}

#[test]
fn help_and_completions_are_there() {
    let place = Place::new();
    for command in [
        "train",
        "predict",
        "evaluate",
        "compare",
        "inspect",
        "report",
        "demo",
        "sample",
        "config",
        "bench",
        "completions",
    ] {
        let help = place.done(&[command, "--help"]).out;
        assert!(help.contains("Usage:"), "{command}");
    }
    assert!(place.done(&["completions", "bash"]).out.contains("dkp"));
    assert!(place.done(&["--version"]).out.starts_with("dkp "));
}

/// A table from a German spreadsheet and one with signs and marks between thousands give the model of the plain table, and predictions are written alike.
#[test]
fn numbers_may_be_written_as_people_write_them() {
    let place = Place::new();
    let rows: Vec<[f64; 3]> = (0..60_u32)
        .map(|i| [f64::from(i % 13) + 0.5, f64::from(i * 7 % 11) / 8.0, 1000.25 + f64::from(i % 13) * 100.0])
        .collect();
    let table = |delimiter: &str, cell: &dyn Fn(usize, f64) -> String| {
        let row = |r: &[f64; 3]| (0..3).map(|i| cell(i, r[i])).collect::<Vec<_>>().join(delimiter) + "\n";
        ["a", "b", "price"].join(delimiter) + "\n" + &rows.iter().map(row).collect::<String>()
    };
    place.write("plain.csv", table(",", &|_, v| v.to_string()));
    place.write("german.csv", table(";", &|_, v| v.to_string().replace('.', ",")));
    let grouped = |v: f64| format!("\"${},{:06.2}\"", (v / 1000.0).floor(), v % 1000.0);
    place.write("signs.csv", table(",", &|i, v| if i == 2 { grouped(v) } else { v.to_string() }));
    for name in ["plain", "german", "signs"] {
        train(&place, &[&format!("{name}.csv"), "--target", "price"]);
        place.done(&["predict", &format!("{name}.dkp"), &format!("{name}.csv")]);
    }
    let said = train(&place, &["german.csv", "--target", "price"]).err;
    assert!(said.contains("  column \"a\" and 2 other columns: numbers are written like 0,5"), "{said}");
    let [plain, german, signs] = ["plain", "german", "signs"].map(|n| place.text(&format!("{n}-predictions.csv")));
    assert_eq!(german, plain.replace(',', ";").replace('.', ",").replace("quantile 0,", "quantile 0."));
    assert_eq!(signs.replace('$', ""), plain);
    assert!(signs.lines().nth(1).unwrap().starts_with('$'), "{signs}");
    let judged = |name: &str| place.done(&["evaluate", &format!("{name}.dkp"), &format!("{name}.csv"), "--json"]).out;
    assert_eq!(judged("german"), judged("plain"));
}

/// A table may come from standard input, and predictions go to standard output.
#[test]
fn tables_flow_through_pipes() {
    let place = Place::new();
    place.write("flats.csv", flats());
    train(&place, &["flats.csv", "--target", "price", "--ignore", "id,sold,kind"]);
    place.done(&["predict", "flats.dkp", "flats.csv"]);
    let piped = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(flats().as_bytes()).unwrap();
        Outcome::of(child.wait_with_output().unwrap())
    };
    let said = piped(&["predict", "flats.dkp", "-"]);
    assert_eq!((said.code, said.out), (0, place.text("flats-predictions.csv")));
    assert_eq!(said.err, "120 predictions written to standard output\n");
    let judged = piped(&["evaluate", "flats.dkp", "-", "--json"]);
    assert_eq!(judged.out, place.done(&["evaluate", "flats.dkp", "flats.csv", "--json"]).out);
    let arguments = ["train", "-", "--target", "price", "--ignore", "id,sold,kind", "--out", "piped.dkp"];
    assert_eq!(piped(&[&arguments[..], &SMALL].concat()).code, 0);
    place.done(&["predict", "piped.dkp", "flats.csv", "--out", "piped.csv"]);
    assert_eq!(place.text("piped.csv"), place.text("flats-predictions.csv"));
    let without = piped(&["train", "-", "--target", "price"]);
    assert_eq!((without.code, without.out.as_str()), (2, ""));
    assert_eq!(without.err, "dkp: --out MODEL is needed where the table is standard input\n");
}

/// Dates are features, however they are written; what follows the season is learned.
#[test]
fn dates_are_learned_from() {
    let place = Place::new();
    // two years, every third day
    let days: Vec<[u32; 3]> = (0..2_u32)
        .flat_map(|year| {
            (0..12_u32).flat_map(move |month| (0..10_u32).map(move |k| [2022 + year, 1 + month, 1 + 3 * k % 28]))
        })
        .collect();
    let y = |d: &[u32; 3]| {
        20.0 * (f64::from(30 * (d[1] - 1) + d[2]) * std::f64::consts::TAU / 360.0).sin() + f64::from(d[2] % 3)
    };
    let table = |form: &dyn Fn(&[u32; 3]) -> String| {
        days.iter().fold("day,y\n".to_string(), |text, d| format!("{text}{},{:.3}\n", form(d), y(d)))
    };
    place.write("iso.csv", table(&|d| format!("{}-{:02}-{:02}", d[0], d[1], d[2])));
    place.write("german.csv", table(&|d| format!("{:02}.{:02}.{}", d[2], d[1], d[0])));
    for name in ["iso", "german"] {
        let said = train(&place, &[&format!("{name}.csv"), "--target", "y"]);
        let note = "  column \"day\" holds dates: position in time, season, weekday";
        assert!(said.err.contains(note), "{}", said.err);
        place.done(&["predict", &format!("{name}.dkp"), &format!("{name}.csv")]);
    }
    assert_eq!(place.text("german-predictions.csv"), place.text("iso-predictions.csv"));
    let metrics = json(&place.done(&["evaluate", "iso.dkp", "iso.csv", "--json"]).out);
    // y has a standard deviation of 14
    assert!(metrics["rmse"].as_f64().unwrap() < 6.0, "{metrics}");
}
