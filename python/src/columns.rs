//! Columns of a table, as Python gives them.

use dkp_table::{Column, Frame, Kind, Table, Target, Values};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A column's name, what it holds, and that.
pub type Given<'py> = (String, String, Bound<'py, PyAny>);

/// A table of these columns, with the texts that mean a missing value.
pub fn table(columns: &[Given<'_>], na: &[String]) -> PyResult<Table> {
    let named = columns.iter().map(|(name, kind, data)| Ok((name.clone(), values(kind, data)?)));
    let named = named.collect::<PyResult<Vec<(String, Values)>>>()?;
    Table::from_columns(named, na).map_err(|e| PyValueError::new_err(e.to_string()))
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

/// What the library calls classes that are these values, of which each is another.
#[pyfunction]
pub fn labels_of_classes(kind: &str, data: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let refused = |reason: String| PyValueError::new_err(reason);
    let Values::Categories(texts) = values(kind, data)?.into_categories() else {
        return Err(refused(format!("{kind} are no classes")));
    };
    let names: Vec<String> = (0..texts.len()).map(|i| texts.get(i).unwrap_or_default().to_string()).collect();
    let frame = Frame::new(0, vec![("y".to_string(), Column::Texts(texts))]).map_err(|e| refused(e.to_string()))?;
    let rows: Vec<usize> = (0..names.len()).collect();
    let target = Target::fit(&frame, &rows, "y", Kind::Text).map_err(|e| refused(e.to_string()))?;
    let places = target.encode(&frame).map_err(|e| refused(e.to_string()))?.values;
    for (i, place) in places.iter().enumerate() {
        if let Some(same) = places[..i].iter().position(|p| p == place) {
            return Err(refused(format!("classes \"{}\" and \"{}\" are one class to a table", names[same], names[i])));
        }
    }
    let labels = target.classes().unwrap_or_default();
    Ok(places.iter().filter_map(|p| labels.get(*p as usize).cloned()).collect())
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
