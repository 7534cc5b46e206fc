//! A model as programs: a step, its draws, their tiles.

use super::Architecture;
use super::layout::{self, FEATURE_BIAS, FEATURE_SCALE, INDUCING_INPUTS, INPUT, OUTPUT, layer_name};
use crate::gram::{Block, DataBlock, Gram, white};
use crate::kernels::Kernel;
use crate::likelihoods::{Latent, Observed};
use crate::output::{Given, Posterior, Residual};
use crate::params::{ParameterNodes, Parameters, Shape};
use crate::processes::{Extension, InputDraw, Law, Scaling};
use dkp_tape::{Node, Scopes, Tape};

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
    pub targets: Option<Observed>,
    /// What a tile yields.
    pub latent: TileResult,
    /// G at the inducing points: the input layer's and each process's, in the draw.
    pub grams: Vec<Node>,
    /// Ω, if the input layer draws it.
    pub omega: Option<Node>,
    /// What the draw's outputs are; the bound is the sum of these terms and of the tiles' likelihood.
    pub terms: Vec<Term>,
}

/// What a tile yields.
#[derive(Clone, Copy)]
pub(super) enum TileResult {
    Marginals(Latent),
    Functions(Node),
}

/// A term of the bound that a draw contributes: E log P − log Q of the input layer, of a hidden layer, of the output layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
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
    fn new(tape: &mut Tape, nodes: &mut ParameterNodes<'_>, kernel: &'a dyn Kernel, part: &str) -> KernelNodes<'a> {
        KernelNodes { kernel, parameters: all(tape, nodes, &layout::of_kernel(part, kernel)) }
    }
}

/// The nodes of parameters.
fn all(tape: &mut Tape, nodes: &mut ParameterNodes<'_>, shapes: &[Shape]) -> Vec<Node> {
    shapes.iter().map(|s| nodes.get(tape, &s.name)).collect()
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
        let inducing = nodes.get(&mut step, INDUCING_INPUTS);
        let (features, m) = (inducing.rows(), inducing.cols());
        let scaling = a
            .scale_features
            .then(|| Scaling { scale: nodes.get(&mut step, FEATURE_SCALE), bias: nodes.get(&mut step, FEATURE_BIAS) });
        let size = a.input.size(features, m);
        let input = a.input.as_ref().map(|process| {
            let own = all(&mut step, &mut nodes, &layout::of_process(INPUT, &**process, size));
            process.law(&mut step, size, &own)
        });
        let layers: Vec<(KernelNodes<'_>, Box<dyn Law>)> = (a.layers.iter().enumerate())
            .map(|(i, layer)| {
                let part = layer_name(i);
                let kernel = KernelNodes::new(&mut step, &mut nodes, &*layer.kernel, &part);
                let own = all(&mut step, &mut nodes, &layout::of_process(&part, &*layer.process, m));
                (kernel, layer.process.law(&mut step, m, &own))
            })
            .collect();
        let output_kernel = KernelNodes::new(&mut step, &mut nodes, &*a.output, OUTPUT);
        let own = all(&mut step, &mut nodes, &a.of_output(m));
        let posterior = Posterior::record(&mut step, &own);
        let likelihood = all(&mut step, &mut nodes, &a.of_likelihood());
        let leaves = nodes.leaves();

        // draw: the inducing part of a posterior draw
        let mut draw = step.nested("draw");
        draw.section("input layer");
        let mut terms = Vec::new();
        let drawn_input = input.draw(&mut draw, scaling, inducing);
        if let Some(log_ratio) = drawn_input.log_ratio {
            draw.output("log ratio of the input layer", log_ratio);
            terms.push(Term::Input);
        }
        let mut gram = drawn_input.gram;
        let mut grams = vec![gram.matrix];
        let mut drawn = Vec::new();
        for (i, (kernel, law)) in layers.into_iter().enumerate() {
            draw.section(&layer_name(i));
            let k_ii = gram.kernel(&mut draw, kernel.kernel, &kernel.parameters);
            let layer = law.draw(&mut draw, k_ii);
            if let Some(log_ratio) = layer.log_ratio {
                draw.output(&format!("log ratio of {}", layer_name(i)), log_ratio);
                terms.push(Term::Layer(i));
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
        let log_ratio = draw.affine(given.divergence, -1.0, 0.0);
        draw.output("log ratio of the output layer", log_ratio);
        terms.push(Term::Output);
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
                    let gain = tightening.gain(&mut tile, &likelihood, targets, latent, residual);
                    tile.output("gain of a tighter bound", gain);
                }
                (Some(targets), TileResult::Marginals(latent))
            }
        };
        let omega = drawn_input.omega;
        let scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
        Recorded { scopes, points, leaves, x, targets, latent, grams, omega, terms }
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
) -> Gram {
    tape.section("input layer");
    let mut gram = match points {
        Points::Tile { .. } => input.extend(tape, data),
        Points::Joint(_) => input.extend_jointly(tape, data),
    };
    for (i, layer) in layers.iter().enumerate() {
        tape.section(&layer_name(i));
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
    kernel: &Gram,
) -> (Observed, Latent) {
    debug_assert!(matches!(kernel.tt, DataBlock::Diagonal(_)));
    let (mean, variance) = given.marginals(tape, kernel);
    let latent = Latent { mean, variance };
    tape.section("likelihood");
    let (count, width) = (a.likelihood.targets(), kernel.ti.rows());
    let targets =
        Observed { values: tape.input("targets", count, width), present: tape.input("targets' mask", count, width) };
    let total = a.likelihood.expected_log_density(tape, parameters, targets, latent);
    tape.output("log likelihood", total);
    (targets, latent)
}
