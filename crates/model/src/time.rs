//! Moments as values; nothing here reads a clock.

use std::fmt;

/// Nanoseconds since the start of 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl fmt::Display for Timestamp {
    /// As in RFC 3339, for example `2025-03-01T12:00:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_nanosecond(i128::from(self.0)) {
            Ok(moment) => moment.fmt(f),
            Err(_) => write!(f, "{} ns", self.0),
        }
    }
}

impl std::str::FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let moment: jiff::Timestamp = text.parse().map_err(|_| NotATime)?;
        i64::try_from(moment.as_nanosecond()).map(Self).map_err(|_| NotATime)
    }
}

/// The text is not an RFC 3339 time with a zone, or one outside the years 1678 to 2262.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a time with a zone, for example `2025-03-01T12:00:00Z`")
    }
}

impl std::error::Error for NotATime {}
