//! No randomness at all: the NNGP, an infinitely wide network.

use super::{Before, Draw, Extension, Input, Law, LayerStart, OutOfRange, PriorProcess, Process};
use crate::gram::numbers::kernel_of;
use crate::gram::{Block, Gram};
use crate::model::Family;
use crate::params::Shape;
use dkp_tape::{Failure, Node, Tape};
use faer::Mat;
use std::sync::Arc;

/// Gaussian processes with the kernels of infinitely wide networks.
pub(super) const FAMILY: Family = Family {
    name: "nngp",
    title: "infinitely wide network (NNGP)",
    posteriors: &["exact"],
    parts: |_| (Input::Fixed, Arc::new(Deterministic)),
};

/// G = K: the limit of the inverse Wishart process for δ → ∞.
#[derive(Clone, Copy, Debug)]
pub struct Deterministic;

impl Process for Deterministic {
    fn name(&self) -> String {
        "deterministic".to_string()
    }

    fn parameters(&self, _: usize) -> Vec<Shape> {
        Vec::new()
    }

    fn around(&self, _: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure> {
        Ok(Vec::new())
    }

    fn start(&self, before: &Before<'_>) -> Result<LayerStart, Failure> {
        let gram = kernel_of(before.gram, before.kernel, &before.parameters)?;
        Ok(LayerStart { kernel: before.parameters.clone(), own: Vec::new(), gram })
    }

    fn law(&self, _: &mut Tape, _: usize, _: &[Node]) -> Box<dyn Law> {
        Box::new(Deterministic)
    }

    fn is_random(&self) -> bool {
        false
    }
}

impl Law for Deterministic {
    fn draw(&self, _: &mut Tape, kernel: Block) -> Draw {
        Draw { gram: kernel, log_ratio: None, extension: Box::new(Deterministic) }
    }
}

impl Extension for Deterministic {
    fn extend(&self, _: &mut Tape, kernel: Gram) -> Gram {
        kernel
    }
}

impl PriorProcess for Deterministic {
    fn check_prior(&self, _: usize) -> Result<(), OutOfRange> {
        Ok(())
    }

    fn draw_prior(&self, _: &mut Tape, kernel: Block) -> Block {
        kernel
    }
}
