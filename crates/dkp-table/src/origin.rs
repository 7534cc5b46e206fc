//! Where a table comes from, which messages about it begin with.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where a table comes from. As text it is what a message about the table begins with: the file, or nothing.
///
/// ```
/// use dkp_table::Origin;
/// assert_eq!(format!("{}row 3 is odd", Origin::File("boston.csv".into())), "boston.csv: row 3 is odd");
/// assert_eq!(format!("{}row 3 is odd", Origin::Memory), "row 3 is odd");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// Columns in memory.
    Memory,
}

impl Origin {
    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::File(path) => Some(path),
            Origin::Memory => None,
        }
    }

    /// What a role or an option is called where the table comes from: files are read by a command, which has flags.
    pub fn option(&self, name: &str) -> String {
        match self {
            Origin::File(_) => format!("--{name}"),
            Origin::Memory => name.to_string(),
        }
    }

    /// Whichever applies: a word for a file or one for memory.
    pub(crate) fn choose<'a>(&self, file: &'a str, memory: &'a str) -> &'a str {
        match self {
            Origin::File(_) => file,
            Origin::Memory => memory,
        }
    }
}

impl From<&Path> for Origin {
    fn from(path: &Path) -> Origin {
        Origin::File(path.to_path_buf())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path) => write!(f, "{}: ", path.display()),
            Origin::Memory => Ok(()),
        }
    }
}
