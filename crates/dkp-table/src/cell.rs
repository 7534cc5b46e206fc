//! What the text of a cell means: a number, a truth value, or nothing; and how numbers, days and moments are written.

use std::fmt::Write as _;

/// What the user says is missing: texts, and numbers by their value.
#[derive(Clone, Debug, Default)]
pub struct Na {
    texts: Vec<String>,
    numbers: Vec<f64>,
}

impl Na {
    /// From texts; those that are numbers stand for the number, however it is written.
    pub fn new(texts: &[String]) -> Na {
        Na { texts: texts.to_vec(), numbers: texts.iter().filter_map(|t| number(t.as_bytes())).collect() }
    }

    /// Whether a text was given.
    pub fn has_text(&self, cell: &[u8]) -> bool {
        self.texts.iter().any(|text| text.as_bytes().trim_ascii() == cell.trim_ascii())
    }

    /// Whether a number was given.
    pub fn has_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }
}

/// The number that a text is, perhaps infinite.
pub fn number(cell: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(cell.trim_ascii()).ok().filter(|value| !value.is_nan())
}

/// The truth value that a text is.
pub fn boolean(cell: &[u8]) -> Option<bool> {
    let cell = cell.trim_ascii();
    if cell.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else if cell.eq_ignore_ascii_case(b"false") {
        Some(false)
    } else {
        None
    }
}

/// The truth value that a text is, where 1 and 0 (and 1.0 and 0.0) count too.
pub fn truth(cell: &[u8]) -> Option<f64> {
    let number = || number(cell).filter(|&v| v == 0.0 || v == 1.0);
    boolean(cell).map(f64::from).or_else(number)
}

/// Adds the shortest text that reads back as the same number.
pub fn write_number(text: &mut String, value: f64) {
    let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs()) || !value.is_finite();
    // writing into a string cannot fail
    let _ = if plain { write!(text, "{value}") } else { write!(text, "{value:e}") };
}

/// The shortest text that reads back as the same number.
pub fn number_text(value: f64) -> String {
    let mut text = String::new();
    write_number(&mut text, value);
    text
}

/// Adds a day, counted from 1970-01-01, as yyyy-mm-dd.
pub fn write_day(text: &mut String, days: i64) {
    // the civil calendar in eras of 400 years that begin on 1 March
    const DAYS_TO_1970: i64 = 719_468;
    let shifted = days.saturating_add(DAYS_TO_1970);
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let _ = write!(text, "{year:04}-{month:02}-{day:02}");
}

/// Adds a time of day, or with `day` a moment since 1970, given in units of which a second has `per_second`.
pub fn write_moment(text: &mut String, value: i64, per_second: i64, day: bool) {
    let (seconds, rest) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    if day {
        write_day(text, seconds.div_euclid(86_400));
        text.push('T');
    }
    let second = seconds.rem_euclid(86_400);
    let _ = write!(text, "{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if rest != 0 {
        let digits = per_second.ilog10() as usize;
        let _ = write!(text, ".{rest:0digits$}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_the_standard_parser_says() {
        for cell in ["1", "-0", "+3.5", ".5", "5.", "1e-320", "123456789012345678901234567890", "0.1", "1e999", "-inf"]
        {
            assert_eq!(
                number(cell.as_bytes()).map(f64::to_bits),
                Some(cell.parse::<f64>().unwrap().to_bits()),
                "{cell}"
            );
        }
        assert_eq!(number(b" 2 "), Some(2.0));
        assert_eq!(number(b"-Infinity"), Some(f64::NEG_INFINITY));
        for cell in ["", "1,5", "0x10", "1_000", "abc", "nan", "1 2", "--1", "true"] {
            assert_eq!(number(cell.as_bytes()), None, "{cell:?}");
        }
    }

    #[test]
    fn truth_is_true_false_and_one_zero() {
        assert_eq!(
            (truth(b"TRUE"), truth(b"False"), truth(b"1"), truth(b"0.0")),
            (Some(1.0), Some(0.0), Some(1.0), Some(0.0))
        );
        assert_eq!((truth(b"2"), truth(b"yes"), boolean(b"1")), (None, None, None));
    }

    #[test]
    fn numbers_are_written_short() {
        let written: Vec<String> = [1.0, -0.0, 0.1, 1e300, -1.5e-300, 1e15].map(number_text).to_vec();
        assert_eq!(written, ["1", "-0", "0.1", "1e300", "-1.5e-300", "1000000000000000"]);
    }

    #[test]
    fn days_and_moments_are_iso() {
        let day = |days| {
            let mut text = String::new();
            write_day(&mut text, days);
            text
        };
        assert_eq!(
            [day(0), day(-1), day(19_782), day(11_016)],
            ["1970-01-01", "1969-12-31", "2024-02-29", "2000-02-29"]
        );
        let mut text = String::new();
        write_moment(&mut text, 1_709_210_096_007, 1000, true);
        assert_eq!(text, "2024-02-29T12:34:56.007");
        text.clear();
        write_moment(&mut text, -1, 1_000_000, true);
        assert_eq!(text, "1969-12-31T23:59:59.999999");
        text.clear();
        write_moment(&mut text, 3_661, 1, false);
        assert_eq!(text, "01:01:01");
        // what databases write for "never", and the ends of what Parquet holds
        text.clear();
        write_moment(&mut text, i64::MAX, 1_000_000, true);
        assert_eq!(text, "294247-01-10T04:00:54.775807");
        assert_eq!([day(i32::MAX.into()), day(i32::MIN.into())], ["5881580-07-11", "-5877641-06-23"]);
    }
}
