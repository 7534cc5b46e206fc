//! No randomness at all: the NNGP, an infinitely wide network.

use super::{Draw, Extension, Process};
use crate::gram::{Block, Gram};
use dkp_tape::Tape;

/// G = K: the limit of the inverse Wishart process for δ → ∞.
#[derive(Clone, Copy, Debug)]
pub struct Deterministic;

impl Process for Deterministic {
    fn draw(&self, _: &mut Tape, kernel: Block) -> Draw {
        Draw { gram: kernel, log_ratio: None, extension: Box::new(Deterministic) }
    }
}

impl Extension for Deterministic {
    fn extend(&self, _: &mut Tape, kernel: Gram) -> Gram {
        kernel
    }
}
