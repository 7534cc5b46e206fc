//! How predictions go with columns, and which rows surprise, where that is known.

use dkp_fit::{Card, Fit, Fitted, Roles, Table, Values};
use dkp_report::{Curve, Effect, Evaluation, Explanation, Pair, Place};

/// Even numbers from −1 to 1 (a linear congruence), the same on every machine.
fn even(rows: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..rows).map(|_| next()).collect()
}

fn fit(target: &str, likelihood: &str) -> Fit {
    let mut fit = Fit::new(target);
    let choices = &mut fit.config.model;
    (choices.steps, choices.start_steps, choices.inducing) = (Some(300), Some(400), Some(40));
    choices.likelihood = Some(likelihood.to_string());
    fit
}

fn table(columns: Vec<(&str, Values)>) -> Table {
    Table::from_columns(columns, &[]).unwrap()
}

fn explained(fitted: &Fitted) -> &Explanation {
    &fitted.card.explanations[0]
}

fn effect<'a>(explanation: &'a Explanation, column: &str) -> &'a Effect {
    explanation.effects.iter().find(|e| e.column == column).unwrap()
}

fn number(place: &Place) -> f64 {
    match place {
        Place::Number(v) | Place::Date(v) | Place::Clock(v) => *v,
        Place::Level(text) => panic!("{text}"),
    }
}

/// y = sin 3a + b² + c/2: along each column the curve is that column's term, up to a constant, within the model's band; and no pair does much together.
#[test]
fn curves_of_a_sum_are_its_terms() {
    let [a, b, c, noise] = [1, 2, 3, 4].map(|seed| even(500, seed));
    let terms: [fn(f64) -> f64; 3] = [|a| (3.0 * a).sin(), |b| b * b, |c| 0.5 * c];
    let y: Vec<f64> = (0..500).map(|i| terms[0](a[i]) + terms[1](b[i]) + terms[2](c[i]) + 0.05 * noise[i]).collect();
    let columns = vec![("a", a.into()), ("b", b.into()), ("c", c.into()), ("y", y.into())];
    let fitted = fit("y", "gaussian").run(&table(columns)).unwrap();
    let explanation = explained(&fitted);
    for (column, term) in ["a", "b", "c"].into_iter().zip(terms) {
        let Effect { at, rows, curves, .. } = effect(explanation, column);
        let [Curve { mean, model, total, .. }] = curves.as_slice() else { panic!("{curves:?}") };
        let expected: Vec<f64> = at.iter().map(|place| term(number(place))).collect();
        let average = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let shift = average(mean) - average(&expected);
        assert!(at.len() == 25 && number(&at[0]) < -0.95 && number(&at[24]) > 0.95, "{at:?}");
        for i in 0..at.len() {
            let error = (mean[i] - shift - expected[i]).abs();
            assert!(error < 2.0 * model[i] && error < 0.15, "{column} at {:?}: {error} and {}", at[i], model[i]);
            assert!(total[i] > model[i] && total[i] < 0.5, "{column}: {}", total[i]);
        }
        // rows are evenly spread, and all but the outermost are counted
        assert!(rows.iter().sum::<usize>() > 430 && rows.iter().all(|n| (1..40).contains(n)), "{rows:?}");
    }
    assert!(explanation.pair.as_ref().unwrap().share < 0.03, "{:?}", explanation.pair);
}

/// y = 2c + ab: of three columns that matter, a and b are the pair, and its map is their product.
#[test]
fn columns_that_work_together_are_found() {
    let [a, b, c, d] = [5, 6, 7, 8].map(|seed| even(500, seed));
    let y: Vec<f64> = (0..500).map(|i| 2.0 * c[i] + 1.5 * a[i] * b[i]).collect();
    let columns = vec![("a", a.into()), ("b", b.into()), ("c", c.into()), ("d", d.into()), ("y", y.into())];
    let fitted = fit("y", "gaussian").run(&table(columns)).unwrap();
    let Pair { columns, mean, rows, share, .. } = explained(&fitted).pair.clone().unwrap();
    let mut names = [columns[0].0.as_str(), columns[1].0.as_str()];
    names.sort_unstable();
    assert_eq!(names, ["a", "b"]);
    assert!(share > 0.9, "{share}");
    let middle = mean.iter().sum::<f64>() / mean.len() as f64;
    for (i, first) in columns[0].1.iter().enumerate() {
        for (j, second) in columns[1].1.iter().enumerate() {
            let (found, expected) = (mean[i * columns[1].1.len() + j] - middle, 1.5 * number(first) * number(second));
            assert!((found - expected).abs() < 0.3, "{first:?} and {second:?}: {found} and {expected}");
        }
    }
    assert!(rows.iter().sum::<usize>() > 430 && rows.len() == 14 * 14);
}

/// Texts come by how many rows have them, with what each adds; dates and times of day are such; true and false are texts; missing is no number.
#[test]
fn columns_of_every_kind_have_effects() {
    let n = 400;
    let [noise, kind] = [9, 10].map(|seed| even(n, seed));
    let towns: Vec<&str> = kind
        .iter()
        .map(|v| {
            if *v > 0.2 {
                "Bath"
            } else if *v > -0.5 {
                "Ely"
            } else {
                "York"
            }
        })
        .collect();
    let lift: Vec<&str> = (0..n).map(|i| if i * 7 % 5 < 2 { "true" } else { "false" }).collect();
    let day: Vec<String> = (0..n).map(|i| format!("2021-{:02}-{:02}", 1 + i * 5 % 12, 1 + i * 11 % 28)).collect();
    let age: Vec<f64> = (0..n).map(|i| if i % 9 == 4 { f64::NAN } else { (i * 13 % 50) as f64 }).collect();
    let worth = |town: &str| {
        if town == "Bath" {
            3.0
        } else if town == "Ely" {
            1.0
        } else {
            0.0
        }
    };
    let old = |age: f64| if age.is_nan() { 2.0 } else { 0.05 * age };
    let y: Vec<f64> = (0..n)
        .map(|i| {
            worth(towns[i])
                + old(age[i])
                + 2.0 * f64::from(lift[i] == "true")
                + (i * 5 % 12) as f64 / 6.0
                + 0.1 * noise[i]
        })
        .collect();
    let columns = vec![
        ("town", towns.clone().into()),
        ("lift", lift.into()),
        ("day", day.into()),
        ("age", age.into()),
        ("y", y.into()),
    ];
    let folder = tempfile::tempdir().unwrap();
    let fitted = fit("y", "gaussian").run(&table(columns)).unwrap();
    let explanation = explained(&fitted);
    let town = effect(explanation, "town");
    assert_eq!(town.at, ["Bath", "Ely", "York"].map(|t| Place::Level(t.to_string())));
    assert_eq!(town.rows.iter().sum::<usize>(), 360);
    let worths = &town.curves[0].mean;
    assert!((worths[0] - worths[2] - 3.0).abs() < 0.4 && (worths[1] - worths[2] - 1.0).abs() < 0.4, "{worths:?}");
    let lift = effect(explanation, "lift");
    let (at, mean) = (&lift.at, &lift.curves[0].mean);
    assert_eq!(at, &["false", "true"].map(|t| Place::Level(t.to_string())));
    assert!((mean[1] - mean[0] - 2.0).abs() < 0.3, "{mean:?}");
    let day = effect(explanation, "day");
    assert!(matches!(day.at[0], Place::Date(v) if (18_628.0..18_640.0).contains(&v)), "{:?}", day.at[0]);
    let age = effect(explanation, "age");
    assert!(age.at.iter().all(|p| (0.0..50.0).contains(&number(p))) && age.rows.iter().sum::<usize>() < 325);

    // the file keeps all of it, and files that have none are read and reported
    let path = folder.path().join("m.dkp");
    fitted.save(&path).unwrap();
    let mut loaded = Fitted::load(&path).unwrap();
    assert_eq!(loaded.card, fitted.card);
    assert!(dkp_report::html(&loaded.report().unwrap()).contains("where training rows lie"));
    let mut card = serde_json::to_value(&loaded.card).unwrap();
    card.as_object_mut().unwrap().remove("explanations").unwrap();
    loaded.card = serde_json::from_value::<Card>(card).unwrap();
    assert!(!dkp_report::html(&loaded.report().unwrap()).contains("where training rows lie"));
}

/// Rows with errors in their target lead, by number and name, with what the table has in them.
#[test]
fn rows_with_errors_surprise() {
    rows_with_errors_lead(&|roles| roles.holdout = Some(0.5));
}

/// So they do where each fold's rows are judged by a model of earlier ones, and the earliest are not judged.
#[test]
fn rows_with_errors_surprise_models_of_other_folds() {
    rows_with_errors_lead(&|roles| (roles.folds, roles.time) = (Some(3), Some("when".to_string())));
}

/// One row in ten has no target, so that rows are not counted as they are learned from.
fn rows_with_errors_lead(divide: &dyn Fn(&mut Roles)) {
    let n = 400;
    let [x, noise] = [11, 12].map(|seed| even(n, seed));
    let wrong = |i: usize| i % 20 == 7;
    let y: Vec<f64> = (0..n).map(|i| 2.0 * x[i] + 0.1 * noise[i] + if wrong(i) { 3.0 } else { 0.0 }).collect();
    let names: Vec<String> = (0..n).map(|i| format!("house {i}")).collect();
    let when: Vec<f64> = (0..n).map(|i| (i * 37 % n) as f64).collect();
    let known: Vec<f64> = y.iter().enumerate().map(|(i, y)| if i % 10 == 0 { f64::NAN } else { *y }).collect();
    let columns = vec![("name", names.into()), ("when", when.into()), ("x", x.clone().into()), ("y", known.into())];
    let mut fit = fit("y", "student_t");
    (fit.config.table.id, fit.config.table.ignore) = (vec!["name".into()], vec!["when".into()]);
    divide(&mut fit.config.table);
    if fit.config.table.time.is_some() {
        fit.config.table.ignore.clear();
    }
    let fitted = fit.run(&table(columns)).unwrap();
    let report = fitted.report().unwrap();
    let [Evaluation::Regression { points, .. }] = report.evaluations.as_slice() else { panic!() };
    let row = |observed: f64| y.iter().position(|v| (v - observed).abs() < 1e-9);
    let planted = points.iter().filter(|p| row(p.observed).is_some_and(wrong)).count();
    assert!(planted >= 3, "{planted}");
    let surprises = &report.explanations[0].surprises;
    assert!(surprises.windows(2).all(|w| w[0].log_density <= w[1].log_density));
    for surprise in &surprises[..planted.min(8)] {
        let i = surprise.row.unwrap() - 1;
        assert!(wrong(i), "{surprise:?}");
        assert_eq!(surprise.id, [("name".to_string(), format!("house {i}"))]);
        assert!((points[surprise.point].observed - y[i]).abs() < 1e-9);
        let [(column, place)] = surprise.values.as_slice() else { panic!("{surprise:?}") };
        assert!(column == "x" && (number(place) - x[i]).abs() < 1e-9, "{surprise:?}");
    }
}

/// Of two classes the second has a curve, of three all, which add up to 1; labels that are wrong surprise.
#[test]
fn classes_have_curves_and_surprises() {
    let n = 400;
    let [x, u] = [13, 14].map(|seed| even(n, seed));
    let wrong = |i: usize| i % 50 == 3;
    let fitted = |label: &dyn Fn(f64) -> &'static str| {
        let kinds: Vec<&str> = (0..n).map(|i| label(if wrong(i) { -x[i] } else { x[i] + 0.05 * u[i] })).collect();
        let columns = vec![("x", x.clone().into()), ("u", u.clone().into()), ("kind", kinds.into())];
        let mut fit = Fit::new("kind");
        (fit.config.model.steps, fit.config.model.inducing) = (Some(200), Some(40));
        fit.config.table.holdout = Some(0.4);
        fit.run(&table(columns)).unwrap()
    };
    let two = fitted(&|v| if v > 0.0 { "up" } else { "down" });
    let explanation = explained(&two);
    let curves = &effect(explanation, "x").curves;
    assert!(curves.len() == 1 && curves[0].class == "up" && curves[0].model.is_empty(), "{curves:?}");
    let mean = &curves[0].mean;
    assert!(mean[0] < 0.2 && mean[mean.len() - 1] > 0.8, "{mean:?}");
    // far from the border between the classes labels are certain
    let far = |surprise: &&dkp_report::Surprise| x[surprise.row.unwrap() - 1].abs() > 0.3;
    assert!(explanation.surprises.iter().filter(far).all(|s| wrong(s.row.unwrap() - 1)));
    assert!(explanation.surprises.iter().any(|s| wrong(s.row.unwrap() - 1)), "{:?}", explanation.surprises);

    let three = fitted(&|v| {
        if v > 0.4 {
            "up"
        } else if v > -0.4 {
            "level"
        } else {
            "down"
        }
    });
    let curves = &effect(explained(&three), "x").curves;
    assert_eq!(curves.len(), 3);
    for i in 0..curves[0].mean.len() {
        assert!((curves.iter().map(|c| c.mean[i]).sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

/// Probabilities of counts are judged as those of numbers: where predictions are right, they are evenly spread, though counts jump.
#[test]
fn probabilities_of_counts_are_evenly_spread() {
    let n = 600;
    let [x, u] = [15, 16].map(|seed| even(n, seed));
    // P(0) = e^−λ, P(0 or 1) = (1 + λ) e^−λ, …, with λ about 0.7
    let count = |x: f64, u: f64| {
        let (rate, u) = (0.7 * (0.1 * x).exp(), 0.5 * (u + 1.0));
        let (mut below, mut mass, mut k) = (0.0, (-rate).exp(), 0.0);
        while below + mass < u && k < 50.0 {
            below += mass;
            k += 1.0;
            mass *= rate / k;
        }
        k
    };
    let y: Vec<f64> = (0..n).map(|i| count(x[i], u[i])).collect();
    let mut fit = fit("y", "poisson");
    fit.config.table.holdout = Some(0.5);
    let fitted = fit.run(&table(vec![("x", x.into()), ("y", y.into())])).unwrap();
    let Some(Evaluation::Regression { points, .. }) = fitted.report().unwrap().evaluations.pop() else { panic!() };
    let share = |low: f64, high: f64| {
        points.iter().filter(|p| p.pit > low && p.pit <= high).count() as f64 / points.len() as f64
    };
    for part in 0..4 {
        let (low, high) = (0.25 * f64::from(part), 0.25 * f64::from(part + 1));
        // four deviations of a share of 300 rows
        assert!((share(low, high) - 0.25).abs() < 0.1, "{low}: {}", share(low, high));
    }
}
