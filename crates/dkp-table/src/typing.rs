//! What a column is read as, from what it holds.

use crate::{ColumnSurvey, Error, Kind, Survey};

/// How features are read, and what was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureColumns {
    /// Columns to read, with their kinds.
    pub columns: Vec<(String, Kind)>,
    /// Columns without any values, which are left out.
    pub ignored: Vec<String>,
}

impl FeatureColumns {
    /// A line for each column that was left out.
    ///
    /// ```
    /// let features = dkp_table::FeatureColumns { columns: vec![], ignored: vec!["fax".into()] };
    /// assert_eq!(features.notes(), ["column \"fax\" has no values at all and is ignored"]);
    /// ```
    pub fn notes(&self) -> Vec<String> {
        self.ignored.iter().map(|c| format!("column \"{c}\" has no values at all and is ignored")).collect()
    }
}

impl Survey {
    /// How these columns are read as features.
    ///
    /// All values numbers: a number. All true or false: 0 and 1. At least 95 % numbers, or dates: an error that says what to do.
    /// Anything else is categories, at most [`MAX_LEVELS`](crate::MAX_LEVELS) of them.
    pub fn features(&self, names: &[String]) -> Result<FeatureColumns, Error> {
        let mut features = FeatureColumns { columns: Vec::new(), ignored: Vec::new() };
        for name in names {
            match self.feature(self.column(name)?)? {
                Some(kind) => features.columns.push((name.clone(), kind)),
                None => features.ignored.push(name.clone()),
            }
        }
        Ok(features)
    }

    /// How a column is read as the target: a number, or (if its values are not numbers, or if `classes` are asked for) text, whose
    /// different values are the classes.
    pub fn target(&self, name: &str, classes: bool) -> Result<Kind, Error> {
        let column = self.column(name)?;
        let (origin, name) = (self.origin().clone(), column.name.clone());
        self.check_readable(column)?;
        if column.values() == 0 {
            return Err(Error::NoTarget { origin, column: name });
        }
        if column.looks_like_dates() {
            return Err(Error::TargetDates { origin, column: name, text: sample(column) });
        }
        if !classes && column.mostly(column.numeric) {
            return self.number(column);
        }
        if column.levels.is_none() {
            return Err(Error::TooManyClasses { origin, column: name });
        }
        Ok(Kind::Text)
    }

    fn feature(&self, column: &ColumnSurvey) -> Result<Option<Kind>, Error> {
        let (origin, name) = (self.origin().clone(), column.name.clone());
        self.check_readable(column)?;
        if column.values() == 0 {
            return Ok(None);
        }
        if column.looks_like_dates() {
            return Err(Error::Dates { origin, column: name, text: sample(column) });
        }
        if column.is_boolean() {
            return Ok(Some(Kind::Bool));
        }
        if column.mostly(column.numeric) {
            return self.number(column).map(Some);
        }
        if column.levels.is_none() {
            return Err(Error::TooManyLevels { origin, column: name });
        }
        Ok(Some(Kind::Text))
    }

    fn check_readable(&self, column: &ColumnSurvey) -> Result<(), Error> {
        let (origin, name) = (self.origin().clone(), column.name.clone());
        if let Some(found) = &column.unsupported {
            return Err(Error::UnsupportedType { origin, column: name, found: found.clone() });
        }
        match column.not_utf8 {
            Some(place) => Err(Error::NotUtf8 { origin, place, column: name }),
            None => Ok(()),
        }
    }

    /// A column of numbers, if there is nothing else in it.
    fn number(&self, column: &ColumnSurvey) -> Result<Kind, Error> {
        let (origin, name) = (self.origin().clone(), column.name.clone());
        if let Some(cell) = &column.stray {
            return Err(Error::NotNumber { origin, place: cell.place, column: name, text: cell.text.clone() });
        }
        if let Some(cell) = &column.infinite {
            return Err(Error::Infinite { origin, place: cell.place, column: name, text: cell.text.clone() });
        }
        Ok(Kind::Number)
    }
}

fn sample(column: &ColumnSurvey) -> String {
    column.stray.as_ref().map_or(String::new(), |cell| cell.text.clone())
}
