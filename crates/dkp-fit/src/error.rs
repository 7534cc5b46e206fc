//! Why a table could not be fitted, or a fitted model not be used.

use dkp::train::{StartError, TrainingError};
use dkp_table::Origin;
use std::path::PathBuf;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting that cannot be.
    #[error("{}", of_setting(setting, value.as_deref(), reason))]
    Setting {
        /// Its name, that of a field of [`Roles`](crate::Roles) or [`Choices`](crate::Choices).
        setting: &'static str,
        /// What was said, where the reason does not tell.
        value: Option<String>,
        /// What is wrong with it.
        reason: String,
    },
    /// A setting outside its range.
    #[error("{setting} {expected}")]
    Range {
        /// Its name.
        setting: &'static str,
        /// What it must be.
        expected: String,
    },
    /// Two settings that exclude each other.
    #[error("{first} and {second} both say which rows are held out: give one of them")]
    Both {
        /// The name of one.
        first: &'static str,
        /// And of the other.
        second: &'static str,
    },
    /// Two models that cannot be compared.
    #[error("{first} and {other} have {what}")]
    Unlike {
        /// What one is called.
        first: String,
        /// And the other.
        other: String,
        /// What they differ by.
        what: String,
    },
    /// A table that cannot be learned from or judged by.
    #[error("{origin}{reason}")]
    Data {
        /// Which.
        origin: Origin,
        /// What is wrong with it.
        reason: String,
    },
    /// A table that cannot be read, or written.
    #[error(transparent)]
    Table(#[from] dkp_table::Error),
    /// Data that no model can be made for.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Training ended too early.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// A bound or a prediction that could not be computed.
    #[error(transparent)]
    Model(#[from] dkp::model::Error),
    /// A row for which nothing can be predicted.
    #[error(
        "row {row}: there is no prediction: its features are too far from those of the training rows; look for cells of an odd size"
    )]
    FarRow {
        /// The row of its table, from 1.
        row: usize,
    },
    /// A model file that could not be written or read.
    #[error(transparent)]
    File(#[from] dkp::file::Error),
    /// A file that could not be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder that holds no run that could be gone on with.
    #[error("{}: {reason}", folder.display())]
    Run {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The one who watched asked for an end.
    #[error("stopped after {step} steps")]
    Stopped {
        /// Steps that were taken; none while the start is prepared.
        step: u64,
        /// The folder of the run that can be gone on with, if there is one.
        folder: Option<PathBuf>,
    },
    /// Something that went wrong in a part of a cross-validation.
    #[error("fold {fold} of {folds}: {error}")]
    Fold {
        /// The fold, from 1.
        fold: usize,
        /// Of how many.
        folds: usize,
        /// What it was.
        error: Box<Error>,
    },
    /// Threads that could not be started.
    #[error("threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl Error {
    pub(crate) fn setting(setting: &'static str, value: impl ToString, reason: impl ToString) -> Error {
        Error::Setting { setting, value: Some(value.to_string()), reason: reason.to_string() }
    }

    /// A setting whose reason names what was said.
    pub(crate) fn named(setting: &'static str, reason: impl ToString) -> Error {
        Error::Setting { setting, value: None, reason: reason.to_string() }
    }

    pub(crate) fn range(setting: &'static str, expected: impl ToString) -> Error {
        Error::Range { setting, expected: expected.to_string() }
    }

    pub(crate) fn data(origin: &Origin, reason: impl ToString) -> Error {
        Error::Data { origin: origin.clone(), reason: reason.to_string() }
    }

    pub(crate) fn in_fold(self, fold: usize, folds: usize) -> Error {
        Error::Fold { fold, folds, error: Box::new(self) }
    }

    /// A file that could not be written is the run's fault, not the input's.
    pub(crate) fn of_save(error: dkp::file::Error) -> Error {
        match error {
            dkp::file::Error::Io { path, cause: source } => Error::Write { path, source },
            other => Error::File(other),
        }
    }

    /// The error as it is said to someone who knows settings by other names, such as flags.
    pub fn with_names(&self, name: impl Fn(&str) -> String) -> String {
        self.named_by(&name)
    }

    fn named_by(&self, name: &dyn Fn(&str) -> String) -> String {
        match self {
            Error::Fold { fold, folds, error } => format!("fold {fold} of {folds}: {}", error.named_by(name)),
            Error::Setting { setting, value, reason } => of_setting(&name(setting), value.as_deref(), reason),
            Error::Range { setting, expected } => format!("{} {expected}", name(setting)),
            Error::Both { first, second } => {
                format!("{} and {} both say which rows are held out: give one of them", name(first), name(second))
            }
            other => other.to_string(),
        }
    }

    /// Whether the run failed though what it was given was right: training stopped, an output could not be written.
    pub fn is_failure(&self) -> bool {
        match self {
            Error::Training(_) | Error::Model(_) | Error::Write { .. } | Error::Stopped { .. } | Error::Threads(_) => {
                true
            }
            Error::Fold { error, .. } => error.is_failure(),
            Error::Table(error) => error.is_output(),
            Error::File(error) => matches!(error, dkp::file::Error::Unreadable { .. }),
            _ => false,
        }
    }
}

/// What is said of a setting.
fn of_setting(name: &str, value: Option<&str>, reason: &str) -> String {
    value.map_or_else(|| format!("{name}: {reason}"), |value| format!("{name} {value}: {reason}"))
}

impl From<dkp::model::Mismatch> for Error {
    fn from(mismatch: dkp::model::Mismatch) -> Error {
        Error::Start(StartError::Data(mismatch))
    }
}
