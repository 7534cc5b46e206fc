//! Where training starts: near a limit in which nothing is drawn, with scales from the data.

use super::inducing::choose;
use super::limit::{PassOn, follow, inherit, limit_of};
use super::matrices::{columns, evaluate, factor, is_regular, linear_kernel, median_distance};
use super::{Options, Record, Trainer};
use crate::data::Dataset;
use crate::kernels::Kernel;
use crate::model::{Architecture, INDUCING_INPUTS, InputKind, Mismatch, Model, ProcessKind, noise_name};
use crate::params::{self, Constraint, Parameters};
use dkp_tape::random::Key;
use faer::{Mat, MatRef};

/// Why a model cannot be made for some data.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Targets that the likelihood cannot have.
    #[error(transparent)]
    Data(#[from] Mismatch),
    /// A layer without features.
    #[error("layer {layer} has no features; a deep Gaussian process needs at least one")]
    NoFeatures {
        /// The layer, from 1.
        layer: usize,
    },
    /// A parameter whose start is not allowed.
    #[error(transparent)]
    Parameter(#[from] params::Error),
}

/// How a model starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Inducing points, at most.
    pub inducing: usize,
    /// δ of hidden inverse-Wishart layers: large, so that the model starts near its limit and the data lower it.
    pub delta: f64,
    /// γ of hidden inverse-Wishart layers.
    pub gamma: f64,
    /// δ and γ of the input layer.
    pub input: [f64; 2],
    /// Steps for which the limit without draws is trained first: the infinitely wide network for inverse-Wishart layers (δ → ∞), the
    /// model without the layer for features. Its parameters are the start. As many as the model itself is to take are cheap, and it need not
    /// make up for steps that its limit lacks.
    pub warm_up: u64,
    /// The seed of everything random.
    pub seed: u64,
}

impl Start {
    /// For a model that is to take some steps: its limit takes as many, and 2000 at least.
    pub fn for_steps(steps: u64) -> Start {
        let warm_up = steps.max(2000);
        Start { inducing: 100, delta: 1000.0, gamma: 1e-3, input: [5.0, 500.0], warm_up, seed: 0 }
    }
}

impl Default for Start {
    fn default() -> Start {
        Start::for_steps(Options::default().steps)
    }
}

/// What a class tells of its latent, as a variance: the logistic function's curvature is ¼ at most.
const CLASS_NOISE: f64 = 4.0;
/// Points of a step while the limit is trained.
const WARM_UP_BATCH: usize = 2000;

/// A model for data in unit scales.
///
/// Where anything in the model is drawn, its limit without draws is trained first, which is fast, and gives it its kernels,
/// inducing points, pseudo-targets and noise.
pub fn initialise(architecture: Architecture, data: &Dataset, start: Start) -> Result<Model, Error> {
    initialise_with(architecture, data, start, |_| Ok(()), |_| true)
}

/// [`initialise`] with parameters that are set, frozen or tied before anything is trained, the limit included, and a callback that sees
/// every step of the limit's training and returns whether to go on.
pub fn initialise_with<E: From<Error>>(
    architecture: Architecture,
    data: &Dataset,
    start: Start,
    adjust: impl FnOnce(&mut Parameters) -> Result<(), E>,
    watch: impl FnMut(&Record) -> bool,
) -> Result<Model, E> {
    architecture.check_targets(data).map_err(Error::from)?;
    if let Some(i) = architecture.layers.iter().position(|l| l.process == ProcessKind::Features { width: 0 }) {
        return Err(Error::NoFeatures { layer: i + 1 }.into());
    }
    let mut model = cold_start(architecture, data, start)?;
    let cold = model.parameters().clone();
    adjust(model.parameters_mut())?;
    if start.warm_up > 0 && !model.architecture().is_deterministic() {
        let mut limit = cold_start(limit_of(model.architecture()), data, start)?;
        inherit(limit.parameters_mut(), &cold, model.parameters())?;
        let options =
            Options { steps: start.warm_up, batch: Some(WARM_UP_BATCH), seed: start.seed, ..Options::default() };
        // data that the limit cannot be trained on leave the cold start
        if Trainer::new(&mut limit, data, options).map_err(Error::from)?.run(watch).is_ok() {
            follow(&mut model, &limit)?;
        }
    }
    Ok(model)
}

/// A model with scales from the data.
fn cold_start(mut architecture: Architecture, data: &Dataset, start: Start) -> Result<Model, Error> {
    let chosen = choose(data, start.inducing.max(1), Key::new(start.seed));
    let (features, m) = (data.features(), chosen.len());
    let inducing: Vec<f64> = chosen.iter().flat_map(|&n| data.x(n)).copied().collect();
    let mut p = Parameters::default();
    p.add(INDUCING_INPUTS, features, m, Constraint::Free, &inducing)?;
    if architecture.scale_features {
        p.add("features.scale", features, 1, Constraint::Free, &vec![1.0; features])?;
        p.add("features.bias", features, 1, Constraint::Free, &vec![0.0; features])?;
    }
    // what the limit has at the inducing points
    let mut gram = linear_kernel(&inducing, features);
    if architecture.input == InputKind::InverseWishart && features > m && is_regular(&gram) {
        architecture.input = InputKind::Gram;
    }
    match architecture.input {
        InputKind::Fixed => {}
        InputKind::InverseWishart => {
            add_inverse_wishart(&mut p, "input", start.input, &Mat::identity(features, features))?;
        }
        InputKind::Gram => add_inverse_wishart(&mut p, "input", start.input, &factor(&gram))?,
    }
    for (i, layer) in architecture.layers.iter().enumerate() {
        let prefix = format!("layer {}", i + 1);
        if let ProcessKind::Features { width } = layer.process {
            let pass = PassOn::new(&gram, width);
            add_kernel(&mut p, &prefix, &*layer.kernel, &pass.kernel_parameters(&*layer.kernel))?;
            add_posterior(&mut p, &prefix, &pass.targets, width, 1, pass.noise)?;
            gram = pass.gram;
            continue;
        }
        let values = scaled_parameters(&*layer.kernel, &gram);
        add_kernel(&mut p, &prefix, &*layer.kernel, &values)?;
        gram = evaluate(&*layer.kernel, &values, &gram);
        if layer.process == ProcessKind::InverseWishart {
            add_inverse_wishart(&mut p, &prefix, [start.delta, start.gamma], &factor(&gram))?;
        }
    }
    add_kernel(&mut p, "output", &*architecture.output, &scaled_parameters(&*architecture.output, &gram))?;
    let latents = architecture.likelihood.latents();
    let learned = architecture.likelihood.parameters();
    let has_noise = learned.iter().any(|p| p.name == "noise" || p.name == "scale");
    let noise = if has_noise { residual_variance(data, &chosen) } else { CLASS_NOISE };
    let targets: Vec<f64> = chosen.iter().flat_map(|&n| architecture.likelihood.initial(data.y(n))).collect();
    let targets = MatRef::from_column_major_slice(&targets, latents, m).transpose().to_owned();
    // a pseudo-target stands for N/M points
    let deviation = (noise * m as f64 / data.points() as f64).sqrt();
    let count = if architecture.share_precision { 1 } else { latents };
    add_posterior(&mut p, "output", &columns(&targets), latents, count, deviation)?;
    for parameter in learned {
        let value = match parameter.name {
            "noise" => noise.max(2.0 * parameter.floor),
            "scale" => noise.sqrt().max(2.0 * parameter.floor),
            _ => parameter.initial,
        };
        let name = format!("likelihood.{}", parameter.name);
        p.add(&name, parameter.rows, 1, Constraint::Above(parameter.floor), &vec![value; parameter.rows])?;
    }
    Ok(Model::new(architecture, p))
}

/// The posterior starts with the kernel of the infinitely wide network as its mean: UUᵀ = K.
fn add_inverse_wishart(
    p: &mut Parameters,
    prefix: &str,
    [delta, gamma]: [f64; 2],
    root: &Mat<f64>,
) -> Result<(), Error> {
    p.add(&format!("{prefix}.delta"), 1, 1, Constraint::Positive, &[delta])?;
    p.add(&format!("{prefix}.gamma"), 1, 1, Constraint::Positive, &[gamma])?;
    p.add(&format!("{prefix}.root"), root.nrows(), root.ncols(), Constraint::Free, &columns(root))?;
    Ok(())
}

fn add_posterior(
    p: &mut Parameters,
    prefix: &str,
    targets: &[f64],
    outputs: usize,
    precisions: usize,
    deviation: f64,
) -> Result<(), Error> {
    let m = targets.len() / outputs;
    p.add(&format!("{prefix}.targets"), m, outputs, Constraint::Free, targets)?;
    for i in 0..precisions {
        p.add(&noise_name(prefix, "diagonal", i), m, 1, Constraint::Positive, &vec![deviation; m])?;
        p.add(&noise_name(prefix, "below", i), m, m, Constraint::Free, &vec![0.0; m * m])?;
    }
    Ok(())
}

fn add_kernel(p: &mut Parameters, prefix: &str, kernel: &dyn Kernel, values: &[f64]) -> Result<(), Error> {
    for (name, &value) in kernel.parameters().iter().zip(values) {
        p.add(&format!("{prefix}.kernel.{name}"), 1, 1, Constraint::Positive, &[value])?;
    }
    Ok(())
}

/// A kernel's parameters: 1, but for lengthscales, which are the median distance.
fn scaled_parameters(kernel: &dyn Kernel, gram: &Mat<f64>) -> Vec<f64> {
    let lengthscale = median_distance(gram).sqrt();
    kernel.parameters().iter().map(|name| if name.ends_with("lengthscale") { lengthscale } else { 1.0 }).collect()
}

/// The variance of noise, robustly: from differences between the targets of neighbouring points, of which half may be signal.
fn residual_variance(data: &Dataset, chosen: &[usize]) -> f64 {
    let distance = |a: usize, b: usize| data.x(a).iter().zip(data.x(b)).map(|(p, q)| (p - q).powi(2)).sum::<f64>();
    let stride = data.points().div_ceil(2000);
    let mut differences: Vec<f64> = Vec::new();
    for &n in chosen {
        let others = (0..data.points()).step_by(stride).filter(|&o| o != n);
        let Some(nearest) = others.min_by(|&a, &b| distance(n, a).total_cmp(&distance(n, b))) else { continue };
        let pairs = data.y(n).iter().zip(data.y(nearest));
        differences.extend(pairs.map(|(a, b)| (a - b).abs()).filter(|d| d.is_finite()));
    }
    differences.sort_by(f64::total_cmp);
    // the median of |N(0, 2σ²)| is 0.954σ
    let median = differences.get(differences.len() / 2).copied().unwrap_or(0.3);
    if median > 0.0 {
        return (0.5 * (median / 0.954).powi(2)).clamp(1e-2, 0.5);
    }
    // most neighbours' targets are equal, as grades are: the mean of the lower nine tenths of N(0, 2σ²)'s squares is 1.246σ²
    let lower = &differences[..differences.len() * 9 / 10];
    let mean = lower.iter().map(|d| d * d).sum::<f64>() / lower.len().max(1) as f64;
    (0.5 * mean / 1.246).clamp(1e-2, 0.5)
}
