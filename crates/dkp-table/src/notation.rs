//! How people write numbers: 0,5 and 1.234,50; 1,234.50; 12 %; $24.0k.

use crate::{DateForm, Noticed, cell};
use serde::{Deserialize, Serialize};

/// What stands before the decimals of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decimal {
    /// A point, as in 0.5; commas, spaces and apostrophes may stand between thousands.
    Point,
    /// A comma, as in 0,5; points, spaces and apostrophes may stand between thousands.
    Comma,
}

/// A currency, or per cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    symbol: char,
    /// Whether it stands before the number.
    before: bool,
    /// Whether a space stands between.
    space: bool,
}

/// How the numbers of a column are written, where that is not plainly.
///
/// ```
/// use dkp_table::{Decimal, Notation};
/// let german = Notation::new(Decimal::Comma);
/// assert_eq!(german.number("1.234,5".as_bytes()), Some(1234.5));
/// assert_eq!(Notation::new(Decimal::Point).number("$24.0k".as_bytes()), Some(24_000.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notation {
    pub(crate) decimal: Decimal,
    pub(crate) sign: Option<Sign>,
}

/// Signs that are known.
const SYMBOLS: [char; 9] = ['%', '$', '€', '£', '¥', '₹', '₩', '₽', '₺'];
/// What a letter behind a number multiplies it by.
const MULTIPLES: [(char, f64); 4] = [('k', 1e3), ('K', 1e3), ('M', 1e6), ('B', 1e9)];
/// The longest cell that may be a number.
const LONGEST: usize = 64;

impl Notation {
    /// Numbers without a sign.
    pub fn new(decimal: Decimal) -> Notation {
        Notation { decimal, sign: None }
    }

    /// What stands before decimals.
    pub fn decimal(&self) -> Decimal {
        self.decimal
    }

    /// The number that a text is in this notation, with its sign or without.
    pub fn number(&self, cell: &[u8]) -> Option<f64> {
        let parts = Parts::of(cell)?;
        let own = parts.sign.is_none_or(|sign| self.sign.is_none_or(|known| known.symbol == sign.symbol));
        if own { parts.number(self.decimal) } else { None }
    }

    /// Adds a number as it is written here, without marks between thousands.
    pub fn write(&self, text: &mut String, value: f64) {
        let sign = |text: &mut String, before: bool| {
            let Some(sign) = self.sign.filter(|s| s.before == before) else { return };
            let space = if sign.space { " " } else { "" };
            match before {
                true => *text += &format!("{}{space}", sign.symbol),
                false => *text += &format!("{space}{}", sign.symbol),
            }
        };
        // -$5, as people write it
        let negative = value < 0.0 && self.sign.is_some_and(|s| s.before);
        *text += if negative { "-" } else { "" };
        sign(text, true);
        let digits = cell::number_text(if negative { -value } else { value });
        match self.decimal {
            Decimal::Point => *text += &digits,
            Decimal::Comma => *text += &digits.replace('.', ","),
        }
        sign(text, false);
    }
}

/// A cell that may be a number, taken apart.
struct Parts<'a> {
    negative: bool,
    sign: Option<Sign>,
    /// Digits, decimal sign, marks between thousands, an exponent.
    body: &'a str,
    multiple: f64,
}

impl Parts<'_> {
    fn of(cell: &[u8]) -> Option<Parts<'_>> {
        if cell.len() > LONGEST || !cell.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let (negative, rest) = without_minus(std::str::from_utf8(cell).ok()?.trim());
        let (first, last) = (rest.chars().next()?, rest.chars().next_back()?);
        let (sign, rest) = match (SYMBOLS.contains(&first), SYMBOLS.contains(&last)) {
            (true, true) => return None,
            (true, false) => {
                let rest = &rest[first.len_utf8()..];
                (Some(Sign { symbol: first, before: true, space: rest.starts_with(is_space) }), rest.trim_start())
            }
            (false, true) => {
                let rest = &rest[..rest.len() - last.len_utf8()];
                (Some(Sign { symbol: last, before: false, space: rest.ends_with(is_space) }), rest.trim_end())
            }
            (false, false) => (None, rest),
        };
        // $-5 as well as -$5
        let (inner, rest) =
            if sign.is_some_and(|s| s.before) && !negative { without_minus(rest) } else { (false, rest) };
        let letter = rest.chars().next_back()?;
        let multiple = MULTIPLES.iter().find(|(known, _)| *known == letter);
        let (multiple, body) = multiple.map_or((1.0, rest), |(_, by)| (*by, &rest[..rest.len() - 1]));
        body.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',').then_some(Parts {
            negative: negative || inner,
            sign,
            body,
            multiple,
        })
    }

    fn number(&self, decimal: Decimal) -> Option<f64> {
        let (point, mark) = match decimal {
            Decimal::Point => ('.', ','),
            Decimal::Comma => (',', '.'),
        };
        let (mantissa, exponent) = match self.body.find(['e', 'E']) {
            Some(at) => self.body.split_at(at),
            None => (self.body, ""),
        };
        let (whole, fraction) = match mantissa.split_once(point) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let mut plain = String::with_capacity(self.body.len() + 2);
        push_whole(&mut plain, whole, mark)?;
        if let Some(fraction) = fraction {
            let digits = fraction.bytes().all(|c| c.is_ascii_digit());
            if !digits || (whole.is_empty() && fraction.is_empty()) {
                return None;
            }
            plain.push('.');
            plain += fraction;
        }
        plain += exponent;
        let value = self.multiple * cell::number(plain.as_bytes())?;
        Some(if self.negative { -value } else { value })
    }
}

/// Adds the digits before the decimal sign, which may stand in groups of three.
fn push_whole(plain: &mut String, whole: &str, mark: char) -> Option<()> {
    let is_mark = |c: char| c == mark || c == '\'' || c == '’' || is_space(c);
    let Some(separator) = whole.chars().find(|c| is_mark(*c)) else {
        plain.push_str(whole);
        return whole.bytes().all(|c| c.is_ascii_digit()).then_some(());
    };
    for (i, group) in whole.split(separator).enumerate() {
        let length = if i == 0 { (1..=3).contains(&group.len()) && !group.starts_with('0') } else { group.len() == 3 };
        if !length || !group.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        plain.push_str(group);
    }
    Some(())
}

/// Whether points in a plain number may stand between thousands: 1.234, but not 0.123 or 12.3.
fn is_grouped(cell: &[u8]) -> bool {
    let digits = cell.trim_ascii().strip_prefix(b"-").unwrap_or(cell.trim_ascii());
    let mut groups = digits.split(|&c| c == b'.');
    let first = groups.next().unwrap_or_default();
    let all_digits = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    (1..=3).contains(&first.len())
        && first[0] != b'0'
        && all_digits(first)
        && groups.all(|group| group.len() == 3 && all_digits(group))
}

fn without_minus(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Spaces that do not end a line, narrow ones too.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// What the cells of a column say of how its numbers are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// Cells that are numbers with a decimal point, and with a decimal comma.
    fits: [usize; 2],
    /// Whether a cell is another number with a point than with a comma.
    differs: bool,
    /// Cells with a sign, and the first such sign.
    signed: usize,
    sign: Option<Sign>,
    /// Whether another sign was seen.
    mixed: bool,
    /// Cells that are dates in each form.
    dates: [usize; 4],
    /// The first cells that are no numbers with a decimal point, and with a comma.
    pub(crate) strays: [Option<Noticed>; 2],
}

impl Written {
    /// A cell that is a plain number; whether it is one with a decimal comma too.
    pub(crate) fn plain(&mut self, cell: &[u8]) -> bool {
        let point = cell.contains(&b'.');
        let fits = !point || is_grouped(cell);
        self.fits[0] += 1;
        self.fits[1] += usize::from(fits);
        self.differs |= point && fits;
        fits
    }

    /// A cell that is not; whether it is a number with a decimal point, and with a comma.
    pub(crate) fn other(&mut self, cell: &[u8]) -> [bool; 2] {
        let Some(parts) = Parts::of(cell) else { return [false, false] };
        let numbers = [Decimal::Point, Decimal::Comma].map(|d| parts.number(d));
        if numbers == [None, None] {
            return [false, false];
        }
        self.fits.iter_mut().zip(&numbers).for_each(|(fits, n)| *fits += usize::from(n.is_some()));
        self.differs |= numbers[0].is_some() && numbers[1].is_some() && numbers[0] != numbers[1];
        if let Some(sign) = parts.sign {
            self.signed += 1;
            self.mixed |= self.sign.is_some_and(|known| known.symbol != sign.symbol);
            self.sign = self.sign.or(Some(sign));
        }
        numbers.map(|n| n.is_some())
    }

    /// Counts a cell that is not a number; whether it is a date.
    pub(crate) fn date(&mut self, cell: &[u8]) -> bool {
        let forms = DateForm::ALL.map(|form| form.days(cell).is_some());
        self.dates.iter_mut().zip(forms).for_each(|(n, is)| *n += usize::from(is));
        forms.contains(&true)
    }

    /// The forms in which this many cells are dates.
    pub(crate) fn date_forms(&self, values: usize) -> Vec<DateForm> {
        DateForm::ALL.into_iter().zip(self.dates).filter(|(_, n)| *n == values).map(|(form, _)| form).collect()
    }

    /// Cells that are numbers in a notation.
    pub(crate) fn fitting(&self, decimal: Decimal) -> usize {
        self.fits[decimal as usize]
    }

    /// Whether it matters which of the two is meant.
    pub(crate) fn differs(&self) -> bool {
        self.differs
    }

    /// The notation, if all of this many cells have the same sign or none has one.
    pub(crate) fn notation(&self, decimal: Decimal, values: usize) -> Option<Notation> {
        let agreed = !self.mixed && (self.signed == 0 || self.signed == values);
        agreed.then_some(Notation { decimal, sign: self.sign })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let both = |cell: &str| [Decimal::Point, Decimal::Comma].map(|d| Notation::new(d).number(cell.as_bytes()));
        for (cell, expected) in [
            ("18", [Some(18.0), Some(18.0)]),
            ("18,0", [None, Some(18.0)]),
            ("0,00632", [None, Some(0.00632)]),
            ("18.5", [Some(18.5), None]),
            ("1,234", [Some(1234.0), Some(1.234)]),
            ("1.234", [Some(1.234), Some(1234.0)]),
            ("0,123", [None, Some(0.123)]),
            ("1,234.50", [Some(1234.5), None]),
            ("1.234.567,5", [None, Some(1_234_567.5)]),
            ("2,960,100", [Some(2_960_100.0), None]),
            ("1 234", [Some(1234.0), Some(1234.0)]),
            ("1\u{202f}234,5", [None, Some(1234.5)]),
            ("12'345.6", [Some(12_345.6), None]),
            ("-4.98%", [Some(-4.98), None]),
            ("4,98 %", [None, Some(4.98)]),
            ("$24.0k", [Some(24_000.0), None]),
            ("-$5", [Some(-5.0), Some(-5.0)]),
            ("$-5", [Some(-5.0), Some(-5.0)]),
            ("€ 3M", [Some(3e6), Some(3e6)]),
            ("−7,5", [None, Some(-7.5)]),
            ("1,5e-3", [None, Some(0.0015)]),
            (".5", [Some(0.5), None]),
            ("1.", [Some(1.0), None]),
        ] {
            assert_eq!(both(cell), expected, "{cell}");
        }
        for cell in
            ["", "$", "1,23,456", "1,,234", "31.12.2024", "1.2.3", "a1", "5x", "$5%", "1 23", "--5", "$--5", ",", "."]
        {
            assert_eq!(both(cell), [None, None], "{cell}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for example in ["5", "5 €", "$5", "£ 5", "5%"] {
            let sign = Parts::of(example.as_bytes()).unwrap().sign;
            for decimal in [Decimal::Point, Decimal::Comma] {
                let notation = Notation { decimal, sign };
                for value in [0.1, -1234.567, 1e-9, 3.0, -2.5e20] {
                    let mut text = String::new();
                    notation.write(&mut text, value);
                    assert_eq!(notation.number(text.as_bytes()), Some(value), "{text}");
                }
            }
        }
        let mut text = String::new();
        Notation { decimal: Decimal::Comma, sign: Parts::of("1 €".as_bytes()).unwrap().sign }.write(&mut text, 1234.5);
        assert_eq!(text, "1234,5 €");
        text.clear();
        Notation { decimal: Decimal::Point, sign: Parts::of(b"$1").unwrap().sign }.write(&mut text, -1234.5);
        assert_eq!(text, "-$1234.5");
        // another currency is another number
        let dollars = Notation { decimal: Decimal::Point, sign: Parts::of(b"$1").unwrap().sign };
        assert_eq!((dollars.number("€5".as_bytes()), dollars.number(b"5")), (None, Some(5.0)));
    }

    #[test]
    fn a_column_tells_its_notation() {
        let seen = |cells: &[&str]| {
            let mut written = Written::default();
            for cell in cells {
                match cell::number(cell.as_bytes()) {
                    Some(_) => {
                        let comma = Notation::new(Decimal::Comma).number(cell.as_bytes());
                        assert_eq!(written.plain(cell.as_bytes()), comma.is_some(), "{cell}");
                    }
                    None => drop(written.other(cell.as_bytes())),
                }
            }
            (written.fits, written.differs, written.notation(Decimal::Comma, cells.len()).is_some())
        };
        assert_eq!(seen(&["18", "18,0", "x"]), ([1, 2], false, true));
        assert_eq!(seen(&["0.125", "1.250", "-12.5", "1e3", " 12.345 ", "1234.567", "1.", ".5"]), ([8, 3], true, true));
        assert_eq!(seen(&["1,234", "5"]), ([2, 2], true, true));
        assert_eq!(seen(&["5%", "5"]), ([2, 2], false, false));
        assert_eq!(seen(&["$5", "€5"]), ([2, 2], false, false));
    }
}
