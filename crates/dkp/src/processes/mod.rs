//! Processes: what stands between two kernels. Each maps a kernel matrix to a random Gram matrix with that mean.
//!
//! A [`Process`] knows two verbs, the two halves of the paper's factorisation. *Draw*: from the kernel at the inducing points, a Gram
//! matrix from the variational posterior, with log P − log Q or its expectation. *Extend*: carry data points through, given that draw, each
//! with its own random numbers, or jointly. Points that are extended follow the prior's conditional, so they add nothing to the
//! bound.
//!
//! A [`PriorProcess`] can only be drawn from, over all points at once. Every process is one.
//!
//! ```
//! use dkp::gram::{Block, Gram};
//! use dkp::kernels::Relu;
//! use dkp::processes::{InverseWishart, Process};
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
//! let drawn = InverseWishart::prior(&mut tape, delta, 3).draw(&mut tape, k_ii);
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
mod wishart;

use crate::gram::{Block, Gram};
use dkp_tape::{Node, Tape};

pub use deterministic::Deterministic;
pub use features::Features;
pub use finite_network::FiniteNetwork;
pub use input::{Input, InputDraw, Scaling};
pub use inverse_wishart::InverseWishart;
pub use residual_wishart::ResidualWishart;
pub use wishart::Wishart;

/// A process that inference can handle.
pub trait Process: Send + Sync {
    /// Draws G_ii given K_ii: from the posterior if it has one, else from the prior.
    fn draw(&self, tape: &mut Tape, kernel: Block) -> Draw;
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

/// What a draw leaves for data points: the second verb.
pub trait Extension: Send + Sync {
    /// The Gram matrix over data points too, given the kernel over them; as `kernel.tt` is, one by one or jointly.
    ///
    /// One by one, a point's result depends on its own column and its own random numbers alone, to the bit in programs for eight points
    /// or more (narrower products round otherwise).
    fn extend(&self, tape: &mut Tape, kernel: Gram) -> Gram;
}

/// A process that can be drawn from.
pub trait PriorProcess: Send + Sync {
    /// Draws G given K.
    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block;
}

impl<P: Process> PriorProcess for P {
    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block {
        self.draw(tape, kernel).gram
    }
}

#[cfg(test)]
mod gradient_tests;
#[cfg(test)]
mod posterior_tests;
#[cfg(test)]
mod prior_tests;
#[cfg(test)]
mod tests;
