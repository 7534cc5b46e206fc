//! Deep kernel processes: Bayesian models made of kernels and random Gram matrices.
//!
//! The first of its parts: [`kernels`], as functions of a Gram matrix.

pub mod kernels;
