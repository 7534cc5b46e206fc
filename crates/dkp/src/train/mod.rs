//! Training: from data to a model's parameters, without a setting that must be right.

mod adam;
mod inducing;
mod initialise;
mod limit;
mod matrices;
mod schedule;
mod trainer;

pub use adam::Adam;
pub use initialise::{Error as StartError, Start, initialise, initialise_with};
pub use schedule::Schedule;
pub use trainer::{Options, Record, State, TIGHTEN_EVERY, Trainer, TrainingError};

#[cfg(test)]
mod tests;
