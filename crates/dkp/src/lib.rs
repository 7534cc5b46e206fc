//! Deep kernel processes: Bayesian models made of kernels and random Gram matrices.
//!
//! A model maps a Gram matrix of the inputs through kernels and processes, turn by turn, to that of its outputs. Its parts, in the
//! order in which data flows: [`data`]; [`gram`], the matrices; [`kernels`], functions of them; [`distributions`], from which
//! they are drawn; [`processes`], the draws between two kernels; [`output`], the Gaussian process at the end; [`likelihoods`];
//! [`params`], what is learned; [`model`], all of it together, with its bound and its predictions, or as a prior to draw from;
//! [`train`]; [`mod@file`], models on disk; and [`metrics`]. A [`Registry`] has parts by name, one's own too.
//!
//! ```
//! use dkp::{data::Dataset, kernels::SquaredExponential, likelihoods::Gaussian, metrics, model::Architecture};
//! use dkp::train::{Start, TrainOptions, Trainer, initialise};
//! use dkp_tape::random::Key;
//! use faer::Mat;
//! use std::sync::Arc;
//!
//! // a noisy sine at forty points: features × points, and targets × points
//! let x = Mat::from_fn(1, 40, |_, n| 0.2 * n as f64);
//! let y = Mat::from_fn(1, 40, |_, n| (0.2 * n as f64).sin() + 0.1 * (7.0 * n as f64).cos());
//! let data = Dataset::new(x.as_ref(), y.as_ref())?;
//! let (sx, sy) = data.scales();
//! let data = data.scaled(&sx, &sy);
//!
//! // a deep inverse Wishart process with one hidden layer, trained and asked
//! let architecture = Architecture::diwp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(1)));
//! let mut model = initialise(architecture, &data, Start { inducing: 10, warm_up: 200, ..Start::default() })?;
//! Trainer::new(&mut model, &data, TrainOptions { steps: 100, draws: 2, ..TrainOptions::default() })?.run(|_| true)?;
//! let inputs = Mat::from_fn(1, 40, |_, n| data.x(n)[0]);
//! let prediction = model.predict(inputs.as_ref(), 20, Key::new(1))?;
//! let targets: Vec<f64> = (0..40).map(|n| data.y(n)[0]).collect();
//! let metrics = metrics::regression(&prediction, 0, &targets, sy.deviation[0]);
//! assert!(metrics.rmse < 0.3, "{metrics:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod quadrature;
mod registry;

pub use registry::{Arguments, Registry, UnknownName};

pub mod data;

pub mod gram;
pub mod kernels;

pub mod distributions;

pub mod output;
pub mod processes;

pub mod likelihoods;

pub mod params;

pub mod model;

pub mod train;

pub mod file;

pub mod metrics;

#[cfg(test)]
mod laws;
