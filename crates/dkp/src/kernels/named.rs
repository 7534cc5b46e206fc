//! Kernels by name.

use super::*;
use crate::names::{UnknownName, parse};

/// What [`named`] knows.
pub const KERNEL_NAMES: &str = "sqexp, matern12, matern32, matern52, rational_quadratic, relu, leaky_relu(slope), arccos0, arccos2, \
                                arcsine, linear, identity, scaled(kernel), sum(kernel, kernel) and product(kernel, kernel)";

/// The kernel of a name: `Kernel::name` the other way.
///
/// ```
/// use dkp::kernels::{Kernel, named};
/// let kernel = named("sum(sqexp, scaled(relu))")?;
/// assert_eq!(kernel.name(), "sum(sqexp, scaled(relu))");
/// assert!(named("squexp").err().unwrap().to_string().starts_with("there is no kernel \"squexp\"; there are sqexp, matern12"));
/// # Ok::<(), dkp::UnknownName>(())
/// ```
pub fn named(text: &str) -> Result<Box<dyn Kernel>, UnknownName> {
    let unknown = || UnknownName { what: "kernel", name: text.to_string(), known: KERNEL_NAMES };
    let (name, arguments) = parse(text).ok_or_else(unknown)?;
    Ok(match (name, arguments.as_slice()) {
        ("sqexp", []) => Box::new(SquaredExponential),
        ("matern12", []) => Box::new(Matern12),
        ("matern32", []) => Box::new(Matern32),
        ("matern52", []) => Box::new(Matern52),
        ("rational_quadratic", []) => Box::new(RationalQuadratic),
        ("relu", []) => Box::new(Relu),
        ("leaky_relu", [slope]) => {
            let slope: f64 = slope.parse().map_err(|_| unknown())?;
            Box::new(LeakyRelu { slope: Some(slope).filter(|s| s.is_finite()).ok_or_else(unknown)? })
        }
        ("arccos0", []) => Box::new(ArcCosine0),
        ("arccos2", []) => Box::new(ArcCosine2),
        ("arcsine", []) => Box::new(Arcsine),
        ("linear", []) => Box::new(Linear),
        ("identity", []) => Box::new(Identity),
        ("scaled", [a]) => Box::new(Scaled(named(a)?)),
        ("sum", [a, b]) => Box::new(Sum(named(a)?, named(b)?)),
        ("product", [a, b]) => Box::new(Product(named(a)?, named(b)?)),
        _ => return Err(unknown()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_by_its_own_name() {
        for name in
            ["sqexp", "matern12", "matern32", "matern52", "rational_quadratic", "relu", "leaky_relu(0.1)", "arccos0"]
                .into_iter()
                .chain(["arccos2", "arcsine", "linear", "identity", "product(scaled(relu), sum(linear, sqexp))"])
        {
            assert_eq!(named(name).unwrap().name(), name);
        }
        for wrong in
            ["", "sqexp(1)", "leaky_relu(x)", "leaky_relu(inf)", "sum(relu)", "scaled(nothing)", "sum(relu, relu"]
        {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }
}
