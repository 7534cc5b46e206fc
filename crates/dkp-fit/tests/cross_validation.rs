//! Cross-validation: folds are judged by models that know nothing of them, and what they say is put together rightly.

use dkp::data::Split;
use dkp_fit::{Checkpoint, Error, Fit, Fitted, Metrics, Moment, Order, Table, Values};
use dkp_report::Evaluation;

const ROWS: usize = 60;

fn rooms(i: usize) -> f64 {
    (1 + i % 5) as f64
}

/// Missing in some rows, and large in one, by which its scale would be seen in other folds.
fn area(i: usize) -> f64 {
    match i {
        7 => 900.0,
        i if i % 11 == 4 => f64::NAN,
        i => 20.0 * rooms(i) + (7 * i % 13) as f64,
    }
}

/// One town has a single row.
fn town(i: usize) -> &'static str {
    if i == 20 { "Rome" } else { ["Bath", "York", "Ely"][i / 2 % 3] }
}

fn year(i: usize) -> f64 {
    (2000 + (i * 7) % 30) as f64
}

fn price(i: usize) -> f64 {
    100.0 + 30.0 * rooms(i) + 15.0 * (i / 2 % 3) as f64 + (5 * i % 7) as f64
}

/// Some rows of the table.
fn table(rows: &[usize]) -> Table {
    let numbers = |f: fn(usize) -> f64| Values::from(rows.iter().map(|&i| f(i)).collect::<Vec<f64>>());
    let towns: Vec<&str> = rows.iter().map(|&i| town(i)).collect();
    let columns = vec![
        ("rooms", numbers(rooms)),
        ("area", numbers(area)),
        ("town", towns.into()),
        ("year", numbers(year)),
        ("price", numbers(price)),
    ];
    Table::from_columns(columns, &[]).unwrap()
}

fn all() -> Table {
    table(&(0..ROWS).collect::<Vec<_>>())
}

fn quick(target: &str) -> Fit {
    let mut fit = Fit::new(target);
    let choices = &mut fit.config.model;
    (choices.steps, choices.start_steps, choices.draws, choices.inducing) = (Some(20), Some(20), Some(1), Some(10));
    choices.likelihood = Some("gaussian".to_string());
    fit
}

/// Each fold's metrics are, to the bit, those of a model that was given nothing but the other rows; the model itself is that of all rows.
fn check(change: impl Fn(&mut Fit), folds: &[Split]) -> Fitted {
    let mut fit = quick("price");
    change(&mut fit);
    fit.config.table.folds = Some(folds.len() as u64);
    let fitted = fit.run(&all()).unwrap();
    let validated = fitted.card.cross_validation.as_ref().unwrap();
    // columns that place rows are not learned from
    let mut alone = quick("price");
    alone.config.table.ignore = fit.config.table.group.iter().chain(&fit.config.table.time).cloned().collect();
    alone.config.table.scaling = fit.config.table.scaling;
    for (split, metrics) in folds.iter().zip(&validated.folds) {
        let prepared = alone.prepare(&table(&split.train), Some(&table(&split.held_out))).unwrap();
        let own = alone.train(prepared, &mut |_| true).unwrap();
        assert_eq!(own.card.evaluation.as_ref(), Some(metrics));
    }
    alone.config.table.holdout = Some(0.0);
    assert_eq!(alone.run(&all()).unwrap().model.parameters(), fitted.model.parameters());
    assert_eq!((fitted.card.rows_trained, fitted.card.rows_held_out), (ROWS, 0));
    fitted
}

#[test]
fn folds_at_random_know_nothing_of_each_other() {
    let fitted = check(|_| (), &Split::folds(ROWS, 3, 0).unwrap());
    let validated = fitted.card.cross_validation.as_ref().unwrap();
    assert_eq!(validated.line, "cross-validated: 3 folds at random, each judged by a model of the others");
    // folds are of one size: means over all rows are means of the folds'
    let Some(Metrics::Numbers(pooled)) = &fitted.card.evaluation else { panic!("{:?}", fitted.card.evaluation) };
    let of = |f: fn(&dkp::metrics::Regression) -> f64| -> Vec<f64> {
        let own = validated.folds.iter().map(|m| if let Metrics::Numbers(m) = m { f(m) } else { panic!("{m:?}") });
        own.collect()
    };
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let log_likelihoods = of(|m| m.log_likelihood);
    assert!((pooled.log_likelihood - mean(&log_likelihoods)).abs() < 1e-12);
    assert!((pooled.rmse.powi(2) - mean(&of(|m| m.rmse * m.rmse))).abs() < 1e-9 * pooled.rmse.powi(2));
    let over = validated.over_folds["log_likelihood"];
    assert!((over.mean.unwrap() - pooled.log_likelihood).abs() < 1e-12);
    // of three: the squares of all differences, each pair once, over 3·2·3
    let [a, b, c] = log_likelihoods[..] else { panic!() };
    let error = (((a - b).powi(2) + (b - c).powi(2) + (a - c).powi(2)) / 18.0).sqrt();
    assert!((over.standard_error.unwrap() - error).abs() < 1e-12);
    assert!((validated.over_folds["rmse"].mean.unwrap() - mean(&of(|m| m.rmse))).abs() < 1e-9);

    // written and read, and reported: every row's prediction by the model that had not seen it, in the table's order
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.dkp");
    fitted.save(&path).unwrap();
    let loaded = Fitted::load(&path).unwrap();
    assert_eq!(loaded.card, fitted.card);
    let report = loaded.report().unwrap();
    assert!(report.cross_validation.starts_with("Cross-validated: 3 folds at random"), "{}", report.cross_validation);
    let [Evaluation::Regression { points, metrics, .. }] = report.evaluations.as_slice() else { panic!() };
    assert!(points.iter().enumerate().all(|(i, p)| (p.observed - price(i)).abs() < 1e-9) && points.len() == ROWS);
    let rmse = (points.iter().map(|p| (p.mean - p.observed).powi(2)).sum::<f64>() / ROWS as f64).sqrt();
    assert!((rmse - pooled.rmse).abs() < 1e-9);
    assert!(metrics[0].explanation.contains("Mean of folds, ± its standard error: "), "{:?}", metrics[0]);
}

#[test]
fn a_group_is_judged_by_a_model_of_other_groups() {
    let towns: Vec<&str> = (0..ROWS).map(town).collect();
    let folds = Split::folds_by_group(&towns, 3, 0).unwrap();
    let fitted = check(|fit| fit.config.table.group = Some("town".into()), &folds);
    let line = fitted.card.cross_validation.unwrap().line;
    assert_eq!(line, "cross-validated: 3 folds of whole groups by \"town\", each judged by a model of the others");
}

#[test]
fn rows_are_judged_by_a_model_of_earlier_rows() {
    let years: Vec<f64> = (0..ROWS).map(year).collect();
    let folds = Split::folds_by_time(&years, 2).unwrap();
    let fitted = check(|fit| fit.config.table.time = Some("year".into()), &folds);
    let validated = fitted.card.cross_validation.unwrap();
    assert_eq!(
        validated.line,
        "cross-validated: 2 folds in the order of \"year\", each judged by a model of the rows before it; 20 rows are not judged"
    );
    assert_eq!(fitted.card.evaluation.unwrap().rows(), 40);
}

/// A class of one row is in one fold, whose model does not know it; those of other folds do.
#[test]
fn a_class_that_a_fold_has_alone_is_not_judged() {
    let class = |i: usize| if i == 3 { "attic" } else { ["flat", "house"][i % 2] };
    let x: Vec<f64> = (0..40).map(|i| (i % 2) as f64 + (i % 7) as f64 / 10.0).collect();
    let classes: Vec<&str> = (0..40).map(class).collect();
    let table = Table::from_columns(vec![("x", x.into()), ("kind", classes.into())], &[]).unwrap();
    let mut fit = quick("kind");
    (fit.config.model.likelihood, fit.config.table.folds) = (None, Some(4));
    let fitted = fit.run(&table).unwrap();
    let validated = fitted.card.cross_validation.as_ref().unwrap();
    assert!(validated.line.ends_with("; 1 row is not judged"), "{}", validated.line);
    assert_eq!(fitted.card.evaluation.as_ref().unwrap().rows(), 39);
    let Some(Evaluation::Classification { labels, points, .. }) = fitted.report().unwrap().evaluations.pop() else {
        panic!()
    };
    assert_eq!(labels, ["attic", "flat", "house"]);
    for (p, i) in points.iter().zip((0..40).filter(|&i| i != 3)) {
        assert_eq!((p.probabilities.len(), labels[p.observed].as_str()), (3, class(i)));
        assert!((p.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let unknown = points.iter().filter(|p| p.probabilities[0] == 0.0).count();
    assert_eq!(unknown, 9, "the other rows of that fold");
}

/// Stopped in a fold, in the start of the model, and in its training, a run ends with the bytes of one that was not stopped.
#[test]
fn a_stopped_cross_validation_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("flats.csv");
    let cell = |v: f64| if v.is_nan() { String::new() } else { v.to_string() };
    let row = |i: usize| format!("{},{},{},{}\n", rooms(i), cell(area(i)), town(i), price(i));
    std::fs::write(&data, "rooms,area,town,price\n".to_string() + &(0..ROWS).map(row).collect::<String>()).unwrap();
    let mut fit = quick("price");
    fit.config.table.folds = Some(3);
    let order = |name: &str| Order::new(&data, &folder.path().join(name), fit.config.clone()).unwrap();
    let prepared = |order: &Order| order.prepare(&fit).unwrap();
    let whole = order("whole.dkp");
    fit.train_in_files(prepared(&whole), &whole, &mut |_| true).unwrap();

    let part = order("part.dkp");
    let run = Order::folder_for(&part.out);
    let mut fold_now = 0;
    let stopped = fit.train_in_files(prepared(&part), &part, &mut |moment| {
        if let Moment::Fold { fold, folds: 3 } = moment {
            fold_now = fold;
        }
        !(fold_now == 2 && matches!(moment, Moment::Train { step, .. } if step.step == 5))
    });
    let Some(Error::Fold { fold: 2, folds: 3, error }) = stopped.err() else { panic!() };
    assert!(matches!(*error, Error::Stopped { step: 6, .. }), "{error:?}");
    let resumed = |finished: usize, step: u64, watch: &mut (dyn FnMut(&Moment<'_>) -> bool + Send)| {
        let checkpoint = Checkpoint::open(&run, &fit.registry).unwrap();
        assert_eq!((checkpoint.folds(), checkpoint.step()), (finished, step));
        let mut begun = Vec::new();
        let outcome = fit.resume(prepared(&part), checkpoint, &mut |moment| {
            if let Moment::Fold { fold, .. } = moment {
                begun.push(fold);
            }
            watch(&moment)
        });
        (outcome.map(|_| ()), begun)
    };
    let mut judged = false;
    let (outcome, begun) = resumed(1, 0, &mut |moment| {
        judged |= matches!(moment, Moment::FoldJudged { fold: 3, .. });
        !(judged && matches!(moment, Moment::Start { .. }))
    });
    assert!(matches!(outcome, Err(Error::Stopped { step: 0, .. })), "{outcome:?}");
    assert_eq!(begun, [2, 3]);
    let (outcome, begun) = resumed(3, 0, &mut |m| !matches!(m, Moment::Train { step, .. } if step.step == 9));
    assert!(matches!(outcome, Err(Error::Stopped { step: 10, .. })), "{outcome:?}");
    assert!(begun.is_empty(), "{begun:?}");
    // rows in another order are other folds
    let text = std::fs::read_to_string(&data).unwrap();
    std::fs::write(&data, text.replacen("1,", "2,", 1)).unwrap();
    let changed = fit.resume(prepared(&part), Checkpoint::open(&run, &fit.registry).unwrap(), &mut |_| true);
    assert!(changed.err().unwrap().to_string().contains("has changed since the run began"));
    std::fs::write(&data, text).unwrap();
    let (outcome, _) = resumed(3, 10, &mut |_| true);
    outcome.unwrap();
    assert_eq!(std::fs::read(&part.out).unwrap(), std::fs::read(&whole.out).unwrap());
    assert!(!run.join("folds").exists());

    // an older run's folds do not outlive one without
    fit.train_in_files(prepared(&part), &part, &mut |m| !matches!(m, Moment::Fold { fold: 2, .. })).err().unwrap();
    assert!(dkp_fit::Run::is_unfinished(&run));
    let mut plain = quick("price");
    plain.config.table.holdout = Some(0.2);
    let order = Order::new(&data, &part.out, plain.config.clone()).unwrap();
    plain.train_in_files(order.prepare(&plain).unwrap(), &order, &mut |_| true).unwrap();
    assert!(!dkp_fit::Run::is_unfinished(&run));
}

#[test]
fn mistakes_name_the_fold() {
    let mut fit = quick("y");
    fit.config.table.folds = Some(2);
    let message = |fit: &Fit, x: &[f64], y: &[f64]| {
        let table = Table::from_columns(vec![("x", x.to_vec().into()), ("y", y.to_vec().into())], &[]).unwrap();
        fit.run(&table).err().unwrap().to_string()
    };
    let said = message(&fit, &[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]);
    assert_eq!(
        said,
        "fold 2 of 2: 1 row with a known target \"y\" to learn from; at least 2 are needed; fewer folds leave more rows to learn from"
    );
    assert_eq!(message(&fit, &[1.0], &[1.0]), "1 row with a known target \"y\" to learn from; at least 2 are needed");
    fit.config.table.folds = Some(4);
    let said = message(&fit, &[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]);
    assert_eq!(said, "folds 4: there are 3 rows with a known target");
    let opened = fit.prepare(&table(&[0, 1, 2, 3, 4]), Some(&table(&[5]))).err().unwrap().to_string();
    assert_eq!(opened, "folds and test both say which rows are held out: give one of them");
}
