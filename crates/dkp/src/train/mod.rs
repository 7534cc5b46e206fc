//! Training: from data to a model's parameters, without a setting that must be right.

mod adam;
mod inducing;
mod initialise;
mod limit;
mod schedule;
mod trainer;

pub use adam::Adam;
pub use initialise::{Start, StartError, Started, initialise, initialise_with};
pub use schedule::Schedule;
pub use trainer::{State, Step, TIGHTEN_EVERY, TrainOptions, Trainer, TrainingError};

#[cfg(test)]
mod tests;
