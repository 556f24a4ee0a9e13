//! Moments and lengths of time, in UTC and nanoseconds.

use crate::decide::number::Number;
use jiff::tz::Offset;
use upheld_model::Timestamp;

use super::node::TimePart;

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span(pub(super) i64);

const SECOND: i64 = 1_000_000_000;

/// The units of a length, as in `1h30m`. Longer names first, so that `ms` is not read as `m`.
const UNITS: [(&str, i64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];

impl Span {
    /// Reads `1h30m`, `-1.5s` or `0`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (sign, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Some(Self(0));
        }
        if rest.is_empty() {
            return None;
        }
        let mut total = 0_i64;
        while !rest.is_empty() {
            let end = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
            let (number, after) = rest.split_at_checked(end)?;
            let (unit, length) = UNITS.into_iter().find(|(unit, _)| after.starts_with(unit))?;
            total = total.checked_add(amount(number, length)?)?;
            rest = after.strip_prefix(unit)?;
        }
        total.checked_mul(sign).map(Self)
    }

    /// As CEL writes it: seconds, with a fraction only if there is one.
    pub(super) fn write(self) -> String {
        let (sign, length) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (seconds, rest) = (length / SECOND.unsigned_abs(), length % SECOND.unsigned_abs());
        let fraction = format!(".{rest:09}");
        format!("{sign}{seconds}{}s", fraction.trim_end_matches('0').trim_end_matches('.'))
    }

    /// How many whole hours, minutes or seconds it is; other parts are not parts of a length.
    pub(super) fn part(self, part: TimePart) -> Option<i64> {
        let unit = match part {
            TimePart::Hours => 3600,
            TimePart::Minutes => 60,
            TimePart::Seconds => 1,
            _ => return None,
        };
        Some(self.0 / (unit * SECOND))
    }
}

/// So many units, without rounding through a float.
fn amount(number: &str, unit: i64) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = whole.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.chars() {
        place /= 10;
        total = total.checked_add(place * i64::from(digit.to_digit(10)?))?;
    }
    Some(total)
}

/// A part of a moment, in UTC.
pub(super) fn part(moment: Timestamp, part: TimePart) -> Option<i64> {
    let moment = jiff::Timestamp::from_nanosecond(i128::from(moment.0)).ok()?;
    let civil = Offset::UTC.to_datetime(moment);
    Some(match part {
        TimePart::FullYear => i64::from(civil.year()),
        TimePart::Month => i64::from(civil.month()) - 1,
        TimePart::Date => i64::from(civil.day()),
        TimePart::DayOfMonth => i64::from(civil.day()) - 1,
        TimePart::DayOfWeek => i64::from(civil.weekday().to_sunday_zero_offset()),
        TimePart::DayOfYear => i64::from(civil.day_of_year()) - 1,
        TimePart::Hours => i64::from(civil.hour()),
        TimePart::Minutes => i64::from(civil.minute()),
        TimePart::Seconds => i64::from(civil.second()),
    })
}

/// The moment so many seconds after the start of 1970.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked, and parts of nanoseconds do not count")]
pub(super) fn from_seconds(seconds: f64) -> Option<Timestamp> {
    // Seconds and their fraction apart: in one float, nanoseconds would be rounded.
    let whole = seconds.floor();
    let fraction = ((seconds - whole) * 1e9).round() as i64;
    let in_range = (-9.2e9..9.2e9).contains(&whole);
    in_range.then(|| (whole as i64) * SECOND + fraction).map(Timestamp)
}

/// Whole seconds since the start of 1970.
pub(super) fn to_seconds(moment: Timestamp) -> Number {
    Number::Whole(moment.0.div_euclid(SECOND))
}
