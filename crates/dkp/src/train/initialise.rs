//! Where training starts: near the infinitely wide network, with scales from the data.

use super::inducing::choose;
use super::{Options, Trainer};
use crate::data::Dataset;
use crate::gram::Block;
use crate::kernels::Kernel;
use crate::model::{Architecture, INDUCING_INPUTS, InputKind, Layer, Mismatch, Model, ProcessKind, precision_name};
use crate::params::{self, Constraint, Parameters};
use dkp_tape::random::{Key, fill_normal};
use dkp_tape::{Node, Pass, Tape};
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
    /// Steps for which the infinitely wide network, which is the limit δ → ∞, is trained first: its parameters are the start. As many as the
    /// model itself is to take are cheap, and it need not make up for steps that its limit lacks.
    pub warm_up: u64,
    /// The seed of everything random.
    pub seed: u64,
}

impl Default for Start {
    fn default() -> Start {
        Start { inducing: 100, delta: 1000.0, gamma: 1e-3, input: [5.0, 500.0], warm_up: 8000, seed: 0 }
    }
}

/// What a class tells of its latent, as a variance: the logistic function's curvature is ¼ at most.
const CLASS_NOISE: f64 = 4.0;
/// Points of a step while the infinitely wide network is trained.
const WARM_UP_BATCH: usize = 2000;

/// A model for data in unit scales.
///
/// Where the model has inverse-Wishart layers, its limit without them is trained first, which is fast, and gives it its kernels,
/// inducing points, pseudo-targets and noise. So it starts from a bound that is close to that of its limit.
pub fn initialise(architecture: Architecture, data: &Dataset, start: Start) -> Result<Model, Error> {
    architecture.check_targets(data)?;
    if let Some(i) = architecture.layers.iter().position(|l| l.process == ProcessKind::Features { width: 0 }) {
        return Err(Error::NoFeatures { layer: i + 1 });
    }
    let mut model = cold_start(architecture, data, start)?;
    let a = model.architecture();
    let has_limit =
        !a.is_deterministic() && a.layers.iter().all(|l| !matches!(l.process, ProcessKind::Features { .. }));
    if start.warm_up > 0 && has_limit {
        let layers = a.layers.iter().map(|l| Layer { process: ProcessKind::Deterministic, ..l.clone() }).collect();
        let mut limit = cold_start(Architecture { input: InputKind::Fixed, layers, ..a.clone() }, data, start)?;
        let options =
            Options { steps: start.warm_up, batch: Some(WARM_UP_BATCH), seed: start.seed, ..Options::default() };
        // data that the limit cannot be trained on leave the cold start
        if Trainer::new(&mut limit, data, options)?.run(|_| true).is_ok() {
            follow(&mut model, &limit)?;
        }
    }
    Ok(model)
}

/// Takes over the parameters of the limit δ → ∞, and centres the posteriors on its kernels.
fn follow(model: &mut Model, limit: &Model) -> Result<(), Error> {
    let architecture = model.architecture().clone();
    let p = model.parameters_mut();
    for parameter in limit.parameters().iter() {
        p.set(&parameter.name, &limit.parameters().get(&parameter.name)?)?;
    }
    let mut x = p.get(INDUCING_INPUTS)?;
    let m = p.get("output.precision.diagonal")?.len();
    let features = x.len() / m;
    if architecture.scale_features {
        let (scale, bias) = (p.get("features.scale")?, p.get("features.bias")?);
        x.iter_mut().enumerate().for_each(|(i, x)| *x = (*x + bias[i % features]) * scale[i % features]);
    }
    let mut gram = linear_kernel(&x, features);
    if architecture.input == InputKind::Gram {
        p.set("input.root", &columns(&factor(&gram)))?;
    }
    for (i, layer) in architecture.layers.iter().enumerate() {
        let names = layer.kernel.parameters();
        let values: Result<Vec<f64>, Error> =
            names.iter().map(|n| Ok(p.get(&format!("layer {}.kernel.{n}", i + 1))?[0])).collect();
        gram = evaluate(&*layer.kernel, &values?, &gram);
        if layer.process == ProcessKind::InverseWishart {
            p.set(&format!("layer {}.root", i + 1), &columns(&factor(&gram)))?;
        }
    }
    Ok(())
}

/// XᵀX/N₀ over points that are columns.
fn linear_kernel(x: &[f64], features: usize) -> Mat<f64> {
    let x = MatRef::from_column_major_slice(x, features, x.len() / features);
    faer::Scale(1.0 / features as f64) * (x.transpose() * x)
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
    // the tower of the infinitely wide network at the inducing points
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
        gram = add_kernel(&mut p, &format!("{prefix}.kernel"), &*layer.kernel, &gram)?;
        match layer.process {
            ProcessKind::Deterministic => {}
            ProcessKind::InverseWishart => {
                add_inverse_wishart(&mut p, &prefix, [start.delta, start.gamma], &factor(&gram))?
            }
            ProcessKind::Features { width } => {
                let targets = project(&inducing, features, width, Key::new(start.seed), i as u32);
                add_posterior(&mut p, &prefix, &targets, width, 1, 3.0)?;
            }
        }
    }
    add_kernel(&mut p, "output.kernel", &*architecture.output, &gram)?;
    let latents = architecture.likelihood.latents();
    let learned = architecture.likelihood.parameters();
    let has_noise = learned.iter().any(|p| p.name == "noise" || p.name == "scale");
    let noise = if has_noise { residual_variance(data, &chosen) } else { CLASS_NOISE };
    let targets: Vec<f64> = chosen.iter().flat_map(|&n| architecture.likelihood.initial(data.y(n))).collect();
    let targets = MatRef::from_column_major_slice(&targets, latents, m).transpose().to_owned();
    // a pseudo-target stands for N/M points
    let precision = (data.points() as f64 / m as f64 / noise).sqrt();
    let count = if architecture.share_precision { 1 } else { latents };
    add_posterior(&mut p, "output", &columns(&targets), latents, count, precision)?;
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

fn columns(m: &Mat<f64>) -> Vec<f64> {
    m.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect()
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
    precision: f64,
) -> Result<(), Error> {
    let m = targets.len() / outputs;
    p.add(&format!("{prefix}.targets"), m, outputs, Constraint::Free, targets)?;
    for i in 0..precisions {
        p.add(&precision_name(prefix, "diagonal", i), m, 1, Constraint::Positive, &vec![precision; m])?;
        p.add(&precision_name(prefix, "below", i), m, m, Constraint::Free, &vec![0.0; m * m])?;
    }
    Ok(())
}

/// Adds a kernel's parameters, 1 but for lengthscales, which are the median distance; returns the kernel of the Gram matrix.
fn add_kernel(p: &mut Parameters, prefix: &str, kernel: &dyn Kernel, gram: &Mat<f64>) -> Result<Mat<f64>, Error> {
    let lengthscale = median_distance(gram).sqrt();
    let mut values = Vec::new();
    for name in kernel.parameters() {
        let value = if name.ends_with("lengthscale") { lengthscale } else { 1.0 };
        p.add(&format!("{prefix}.{name}"), 1, 1, Constraint::Positive, &[value])?;
        values.push(value);
    }
    Ok(evaluate(kernel, &values, gram))
}

/// The median of G_ii + G_jj − 2G_ij over pairs, or 1 where points coincide.
fn median_distance(gram: &Mat<f64>) -> f64 {
    let n = gram.nrows();
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut distances: Vec<f64> = pairs.map(|(i, j)| gram[(i, i)] + gram[(j, j)] - 2.0 * gram[(i, j)]).collect();
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
    if median > 1e-12 && median.is_finite() { median } else { 1.0 }
}

fn evaluate(kernel: &dyn Kernel, parameters: &[f64], gram: &Mat<f64>) -> Mat<f64> {
    let mut tape = Tape::new("initial kernel");
    let g = tape.input("Gram matrix", gram.nrows(), gram.ncols());
    let nodes: Vec<Node> = parameters.iter().map(|&v| tape.number(v)).collect();
    let block = Block::new(&mut tape, g);
    let k = block.kernel(&mut tape, kernel, &nodes).matrix;
    let mut run = tape.finish().workspace();
    match run.set(g, gram.as_ref()).and_then(|()| run.forward(Key::new(0), Pass::Value)) {
        Ok(()) => run.value(k).to_owned(),
        Err(_) => Mat::identity(gram.nrows(), gram.ncols()),
    }
}

/// Whether a Gram matrix is safely positive definite.
fn is_regular(gram: &Mat<f64>) -> bool {
    let n = gram.nrows();
    let mean = (0..n).map(|i| gram[(i, i)]).sum::<f64>() / n as f64;
    let reduced = Mat::from_fn(n, n, |i, j| gram[(i, j)] - if i == j { 1e-6 * mean } else { 0.0 });
    mean > 0.0 && reduced.llt(faer::Side::Lower).is_ok()
}

/// L with LLᵀ = K, with a little added to a singular K.
fn factor(k: &Mat<f64>) -> Mat<f64> {
    let n = k.nrows();
    let mean = (0..n).map(|i| k[(i, i)]).sum::<f64>() / n as f64;
    let mut jitter = 1e-6;
    while jitter < 1e3 {
        let shifted = Mat::from_fn(n, n, |i, j| k[(i, j)] + if i == j { jitter * mean } else { 0.0 });
        if let Ok(factor) = shifted.llt(faer::Side::Lower) {
            return factor.L().to_owned();
        }
        jitter *= 10.0;
    }
    Mat::identity(n, n)
}

/// Features that a deep Gaussian process's layer starts with: the inputs themselves, and random mixtures where it is wider.
fn project(inducing: &[f64], features: usize, width: usize, key: Key, layer: u32) -> Vec<f64> {
    let m = inducing.len() / features;
    let mut weights = vec![0.0; features * width];
    fill_normal(key.stream(u32::MAX, 2 + layer), features, |j| j as u64, &mut weights);
    let weight = |f: usize, w: usize| match w {
        w if w < features => {
            if f == w {
                1.0
            } else {
                0.0
            }
        }
        w => weights[w * features + f] / (features as f64).sqrt(),
    };
    let value = |i: usize, w: usize| (0..features).map(|f| inducing[i * features + f] * weight(f, w)).sum::<f64>();
    (0..width).flat_map(|w| (0..m).map(move |i| (i, w))).map(|(i, w)| value(i, w)).collect()
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
