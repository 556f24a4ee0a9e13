//! Lengths of time, as arguments and settings have them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// For how long a server answers that does not hear from its store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MaxStale {
    /// As long as it lives.
    #[default]
    Off,
    /// So long.
    After(Duration),
}

impl MaxStale {
    /// The store is asked three times a second: less would refuse answers of servers that are well.
    const LEAST: Duration = Duration::from_secs(2);
}

impl FromStr for MaxStale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self::Off);
        }
        let time = length(text).map_err(|wrong| format!("{wrong}, or `off`"))?;
        if time < Self::LEAST {
            return Err(format!("`{text}` is too short; at least {}s", Self::LEAST.as_secs()));
        }
        Ok(Self::After(time))
    }
}

impl fmt::Display for MaxStale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::After(time) => write!(f, "{}s", time.as_secs()),
        }
    }
}

/// A length of time: `90s`, `15m`, `12h`, `30d`.
pub(super) fn length(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a valid duration; for example 30d, 12h, 15m or 90s");
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match text.strip_prefix(digits).unwrap_or_default() {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    number.checked_mul(seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs).ok_or_else(wrong)
}
