//! Whole models: input → (kernel → process)* → kernel → output.

mod prior;

pub use prior::{Prior, PriorDraw, PriorError, PriorInput, PriorKernel, PriorLayer, PriorProcessKind, PriorSampler};

#[cfg(test)]
mod tests;
