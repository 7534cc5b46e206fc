//! Deep kernel processes: Bayesian models made of kernels and random Gram matrices.
//!
//! A model maps a Gram matrix of the inputs through kernels and processes, turn by turn, to that of its outputs. Its parts, in the
//! order in which data flows: [`data`]; [`gram`], the matrices; [`kernels`], functions of them; [`distributions`], from which
//! they are drawn; [`processes`], the draws between two kernels; [`output`], the Gaussian process at the end; [`likelihoods`];
//! [`params`], what is learned; [`model`], all of it together, with its bound and its predictions, or as a prior to draw from;
//! [`train`]; and [`metrics`].

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

pub mod metrics;

#[cfg(test)]
mod laws;

/// The code of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
