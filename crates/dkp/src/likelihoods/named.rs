//! Likelihoods by name.

use super::*;
use crate::names::{UnknownName, parse};

/// What [`named`] knows.
pub const LIKELIHOOD_NAMES: &str =
    "gaussian(targets), student_t[(targets)], bernoulli[(targets)], poisson[(targets)] and categorical(classes)";

/// The likelihood of a name: `Likelihood::name` the other way.
///
/// ```
/// use dkp::likelihoods::{Likelihood, named};
/// assert_eq!(named("categorical(3)")?.latents(), 3);
/// # Ok::<(), dkp::UnknownName>(())
/// ```
pub fn named(text: &str) -> Result<Box<dyn Likelihood>, UnknownName> {
    let unknown = || UnknownName { what: "likelihood", name: text.to_string(), known: LIKELIHOOD_NAMES };
    let (name, arguments) = parse(text).ok_or_else(unknown)?;
    let count = |text: &str, least: usize| {
        text.parse::<usize>().ok().filter(|n| (least..=100_000).contains(n)).ok_or_else(unknown)
    };
    // one target needs no number
    let targets = |arguments: &[&str]| match arguments {
        [] => Ok(1),
        [targets] => count(targets, 1),
        _ => Err(unknown()),
    };
    Ok(match (name, arguments.as_slice()) {
        ("gaussian", [targets]) => Box::new(Gaussian::new(count(targets, 1)?)),
        ("categorical", [classes]) => Box::new(Categorical::new(count(classes, 2)?)),
        ("student_t", arguments) => Box::new(Scalar::several(StudentT, targets(arguments)?)),
        ("bernoulli", arguments) => Box::new(Scalar::several(Bernoulli, targets(arguments)?)),
        ("poisson", arguments) => Box::new(Scalar::several(Poisson, targets(arguments)?)),
        _ => return Err(unknown()),
    })
}

#[cfg(test)]
mod named_tests {
    use super::*;

    #[test]
    fn every_likelihood_is_found_by_its_own_name() {
        for name in ["gaussian(2)", "categorical(5)", "student_t", "bernoulli", "poisson"] {
            assert_eq!(named(name).unwrap().name(), name);
        }
        for name in ["student_t(2)", "bernoulli(3)", "poisson(4)"] {
            assert_eq!(named(name).unwrap().name(), name);
        }
        assert_eq!(named("poisson(1)").unwrap().name(), "poisson");
        let wrong = ["gaussian", "gaussian(0)", "categorical(1)", "categorical(-1)", "normal"];
        for wrong in wrong.into_iter().chain(["poisson(0)", "poisson(2, 2)"]) {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }
}
