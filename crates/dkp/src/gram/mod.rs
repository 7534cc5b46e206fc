//! Gram matrices over inducing and data points: the triple (ii, ti, tt) that every layer maps to the next.
//!
//! The inducing block is M×M and lives in a draw; the cross block B×M, a row for each data point, and the data block belong to a tile of B points. Of the
//! data block only the diagonal is kept, where points are handled one by one, or all of it, where a function is
//! drawn jointly over them. A kernel matrix is a Gram matrix too: the same types hold both.
//!
//! ```
//! use dkp::gram::{Block, DataBlock, Gram};
//! use dkp::kernels::Relu;
//! use dkp_tape::{Pass, Tape, random::Key};
//! let mut tape = Tape::new("one layer");
//! let (xi, xt) = (tape.input("inducing", 2, 3), tape.input("data", 2, 1));
//! let ii = Block::from_features(&mut tape, xi);
//! let gram = Gram::from_features(&mut tape, ii, xi, xt);
//! let k_ii = ii.kernel(&mut tape, &Relu, &[]);
//! let kernel = gram.kernel(&mut tape, k_ii, &Relu, &[]);
//! let DataBlock::Diagonal(tt) = kernel.tt else { panic!("points are handled one by one") };
//!
//! let mut run = tape.finish().workspace();
//! run.set_slice(xi, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0])?;
//! run.set_slice(xt, &[0.5, 0.5])?;
//! run.forward(Key::new(0), Pass::Value)?;
//! assert_eq!(run.scalar(tt), 0.5);
//! assert!((run.value(kernel.ti)[(0, 2)] - 1.0).abs() < 1e-15);
//! # Ok::<(), dkp_tape::Failure>(())
//! ```

mod condition;
mod invariants;
pub mod numbers;
pub mod white;

use crate::kernels::Kernel;
use dkp_tape::{Node, Tape};

pub use condition::{condition, factor_of_difference, schur_complement};

/// The inducing block of a Gram matrix, with its diagonal.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// G_ii, M×M, symmetric.
    pub matrix: Node,
    /// Its diagonal, M×1.
    pub diagonal: Node,
}

/// What is kept of the data block G_tt.
#[derive(Clone, Copy, Debug)]
pub enum DataBlock {
    /// Its diagonal, 1×B: points one by one.
    Diagonal(Node),
    /// All of it, B×B: points jointly.
    Full(Node),
}

/// A Gram matrix over inducing and data points.
#[derive(Clone, Copy, Debug)]
pub struct Gram {
    /// G_ii.
    pub ii: Block,
    /// G_ti, B×M: what is computed for one point after the other runs over points that are neighbours in memory.
    pub ti: Node,
    /// G_tt.
    pub tt: DataBlock,
}

impl Block {
    /// A symmetric matrix and its diagonal.
    #[track_caller]
    pub fn new(tape: &mut Tape, matrix: Node) -> Block {
        let block = Block { matrix, diagonal: tape.diagonal(matrix) };
        if cfg!(debug_assertions) {
            invariants::check_block(tape, &block);
        }
        block
    }

    /// G = ΦᵀΦ for features Φ, width × points.
    #[track_caller]
    pub fn from_features(tape: &mut Tape, features: Node) -> Block {
        let matrix = tape.symmetric_product(features.t());
        Block::new(tape, matrix)
    }

    /// The kernel of this block.
    #[track_caller]
    pub fn kernel(self, tape: &mut Tape, kernel: &dyn Kernel, parameters: &[Node]) -> Block {
        let matrix = kernel.symmetric(tape, self.matrix, parameters);
        Block::new(tape, matrix)
    }
}

impl DataBlock {
    /// The diagonal, 1×B or B×1.
    pub fn diagonal(self, tape: &mut Tape) -> Node {
        match self {
            DataBlock::Diagonal(d) => d,
            DataBlock::Full(tt) => tape.diagonal(tt),
        }
    }
}

impl Gram {
    /// The three blocks.
    #[track_caller]
    pub fn new(tape: &mut Tape, ii: Block, ti: Node, tt: DataBlock) -> Gram {
        let gram = Gram { ii, ti, tt };
        if cfg!(debug_assertions) {
            invariants::check_gram(tape, &gram);
        }
        gram
    }

    /// The Gram matrix of features, width × points, of inducing and data points; data points one by one.
    ///
    /// `ii` is that of the inducing features ([`Block::from_features`]).
    #[track_caller]
    pub fn from_features(tape: &mut Tape, ii: Block, inducing: Node, data: Node) -> Gram {
        let (ti, tt) = (tape.matmul(data.t(), inducing), tape.column_norms(data));
        Gram::new(tape, ii, ti, DataBlock::Diagonal(tt))
    }

    /// The same with the whole data block.
    #[track_caller]
    pub fn from_features_jointly(tape: &mut Tape, ii: Block, inducing: Node, data: Node) -> Gram {
        let (ti, tt) = (tape.matmul(data.t(), inducing), tape.symmetric_product(data.t()));
        Gram::new(tape, ii, ti, DataBlock::Full(tt))
    }

    /// The kernel of this Gram matrix, whose inducing block `k_ii` is [`Block::kernel`] of this one's.
    #[track_caller]
    pub fn kernel(self, tape: &mut Tape, k_ii: Block, kernel: &dyn Kernel, parameters: &[Node]) -> Gram {
        let diagonal = self.tt.diagonal(tape);
        let ti = kernel.cross(tape, self.ti, diagonal, self.ii.diagonal, parameters);
        let tt = match self.tt {
            DataBlock::Diagonal(d) => DataBlock::Diagonal(kernel.diagonal(tape, d, parameters)),
            DataBlock::Full(tt) => DataBlock::Full(kernel.symmetric(tape, tt, parameters)),
        };
        Gram::new(tape, k_ii, ti, tt)
    }
}
