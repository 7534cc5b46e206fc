//! What Python sees of the library between tables and models: columns in, arrays out.

mod columns;
mod fitting;
mod model;
mod priors;

use pyo3::prelude::*;

#[pymodule]
fn _dkp(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(columns::labels_of_classes, module)?)?;
    module.add_function(wrap_pyfunction!(priors::prior_families, module)?)?;
    module.add_function(wrap_pyfunction!(priors::draw_prior, module)?)?;
    module.add_function(wrap_pyfunction!(fitting::fit, module)?)
}

/// Why something could not be done, as Python's exceptions say it.
fn raised(error: dkp_fit::Error) -> PyErr {
    use pyo3::exceptions::{PyOSError, PyValueError};
    let message = error.to_string();
    match error {
        dkp_fit::Error::Write { .. } => PyOSError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
