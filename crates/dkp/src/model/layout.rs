//! The parameters that a model has, and what they are called.

use super::Architecture;
use crate::kernels::Kernel;
use crate::output::Posterior;
use crate::params::{Constraint, Shape};
use crate::processes::Process;

/// The inducing inputs, features × M.
pub(crate) const INDUCING_INPUTS: &str = "inducing.inputs";
/// Scales and biases of the features.
pub(crate) const FEATURE_SCALE: &str = "features.scale";
pub(crate) const FEATURE_BIAS: &str = "features.bias";
/// Parts of a model, within which their parameters have their own names.
pub(crate) const INPUT: &str = "input";
pub(crate) const OUTPUT: &str = "output";
pub(crate) const LIKELIHOOD: &str = "likelihood";

/// A hidden layer, from 0.
pub(crate) fn layer_name(i: usize) -> String {
    format!("layer {}", i + 1)
}

/// The parameters of a kernel in some part of a model.
pub(crate) fn of_kernel(part: &str, kernel: &dyn Kernel) -> Vec<Shape> {
    let names = kernel.parameters().into_iter();
    names.map(|n| Shape::new(n, 1, 1, Constraint::Positive).within(&format!("{part}.kernel"))).collect()
}

/// The parameters of a process in some part of a model.
pub(crate) fn of_process(part: &str, process: &dyn Process, size: usize) -> Vec<Shape> {
    process.parameters(size).into_iter().map(|s| s.within(part)).collect()
}

impl Architecture {
    /// What parameters a model with this many features and inducing points has, in their order.
    pub(crate) fn layout(&self, features: usize, inducing: usize) -> Vec<Shape> {
        let mut all = vec![Shape::new(INDUCING_INPUTS, features, inducing, Constraint::Free)];
        if self.scale_features {
            all.extend([FEATURE_SCALE, FEATURE_BIAS].map(|n| Shape::new(n, features, 1, Constraint::Free)));
        }
        if let Some(process) = self.input.process() {
            all.extend(of_process(INPUT, &**process, self.input.size(features, inducing)));
        }
        for (i, layer) in self.layers.iter().enumerate() {
            all.extend(of_kernel(&layer_name(i), &*layer.kernel));
            all.extend(of_process(&layer_name(i), &*layer.process, inducing));
        }
        all.extend(of_kernel(OUTPUT, &*self.output));
        all.extend(self.of_output(inducing));
        all.extend(self.of_likelihood());
        all
    }

    /// The parameters of the output layer, without its kernel.
    pub(crate) fn of_output(&self, inducing: usize) -> Vec<Shape> {
        let own = Posterior::parameters(inducing, self.likelihood.latents(), self.pseudo_noises(1.0).len());
        own.into_iter().map(|s| s.within(OUTPUT)).collect()
    }

    /// The parameters of the likelihood.
    pub(crate) fn of_likelihood(&self) -> Vec<Shape> {
        let own = self.likelihood.parameters().into_iter();
        own.map(|p| Shape::new(p.name, p.rows, 1, Constraint::Above(p.floor)).within(LIKELIHOOD)).collect()
    }

    /// The names of parameters that say how closely the input layer's and the hidden layers' draws follow their kernels: for each layer, if
    /// it has one.
    pub fn concentrations(&self) -> Vec<Option<String>> {
        let name = |part: &str, p: &dyn Process| p.concentration().map(|n| format!("{part}.{n}"));
        let input = self.input.process().and_then(|p| name(INPUT, &**p));
        let layers = self.layers.iter().enumerate().map(|(i, l)| name(&layer_name(i), &*l.process));
        std::iter::once(input).chain(layers).collect()
    }
}
