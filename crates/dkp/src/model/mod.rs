//! Whole models: input → (kernel → process)* → kernel → output.

mod architecture;
mod bound;
mod calibration;
mod cost;
mod error;
mod family;
pub(crate) mod layout;
mod marginal;
mod predict;
mod prior;
mod programs;
mod record;
mod sample;

use crate::data::Dataset;
use crate::params::Parameters;
use layout::INDUCING_INPUTS;
use programs::Programs;

pub use architecture::{Architecture, Layer};
pub(crate) use bound::Gain;
pub use bound::{Batch, Bound};
pub use calibration::{Calibrating, Calibration};
pub(crate) use error::cause;
pub use error::{Error, Mismatch, explain};
pub use family::{Family, FamilyOptions, FamilyParts};
pub use marginal::Marginal;
pub use predict::{PosteriorDraw, Prediction};
pub(crate) use prior::register_priors;
pub use prior::{Prior, PriorDraw, PriorError, PriorFamily, PriorKernel, PriorSampler};

/// A model: what it is made of, and its parameters.
///
/// Several threads may ask it for bounds, predictions and draws at once.
pub struct Model {
    architecture: Architecture,
    parameters: Parameters,
    programs: Programs,
}

impl Model {
    /// A model with given parameters; [`train::initialise`](crate::train::initialise) finds some for data.
    pub(crate) fn new(architecture: Architecture, parameters: Parameters) -> Model {
        Model { architecture, parameters, programs: Programs::default() }
    }

    /// What it is made of.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// How many features a point has.
    pub fn features(&self) -> usize {
        self.parameters.iter().find(|p| p.name == INDUCING_INPUTS).map_or(0, |p| p.rows)
    }

    /// The learned scale of each feature, or 1 where features have none.
    pub fn feature_scales(&self) -> Vec<f64> {
        self.parameters.get(layout::FEATURE_SCALE).unwrap_or_else(|_| vec![1.0; self.features()])
    }

    /// Its parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Its parameters, to be set, frozen or tied.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        // which of them have gradients may change
        self.programs = Programs::default();
        &mut self.parameters
    }

    /// Values that an optimiser has found, for the same parameters.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut Parameters)) {
        change(&mut self.parameters);
    }

    /// Gives back the memory of the programs that it has been run by; they are recorded again when they are needed.
    pub fn release_memory(&mut self) {
        self.programs = Programs::default();
    }

    /// δ of the input layer and of each hidden layer, or what else a process calls its concentration; NaN where there is none.
    pub fn concentrations(&self) -> Vec<f64> {
        let value = |name: Option<String>| name.and_then(|n| self.parameters.get(&n).ok()).map_or(f64::NAN, |v| v[0]);
        self.architecture.concentrations().into_iter().map(value).collect()
    }
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
mod calibration_tests;
#[cfg(test)]
mod inference_tests;
#[cfg(test)]
mod prior_tests;
