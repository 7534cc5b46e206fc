//! Values of files that have types, and how they become numbers or text.

use crate::cell::{self, Na};
use crate::{Column, Kind};

/// A value as a file holds it.
pub enum Value<'a> {
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
    /// Days since 1970.
    Day(i64),
    /// A time of day, or with `day` a moment since 1970, in units of which a second has `per_second`.
    Moment {
        value: i64,
        per_second: i64,
        day: bool,
    },
    Text(&'a str),
}

/// Why a value cannot be read as asked, with its text.
pub enum Refusal {
    NotNumber(String),
    NotBool(String),
    NotDate(String),
    Infinite(String),
}

/// How the values of a column are read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub kind: Kind,
    pub na: &'a Na,
    /// Whether infinite numbers pass.
    pub infinite: bool,
}

impl Reading<'_> {
    /// Adds a value to a column of the reading's kind.
    pub fn push(&self, column: &mut Column, value: Option<Value<'_>>) -> Result<(), Refusal> {
        match column {
            Column::Numbers(numbers) => numbers.push(match value {
                None => f64::NAN,
                Some(value) => self.number(&value)?,
            }),
            Column::Texts(texts) => match value {
                None => texts.push(None),
                Some(Value::Text(text)) => texts.push((!self.na.has_text(text.as_bytes())).then_some(text)),
                Some(value) => match value.number() {
                    Some(number) if number.is_nan() || self.na.has_number(number) => texts.push(None),
                    _ => texts.push(Some(&value.text())),
                },
            },
        }
        Ok(())
    }

    fn number(&self, value: &Value<'_>) -> Result<f64, Refusal> {
        let number = match (value, self.kind) {
            (Value::Text(text), _) if self.na.has_text(text.as_bytes()) => f64::NAN,
            (Value::Text(text), Kind::Bool) => {
                cell::truth(text.as_bytes()).ok_or_else(|| Refusal::NotBool(value.text()))?
            }
            (Value::Text(text), Kind::Written(notation)) => {
                notation.number(text.as_bytes()).ok_or_else(|| Refusal::NotNumber(value.text()))?
            }
            (Value::Text(text), Kind::Date(form)) => {
                form.days(text.as_bytes()).ok_or_else(|| Refusal::NotDate(value.text()))?
            }
            (Value::Day(day), Kind::Date(_)) => *day as f64,
            (Value::Moment { value, per_second, .. }, Kind::Date(_)) => {
                let (second, rest) = (value.div_euclid(*per_second), value.rem_euclid(*per_second));
                let of_day = second.rem_euclid(86_400) as f64 + rest as f64 / *per_second as f64;
                second.div_euclid(86_400) as f64 + of_day / 86_400.0
            }
            (_, Kind::Date(_)) => return Err(Refusal::NotDate(value.text())),
            (Value::Text(text), _) => cell::number(text.as_bytes()).ok_or_else(|| Refusal::NotNumber(value.text()))?,
            _ => value.number().ok_or_else(|| Refusal::NotNumber(value.text()))?,
        };
        if self.na.has_number(number) {
            return Ok(f64::NAN);
        }
        if self.kind == Kind::Bool && !(number.is_nan() || number == 0.0 || number == 1.0) {
            return Err(Refusal::NotBool(value.text()));
        }
        if number.is_infinite() && !self.infinite {
            return Err(Refusal::Infinite(value.text()));
        }
        Ok(number)
    }
}

impl Value<'_> {
    /// The number that it is; dates and text are none.
    fn number(&self) -> Option<f64> {
        match *self {
            Value::Bool(value) => Some(f64::from(value)),
            Value::Integer(value) => Some(value as f64),
            Value::Unsigned(value) => Some(value as f64),
            Value::Single(value) => Some(f64::from(value)),
            Value::Double(value) => Some(value),
            Value::Day(_) | Value::Moment { .. } | Value::Text(_) => None,
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        match *self {
            Value::Bool(value) => text.push_str(if value { "true" } else { "false" }),
            Value::Integer(value) => text = value.to_string(),
            Value::Unsigned(value) => text = value.to_string(),
            Value::Single(value) => text = value.to_string(),
            Value::Double(value) => cell::write_number(&mut text, value),
            Value::Day(days) => cell::write_day(&mut text, days),
            Value::Moment { value, per_second, day } => cell::write_moment(&mut text, value, per_second, day),
            Value::Text(value) => text.push_str(value),
        }
        text
    }
}
