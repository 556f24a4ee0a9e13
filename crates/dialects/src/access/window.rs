//! Conditions about the time.

use jiff::tz::{TimeZone, TimeZoneDatabase};
use upheld_engine::decide::{Midnight, TimeWindow, Validity, Weekdays};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::{Kind, Value};

use super::policy::Reading;
use super::policy::conditions::moment_of;
use super::policy::never::Never;

/// Reads a condition; what could never hold, or always, is refused.
pub(super) fn read(reading: &mut Reading<'_>, item: Value<'_>) -> Option<TimeWindow> {
    let before = reading.found.errors();
    let get = |field: &str| item.get(field).filter(|value| value.kind() != Kind::Null);
    let mut dates = Validity { from: reading.moment(get("from")), until: reading.moment(get("until")) };
    let after = bound(reading, get("after"), &mut dates.from);
    let before_time = bound(reading, get("before"), &mut dates.until);
    let days = get("dayOfWeek").and_then(|days| weekdays(reading, days));
    let zone = get("timezone").map_or(Some(TimeZone::UTC), |zone| time_zone(reading, zone));
    if reading.found.errors() > before {
        return None;
    }
    let window = TimeWindow { after, before: before_time, days, midnight: Midnight::Crossed, zone: zone?, dates };
    if after.is_none() && before_time.is_none() && days.is_none() && dates == Validity::default() {
        let message = "this condition names no time, so it would always hold".to_owned();
        reading.wrong(item, message, "expected `after`, `before`, `dayOfWeek`, `from` or `until`");
        return None;
    }
    if after.is_some() && after == before_time {
        reading.wrong(item, "this window begins when it ends, so it is empty".to_owned(), "never holds");
        return None;
    }
    if let (Some(start), Some(end)) = (dates.from, dates.until)
        && start >= end
    {
        let message = format!("from {start} until {end} is never");
        let help = "name the first moment in `from` and the last one in `until`".to_owned();
        reading.impossible(item, Never { message, label: "never holds", help });
    }
    (reading.found.errors() == before).then_some(window)
}

/// A time of day; a whole moment is a bound of its own.
fn bound(
    reading: &mut Reading<'_>,
    value: Option<Value<'_>>,
    moment: &mut Option<upheld_model::Timestamp>,
) -> Option<u32> {
    let value = value?;
    if let Some(second) = time_of_day(value.text()) {
        return Some(second);
    }
    match moment_of(value.text()) {
        Some(_) if moment.is_some() => {
            let message = "this time is given twice, as a time of day and as a timestamp".to_owned();
            reading.wrong(value, message, "remove one of them");
        }
        Some(parsed) => *moment = Some(parsed),
        None => {
            let message = format!("`{}` is not a valid time of day", value.text());
            reading.wrong(value, message, "expected `HH:mm`, `HH:mm:ss` or a timestamp such as `2025-03-01T12:00:00Z`");
        }
    }
    None
}

/// `09:00` or `09:00:30` as seconds of the day.
fn time_of_day(text: &str) -> Option<u32> {
    let mut parts = text.split(':').map(|part| {
        let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse::<u32>().ok()).flatten()
    });
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = match parts.next() {
        Some(second) => second?,
        None => 0,
    };
    let whole = hour * 3600 + minute * 60 + second;
    (parts.next().is_none() && hour < 24 && minute < 60 && second < 60).then_some(whole)
}

const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

fn weekdays(reading: &mut Reading<'_>, list: Value<'_>) -> Option<Weekdays> {
    let mut days = Vec::new();
    for item in list.items() {
        let by_number = item.as_integer().and_then(|day| u8::try_from(day).ok()).filter(|day| *day < 7);
        let by_name = || {
            let name = item.as_text()?.to_ascii_lowercase();
            let fits = |day: &str| day == name || (name.len() == 3 && day.starts_with(&name));
            DAYS.iter().position(|day| fits(day)).and_then(|day| u8::try_from(day).ok())
        };
        match by_number.or_else(by_name) {
            Some(day) => days.push(day),
            None => {
                let message = format!("`{}` is not a day of the week", item.text());
                reading.wrong(item, message, "expected 0 (Sunday) to 6 (Saturday), or a name such as `mon`");
                return None;
            }
        }
    }
    if days.is_empty() {
        reading.wrong(list, "`dayOfWeek` is empty, so it would never hold".to_owned(), "expected at least one day");
        return None;
    }
    Some(Weekdays::of(days))
}

fn time_zone(reading: &mut Reading<'_>, value: Value<'_>) -> Option<TimeZone> {
    if value.text() == "UTC" {
        return Some(TimeZone::UTC);
    }
    let database = TimeZoneDatabase::bundled();
    let zone = database.get(value.text()).ok();
    if zone.is_none() {
        let names: Vec<String> = database.available().map(|name| name.to_string()).collect();
        let message = format!("there is no time zone `{}`", value.text());
        let expected = "expected a name such as `Europe/Berlin`, or `UTC`";
        match nearest(value.text(), names.iter().map(String::as_str)) {
            Some(meant) => reading.wrong_but(value, message, expected, did_you_mean(meant)),
            None => reading.wrong(value, message, expected),
        }
    }
    zone
}
