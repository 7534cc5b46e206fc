//! A fitted model.

use crate::columns::{Given, numbers, rows, table};
use crate::raised;
use dkp_fit::{Fitted, Predictions, Table, on_threads};
use numpy::ndarray::{Array1, Array2, Array3};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray2};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

/// Rows that are predicted at once: draws are made anew for each such block.
const ROWS: usize = 16_384;

/// A fitted model: columns in, arrays out.
#[pyclass(frozen, module = "dkp._dkp")]
pub struct Model {
    pub fitted: Fitted,
}

impl Model {
    /// What is made of the predictions of each block of rows, on threads of their own, while Python goes on.
    fn predicted<T: Send>(
        &self,
        py: Python<'_>,
        table: &Table,
        (draws, seed, threads): (usize, u64, usize),
        make: impl Fn(&Predictions, usize) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        let fitted = &self.fitted;
        let blocks = py.detach(|| {
            on_threads(Some(threads), || {
                let mut made = Vec::new();
                for frame in table.frames(&fitted.card.columns(), ROWS)? {
                    let frame = frame?;
                    made.push(make(&fitted.predict_frame(&frame, draws, seed)?, frame.first()));
                }
                Ok(made)
            })
        });
        blocks.map_err(raised)
    }
}

#[pymethods]
impl Model {
    /// For each row and target mean, deviation, those of the model and of noise, and quantiles; or the probability of each class: rows × values.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Given<'py>>,
        quantiles: Vec<f64>,
        draws: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if let Some(p) = quantiles.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
            return Err(PyValueError::new_err(format!("quantile {p}: expected numbers between 0 and 1")));
        }
        let of_classes = self.fitted.card.labels().is_some();
        let block = |p: &Predictions, _: usize| {
            let columns = p.columns(&quantiles, false);
            // the first of classes is the most probable one
            let own: Vec<&[f64]> = columns.iter().skip(usize::from(of_classes)).map(|c| numbers(&c.1)).collect();
            (0..p.rows()).flat_map(|row| own.iter().map(move |c| c[row])).collect::<Vec<f64>>()
        };
        let table = table(&columns, &self.fitted.card.na)?;
        let values = self.predicted(py, &table, (draws, seed, threads), block)?.concat();
        let card = &self.fitted.card;
        let width = card.labels().map_or(card.targets.count() * (4 + quantiles.len()), <[String]>::len);
        let shaped = Array2::from_shape_vec((values.len() / width, width), values);
        Ok(shaped.map_err(|e| PyValueError::new_err(e.to_string()))?.into_pyarray(py))
    }

    /// The logarithm of the density of all targets of each row together, or of a class's probability, by its place among the labels.
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Given<'py>>,
        y: PyReadonlyArray2<'py, f64>,
        draws: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (table, y) = (table(&columns, &self.fitted.card.na)?, rows(&y));
        let block = |p: &Predictions, first: usize| {
            (0..p.rows()).map(|row| p.log_density(row, &y[first + row])).collect::<Vec<f64>>()
        };
        let logs = self.predicted(py, &table, (draws, seed, threads), block)?.concat();
        Ok(Array1::from_vec(logs).into_pyarray(py))
    }

    /// Targets drawn jointly: draws × rows × targets.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Given<'py>>,
        draws: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let table = table(&columns, &self.fitted.card.na)?;
        let drawn = py.detach(|| on_threads(Some(threads), || self.fitted.sample(&table, draws, seed)));
        let (values, targets) = (drawn.map_err(raised)?.concat(), self.fitted.card.targets.count());
        let rows = values.len() / (draws * targets).max(1);
        let shaped = Array3::from_shape_vec((draws, rows, targets), values);
        Ok(shaped.map_err(|e| PyValueError::new_err(e.to_string()))?.into_pyarray(py))
    }

    /// What the model file says of how it came about, as JSON.
    fn card(&self) -> PyResult<String> {
        serde_json::to_string(&self.fitted.card).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// The model in one line.
    fn description(&self) -> String {
        self.fitted.description()
    }

    /// Names of classes; none where numbers are predicted.
    fn labels(&self) -> Option<Vec<String>> {
        self.fitted.card.labels().map(<[String]>::to_vec)
    }

    /// The columns that it predicts.
    fn targets(&self) -> Vec<String> {
        self.fitted.card.targets.names()
    }

    /// Columns with their shares of what matters, the greatest first.
    fn relevance(&self, py: Python<'_>, threads: usize) -> PyResult<Vec<(String, f64)>> {
        py.detach(|| on_threads(Some(threads), || self.fitted.relevance())).map_err(raised)
    }

    /// The course of training.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let course = self.fitted.history();
        let of = |f: &dyn Fn(&dkp_report::TracePoint) -> f64| {
            Array1::from_vec(course.iter().map(f).collect::<Vec<f64>>()).into_pyarray(py)
        };
        let history = PyDict::new(py);
        history.set_item("step", of(&|p| p.step as f64))?;
        history.set_item("bound", of(&|p| p.bound))?;
        history.set_item("likelihood", of(&|p| p.likelihood))?;
        history.set_item("input", of(&|p| p.input))?;
        history.set_item("output", of(&|p| p.output))?;
        history.set_item("rate", of(&|p| p.rate))?;
        let layers = course.first().map_or(0, |p| p.layers.len());
        for i in 0..layers {
            history.set_item(format!("layer {}", i + 1), of(&|p| p.layers[i]))?;
        }
        Ok(history)
    }

    /// The report, a page of HTML.
    fn report(&self, py: Python<'_>, threads: usize) -> PyResult<String> {
        let page = || Ok(dkp_report::html(&self.fitted.report()?));
        py.detach(|| on_threads(Some(threads), page)).map_err(raised)
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.fitted.save(&path)).map_err(|e| PyOSError::new_err(e.to_string()))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        if let Err(error) = std::fs::metadata(&path) {
            // FileNotFoundError and the like
            return Err(error.into());
        }
        Ok(Model { fitted: py.detach(|| Fitted::load(&path)).map_err(raised)? })
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("model.dkp");
        self.save(py, path.clone())?;
        Ok(PyBytes::new(py, &std::fs::read(path)?))
    }

    /// The same, read.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Model> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("model.dkp");
        std::fs::write(&path, bytes)?;
        Model::load(py, path)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Model>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }
}
