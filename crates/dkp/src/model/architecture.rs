//! What a model is made of.

use crate::kernels::Kernel;
use crate::likelihoods::Likelihood;
use crate::processes::{
    Deterministic, GaussianFeatures, Input, InverseWishart, Process, WhitenedInverseWishart, WhitenedWishart,
};
use std::sync::Arc;

/// A kernel and the process that follows it.
#[derive(Clone)]
pub struct Layer<K = Arc<dyn Kernel>, P = Arc<dyn Process>> {
    /// The kernel.
    pub kernel: K,
    /// The process.
    pub process: P,
}

impl<K: Clone, P> Layer<K, P> {
    /// A layer for each process, all with the same kernel.
    pub(super) fn alike(kernel: &K, processes: impl Iterator<Item = P>) -> Vec<Layer<K, P>> {
        processes.map(|process| Layer { kernel: kernel.clone(), process }).collect()
    }
}

/// input → (kernel → process)* → kernel → output → likelihood.
///
/// The [families](super::Family) are constructors of it; every part can be changed before a [`Model`](super::Model) is made.
#[derive(Clone)]
pub struct Architecture {
    /// Whether features have a learned scale and bias of their own.
    pub scale_features: bool,
    /// The input layer.
    pub input: Input<Arc<dyn Process>>,
    /// Hidden layers.
    pub layers: Vec<Layer>,
    /// The last kernel.
    pub output: Arc<dyn Kernel>,
    /// How targets follow.
    pub likelihood: Arc<dyn Likelihood>,
    /// Whether outputs share the noise of their pseudo-targets: all of them, or those of a [group](Likelihood::pseudo_noises).
    pub share_noise: bool,
}

impl Architecture {
    /// A deep inverse Wishart process with `hidden` inverse-Wishart layers after the input's Ω.
    pub fn diwp(kernel: Arc<dyn Kernel>, hidden: usize, likelihood: Arc<dyn Likelihood>) -> Architecture {
        let input = Input::Omega(Arc::new(InverseWishart::INPUT) as Arc<dyn Process>);
        Architecture::of(input, Arc::new(InverseWishart::HIDDEN), kernel, hidden, likelihood)
    }

    /// The same with posteriors over whitened Bartlett factors ([`WhitenedInverseWishart`]).
    pub fn whitened_diwp(kernel: Arc<dyn Kernel>, hidden: usize, likelihood: Arc<dyn Likelihood>) -> Architecture {
        let input = Input::Omega(Arc::new(WhitenedInverseWishart::INPUT) as Arc<dyn Process>);
        Architecture::of(input, Arc::new(WhitenedInverseWishart::HIDDEN), kernel, hidden, likelihood)
    }

    /// A Gaussian process with the kernel of an infinitely wide network of `hidden` layers.
    pub fn nngp(kernel: Arc<dyn Kernel>, hidden: usize, likelihood: Arc<dyn Likelihood>) -> Architecture {
        Architecture::of(Input::Fixed, Arc::new(Deterministic), kernel, hidden, likelihood)
    }

    /// A deep Gaussian process with `hidden` layers of `width` features.
    pub fn dgp(kernel: Arc<dyn Kernel>, hidden: usize, width: usize, likelihood: Arc<dyn Likelihood>) -> Architecture {
        Architecture::of(Input::Fixed, Arc::new(GaussianFeatures::new(width)), kernel, hidden, likelihood)
    }

    /// A deep Wishart process with `hidden` layers of a width, which has the prior of the deep Gaussian process and another posterior.
    pub fn dwp(kernel: Arc<dyn Kernel>, hidden: usize, width: usize, likelihood: Arc<dyn Likelihood>) -> Architecture {
        Architecture::of(Input::Fixed, Arc::new(WhitenedWishart { width }), kernel, hidden, likelihood)
    }

    /// `hidden` layers that are all alike.
    pub fn of(
        input: Input<Arc<dyn Process>>,
        process: Arc<dyn Process>,
        kernel: Arc<dyn Kernel>,
        hidden: usize,
        likelihood: Arc<dyn Likelihood>,
    ) -> Architecture {
        let layers = Layer::alike(&kernel, std::iter::repeat_n(process, hidden));
        Architecture { scale_features: true, input, layers, output: kernel, likelihood, share_noise: true }
    }

    /// Whether every draw is the same, so that one is enough.
    pub fn is_deterministic(&self) -> bool {
        let of_layers = self.layers.iter().map(|l| &l.process);
        self.input.process().into_iter().chain(of_layers).all(|p| !p.is_random())
    }

    /// The deviations of the noises of the outputs' pseudo-targets, given that which the data suggest: one for each noise that there is.
    pub(crate) fn pseudo_noises(&self, deviation: f64) -> Vec<f64> {
        let groups = self.likelihood.pseudo_noises(deviation);
        if self.share_noise {
            return groups;
        }
        let each = self.likelihood.latents() / groups.len();
        groups.into_iter().flat_map(|d| std::iter::repeat_n(d, each)).collect()
    }
}
