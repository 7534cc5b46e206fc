//! The flags that say what a table's columns are for and what model is wanted: `dkp_fit::Config`, as a command line writes it.

use anyhow::Context as _;
use clap::Args;
use dkp_fit::{Config, Fitted, ReadOptions, Roles};
use dkp_table::{Decimal, Format};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Which columns are what.
#[derive(Args, Clone, Debug, Default, Serialize)]
#[command(next_help_heading = "Table")]
pub struct RoleFlags {
    /// The column to predict; given several times, columns of numbers that are predicted together. For an .npy table also an .npy file, which is a column of its name, or a matrix of them.
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<String>,
    /// What to predict [default: numbers mean regression, text and true/false mean classification].
    #[arg(long, value_parser = ["regression", "classification"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Columns to leave out.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Columns that name rows: not learned from, but passed through to predictions.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub id: Vec<String>,
    /// Another text that means a missing value, beside an empty cell, NA, N/A, NaN and null.
    #[arg(long, value_name = "TEXT")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub na: Vec<String>,
    /// What stands between the cells of a CSV file [default: found in its header].
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// What stands before the decimals of numbers [default: found in the columns].
    #[arg(long, value_name = "SIGN", value_parser = ["point", "comma"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<String>,
    /// In which scale the model sees features [default: own, and for classes that in which rows' nearest neighbours tell most of them].
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<ScalingFlag>,
    /// The fraction of rows to hold out for the final report [default: 0.1].
    #[arg(long, value_name = "FRACTION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
    /// Cross-validate, for small tables: rows are divided in K folds, each is judged by a model of the others (with --time, of earlier rows), and the model itself learns from all rows.
    #[arg(long, value_name = "K")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<u64>,
    /// Hold out whole groups: rows that share a value of this column. It is not learned from.
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Hold out the latest rows by this column. It is not learned from.
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// A table of rows to hold out, instead of some of DATA.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<PathBuf>,
}

/// How a table is read for a model that is trained.
#[derive(Args)]
pub struct Reading {
    /// Another text that means a missing value, beside those of training.
    #[arg(long, value_name = "TEXT")]
    na: Vec<String>,
    /// What stands between the cells of a CSV file [default: found in its header].
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<char>,
    /// What stands before the decimals of numbers [default: as in training].
    #[arg(long, value_name = "SIGN", value_parser = ["point", "comma"])]
    decimal: Option<String>,
}

impl Reading {
    pub fn options(&self, fitted: &Fitted) -> ReadOptions {
        let decimal = |text: &String| if text == "comma" { Decimal::Comma } else { Decimal::Point };
        fitted.read_options(self.delimiter, &self.na, self.decimal.as_ref().map(decimal))
    }
}

/// In which scale the model sees features.
#[derive(Clone, Copy, Debug, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ScalingFlag {
    /// Each column is divided by its own deviation.
    Own,
    /// All columns share a unit, as pixels do, and are divided by the same number.
    Shared,
    /// A value counts as the normal quantile of its rank.
    Ranks,
}

/// How much work a fit is worth.
#[derive(Clone, Copy, Debug, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum EffortFlag {
    /// A first look.
    Quick,
    /// About two minutes on two cores for a table of up to 2,000 rows, and fifteen for 50,000.
    Normal,
    /// Finer, and some ten times as long.
    Best,
}

/// How models are judged.
#[derive(Args)]
pub struct Judging {
    /// Posterior draws.
    #[arg(long, value_name = "N", default_value_t = dkp_fit::EVALUATION_DRAWS, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub draws: u64,
    /// The seed of the draws.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Threads [default: all cores].
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// One JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// What the input layer draws.
#[derive(Clone, Copy, Debug, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum InputLayerFlag {
    /// Nothing: features count as they are.
    Fixed,
    /// A random matrix Ω that mixes the features, as in the paper.
    Omega,
    /// The features' Gram matrix itself, which is the same for more features than inducing points.
    Gram,
}

/// The model and its training.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub struct ModelFlags {
    /// How much work the fit is worth [default: normal].
    #[arg(long, help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortFlag>,
    /// The family of models [default: diwp, and nngp for classes].
    #[arg(long, value_parser = families(), help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The family's posterior: of a deep inverse Wishart process whitened, which lets it use its depth, or paper; of a deep Gaussian process shared, or own for a noise of each feature [default: the first].
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posterior: Option<String>,
    /// Hidden layers [default: 1].
    #[arg(long, value_name = "K", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<u64>,
    /// A kernel such as sqexp, matern32, relu or sum(relu, linear): once for all layers, or once for each hidden layer and the output [default: sqexp; for classes matern12 in the first layer where rows that are left out prefer it].
    #[arg(long, value_name = "KERNEL", help_heading = "Model")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel: Vec<String>,
    /// Features of a deep Gaussian process's layers, or the width of a deep Wishart process's [default: as many as the data have, at most 30].
    #[arg(long, value_name = "N", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// How targets scatter: auto (by the bound), gaussian (one noise), varying (noise that varies with the inputs), varying_t (the same with heavy tails), student_t (outliers) or poisson (counts) for regression [default: auto]. Classes need no choice.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<String>,
    /// What the input layer of a deep inverse Wishart process draws [default: omega from 20 rows for each of Ω's elements on].
    #[arg(long, value_name = "KIND", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_layer: Option<InputLayerFlag>,
    /// Inducing points: more is finer and slower [default: by the numbers of rows and classes].
    #[arg(long, value_name = "M", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inducing: Option<u64>,
    /// Whether each feature has a learned scale and bias [default: yes, but where all share one].
    #[arg(long, value_name = "BOOL", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_features: Option<bool>,
    /// Whether all outputs share the noise of their pseudo-targets [default: true].
    #[arg(long, value_name = "BOOL", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_noise: Option<bool>,
    /// Steps of training [default: by the number of rows].
    #[arg(long, value_name = "N", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Posterior draws a step [default: by the number of rows].
    #[arg(long, value_name = "S", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    /// Rows a step; 0 for all [default: by the number of rows].
    #[arg(long, value_name = "B", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// The highest learning rate [default: by the number of rows].
    #[arg(long, value_name = "RATE", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Steps over which the learning rate rises [default: 100].
    #[arg(long, value_name = "N", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_warm_up: Option<u64>,
    /// The fraction of the run after which the learning rate falls [default: 0.5].
    #[arg(long, value_name = "FRACTION", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay_from: Option<f64>,
    /// What the learning rate falls to, relative to the highest [default: 0.01].
    #[arg(long, value_name = "RATIO", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_rate: Option<f64>,
    /// Steps over which the divergences' weight in the bound rises to 1 [default: 0].
    #[arg(long, value_name = "N", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kl_warm_up: Option<u64>,
    /// The weight of divergences in training: 1 is the bound, and with less every target counts as several [default: 1, or for classes as far below, down to 0.01, as rows that were not learned from prefer].
    #[arg(long, value_name = "T", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Steps of what is trained first, as the start: the infinitely wide network, or without its layers the deep Gaussian process [default: by the number of rows].
    #[arg(long, value_name = "N", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_steps: Option<u64>,
    /// Where δ of the hidden layers starts: the larger, the closer to the infinitely wide network [default: 1000].
    #[arg(long, value_name = "δ", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// Where γ of the hidden layers' posteriors starts [default: 0.001].
    #[arg(long, value_name = "γ", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// Where δ of the input layer starts [default: 5].
    #[arg(long, value_name = "δ", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_delta: Option<f64>,
    /// Where γ of the input layer's posterior starts [default: 500].
    #[arg(long, value_name = "γ", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_gamma: Option<f64>,
    /// The seed of everything random: the same seed gives the same bits [default: 0].
    #[arg(long, value_name = "N", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Sets a parameter before training: NAME=VALUE for all its elements (`dkp inspect --json` lists names; those that end in `of TARGET` without that).
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Parameters")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Keeps a parameter as it starts.
    #[arg(long, value_name = "NAME", help_heading = "Parameters")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub freeze: Vec<String>,
    /// Makes a parameter share the values of another.
    #[arg(long, value_name = "NAME=OTHER", help_heading = "Parameters")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tie: Vec<String>,
    /// Posterior draws for the held-out rows [default: 100].
    #[arg(long, value_name = "N", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_draws: Option<u64>,
    /// Seconds between checkpoints [default: 60].
    #[arg(long, value_name = "SECONDS", help_heading = "Training")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_every: Option<f64>,
}

/// Flags, and under them what a TOML file says; both within their ranges.
pub fn config(roles: &RoleFlags, choices: &ModelFlags, file: Option<&Path>) -> anyhow::Result<Config> {
    let flags = toml::Table::from_iter([
        ("table".to_string(), toml::Value::try_from(roles)?),
        ("model".to_string(), toml::Value::try_from(choices)?),
    ]);
    let Some(path) = file else {
        let config: Config = flags.try_into()?;
        config.check()?;
        return Ok(config);
    };
    let place = || format!("--config {}", path.display());
    let text = std::fs::read_to_string(path).with_context(place)?;
    let mistake = |e: toml::de::Error| {
        let line = 1 + e.span().map_or(0, |s| text[..s.start.min(text.len())].matches('\n').count());
        anyhow::anyhow!("{}, line {line}: {}", place(), e.message().replace('\n', " "))
    };
    toml::from_str::<Config>(&text).map_err(mistake)?.check().with_context(place)?;
    let mut merged: toml::Table = toml::from_str(&text).with_context(place)?;
    for (section, flags) in flags {
        let under = merged.entry(section).or_insert_with(|| toml::Table::new().into());
        if let (Some(under), toml::Value::Table(flags)) = (under.as_table_mut(), flags) {
            under.extend(flags);
        }
    }
    let config: Config = merged.try_into().with_context(place)?;
    config.check().with_context(place)?;
    Ok(config)
}

/// A target that is a file becomes the column of its name: `y.npy` beside `X.npy` is `y`, or `y0`, `y1`, … if it is a matrix.
pub fn target_file(roles: &mut Roles, data: &Path) {
    let is_npy = |path: &Path| matches!(Format::of_name(path), Ok(Format::Npy));
    let [target] = roles.targets.as_slice() else { return };
    let file = PathBuf::from(target);
    if is_npy(&file) && is_npy(data) && file.is_file() {
        roles.targets = file.file_stem().map(|name| name.to_string_lossy().into_owned()).into_iter().collect();
        roles.target_file = Some(file);
    }
}

/// The names of families, with what they are.
pub fn families() -> clap::builder::PossibleValuesParser {
    let registry = dkp_fit::Registry::default();
    let value = |f: &dkp::model::Family| clap::builder::PossibleValue::new(f.name).help(f.title);
    clap::builder::PossibleValuesParser::new(registry.families().iter().map(value).collect::<Vec<_>>())
}

fn delimiter(text: &str) -> Result<char, String> {
    match (text, text.chars().next()) {
        ("\\t" | "tab", _) => Ok('\t'),
        (_, Some(c)) if text.len() == 1 => Ok(c),
        _ => Err("expected one ASCII character, or tab".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults that help texts tell, where these are a number or a word, are those that a fit has.
    #[test]
    fn help_texts_tell_the_defaults() {
        let (choices, registry) = (dkp_fit::Choices::default(), dkp_fit::Registry::default());
        let settings =
            dkp_fit::Settings::resolve(&choices, &registry, 1000, 10, dkp_fit::Scaling::Own, dkp_fit::AUTO.to_string())
                .unwrap();
        let settings = toml::Table::try_from(&settings).unwrap();
        let command = ModelFlags::augment_args(clap::Command::new("model"));
        let mut compared = 0;
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let Some((_, told)) = help.split_once("[default: ") else { continue };
            let told = told.split(']').next().unwrap_or_default();
            if argument.get_id() == "effort" {
                // sizes follow from it
                assert_eq!(told, format!("{:?}", dkp_fit::Effort::default()).to_lowercase());
                continue;
            }
            let value = match &settings[argument.get_id().as_str()] {
                toml::Value::String(text) => text.clone(),
                toml::Value::Array(texts) => texts[0].as_str().unwrap_or_default().to_string(),
                other => other.to_string(),
            };
            if !told.contains(' ') {
                let same = told == value || told.parse::<f64>().is_ok_and(|v| value.parse() == Ok(v));
                assert!(same, "--{}: {told} and {value}", argument.get_id());
                compared += 1;
            }
        }
        assert!(compared > 9, "{compared}");
    }
}
