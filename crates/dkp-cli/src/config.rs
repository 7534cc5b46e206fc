//! `dkp config`: every setting with its value and what it means, as a file for `dkp train --config`.

use crate::flags::{self, ModelFlags, RoleFlags};
use anyhow::Context as _;
use clap::{Args, Command};
use dkp_fit::{Registry, Scaling, Settings};
use std::path::PathBuf;

/// Print every setting with its effective value and what it means, as a TOML file for `dkp train --config`.
#[derive(Args)]
pub struct Arguments {
    /// Rows of the table, by which some defaults are chosen.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rows: usize,
    /// Features of the table.
    #[arg(long, value_name = "N", default_value_t = 10)]
    features: usize,
    /// A TOML file with settings to begin with.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    roles: RoleFlags,
    #[command(flatten)]
    choices: ModelFlags,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    let config = flags::config(&a.roles, &a.choices, a.config.as_deref())?;
    let likelihood = config.model.likelihood.clone().unwrap_or_default();
    let registry = Registry::default();
    for name in &config.model.kernel {
        registry.kernel(name).context("--kernel")?;
    }
    let scaling = config.table.scaling.unwrap_or(Scaling::Own);
    let (rows, features) = (a.rows.max(1), a.features.max(1));
    let settings = Settings::resolve(&config.model, &registry, rows, features, scaling, likelihood)?;
    let roles =
        section("table", &toml::Table::try_from(&config.table)?, RoleFlags::augment_args(Command::new("table")));
    let mut settings = toml::Table::try_from(&settings)?;
    // a likelihood and the sizes that go with it follow from the target, others from the features
    let (model, table) = (&config.model, &config.table);
    let known = [
        ("likelihood", model.likelihood.is_some()),
        ("family", model.family.is_some()),
        ("posterior", model.posterior.is_some()),
        ("share_noise", model.share_noise.is_some()),
        ("inducing", model.inducing.is_some()),
        ("steps", model.steps.is_some()),
        ("start_steps", model.start_steps.is_some()),
        ("input_layer", model.input_layer.is_some()),
        ("temperature", model.temperature.is_some()),
        ("scale_features", model.scale_features.is_some() || table.scaling.is_some()),
    ];
    for (name, _) in known.iter().filter(|(_, known)| !known) {
        settings.remove(*name);
    }
    let model = section("model", &settings, ModelFlags::augment_args(Command::new("model")));
    crate::print::text(&format!(
        "# Settings for dkp train --config, for {} rows and {} features.\n\n{roles}\n{model}",
        a.rows, a.features
    ))
}

/// Settings with their help texts as comments; those without a value as a comment too.
fn section(name: &str, values: &toml::Table, command: Command) -> String {
    let mut text = format!("[{name}]\n");
    for argument in command.get_arguments() {
        let key = argument.get_id().as_str();
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        text += &format!("# {help}\n");
        text += &match values.get(key) {
            Some(value) => format!("{key} = {value}\n"),
            None => format!("# {key} =\n"),
        };
    }
    text
}
