//! Models and runs as files: safetensors, which other programs can open, with a description and a checksum.
//!
//! ```
//! # use dkp::{data::Dataset, kernels::SquaredExponential, likelihoods::Gaussian, model::Architecture, train::{Start, initialise}};
//! # use dkp_tape::random::Key;
//! # use faer::mat;
//! # use std::sync::Arc;
//! # let x = mat![[0.0, 1.0, 2.0]];
//! # let data = Dataset::new(x.as_ref(), mat![[0.5, 0.1, 0.3]].as_ref())?;
//! # let architecture = Architecture::diwp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(1)));
//! # let model = initialise(architecture, &data, Start { warm_up: 0, ..Start::default() })?;
//! # let folder = std::env::temp_dir().join(format!("dkp-doctest-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("model.dkp");
//! dkp::file::save(&path, &model, &Default::default())?;
//! let loaded = dkp::file::load(&path)?.model;
//! let [a, b] = [&model, &loaded].map(|m| m.predict(x.as_ref(), 3, Key::new(1)).unwrap().moments(0, 0).mean);
//! assert_eq!(a, b);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A model with parts of one's own is read by [`load_with`], with a [`Registry`] that knows their names.

mod atomic;
mod container;
mod description;
mod state;

use crate::Registry;
use crate::model::Model;
use crate::params::Parameters;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use atomic::write_atomically;
use container::Contents;
pub use container::Tensor;
use description::Description;
pub use state::{load_run, load_run_with, save_run};

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A name that is none, or numbers that do not fit their shape: it could not be read back.
    #[error("{}: the model cannot be written: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it is.
        reason: String,
    },
    /// Bytes are missing or changed.
    #[error("{}: the file is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// Something else.
    #[error("{}: not a dkp {expected} file: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// "model" or "run".
        expected: &'static str,
        /// What was found.
        reason: String,
    },
    /// A format of the past.
    #[error("{}: written in format {found} by an earlier version of dkp, which this one does not read: train the model again", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// A format from the future.
    #[error("{}: written in format {found}, but this version of dkp reads up to {known}; a newer dkp is needed", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest known here.
        known: u64,
    },
}

/// What a program keeps beside a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Companion {
    /// A description, as JSON.
    pub metadata: Value,
    /// Numbers, by name.
    pub tensors: BTreeMap<String, Tensor>,
}

/// A model that was read.
pub struct Loaded {
    /// The model.
    pub model: Model,
    /// What was kept beside it.
    pub companion: Companion,
}

/// The prefix of parameters' names among tensors, and of what a program keeps beside them.
const PARAMETERS: &str = "parameters.";
const COMPANION: &str = "kept.";

/// Writes a model; the same model gives the same bytes. A parameter is written as optimisers see it: a positive one as its logarithm.
pub fn save(path: &Path, model: &Model, companion: &Companion) -> Result<(), Error> {
    write(path, &contents("model", model, companion))
}

/// Writes what can be read back.
fn write(path: &Path, contents: &Contents) -> Result<(), Error> {
    let unreadable = |reason: String| Error::Unreadable { path: path.into(), reason };
    let fits = |t: &Tensor| t.shape.iter().product::<usize>() == t.values.len();
    if let Some((name, _)) = contents.tensors.iter().find(|(_, t)| !fits(t)) {
        return Err(unreadable(format!("the values of \"{name}\" do not fit its shape")));
    }
    let description = Description::deserialize(&contents.metadata["model"]).map_err(|e| unreadable(e.to_string()))?;
    if let Some(name) = description.unreadable_name() {
        return Err(unreadable(format!(
            "\"{name}\" is no name that can be read back: use letters and a list in parentheses"
        )));
    }
    write_atomically(path, &container::encode(contents)).map_err(|cause| Error::Io { path: path.into(), cause })
}

/// Reads a model, if the file is whole and describes one.
pub fn load(path: &Path) -> Result<Loaded, Error> {
    load_with(path, &Registry::default())
}

/// [`load`] for models whose parts a registry knows.
pub fn load_with(path: &Path, registry: &Registry) -> Result<Loaded, Error> {
    let contents = read(path, "model")?;
    let foreign = |reason: String| Error::Foreign { path: path.into(), expected: "model", reason };
    let model = model(&contents, registry).map_err(foreign)?;
    Ok(Loaded { model, companion: companion(contents) })
}

fn read(path: &Path, expected: &'static str) -> Result<Contents, Error> {
    let bytes = std::fs::read(path).map_err(|cause| Error::Io { path: path.into(), cause })?;
    let contents = container::decode(&bytes).map_err(|problem| problem.of(path, expected))?;
    match contents.metadata["kind"].as_str() {
        Some(kind) if kind == expected => Ok(contents),
        kind => {
            let reason = format!("it holds a {}", kind.unwrap_or("thing without a name"));
            Err(Error::Foreign { path: path.into(), expected, reason })
        }
    }
}

fn contents(kind: &str, model: &Model, companion: &Companion) -> Contents {
    let description = Description::of(model.architecture(), model.parameters());
    let mut tensors: BTreeMap<String, Tensor> = parameter_tensors(PARAMETERS, model.parameters());
    tensors.extend(companion.tensors.iter().map(|(name, t)| (format!("{COMPANION}{name}"), t.clone())));
    Contents { metadata: json!({ "kind": kind, "model": description, "kept": companion.metadata }), tensors }
}

fn parameter_tensors(prefix: &str, parameters: &Parameters) -> BTreeMap<String, Tensor> {
    let tensor = |p: &crate::params::Parameter| Tensor::from_columns(p.rows, p.cols, &p.kept);
    parameters.iter().map(|p| (format!("{prefix}{}", p.name), tensor(p))).collect()
}

fn model(contents: &Contents, registry: &Registry) -> Result<Model, String> {
    let description = Description::deserialize(&contents.metadata["model"]);
    let description = description.map_err(|e| format!("its description: {e}"))?;
    let architecture = description.architecture(registry).map_err(|e| e.to_string())?;
    let parameters = description.parameters(PARAMETERS, &contents.tensors)?;
    description::check(&architecture, &parameters)?;
    Ok(Model::new(architecture, parameters))
}

fn companion(contents: Contents) -> Companion {
    let own = |(name, t): (String, Tensor)| name.strip_prefix(COMPANION).map(|n| (n.to_string(), t));
    Companion {
        metadata: contents.metadata["kept"].clone(),
        tensors: contents.tensors.into_iter().filter_map(own).collect(),
    }
}

#[cfg(test)]
mod tests;
