//! A model in words: what it is made of, and its parameters without their values.

use super::Tensor;
use crate::model::layout::INDUCING_INPUTS;
use crate::model::{Architecture, Layer};
use crate::params::{Constraint, Parameter, Parameters};
use crate::processes::Input;
use crate::registry::parse;
use crate::{Registry, UnknownName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
pub(super) struct Description {
    /// "fixed", or "omega" or "gram" with a process: "omega(inverse_wishart)".
    input: String,
    scale_features: bool,
    layers: Vec<LayerDescription>,
    output: String,
    likelihood: String,
    share_noise: bool,
    parameters: Vec<ParameterDescription>,
}

#[derive(Serialize, Deserialize)]
struct LayerDescription {
    kernel: String,
    process: String,
}

/// In the order of optimisers.
#[derive(Serialize, Deserialize)]
struct ParameterDescription {
    name: String,
    constraint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<f64>,
    frozen: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tied: Option<String>,
}

impl Description {
    pub fn of(a: &Architecture, parameters: &Parameters) -> Description {
        let input = match &a.input {
            Input::Fixed => "fixed".to_string(),
            Input::Omega(process) => format!("omega({})", process.name()),
            Input::Gram(process) => format!("gram({})", process.name()),
        };
        let layer = |l: &Layer| LayerDescription { kernel: l.kernel.name(), process: l.process.name() };
        let parameter = |p: &Parameter| {
            let (constraint, floor) = match p.constraint {
                Constraint::Free => ("free", None),
                Constraint::Positive => ("positive", None),
                Constraint::Above(floor) => ("above", Some(floor)),
            };
            let tied = parameters.tied(&p.name).map(str::to_string);
            ParameterDescription { name: p.name.clone(), constraint: constraint.into(), floor, frozen: p.frozen, tied }
        };
        Description {
            input,
            scale_features: a.scale_features,
            layers: a.layers.iter().map(layer).collect(),
            output: a.output.name(),
            likelihood: a.likelihood.name(),
            share_noise: a.share_noise,
            parameters: parameters.iter().map(parameter).collect(),
        }
    }

    /// A name that cannot be read back, whatever a registry knows.
    pub fn unreadable_name(&self) -> Option<&str> {
        let layers = self.layers.iter().flat_map(|l| [&l.kernel, &l.process]);
        let mut names = layers.chain([&self.input, &self.output, &self.likelihood]);
        names.find(|name| parse(name).is_none_or(|(name, _)| name.is_empty())).map(String::as_str)
    }

    pub fn architecture(&self, registry: &Registry) -> Result<Architecture, UnknownName> {
        let known = "fixed, omega(process) and gram(process)".to_string();
        let unknown = || UnknownName { what: "input layer", name: self.input.clone(), known };
        let input = match parse(&self.input) {
            Some(("fixed", arguments)) if arguments.is_empty() => Input::Fixed,
            Some(("omega", arguments)) if arguments.len() == 1 => Input::Omega(registry.process(arguments[0])?),
            Some(("gram", arguments)) if arguments.len() == 1 => Input::Gram(registry.process(arguments[0])?),
            _ => return Err(unknown()),
        };
        let layer = |l: &LayerDescription| {
            Ok(Layer { kernel: registry.kernel(&l.kernel)?, process: registry.process(&l.process)? })
        };
        Ok(Architecture {
            scale_features: self.scale_features,
            input,
            layers: self.layers.iter().map(layer).collect::<Result<_, _>>()?,
            output: registry.kernel(&self.output)?,
            likelihood: registry.likelihood(&self.likelihood)?,
            share_noise: self.share_noise,
        })
    }

    /// The parameters, with their values from tensors of this prefix.
    pub fn parameters(&self, prefix: &str, tensors: &BTreeMap<String, Tensor>) -> Result<Parameters, String> {
        let mut parameters = Parameters::default();
        for p in &self.parameters {
            let constraint = match (p.constraint.as_str(), p.floor) {
                ("free", None) => Constraint::Free,
                ("positive", None) => Constraint::Positive,
                ("above", Some(floor)) => Constraint::Above(floor),
                (other, _) => return Err(format!("parameter \"{}\" has the constraint \"{other}\"", p.name)),
            };
            let tensor = tensors.get(&format!("{prefix}{}", p.name)).and_then(Tensor::columns);
            let (rows, cols, kept) = tensor.ok_or_else(|| format!("parameter \"{}\" has no values", p.name))?;
            parameters.add_kept(&p.name, rows, cols, constraint, kept).map_err(|e| e.to_string())?;
        }
        for p in &self.parameters {
            if let Some(with) = &p.tied {
                parameters.tie(&p.name, with).map_err(|e| e.to_string())?;
            }
            if p.frozen {
                parameters.freeze(&p.name, true).map_err(|e| e.to_string())?;
            }
        }
        Ok(parameters)
    }
}

/// Whether parameters are those of a model of this architecture.
pub(super) fn check(architecture: &Architecture, parameters: &Parameters) -> Result<(), String> {
    let shape = |name: &str| parameters.iter().find(|p| p.name == name).map(|p| (p.rows, p.cols));
    let (features, inducing) = shape(INDUCING_INPUTS).ok_or_else(|| "it has no inducing inputs".to_string())?;
    if features == 0 || inducing == 0 {
        return Err("it has no inducing inputs".to_string());
    }
    let layout = architecture.layout(features, inducing);
    for own in &layout {
        let (name, rows, cols) = (&own.name, own.rows, own.cols);
        match parameters.iter().find(|p| p.name == *name) {
            None => return Err(format!("parameter \"{name}\" is missing")),
            Some(p) if (p.rows, p.cols) != (rows, cols) => {
                return Err(format!("parameter \"{name}\" is {}×{} instead of {rows}×{cols}", p.rows, p.cols));
            }
            Some(p) if p.constraint != own.constraint => {
                return Err(format!("parameter \"{name}\" has another constraint than its model's"));
            }
            Some(_) => {}
        }
    }
    match parameters.iter().find(|p| layout.iter().all(|own| own.name != p.name)) {
        Some(p) => Err(format!("the model has no parameter \"{}\"", p.name)),
        None => Ok(()),
    }
}
