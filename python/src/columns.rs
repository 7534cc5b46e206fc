//! Columns of a table, as Python gives them.

use dkp_table::{Column, Table, Values};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A column's name, what it holds, and that.
pub type Given<'py> = (String, String, Bound<'py, PyAny>);

/// A table of these columns.
pub fn table(columns: &[Given<'_>]) -> PyResult<Table> {
    let named = columns.iter().map(|(name, kind, data)| Ok((name.clone(), values(kind, data)?)));
    let named = named.collect::<PyResult<Vec<(String, Values)>>>()?;
    Table::from_columns(named, &[]).map_err(|e| PyValueError::new_err(e.to_string()))
}

fn values(kind: &str, data: &Bound<'_, PyAny>) -> PyResult<Values> {
    Ok(match kind {
        "numbers" => Values::Numbers(data.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec()),
        "integers" => Values::from(data.extract::<PyReadonlyArray1<'_, i64>>()?.as_array().to_vec()),
        "booleans" => Values::from(data.extract::<Vec<Option<bool>>>()?),
        "texts" => Values::from(data.extract::<Vec<Option<String>>>()?),
        "categories" => Values::from(data.extract::<Vec<Option<String>>>()?).into_categories(),
        "unsupported" => Values::Unsupported(data.extract()?),
        other => return Err(PyValueError::new_err(format!("columns of {other} are not known"))),
    })
}

/// What values are called when each is a category of its own.
#[pyfunction]
pub fn names_of_categories(kind: &str, data: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match values(kind, data)?.into_categories() {
        Values::Categories(texts) => {
            Ok((0..texts.len()).map(|i| texts.get(i).unwrap_or_default().to_string()).collect())
        }
        _ => Err(PyValueError::new_err(format!("{kind} are no classes"))),
    }
}

/// Rows of numbers.
pub fn rows(y: &PyReadonlyArray2<'_, f64>) -> Vec<Vec<f64>> {
    y.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
}

/// The numbers of a column.
pub fn numbers(column: &Column) -> &[f64] {
    match column {
        Column::Numbers(values) => values,
        Column::Texts(_) => &[],
    }
}
