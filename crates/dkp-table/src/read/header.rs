//! Whether the first row of a table has names.

use crate::error::one_line;
use crate::{Decimal, Notation};

/// A number that shows that what stands in the place of a header is a row: one that is not whole (years may be names), or any where all are numbers and
/// do not count 0, 1, 2, … or 1, 2, 3, …, as programs name columns.
pub fn number_in_header(names: &[String]) -> Option<String> {
    let number =
        |name: &String| [Decimal::Point, Decimal::Comma].iter().find_map(|d| Notation::new(*d).number(name.as_bytes()));
    let numbers: Vec<Option<f64>> = names.iter().map(number).collect();
    let first = numbers.first().copied().flatten().unwrap_or(f64::NAN);
    let counts =
        (first == 0.0 || first == 1.0) && numbers.iter().zip(0..).all(|(n, i)| *n == Some(first + f64::from(i)));
    let row = !counts && numbers.iter().all(Option::is_some);
    let found = numbers.iter().position(|n| n.is_some_and(|v| row || v.fract() != 0.0))?;
    Some(one_line(&names[found]))
}
