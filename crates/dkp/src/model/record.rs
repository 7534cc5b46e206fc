//! A model as programs: a step, its draws, their tiles.

use super::architecture::{Architecture, InputKind, ProcessKind};
use crate::gram::{Block, DataBlock, white};
use crate::kernels::Kernel;
use crate::likelihoods::{Latent, Targets};
use crate::output::{Given, Posterior, Residual};
use crate::params::{ParameterNodes, Parameters};
use crate::processes::{Deterministic, Extension, Features, Input, InputDraw, InverseWishart, Process, Scaling};
use dkp_tape::{Lower, Node, Scopes, Tape};

/// How data points are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Points {
    /// One by one, in tiles of this width; with the gain of a tighter bound as a second output of a tile, or without.
    Tile { width: usize, tight: bool },
    /// This many jointly: the tile draws functions.
    Joint(usize),
}

impl Points {
    /// Whether tiles yield the gain of a tighter bound.
    pub fn are_tight(self) -> bool {
        matches!(self, Points::Tile { tight: true, .. })
    }
}

/// The programs of a model, with the nodes that its users set and read.
pub(super) struct Recorded {
    pub scopes: Scopes,
    pub points: Points,
    /// Parameters by position, and their leaves.
    pub leaves: Vec<(usize, Node)>,
    /// Data of a tile: features×B, targets×B, and which targets are there; the last two only where points are handled one by one.
    pub x: Node,
    pub targets: Option<Targets>,
    /// What a tile yields.
    pub latent: TileResult,
    /// G at the inducing points: the input layer's and each process's, in the draw.
    pub grams: Vec<Node>,
    /// Ω, if the input layer draws it.
    pub omega: Option<Node>,
    /// The draw's outputs: their signs in the bound are + for log ratios, − for the last one, the output layer's divergence.
    pub parts: Vec<Part>,
}

/// What a tile yields.
#[derive(Clone, Copy)]
pub(super) enum TileResult {
    Marginals(Latent),
    Functions(Node),
}

/// A term of the bound that a draw contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Input,
    /// A hidden layer, from 0.
    Layer(usize),
    Output,
}

/// A kernel with its parameters' nodes.
struct KernelNodes<'a> {
    kernel: &'a dyn Kernel,
    parameters: Vec<Node>,
}

impl<'a> KernelNodes<'a> {
    fn new(tape: &mut Tape, nodes: &mut ParameterNodes<'_>, kernel: &'a dyn Kernel, prefix: &str) -> KernelNodes<'a> {
        let names = kernel.parameters();
        KernelNodes { kernel, parameters: names.iter().map(|n| nodes.get(tape, &format!("{prefix}.{n}"))).collect() }
    }
}

/// One hidden layer in a draw.
struct DrawnLayer<'a> {
    kernel: KernelNodes<'a>,
    k_ii: Block,
    extension: Box<dyn Extension>,
}

impl Recorded {
    pub fn new(a: &Architecture, parameters: &Parameters, points: Points) -> Recorded {
        let mut nodes = ParameterNodes::new(parameters);
        let mut step = Tape::new("step");

        // step: what depends on parameters alone
        let inducing = nodes.get(&mut step, "inducing.inputs");
        let features = inducing.rows();
        let scaling = a.scale_features.then(|| Scaling {
            scale: nodes.get(&mut step, "features.scale"),
            bias: nodes.get(&mut step, "features.bias"),
        });
        let input = record_input(&mut step, &mut nodes, a.input);
        let layers: Vec<(KernelNodes<'_>, Box<dyn Process>)> = (a.layers.iter().enumerate())
            .map(|(i, layer)| {
                let prefix = format!("layer {}", i + 1);
                let kernel = KernelNodes::new(&mut step, &mut nodes, &*layer.kernel, &format!("{prefix}.kernel"));
                (kernel, record_process(&mut step, &mut nodes, layer.process, &prefix))
            })
            .collect();
        let output_kernel = KernelNodes::new(&mut step, &mut nodes, &*a.output, "output.kernel");
        let outputs = a.likelihood.latents();
        let posterior = record_posterior(&mut step, &mut nodes, "output", if a.share_precision { 1 } else { outputs });
        let likelihood: Vec<Node> = (a.likelihood.parameters().iter())
            .map(|p| nodes.get(&mut step, &format!("likelihood.{}", p.name)))
            .collect();
        let leaves = nodes.leaves();

        // draw: the inducing part of a posterior draw
        let mut draw = step.nested("draw");
        draw.section("input layer");
        let mut parts = Vec::new();
        let drawn_input = input.draw(&mut draw, scaling, inducing);
        if let Some(log_ratio) = drawn_input.log_ratio {
            draw.output("log ratio of the input layer", log_ratio);
            parts.push(Part::Input);
        }
        let mut gram = drawn_input.gram;
        let mut grams = vec![gram.matrix];
        let mut drawn = Vec::new();
        for (i, (kernel, process)) in layers.into_iter().enumerate() {
            draw.section(&format!("layer {}", i + 1));
            let k_ii = gram.kernel(&mut draw, kernel.kernel, &kernel.parameters);
            let layer = process.draw(&mut draw, k_ii);
            if let Some(log_ratio) = layer.log_ratio {
                draw.output(&format!("log ratio of layer {}", i + 1), log_ratio);
                parts.push(Part::Layer(i));
            }
            gram = layer.gram;
            grams.push(gram.matrix);
            drawn.push(DrawnLayer { kernel, k_ii, extension: layer.extension });
        }
        draw.section("output layer");
        let k_ii = gram.kernel(&mut draw, output_kernel.kernel, &output_kernel.parameters);
        // the inducing variables are f with white noise: the model is the same, whichever they are
        let noisy = white::noisy_alike(&mut draw, k_ii);
        let k_ii = Block::new(&mut draw, noisy);
        let given = posterior.given(&mut draw, k_ii);
        let divergence = draw.affine(given.divergence, 1.0, 0.0);
        draw.output("divergence of the output layer", divergence);
        parts.push(Part::Output);
        let tightening = a.likelihood.tightening().filter(|_| points.are_tight());
        let tightening = tightening.map(|t| (t, Residual::new(&mut draw, k_ii)));

        // tile: data points through all layers
        let mut tile = draw.nested("tile");
        let count = match points {
            Points::Tile { width, .. } => {
                tile.points(width);
                width
            }
            Points::Joint(count) => count,
        };
        let x = tile.input("features", features, count);
        let kernel = through_layers(&mut tile, points, &drawn_input, &drawn, x, k_ii, &output_kernel);
        let (targets, latent) = match points {
            Points::Joint(_) => (None, TileResult::Functions(given.joint(&mut tile, &kernel))),
            Points::Tile { .. } => {
                let (targets, latent) = record_likelihood(&mut tile, a, &likelihood, &given, &kernel);
                if let Some((tightening, residual)) = tightening {
                    let residual = residual.variance(&mut tile, &kernel);
                    let gain = tightening.gain(&mut tile, &likelihood, targets.present, residual);
                    tile.output("gain of a tighter bound", gain);
                }
                (Some(targets), TileResult::Marginals(latent))
            }
        };
        let omega = drawn_input.omega;
        let scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
        Recorded { scopes, points, leaves, x, targets, latent, grams, omega, parts }
    }
}

/// The output's kernel over data points too.
fn through_layers(
    tape: &mut Tape,
    points: Points,
    input: &InputDraw,
    layers: &[DrawnLayer<'_>],
    data: Node,
    k_ii: Block,
    output: &KernelNodes<'_>,
) -> crate::gram::Gram {
    tape.section("input layer");
    let mut gram = match points {
        Points::Tile { .. } => input.extend(tape, data),
        Points::Joint(_) => input.extend_jointly(tape, data),
    };
    for (i, layer) in layers.iter().enumerate() {
        tape.section(&format!("layer {}", i + 1));
        let kernel = gram.kernel(tape, layer.k_ii, layer.kernel.kernel, &layer.kernel.parameters);
        gram = layer.extension.extend(tape, kernel);
    }
    tape.section("output layer");
    gram.kernel(tape, k_ii, output.kernel, &output.parameters)
}

fn record_likelihood(
    tape: &mut Tape,
    a: &Architecture,
    parameters: &[Node],
    given: &Given,
    kernel: &crate::gram::Gram,
) -> (Targets, Latent) {
    debug_assert!(matches!(kernel.tt, DataBlock::Diagonal(_)));
    let (mean, variance) = given.marginals(tape, kernel);
    let latent = Latent { mean, variance };
    tape.section("likelihood");
    let (count, width) = (a.likelihood.targets(), kernel.ti.rows());
    let targets =
        Targets { values: tape.input("targets", count, width), present: tape.input("targets' mask", count, width) };
    let total = a.likelihood.expected_log_density(tape, parameters, targets, latent);
    tape.output("log likelihood", total);
    (targets, latent)
}

fn record_input(step: &mut Tape, nodes: &mut ParameterNodes<'_>, kind: InputKind) -> Input {
    match kind {
        InputKind::Fixed => Input::Fixed,
        InputKind::InverseWishart => Input::Omega(record_inverse_wishart(step, nodes, "input")),
        InputKind::Gram => Input::Gram(record_inverse_wishart(step, nodes, "input")),
    }
}

/// V = √γ·U: the posterior's mean is (δK + γUUᵀ)/(δ+γ).
fn record_inverse_wishart(step: &mut Tape, nodes: &mut ParameterNodes<'_>, prefix: &str) -> InverseWishart {
    let [delta, gamma, u] = ["delta", "gamma", "root"].map(|n| nodes.get(step, &format!("{prefix}.{n}")));
    let root = step.sqrt(gamma);
    let v = step.scale(root, u);
    InverseWishart::posterior(step, delta, gamma, v)
}

fn record_process(
    step: &mut Tape,
    nodes: &mut ParameterNodes<'_>,
    kind: ProcessKind,
    prefix: &str,
) -> Box<dyn Process> {
    match kind {
        ProcessKind::Deterministic => Box::new(Deterministic),
        ProcessKind::InverseWishart => Box::new(record_inverse_wishart(step, nodes, prefix)),
        ProcessKind::Features { .. } => Box::new(Features::posterior(record_posterior(step, nodes, prefix, 1))),
    }
}

/// H = (I + E)·diag(d), E strictly lower: Λ⁻¹ = HHᵀ for one or several precisions.
fn record_posterior(step: &mut Tape, nodes: &mut ParameterNodes<'_>, prefix: &str, count: usize) -> Posterior {
    let targets = nodes.get(step, &format!("{prefix}.targets"));
    let roots: Vec<Lower> = (0..count)
        .map(|i| {
            let [diagonal, below] = ["diagonal", "below"].map(|n| nodes.get(step, &noise_name(prefix, n, i)));
            let scaled = step.scale_columns(below, diagonal);
            step.lower(diagonal, scaled)
        })
        .collect();
    Posterior::new(step, targets, &roots)
}

/// The name of part of the noise of pseudo-targets with precision `i`.
pub(crate) fn noise_name(prefix: &str, part: &str, i: usize) -> String {
    match i {
        0 => format!("{prefix}.noise.{part}"),
        _ => format!("{prefix}.noise {}.{part}", i + 1),
    }
}
