//! Models that go by one name.

use super::Architecture;
use crate::kernels::Kernel;
use crate::likelihoods::Likelihood;
use crate::processes::{Input, Process};
use std::sync::Arc;

/// Models that differ in depth, kernels and likelihood alone; each is beside its process, and a [`Registry`](crate::Registry) has them by name.
#[derive(Clone, Copy)]
pub struct Family {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in words.
    pub title: &'static str,
    /// Posteriors that there are, by name; the first is the default.
    pub posteriors: &'static [&'static str],
    /// What its models are made of.
    pub parts: fn(&FamilyOptions<'_>) -> FamilyParts,
}

/// The input layer, and the process of hidden layers.
pub type FamilyParts = (Input<Arc<dyn Process>>, Arc<dyn Process>);

/// What a family may want to be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FamilyOptions<'a> {
    /// One of the family's posteriors; another name stands for the first.
    pub posterior: &'a str,
    /// Features of a layer, where layers have such.
    pub width: usize,
    /// δ and γ of hidden layers, where they start.
    pub hidden: [f64; 2],
    /// What the input layer draws, where the family leaves that open.
    pub drawn: Input<()>,
    /// δ and γ of the input layer, where they start.
    pub input: [f64; 2],
}

impl Family {
    /// A model of the family with a kernel for each hidden layer and, last, for the output.
    ///
    /// # Panics
    ///
    /// If there is no kernel.
    #[track_caller]
    pub fn architecture(
        &self,
        options: &FamilyOptions<'_>,
        kernels: &[Arc<dyn Kernel>],
        likelihood: Arc<dyn Likelihood>,
    ) -> Architecture {
        let [hidden @ .., output] = kernels else { panic!("Family: a kernel for the output is needed") };
        let (input, process) = (self.parts)(options);
        let mut architecture = Architecture::of(input, process, output.clone(), hidden.len(), likelihood);
        architecture.layers.iter_mut().zip(hidden).for_each(|(layer, kernel)| layer.kernel = kernel.clone());
        architecture
    }
}
