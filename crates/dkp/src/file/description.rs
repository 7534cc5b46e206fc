//! A model in words: what it is made of, and its parameters without their values.

use super::Tensor;
use crate::UnknownName;
use crate::model::{Architecture, InputKind, Layer, ProcessKind};
use crate::params::{Constraint, Parameter, Parameters};
use crate::{kernels, likelihoods};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
pub(super) struct Description {
    input: String,
    scale_features: bool,
    layers: Vec<LayerDescription>,
    output: String,
    likelihood: String,
    share_precision: bool,
    parameters: Vec<ParameterDescription>,
}

#[derive(Serialize, Deserialize)]
struct LayerDescription {
    kernel: String,
    process: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<usize>,
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
        let input = match a.input {
            InputKind::Fixed => "fixed",
            InputKind::InverseWishart => "inverse_wishart",
            InputKind::Gram => "gram",
        };
        let layer = |l: &Layer| {
            let (process, width) = match l.process {
                ProcessKind::Deterministic => ("deterministic", None),
                ProcessKind::InverseWishart => ("inverse_wishart", None),
                ProcessKind::Features { width } => ("features", Some(width)),
            };
            LayerDescription { kernel: l.kernel.name(), process: process.to_string(), width }
        };
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
            input: input.to_string(),
            scale_features: a.scale_features,
            layers: a.layers.iter().map(layer).collect(),
            output: a.output.name(),
            likelihood: a.likelihood.name(),
            share_precision: a.share_precision,
            parameters: parameters.iter().map(parameter).collect(),
        }
    }

    pub fn architecture(&self) -> Result<Architecture, UnknownName> {
        let unknown = |what, name: &str, known| UnknownName { what, name: name.to_string(), known };
        let input = match self.input.as_str() {
            "fixed" => InputKind::Fixed,
            "inverse_wishart" => InputKind::InverseWishart,
            "gram" => InputKind::Gram,
            other => return Err(unknown("input layer", other, "fixed, inverse_wishart and gram")),
        };
        let layer = |l: &LayerDescription| {
            let process = match (l.process.as_str(), l.width) {
                ("deterministic", None) => ProcessKind::Deterministic,
                ("inverse_wishart", None) => ProcessKind::InverseWishart,
                ("features", Some(width)) => ProcessKind::Features { width },
                (other, _) => return Err(unknown("process", other, "deterministic, inverse_wishart and features")),
            };
            Ok(Layer { kernel: kernels::named(&l.kernel)?.into(), process })
        };
        Ok(Architecture {
            scale_features: self.scale_features,
            input,
            layers: self.layers.iter().map(layer).collect::<Result<_, _>>()?,
            output: kernels::named(&self.output)?.into(),
            likelihood: likelihoods::named(&self.likelihood)?.into(),
            share_precision: self.share_precision,
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
    let (features, inducing) =
        shape(crate::model::INDUCING_INPUTS).ok_or_else(|| "it has no inducing inputs".to_string())?;
    if features == 0 || inducing == 0 {
        return Err("it has no inducing inputs".to_string());
    }
    let layout = architecture.layout(features, inducing);
    for (name, rows, cols) in &layout {
        match shape(name) {
            Some(found) if found == (*rows, *cols) => {}
            Some((r, c)) => return Err(format!("parameter \"{name}\" is {r}×{c} instead of {rows}×{cols}")),
            None => return Err(format!("parameter \"{name}\" is missing")),
        }
    }
    match parameters.iter().find(|p| layout.iter().all(|(name, ..)| *name != p.name)) {
        Some(p) => Err(format!("the model has no parameter \"{}\"", p.name)),
        None => Ok(()),
    }
}
