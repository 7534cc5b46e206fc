//! From a table to a fitted deep kernel process, and back: what stands between files or columns in memory and a model.
//!
//! In the order in which data flow: [`Roles`] say what columns are for and [`Choices`] what model is wanted ([`Config`] has both); a [`Fit`]
//! finds what each column holds, holds rows out, encodes and scales ([`Prepared`]), and trains, watched ([`Moment`]), with every setting chosen
//! ([`Settings`]); a [`Fitted`] model predicts in the target's units and with its labels ([`Predictions`]), is judged ([`Metrics`]), written, read,
//! looked into and reported. A [`Run`] is a fit that can be stopped and gone on with.
//!
//! ```
//! use dkp_fit::{Fit, Fitted, ReadOptions, Table};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("flats.csv");
//! # let row = |i: usize| format!("{},{},{}\n", i % 13, ["sea", "town"][i % 2], 100 + 3 * (i % 13) + 20 * (i % 2));
//! # std::fs::write(&path, "warm,place,price\n".to_string() + &(0..60).map(row).collect::<String>())?;
//! let table = Table::open(&path, &ReadOptions::default())?;
//! let mut fit = Fit::new("price");
//! fit.config.model.steps = Some(50);
//! let fitted = fit.run(&table)?;
//! println!("{}: {:?}", fitted.description(), fitted.card.evaluation);
//! fitted.save(&path.with_extension("dkp"))?;
//! let predictions = Fitted::load(&path.with_extension("dkp"))?.predict(&table, 50, 0)?;
//! println!("{} ± {}", predictions.mean(0, 0), predictions.deviation(0, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod card;
mod choice;
mod columns;
mod columns_of_features;
mod compare;
mod confidence;
mod config;
mod cross_validation;
mod effort;
mod error;
mod estimate;
mod explain;
mod fit;
mod fitted;
mod judge;
mod noise;
mod predictions;
mod prepare;
mod relevance;
mod report;
mod roles;
mod row_names;
mod run;
mod scaling;
mod settings;
mod targets;

pub use card::{BoundParts, Calibrated, Card};
pub use choice::AUTO;
pub use compare::{Compared, Comparison, Difference, Entrant, compare};
pub use config::{Choices, Config, InputLayer};
pub use cross_validation::{CrossValidated, OverFolds};
pub use dkp::Registry;
pub use dkp::train::Step;
pub use dkp_report::Better;
pub use dkp_table::{ReadOptions, Table, Values};
pub use effort::Effort;
pub use error::Error;
pub use estimate::Estimate;
pub use fit::{Fit, Moment, Trial, Watch, on_threads};
pub use fitted::{Evaluated, Fitted, LearnedNumber};
pub use judge::{Explained, Metrics, TargetMetrics, in_units};
pub use predictions::{Predictions, QUANTILES};
pub use prepare::{Fold, Prepared};
pub use report::report_of_run;
pub use roles::{Roles, Task};
pub use row_names::RowNames;
pub use run::{Checkpoint, Order, Run};
pub use scaling::{FeatureScale, Scaling};
pub use settings::{EVALUATION_DRAWS, FAMILY, KERNEL, PREDICTION_DRAWS, Settings};
pub use targets::Targets;

/// The code of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
