//! What a column is read as, from what it holds.

use crate::notation::Written;
use crate::{ColumnSurvey, Decimal, Error, Kind, Notation, Survey};

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
    /// All values numbers: a number, also where all are written with a decimal comma, marks between thousands or a sign. All true or false: 0 and 1. At
    /// least 95 % numbers or dates, or all but one of five values or more numbers, and something else: an error that says what to do. Dates in one form: days. Anything else is categories, at most [`MAX_LEVELS`](crate::MAX_LEVELS) of them, and fewer
    /// than there are rows.
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
        if !classes && let Some(kind) = self.number(column)? {
            return Ok(kind);
        }
        if !classes {
            self.all_but_one_number(column)?;
        }
        match &column.levels {
            None => Err(Error::TooManyClasses { origin, column: name }),
            Some(levels) if !classes && levels.len() >= FEW && 2 * levels.len() > column.values() => {
                self.mostly_numbers(column)?;
                let (levels, values, text) = (levels.len(), column.values(), sample(column));
                Err(Error::ClassesOfFewRows { origin, column: name, levels, values, text })
            }
            Some(_) => Ok(Kind::Text),
        }
    }

    fn feature(&self, column: &ColumnSurvey) -> Result<Option<Kind>, Error> {
        let (origin, name) = (self.origin().clone(), column.name.clone());
        self.check_readable(column)?;
        if column.values() == 0 {
            return Ok(None);
        }
        if column.looks_like_dates() {
            return self.date(column).map(Some);
        }
        if column.is_boolean() {
            return Ok(Some(Kind::Bool));
        }
        if let Some(kind) = self.number(column)? {
            return Ok(Some(kind));
        }
        self.all_but_one_number(column)?;
        match &column.levels {
            None => Err(Error::TooManyLevels { origin, column: name }),
            Some(levels) if levels.len() >= FEW && 10 * levels.len() > 9 * column.values() => {
                self.mostly_numbers(column)?;
                let (levels, values, text) = (levels.len(), column.values(), sample(column));
                Err(Error::LevelsOfOneRow { origin, column: name, levels, values, text })
            }
            Some(_) => Ok(Some(Kind::Text)),
        }
    }

    /// An error where a single value is no number: in few rows that is less than 95 % numbers.
    fn all_but_one_number(&self, column: &ColumnSurvey) -> Result<(), Error> {
        let lone = column.values() >= FEWEST && column.numeric + 1 == column.values();
        if lone { self.mostly_numbers(column) } else { Ok(()) }
    }

    /// An error that shows what is no number in a column that holds more numbers than anything else.
    fn mostly_numbers(&self, column: &ColumnSurvey) -> Result<(), Error> {
        match &column.stray {
            Some(cell) if 2 * column.numeric > column.values() => {
                let (origin, name) = (self.origin().clone(), column.name.clone());
                Err(Error::NotNumber { origin, place: cell.place, column: name, text: cell.text.clone() })
            }
            _ => Ok(()),
        }
    }

    /// How a column of dates is read.
    pub fn date(&self, column: &ColumnSurvey) -> Result<Kind, Error> {
        let (origin, name, text) = (self.origin().clone(), column.name.clone(), sample(column));
        let written = self.writings().find(|(c, _)| c.name == column.name).map(|(_, written)| written);
        match written.map(|w| w.date_forms(column.values())).unwrap_or_default()[..] {
            [form] => Ok(Kind::Date(form)),
            [] => Err(Error::Dates { origin, column: name, text }),
            _ => Err(Error::AmbiguousDates { origin, column: name, text }),
        }
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

    /// How the numbers of a column are read, if it holds numbers and nothing else; an error where it nearly does.
    fn number(&self, column: &ColumnSurvey) -> Result<Option<Kind>, Error> {
        let (origin, name, values) = (self.origin().clone(), column.name.clone(), column.values());
        let Some((_, written)) = self.writings().find(|(c, _)| c.name == column.name) else { return Ok(None) };
        if column.mostly(column.numeric)
            && let Some(cell) = &column.infinite
        {
            return Err(Error::Infinite { origin, place: cell.place, column: name, text: cell.text.clone() });
        }
        let plain = column.numeric == values;
        if plain && written.fitting(Decimal::Point) == 0 {
            // numbers that are stored as such
            return Ok(Some(Kind::Number));
        }
        let fits = |d: Decimal| column.mostly(written.fitting(d));
        let decimal = match (fits(Decimal::Point), fits(Decimal::Comma), self.decimal()) {
            (false, false, _) => return Ok(None),
            (true, true, Some(decimal)) => decimal,
            (true, true, None) if plain || !written.differs() => Decimal::Point,
            (true, true, None) => return Err(Error::AmbiguousNumbers { origin, column: name, text: sample(column) }),
            (true, false, _) => Decimal::Point,
            (false, true, _) => Decimal::Comma,
        };
        if let Some(cell) = written.strays[decimal as usize].as_ref().filter(|_| written.fitting(decimal) < values) {
            return Err(Error::NotNumber { origin, place: cell.place, column: name, text: cell.text.clone() });
        }
        if plain && (decimal == Decimal::Point || !written.differs()) {
            return Ok(Some(Kind::Number));
        }
        match written.notation(decimal, values) {
            Some(notation) => Ok(Some(Kind::Written(notation))),
            None => Err(Error::MixedSigns { origin, column: name, text: sample(column) }),
        }
    }

    /// What stands before decimals in this table, as far as its columns tell; none if they disagree.
    fn decimal(&self) -> Option<Decimal> {
        let only = |d: Decimal, other: Decimal| {
            let fits = |column: &ColumnSurvey, written: &Written, d: Decimal| column.mostly(written.fitting(d));
            self.writings().any(|(c, w)| fits(c, w, d) && !fits(c, w, other))
        };
        self.decimal.or(match (only(Decimal::Point, Decimal::Comma), only(Decimal::Comma, Decimal::Point)) {
            (true, false) => Some(Decimal::Point),
            (false, true) => Some(Decimal::Comma),
            _ => None,
        })
    }

    /// A line for each way in which numbers of these columns are written, but for the plain one.
    pub fn notation_notes(&self, columns: &[(String, Kind)]) -> Vec<String> {
        let mut found: Vec<(Notation, Vec<&str>)> = Vec::new();
        for (name, kind) in columns {
            let Kind::Written(notation) = kind else { continue };
            match found.iter_mut().find(|f| f.0 == *notation) {
                Some((_, names)) => names.push(name),
                None => found.push((*notation, vec![name])),
            }
        }
        let line = |(_, names): &(Notation, Vec<&str>)| {
            let text = self.column(names[0]).map_or(String::new(), sample);
            let others = match names.len() {
                1 => String::new(),
                2 => " and 1 other column".to_string(),
                n => format!(" and {} other columns", n - 1),
            };
            format!("column \"{}\"{others}: numbers are written like {text}", names[0])
        };
        found.iter().map(line).collect()
    }
}

/// Different texts that any column may have.
const FEW: usize = 10;
/// Fewer values say nothing of what a column should hold.
const FEWEST: usize = 5;

fn sample(column: &ColumnSurvey) -> String {
    column.stray.as_ref().map_or(String::new(), |cell| cell.text.clone())
}
