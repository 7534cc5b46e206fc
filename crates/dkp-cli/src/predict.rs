//! `dkp predict`: a model's predictions for a table, row by row, in constant memory.

use crate::failure::{of_table, run_failed};
use crate::flags::Reading;
use crate::interrupt;
use crate::outputs::check_distinct;
use crate::print::warn_of;
use crate::progress::{Say, Status};
use anyhow::{Context as _, bail};
use clap::Args;
use dkp_fit::{Error, Fitted, PREDICTION_DRAWS, Predictions, QUANTILES, Table, on_threads};
use dkp_table::{Column, Format, Frame, Kind, STANDARD, Unfamiliar, Writer, uncompressed};
use std::path::{Path, PathBuf};

/// Rows that are predicted at once for each inducing point: so many that the draws, made anew for each such block, cost little, and so few that Ctrl-C need
/// not wait long; within bounds, since memory goes with them.
const ROWS_PER_POINT: usize = 40;
const ROWS: [usize; 2] = [2_048, 32_768];

/// Predict the rows of a table.
///
/// Writes, for each row, the columns of `--id`, then mean, sd, the model's and the noise's part of the sd, and quantiles; or the most probable
/// class and the probability of each. Of several targets, names of columns begin with the target. Columns may be in any order; others than the model's are not looked at.
///
///     dkp predict houses.dkp new.csv --out prices.csv
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The model.
    model: PathBuf,
    /// The table; - is standard input, as CSV.
    data: PathBuf,
    /// Where predictions go; its ending says the format; - is standard output, as CSV [default: DATA with -predictions before its ending, and .csv for a sheet].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Quantiles to predict.
    #[arg(long, value_name = "P", value_delimiter = ',', default_values_t = QUANTILES)]
    quantiles: Vec<f64>,
    /// Columns to pass through [default: those of --id in training].
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    id: Option<Vec<String>>,
    #[command(flatten)]
    reading: Reading,
    /// Posterior draws.
    #[arg(long, value_name = "N", default_value_t = PREDICTION_DRAWS, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    draws: u64,
    /// The seed of the draws.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Threads [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Says nothing but errors.
    #[arg(long)]
    quiet: bool,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    if let Some(p) = a.quantiles.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
        bail!("--quantiles {p}: expected numbers between 0 and 1");
    }
    let fitted = Fitted::load(&a.model)?;
    let table = Table::open(&a.data, &a.reading.options(&fitted))?;
    let out = a.out.clone().unwrap_or_else(|| beside(&a.data, table.format()));
    let format = match (&a.out, table.format()) {
        (None, Some(format)) if format.is_written() => format,
        _ if out == Path::new(STANDARD) => Format::Csv,
        _ => Format::of_name(&out).context("--out")?,
    };
    check_distinct("--out", &out, &[&a.data, &a.model])?;
    let (ids, columns) = id_columns(a, &fitted, &table, format)?;
    let text = format.holds_text();
    let own = Predictions::column_kinds(&fitted.card.targets, &a.quantiles, text, &fitted.card.written());
    if let Some((name, _)) = ids.iter().find(|id| own.iter().any(|own| own.0 == id.0)) {
        bail!("--id {name}: predictions have a column of this name themselves: rename it in {}", a.data.display());
    }
    let frames = table.frames(&columns, rows_at_once(&fitted))?;
    // what is written is a temporary file until the end: Ctrl-C must find it deleted
    interrupt::install();
    interrupt::watch();
    let written = [ids.clone(), own].concat();
    let mut writer = Writer::create(&out, format, &written).map_err(of_table)?;
    let (mut rows, mut unfamiliar) = (0, Unfamiliar::default());
    let mut status = Status::new(Say { quiet: a.quiet });
    for frame in frames {
        let frame = frame?;
        let of_ids = ids.iter().map(|(id, _)| Ok((id.clone(), frame.column(id)?.clone())));
        let mut columns = of_ids.collect::<anyhow::Result<Vec<(String, Column)>>>()?;
        let (own, odd) = on_threads(a.threads, || {
            let predictions = fitted.predict_frame(&frame, a.draws as usize, a.seed)?;
            Ok((predictions.columns(&a.quantiles, text), predictions.unfamiliar))
        })
        .map_err(|error| match error {
            Error::FarRow { .. } => anyhow::Error::from(error).context(a.data.display().to_string()),
            other => other.into(),
        })?;
        unfamiliar.add(&odd);
        rows += frame.rows();
        status.tell(format!("{rows} rows predicted"));
        columns.extend(own);
        writer.write(&Frame::new(frame.first(), columns)?).map_err(of_table)?;
        if interrupt::requested() {
            return Err(run_failed(anyhow::anyhow!("stopped after {rows} rows; nothing was written")));
        }
    }
    writer.finish().map_err(of_table)?;
    drop(status);
    if !a.quiet {
        warn_of(&unfamiliar);
        let out = if out == Path::new(STANDARD) { "standard output".to_string() } else { out.display().to_string() };
        eprintln!("{rows} predictions written to {out}");
    }
    Ok(())
}

fn rows_at_once(fitted: &Fitted) -> usize {
    ROWS_PER_POINT.saturating_mul(fitted.card.settings.inducing as usize).clamp(ROWS[0], ROWS[1])
}

/// Names and kinds of columns.
type Columns = Vec<(String, Kind)>;

/// The columns that are passed through, and all that are read.
fn id_columns(a: &Arguments, fitted: &Fitted, table: &Table, format: Format) -> anyhow::Result<(Columns, Columns)> {
    let known = || fitted.card.id.iter().filter(|c| table.names().contains(c)).cloned().collect();
    let mut columns = fitted.card.columns();
    // a column that is learned from is passed through as what it is; arrays hold numbers only
    let other = if format.holds_text() { Kind::Text } else { Kind::Number };
    let kind = |c: &String| columns.iter().find(|own| own.0 == *c).map_or(other, |own| own.1);
    let ids: Columns = a.id.clone().unwrap_or_else(known).into_iter().map(|c| (c.clone(), kind(&c))).collect();
    for (name, _) in &ids {
        table.find(name).context("--id")?;
    }
    columns.extend(ids.iter().filter(|id| fitted.card.columns().iter().all(|own| own.0 != id.0)).cloned());
    Ok((ids, columns))
}

/// table.csv → table-predictions.csv, sheet.xlsx → sheet-predictions.csv, and standard input to standard output
fn beside(data: &Path, format: Option<Format>) -> PathBuf {
    if data == Path::new(STANDARD) {
        return data.to_path_buf();
    }
    let data = uncompressed(data);
    let stem = data.file_stem().unwrap_or_default().to_string_lossy();
    let name = match data.extension() {
        _ if format.is_some_and(|f| !f.is_written()) => format!("{stem}-predictions.csv"),
        Some(extension) => format!("{stem}-predictions.{}", extension.to_string_lossy()),
        None => format!("{stem}-predictions"),
    };
    data.with_file_name(name)
}
