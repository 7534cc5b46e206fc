//! The limit of a model in which nothing is drawn, and how the model starts from it.

use super::StartError;
use super::initialise::{input_start, layers_start};
use crate::gram::numbers::linear_kernel;
use crate::model::layout::{self, FEATURE_BIAS, FEATURE_SCALE, INDUCING_INPUTS, INPUT, layer_name};
use crate::model::{Architecture, Layer, Model};
use crate::params::{Parameters, Shape};
use crate::processes::{Deterministic, Input};
use std::sync::Arc;

/// The limit: each layer's kernel and process become the kernel that the process names, and the input is fixed.
pub(super) fn limit_of(a: &Architecture) -> Architecture {
    let layers = a.layers.iter().map(|layer| {
        let kernel = layer.process.limit(&layer.kernel);
        Layer { kernel, process: Arc::new(Deterministic) as _ }
    });
    Architecture { input: Input::Fixed, layers: layers.collect(), ..a.clone() }
}

/// Carries over to the limit which of a model's parameters have been set, frozen or tied since its cold start.
pub(super) fn inherit(limit: &mut Parameters, cold: &Parameters, adjusted: &Parameters) -> Result<(), StartError> {
    let names: Vec<String> = limit.iter().map(|p| p.name.clone()).collect();
    for name in &names {
        if let Some(with) = adjusted.tied(name).filter(|with| limit.get(with).is_ok()) {
            limit.tie(name, with)?;
        }
    }
    for parameter in adjusted.iter().filter(|p| names.contains(&p.name)) {
        let (name, values) = (&parameter.name, adjusted.get(&parameter.name)?);
        if parameter.frozen || values != cold.get(name)? {
            limit.set(name, &values)?;
        }
        if parameter.frozen {
            limit.freeze(name, true)?;
        }
    }
    Ok(())
}

/// Takes over the parameters of the limit, and lets layers start from its Gram matrices; what has been set, frozen or tied since the cold
/// start stays so.
pub(super) fn follow(model: &mut Model, cold: &Parameters, limit: &Model) -> Result<(), StartError> {
    let architecture = model.architecture().clone();
    let adjusted = model.parameters().clone();
    let p = model.parameters_mut();
    for parameter in limit.parameters().iter() {
        p.set(&parameter.name, &limit.parameters().get(&parameter.name)?)?;
    }
    let mut x = p.get(INDUCING_INPUTS)?;
    let (features, m) = p.iter().find(|p| p.name == INDUCING_INPUTS).map_or((1, 1), |p| (p.rows, p.cols));
    if architecture.scale_features {
        let (scale, bias) = (p.get(FEATURE_SCALE)?, p.get(FEATURE_BIAS)?);
        x.iter_mut().enumerate().for_each(|(i, x)| *x = (*x + bias[i % features]) * scale[i % features]);
    }
    let gram = linear_kernel(&x, features);
    let mut shapes: Vec<Shape> = Vec::new();
    if let Some(process) = architecture.input.process() {
        shapes.extend(layout::of_process(INPUT, &**process, architecture.input.size(features, m)));
    }
    let mut values = input_start(&architecture, &x, &gram, features)?;
    let trained = p.clone();
    let (of_layers, _) = layers_start(&architecture, gram, |i, kernel, _| {
        let names = layout::of_kernel(&layer_name(i), kernel);
        names.iter().map(|s| Ok(trained.get(&s.name)?[0])).collect()
    })?;
    values.extend(of_layers);
    for (i, layer) in architecture.layers.iter().enumerate() {
        shapes.extend(layout::of_kernel(&layer_name(i), &*layer.kernel));
        shapes.extend(layout::of_process(&layer_name(i), &*layer.process, m));
    }
    let known: Vec<String> = limit.parameters().iter().map(|p| p.name.clone()).collect();
    for (Shape { name, .. }, values) in shapes.iter().zip(&values).filter(|(s, _)| !known.contains(&s.name)) {
        let free = p.free().any(|own| own.name == *name);
        if free && adjusted.get(name)? == cold.get(name)? {
            p.set(name, values)?;
        }
    }
    Ok(())
}
