//! The limit of a model in which nothing is drawn, and how the model starts from it.

use super::StartError;
use super::matrices::{columns, evaluate, factor, linear_kernel, median_distance, principal_features};
use crate::gram::{Block, white};
use crate::kernels::{Identity, Kernel};
use crate::model::{Architecture, INDUCING_INPUTS, InputKind, Layer, Model, ProcessKind, noise_name};
use crate::params::Parameters;
use dkp_tape::{Node, Tape};
use faer::Mat;
use std::sync::Arc;

/// Lengthscale of a kernel whose features pass on a Gram matrix, relative to the median distance: long enough for nearly linear
/// functions to be likely. 1.5 and 4 ended with similar bounds.
const LENGTHSCALE: f64 = 2.0;
/// The noise of such features' pseudo-targets, a standard deviation, relative to the median distance. The features, as smooth
/// functions of many points, are more precise than each target. 1 is too noisy a start, and from 1/30 down the divergence is costly.
const NOISE: f64 = 1.0 / 3.0;

/// A kernel with the white noise that an inverse-Wishart layer sees in it.
struct Noisy(Arc<dyn Kernel>);

impl Kernel for Noisy {
    fn name(&self) -> String {
        self.0.name()
    }

    fn parameters(&self) -> Vec<String> {
        self.0.parameters()
    }

    fn symmetric(&self, tape: &mut Tape, g: Node, parameters: &[Node]) -> Node {
        let k = self.0.symmetric(tape, g, parameters);
        let block = Block::new(tape, k);
        white::noisy(tape, block)
    }

    fn cross(&self, tape: &mut Tape, g: Node, rows: Node, cols: Node, parameters: &[Node]) -> Node {
        self.0.cross(tape, g, rows, cols, parameters)
    }

    fn diagonal(&self, tape: &mut Tape, d: Node, parameters: &[Node]) -> Node {
        let k = self.0.diagonal(tape, d, parameters);
        tape.affine(k, 1.0 + white::WHITE, 0.0)
    }
}

/// The limit: an inverse-Wishart layer becomes its kernel (δ → ∞), and a layer of features passes on the Gram matrix that its
/// kernel sees, so that it may as well not be there.
pub(super) fn limit_of(a: &Architecture) -> Architecture {
    let layers = a.layers.iter().map(|layer| {
        let kernel: Arc<dyn Kernel> = match layer.process {
            ProcessKind::Features { .. } => Arc::new(Identity),
            ProcessKind::InverseWishart => Arc::new(Noisy(layer.kernel.clone())),
            ProcessKind::Deterministic => layer.kernel.clone(),
        };
        Layer { kernel, process: ProcessKind::Deterministic }
    });
    Architecture { input: InputKind::Fixed, layers: layers.collect(), ..a.clone() }
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

/// Sets what is not frozen.
fn set_free(p: &mut Parameters, name: &str, values: &[f64]) -> Result<(), StartError> {
    if p.free().any(|own| own.name == name) {
        p.set(name, values)?;
    }
    Ok(())
}

/// Takes over the parameters of the limit, and centres the posteriors of hidden layers on its Gram matrices.
pub(super) fn follow(model: &mut Model, limit: &Model) -> Result<(), StartError> {
    let architecture = model.architecture().clone();
    let p = model.parameters_mut();
    for parameter in limit.parameters().iter() {
        p.set(&parameter.name, &limit.parameters().get(&parameter.name)?)?;
    }
    let mut x = p.get(INDUCING_INPUTS)?;
    let m = p.get("output.noise.diagonal")?.len();
    let features = x.len() / m;
    if architecture.scale_features {
        let (scale, bias) = (p.get("features.scale")?, p.get("features.bias")?);
        x.iter_mut().enumerate().for_each(|(i, x)| *x = (*x + bias[i % features]) * scale[i % features]);
    }
    let mut gram = linear_kernel(&x, features);
    if architecture.input == InputKind::Gram {
        set_free(p, "input.root", &columns(&factor(&gram)))?;
    }
    for (i, layer) in architecture.layers.iter().enumerate() {
        let prefix = format!("layer {}", i + 1);
        let names: Vec<String> =
            layer.kernel.parameters().iter().map(|name| format!("{prefix}.kernel.{name}")).collect();
        if let ProcessKind::Features { width } = layer.process {
            let pass = PassOn::new(&gram, width);
            for (name, value) in names.iter().zip(pass.kernel_parameters(&*layer.kernel)) {
                set_free(p, name, &[value])?;
            }
            set_free(p, &format!("{prefix}.targets"), &pass.targets)?;
            set_free(p, &noise_name(&prefix, "diagonal", 0), &vec![pass.noise; m])?;
            gram = pass.gram;
            continue;
        }
        let values: Result<Vec<f64>, StartError> = names.iter().map(|name| Ok(p.get(name)?[0])).collect();
        gram = evaluate(&*layer.kernel, &values?, &gram);
        if layer.process == ProcessKind::InverseWishart {
            set_free(p, &format!("{prefix}.root"), &columns(&factor(&gram)))?;
        }
    }
    Ok(())
}

/// How a layer of features starts: it passes on the Gram matrix that its kernel sees.
pub(super) struct PassOn {
    lengthscale: f64,
    /// M×width, by columns.
    pub targets: Vec<f64>,
    /// Their noise, a standard deviation.
    pub noise: f64,
    /// The Gram matrix of the targets: the one passed on, or for a narrow layer what it can hold of that.
    pub gram: Mat<f64>,
}

impl PassOn {
    pub fn new(gram: &Mat<f64>, width: usize) -> PassOn {
        let distance = median_distance(gram).sqrt();
        let features = principal_features(gram, width);
        PassOn {
            lengthscale: LENGTHSCALE * distance,
            targets: columns(&features),
            noise: NOISE * distance,
            gram: faer::Scale(1.0 / width as f64) * (&features * features.transpose()),
        }
    }

    /// Where a kernel has a lengthscale ℓ its height is ℓ too: short distances R then are R on average under the prior,
    /// 2h²(1 − exp(−R/2ℓ²)) ≈ R.
    pub fn kernel_parameters(&self, kernel: &dyn Kernel) -> Vec<f64> {
        let names = kernel.parameters();
        let has_lengthscale = |height: &str| {
            height.strip_suffix("height").is_some_and(|prefix| names.contains(&format!("{prefix}lengthscale")))
        };
        let value = |name: &String| match name {
            name if name.ends_with("lengthscale") || has_lengthscale(name) => self.lengthscale,
            _ => 1.0,
        };
        names.iter().map(value).collect()
    }
}
