//! Where training starts: near a limit in which nothing is drawn, with scales from the data.

use super::inducing::choose;
use super::limit::{follow, inherit, limit_of};
use super::{Step, TrainOptions, Trainer, TrainingError};
use crate::data::Dataset;
use crate::gram::numbers::{columns, is_regular, linear_kernel, median_distance, moments, root_of};
use crate::kernels::Kernel;
use crate::likelihoods::{Likelihood, ParameterStart};
use crate::model::layout::layer_name;
use crate::model::{Architecture, Mismatch, Model, cause};
use crate::output::Posterior;
use crate::params::{self, Parameters};
use crate::processes::{Before, Input, OutOfRange, Process};
use dkp_tape::Failure;
use dkp_tape::random::Key;
use faer::{Mat, MatRef};
use std::sync::Arc;

/// Why a model cannot be made for some data.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Targets that the likelihood cannot have.
    #[error(transparent)]
    Data(#[from] Mismatch),
    /// A parameter whose start is not allowed.
    #[error(transparent)]
    Parameter(#[from] params::Error),
    /// A process with a number outside its range.
    #[error("{} of {layer} must be {}, but is {}", error.what, error.expected, error.value)]
    Process {
        /// The layer.
        layer: String,
        /// The number.
        error: OutOfRange,
    },
    /// A layer that has no start.
    #[error("{layer} cannot start: {}", cause(&failure.problem))]
    Layer {
        /// The layer.
        layer: String,
        /// Why.
        failure: Failure,
    },
    /// The limit could not be trained.
    #[error("the limit from which the model starts could not be trained: {0}")]
    Limit(#[from] TrainingError),
}

/// How a model starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Inducing points, at most.
    pub inducing: usize,
    /// Steps for which the limit without draws is trained first: the infinitely wide network for inverse-Wishart layers (δ → ∞), the
    /// model without the layer for features and Wishart layers. Its parameters are the start. As many as the model itself is to take are
    /// cheap, and it need not make up for steps that its limit lacks.
    pub warm_up: u64,
    /// The weight of divergences while the limit is trained, as in [`TrainOptions`].
    pub temperature: f64,
    /// The seed of everything random.
    pub seed: u64,
}

impl Start {
    /// For a model that is to take some steps: its limit takes as many, and 2000 at least.
    pub fn for_steps(steps: u64) -> Start {
        Start { inducing: 100, warm_up: steps.max(2000), temperature: 1.0, seed: 0 }
    }
}

impl Default for Start {
    fn default() -> Start {
        Start::for_steps(TrainOptions::default().steps)
    }
}

/// What a class tells of its latent, as a variance: the logistic function's curvature is ¼ at most.
const CLASS_NOISE: f64 = 4.0;

/// A model before its first step.
pub struct Started {
    /// The model.
    pub model: Model,
    /// Why it does not start from its limit, if so: it then starts from the scales of the data alone.
    pub without_limit: Option<StartError>,
}

/// A model for data in unit scales.
///
/// Where anything in the model is drawn, its limit without draws is trained first, which is fast, and gives it its kernels,
/// inducing points, pseudo-targets and noise.
pub fn initialise(architecture: Architecture, data: &Dataset, start: Start) -> Result<Model, StartError> {
    let started = initialise_with(architecture, data, start, |_| Ok::<(), StartError>(()), |_| true)?;
    started.without_limit.map_or(Ok(started.model), Err)
}

/// [`initialise`] with parameters that are set, frozen or tied before anything is trained, the limit included, and a callback that sees
/// every step of the limit's training and returns whether to go on.
pub fn initialise_with<E: From<StartError>>(
    architecture: Architecture,
    data: &Dataset,
    start: Start,
    adjust: impl FnOnce(&mut Parameters) -> Result<(), E>,
    watch: impl FnMut(&Step) -> bool,
) -> Result<Started, E> {
    architecture.check_targets(data).map_err(StartError::from)?;
    check_processes(&architecture)?;
    let place = Placed::new(data, start);
    let input = suited(architecture.input, &place);
    let architecture = Architecture { input, ..architecture };
    let mut model = place.cold_start(architecture.clone())?;
    let cold = model.parameters().clone();
    adjust(model.parameters_mut())?;
    let adjusted = model.parameters().clone();
    let mut without_limit = None;
    if start.warm_up > 0 && !architecture.is_deterministic() {
        let mut limit = place.cold_start(limit_of(&architecture))?;
        inherit(limit.parameters_mut(), &cold, model.parameters())?;
        let Start { warm_up: steps, temperature, seed, .. } = start;
        let options = TrainOptions { steps, temperature, seed, ..TrainOptions::of_limit() };
        match Trainer::new(&mut limit, data, options).map_err(StartError::from)?.run(watch) {
            Ok(()) => without_limit = follow(&mut model, &cold, &limit).err(),
            Err(error) => without_limit = Some(error.into()),
        }
        if without_limit.is_some() {
            // nothing of what was taken over before the failure
            model = place.cold_start(architecture)?;
            *model.parameters_mut() = adjusted;
        }
    }
    Ok(Started { model, without_limit })
}

fn check_processes(architecture: &Architecture) -> Result<(), StartError> {
    let input = architecture.input.process().map(|p| ("the input layer".to_string(), p));
    let layers = architecture.layers.iter().enumerate().map(|(i, l)| (layer_name(i), &l.process));
    let mut all = input.into_iter().chain(layers);
    all.try_for_each(|(layer, p)| p.check().map_err(|error| StartError::Process { layer, error }))
}

/// Ω, or its equivalent for more features than inducing points, where these allow it.
fn suited(input: Input<Arc<dyn Process>>, place: &Placed<'_>) -> Input<Arc<dyn Process>> {
    match input {
        Input::Omega(process)
            if process.has_gram_form() && place.data.features() > place.chosen.len() && is_regular(&place.gram) =>
        {
            Input::Gram(process)
        }
        other => other,
    }
}

/// Data, and where inducing points start among them.
struct Placed<'a> {
    data: &'a Dataset,
    /// The points that inducing ones start at.
    chosen: Vec<usize>,
    /// Their features, by columns.
    inputs: Vec<f64>,
    /// And their Gram matrix.
    gram: Mat<f64>,
}

impl Placed<'_> {
    fn new(data: &Dataset, start: Start) -> Placed<'_> {
        let chosen = choose(data, start.inducing.max(1), Key::new(start.seed));
        let inputs: Vec<f64> = chosen.iter().flat_map(|&n| data.x(n)).copied().collect();
        let gram = linear_kernel(&inputs, data.features());
        Placed { data, chosen, inputs, gram }
    }

    /// A model with scales from the data.
    fn cold_start(&self, architecture: Architecture) -> Result<Model, StartError> {
        let (features, m) = (self.data.features(), self.chosen.len());
        let layout = architecture.layout(features, m);
        let mut values = vec![self.inputs.clone()];
        if architecture.scale_features {
            values.extend([vec![1.0; features], vec![0.0; features]]);
        }
        values.extend(input_start(&architecture, &self.inputs, &self.gram, features)?);
        let (of_layers, gram) = layers_start(&architecture, self.gram.clone(), |_, kernel, gram| {
            Ok(kernel.start(median_distance(gram).sqrt(), 1.0))
        })?;
        values.extend(of_layers);
        let kernel = architecture.output.start(median_distance(&gram).sqrt(), 1.0);
        values.extend(kernel.into_iter().map(|v| vec![v]));
        let learned = architecture.likelihood.parameters();
        let has_noise = learned.iter().any(|p| !matches!(p.start, ParameterStart::At(_)));
        let noise = if has_noise { residual_variance(self.data, &self.chosen) } else { CLASS_NOISE };
        // a pseudo-target stands for N/M points
        let deviation = (noise * m as f64 / self.data.points() as f64).sqrt();
        let targets = self.pseudo_targets(&*architecture.likelihood);
        values.extend(Posterior::start(&targets, m, &architecture.pseudo_noises(deviation)));
        values.extend(learned.iter().map(|p| {
            let value = match p.start {
                ParameterStart::At(value) => value,
                ParameterStart::NoiseVariance => noise.max(2.0 * p.floor),
                ParameterStart::NoiseDeviation => noise.sqrt().max(2.0 * p.floor),
            };
            vec![value; p.rows]
        }));
        let mut parameters = Parameters::default();
        for (shape, values) in layout.iter().zip(&values) {
            parameters.add(&shape.name, shape.rows, shape.cols, shape.constraint, values)?;
        }
        Ok(Model::new(architecture, parameters))
    }

    /// The targets of the chosen points as latents, M×latents by columns.
    fn pseudo_targets(&self, likelihood: &dyn Likelihood) -> Vec<f64> {
        let targets: Vec<f64> = self.chosen.iter().flat_map(|&n| likelihood.initial(self.data.y(n))).collect();
        let by_point = MatRef::from_column_major_slice(&targets, likelihood.latents(), self.chosen.len());
        columns(&by_point.transpose().to_owned())
    }
}

/// The parameters of the input layer's process, for inducing inputs, by columns, and their Gram matrix.
pub(super) fn input_start(
    architecture: &Architecture,
    inputs: &[f64],
    gram: &Mat<f64>,
    features: usize,
) -> Result<Vec<Vec<f64>>, StartError> {
    let start = || match &architecture.input {
        Input::Fixed => Ok(Vec::new()),
        Input::Omega(process) => process.around_identity(&moments(inputs, features)),
        Input::Gram(process) => process.around(&root_of(gram)?),
    };
    start().map_err(|failure| StartError::Layer { layer: "the input layer".to_string(), failure })
}

/// The parameters of hidden layers, kernels' included, in their order, and the Gram matrix that the output's kernel sees; `kernel` offers a
/// layer's kernel its parameters.
pub(super) fn layers_start(
    architecture: &Architecture,
    mut gram: Mat<f64>,
    kernel: impl Fn(usize, &dyn Kernel, &Mat<f64>) -> Result<Vec<f64>, StartError>,
) -> Result<(Vec<Vec<f64>>, Mat<f64>), StartError> {
    let mut values = Vec::new();
    for (i, layer) in architecture.layers.iter().enumerate() {
        let parameters = kernel(i, &*layer.kernel, &gram)?;
        let before = Before { kernel: &*layer.kernel, parameters, gram: &gram };
        let failed = |failure| StartError::Layer { layer: layer_name(i), failure };
        let start = layer.process.start(&before).map_err(failed)?;
        values.extend(start.kernel.into_iter().map(|v| vec![v]));
        values.extend(start.own);
        gram = start.gram;
    }
    Ok((values, gram))
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
