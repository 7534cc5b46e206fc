//! Parts of models by name, as files and the command line write them: `sqexp`, `features(13)`, `sum(relu, scaled(linear))`.
//!
//! A part says its own name; a [`Registry`] finds the part again. The one that everything uses by default has the parts of this crate;
//! a program that brings its own adds them:
//!
//! ```
//! use dkp::Registry;
//! use dkp::kernels::{Kernel, Scaled};
//! use std::sync::Arc;
//! let mut registry = Registry::default();
//! registry.add_kernel("twice(kernel)", |a| {
//!     let kernel = a.kernel(0)?;
//!     Ok(Arc::new(dkp::kernels::Sum(kernel.clone(), kernel)))
//! });
//! assert_eq!(registry.kernel("twice(scaled(relu))")?.parameters(), ["1.scale", "2.scale"]);
//! assert_eq!(
//!     registry.process("invers_wishart").err().unwrap().to_string(),
//!     "there is no process \"invers_wishart\"; there are deterministic, features(width), own_noise_features(width), inverse_wishart, whitened_inverse_wishart and wishart(width)"
//! );
//! # Ok::<(), dkp::UnknownName>(())
//! ```

use crate::kernels::{self, Kernel};
use crate::likelihoods::{self, Likelihood};
use crate::model::{self, Family, PriorFamily};
use crate::processes::{self, Process};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A name that stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} \"{name}\"; there are {known}")]
pub struct UnknownName {
    /// "kernel", "process", "likelihood" or "family".
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// Those that there are.
    pub known: String,
}

/// Names of kernels, processes, likelihoods and families, and how they are made.
///
/// An entry's *form* says how its name is written: `sqexp`, `leaky_relu(slope)`, `student_t[(targets)]` with an argument that may be left out. A
/// form that is there already is replaced.
#[derive(Clone)]
pub struct Registry {
    kernels: Entries<dyn Kernel>,
    processes: Entries<dyn Process>,
    likelihoods: Entries<dyn Likelihood>,
    families: Vec<Family>,
    priors: Vec<PriorFamily>,
}

/// Forms, and what makes the things of these names.
type Entries<T> = Vec<Entry<T>>;

struct Entry<T: ?Sized> {
    form: String,
    make: Arc<Make<T>>,
}

type Make<T> = dyn Fn(&Arguments<'_>) -> Result<Arc<T>, UnknownName> + Send + Sync;

impl<T: ?Sized> Clone for Entry<T> {
    fn clone(&self) -> Entry<T> {
        Entry { form: self.form.clone(), make: self.make.clone() }
    }
}

impl Default for Registry {
    /// The parts of this crate.
    fn default() -> Registry {
        let mut registry = Registry {
            kernels: Vec::new(),
            processes: Vec::new(),
            likelihoods: Vec::new(),
            families: Vec::new(),
            priors: Vec::new(),
        };
        kernels::register(&mut registry);
        processes::register(&mut registry);
        likelihoods::register(&mut registry);
        model::register_priors(&mut registry);
        registry
    }
}

impl Registry {
    /// Adds a kernel under a form.
    pub fn add_kernel(
        &mut self,
        form: &str,
        make: impl Fn(&Arguments<'_>) -> Result<Arc<dyn Kernel>, UnknownName> + Send + Sync + 'static,
    ) {
        add(&mut self.kernels, form, Arc::new(make));
    }

    /// Adds a process under a form.
    pub fn add_process(
        &mut self,
        form: &str,
        make: impl Fn(&Arguments<'_>) -> Result<Arc<dyn Process>, UnknownName> + Send + Sync + 'static,
    ) {
        add(&mut self.processes, form, Arc::new(make));
    }

    /// Adds a likelihood under a form; an argument called `classes` is the number of classes, of which a table tells.
    pub fn add_likelihood(
        &mut self,
        form: &str,
        make: impl Fn(&Arguments<'_>) -> Result<Arc<dyn Likelihood>, UnknownName> + Send + Sync + 'static,
    ) {
        add(&mut self.likelihoods, form, Arc::new(make));
    }

    /// Adds a family.
    pub fn add_family(&mut self, family: Family) {
        self.families.retain(|f| f.name != family.name);
        self.families.push(family);
    }

    /// Adds a family of priors.
    pub fn add_prior(&mut self, prior: PriorFamily) {
        self.priors.retain(|p| p.name != prior.name);
        self.priors.push(prior);
    }

    /// The kernel of a name: [`Kernel::name`] the other way.
    pub fn kernel(&self, text: &str) -> Result<Arc<dyn Kernel>, UnknownName> {
        self.find("kernel", &self.kernels, text)
    }

    /// The process of a name: [`Process::name`] the other way.
    pub fn process(&self, text: &str) -> Result<Arc<dyn Process>, UnknownName> {
        self.find("process", &self.processes, text)
    }

    /// The likelihood of a name: [`Likelihood::name`] the other way.
    pub fn likelihood(&self, text: &str) -> Result<Arc<dyn Likelihood>, UnknownName> {
        self.find("likelihood", &self.likelihoods, text)
    }

    /// The family of a name.
    pub fn family(&self, name: &str) -> Result<&Family, UnknownName> {
        let unknown = || UnknownName {
            what: "family",
            name: name.to_string(),
            known: list(self.families.iter().map(|f| f.name)),
        };
        self.families.iter().find(|f| f.name == name).ok_or_else(unknown)
    }

    /// All families.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// All families of priors.
    pub fn priors(&self) -> &[PriorFamily] {
        &self.priors
    }

    /// Forms of likelihoods.
    pub fn likelihoods(&self) -> impl Iterator<Item = &str> {
        self.likelihoods.iter().map(|e| e.form.as_str())
    }

    fn find<T: ?Sized>(&self, what: &'static str, entries: &Entries<T>, text: &str) -> Result<Arc<T>, UnknownName> {
        let known = || list(entries.iter().map(|e| e.form.as_str()));
        let unknown = || UnknownName { what, name: text.to_string(), known: known() };
        let (name, arguments) = parse(text).ok_or_else(unknown)?;
        let entry = entries.iter().find(|e| split_form(&e.form).0 == name).ok_or_else(unknown)?;
        if !split_form(&entry.form).1.contains(&arguments.len()) {
            return Err(unknown());
        }
        (entry.make)(&Arguments { registry: self, texts: &arguments, unknown: &unknown })
    }
}

/// What stands in a name's parentheses.
pub struct Arguments<'a> {
    registry: &'a Registry,
    texts: &'a [&'a str],
    unknown: &'a dyn Fn() -> UnknownName,
}

impl Arguments<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Argument i as a finite number.
    pub fn number(&self, i: usize) -> Result<f64, UnknownName> {
        let number = self.texts.get(i).and_then(|t| t.parse::<f64>().ok());
        number.filter(|v| v.is_finite()).ok_or_else(self.unknown)
    }

    /// Argument i as a whole number within a range.
    pub fn count(&self, i: usize, range: RangeInclusive<usize>) -> Result<usize, UnknownName> {
        let count = self.texts.get(i).and_then(|t| t.parse::<usize>().ok());
        count.filter(|n| range.contains(n)).ok_or_else(self.unknown)
    }

    /// Argument i as a kernel.
    pub fn kernel(&self, i: usize) -> Result<Arc<dyn Kernel>, UnknownName> {
        self.registry.kernel(self.texts.get(i).ok_or_else(self.unknown)?)
    }
}

fn add<T: ?Sized>(entries: &mut Entries<T>, form: &str, make: Arc<Make<T>>) {
    entries.retain(|e| split_form(&e.form).0 != split_form(form).0);
    entries.push(Entry { form: form.to_string(), make });
}

/// The name in a form, and how many arguments it takes.
fn split_form(form: &str) -> (&str, RangeInclusive<usize>) {
    let name = form.split(['(', '[']).next().unwrap_or(form);
    let most = if name == form { 0 } else { 1 + form.matches(',').count() };
    (name, if form.contains('[') { 0 } else { most }..=most)
}

/// a, b and c
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => "none".to_string(),
        [one] => one.to_string(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// A name with its arguments, or none if parentheses do not match.
pub(crate) fn parse(text: &str) -> Option<(&str, Vec<&str>)> {
    let text = text.trim();
    let Some(open) = text.find('(') else { return (!text.contains([')', ','])).then_some((text, Vec::new())) };
    let inner = text[open + 1..].strip_suffix(')')?;
    let (mut arguments, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                arguments.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(inner[start..].trim());
    (depth == 0).then_some((text[..open].trim(), arguments))
}

/// The name of a type that has none of its own.
pub(crate) fn name_of_type<T: ?Sized>() -> String {
    let path = std::any::type_name::<T>();
    path.rsplit("::").next().unwrap_or(path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_at_the_outer_commas() {
        assert_eq!(parse(" sqexp "), Some(("sqexp", vec![])));
        assert_eq!(parse("sum(relu, sum(a,b))"), Some(("sum", vec!["relu", "sum(a,b)"])));
        for wrong in ["sum(a", "a)", "sum(a))b(", "a,b", "sum(a)b"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn forms_say_how_many_arguments_there_are() {
        assert_eq!(split_form("sqexp"), ("sqexp", 0..=0));
        assert_eq!(split_form("sum(kernel, kernel)"), ("sum", 2..=2));
        assert_eq!(split_form("student_t[(targets)]"), ("student_t", 0..=1));
    }

    #[test]
    fn every_part_is_found_by_its_own_name() {
        let r = Registry::default();
        let kernels = ["sqexp", "matern12", "matern32", "matern52", "rational_quadratic", "relu", "leaky_relu(0.1)"];
        let others =
            ["arccos0", "arccos2", "arcsine", "linear", "identity", "product(scaled(relu), sum(linear, sqexp))"];
        for name in kernels.into_iter().chain(others) {
            assert_eq!(r.kernel(name).unwrap().name(), name);
        }
        for name in [
            "deterministic",
            "features(4)",
            "own_noise_features(4)",
            "inverse_wishart",
            "whitened_inverse_wishart",
            "wishart(3)",
        ] {
            assert_eq!(r.process(name).unwrap().name(), name);
        }
        let one = ["gaussian", "categorical(5)", "varying", "varying_t", "student_t", "bernoulli", "poisson"];
        for name in one.into_iter().chain(["gaussian(2)", "student_t(2)", "bernoulli(3)", "poisson(4)"]) {
            assert_eq!(r.likelihood(name).unwrap().name(), name);
        }
        assert_eq!(r.likelihood("poisson(1)").unwrap().name(), "poisson");
        for name in ["diwp", "nngp", "dgp", "linear_dgp", "dwp"] {
            assert_eq!(r.family(name).unwrap().name, name);
        }
    }

    #[test]
    fn names_that_stand_for_nothing_are_refused() {
        let r = Registry::default();
        let kernels =
            ["", "sqexp(1)", "leaky_relu(x)", "leaky_relu(inf)", "sum(relu)", "scaled(nothing)", "sum(relu, relu"];
        kernels.iter().for_each(|wrong| assert!(r.kernel(wrong).is_err(), "{wrong}"));
        let likelihoods =
            ["gaussian(0)", "categorical", "categorical(1)", "categorical(-1)", "normal", "poisson(2, 2)"];
        likelihoods.iter().for_each(|wrong| assert!(r.likelihood(wrong).is_err(), "{wrong}"));
        for wrong in ["features", "features(0)", "inverse_wishart(3)", "wishart", "wishart(2.5)"] {
            assert!(r.process(wrong).is_err(), "{wrong}");
        }
        // of a part within another, the name of the part
        assert_eq!(r.kernel("scaled(nothing)").err().unwrap().name, "nothing");
        assert_eq!(
            r.family("dkm").err().unwrap().to_string(),
            "there is no family \"dkm\"; there are diwp, nngp, dgp, linear_dgp and dwp"
        );
    }
}
