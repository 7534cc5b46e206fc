//! What is wrong is said in one line that names the place, with exit code 2 (1 where the output is at fault), and nothing is left behind.

mod support;

use support::{Outcome, Place, SMALL, flats};

/// Runs a command that must fail: one line on standard error that contains `expected`, nothing on standard output, no new files.
fn refused(place: &Place, arguments: &[&str], code: i32, expected: &str) {
    let before = place.names();
    let outcome = place.dkp(arguments);
    check(&outcome, arguments, code, expected);
    assert_eq!(place.names(), before, "{arguments:?}");
}

fn check(outcome: &Outcome, arguments: &[&str], code: i32, expected: &str) {
    assert_eq!(outcome.code, code, "{arguments:?}: {outcome:?}");
    assert_eq!(outcome.err.trim_end().lines().count(), 1, "{arguments:?}: {outcome:?}");
    assert!(outcome.err.contains(expected), "{arguments:?}: expected {expected:?} in {:?}", outcome.err);
    assert_eq!(outcome.out, "", "{arguments:?}");
}

/// Training on a table of these bytes fails.
fn refused_table(bytes: impl AsRef<[u8]>, flags: &[&str], expected: &str) {
    let place = Place::new();
    place.write("t.csv", bytes);
    refused(&place, &[&["train", "t.csv", "--target", "y"], flags].concat(), 2, expected);
}

#[test]
fn tables_that_cannot_be_learned_from() {
    refused_table("", &[], "t.csv is empty");
    refused_table("x,y\n", &[], "t.csv has columns but no rows");
    refused_table("x,y\n1,2\n", &[], "t.csv: 1 row with a known target \"y\" to learn from; at least 2 are needed");
    refused_table(
        "x,y\n1,2\n2,oops\n3,4\n4,5\n5,6\n",
        &[],
        "t.csv: row 2, column \"y\": \"oops\" is not a number: correct it, or use --na \"oops\" if it means a missing value",
    );
    refused_table("x,y\n1,2\n3\n4,5\n", &[], "t.csv: row 2 has 1 fields, but the header has 2");
    refused_table("x,y\n1,2\n3,4,5\n", &[], "t.csv: row 2 has 3 fields, but the header has 2");
    let numbers = |cell: &str| format!("x,y\n{}{cell},1\n", "1,2\n3,4\n".repeat(20));
    refused_table(
        numbers("about 5"),
        &[],
        "t.csv: row 41, column \"x\": \"about 5\" is not a number: correct it, or use --na \"about 5\"",
    );
    refused_table(numbers("inf"), &[], "t.csv: row 41, column \"x\": inf is infinite");
    refused_table("x,y\n1,2\n2,inf\n3,1\n", &[], "t.csv: row 2, column \"y\": inf is infinite");
    refused_table(
        "x,y\n1,7\n2,7\n3,7\n",
        &[],
        "t.csv: the target \"y\" is 7 in all training rows: there is nothing to learn",
    );
    refused_table(
        "x,y\n1,a\n2,a\n3,a\n",
        &[],
        "t.csv: the target \"y\" is a in all training rows: there is nothing to learn",
    );
    let quoted = |cell: &dyn Fn(usize) -> String| {
        (0..20).fold("x,y\n".to_string(), |text, i| text + &format!("\"{}\",{}\n", cell(i), i % 7))
    };
    refused_table(
        quoted(&|i| format!("{},{}", 1 + i % 9, 100 + i)),
        &[],
        "t.csv: column \"x\": \"1,100\" may have a decimal comma, or a mark between thousands: say --decimal comma, or --decimal point",
    );
    refused_table(
        quoted(&|i| if i % 2 == 0 { format!("{i} %") } else { i.to_string() }),
        &[],
        "t.csv: column \"x\" has numbers with different signs or with and without one, such as \"0 %\"",
    );
    refused_table(quoted(&|i| format!("person {i}")), &[], "use --id \"x\" if it names the rows, or --ignore \"x\"");
    let texts = (0..20).fold("x,y\n".to_string(), |text, i| text + &format!("{},thing {i}\n", i % 7));
    refused_table(
        texts,
        &[],
        "t.csv: the target \"y\" is text, such as \"thing 0\", with 20 different ones in 20 rows",
    );
    refused_table("x,y\n1,\n2,NA\n", &[], "t.csv: the target \"y\" has no values at all");
    refused_table("x,x,y\n1,2,3\n4,5,6\n", &[], "t.csv: two columns are named \"x\"");
    refused_table(",y\n1,2\n3,4\n", &[], "t.csv: column 1 has no name");
    refused_table("x,z\n1,2\n3,4\n", &[], "--target: t.csv: there is no column \"y\"; the nearest name is");
    refused_table("y\n1\n2\n3\n", &[], "t.csv: there is no column to learn from beside the target \"y\"");
    let levels: String = (0..10_000).map(|n| format!("level {n},{n}\n")).collect();
    refused_table(
        format!("x,y\n{levels}"),
        &[],
        "t.csv: column \"x\" has more than 1000 different texts: use --ignore \"x\"",
    );
    refused_table(b"x,y\n1,2\n\xff\xfe,3\n4,5\n", &[], "t.csv: row 2, column \"x\": the text is not UTF-8");
    let dates = "x,y\n03/04/2024,1\n04/05/2024,2\n";
    refused_table(dates, &[], "t.csv: column \"x\": \"03/04/2024\" may begin with the day or the month");
    let dates = "x,y\n2024-01-31,1\n1.2.2024,2\n";
    refused_table(dates, &[], "t.csv: column \"x\" holds dates in different forms, such as \"2024-01-31\"");
    refused_table("5.1,3.5,y\n1,2,3\n4,5,6\n", &[], "t.csv: the first row has \"5.1\" where a column's name should be");
    refused_table(
        "x,y\n1,red\n2,blue\n3,red\n",
        &["--task", "regression"],
        "t.csv: column \"y\" holds text, such as \"red\" in row 1",
    );
    refused_table(
        "x,y\n1,1\n2,2.5\n3,4\n",
        &["--likelihood", "poisson", "--holdout", "0"],
        "t.csv: row 2, column \"y\": 2.5 must be",
    );
    refused_table(
        "x,y\n1,a\n2,b\n3,c\n",
        &["--likelihood", "bernoulli", "--holdout", "0"],
        "--likelihood bernoulli: the target \"y\" has 3 classes",
    );
    refused_table(
        "x,y\n1,a\n2,b\n3,a\n4,b\n",
        &["--likelihood", "categorical(5)", "--holdout", "0"],
        "--likelihood categorical(5): it does not tell the probabilities of the 2 classes of \"y\"",
    );
    refused_table(
        "x,y\n5,1\n5,2\n5,3\n",
        &[],
        "t.csv: no column beside the target \"y\" varies over the training rows",
    );
    let dates = "d,x,y\n03/04/2024,1,2\n01/02/2024,2,3\n";
    refused_table(
        dates,
        &["--time", "d"],
        "--time: t.csv: column \"d\": \"03/04/2024\" may begin with the day or the month",
    );
}

#[test]
fn files_that_are_not_tables() {
    let place = Place::new();
    place.write("notes.ods", "x");
    place.write("broken.parquet", "PAR1 and then nothing");
    place.write("broken.npy", b"\x93NUMPY\x01\x00 and then nothing");
    let train = |data: &'static str| ["train", data, "--target", "y"];
    refused(&place, &train("missing.csv"), 2, "missing.csv: there is no such file");
    refused(&place, &train("notes.ods"), 2, "notes.ods: unknown kind of file: use .csv");
    refused(&place, &train("broken.parquet"), 2, "broken.parquet is damaged or not a Parquet file");
    refused(&place, &train("broken.npy"), 2, "broken.npy is damaged or not a npy file");
    refused(&place, &train("."), 2, "is a folder");
}

#[test]
fn flags_that_make_no_sense() {
    let place = Place::new();
    place.write("t.csv", flats());
    let with = |flags: &[&str], expected: &str| {
        refused(&place, &[&["train", "t.csv", "--target", "price", "--id", "id"], flags].concat(), 2, expected);
    };
    with(&["--group", "town", "--time", "rooms"], "--group and --time both say which rows are held out");
    with(&["--test", "t.csv", "--holdout", "0.2"], "--test and --holdout both say which rows are held out");
    with(&["--folds", "3", "--test", "t.csv"], "--folds and --test both say which rows are held out");
    with(&["--folds", "3", "--holdout", "0.2"], "--folds and --holdout both say which rows are held out");
    with(&["--folds", "1"], "--folds must be from 2 to 1000");
    with(&["--input-layer", "mixed"], "invalid value 'mixed' for '--input-layer <KIND>'");
    let singular =
        "--input-layer gram: 100 inducing points with 7 features make it singular: give fewer points than features";
    with(&["--input-layer", "gram", "--inducing", "100", "--ignore", "sold,kind"], singular);
    with(&["--folds", "121"], "--folds 121: t.csv: there are 120 rows with a known target");
    with(&["--folds", "4", "--group", "town"], "--folds 4: t.csv: there are fewer groups in column \"town\"");
    with(
        &["--folds", "5", "--time", "rooms"],
        "--folds 5: t.csv: column \"rooms\" must have 6 different times or more",
    );
    with(&["--holdout", "1.5"], "--holdout must be at least 0 and less than 1");
    with(&["--rate=-1"], "--rate must be positive");
    with(&["--rate", "fast"], "invalid value 'fast' for '--rate <RATE>'");
    with(&["--resume", "x.run"], "cannot be used with");
    refused(&place, &["train", "--resume", "x.run", "--steps", "3"], 2, "cannot be used with");
    with(
        &["--time", "town"],
        "--time town: t.csv: expected numbers, or dates such as 2024-01-31: \"Bath\" in row 1 is neither",
    );
    with(&["--time", "area"], "--time area: t.csv: 7 values are missing: every row needs its time");
    with(&["--colour", "red"], "unexpected argument '--colour' found");
    with(&["--steps", "0"], "--steps must be from 1");
    with(&["--kernel", "squexp"], "--kernel: there is no kernel \"squexp\"; there are sqexp");
    with(&["--kernel", "relu", "--kernel", "relu", "--kernel", "relu"], "--kernel was given 3 times");
    with(&["--likelihood", "normal"], "--likelihood normal: there are auto, gaussian");
    with(
        &["--task", "classification", "--likelihood", "gaussian"],
        "--likelihood gaussian: this is for numbers, which is not the task",
    );
    with(&["--ignore", "nothing"], "--ignore: t.csv: there is no column \"nothing\"");
    with(&["--id", "price"], "--id price: this is the target");
    with(&["--set", "noise"], "--set noise: expected NAME=VALUE");
    with(
        &["--freeze", "lengthscale"],
        "--freeze lengthscale: there is no parameter \"lengthscale\"; the nearest name is",
    );
    with(&["--config", "none.toml"], "--config none.toml");
    place.write("wrong.toml", "[model]\nstep = 3\n");
    with(&["--config", "wrong.toml"], "--config wrong.toml, line 2: unknown field `step`");
    place.write("wrong.toml", "[model]\nrate = -3.0\n");
    with(&["--config", "wrong.toml"], "--config wrong.toml: --rate must be positive");
    refused(
        &place,
        &["train", "t.csv"],
        2,
        "t.csv: which column is to be predicted? Give --target; there are \"id\", \"rooms\"",
    );
    refused(&place, &["train", "--resume", "t.run"], 2, "t.run: there is no run here");
    refused(&place, &["sample", "--kernel", "sqexp", "--parameters", "1"], 2, "the kernel has the parameters");
    refused(&place, &["sample", "--out", "x.docx"], 2, "--out: x.docx: unknown kind of file");
}

/// A trained model and its table.
fn trained() -> Place {
    let place = Place::new();
    place.write("flats.csv", flats());
    let flags = ["train", "flats.csv", "--target", "price", "--ignore", "id,sold,kind", "--quiet"];
    place.done(&[&flags[..], &SMALL].concat());
    place
}

#[test]
fn damaged_models_are_refused_wherever_they_are_damaged() {
    let place = trained();
    let bytes = place.read("flats.dkp");
    for length in (0..bytes.len()).step_by((bytes.len() / 60).max(100) / 100 * 100) {
        place.write("cut.dkp", &bytes[..length]);
        refused(&place, &["inspect", "cut.dkp"], 2, "cut.dkp: ");
    }
    for at in [0, 9, 300, bytes.len() / 2, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        place.write("changed.dkp", &changed);
        refused(&place, &["predict", "changed.dkp", "flats.csv"], 2, "changed.dkp: ");
    }
    refused(&place, &["predict", "flats.csv", "flats.csv"], 2, "flats.csv: not a dkp model file");
    refused(&place, &["predict", "no.dkp", "flats.csv"], 2, "no.dkp: ");
    refused(&place, &["evaluate", "flats.run/settings.toml", "flats.csv"], 2, "not a dkp model file");
}

/// Every hundredth byte, as the library reads it: too many for the binary.
#[test]
fn a_model_cut_at_every_hundredth_byte_is_refused() {
    let place = trained();
    let bytes = place.read("flats.dkp");
    for length in (0..bytes.len()).step_by(100) {
        place.write("cut.dkp", &bytes[..length]);
        let error = dkp::file::load(&place.file("cut.dkp")).err();
        assert!(error.is_some_and(|e| e.to_string().lines().count() == 1), "{length}");
    }
}

#[test]
fn tables_that_do_not_fit_the_model() {
    let place = trained();
    place.write("lacking.csv", "rooms,town,lift\n1,Bath,true\n");
    refused(&place, &["predict", "flats.dkp", "lacking.csv"], 2, "lacking.csv: there is no column \"area\"");
    place.write("text.csv", "rooms,area,town,lift\n1,50,Bath,true\n2,large,Bath,true\n");
    refused(
        &place,
        &["predict", "flats.dkp", "text.csv"],
        2,
        "text.csv: row 2, column \"area\": \"large\" is not a number",
    );
    place.write("infinite.csv", "rooms,area,town,lift\n1,1e999,Bath,true\n");
    refused(&place, &["predict", "flats.dkp", "infinite.csv"], 2, "infinite.csv: row 1, column \"area\"");
    place.write("far.csv", "rooms,area,town,lift\n1,50,Bath,true\n2,1e200,Bath,true\n");
    let far = "dkp: far.csv: row 2: there is no prediction: its features are too far from those of the training rows";
    refused(&place, &["predict", "flats.dkp", "far.csv"], 2, far);
    place.write("ragged.csv", "rooms,area,town,lift\n1,50,Bath,true\n2,50\n");
    refused(&place, &["predict", "flats.dkp", "ragged.csv"], 2, "ragged.csv: row 2 has 2 fields");
    place.write("untold.csv", "rooms,area,town,lift,price\n1,50,Bath,true,\n");
    refused(
        &place,
        &["evaluate", "flats.dkp", "untold.csv"],
        2,
        "untold.csv: column \"price\": there is no known target",
    );
    refused(&place, &["evaluate", "flats.dkp", "lacking.csv"], 2, "there is no column");
    refused(
        &place,
        &["predict", "flats.dkp", "flats.csv", "--quantiles", "0.5,2"],
        2,
        "--quantiles 2: expected numbers between 0 and 1",
    );
    refused(&place, &["predict", "flats.dkp", "flats.csv", "--id", "nobody"], 2, "there is no column \"nobody\"");
    place.write("named.csv", flats().replacen("id,", "mean,", 1));
    refused(
        &place,
        &["predict", "flats.dkp", "named.csv", "--id", "mean"],
        2,
        "--id mean: predictions have a column of this name",
    );
    let counts = ["train", "flats.csv", "--target", "rooms", "--likelihood", "poisson", "--ignore", "id,sold,kind"];
    place.done(&[&counts[..], &["--out", "counts.dkp", "--quiet"], &SMALL].concat());
    place.write("negative.csv", "rooms,area,town,lift,price\n1,50,Bath,true,10\n-2,50,Bath,true,10\n");
    refused(
        &place,
        &["evaluate", "counts.dkp", "negative.csv"],
        2,
        "negative.csv: row 2, column \"rooms\": -2 must be a whole number",
    );
}

#[test]
fn folds_that_cannot_be_learned_from() {
    let rows = "1,a\n2,b\n3,a\n4,a\n";
    refused_table(
        format!("x,y\n{rows}"),
        &["--folds", "4"],
        "dkp: fold 1 of 4: t.csv: the target \"y\" is a in all training rows: there is nothing to learn; fewer folds leave more",
    );
}

#[test]
fn models_that_do_not_compare() {
    let place = trained();
    let other = ["train", "flats.csv", "--target", "kind", "--ignore", "id,sold,price", "--out", "kind.dkp", "--quiet"];
    place.done(&[&other[..], &SMALL].concat());
    let compare = |rest: &[&'static str]| [&["compare", "flats.dkp"], rest].concat();
    let tasks = "flats.dkp and kind.dkp have different tasks, regression of price and classification of kind";
    refused(&place, &compare(&["kind.dkp", "flats.csv"]), 2, tasks);
    refused(&place, &compare(&["flats.csv"]), 2, "2 values required");
    refused(&place, &compare(&["no.dkp", "flats.csv"]), 2, "no.dkp: ");
    refused(&place, &compare(&["flats.dkp", "no.csv"]), 2, "no.csv: there is no such file");
    refused(&place, &compare(&["flats.dkp", "-"]), 2, "DATA -: each model reads the table in its own way");
    place.write("lacking.csv", "rooms,area,town,lift\n1,50,Bath,true\n");
    refused(&place, &compare(&["flats.dkp", "lacking.csv"]), 2, "lacking.csv: there is no column \"price\"");
    place.write("untold.csv", "rooms,area,town,lift,price\n1,50,Bath,true,\n");
    let untold = "untold.csv: column \"price\": there is no known target that all models can be judged by";
    refused(&place, &compare(&["flats.dkp", "untold.csv"]), 2, untold);
    place.write("far.csv", "rooms,area,town,lift,price\n1,50,Bath,true,9\n2,1e200,Bath,true,9\n");
    refused(&place, &compare(&["flats.dkp", "far.csv"]), 2, "dkp: far.csv: row 2: there is no prediction");
    refused(&place, &compare(&["flats.dkp", "flats.csv", "--report", "no/such/r.html"]), 1, "--report no/such/r.html");
    refused(&place, &compare(&["flats.dkp", "flats.csv", "--report", "flats.dkp"]), 2, "which is read");
}

#[test]
fn outputs_that_cannot_be_written() {
    let place = trained();
    refused(
        &place,
        &["predict", "flats.dkp", "flats.csv", "--out", "no/such/folder/p.csv"],
        1,
        "no/such/folder/p.csv cannot be written",
    );
    let train = ["train", "flats.csv", "--target", "price", "--ignore", "id,sold,kind", "--quiet", "--out"];
    refused(&place, &[&train[..], &["no/such/m.dkp"]].concat(), 1, "--out no/such/m.dkp");
    refused(&place, &["report", "flats.dkp", "--out", "no/such/r.html"], 1, "--out no/such/r.html");
    refused(&place, &["sample", "--out", "no/such/s.svg"], 1, "--out no/such/s.svg");
    let before = place.text("flats.csv");
    refused(&place, &[&train[..], &["flats.csv"]].concat(), 2, "--out flats.csv: this is flats.csv, which is read");
    let own = place.file("flats.csv").display().to_string();
    refused(&place, &[&train[..], &[own.as_str()]].concat(), 2, "which is read");
    refused(&place, &["predict", "flats.dkp", "flats.csv", "--out", "./flats.csv"], 2, "which is read");
    refused(&place, &["report", "flats.dkp", "--out", "flats.dkp"], 2, "which is read");
    refused(&place, &[&train[..], &["m.run"]].concat(), 2, "names that end in .run are for the folders of runs");
    assert_eq!(place.text("flats.csv"), before);
}

/// A limit on the size of files is to a program what a full disk is.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full() {
    let place = trained();
    let dkp = env!("CARGO_BIN_EXE_dkp");
    for arguments in ["predict flats.dkp flats.csv --out p.csv", "report flats.dkp --out r.html"] {
        let before = place.names();
        // in blocks of 1024 bytes; the signal that would end the program is ignored, so that it sees an error
        let script = format!("trap '' XFSZ; ulimit -f 4; exec {dkp} {arguments}");
        let output =
            std::process::Command::new("bash").args(["-c", &script]).current_dir(place.path()).output().unwrap();
        check(&Outcome::of(output), &[arguments], 1, "File too large");
        assert_eq!(place.names(), before);
    }
}
