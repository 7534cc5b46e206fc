//! Models that differ in everything but their target are compared on the same rows.

use dkp_fit::{Comparison, Entrant, Error, Fit, Fitted, Metrics, Table, Values, compare};

const ROWS: usize = 70;

fn size(i: usize) -> f64 {
    (i % 10) as f64 + 0.1 * (i % 3) as f64
}

fn town(i: usize) -> &'static str {
    ["Bath", "York", "Ely"][i % 3]
}

fn price(i: usize) -> f64 {
    50.0 + size(i).powi(2) + 20.0 * (i % 3) as f64
}

fn kind(i: usize) -> &'static str {
    if price(i) > 90.0 { "dear" } else { "cheap" }
}

fn table(rows: std::ops::Range<usize>, target: (&'static str, Values)) -> Table {
    let sizes: Vec<f64> = rows.clone().map(size).collect();
    let towns: Vec<&str> = rows.map(town).collect();
    Table::from_columns(vec![("size", sizes.into()), ("town", towns.into()), target], &[]).unwrap()
}

fn prices(rows: std::ops::Range<usize>) -> Table {
    let values: Vec<f64> = rows.clone().map(price).collect();
    table(rows, ("price", values.into()))
}

fn quick(target: &str, change: impl Fn(&mut Fit)) -> Fit {
    let mut fit = Fit::new(target);
    let choices = &mut fit.config.model;
    (choices.steps, choices.start_steps, choices.draws, choices.inducing) = (Some(20), Some(30), Some(1), Some(10));
    change(&mut fit);
    fit
}

fn compared(models: &[(&str, &Fitted, &Table)]) -> Result<Comparison, Error> {
    let entrants: Vec<Entrant<'_>> =
        models.iter().map(|&(name, fitted, table)| Entrant { name, fitted, table }).collect();
    compare(&entrants, 20, 3, |_, _| ())
}

/// Metrics are those of each model alone, and differences those of predictions, row by row.
#[test]
fn metrics_and_differences_are_those_of_the_same_rows() {
    let a = quick("price", |f| f.config.model.likelihood = Some("gaussian".into())).run(&prices(0..ROWS)).unwrap();
    let other = |f: &mut Fit| {
        (f.config.model.family, f.config.model.likelihood) = (Some("nngp".into()), Some("student_t".into()));
        f.config.table.ignore = vec!["size".into()];
    };
    let b = quick("price", other).run(&prices(0..40)).unwrap();
    let unseen = prices(ROWS..ROWS + 50);
    let mut seen = Vec::new();
    let entrants = [("a", &a), ("b", &b)].map(|(name, fitted)| Entrant { name, fitted, table: &unseen });
    let found = compare(&entrants, 20, 3, |place, rows| seen.push((place, rows))).unwrap();
    assert_eq!(seen, [(0, 50), (1, 50)]);
    assert_eq!((found.rows, found.without_target, found.unseen_classes), (50, 0, 0));
    assert!(found.models[0].differences.is_empty() && found.warnings.is_empty());
    let mut sizes = Vec::new();
    for (model, fitted) in found.models.iter().zip([&a, &b]) {
        assert_eq!(model.metrics, fitted.evaluate(&unseen, 20, 3).unwrap().metrics);
        sizes.push(model.rows_trained);
    }
    assert_eq!(sizes, [63, 36]);
    let [p, q] = [&a, &b].map(|fitted| fitted.predict(&unseen, 20, 3).unwrap());
    let y: Vec<f64> = (0..50).map(|i| price(ROWS + i)).collect();
    let differences: Vec<f64> = (0..50).map(|i| q.log_density(i, &[y[i]]) - p.log_density(i, &[y[i]])).collect();
    let mean = differences.iter().sum::<f64>() / 50.0;
    // Σᵢⱼ(dᵢ − dⱼ)²/2n² is the variance of n, of which n − 1 are free
    let pairs: f64 = differences.iter().flat_map(|a| differences.iter().map(move |b| (a - b).powi(2))).sum();
    let error = (pairs / (2.0 * 50.0 * 49.0) / 50.0).sqrt();
    let own = found.models[1].differences["log_likelihood"];
    assert!((own.value - mean).abs() < 1e-9, "{own:?} and {mean}");
    assert!((own.standard_error.unwrap() / error - 1.0).abs() < 1e-9, "{own:?} and {error}");
    assert_eq!(found.models[1].differences["calibration"].standard_error, None);
    let page = dkp_report::comparison_html(&found.report());
    assert!(page.contains("RMSE: better on the left") && page.matches("<svg").count() == 4, "{}", page.len());
}

/// Rows without a target, and of classes that were not learned from, count for none.
#[test]
fn only_rows_that_all_can_judge_count() {
    let kinds = |rows: std::ops::Range<usize>, of: &dyn Fn(usize) -> Option<&'static str>| {
        let kinds: Vec<Option<&str>> = rows.clone().map(of).collect();
        table(rows, ("kind", kinds.into()))
    };
    let fit = |layers| quick("kind", move |f| f.config.model.layers = Some(layers));
    let [a, b] = [0, 1].map(|layers| fit(layers).run(&kinds(0..ROWS, &|i| Some(kind(i)))).unwrap());
    let odd = |i: usize| match i % 10 {
        0 => None,
        1 => Some("ruin"),
        _ => Some(kind(i)),
    };
    let whole = kinds(0..60, &odd);
    let found = compared(&[("a", &a, &whole), ("b", &b, &whole)]).unwrap();
    assert_eq!((found.rows, found.without_target, found.unseen_classes), (48, 6, 6));
    assert_eq!(found.left_out(), "left out: 6 without a known target, 6 of classes that no training row had");
    let Metrics::Classes(m) = &found.models[1].metrics else { panic!() };
    assert_eq!(Metrics::Classes(m.clone()), b.evaluate(&whole, 20, 3).unwrap().metrics);
    assert!(found.models[1].differences["accuracy"].standard_error.is_some());
    // a model for which more is missing takes rows from the other, too
    let less = kinds(0..60, &|i| odd(i).filter(|_| i % 10 != 2));
    let found = compared(&[("a", &a, &whole), ("b", &b, &less)]).unwrap();
    assert_eq!((found.rows, found.without_target), (42, 12));
    assert_eq!(found.models[0].metrics, a.evaluate(&less, 20, 3).unwrap().metrics);
    let unknown = kinds(0..5, &|_| None);
    let error = compared(&[("a", &a, &unknown), ("b", &b, &unknown)]).unwrap_err().to_string();
    assert_eq!(error, "column \"kind\": there is no known target that all models can be judged by");

    let three = |i: usize| Some(if i.is_multiple_of(7) { "ruin" } else { kind(i) });
    let c = fit(0).run(&kinds(0..ROWS, &three)).unwrap();
    let error = compared(&[("a", &a, &whole), ("c", &c, &whole)]).unwrap_err().to_string();
    assert_eq!(
        error,
        "a and c have the classes cheap, dear and cheap, dear, ruin: train both on tables that have the same classes"
    );
    let error = compared(&[("a", &a, &whole), ("b", &b, &kinds(0..59, &odd))]).unwrap_err().to_string();
    assert_eq!(error, "a and b have tables of 60 and of 59 rows: give both the same");
    let numbers = quick("price", |_| ()).run(&prices(0..ROWS)).unwrap();
    let error = compared(&[("a", &a, &whole), ("d", &numbers, &prices(0..60))]).unwrap_err().to_string();
    assert_eq!(
        error,
        "a and d have different tasks, classification of kind and regression of price: only models of the same target compare"
    );
    assert_eq!(compared(&[]).unwrap_err().to_string(), "models must be two or more");
}

/// Densities and probabilities of counts do not compare, errors do; and both must read the same numbers.
#[test]
fn counts_are_compared_with_numbers_by_their_errors() {
    let counts = |rows: std::ops::Range<usize>, more: f64| {
        let counts: Vec<f64> = rows.clone().map(|i| (i % 10) as f64 + more).collect();
        table(rows, ("count", counts.into()))
    };
    let fit = |likelihood: &str| {
        let likelihood = likelihood.to_string();
        quick("count", move |f| f.config.model.likelihood = Some(likelihood.clone()))
            .run(&counts(0..ROWS, 0.0))
            .unwrap()
    };
    let (gaussian, poisson, rows) = (fit("gaussian"), fit("poisson"), counts(0..30, 0.0));
    let found = compared(&[("g", &gaussian, &rows), ("p", &poisson, &rows)]).unwrap();
    let differences = &found.models[1].differences;
    assert!(!differences.contains_key("log_likelihood") && differences["rmse"].standard_error.is_some());
    let expected = "log-likelihoods of p are of probabilities and those of g of densities: they do not compare";
    assert_eq!(found.warnings, [expected]);
    let error = compared(&[("g", &gaussian, &rows), ("p", &poisson, &counts(0..30, 1.0))]).unwrap_err().to_string();
    let expected =
        "g and p have 0 and 1 as \"count\" of row 1: they learned from tables that write numbers differently";
    assert_eq!(error, expected);
}
