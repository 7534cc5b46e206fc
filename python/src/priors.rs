//! Draws from priors and posteriors, as arrays.

use crate::model::Model;
use crate::raised;
use dkp::Registry;
use dkp::model::{PriorDraw, PriorFamily, PriorKernel};
use dkp_fit::on_threads;
use dkp_tape::random::Key;
use faer::{Mat, MatRef};
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

fn refused(reason: impl ToString) -> PyErr {
    PyValueError::new_err(reason.to_string())
}

/// The families of priors, with what they are.
#[pyfunction]
pub fn prior_families() -> Vec<(&'static str, &'static str)> {
    Registry::default().priors().iter().map(|p| (p.name, p.title)).collect()
}

/// Gram matrices, kernels and functions drawn from a prior at the rows of x: δ and width are those of the family where none is given, and a kernel's parameters 1.
#[pyfunction]
#[pyo3(signature = (family, x, kernel, parameters, layers, delta, width, functions, seed))]
#[allow(clippy::too_many_arguments)] // Python names them
pub fn draw_prior<'py>(
    py: Python<'py>,
    family: &str,
    x: PyReadonlyArray2<'py, f64>,
    kernel: &str,
    parameters: Option<Vec<f64>>,
    layers: usize,
    delta: Option<f64>,
    width: Option<usize>,
    functions: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let registry = Registry::default();
    let kernel = registry.kernel(kernel).map_err(refused)?;
    let parameters = parameters.unwrap_or_else(|| vec![1.0; kernel.parameters().len()]);
    let names = || registry.priors().iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
    let known = registry.priors().iter().find(|p| p.name == family);
    let known = known.ok_or_else(|| refused(format!("family {family}: there are {}", names())))?;
    let kernel = PriorKernel::of(kernel, &parameters);
    let (delta, width) = (delta.unwrap_or(PriorFamily::DELTA), width.unwrap_or(PriorFamily::WIDTH));
    let prior = (known.prior)(kernel, layers, delta, width);
    let x = x.as_array();
    let points = Mat::from_fn(x.ncols(), x.nrows(), |i, n| x[(n, i)]);
    let draw = py.detach(|| prior.draw(points.as_ref(), functions, Key::new(seed))).map_err(refused)?;
    let PriorDraw { grams, kernels, functions, .. } = draw;
    let told = PyDict::new(py);
    told.set_item("grams", matrices(py, &grams)?)?;
    told.set_item("kernels", matrices(py, &kernels)?)?;
    told.set_item("functions", matrix(functions.as_ref()).into_pyarray(py))?;
    Ok(told)
}

#[pymethods]
impl Model {
    /// Gram matrices at the inducing points drawn from the posterior: of the input and of each hidden layer draws × points × points; and Ω, if the input has one.
    fn posterior_grams<'py>(
        &self,
        py: Python<'py>,
        draws: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let drawn = || Ok(self.fitted.model.posterior_draws(draws, Key::new(seed))?);
        let drawn = py.detach(|| on_threads(Some(threads), drawn)).map_err(raised)?;
        let layers = drawn.first().map_or(0, |d| d.grams.len());
        let grams: Vec<_> =
            (0..layers).map(|l| stacked(drawn.iter().map(|d| &d.grams[l]).collect()).into_pyarray(py)).collect();
        let omega: Option<Vec<&Mat<f64>>> = drawn.iter().map(|d| d.omega.as_ref()).collect();
        let told = PyDict::new(py);
        told.set_item("grams", grams)?;
        told.set_item("omega", omega.filter(|o| !o.is_empty()).map(|o| stacked(o).into_pyarray(py)))?;
        Ok(told)
    }
}

fn matrices<'py>(py: Python<'py>, list: &[Mat<f64>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, list.iter().map(|m| matrix(m.as_ref()).into_pyarray(py)))
}

fn matrix(m: MatRef<'_, f64>) -> Array2<f64> {
    Array2::from_shape_fn((m.nrows(), m.ncols()), |(i, j)| m[(i, j)])
}

fn stacked(list: Vec<&Mat<f64>>) -> Array3<f64> {
    let (rows, cols) = list.first().map_or((0, 0), |m| (m.nrows(), m.ncols()));
    Array3::from_shape_fn((list.len(), rows, cols), |(d, i, j)| list[d][(i, j)])
}
