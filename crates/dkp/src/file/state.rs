//! A training run as a file: the model as it is, and what it takes to go on to the same bits.

use super::{Companion, Error, Loaded, Tensor, companion, contents, model, parameter_tensors, read, write};
use crate::model::Model;
use crate::params::Parameters;
use crate::train::{Adam, State};
use std::collections::BTreeMap;
use std::path::Path;

const GOOD: &str = "good.";
const MOMENTS: [&str; 2] = ["first moment.", "second moment."];
/// The numbers of a state, in this order.
const NUMBERS: &str = "state";

/// Writes a run between two steps.
pub fn save_run(path: &Path, model: &Model, state: &State, companion: &Companion) -> Result<(), Error> {
    let mut contents = contents("run", model, companion);
    let (good, good_adam, good_mean) = &state.good;
    contents.tensors.extend(parameter_tensors(GOOD, good));
    let free: Vec<&str> = model.parameters().free().map(|p| p.name.as_str()).collect();
    for (prefix, adam) in [("", &state.adam), (GOOD, good_adam)] {
        for (part, moments) in MOMENTS.iter().zip([&adam.first, &adam.second]) {
            let named =
                free.iter().zip(moments).map(|(n, m)| (format!("{prefix}{part}{n}"), Tensor::vector(m.clone())));
            contents.tensors.extend(named);
        }
    }
    let optional = |x: Option<f64>| x.unwrap_or(f64::NAN);
    let numbers = vec![
        state.step as f64,
        state.adam.steps as f64,
        state.caution,
        f64::from(state.rollbacks),
        f64::from(state.failures),
        f64::from(state.falls),
        optional(state.mean_bound),
        state.best,
        optional(state.typical_norms[0]),
        optional(state.typical_norms[1]),
        state.gain,
        good_adam.steps as f64,
        optional(*good_mean),
    ];
    contents.tensors.insert(NUMBERS.to_string(), Tensor::vector(numbers));
    write(path, &contents)
}

/// Reads a run: the model, and the state to resume it from.
pub fn load_run(path: &Path) -> Result<(Loaded, State), Error> {
    let contents = read(path, "run")?;
    let foreign = |reason: String| Error::Foreign { path: path.into(), expected: "run", reason };
    let model = model(&contents).map_err(foreign)?;
    let state = state(&model, &contents.tensors).map_err(foreign)?;
    Ok((Loaded { model, companion: companion(contents) }, state))
}

fn state(model: &Model, tensors: &BTreeMap<String, Tensor>) -> Result<State, String> {
    let numbers = tensors.get(NUMBERS).map(|t| t.values.as_slice()).unwrap_or_default();
    let &[step, steps, caution, rollbacks, failures, falls, mean, best, norm, tight_norm, gain, good_steps, good_mean] =
        numbers
    else {
        return Err("its state is incomplete, or that of an earlier version".to_string());
    };
    let free: Vec<(&str, usize)> = model.parameters().free().map(|p| (p.name.as_str(), p.kept.len())).collect();
    let moments = |prefix: &str, part: &str| {
        let one = |&(name, length): &(&str, usize)| {
            let found = tensors.get(&format!("{prefix}{part}{name}")).map(|t| t.values.clone());
            found.filter(|v| v.len() == length).ok_or_else(|| format!("the {part}of \"{name}\" is missing"))
        };
        free.iter().map(one).collect::<Result<Vec<_>, String>>()
    };
    let adam = |prefix: &str, steps: f64| {
        Ok::<_, String>(Adam {
            steps: steps as u64,
            first: moments(prefix, MOMENTS[0])?,
            second: moments(prefix, MOMENTS[1])?,
        })
    };
    let known = |x: f64| (!x.is_nan()).then_some(x);
    Ok(State {
        step: step as u64,
        adam: adam("", steps)?,
        caution,
        rollbacks: rollbacks as u32,
        failures: failures as u32,
        falls: falls as u32,
        mean_bound: known(mean),
        best,
        typical_norms: [norm, tight_norm].map(known),
        gain,
        good: (good(model, tensors)?, adam(GOOD, good_steps)?, known(good_mean)),
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
