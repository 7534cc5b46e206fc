//! `dkp evaluate`: how good a model's predictions for a table with known targets are.

use crate::choices::Reading;
use crate::judge::{self, Judged};
use crate::prepare::check_targets;
use crate::trained::{Trained, warn_of};
use anyhow::Context as _;
use clap::Args;
use dkp_table::{Table, Unfamiliar};
use serde_json::json;
use std::path::PathBuf;

/// Rows that are judged at once.
const ROWS: usize = 8_192;

/// Judge a model on a table with known targets.
///
///     dkp evaluate houses.dkp sold.csv
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The model.
    model: PathBuf,
    /// The table.
    data: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Posterior draws.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    draws: u64,
    /// The seed of the draws.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Threads [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// One JSON object on standard output.
    #[arg(long)]
    json: bool,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    crate::use_threads(a.threads)?;
    let mut trained = Trained::load(&a.model)?;
    let table = Table::open(&a.data, &a.reading.options(&trained.record))?;
    let target = trained.record.target.column();
    let mut columns = trained.columns();
    columns.push(target.clone());
    let (mut unfamiliar, mut unseen, mut all) = (Unfamiliar::default(), 0, None::<Judged>);
    for frame in table.frames(&columns, ROWS)? {
        let frame = frame?;
        check_targets(&trained.record.settings.likelihood, &trained.record.target, &frame, &a.data)?;
        let targets = trained.record.target.encode(&frame)?;
        unseen += targets.unseen.len();
        let mut y = targets.values;
        y.iter_mut().for_each(|v| trained.record.target_scale.apply(std::slice::from_mut(v)));
        let (prediction, odd) = trained.predict(&frame, a.draws as usize, a.seed)?;
        unfamiliar.add(&odd);
        let judged = Judged::new(&trained.record, &prediction, &y)?;
        match &mut all {
            None => all = Some(judged),
            Some(all) => all.extend(judged),
        }
    }
    let metrics = all.with_context(|| format!("{}: there are no rows", a.data.display()))?.metrics();
    anyhow::ensure!(
        metrics["rows"] != json!(0),
        "{}: column \"{}\": there is no known target to judge by",
        a.data.display(),
        target.0
    );
    warn_of(&unfamiliar);
    if unseen > 0 {
        eprintln!("dkp: {unseen} rows of classes that no training row had are left out");
    }
    crate::print(&if a.json { format!("{metrics}\n") } else { judge::lines(&metrics).replace("held-out ", "") })
}
