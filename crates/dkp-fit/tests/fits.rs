//! From tables to models and back, in memory and on disk.

#[path = "../../dkp/tests/outside/laplace.rs"]
mod laplace;

use dkp::likelihoods::Scalar;
use dkp_fit::{
    Card, Checkpoint, Error, Fit, Fitted, Metrics, Moment, Order, Predictions, ReadOptions, Scaling, Table, Task,
    Trial, Values,
};
use laplace::Laplace;
use std::sync::Arc;

const ROWS: usize = 90;

fn rooms(i: usize) -> f64 {
    (1 + i % 5) as f64
}

fn area(i: usize) -> f64 {
    if i % 11 == 4 { f64::NAN } else { 20.0 * rooms(i) + (7 * i % 13) as f64 }
}

fn town(i: usize) -> &'static str {
    ["Bath", "York", "Ely"][i % 3]
}

fn price(i: usize) -> f64 {
    100.0 + 30.0 * rooms(i) + 15.0 * (i % 3) as f64 + (5 * i % 7) as f64
}

fn kind(i: usize) -> &'static str {
    if rooms(i) > 3.0 { "family" } else { "studio" }
}

type Columns = Vec<(&'static str, Values)>;

fn features(rows: std::ops::Range<usize>) -> Columns {
    vec![
        ("rooms", rows.clone().map(rooms).collect::<Vec<_>>().into()),
        ("area", rows.clone().map(area).collect::<Vec<_>>().into()),
        ("town", rows.map(town).collect::<Vec<_>>().into()),
    ]
}

fn memory(target: (&'static str, Values)) -> Table {
    Table::from_columns([features(0..ROWS), vec![target]].concat(), &[]).unwrap()
}

fn prices() -> Table {
    memory(("price", (0..ROWS).map(price).collect::<Vec<_>>().into()))
}

fn quick(target: &str) -> Fit {
    let mut fit = Fit::new(target);
    let choices = &mut fit.config.model;
    (choices.steps, choices.start_steps, choices.draws, choices.inducing) = (Some(30), Some(60), Some(2), Some(12));
    fit
}

fn bits(p: &Predictions) -> Vec<u64> {
    (0..p.rows()).flat_map(|n| [p.mean(n, 0), p.deviation(n, 0), p.quantile(n, 0, 0.3)]).map(f64::to_bits).collect()
}

#[test]
fn columns_in_memory_and_a_file_give_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flats.csv");
    let cell = |v: f64| if v.is_nan() { String::new() } else { v.to_string() };
    let row = |i: usize| format!("{},{},{},{}\n", rooms(i), cell(area(i)), town(i), price(i));
    std::fs::write(&path, "rooms,area,town,price\n".to_string() + &(0..ROWS).map(row).collect::<String>()).unwrap();
    let file = Table::open(&path, &ReadOptions::default()).unwrap();
    let mut fit = quick("price");
    fit.config.model.likelihood = Some("gaussian".into());
    let [a, b] = [&prices(), &file].map(|table| fit.run(table).unwrap());
    assert_eq!(a.model.parameters(), b.model.parameters());
    assert_eq!(a.card.evaluation, b.card.evaluation);
    assert_eq!((a.card.data.as_str(), b.card.data.as_str()), ("a table in memory", "flats.csv"));
    let new = Table::from_columns(features(7..20), &[]).unwrap();
    assert_eq!(bits(&a.predict(&new, 10, 0).unwrap()), bits(&b.predict(&new, 10, 0).unwrap()));

    // written and read, it is the same model, and tells the same of itself
    let model = folder.path().join("flats.dkp");
    b.save(&model).unwrap();
    let loaded = Fitted::load(&model).unwrap();
    assert_eq!(loaded.card, b.card);
    assert_eq!(bits(&loaded.predict(&new, 10, 0).unwrap()), bits(&b.predict(&new, 10, 0).unwrap()));
    let [page, other] = [&loaded, &b].map(|fitted| dkp_report::html(&fitted.report().unwrap()));
    assert!(page == other && page.contains("<svg"));
    assert_eq!(loaded.relevance().unwrap(), b.relevance().unwrap());
    let gain = loaded.card.bound.as_ref().unwrap().gain;
    assert!(gain > 0.0, "{gain}");
}

/// Predictions are in the target's units: prices are between 100 and 400.
#[test]
fn numbers_have_their_units() {
    let fitted = quick("price").run(&prices()).unwrap();
    let p = fitted.predict(&prices(), 20, 0).unwrap();
    let errors: Vec<f64> = (0..ROWS).map(|i| p.mean(i, 0) - price(i)).collect();
    let rmse = (errors.iter().map(|e| e * e).sum::<f64>() / ROWS as f64).sqrt();
    let evaluated = fitted.evaluate(&prices(), 20, 0).unwrap();
    let Metrics::Numbers(m) = &evaluated.metrics else { panic!("{evaluated:?}") };
    assert!((m.rmse - rmse).abs() < 1e-9 && rmse < 20.0, "{m:?} and {rmse}");
    let mean = (0..ROWS).map(|i| p.log_density(i, &[price(i)])).sum::<f64>() / ROWS as f64;
    assert!((m.log_likelihood - mean).abs() < 1e-9, "{m:?} and {mean}");
    for i in [0, 17, 60] {
        assert!((p.cdf(i, 0, p.quantile(i, 0, 0.7)) - 0.7).abs() < 1e-9);
        assert!(p.class(i).is_none() && p.probabilities(i).is_none());
    }
    let columns: Vec<String> = p.columns(&[0.5], true).into_iter().map(|c| c.0).collect();
    assert_eq!(columns, ["mean", "sd", "sd of model", "sd of noise", "quantile 0.5"]);
}

/// A file of which the checksum is right may still have been made by another program.
#[test]
fn a_card_that_does_not_fit_its_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flats.dkp");
    let fit = |target: &str, ignore: &[&str]| {
        let mut fit = quick(target);
        fit.config.table.ignore = ignore.iter().map(|c| c.to_string()).collect();
        fit.config.model.likelihood = (target == "price").then(|| "gaussian".into());
        fit.run(&prices()).unwrap()
    };
    let (other, classes) = (fit("price", &["town"]).card, fit("town", &[]).card);
    let refused = |change: &dyn Fn(&mut Card)| {
        let mut fitted = fit("price", &[]);
        change(&mut fitted.card);
        fitted.save(&path).unwrap();
        let text = Fitted::load(&path).err().map_or(String::new(), |e| e.to_string());
        text.split(" file: ").nth(1).unwrap_or_default().to_string()
    };
    assert_eq!(refused(&|_| ()), "");
    assert_eq!(refused(&|c| c.encoder = other.encoder.clone()), "its columns do not make the model's features");
    assert_eq!(refused(&|c| c.feature_scale = other.feature_scale.clone()), "its scales do not fit its columns");
    assert_eq!(refused(&|c| c.target_scale.mean.clear()), "its targets are not the model's");
    assert_eq!(refused(&|c| c.target_scale.deviation[0] = 0.0), "its target has no scale");
    assert_eq!(refused(&|c| c.targets = classes.targets.clone()), "its labels are not the model's classes");
}

#[test]
fn classes_have_their_names() {
    let table = memory(("kind", (0..ROWS).map(kind).collect::<Vec<_>>().into()));
    let fitted = quick("kind").run(&table).unwrap();
    let p = fitted.predict(&table, 20, 0).unwrap();
    let right = (0..ROWS).filter(|&i| p.class(i) == Some(kind(i))).count();
    assert!(right > 80, "{right}");
    let sum: f64 = p.probabilities(3).unwrap().iter().sum();
    assert!((sum - 1.0).abs() < 1e-12);
    let Some(Metrics::Classes(m)) = &fitted.card.evaluation else { panic!("{:?}", fitted.card.evaluation) };
    assert_eq!(m.rows, 9);
}

fn steep(rows: std::ops::Range<usize>) -> Columns {
    vec![("steep", rows.clone().map(|i| rooms(i).powi(9)).collect::<Vec<_>>().into()), features(rows)[1].clone()]
}

fn steep_kinds(rows: std::ops::Range<usize>) -> Table {
    let kinds: Vec<&str> = rows.clone().map(kind).collect();
    Table::from_columns([steep(rows), vec![("kind", kinds.into())]].concat(), &[]).unwrap()
}

/// How sure to be is found by networks for which parts of the rows are left out in turn, and the model learns from all of them; another kind of model
/// keeps a tenth. A run that is resumed has found it already.
#[test]
fn confidence_comes_from_rows_that_were_not_learned_from() {
    let table = steep_kinds(0..400);
    let watched = |fit: &Fit| {
        let (mut tried, mut kernels) = (Vec::new(), 0);
        let watch = &mut |moment: Moment<'_>| {
            match moment {
                Moment::Try { trial: Trial::Temperature(t), step, .. } if step.step == 0 => tried.push(t),
                Moment::Try { trial: Trial::Kernel(_), step, .. } if step.step == 0 => kernels += 1,
                _ => {}
            }
            true
        };
        let fitted = fit.train(fit.prepare(&table, None).unwrap(), watch).unwrap();
        (fitted.card, tried, kernels)
    };
    let mut fit = quick("kind");
    let (card, tried, kernels) = watched(&fit);
    assert!(kernels >= 1 && card.noise.unwrap().contains(&format!(", kernel {}: ", card.settings.kernel.join(", "))));
    // 360 rows are left to learn from: five parts, of which the first is tried at two temperatures or more
    assert!(card.calibration.unwrap().line.contains(" for 360 rows not learned from"));
    assert!((6..=9).contains(&tried.len()) && tried.starts_with(&[1.0, 0.2]), "{tried:?}");
    assert!(tried.ends_with(&[card.settings.temperature; 4]) && tried.contains(&card.settings.temperature));
    (fit.config.model.temperature, fit.config.model.kernel) = (Some(0.3), vec!["relu".to_string()]);
    let (card, tried, kernels) = watched(&fit);
    assert_eq!((card.settings.temperature, card.noise, tried, kernels), (0.3, None, vec![0.3; 5], 0));
    assert_eq!(card.settings.kernel, ["relu"]);
    fit.config.model.family = Some("diwp".to_string());
    let (card, tried, kernels) = watched(&fit);
    assert!(card.calibration.unwrap().line.contains(" for 36 rows not learned from") && tried.is_empty());
    assert_eq!(kernels, 0);

    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("kinds.csv"), folder.path().join("kinds.dkp"));
    let row = |i: usize| format!("{},{}\n", rooms(i).powi(9), kind(i));
    std::fs::write(&data, "steep,kind\n".to_string() + &(0..400).map(row).collect::<String>()).unwrap();
    let fit = quick("kind");
    let order = Order::new(&data, &out, fit.config.clone()).unwrap();
    let stop = &mut |moment: Moment<'_>| !matches!(moment, Moment::Train { step, .. } if step.step == 9);
    let stopped = fit.train_in_files(order.prepare(&fit).unwrap(), &order, stop).err();
    assert!(matches!(stopped, Some(Error::Stopped { step: 10, .. })), "{stopped:?}");
    let checkpoint = Checkpoint::open(&Order::folder_for(&out), &fit.registry).unwrap();
    let watch = &mut |moment: Moment<'_>| {
        assert!(!matches!(moment, Moment::Try { .. } | Moment::Start { .. }));
        true
    };
    let resumed = fit.resume(order.prepare(&fit).unwrap(), checkpoint, watch).unwrap();
    let whole = fit.train(order.prepare(&fit).unwrap(), &mut |_| true).unwrap();
    assert_eq!(resumed.model.parameters(), whole.model.parameters());
    assert_eq!(resumed.card, whole.card);
}

/// Classes whose borders are rough have a rough kernel, and others a smooth one: where Weierstrass's function with the roughness of a random walk is
/// positive, and half a square.
#[test]
fn kernels_are_chosen_by_rows_that_were_not_learned_from() {
    let even = |i: usize, ratio: f64| (i as f64 * ratio).fract();
    let chosen = |class: &dyn Fn(f64, f64) -> bool| {
        let (a, b): (Vec<f64>, Vec<f64>) = (0..600).map(|i| (even(i, 0.754_877_7), even(i, 0.569_840_3))).unzip();
        let kinds: Vec<&str> = a.iter().zip(&b).map(|(a, b)| ["white", "black"][usize::from(class(*a, *b))]).collect();
        let columns = vec![("a", a.into()), ("b", b.into()), ("kind", kinds.into())];
        let mut fit = Fit::new("kind");
        let choices = &mut fit.config.model;
        (choices.inducing, choices.temperature, choices.steps) = (Some(80), Some(0.2), Some(300));
        let fitted = fit.run(&Table::from_columns(columns, &[]).unwrap()).unwrap();
        // the model has what the settings say
        let names: Vec<String> = fitted.model.architecture().layers.iter().map(|l| l.kernel.name()).collect();
        assert_eq!(names, fitted.card.settings.kernel[..names.len()]);
        fitted.card.settings.kernel
    };
    let wave = |k: i32, v: f64| {
        (2_f64.powi(k) * std::f64::consts::TAU * v + f64::from(k)).sin() * 0.5_f64.powf(0.5 * f64::from(k))
    };
    assert_eq!(chosen(&|a, _| (0..9).map(|k| wave(k, a)).sum::<f64>() > 0.0), ["matern12", "sqexp"]);
    assert_eq!(chosen(&|a, b| a + b > 1.0), ["sqexp"]);
}

/// How columns are scaled, and how sure probabilities are, belong to the file: what was found is what counts after loading.
#[test]
fn scales_and_calibration_are_kept() {
    let mut fit = quick("kind");
    fit.config.table.scaling = Some(Scaling::Ranks);
    let fitted = fit.run(&steep_kinds(0..400)).unwrap();
    let calibrated = fitted.card.calibration.as_ref().expect("classes are calibrated");
    assert!(calibrated.line.starts_with("probabilities are "), "{calibrated:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flats.dkp");
    fitted.save(&path).unwrap();
    let loaded = Fitted::load(&path).unwrap();
    let new = Table::from_columns(steep(5..25), &[]).unwrap();
    let probabilities = |f: &Fitted| {
        let p = f.predict(&new, 10, 0).unwrap();
        (0..p.rows()).map(|n| p.probabilities(n).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(probabilities(&loaded), probabilities(&fitted));
    // without what was found they are others
    let mut uncalibrated = loaded;
    uncalibrated.card.calibration = None;
    assert_ne!(probabilities(&uncalibrated), probabilities(&fitted));
    // few rows are not calibrated, of classes or of numbers
    assert!(fit.run(&steep_kinds(0..ROWS)).unwrap().card.calibration.is_none());
    assert!(quick("price").run(&prices()).unwrap().card.calibration.is_none());
}

#[test]
fn threads_change_nothing_and_share_a_fitted_model() {
    let [one, two] = [1, 2].map(|threads| Fit { threads: Some(threads), ..quick("price") }.run(&prices()).unwrap());
    assert_eq!(one.model.parameters(), two.model.parameters());
    let table = prices();
    let expected = bits(&one.predict(&table, 5, 0).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(bits(&one.predict(&table, 5, 0).unwrap()), expected));
        }
    });
    let error = Fit { threads: Some(0), ..quick("price") }.run(&prices()).err().unwrap();
    assert_eq!(error.to_string(), "threads must be from 1 to 10000");
}

/// Who watches sees the start, every step and the judgement, and may end it.
#[test]
fn a_fit_is_watched_and_can_be_stopped() {
    let fit = quick("price");
    let (mut tried, mut start, mut steps, mut judged) = (Vec::new(), 0, 0, Vec::new());
    let watch = &mut |moment: Moment<'_>| {
        match moment {
            Moment::Start { .. } => start += 1,
            Moment::Train { .. } => steps += 1,
            Moment::Begin => assert_eq!((start, steps), (60, 0)),
            Moment::Judge { done, rows } => judged.push((done, rows)),
            Moment::Noise(line) => assert!(line.starts_with("noise"), "{line}"),
            Moment::Try { trial: Trial::Likelihood(name), step, steps } => {
                tried.extend((step.step + 1 == steps).then_some(name));
            }
            Moment::Try { trial, .. } => panic!("prices are not classes: {trial:?}"),
            Moment::ColdStart(error) => panic!("{error}"),
            Moment::Fold { .. } | Moment::FoldJudged { .. } => panic!("there are no folds"),
        }
        true
    };
    fit.train(fit.prepare(&prices(), None).unwrap(), watch).unwrap();
    assert_eq!((start, steps, judged), (60, 30, vec![(0, 9), (9, 9)]));
    assert_eq!(tried, ["gaussian", "student_t", "varying_t"]);
    let stopped = |watch: &mut (dyn FnMut(Moment<'_>) -> bool + Send)| {
        fit.train(fit.prepare(&prices(), None).unwrap(), watch).err()
    };
    let in_choice = stopped(&mut |moment| !matches!(moment, Moment::Try { .. }));
    assert!(matches!(in_choice, Some(Error::Stopped { step: 0, .. })), "{in_choice:?}");
    let in_start = stopped(&mut |moment| !matches!(moment, Moment::Start { .. }));
    assert!(matches!(in_start, Some(Error::Stopped { step: 0, .. })), "{in_start:?}");
    let in_judgement = stopped(&mut |moment| !matches!(moment, Moment::Judge { .. }));
    assert!(matches!(in_judgement, Some(Error::Stopped { step: 30, .. })), "{in_judgement:?}");
    let later = stopped(&mut |moment| !matches!(moment, Moment::Train { step, .. } if step.step == 4));
    assert!(matches!(later, Some(Error::Stopped { step: 5, .. })), "{later:?}");

    // what it had learned can be had instead
    let partial = Fit { partial: true, ..fit.clone() };
    let watch = &mut |moment: Moment<'_>| !matches!(moment, Moment::Train { step, .. } if step.step == 4);
    let half = partial.train(partial.prepare(&prices(), None).unwrap(), watch).unwrap();
    assert!(half.card.notes.contains(&"stopped after step 5 of 30".to_string()) && half.card.bound.is_none());
    assert_eq!(half.history().len(), 5);
    let in_start = &mut |moment: Moment<'_>| !matches!(moment, Moment::Start { .. });
    assert!(partial.train(partial.prepare(&prices(), None).unwrap(), in_start).is_err());
    assert_eq!(bits(&half.predict(&prices(), 5, 0).unwrap()).len(), 3 * ROWS);
    let in_judgement = &mut |moment: Moment<'_>| !matches!(moment, Moment::Judge { .. });
    let whole = partial.train(partial.prepare(&prices(), None).unwrap(), in_judgement).unwrap();
    assert!(whole.card.bound.is_some() && whole.card.evaluation.is_some());
}

/// Rows drawn jointly have the moments of predictions, in the target's units; classes have probabilities instead.
#[test]
fn targets_are_drawn_in_their_units() {
    let fitted = quick("price").run(&prices()).unwrap();
    let (drawn, p) = (fitted.sample(&prices(), 2000, 1).unwrap(), fitted.predict(&prices(), 200, 0).unwrap());
    for n in [0, 40, 88] {
        let mean = drawn.iter().map(|d| d[n]).sum::<f64>() / 2000.0;
        let variance = drawn.iter().map(|d| (d[n] - mean).powi(2)).sum::<f64>() / 2000.0;
        assert!((mean - p.mean(n, 0)).abs() < 0.15 * p.deviation(n, 0), "{mean} {}", p.mean(n, 0));
        assert!((variance.sqrt() / p.deviation(n, 0) - 1.0).abs() < 0.2, "{variance} {}", p.deviation(n, 0));
    }
    let classes = quick("kind").run(&steep_kinds(0..60)).unwrap();
    let error = classes.sample(&steep_kinds(0..60), 2, 0).unwrap_err().to_string();
    assert!(error.contains("classes are predicted: their probabilities say all"), "{error}");
}

/// Before anything is trained it is told how long each part will take; what takes a hundred times as many steps takes much longer, and nothing else does.
#[test]
fn the_time_of_a_fit_is_estimated() {
    let parts = |table: &Table, fit: &Fit| {
        let estimate = fit.estimate(&fit.prepare(table, None).unwrap()).unwrap();
        assert_eq!(estimate.total(), estimate.parts.iter().map(|p| p.1).sum());
        estimate.parts.into_iter().map(|(what, time)| (what, time.as_secs_f64())).collect::<Vec<_>>()
    };
    let mut fit = quick("price");
    let few = parts(&prices(), &fit);
    let names: Vec<&str> = few.iter().map(|p| p.0).collect();
    assert_eq!(names, ["to choose the noise", "to start", "to train", "to judge and explain"]);
    fit.config.model.steps = Some(3000);
    let many = parts(&prices(), &fit);
    assert!(many[2].1 > 20.0 * few[2].1 && many[1].1 < 20.0 * few[1].1, "{few:?} {many:?}");
    let classes = parts(&steep_kinds(0..400), &quick("kind"));
    let names: Vec<&str> = classes.iter().map(|p| p.0).collect();
    assert_eq!(names, ["to find how sure to be", "to start", "to train", "to judge and explain"]);
}

/// A few whole numbers may stand for classes; that is said, and a word makes them such.
#[test]
fn few_whole_numbers_may_be_classes() {
    let notes = |of: &dyn Fn(usize) -> f64, task: Option<Task>| {
        let mut columns = features(0..90);
        columns.push(("grade", (0..90).map(of).collect::<Vec<_>>().into()));
        let mut fit = quick("grade");
        fit.config.table.task = task;
        let card = fit.prepare(&Table::from_columns(columns, &[]).unwrap(), None).unwrap().card;
        (card.task, card.notes.into_iter().filter(|n| n.contains("classification may be meant")).collect::<Vec<_>>())
    };
    let (task, said) = notes(&|i| (i % 6) as f64, None);
    assert_eq!(task, Task::Regression);
    assert_eq!(said, ["the target \"grade\" has 6 different whole numbers: task classification may be meant"]);
    let (_, said) = notes(&|i| (i % 2) as f64 - 0.5, None);
    assert_eq!(said, ["the target \"grade\" has 2 different numbers: task classification may be meant"]);
    assert!(notes(&|i| (i % 6) as f64 + 0.5, None).1.is_empty() && notes(&|i| (i % 40) as f64, None).1.is_empty());
    assert_eq!(notes(&|i| (i % 6) as f64, Some(Task::Classification)), (Task::Classification, vec![]));
}

/// Held-out rows are judged some at a time, all of them and in order, and as if they were judged later.
#[test]
fn many_held_out_rows_are_judged_some_at_a_time() {
    const UNSEEN: usize = 2500;
    let mut columns = features(0..UNSEEN);
    columns.push(("price", (0..UNSEEN).map(price).collect::<Vec<_>>().into()));
    let unseen = Table::from_columns(columns, &[]).unwrap();
    let mut fit = quick("price");
    fit.config.model.likelihood = Some("student_t".to_string());
    let mut judged = Vec::new();
    let watch = &mut |moment: Moment<'_>| {
        if let Moment::Judge { done, rows } = moment {
            judged.push((done, rows));
        }
        true
    };
    let fitted = fit.train(fit.prepare(&prices(), Some(&unseen)).unwrap(), watch).unwrap();
    assert!(judged.len() > 3 && judged.is_sorted() && judged.last() == Some(&(UNSEEN, UNSEEN)), "{judged:?}");
    let settings = &fitted.card.settings;
    let (draws, seed) = (settings.evaluation_draws as usize, settings.seed);
    let mut later = Vec::new();
    let evaluated = fitted.evaluate_watched(&unseen, draws, seed, |rows| later.push(rows)).unwrap();
    assert_eq!(later, judged[1..].iter().map(|j| j.0).collect::<Vec<_>>());
    assert_eq!(Some(evaluated.metrics), fitted.card.evaluation);
}

/// A likelihood that is written elsewhere is chosen by its name.
#[test]
fn a_likelihood_from_outside_is_found_by_its_name() {
    let mut fit = quick("price");
    fit.registry.add_likelihood("laplace", |_| Ok(Arc::new(Scalar::new(Laplace))));
    fit.config.model.likelihood = Some("laplace".to_string());
    let fitted = fit.run(&prices()).unwrap();
    assert!(fitted.learned_numbers().iter().any(|n| n.name == "likelihood.scale"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("laplace.dkp");
    fitted.save(&path).unwrap();
    let unknown = Fitted::load(&path).err().unwrap().to_string();
    assert!(unknown.contains("there is no likelihood \"laplace\""), "{unknown}");
    let loaded = Fitted::load_with(&path, fit.registry).unwrap();
    assert_eq!(bits(&loaded.predict(&prices(), 5, 0).unwrap()), bits(&fitted.predict(&prices(), 5, 0).unwrap()));
}

/// Where there is no file, messages name the column and settings by their fields.
#[test]
fn mistakes_are_named_without_a_file() {
    let message = |fit: Fit, table: &Table| fit.run(table).err().unwrap().to_string();
    let table = prices();
    assert_eq!(message(quick("cost"), &table), "target: there is no column \"cost\"; the nearest name is \"town\"",);
    assert_eq!(
        message(Fit::default(), &table),
        "which column is to be predicted? Give target; there are \"rooms\", \"area\", \"town\", \"price\""
    );
    let with = |change: &dyn Fn(&mut Fit)| {
        let mut fit = quick("price");
        change(&mut fit);
        message(fit, &table)
    };
    assert_eq!(with(&|f| f.config.model.rate = Some(-1.0)), "rate must be positive");
    assert_eq!(with(&|f| f.config.table.id = vec!["price".into()]), "id price: this is the target");
    let both = with(&|f| (f.config.table.group, f.config.table.time) = (Some("town".into()), Some("rooms".into())));
    assert_eq!(both, "group and time both say which rows are held out: give one of them");
    let unknown = with(&|f| f.config.model.family = Some("dkm".into()));
    assert_eq!(unknown, "family: there is no family \"dkm\"; there are diwp, nngp, dgp, linear_dgp and dwp");
    let posterior = with(&|f| {
        (f.config.model.family, f.config.model.posterior) = (Some("dgp".into()), Some("whitened".into()));
    });
    assert_eq!(posterior, "posterior whitened: dgp has shared, own");
    let counts = with(&|f| f.config.model.likelihood = Some("bernoulli".into()));
    assert_eq!(counts, "likelihood bernoulli: the target \"price\" has 66 classes, but this is for 0 or 1");
    let rows = Table::from_columns(vec![("x", vec![1.0].into()), ("price", vec![2.0].into())], &[]).unwrap();
    assert_eq!(
        message(quick("price"), &rows),
        "1 row with a known target \"price\" to learn from; at least 2 are needed"
    );
}

/// The report of a model whose noise varies draws it against the column that it goes with; that of one noise tells it.
#[test]
fn reports_show_how_noise_varies() {
    let draw = |i: usize, step: f64| (i as f64 * step).fract();
    let (x, other): (Vec<f64>, Vec<f64>) = (0..300).map(|i| (draw(i, 0.618), draw(i, 0.414))).unzip();
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| (3.0 * x).sin() + (0.05 + x) * (draw(i, 0.732) - 0.5)).collect();
    let table = Table::from_columns(vec![("other", other.into()), ("x", x.into()), ("y", y.into())], &[]).unwrap();
    let noise = |likelihood: &str| {
        let mut fit = quick("y");
        fit.config.table.holdout = Some(0.3);
        let choices = &mut fit.config.model;
        (choices.likelihood, choices.steps) = (Some(likelihood.into()), Some(400));
        let folder = tempfile::tempdir().unwrap();
        fit.run(&table).unwrap().save(&folder.path().join("m.dkp")).unwrap();
        let evaluation = Fitted::load(&folder.path().join("m.dkp")).unwrap().report().unwrap().evaluations.pop();
        let Some(dkp_report::Evaluation::Regression { points, noise, .. }) = evaluation else { panic!() };
        let noise = noise.unwrap();
        assert_eq!(noise.deviations.len(), points.len());
        assert!(noise.deviations.iter().zip(&points).all(|(n, p)| *n > 0.0 && *n <= p.sd));
        noise
    };
    let varying = noise("varying");
    let (name, values) = varying.against.unwrap();
    assert_eq!(name, "x");
    // in the table's units, beside the noise of the same row
    assert!(values.iter().all(|x| (-1e-9..1.0).contains(x)), "{values:?}");
    let mean = |low: f64, high: f64| {
        let within = values.iter().zip(&varying.deviations).filter(|(x, _)| (low..high).contains(*x));
        let (count, total) = within.fold((0.0, 0.0), |(n, t), (_, d)| (n + 1.0, t + d));
        total / count
    };
    assert!(mean(0.7, 1.0) > 1.3 * mean(0.0, 0.3), "{} and {}", mean(0.0, 0.3), mean(0.7, 1.0));
    assert_eq!(noise("gaussian").against, None);
}

/// Noise that is the same everywhere, that varies, and that has outliers is told apart by the bound; a parameter that is named decides too.
#[test]
fn the_likelihood_is_chosen_by_the_bound() {
    let n = 300;
    // deterministic: x by the golden ratio, and normal deviates by sums of twelve uniform numbers
    let uniform = |i: usize, k: usize| ((i * 12 + k) as f64 * 0.754_877_666_246_692_7 + 0.5).fract();
    let normal = |i: usize| (0..12).map(|k| uniform(i * 7919 % 100_003, k)).sum::<f64>() - 6.0;
    let x: Vec<f64> = (0..n).map(|i| 4.0 * (i as f64 * 0.618_033_988_749_894_9).fract() - 2.0).collect();
    let chosen = |noise: &dyn Fn(usize, f64) -> f64, freeze: &[&str]| {
        let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| (2.0 * x).sin() + noise(i, *x) * normal(i)).collect();
        let mut fit = Fit::new("y");
        let m = &mut fit.config.model;
        (m.steps, m.start_steps, m.inducing, m.evaluation_draws) = (Some(5), Some(600), Some(30), Some(4));
        m.freeze = freeze.iter().map(|s| s.to_string()).collect();
        let fitted =
            fit.run(&Table::from_columns(vec![("x", x.clone().into()), ("y", y.into())], &[]).unwrap()).unwrap();
        (fitted.card.settings.likelihood.clone(), fitted.card.noise.clone().unwrap())
    };
    let same = chosen(&|_, _| 0.2, &[]);
    assert!(same.0 == "gaussian" && same.1.starts_with("noise is the same everywhere"), "{same:?}");
    let varies = chosen(&|_, x| 0.02 + 0.2 * (x + 2.0), &[]);
    assert!(varies.0 == "varying_t" && varies.1.starts_with("noise varies with the inputs: +0."), "{varies:?}");
    let outliers = chosen(&|i, _| if i % 10 == 3 { 2.0 } else { 0.1 }, &[]);
    assert!(outliers.0 != "gaussian", "{outliers:?}");
    assert_eq!(chosen(&|_, _| 0.2, &["likelihood.tails"]).0, "varying_t");
}

/// Where there is hardly any noise, what draws differ by is not noise too, and predictions of many rows are narrower, also after loading; with much noise
/// it is what was learned, and nothing is kept of few rows, or where other groups are to be predicted.
#[test]
fn what_draws_differ_by_is_not_noise() {
    // of which a tenth is held out
    const MANY: usize = 11_500;
    let point = |i: usize| [0.618_033_988_749_894_9, 0.414_213_562_373_095_1].map(|step| (i as f64 * step).fract());
    let columns = |rows: std::ops::Range<usize>, noise: f64| {
        let (a, b): (Vec<f64>, Vec<f64>) = rows.clone().map(|i| (point(i)[0], point(i)[1])).unzip();
        let clean = a.iter().zip(&b).map(|(a, b)| (6.0 * a).sin() + (4.0 * b * a).cos());
        let noises = rows.clone().map(|i| noise * ((i as f64 * 0.732_050_807_568_877_2).fract() - 0.5));
        let y: Vec<f64> = clean.zip(noises).map(|(y, e)| y + e).collect();
        let town: Vec<&str> = rows.map(|i| ["Bath", "York", "Ely"][i % 3]).collect();
        Table::from_columns(vec![("a", a.into()), ("b", b.into()), ("town", town.into()), ("y", y.into())], &[])
            .unwrap()
    };
    let fit = |rows: usize, noise: f64, group: Option<&str>| {
        let mut fit = Fit::new("y");
        let choices = &mut fit.config.model;
        (choices.steps, choices.start_steps, choices.inducing) = (Some(600), Some(600), Some(40));
        choices.likelihood = Some("gaussian".into());
        fit.config.table.ignore = if group.is_none() { vec!["town".into()] } else { vec![] };
        fit.config.table.group = group.map(str::to_string);
        fit.train(fit.prepare(&columns(0..rows, noise), None).unwrap(), &mut |_| true).unwrap()
    };
    let score =
        |fitted: &Fitted| fitted.evaluate(&columns(MANY..MANY + 1000, 0.0), 50, 0).unwrap().metrics.log_likelihood();
    let mut clean = fit(MANY, 0.0, None);
    let calibrated = score(&clean);
    let folder = tempfile::tempdir().unwrap();
    clean.save(&folder.path().join("clean.dkp")).unwrap();
    assert_eq!(score(&Fitted::load(&folder.path().join("clean.dkp")).unwrap()), calibrated);
    let found = clean.card.calibration.take().unwrap();
    assert!(found.latents.noise < 0.9 && found.line.starts_with("noise has "), "{found:?}");
    assert!(calibrated > score(&clean) + 0.1, "{calibrated} and {}", score(&clean));
    let noisy = fit(MANY, 0.5, None).card.calibration.unwrap();
    assert!((noisy.latents.noise - 1.0).abs() < 0.1, "{noisy:?}");
    assert_eq!(fit(MANY, 0.0, Some("town")).card.calibration, None);
    assert_eq!(fit(600, 0.0, None).card.calibration, None);
}
