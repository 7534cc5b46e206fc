//! The output layer: a Gaussian process with global inducing points.

mod posterior;

pub use posterior::{Given, Posterior};

#[cfg(test)]
mod tests;
