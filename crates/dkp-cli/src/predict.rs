//! `dkp predict`: a model's predictions for a table, row by row, in constant memory.

use crate::choices::Reading;
use crate::failure::{of_table, run_failed};
use crate::interrupt;
use crate::outputs::check_distinct;
use crate::trained::{Trained, warn_of};
use anyhow::{Context as _, bail};
use clap::Args;
use dkp::model::Prediction;
use dkp_table::{Column, Format, Frame, Kind, Table, Texts, Unfamiliar, Writer};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Rows that are predicted at once: so many that the draws, made anew for each such block, cost little.
const ROWS: usize = 32_768;

/// Predict the rows of a table.
///
/// Writes, for each row, the columns of `--id`, then mean, sd, the model's and the noise's part of the sd, and quantiles; or the most probable
/// class and the probability of each. Columns may be in any order; others than the model's are not looked at.
///
///     dkp predict houses.dkp new.csv --out prices.csv
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The model.
    model: PathBuf,
    /// The table.
    data: PathBuf,
    /// Where predictions go; its ending says the format [default: DATA with -predictions before its ending].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Quantiles to predict.
    #[arg(long, value_name = "P", value_delimiter = ',', default_values_t = [0.05, 0.5, 0.95])]
    quantiles: Vec<f64>,
    /// Columns to pass through [default: those of --id in training].
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    id: Option<Vec<String>>,
    #[command(flatten)]
    reading: Reading,
    /// Posterior draws.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=100_000))]
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
    crate::use_threads(a.threads)?;
    if let Some(p) = a.quantiles.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
        bail!("--quantiles {p}: expected numbers between 0 and 1");
    }
    let mut trained = Trained::load(&a.model)?;
    let table = Table::open(&a.data, &a.reading.options(&trained.record))?;
    let ids =
        a.id.clone()
            .unwrap_or_else(|| trained.record.id.iter().filter(|c| table.names().contains(c)).cloned().collect());
    let out = a.out.clone().unwrap_or_else(|| beside(&a.data));
    let format =
        if a.out.is_some() { Format::of_name(&out).context("--out")? } else { table.format().unwrap_or(Format::Csv) };
    check_distinct("--out", &out, &[&a.data, &a.model])?;
    let mut columns = trained.columns();
    let ids: Vec<(String, Kind)> = ids
        .into_iter()
        .map(|c| {
            // a column that is learned from is passed through as what it is
            let kind = columns.iter().find(|own| own.0 == c).map_or(id_kind(format), |own| own.1);
            (c, kind)
        })
        .collect();
    let others: Vec<_> = ids.iter().filter(|id| columns.iter().all(|own| own.0 != id.0)).cloned().collect();
    columns.extend(others);
    let frames = table.frames(&columns, ROWS)?;
    let shape =
        Shape { ids, labels: trained.record.labels().map(<[String]>::to_vec), quantiles: a.quantiles.clone(), format };
    if let Some((name, _)) = shape.ids.iter().find(|id| shape.own_columns().iter().any(|own| own.0 == id.0)) {
        bail!("--id {name}: predictions have a column of this name themselves: rename it in {}", a.data.display());
    }
    for (name, _) in &shape.ids {
        table.find(name).context("--id")?;
    }
    // what is written is a temporary file until the end: Ctrl-C must find it deleted
    interrupt::install();
    interrupt::watch();
    let mut writer = Writer::create(&out, format, &shape.columns()).map_err(of_table)?;
    let (mut rows, mut unfamiliar) = (0, Unfamiliar::default());
    for frame in frames {
        let frame = frame?;
        let (prediction, odd) = trained.predict(&frame, a.draws as usize, a.seed)?;
        unfamiliar.add(&odd);
        rows += frame.rows();
        let (zero, unit) = trained.record.target_scale();
        writer.write(&shape.frame(&frame, &prediction, zero, unit)?).map_err(of_table)?;
        if interrupt::requested() {
            return Err(run_failed(anyhow::anyhow!("stopped after {rows} rows; nothing was written")));
        }
    }
    writer.finish().map_err(of_table)?;
    if !a.quiet {
        warn_of(&unfamiliar);
        eprintln!("{rows} predictions written to {}", out.display());
    }
    Ok(())
}

/// table.csv → table-predictions.csv
fn beside(data: &Path) -> PathBuf {
    let stem = data.file_stem().unwrap_or_default().to_string_lossy();
    let name = match data.extension() {
        Some(extension) => format!("{stem}-predictions.{}", extension.to_string_lossy()),
        None => format!("{stem}-predictions"),
    };
    data.with_file_name(name)
}

/// Arrays hold numbers only.
fn holds_text(format: Format) -> bool {
    matches!(format, Format::Csv | Format::Parquet)
}

fn id_kind(format: Format) -> Kind {
    if holds_text(format) { Kind::Text } else { Kind::Number }
}

/// What is written for a row.
struct Shape {
    ids: Vec<(String, Kind)>,
    labels: Option<Vec<String>>,
    quantiles: Vec<f64>,
    format: Format,
}

impl Shape {
    fn columns(&self) -> Vec<(String, Kind)> {
        self.ids.iter().cloned().chain(self.own_columns()).collect()
    }

    fn own_columns(&self) -> Vec<(String, Kind)> {
        match &self.labels {
            Some(labels) => {
                let class = ("class".to_string(), id_kind(self.format));
                std::iter::once(class)
                    .chain(labels.iter().map(|l| (format!("probability of {l}"), Kind::Number)))
                    .collect()
            }
            None => {
                let moments = ["mean", "sd", "sd of model", "sd of noise"].map(str::to_string);
                let quantiles = self.quantiles.iter().map(|p| format!("quantile {p}"));
                moments.into_iter().chain(quantiles).map(|name| (name, Kind::Number)).collect()
            }
        }
    }

    fn frame(&self, frame: &Frame, prediction: &Prediction, zero: f64, unit: f64) -> anyhow::Result<Frame> {
        let mut columns: Vec<Column> = Vec::new();
        for (id, _) in &self.ids {
            columns.push(frame.column(id)?.clone());
        }
        let own = match &self.labels {
            Some(labels) => self.classes(labels, prediction)?,
            None => self.numbers(prediction, zero, unit),
        };
        columns.extend(own);
        let names = self.columns().into_iter().map(|(name, _)| name);
        Ok(Frame::new(frame.first(), names.zip(columns).collect())?)
    }

    fn numbers(&self, prediction: &Prediction, zero: f64, unit: f64) -> Vec<Column> {
        let row = |n: usize| {
            let m = prediction.moments(n, 0);
            let moments =
                [zero + unit * m.mean, unit * (m.model + m.noise).sqrt(), unit * m.model.sqrt(), unit * m.noise.sqrt()];
            let quantiles = self.quantiles.iter().map(|&p| zero + unit * prediction.quantile(n, 0, p));
            moments.into_iter().chain(quantiles).collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = (0..prediction.points()).into_par_iter().map(row).collect();
        (0..4 + self.quantiles.len()).map(|i| Column::Numbers(rows.iter().map(|r| r[i]).collect())).collect()
    }

    fn classes(&self, labels: &[String], prediction: &Prediction) -> anyhow::Result<Vec<Column>> {
        let all: Option<Vec<Vec<f64>>> =
            (0..prediction.points()).into_par_iter().map(|n| prediction.probabilities(n)).collect();
        let all = all.context("the model has no classes")?;
        let best = |p: &Vec<f64>| (0..p.len()).fold(0, |b, c| if p[c] > p[b] { c } else { b });
        let class = match holds_text(self.format) {
            true => Column::Texts(all.iter().map(|p| labels.get(best(p)).map(String::as_str)).collect::<Texts>()),
            false => Column::Numbers(all.iter().map(|p| best(p) as f64).collect()),
        };
        let probability = |c: usize| Column::Numbers(all.iter().map(|p| p[c]).collect());
        Ok(std::iter::once(class).chain((0..labels.len()).map(probability)).collect())
    }
}
