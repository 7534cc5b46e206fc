//! What a run is asked for, and what it gives back.

use crate::failure::Failure;
use crate::operation::Jitter;
use crate::workspace::Workspace;
use std::ops::Range;

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Posterior draws.
    pub draws: usize,
    /// Tiles of data points, the same for every draw.
    pub tiles: usize,
}

impl Plan {
    /// Chunks that the tiles of a draw are divided into: enough for about ten pieces of work in all, since each adds up gradients of its own.
    pub(super) fn chunks(&self) -> usize {
        const PIECES: usize = 10;
        PIECES.div_ceil(self.draws.max(1)).min(self.tiles).max(1)
    }

    /// The tiles of a chunk.
    pub(super) fn chunk(&self, c: usize) -> Range<usize> {
        c * self.tiles / self.chunks()..(c + 1) * self.tiles / self.chunks()
    }
}

/// Sums of the programs' outputs: of the step, over draws, and over draws and tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// The step's outputs.
    pub step: Vec<f64>,
    /// The draws' outputs, summed over draws.
    pub draw: Vec<f64>,
    /// The tiles' outputs, summed over draws and tiles.
    pub tile: Vec<f64>,
    /// The jitter that all of them needed.
    pub jitter: Jitter,
}

/// Weights of the outputs in the function that is differentiated: f = Σ weight·total.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// One for each output of the step.
    pub step: &'a [f64],
    /// One for each output of a draw.
    pub draw: &'a [f64],
    /// One for each output of a tile.
    pub tile: &'a [f64],
}

/// Sets a tile's inputs and point ids: called with the tile's number, on any thread.
pub type Fill<'a> = &'a (dyn Fn(usize, &mut Workspace) -> Result<(), Failure> + Sync);

/// What a run shows while it goes on: values of a draw's or a tile's nodes.
#[derive(Clone, Copy, Debug)]
pub enum Visit<'a> {
    /// A draw, after its forward pass.
    Draw {
        /// Its number.
        draw: usize,
        /// Its values.
        run: &'a Workspace,
    },
    /// A tile, after its forward pass.
    Tile {
        /// The draw's number.
        draw: usize,
        /// The tile's number.
        tile: usize,
        /// Its values.
        run: &'a Workspace,
    },
}

/// Looks at values that no output holds: called on any thread, in any order.
pub type Visitor<'a> = &'a (dyn Fn(Visit<'_>) + Sync);
