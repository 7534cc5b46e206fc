//! `dkp evaluate`: how good a model's predictions for a table with known targets are.

use crate::flags::{Judging, Reading};
use crate::print::{metric_lines, text, warn_of};
use crate::progress::{Say, Status};
use anyhow::bail;
use clap::Args;
use dkp_fit::{Fitted, ReadOptions, Table, on_threads};
use serde_json::json;
use std::path::PathBuf;

/// Judge a model on a table with known targets.
///
///     dkp evaluate houses.dkp sold.csv
///     dkp evaluate X.dkp X-new.npy --target y-new.npy
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The model.
    model: PathBuf,
    /// The table.
    data: PathBuf,
    /// An .npy file with the targets, where DATA is an .npy file without them.
    #[arg(long, value_name = "FILE")]
    target: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    judging: Judging,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    let fitted = Fitted::load(&a.model)?;
    let beside = a.target.clone().map(|file| (fitted.card.targets.names(), file));
    let table = Table::open(&a.data, &ReadOptions { beside, ..a.reading.options(&fitted) })?;
    if let (Some(file), [name]) = (&a.target, &fitted.card.targets.names()[..])
        && !table.names().contains(name)
    {
        bail!("--target {}: it has several columns where one is needed", file.display());
    }
    let mut status = Status::new(Say { quiet: a.judging.json });
    let watch = |rows: usize| status.tell(format!("{rows} rows judged"));
    let evaluation = on_threads(a.judging.threads, || {
        fitted.evaluate_watched(&table, a.judging.draws as usize, a.judging.seed, watch)
    })?;
    drop(status);
    warn_of(&evaluation.unfamiliar);
    if evaluation.unseen_classes > 0 {
        eprintln!("dkp: {} rows of classes that no training row had are left out", evaluation.unseen_classes);
    }
    let metrics = &evaluation.metrics;
    text(&if a.judging.json { format!("{}\n", json!(metrics)) } else { metric_lines(metrics, "") })
}
