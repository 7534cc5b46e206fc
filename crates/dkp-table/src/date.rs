//! Dates and times of day, as days since 1970-01-01.

#[cfg(any(feature = "csv", feature = "json"))]
use crate::cell;
use serde::{Deserialize, Serialize};

/// How dates are written; a time of day may follow, after a space or a T.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateForm {
    /// 2024-01-31, 2024/1/31.
    Iso,
    /// 31/01/2024, 31.1.2024, 31-01-2024.
    DayFirst,
    /// 01/31/2024.
    MonthFirst,
    /// A time of day alone: 12:30, 12:30:15.
    Clock,
}

impl DateForm {
    /// All of them.
    pub(crate) const ALL: [DateForm; 4] = [DateForm::Iso, DateForm::DayFirst, DateForm::MonthFirst, DateForm::Clock];

    /// The days since 1970-01-01, with the time of day as a fraction; a time with an offset from UTC is taken to UTC.
    ///
    /// ```
    /// use dkp_table::DateForm;
    /// assert_eq!(DateForm::Iso.days(b"1970-01-02T12:00"), Some(1.5));
    /// assert_eq!(DateForm::DayFirst.days(b"29.2.1972"), Some(789.0));
    /// assert_eq!(DateForm::MonthFirst.days(b"13/01/1970"), None);
    /// ```
    pub fn days(self, cell: &[u8]) -> Option<f64> {
        let cell = cell.trim_ascii();
        if self == DateForm::Clock {
            return time(cell);
        }
        let end = cell.iter().position(|&c| c == b' ' || c == b'T').unwrap_or(cell.len());
        let (day, rest) = cell.split_at(end);
        let time = if rest.is_empty() { 0.0 } else { time(&rest[1..])? };
        Some(self.day(day)? as f64 + time)
    }

    /// Adds days as text that reads back the same, to the second.
    #[cfg(any(feature = "csv", feature = "json"))]
    pub(crate) fn write(self, text: &mut String, days: f64) {
        if self == DateForm::Clock || days.rem_euclid(1.0) != 0.0 {
            cell::write_moment(text, (86_400.0 * days).round() as i64, 1, self != DateForm::Clock);
        } else {
            cell::write_day(text, days.floor() as i64);
        }
    }

    fn day(self, cell: &[u8]) -> Option<i64> {
        let separators: &[u8] = if self == DateForm::DayFirst { b"/.-" } else { b"-/" };
        let separator = *separators.iter().find(|c| cell.contains(c))?;
        let mut parts = cell.split(|&c| c == separator);
        let parts = [parts.next()?, parts.next()?, parts.next().filter(|_| parts.next().is_none())?];
        let year = if self == DateForm::Iso { parts[0] } else { parts[2] };
        let numbers = parts.map(digits);
        let [Some(a), Some(b), Some(c)] = numbers else { return None };
        if year.len() != 4 {
            return None;
        }
        match self {
            DateForm::Iso => civil(a, b, c),
            DateForm::DayFirst => civil(c, b, a),
            DateForm::MonthFirst => civil(c, a, b),
            DateForm::Clock => None,
        }
    }
}

/// The day of a date of the civil calendar.
fn civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month - 1).ok()?)?;
    if !(1..=length).contains(&day) {
        return None;
    }
    // days since 0000-03-01, in years that end with February
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    const TO_1970: i64 = 719_468;
    Some(365 * year + leaps + (153 * month + 2) / 5 + day - 1 - TO_1970)
}

/// A time of day, as a fraction of it: hh:mm, hh:mm:ss, with decimals, Z, or an offset such as +02:00.
fn time(cell: &[u8]) -> Option<f64> {
    let (cell, offset) = match cell.iter().position(|&c| matches!(c, b'+' | b'-' | b'Z')) {
        None => (cell, 0),
        Some(at) if cell[at] == b'Z' => (&cell[..at], if at + 1 == cell.len() { 0 } else { return None }),
        Some(at) => {
            let minutes = offset(&cell[at + 1..])?;
            (&cell[..at], if cell[at] == b'+' { minutes } else { -minutes })
        }
    };
    let mut parts = cell.split(|&c| c == b':');
    let hour = parts.next().and_then(digits).filter(|h| *h < 24)?;
    let minute = parts.next().filter(|m| m.len() == 2).and_then(digits).filter(|m| *m < 60)?;
    let second = match parts.next() {
        None => 0.0,
        Some(second) => second_of(second)?,
    };
    if parts.next().is_some() {
        return None;
    }
    Some(((60 * hour + minute - offset) as f64 * 60.0 + second) / 86_400.0)
}

fn second_of(cell: &[u8]) -> Option<f64> {
    let whole = cell.iter().position(|&c| c == b'.').unwrap_or(cell.len());
    let second = digits(&cell[..whole]).filter(|s| whole == 2 && *s < 61)?;
    let decimals = &cell[(whole + 1).min(cell.len())..];
    let valid = decimals.iter().all(u8::is_ascii_digit);
    valid.then(|| second as f64 + decimals.iter().rev().fold(0.0, |sum, c| (sum + f64::from(c - b'0')) / 10.0))
}

/// Minutes from UTC: hh, hhmm or hh:mm.
fn offset(cell: &[u8]) -> Option<i64> {
    let (hours, minutes) = match cell.len() {
        2 => (cell, &b"00"[..]),
        4 => cell.split_at(2),
        5 if cell[2] == b':' => (&cell[..2], &cell[3..]),
        _ => return None,
    };
    Some(60 * digits(hours).filter(|h| *h < 24)? + digits(minutes).filter(|m| *m < 60)?)
}

/// A number of at most four digits.
fn digits(cell: &[u8]) -> Option<i64> {
    if cell.is_empty() || cell.len() > 4 || !cell.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(cell.iter().fold(0, |n, c| 10 * n + i64::from(c - b'0')))
}

/// What of a date a model sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatePart {
    /// The day, with its fraction.
    Position,
    /// Where in the year, on a circle.
    Season,
    /// Which day of the week, on a circle.
    Weekday,
    /// Which time of the day, on a circle.
    Hour,
}

/// Days in which a season returns.
const YEAR: f64 = 365.2425;
/// A column of dates over so many days has seasons.
const SEASONS: f64 = 300.0;
/// And over so many has weeks.
const WEEKS: f64 = 14.0;

impl DatePart {
    /// The parts in which these days differ, as far as they can be told apart from each other.
    pub(crate) fn of(form: DateForm, days: impl Iterator<Item = f64> + Clone) -> Vec<DatePart> {
        let (low, high) = days.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), d| (l.min(d), h.max(d)));
        let first = days.clone().next().unwrap_or(0.0);
        let differs = |part: fn(f64) -> f64| days.clone().any(|d| part(d) != part(first));
        let parts = [
            (DatePart::Position, form != DateForm::Clock && high > low),
            (DatePart::Season, high - low >= SEASONS),
            (DatePart::Weekday, high - low >= WEEKS && differs(|d| d.floor().rem_euclid(7.0))),
            (DatePart::Hour, differs(|d| d.rem_euclid(1.0))),
        ];
        parts.into_iter().filter(|p| p.1).map(|p| p.0).collect()
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            DatePart::Position => "position in time",
            DatePart::Season => "season",
            DatePart::Weekday => "weekday",
            DatePart::Hour => "hour",
        }
    }

    /// How many features it is.
    pub(crate) fn width(self) -> usize {
        if self == DatePart::Position { 1 } else { 2 }
    }

    /// Its features of a day.
    pub(crate) fn write(self, day: f64, to: &mut [f64]) {
        let turns = match self {
            DatePart::Position => {
                to[0] = day;
                return;
            }
            DatePart::Season => day / YEAR,
            DatePart::Weekday => day.floor().rem_euclid(7.0) / 7.0,
            DatePart::Hour => day.rem_euclid(1.0),
        };
        (to[0], to[1]) = (std::f64::consts::TAU * turns).sin_cos();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::write_day;

    #[test]
    fn days_are_those_of_the_calendar() {
        for day in [-719_162, -1, 0, 59, 789, 11_016, 19_782, 2_932_896] {
            let mut text = String::new();
            write_day(&mut text, day);
            assert_eq!(DateForm::Iso.days(text.as_bytes()), Some(day as f64), "{text}");
        }
    }

    #[test]
    fn dates_are_read_in_their_form() {
        let forms = |cell: &str| DateForm::ALL.map(|f| f.days(cell.as_bytes()));
        let none = None;
        for (cell, expected) in [
            ("1970-01-02", [Some(1.0), none, none, none]),
            ("1970/1/2", [Some(1.0), none, none, none]),
            ("02/01/1970", [none, Some(1.0), Some(31.0), none]),
            ("31/01/1970", [none, Some(30.0), none, none]),
            ("01/31/1970", [none, none, Some(30.0), none]),
            ("2.1.1970 06:00", [none, Some(1.25), none, none]),
            ("1970-01-01T00:00:00.5Z", [Some(0.5 / 86_400.0), none, none, none]),
            ("1970-01-01 12:00+02:00", [Some(10.0 / 24.0), none, none, none]),
            ("1970-01-01T12:00-0330", [Some(15.5 / 24.0), none, none, none]),
            ("18:00", [none, none, none, Some(0.75)]),
            ("6:00:00", [none, none, none, Some(0.25)]),
        ] {
            assert_eq!(forms(cell), expected, "{cell}");
        }
        for cell in [
            "",
            "2024",
            "2024-13-01",
            "2023-02-29",
            "1-2-3",
            "32/13/2024",
            "12/12/12",
            "2024-01-31 25:00",
            "a-b-c",
            "1-2-3-4",
            "2024-01-31 ",
            "12:3",
            "1:2:3:4",
            "12:30:61.x",
            "2024-01-31T",
            "3.14",
            "12:30Zx",
            "1.2.3",
        ] {
            let expected = if cell.trim_end() == "2024-01-31" { Some(19_753.0) } else { None };
            assert_eq!(DateForm::ALL.iter().find_map(|f| f.days(cell.as_bytes())), expected, "{cell}");
        }
    }

    #[test]
    fn parts_are_those_in_which_days_differ() {
        use DatePart::{Hour, Position, Season, Weekday};
        let of = |form, days: &[f64]| DatePart::of(form, days.iter().copied());
        assert_eq!(of(DateForm::Iso, &[10.0, 500.0]), [Position, Season]);
        assert_eq!(of(DateForm::Iso, &[10.0, 32.0]), [Position, Weekday]);
        assert_eq!(of(DateForm::Iso, &[10.0, 12.25]), [Position, Hour]);
        assert_eq!(of(DateForm::Clock, &[0.25, 0.5]), [Hour]);
        assert_eq!(of(DateForm::Iso, &[10.0, 10.0]), []);
        // Thursday and a week later, and a year later
        let write = |part: DatePart, day: f64| {
            let mut to = [0.0; 2];
            part.write(day, &mut to);
            to
        };
        assert_eq!(write(Weekday, 0.0), write(Weekday, 7.9));
        assert!((write(Season, 0.0)[0] - write(Season, 365.2425)[0]).abs() < 1e-12);
        assert_eq!(write(Hour, 3.25), [1.0, write(Hour, 0.25)[1]]);
    }
}
