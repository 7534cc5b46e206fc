//! Whole models: input → (kernel → process)* → kernel → output.

mod architecture;
mod bound;
mod error;
mod layout;
mod predict;
mod prior;
mod record;

use crate::data::Dataset;
use crate::params::Parameters;
use record::{Points, Recorded};

pub use architecture::{Architecture, InputKind, Layer, ProcessKind};
pub(crate) use bound::Gain;
pub use bound::{Batch, Bound};
pub use error::{Error, Mismatch};
pub use predict::{PosteriorDraw, Prediction};
pub use prior::{Prior, PriorDraw, PriorError, PriorInput, PriorKernel, PriorLayer, PriorProcessKind, PriorSampler};
pub(crate) use record::noise_name;

/// The name of the inducing inputs, features × M.
pub(crate) const INDUCING_INPUTS: &str = "inducing.inputs";

/// A model: what it is made of, and its parameters.
pub struct Model {
    architecture: Architecture,
    parameters: Parameters,
    /// Programs for points one by one, recorded when they are needed: the last two.
    recorded: Vec<Recorded>,
}

impl Model {
    /// A model with given parameters; [`train::initialise`](crate::train::initialise) finds some for data.
    pub(crate) fn new(architecture: Architecture, parameters: Parameters) -> Model {
        Model { architecture, parameters, recorded: Vec::new() }
    }

    /// What it is made of.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// How many features a point has.
    pub fn features(&self) -> usize {
        self.parameters.iter().find(|p| p.name == INDUCING_INPUTS).map_or(0, |p| p.rows)
    }

    /// Its parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Its parameters, to be set, frozen or tied.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        // which of them have gradients may change
        self.recorded.clear();
        &mut self.parameters
    }

    /// Values that an optimiser has found, for the same parameters.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut Parameters)) {
        change(&mut self.parameters);
    }

    /// The programs for tiles of this width, with the parameters' present values set; `tight` ones yield the gain of a tighter bound, if
    /// the likelihood has one.
    fn prepared(&mut self, width: usize, tight: bool) -> Result<&mut Recorded, dkp_tape::Failure> {
        let points = Points::Tile { width, tight: tight && self.architecture.likelihood.tightening().is_some() };
        let found = self.recorded.iter().position(|r| r.points == points);
        let at = found.unwrap_or_else(|| {
            self.recorded.truncate(1);
            self.recorded.insert(0, Recorded::new(&self.architecture, &self.parameters, points));
            0
        });
        let recorded = &mut self.recorded[at];
        set_leaves(recorded, &self.parameters)?;
        Ok(recorded)
    }
}

fn set_leaves(recorded: &mut Recorded, parameters: &Parameters) -> Result<(), dkp_tape::Failure> {
    let all: Vec<_> = parameters.iter().collect();
    for &(i, leaf) in &recorded.leaves {
        recorded.scopes.step().set_slice(leaf, &all[i].kept)?;
    }
    Ok(())
}

/// The width of tiles for a number of points: at most 160, with little padding, and whole vectors.
fn tile_width(points: usize) -> usize {
    const VECTOR: usize = 8;
    const WIDEST: usize = 160;
    points.div_ceil(points.div_ceil(WIDEST).max(1)).next_multiple_of(VECTOR).max(VECTOR)
}

#[cfg(test)]
mod bound_tests;
#[cfg(test)]
mod inference_tests;
#[cfg(test)]
mod prior_tests;
