//! The `dkp` command.

mod bench;

use clap::{Parser, Subcommand};
use std::io::Write as _;
use std::process::ExitCode;

/// Deep kernel processes: Bayesian models that know what they do not know.
#[derive(Parser)]
#[command(name = "dkp", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure training steps on built-in problems, beside the machine's own matrix product.
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bench(arguments) => bench::run(&arguments),
    };
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    // a reader that has seen enough is no failure
    let broken_pipe = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    if error.chain().filter_map(|c| c.downcast_ref()).any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(std::io::stderr(), "dkp: {error:#}");
    ExitCode::FAILURE
}
