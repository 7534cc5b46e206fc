//! Processes: what stands between two kernels. Each maps a kernel matrix to a random Gram matrix with that mean.
//!
//! A [`Process`] is what a model is made of: one type in one file, which says what is learned, where it starts, the limit from which it starts,
//! its name, and how it is recorded. Recorded, it is a [`Law`] that knows two verbs, the two halves of the paper's factorisation. *Draw*:
//! from the kernel at the inducing points, a Gram matrix from the variational posterior, with log P − log Q or its expectation.
//! *Extend*: carry data points through, given that draw, each with its own random numbers, or jointly. Points that are extended follow the
//! prior's conditional, so they add nothing to the bound.
//!
//! A [`PriorProcess`] has numbers for parameters and can only be drawn from, over all points at once.
//!
//! ```
//! use dkp::gram::{Block, Gram};
//! use dkp::kernels::Relu;
//! use dkp::processes::{InverseWishartLaw, Law};
//! use dkp_tape::{Pass, Tape, random::Key};
//!
//! // three inducing points and one data point in the plane, through one layer
//! let mut tape = Tape::new("layer");
//! tape.points(1);
//! let inducing = tape.constant(2, 3, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
//! let data = tape.constant(2, 1, &[0.5, -0.5]);
//! let g_ii = Block::from_features(&mut tape, inducing);
//! let k_ii = g_ii.kernel(&mut tape, &Relu, &[]);
//! let delta = tape.number(5.0);
//! let drawn = InverseWishartLaw::prior(&mut tape, delta, 3).draw(&mut tape, k_ii);
//! let g = Gram::from_features(&mut tape, g_ii, inducing, data);
//! let k = g.kernel(&mut tape, k_ii, &Relu, &[]);
//! let extended = drawn.extension.extend(&mut tape, k);
//!
//! let mut run = tape.finish().workspace();
//! run.set_point_ids(&[7]);
//! run.forward(Key::new(1), Pass::Value)?;
//! assert_eq!(run.value(extended.ti).ncols(), 3);
//! # Ok::<(), dkp_tape::Failure>(())
//! ```

mod deterministic;
mod features;
mod finite_network;
mod input;
mod inverse_wishart;
mod residual_wishart;
mod whitened;
mod whitened_wishart;
mod wishart;

use crate::Registry;
use crate::gram::numbers::{kernel_of, root_of};
use crate::gram::{Block, Gram};
use crate::kernels::Kernel;
use crate::params::Shape;
use dkp_tape::{Failure, Lower, Node, Tape};
use faer::Mat;
use std::sync::Arc;

pub use deterministic::Deterministic;
pub use features::{GaussianFeatures, GaussianFeaturesLaw};
pub use finite_network::FiniteNetwork;
pub use input::{Input, InputDraw, Scaling};
pub(crate) use input::{features_of, identity};
pub use inverse_wishart::{InverseWishart, InverseWishartLaw};
pub use residual_wishart::ResidualWishart;
pub use whitened::{WhitenedInverseWishart, WhitenedLaw, WhitenedStart};
pub use whitened_wishart::{WhitenedWishart, WhitenedWishartLaw};
pub use wishart::Wishart;

/// The processes of this crate that inference can handle, by name, and the families made of them.
pub(crate) fn register(registry: &mut Registry) {
    registry.add_process("deterministic", |_| Ok(Arc::new(Deterministic)));
    registry.add_process("features(width)", |a| Ok(Arc::new(GaussianFeatures::new(a.count(0, 1..=MOST_WIDTH)?))));
    registry.add_process("own_noise_features(width)", |a| {
        Ok(Arc::new(GaussianFeatures { width: a.count(0, 1..=MOST_WIDTH)?, share_noise: false }))
    });
    registry.add_process("inverse_wishart", |_| Ok(Arc::new(InverseWishart::HIDDEN)));
    registry.add_process("whitened_inverse_wishart", |_| Ok(Arc::new(WhitenedInverseWishart::HIDDEN)));
    registry.add_process("wishart(width)", |a| Ok(Arc::new(WhitenedWishart { width: a.count(0, 1..=MOST_WIDTH)? })));
    registry.add_family(inverse_wishart::FAMILY);
    registry.add_family(deterministic::FAMILY);
    registry.add_family(features::FAMILY);
    registry.add_family(features::LINEAR_FAMILY);
    registry.add_family(whitened_wishart::FAMILY);
}

/// A process that inference can handle, as a model is made of it.
pub trait Process: Send + Sync {
    /// What files call it; a [`Registry`] finds it again.
    fn name(&self) -> String;

    /// Whether the numbers that it was made with are within their ranges.
    fn check(&self) -> Result<(), OutOfRange> {
        Ok(())
    }

    /// What is learned of a layer over `size` points.
    fn parameters(&self, size: usize) -> Vec<Shape>;

    /// Values of these parameters for a posterior around K = RRᵀ.
    fn around(&self, root: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure>;

    /// Values of these parameters for a posterior around I, for Ω. Draws that cannot have full rank keep the principal components of the inputs,
    /// whose second moments, N₀×N₀, are given.
    fn around_identity(&self, moments: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure> {
        self.around(&Mat::identity(moments.nrows(), moments.nrows()))
    }

    /// Where a layer starts, given what its kernel sees: by default [around](Process::around) its kernel.
    fn start(&self, before: &Before<'_>) -> Result<LayerStart, Failure> {
        let gram = kernel_of(before.gram, before.kernel, &before.parameters)?;
        let own = self.around(&root_of(&gram)?)?;
        Ok(LayerStart { kernel: before.parameters.clone(), own, gram })
    }

    /// The limit in which nothing is drawn, from which training starts: the kernel that stands for the layer's kernel and this process. By
    /// default the layer's kernel.
    fn limit(&self, kernel: &Arc<dyn Kernel>) -> Arc<dyn Kernel> {
        kernel.clone()
    }

    /// Records what follows from the parameters alone; their nodes are in the order of [`parameters`](Process::parameters), and `size` is the same.
    fn law(&self, tape: &mut Tape, size: usize, parameters: &[Node]) -> Box<dyn Law>;

    /// Whether anything is drawn.
    fn is_random(&self) -> bool {
        true
    }

    /// Whether G₁ ~ this process given XᵀX/N₀ is the law of G₁ = XᵀΩX/N₀, Ω ~ this process given I, so that a model may have either as its
    /// input layer.
    fn has_gram_form(&self) -> bool {
        false
    }

    /// Useful floating-point operations of a draw and its extension to some points, forward and backward, for `dkp bench`.
    fn flops(&self, size: usize, points: usize) -> f64 {
        let _ = (size, points);
        0.0
    }

    /// The parameter, a number, that says how closely draws follow the kernel: it is watched in training and told in reports.
    fn concentration(&self) -> Option<&'static str> {
        None
    }
}

/// A layer before it starts.
pub struct Before<'a> {
    /// Its kernel.
    pub kernel: &'a dyn Kernel,
    /// The kernel's parameters: as its limit has them, or by the [distances](crate::gram::numbers::median_distance) between points.
    pub parameters: Vec<f64>,
    /// What the kernel sees at the inducing points, M×M.
    pub gram: &'a Mat<f64>,
}

/// Where a layer starts.
pub struct LayerStart {
    /// The kernel's parameters; those that the layer's limit has too keep its values.
    pub kernel: Vec<f64>,
    /// The process's, in the order of [`Process::parameters`].
    pub own: Vec<Vec<f64>>,
    /// What the layer passes on, on average, M×M.
    pub gram: Mat<f64>,
}

/// A process whose parameters are nodes.
pub trait Law: Send + Sync {
    /// Draws G_ii given K_ii: from the posterior if it has one, else from the prior.
    fn draw(&self, tape: &mut Tape, kernel: Block) -> Draw;

    /// Draws G given K = LLᵀ as its root, where no data point is to be carried through: the input layer's Ω.
    fn draw_root(&self, tape: &mut Tape, kernel: Node, factor: Lower) -> RootDraw {
        let _ = factor;
        let block = Block::new(tape, kernel);
        let draw = self.draw(tape, block);
        let root = tape.cholesky_with_jitter(draw.gram.matrix).matrix();
        RootDraw { root, gram: draw.gram.matrix, log_ratio: draw.log_ratio }
    }
}

/// A draw at the inducing points.
pub struct Draw {
    /// G_ii.
    pub gram: Block,
    /// log P(G_ii) − log Q(G_ii), or its expectation given what was drawn before; none where P is Q.
    pub log_ratio: Option<Node>,
    /// Carries data points through.
    pub extension: Box<dyn Extension>,
}

/// A draw as its root.
pub struct RootDraw {
    /// F with G = FFᵀ.
    pub root: Node,
    /// G.
    pub gram: Node,
    /// As for a [`Draw`].
    pub log_ratio: Option<Node>,
}

/// What a draw leaves for data points: the second verb.
pub trait Extension: Send + Sync {
    /// The Gram matrix over data points too, given the kernel over them; as `kernel.tt` is, one by one or jointly.
    ///
    /// One by one, a point's result depends on its own column and its own random numbers alone, to the bit in programs for eight points
    /// or more (narrower products round otherwise).
    fn extend(&self, tape: &mut Tape, kernel: Gram) -> Gram;
}

/// A process with numbers for parameters, to be drawn from.
pub trait PriorProcess: Send + Sync {
    /// Whether its numbers are within their ranges for a draw over this many points.
    fn check_prior(&self, points: usize) -> Result<(), OutOfRange>;

    /// Draws G given K.
    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block;

    /// Draws a root of G given K = LLᵀ: for Ω.
    fn draw_prior_root(&self, tape: &mut Tape, kernel: Node, factor: Lower) -> Node {
        let _ = factor;
        let block = Block::new(tape, kernel);
        let gram = self.draw_prior(tape, block);
        tape.cholesky_with_jitter(gram.matrix).matrix()
    }
}

/// The widest layer, as [`OutOfRange::unless_width`] says it.
const MOST_WIDTH: usize = 10_000_000;

/// A number outside its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    /// What it is: "δ".
    pub what: &'static str,
    /// Its range.
    pub expected: &'static str,
    /// What it is.
    pub value: f64,
}

impl OutOfRange {
    /// Whether a number is positive and finite.
    pub fn unless_positive(what: &'static str, value: f64) -> Result<(), OutOfRange> {
        let error = OutOfRange { what, expected: "positive and finite", value };
        if value > 0.0 && value.is_finite() { Ok(()) } else { Err(error) }
    }

    /// Whether a layer can have this width.
    pub fn unless_width(width: usize) -> Result<(), OutOfRange> {
        let error = OutOfRange { what: "the width", expected: "from 1 to 10,000,000", value: width as f64 };
        if (1..=MOST_WIDTH).contains(&width) { Ok(()) } else { Err(error) }
    }
}

#[cfg(test)]
mod features_tests;
#[cfg(test)]
mod gradient_tests;
#[cfg(test)]
mod posterior_tests;
#[cfg(test)]
mod prior_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod whitened_tests;
#[cfg(test)]
mod whitened_wishart_tests;
