//! The `dkp` command.

mod bench;
mod compare;
mod config;
mod demo;
mod evaluate;
mod failure;
mod flags;
mod folds;
mod inspect;
mod interrupt;
mod outputs;
mod predict;
mod print;
mod progress;
mod report;
mod sample;
mod train;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Deep kernel processes: Bayesian models for tables that know what they do not know.
#[derive(Parser)]
#[command(name = "dkp", version, arg_required_else_help = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Train(Box<train::Arguments>),
    Predict(predict::Arguments),
    Evaluate(evaluate::Arguments),
    Compare(compare::Arguments),
    Inspect(inspect::Arguments),
    Report(report::Arguments),
    Demo(demo::Arguments),
    Sample(sample::Arguments),
    Config(Box<config::Arguments>),
    /// Measure training steps on built-in problems, beside the machine's own matrix product.
    Bench(bench::Arguments),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    dkp_table::silence_caught_panics();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return misunderstood(&error),
    };
    let outcome = match arguments.command {
        Command::Train(arguments) => train::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Sample(arguments) => sample::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Completions { shell } => completions(shell),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::exit_code(&error),
    }
}

/// Help, or what is wrong with a command line on one line.
fn misunderstood(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let lines = text.lines().take_while(|l| !l.starts_with("Usage:")).map(str::trim).filter(|l| !l.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        eprint!("{text}");
    } else {
        eprintln!("dkp: {} (--help tells more)", line.trim_start_matches("error: "));
    }
    ExitCode::from(2)
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut <Arguments as clap::CommandFactory>::command(), "dkp", &mut script);
    print::text(&String::from_utf8_lossy(&script))
}
