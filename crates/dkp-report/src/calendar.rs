//! Dates and times of day, from days since 1970-01-01: as text, and as ticks of an axis.

/// Days before each month of a common year.
const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
/// Days from 0001-01-01 to 1970-01-01.
const TO_1970: i64 = 719_162;
/// Days in a year, on average.
const YEAR: f64 = 365.2425;
/// Beyond so many days from 1970 there are no dates.
const MOST: f64 = 2.9e6;

/// The first day of a month, from 1.
fn first_of(year: i64, month: usize) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let past = year - 1;
    let leaps = past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400);
    365 * past + leaps + BEFORE[month - 1] + i64::from(leap && month > 2) - TO_1970
}

/// Year, month and day of the month.
fn civil(day: i64) -> (i64, usize, i64) {
    let mut year = 1970 + (day as f64 / YEAR).floor() as i64;
    while first_of(year + 1, 1) <= day {
        year += 1;
    }
    while first_of(year, 1) > day {
        year -= 1;
    }
    let month = (1..=12).rev().find(|&month| first_of(year, month) <= day).unwrap_or(1);
    (year, month, day - first_of(year, month) + 1)
}

/// 2024-03-15, with the time of day where it is not midnight.
pub(crate) fn date(days: f64) -> String {
    if !(-MOST..MOST).contains(&days) {
        return crate::text::number(days);
    }
    let minutes = (days * 1440.0).round();
    let (year, month, day) = civil((minutes / 1440.0).floor() as i64);
    let text = format!("{year:04}-{month:02}-{day:02}");
    if minutes.rem_euclid(1440.0) == 0.0 { text } else { format!("{text} {}", time(minutes / 1440.0)) }
}

/// 18:30.
pub(crate) fn time(days: f64) -> String {
    if !(-MOST..MOST).contains(&days) {
        return crate::text::number(days);
    }
    // the end of a day is 24:00
    let minutes = (if days == 1.0 { 1.0 } else { days.rem_euclid(1.0) } * 1440.0).round();
    format!("{:02}:{:02}", (minutes / 60.0).floor(), minutes % 60.0)
}

/// Steps of ticks: hours, days, months, years.
const HOURS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 12.0];
const DAYS: [i64; 4] = [1, 2, 7, 14];
const MONTHS: [i64; 14] = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12_000];

/// Ticks at round dates, about so many; none where there are no dates.
pub(crate) fn dates(low: f64, high: f64, count: usize) -> Option<Vec<(f64, String)>> {
    let span = high - low;
    if !(-MOST..MOST).contains(&low) || !(-MOST..MOST).contains(&high) || span <= 0.0 {
        return None;
    }
    let fits = |step: f64| span / step <= count.max(1) as f64;
    if let Some(step) = DAYS.into_iter().find(|&step| fits(step as f64)) {
        if step == 1 && span < 2.0 {
            return HOURS.into_iter().find(|&hours| fits(hours / 24.0)).map(|hours| {
                every(low, high, hours / 24.0).map(|t| (t, if t.fract() == 0.0 { date(t) } else { time(t) })).collect()
            });
        }
        return Some(every(low, high, step as f64).map(|day| (day, date(day))).collect());
    }
    let step = MONTHS.into_iter().find(|&step| fits(step as f64 * YEAR / 12.0))?;
    let (year, month, _) = civil(low.floor() as i64);
    let first = (12 * year + month as i64 - 1).div_euclid(step);
    let ticks = (first..).map(|i| i * step).map(|months| {
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        let label = if step % 12 == 0 { format!("{year}") } else { format!("{year:04}-{month:02}") };
        (first_of(year, month as usize) as f64, label)
    });
    Some(ticks.skip_while(|t| t.0 < low).take_while(|t| t.0 <= high).collect())
}

/// Ticks at round times of day, about so many; none beyond a day.
pub(crate) fn times(low: f64, high: f64, count: usize) -> Option<Vec<(f64, String)>> {
    let inside = low >= -1.0 && high <= 2.0;
    let step = HOURS.into_iter().find(|&hours| (high - low) / (hours / 24.0) <= count.max(1) as f64)?;
    inside.then(|| every(low, high, step / 24.0).map(|t| (t, time(t))).collect())
}

/// Multiples of a step within a range.
fn every(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(move |i| i as f64 * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [0.0, 59.0, 789.0, 11_016.0, -1.0, 19_797.75, 2_932_896.0, -719_162.0, f64::INFINITY];
        let texts = days.map(date);
        let expected = ["1970-01-01", "1970-03-01", "1972-02-29", "2000-02-29", "1969-12-31", "2024-03-15 18:00"];
        assert_eq!(texts[..6], expected);
        assert_eq!(texts[6..], ["2\u{202f}932\u{202f}896", "0001-01-01", "∞"]);
        for day in (-800_000..900_000).step_by(977) {
            let (year, month, of_month) = civil(day);
            assert_eq!(first_of(year, month) + of_month - 1, day);
            assert!((1..=31).contains(&of_month));
        }
    }

    #[test]
    fn ticks_are_round_dates() {
        let labels = |low: f64, high: f64| {
            dates(low, high, 5).unwrap_or_default().into_iter().map(|t| t.1).collect::<Vec<String>>()
        };
        assert_eq!(labels(19_000.0, 20_500.0), ["2023", "2024", "2025", "2026"]);
        assert_eq!(labels(19_724.0, 19_850.0), ["2024-02", "2024-03", "2024-04", "2024-05"]);
        assert_eq!(labels(19_724.0, 19_728.5), ["2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05", "2024-01-06"]);
        assert_eq!(labels(0.1, 0.9), ["04:00", "08:00", "12:00", "16:00", "20:00"]);
        assert_eq!(dates(0.0, 1e12, 5), None);
        let clock: Vec<String> = times(0.0, 1.0, 5).unwrap().into_iter().map(|t| t.1).collect();
        assert_eq!(clock, ["00:00", "06:00", "12:00", "18:00", "24:00"]);
    }
}
