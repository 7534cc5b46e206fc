//! Why predictions are what they are: how they go with columns, and the rows that surprised the model most.

use crate::calendar;
use crate::text::number;
use serde::{Deserialize, Serialize};

/// How predictions go with columns, and where they were wrong. What is empty is left out of the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The column that is predicted.
    pub target: String,
    /// For single columns, the one that matters most first.
    pub effects: Vec<Effect>,
    /// For the two columns that work together most.
    pub pair: Option<Pair>,
    /// Held-out rows, the most surprising first.
    pub surprises: Vec<Surprise>,
}

/// A value of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Place {
    /// A number.
    Number(f64),
    /// A date, as days since 1970-01-01.
    Date(f64),
    /// A time of day, as a fraction of it.
    Clock(f64),
    /// A text.
    Level(String),
}

impl Place {
    /// Where it lies, unless it is a text.
    pub(crate) fn value(&self) -> Option<f64> {
        match self {
            Place::Number(v) | Place::Date(v) | Place::Clock(v) => Some(*v),
            Place::Level(_) => None,
        }
    }

    /// As people read it.
    pub(crate) fn text(&self) -> String {
        match self {
            Place::Number(v) => number(*v),
            Place::Date(v) => calendar::date(*v),
            Place::Clock(v) => calendar::time(*v),
            Place::Level(text) => text.clone(),
        }
    }
}

/// The mean prediction for some rows, when a column of all of them is set to one value after another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The column's name.
    pub column: String,
    /// The values: rising, or texts.
    pub at: Vec<Place>,
    /// Rows that have each text, or whose value lies in each of so many equal parts between the first and the last.
    pub rows: Vec<usize>,
    /// Of the target, or of classes.
    pub curves: Vec<Curve>,
}

/// What is predicted, value by value of a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The class whose probability it is; empty for numbers.
    pub class: String,
    /// Mean over rows.
    pub mean: Vec<f64>,
    /// The deviation of a row that the model is unsure by; empty for classes.
    pub model: Vec<f64>,
    /// The same with noise; empty for classes, and where noise has no finite deviation.
    pub total: Vec<f64>,
}

/// The mean prediction for some rows, when two columns of all of them are set to pairs of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Their names and values, in even steps or texts.
    pub columns: [(String, Vec<Place>); 2],
    /// The class whose probability it is; empty for numbers.
    pub class: String,
    /// For each value of the first column, those of the second.
    pub mean: Vec<f64>,
    /// Rows that are nearest to each, in the same order.
    pub rows: Vec<usize>,
    /// Friedman's H²: the share of what both do together that is not the sum of what each does.
    pub share: f64,
}

/// A row that the model held for improbable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surprise {
    /// Its number among the points of the evaluation, from 0.
    pub point: usize,
    /// Its number in its table, from 1.
    pub row: Option<usize>,
    /// What names it: columns and their texts.
    pub id: Vec<(String, String)>,
    /// The logarithm of the density, or of the probability, that the model gave it.
    pub log_density: f64,
    /// Its values in the columns that matter most.
    pub values: Vec<(String, Place)>,
}
