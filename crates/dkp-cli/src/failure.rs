//! Whose fault a failure is, which decides the exit code, and how it is told.

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
    // a reader that has seen enough is no failure
    let broken_pipe = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    if chain(error).filter_map(|c| c.downcast_ref()).any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    eprintln!("dkp: {}", one_line(error));
    let failed = chain(error).any(|c| c.downcast_ref().is_some_and(dkp_fit::Error::is_failure));
    ExitCode::from(if failed || error.is::<RunFailed>() { 1 } else { 2 })
}

/// The causes, those of a marked error included.
fn chain(error: &anyhow::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    let inner = error.downcast_ref::<RunFailed>().map_or(error, |failed| &failed.0);
    inner.chain()
}

/// The chain of causes on one line, with settings by their flags.
fn one_line(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in chain(error) {
        let text = match cause.downcast_ref::<dkp_fit::Error>() {
            Some(error) => error.with_names(|setting| format!("--{}", setting.replace('_', "-"))),
            None => cause.to_string(),
        };
        // what an error has said of its cause is not said again
        if parts.last().is_none_or(|last| !last.ends_with(&text)) {
            parts.push(text);
        }
    }
    let text = parts.join(": ");
    text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ")
}
