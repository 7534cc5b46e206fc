//! Columns in memory, as they are given.

use crate::{Column, Texts, cell};

/// A column of a table in memory. Numbers, truth values and texts are made from vectors of them, or of options.
///
/// What it says is what it is: unlike in a CSV file, a text "NA" is a text. Texts that are all numbers or dates are taken for such,
/// as in files; categories are not.
///
/// ```
/// use dkp_table::Values;
/// assert_eq!(Values::from(vec![Some(true), None]), Values::Booleans(vec![Some(true), None]));
/// assert_eq!(Values::from(vec!["red", "blue"]).rows(), Some(2));
/// // codes that are no quantities
/// let codes = Values::from(vec![3, 1, 3]).into_categories();
/// assert_eq!(codes, Values::Categories([Some("3"), Some("1"), Some("3")].into_iter().collect()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers; NaN is missing.
    Numbers(Vec<f64>),
    /// Whole numbers, all of whose digits are kept where they are read as text.
    Integers(Vec<Option<i64>>),
    /// Truth values.
    Booleans(Vec<Option<bool>>),
    /// Texts.
    Texts(Texts),
    /// One of several things, each named by a text: never taken for numbers, truth values or dates.
    Categories(Texts),
    /// Something else, by its type's name: a column that is there, but can only be ignored.
    Unsupported(String),
}

impl Values {
    /// How many there are, if that is known.
    pub fn rows(&self) -> Option<usize> {
        match self {
            Values::Numbers(values) => Some(values.len()),
            Values::Integers(values) => Some(values.len()),
            Values::Booleans(values) => Some(values.len()),
            Values::Texts(texts) | Values::Categories(texts) => Some(texts.len()),
            Values::Unsupported(_) => None,
        }
    }

    /// The values as names of categories: numbers in their shortest form, `true` and `false`.
    pub fn into_categories(self) -> Values {
        Values::Categories(match self {
            Values::Numbers(values) => texts_of(values, |&v| (!v.is_nan()).then(|| cell::number_text(v))),
            Values::Integers(values) => texts_of(values, |v| v.map(|v| v.to_string())),
            Values::Booleans(values) => texts_of(values, |v| v.map(|v| v.to_string())),
            Values::Texts(texts) | Values::Categories(texts) => texts,
            Values::Unsupported(_) => return self,
        })
    }
}

fn texts_of<T>(values: Vec<T>, text: impl Fn(&T) -> Option<String>) -> Texts {
    let mut texts = Texts::default();
    values.iter().for_each(|v| texts.push(text(v).as_deref()));
    texts
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Values {
        Values::Numbers(values)
    }
}

impl From<Vec<Option<f64>>> for Values {
    fn from(values: Vec<Option<f64>>) -> Values {
        Values::Numbers(values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect())
    }
}

impl From<Vec<i64>> for Values {
    fn from(values: Vec<i64>) -> Values {
        Values::Integers(values.into_iter().map(Some).collect())
    }
}

impl From<Vec<Option<i64>>> for Values {
    fn from(values: Vec<Option<i64>>) -> Values {
        Values::Integers(values)
    }
}

impl From<Vec<bool>> for Values {
    fn from(values: Vec<bool>) -> Values {
        Values::Booleans(values.into_iter().map(Some).collect())
    }
}

impl From<Vec<Option<bool>>> for Values {
    fn from(values: Vec<Option<bool>>) -> Values {
        Values::Booleans(values)
    }
}

impl From<Texts> for Values {
    fn from(texts: Texts) -> Values {
        Values::Texts(texts)
    }
}

impl From<Vec<&str>> for Values {
    fn from(texts: Vec<&str>) -> Values {
        Values::Texts(texts.into_iter().map(Some).collect())
    }
}

impl From<Vec<Option<&str>>> for Values {
    fn from(texts: Vec<Option<&str>>) -> Values {
        Values::Texts(texts.into_iter().collect())
    }
}

impl From<Vec<String>> for Values {
    fn from(texts: Vec<String>) -> Values {
        Values::Texts(texts.iter().map(|t| Some(t.as_str())).collect())
    }
}

impl From<Vec<Option<String>>> for Values {
    fn from(texts: Vec<Option<String>>) -> Values {
        Values::Texts(texts.iter().map(Option::as_deref).collect())
    }
}

impl From<Column> for Values {
    fn from(column: Column) -> Values {
        match column {
            Column::Numbers(numbers) => Values::Numbers(numbers),
            Column::Texts(texts) => Values::Texts(texts),
        }
    }
}
