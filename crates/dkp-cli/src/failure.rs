//! Whose fault a failure is, which decides the exit code.

use std::process::ExitCode;

/// A run that failed though its input was right: training stopped, an output could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
struct RunFailed(anyhow::Error);

/// Marks an error as the run's, not the input's.
pub fn run_failed(error: impl Into<anyhow::Error>) -> anyhow::Error {
    RunFailed(error.into()).into()
}

/// The error of a table: the run's if it is about writing.
pub fn of_table(error: dkp_table::Error) -> anyhow::Error {
    if error.is_output() { run_failed(error) } else { error.into() }
}

/// 0 done, 1 the run failed, 2 the command line or the input is wrong.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let (error, code) = error.downcast_ref::<RunFailed>().map_or((error, 2), |failed| (&failed.0, 1));
    // a reader that has seen enough is no failure
    let broken_pipe = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    if error.chain().filter_map(|c| c.downcast_ref()).any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    eprintln!("dkp: {}", one_line(error));
    ExitCode::from(code)
}

/// The chain of causes on one line.
fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ")
}
