//! What a model is made of, and the families.

use crate::kernels::Kernel;
use crate::likelihoods::Likelihood;
use std::sync::Arc;

/// The input layer of a model that is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// G₁ = XᵀX/N₀.
    Fixed,
    /// A Bayesian lengthscale matrix Ω; for more features than inducing points, where these allow it, [`Gram`](InputKind::Gram) instead.
    InverseWishart,
    /// Its equivalent for many features: G₁ itself is drawn.
    Gram,
}

/// What follows a kernel in a model that is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessKind {
    /// Nothing.
    Deterministic,
    /// An inverse Wishart process with a learned posterior.
    InverseWishart,
    /// Gaussian features with a learned posterior.
    Features {
        /// How many.
        width: usize,
    },
}

/// A kernel and the process that follows it.
#[derive(Clone)]
pub struct Layer {
    /// The kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The process.
    pub process: ProcessKind,
}

/// input → (kernel → process)* → kernel → output → likelihood.
///
/// The families are constructors of it; every part can be changed before a [`Model`](super::Model) is made.
#[derive(Clone)]
pub struct Architecture {
    /// Whether features have a learned scale and bias of their own.
    pub scale_features: bool,
    /// The input layer.
    pub input: InputKind,
    /// Hidden layers.
    pub layers: Vec<Layer>,
    /// The last kernel.
    pub output: Arc<dyn Kernel>,
    /// How targets follow.
    pub likelihood: Arc<dyn Likelihood>,
    /// Whether all outputs share a precision.
    pub share_precision: bool,
}

impl Architecture {
    /// A deep inverse Wishart process with `hidden` inverse-Wishart layers after the input's Ω.
    pub fn diwp(kernel: Arc<dyn Kernel>, hidden: usize, likelihood: Arc<dyn Likelihood>) -> Architecture {
        Architecture::of(InputKind::InverseWishart, ProcessKind::InverseWishart, kernel, hidden, likelihood)
    }

    /// A Gaussian process with the kernel of an infinitely wide network of `hidden` layers.
    pub fn nngp(kernel: Arc<dyn Kernel>, hidden: usize, likelihood: Arc<dyn Likelihood>) -> Architecture {
        Architecture::of(InputKind::Fixed, ProcessKind::Deterministic, kernel, hidden, likelihood)
    }

    /// A deep Gaussian process with `hidden` layers of `width` features.
    pub fn dgp(kernel: Arc<dyn Kernel>, hidden: usize, width: usize, likelihood: Arc<dyn Likelihood>) -> Architecture {
        Architecture::of(InputKind::Fixed, ProcessKind::Features { width }, kernel, hidden, likelihood)
    }

    fn of(
        input: InputKind,
        process: ProcessKind,
        kernel: Arc<dyn Kernel>,
        hidden: usize,
        likelihood: Arc<dyn Likelihood>,
    ) -> Architecture {
        let layers = (0..hidden).map(|_| Layer { kernel: kernel.clone(), process }).collect();
        Architecture { scale_features: true, input, layers, output: kernel, likelihood, share_precision: true }
    }

    /// Whether every draw is the same, so that one is enough.
    pub fn is_deterministic(&self) -> bool {
        self.input == InputKind::Fixed && self.layers.iter().all(|l| l.process == ProcessKind::Deterministic)
    }
}
