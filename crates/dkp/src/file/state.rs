//! A training run as a file: the model as it is, and what it takes to go on to the same bits.

use super::{Companion, Error, Loaded, Tensor, companion, contents, model, parameter_tensors, read, write};
use crate::Registry;
use crate::model::Model;
use crate::params::Parameters;
use crate::train::{Adam, State};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

const GOOD: &str = "good.";
const MOMENTS: [&str; 2] = ["first moment.", "second moment."];

/// What is not a tensor of a state: JSON, in which there is no infinity.
#[derive(Serialize, Deserialize)]
struct Numbers {
    step: u64,
    adam_steps: u64,
    caution: f64,
    rollbacks: u32,
    failures: u32,
    falls: u32,
    mean_bound: Option<f64>,
    /// None for −∞.
    best: Option<f64>,
    typical_norms: [Option<f64>; 2],
    gain: Option<f64>,
    good_adam_steps: u64,
    good_mean_bound: Option<f64>,
}

impl Numbers {
    fn of(state: &State) -> Numbers {
        let (_, good_adam, good_mean_bound) = &state.good;
        Numbers {
            step: state.step,
            adam_steps: state.adam.steps,
            caution: state.caution,
            rollbacks: state.rollbacks,
            failures: state.failures,
            falls: state.falls,
            mean_bound: state.mean_bound,
            best: Some(state.best).filter(|b| b.is_finite()),
            typical_norms: state.typical_norms,
            gain: Some(state.gain).filter(|g| g.is_finite()),
            good_adam_steps: good_adam.steps,
            good_mean_bound: *good_mean_bound,
        }
    }
}

/// Writes a run between two steps.
pub fn save_run(path: &Path, model: &Model, state: &State, companion: &Companion) -> Result<(), Error> {
    let mut contents = contents("run", model, companion);
    let (good, good_adam, _) = &state.good;
    contents.tensors.extend(parameter_tensors(GOOD, good));
    let free: Vec<&str> = model.parameters().free().map(|p| p.name.as_str()).collect();
    for (prefix, adam) in [("", &state.adam), (GOOD, good_adam)] {
        for (part, moments) in MOMENTS.iter().zip([&adam.first, &adam.second]) {
            let named =
                free.iter().zip(moments).map(|(n, m)| (format!("{prefix}{part}{n}"), Tensor::vector(m.clone())));
            contents.tensors.extend(named);
        }
    }
    contents.metadata["state"] = json!(Numbers::of(state));
    write(path, &contents)
}

/// Reads a run: the model, and the state to resume it from.
pub fn load_run(path: &Path) -> Result<(Loaded, State), Error> {
    load_run_with(path, &Registry::default())
}

/// [`load_run`] for models whose parts a registry knows.
pub fn load_run_with(path: &Path, registry: &Registry) -> Result<(Loaded, State), Error> {
    let contents = read(path, "run")?;
    let foreign = |reason: String| Error::Foreign { path: path.into(), expected: "run", reason };
    let model = model(&contents, registry).map_err(foreign)?;
    let numbers = Numbers::deserialize(&contents.metadata["state"]).map_err(|e| foreign(format!("its state: {e}")))?;
    let state = state(&model, numbers, &contents.tensors).map_err(foreign)?;
    Ok((Loaded { model, companion: companion(contents) }, state))
}

fn state(model: &Model, numbers: Numbers, tensors: &BTreeMap<String, Tensor>) -> Result<State, String> {
    let free: Vec<(&str, usize)> = model.parameters().free().map(|p| (p.name.as_str(), p.kept.len())).collect();
    let moments = |prefix: &str, part: &str| {
        let one = |&(name, length): &(&str, usize)| {
            let found = tensors.get(&format!("{prefix}{part}{name}")).map(|t| t.values.clone());
            found.filter(|v| v.len() == length).ok_or_else(|| format!("the {part}of \"{name}\" is missing"))
        };
        free.iter().map(one).collect::<Result<Vec<_>, String>>()
    };
    let adam = |prefix: &str, steps: u64| {
        Ok::<_, String>(Adam { steps, first: moments(prefix, MOMENTS[0])?, second: moments(prefix, MOMENTS[1])? })
    };
    Ok(State {
        step: numbers.step,
        adam: adam("", numbers.adam_steps)?,
        caution: numbers.caution,
        rollbacks: numbers.rollbacks,
        failures: numbers.failures,
        falls: numbers.falls,
        mean_bound: numbers.mean_bound,
        best: numbers.best.unwrap_or(f64::NEG_INFINITY),
        typical_norms: numbers.typical_norms,
        gain: numbers.gain.unwrap_or(0.0),
        good: (good(model, tensors)?, adam(GOOD, numbers.good_adam_steps)?, numbers.good_mean_bound),
    })
}

/// The parameters to go back to.
fn good(model: &Model, tensors: &BTreeMap<String, Tensor>) -> Result<Parameters, String> {
    let mut parameters = model.parameters().clone();
    for p in parameters.iter_mut() {
        let found = tensors.get(&format!("{GOOD}{}", p.name)).and_then(Tensor::columns);
        p.kept = match found {
            Some((rows, cols, kept)) if (rows, cols) == (p.rows, p.cols) => kept,
            _ => return Err(format!("the earlier state of \"{}\" is missing", p.name)),
        };
    }
    Ok(parameters)
}
