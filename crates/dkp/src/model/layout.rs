//! The parameters that a model has.

use super::{Architecture, INDUCING_INPUTS, InputKind, ProcessKind, noise_name};
use crate::kernels::Kernel;

/// A parameter's name, rows and columns.
type Shape = (String, usize, usize);

impl Architecture {
    /// What parameters a model with this many features and inducing points has.
    pub(crate) fn layout(&self, features: usize, inducing: usize) -> Vec<Shape> {
        let mut all = vec![(INDUCING_INPUTS.to_string(), features, inducing)];
        if self.scale_features {
            all.extend(["scale", "bias"].map(|n| (format!("features.{n}"), features, 1)));
        }
        match self.input {
            InputKind::Fixed => {}
            InputKind::InverseWishart => all.extend(inverse_wishart("input", features)),
            InputKind::Gram => all.extend(inverse_wishart("input", inducing)),
        }
        for (i, layer) in self.layers.iter().enumerate() {
            let prefix = format!("layer {}", i + 1);
            all.extend(kernel(&prefix, &*layer.kernel));
            match layer.process {
                ProcessKind::Deterministic => {}
                ProcessKind::InverseWishart => all.extend(inverse_wishart(&prefix, inducing)),
                ProcessKind::Features { width } => all.extend(posterior(&prefix, inducing, width, 1)),
            }
        }
        all.extend(kernel("output", &*self.output));
        let latents = self.likelihood.latents();
        let precisions = if self.share_precision { 1 } else { latents };
        all.extend(posterior("output", inducing, latents, precisions));
        all.extend(self.likelihood.parameters().iter().map(|p| (format!("likelihood.{}", p.name), p.rows, 1)));
        all
    }
}

fn kernel(prefix: &str, kernel: &dyn Kernel) -> Vec<Shape> {
    kernel.parameters().iter().map(|n| (format!("{prefix}.kernel.{n}"), 1, 1)).collect()
}

fn inverse_wishart(prefix: &str, size: usize) -> [Shape; 3] {
    [("delta", 1), ("gamma", 1), ("root", size)].map(|(n, s)| (format!("{prefix}.{n}"), s, s))
}

fn posterior(prefix: &str, inducing: usize, outputs: usize, precisions: usize) -> Vec<Shape> {
    let mut all = vec![(format!("{prefix}.targets"), inducing, outputs)];
    for i in 0..precisions {
        all.push((noise_name(prefix, "diagonal", i), inducing, 1));
        all.push((noise_name(prefix, "below", i), inducing, inducing));
    }
    all
}
