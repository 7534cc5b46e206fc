//! Several targets: learned together where each is known, predicted and judged each in its units and together.

use dkp_fit::{Entrant, Fit, Fitted, Metrics, Table, Values, compare};
use dkp_report::Evaluation;

const ROWS: usize = 150;

/// Evenly spread numbers from 0 to 1.
fn even(i: usize, ratio: f64) -> f64 {
    (i as f64 * ratio).fract()
}

fn x(i: usize) -> f64 {
    6.0 * even(i, 0.618_034)
}

/// In thousands, and unknown in some rows.
fn heat(i: usize) -> f64 {
    if i % 10 == 7 { f64::NAN } else { 1e3 * x(i).sin() + 50.0 * (even(i, 0.414_214) - 0.5) }
}

/// In thousandths, and unknown in a third of the rows.
fn wear(i: usize) -> f64 {
    if i % 3 == 1 { f64::NAN } else { 1e-3 * (x(i).cos() + 0.2 * (even(i, 0.732_051) - 0.5)) }
}

fn is_known(i: usize) -> bool {
    !(heat(i).is_nan() && wear(i).is_nan())
}

fn column(rows: std::ops::Range<usize>, of: fn(usize) -> f64) -> Values {
    rows.map(of).collect::<Vec<f64>>().into()
}

fn table(rows: std::ops::Range<usize>) -> Table {
    let columns = [("x", x as fn(usize) -> f64), ("heat", heat), ("wear", wear)];
    Table::from_columns(columns.map(|(name, of)| (name, column(rows.clone(), of))).to_vec(), &[]).unwrap()
}

fn fit(change: impl Fn(&mut Fit)) -> Fit {
    let mut fit = Fit::new("heat");
    fit.config.table.targets.push("wear".to_string());
    fit.config.table.holdout = Some(0.3);
    let choices = &mut fit.config.model;
    (choices.steps, choices.start_steps, choices.draws, choices.inducing) = (Some(60), Some(300), Some(2), Some(15));
    choices.likelihood = Some("gaussian".to_string());
    change(&mut fit);
    fit
}

fn several(metrics: &Metrics) -> (usize, f64, &[dkp_fit::TargetMetrics]) {
    let Metrics::Several { rows, log_likelihood, targets } = metrics else { panic!("{metrics:?}") };
    (*rows, log_likelihood.unwrap(), targets)
}

#[test]
fn each_is_learned_where_it_is_known() {
    let fitted = fit(|_| ()).run(&table(0..ROWS)).unwrap();
    let unseen = ROWS..2 * ROWS;
    let p = fitted.predict(&table(unseen.clone()), 20, 0).unwrap();
    assert_eq!(p.targets().names(), ["heat", "wear"]);
    // where a target is missing it is predicted all the same
    let error = |t: usize, truth: &dyn Fn(usize) -> f64| {
        let errors = unseen.clone().map(|i| (p.mean(i - ROWS, t) - truth(i)).powi(2));
        (errors.sum::<f64>() / ROWS as f64).sqrt()
    };
    let errors = [error(0, &|i| 1e3 * x(i).sin()), error(1, &|i| 1e-3 * x(i).cos())];
    assert!(errors[0] < 30.0 && errors[1] < 1e-4, "{errors:?}");
    for i in [0, 50, 149] {
        let quantile = p.quantile(i, 1, 0.8);
        assert!((p.cdf(i, 1, quantile) - 0.8).abs() < 1e-9 && p.noise(i, 1) < p.deviation(i, 1));
        assert!(quantile > p.mean(i, 1) && quantile < p.mean(i, 1) + 2.0 * p.deviation(i, 1));
    }
    let notes = &fitted.card.notes;
    assert!(notes.iter().any(|n| n.starts_with("the target \"wear\" is missing in ")), "{notes:?}");
    let lacking = (0..ROWS).filter(|&i| !is_known(i)).count();
    assert!(lacking > 0 && notes.contains(&format!("{lacking} rows without a target are left out")), "{notes:?}");
}

/// Metrics are means of what predictions say: of both targets together, and of each where it is known.
#[test]
fn all_are_judged_together_and_each_by_itself() {
    for family in ["nngp", "diwp"] {
        let fitted = fit(|f| f.config.model.family = Some(family.to_string())).run(&table(0..ROWS)).unwrap();
        let rows: Vec<usize> = (0..ROWS).filter(|&i| is_known(ROWS + i)).collect();
        let unseen = table(ROWS..2 * ROWS);
        let p = fitted.predict(&unseen, 20, 3).unwrap();
        let evaluated = fitted.evaluate(&unseen, 20, 3).unwrap().metrics;
        let (counted, joint, targets) = several(&evaluated);
        assert_eq!(counted, rows.len());
        let y = |i: usize| [heat(ROWS + i), wear(ROWS + i)];
        let mean = rows.iter().map(|&i| p.log_density(i, &y(i))).sum::<f64>() / rows.len() as f64;
        assert!((joint - mean).abs() < 1e-9, "{family}: {joint} and {mean}");
        let mut apart = 0.0;
        for (t, found) in targets.iter().enumerate() {
            let own: Vec<usize> = rows.iter().copied().filter(|&i| !y(i)[t].is_nan()).collect();
            let alone = |i: usize| [0, 1].map(|k| if k == t { y(i)[k] } else { f64::NAN });
            let sum: f64 = own.iter().map(|&i| p.log_density(i, &alone(i))).sum();
            apart += sum / rows.len() as f64;
            let squares: f64 = own.iter().map(|&i| (p.mean(i, t) - y(i)[t]).powi(2)).sum();
            let m = &found.metrics;
            assert_eq!((m.rows, found.target.as_str()), (own.len(), ["heat", "wear"][t]));
            assert!((m.log_likelihood - sum / own.len() as f64).abs() < 1e-9, "{family}: {m:?}");
            assert!((m.rmse / (squares / own.len() as f64).sqrt() - 1.0).abs() < 1e-9, "{family}: {m:?}");
        }
        // with one draw targets are independent; a mixture of draws ties them
        assert_eq!((joint - apart).abs() < 1e-9, family == "nngp", "{family}: {joint} and {apart}");
        let read: Metrics = serde_json::from_str(&serde_json::to_string(&evaluated).unwrap()).unwrap();
        assert_eq!(read.explained().len(), evaluated.explained().len());
        assert!((read.log_likelihood() - joint).abs() < 1e-12);
    }
}

/// A target in another unit has another density: ln 1024 less for each row in which it is known. (Powers of two change no bit of what is learned.)
#[test]
fn bounds_and_densities_are_in_the_units_of_all() {
    let larger = |i: usize| 1024.0 * wear(i);
    let columns = vec![("x", column(0..ROWS, x)), ("heat", column(0..ROWS, heat)), ("wear", column(0..ROWS, larger))];
    let other = Table::from_columns(columns, &[]).unwrap();
    let [a, b] = [&table(0..ROWS), &other].map(|t| fit(|_| ()).run(t).unwrap().card);
    assert!(a.known_shares.iter().all(|s| (0.5..0.98).contains(s)), "{:?}", a.known_shares);
    let less = 1024_f64.ln() * a.known_shares[1];
    let [before, after] = [&a, &b].map(|card| card.bound.as_ref().unwrap().total);
    assert!((before - after - less).abs() < 1e-9, "{before} {after} {less}");
    let [(rows, before, own), (_, after, _)] = [&a, &b].map(|card| several(card.evaluation.as_ref().unwrap()));
    let less = 1024_f64.ln() * own[1].metrics.rows as f64 / rows as f64;
    assert!((before - after - less).abs() < 1e-9, "{before} {after} {less}");
}

/// The file keeps all; the report says of each target what it says of one.
#[test]
fn each_is_reported() {
    let mut fit = fit(|f| f.config.model.likelihood = Some("varying".to_string()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.dkp");
    fit.run(&table(0..ROWS)).unwrap().save(&path).unwrap();
    let fitted = Fitted::load(&path).unwrap();
    let report = fitted.report().unwrap();
    let (rows, _, of_targets) = several(fitted.card.evaluation.as_ref().unwrap());
    assert_eq!((report.evaluations.len(), report.explanations.len()), (2, 2));
    for (t, (evaluation, explanation)) in report.evaluations.iter().zip(&report.explanations).enumerate() {
        let (name, truth) = [("heat", heat as fn(usize) -> f64), ("wear", wear)][t];
        let Evaluation::Regression { target, points, noise, metrics } = evaluation else { panic!() };
        assert_eq!((target.as_str(), explanation.target.as_str()), (name, name));
        assert!(points.len() == of_targets[t].metrics.rows && points.len() < rows);
        assert!(points.iter().all(|p| (0..ROWS).any(|i| (truth(i) / p.observed - 1.0).abs() < 1e-9)));
        let noise = noise.as_ref().unwrap();
        assert!(noise.deviations.len() == points.len() && noise.deviations.iter().zip(points).all(|(n, p)| *n <= p.sd));
        assert_eq!(metrics.len(), of_targets[t].metrics.clone().coverage.len() + 5);
        // the effect of x is the curve that the target follows
        let effect = &explanation.effects[0];
        let height = [1e3, 1e-3][t];
        assert_eq!(effect.curves.len(), 1);
        let [most, least] = [f64::max, f64::min].map(|f| effect.curves[0].mean.iter().copied().reduce(f).unwrap());
        assert!((most / height - 1.0).abs() < 0.2 && (least / height + 1.0).abs() < 0.2, "{name}: {least} to {most}");
        for surprise in &explanation.surprises {
            let (point, row) = (&points[surprise.point], surprise.row.unwrap() - 1);
            assert!((point.observed / truth(row) - 1.0).abs() < 1e-9);
            assert!(point.pit < 0.05 || point.pit > 0.95);
        }
    }
    let page = dkp_report::html(&report);
    let headings = page.matches("<h3 class=\"target\">wear</h3>").count();
    assert_eq!(
        headings,
        2 + usize::from(!report.explanations[1].surprises.is_empty()),
        "predictions, features, surprises"
    );

    // folds say the same kind of thing
    fit.config.table = dkp_fit::Roles { folds: Some(2), holdout: None, ..fit.config.table };
    let folded = fit.run(&table(0..ROWS)).unwrap();
    let validated = folded.card.cross_validation.as_ref().unwrap();
    let (judged, ..) = several(folded.card.evaluation.as_ref().unwrap());
    assert_eq!(judged, (0..ROWS).filter(|&i| is_known(i)).count());
    let keys: Vec<&str> = validated.over_folds.keys().map(String::as_str).collect();
    assert!(keys.contains(&"log_likelihood") && keys.contains(&"rmse of wear"), "{keys:?}");
    assert!(dkp_report::html(&folded.report().unwrap()).contains("Mean of folds, ± its standard error"));
}

#[test]
fn models_of_the_same_targets_are_compared() {
    let seen = table(0..ROWS);
    let a = fit(|_| ()).run(&seen).unwrap();
    let b = fit(|f| f.config.model.kernel = vec!["linear".to_string()]).run(&seen).unwrap();
    let unseen = table(ROWS..2 * ROWS);
    let entrant = |name, fitted| Entrant { name, fitted, table: &unseen };
    let found = compare(&[entrant("a", &a), entrant("b", &b)], 20, 0, |_, _| ()).unwrap();
    assert_eq!(
        (found.targets.join(" ").as_str(), found.rows),
        ("heat wear", (0..ROWS).filter(|i| is_known(i + ROWS)).count())
    );
    let differences = &found.models[1].differences;
    let [of_a, of_b] = [&a, &b].map(|f| f.evaluate(&unseen, 20, 0).unwrap().metrics);
    for (metric, before) in of_b.explained().iter().zip(of_a.explained()) {
        let difference = differences[&metric.key()];
        assert!((difference.value - (metric.number - before.number)).abs() < 1e-12, "{}", metric.key());
        assert_eq!(difference.standard_error.is_some(), metric.metric != "calibration", "{}", metric.key());
    }
    // a line is no wave
    assert!(differences["rmse of heat"].value > 2.0 * differences["rmse of heat"].standard_error.unwrap());
    assert!(dkp_report::comparison_html(&found.report()).contains("wear: RMSE"));
    let single = Fit {
        config: {
            let mut c = fit(|_| ()).config;
            c.table.targets.pop();
            c
        },
        ..Fit::default()
    };
    let single = single.run(&seen).unwrap();
    let error = compare(&[entrant("a", &a), entrant("one", &single)], 20, 0, |_, _| ()).unwrap_err();
    assert!(error.to_string().contains("regression of heat, wear and regression of heat"), "{error}");
}

/// Which noise they have is chosen for all together; counts may be several too.
#[test]
fn likelihoods_are_for_as_many_targets() {
    let auto = fit(|f| f.config.model.likelihood = None).run(&table(0..ROWS)).unwrap();
    assert!(auto.card.settings.likelihood.ends_with("(2)"), "{}", auto.card.settings.likelihood);
    assert!(auto.card.noise.is_some());
    let count = |i: usize, of: f64| if i % 5 == 2 { f64::NAN } else { (of * (2.0 + x(i).sin())).round() };
    let calls: Values = (0..ROWS).map(|i| count(i, 3.0)).collect::<Vec<f64>>().into();
    let sales: Values = (0..ROWS).map(|i| count(i + 1, 9.0)).collect::<Vec<f64>>().into();
    let counts = Table::from_columns(vec![("x", column(0..ROWS, x)), ("heat", calls), ("wear", sales)], &[]).unwrap();
    let poisson = fit(|f| f.config.model.likelihood = Some("poisson".into())).run(&counts).unwrap();
    let p = poisson.predict(&counts, 20, 0).unwrap();
    let means = |t: usize| (0..ROWS).map(|i| p.mean(i, t)).sum::<f64>() / ROWS as f64;
    assert!((means(1) / means(0) - 3.0).abs() < 0.3, "{} {}", means(0), means(1));
    assert!(p.log_density(0, &[0.5, f64::NAN]) == f64::NEG_INFINITY);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: &dyn Fn(&mut Fit), table: &Table| fit(change).run(table).err().unwrap().to_string();
    let seen = table(0..ROWS);
    let targets = |names: &'static [&'static str]| {
        move |f: &mut Fit| f.config.table.targets = names.iter().map(|n| n.to_string()).collect()
    };
    let message = refused(&targets(&["heat", "heat"]), &seen);
    assert!(message.contains("target heat: it is given twice"), "{message}");
    let message = refused(&targets(&["heat", "cold"]), &seen);
    assert!(message.contains("there is no column \"cold\""), "{message}");
    let message = refused(&|f| f.config.model.likelihood = Some("gaussian(3)".into()), &seen);
    assert!(message.contains("this is for 3 targets, but there are 2"), "{message}");
    let message = refused(&|f| f.config.table.ignore = vec!["wear".into()], &seen);
    assert!(message.contains("this is the target"), "{message}");
    let kinds: Values = (0..ROWS).map(|i| ["flat", "house"][i % 2]).collect::<Vec<_>>().into();
    let columns = vec![("x", column(0..ROWS, x)), ("heat", column(0..ROWS, heat)), ("wear", kinds)];
    let message = refused(&|_| (), &Table::from_columns(columns, &[]).unwrap());
    assert!(message.contains("column \"wear\" holds classes, but several targets must be numbers"), "{message}");
    let classes = |f: &mut Fit| {
        (f.config.table.task, f.config.model.likelihood) = (Some(dkp_fit::Task::Classification), None);
    };
    let message = refused(&classes, &seen);
    assert!(message.contains("several targets must be numbers") && !message.contains("holds"), "{message}");
    let never: Values = vec![f64::NAN; ROWS].into();
    let columns = vec![("x", column(0..ROWS, x)), ("heat", column(0..ROWS, heat)), ("wear", never)];
    let message = refused(&|_| (), &Table::from_columns(columns, &[]).unwrap());
    assert!(message.contains("\"wear\""), "{message}");
}

/// Rows that are judged may lack a target altogether.
#[test]
fn a_target_may_be_unknown_in_all_rows_that_are_judged() {
    let nan = |_: usize| f64::NAN;
    let columns = vec![("x", column(0..40, x)), ("heat", column(0..40, heat)), ("wear", column(0..40, nan))];
    let test = Table::from_columns(columns, &[]).unwrap();
    let fit = fit(|f| f.config.table.holdout = None);
    let prepared = fit.prepare(&table(0..ROWS), Some(&test)).unwrap();
    let fitted = fit.train(prepared, &mut |_| true).unwrap();
    let (rows, _, targets) = several(fitted.card.evaluation.as_ref().unwrap());
    assert_eq!((rows, targets[0].metrics.rows, targets[1].metrics.rows), (36, 36, 0));
    // nothing is said of the one, and a table without its column says the same
    let named = fitted.card.evaluation.as_ref().unwrap().explained();
    assert!(named.iter().all(|m| m.target.as_deref() != Some("wear") && m.number.is_finite()));
    let without = || Table::from_columns(vec![("x", column(0..40, x)), ("heat", column(0..40, heat))], &[]).unwrap();
    let prepared = fit.prepare(&table(0..ROWS), Some(&without())).unwrap();
    assert_eq!(
        fit.train(prepared, &mut |_| true).unwrap().card.evaluation.unwrap().log_likelihood(),
        fitted.card.evaluation.as_ref().unwrap().log_likelihood()
    );
    let judged = fitted.evaluate(&without(), 20, 0).unwrap().metrics;
    assert_eq!(judged.log_likelihood(), fitted.evaluate(&test, 20, 0).unwrap().metrics.log_likelihood());
    let neither = Table::from_columns(vec![("x", column(0..40, x))], &[]).unwrap();
    assert!(fitted.evaluate(&neither, 20, 0).unwrap_err().to_string().contains("there is no column \"heat\""));
    let folder = tempfile::tempdir().unwrap();
    fitted.save(&folder.path().join("m.dkp")).unwrap();
    let loaded = Fitted::load(&folder.path().join("m.dkp")).unwrap();
    assert!(dkp_report::html(&loaded.report().unwrap()).contains("No row held out has a known wear"));
}

/// Files of models of one target used to name it without a list.
#[test]
fn cards_of_one_target_are_read() {
    let mut one = fit(|_| ());
    one.config.table.targets.pop();
    let card = one.run(&table(0..ROWS)).unwrap().card;
    let mut old = serde_json::to_value(&card).unwrap();
    let fields = old.as_object_mut().unwrap();
    for (new, old) in [("targets", "target"), ("explanations", "explanation")] {
        let list = fields.remove(new).unwrap();
        assert_eq!(list.as_array().unwrap().len(), 1);
        fields.insert(old.to_string(), list[0].clone());
    }
    assert_eq!(fields.remove("known_shares").unwrap(), serde_json::json!([1.0]));
    let mut read: dkp_fit::Card = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(read.log_unit(), card.log_unit());
    read.known_shares = vec![1.0];
    assert_eq!(read, card);
    old.as_object_mut().unwrap().insert("explanation".to_string(), serde_json::Value::Null);
    assert!(serde_json::from_value::<dkp_fit::Card>(old).unwrap().explanations.is_empty());
}

/// A fold in which no row has a target says nothing of it, and the others do.
#[test]
fn a_target_may_be_rare() {
    let rare = |i: usize| if i % 30 == 4 { 1e-3 * x(i).cos() } else { f64::NAN };
    let columns = vec![("x", column(0..ROWS, x)), ("heat", column(0..ROWS, heat)), ("wear", column(0..ROWS, rare))];
    let mut fit = fit(|_| ());
    fit.config.table = dkp_fit::Roles { folds: Some(8), holdout: None, ..fit.config.table };
    fit.config.model.steps = Some(5);
    let fitted = fit.run(&Table::from_columns(columns, &[]).unwrap()).unwrap();
    let validated = fitted.card.cross_validation.unwrap();
    let without = validated.folds.iter().filter(|m| several(m).2[1].metrics.rows == 0).count();
    assert!((3..8).contains(&without), "{without}");
    assert!(
        validated.over_folds["rmse of wear"].mean.is_some()
            && validated.over_folds["rmse of heat"].standard_error.is_some()
    );
}

/// What is missing is missing again when a run goes on, to the same bits.
#[test]
fn a_run_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("t.csv"), folder.path().join("t.dkp"));
    let cell = |v: f64| if v.is_nan() { String::new() } else { v.to_string() };
    let row = |i: usize| format!("{},{},{}\n", x(i), cell(heat(i)), cell(wear(i)));
    std::fs::write(&data, "x,heat,wear\n".to_string() + &(0..ROWS).map(row).collect::<String>()).unwrap();
    let fit = fit(|f| f.config.model.steps = Some(12));
    let order = dkp_fit::Order::new(&data, &out, fit.config.clone()).unwrap();
    let stop = &mut |m: dkp_fit::Moment<'_>| !matches!(m, dkp_fit::Moment::Train { step, .. } if step.step == 5);
    assert!(fit.train_in_files(order.prepare(&fit).unwrap(), &order, stop).is_err());
    let checkpoint = dkp_fit::Checkpoint::open(&dkp_fit::Order::folder_for(&out), &fit.registry).unwrap();
    let resumed = fit.resume(order.prepare(&fit).unwrap(), checkpoint, &mut |_| true).unwrap();
    let whole = fit.train(order.prepare(&fit).unwrap(), &mut |_| true).unwrap();
    assert_eq!(resumed.model.parameters(), whole.model.parameters());
    assert_eq!(resumed.card.evaluation, whole.card.evaluation);
}
