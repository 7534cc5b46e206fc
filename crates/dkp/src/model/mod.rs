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
    /// Programs for points one by one, recorded when they are needed.
    recorded: Option<Recorded>,
}

impl Model {
    /// A model with given parameters; [`train::initialise`](crate::train::initialise) finds some for data.
    pub(crate) fn new(architecture: Architecture, parameters: Parameters) -> Model {
        Model { architecture, parameters, recorded: None }
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
        self.recorded = None;
        &mut self.parameters
    }

    /// Values that an optimiser has found, for the same parameters.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut Parameters)) {
        change(&mut self.parameters);
    }

    /// The programs for tiles of this width, with the parameters' present values set.
    fn prepared(&mut self, width: usize) -> Result<&mut Recorded, dkp_tape::Failure> {
        if self.recorded.as_ref().is_none_or(|r| r.points != Points::Tile(width)) {
            self.recorded = Some(Recorded::new(&self.architecture, &self.parameters, Points::Tile(width)));
        }
        let recorded = self.recorded.as_mut().expect("recorded above");
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
mod inference_tests;
#[cfg(test)]
mod prior_tests;
