//! Moments that tell conditions about time apart: every moment at which one of them may begin or end to hold.

use upheld_model::Timestamp;

use crate::decide::condition::{Condition, TimeWindow, Validity};

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 24 * 3600 * SECOND;

/// Where nothing has a date: Monday, the first of January 2024.
const SOME_DAY: i64 = 1_704_067_200 * SECOND;

/// Moments, and whether every other moment is like one of them.
pub(super) fn moments<'c>(conditions: impl Iterator<Item = &'c Condition>) -> (Vec<Timestamp>, bool) {
    let (mut dates, mut clocks): (Vec<i64>, Vec<&TimeWindow>) = Default::default();
    for condition in conditions {
        let Validity { from, until } = match condition {
            Condition::Validity(validity) => *validity,
            Condition::Time(window) => {
                if window.after.is_some() || window.before.is_some() || window.days.is_some() {
                    clocks.push(window);
                }
                window.dates
            }
            _ => continue,
        };
        dates.extend(from.into_iter().chain(until).map(|moment| moment.0));
    }
    dates.sort_unstable();
    dates.dedup();
    // Between two dates a week is like every other, so the days after each date are enough, and some before the first.
    let before = dates.first().map_or(SOME_DAY, |first| first.saturating_sub(16 * DAY));
    let mut found = Vec::new();
    for date in std::iter::once(before).chain(dates) {
        found.push(date);
        for clock in &clocks {
            week_after(date, clock, &mut found);
        }
    }
    found.sort_unstable();
    found.dedup();
    (found.into_iter().map(Timestamp).collect(), have_one_clock(&clocks))
}

/// Moments of the same sorts, those that come next before those that are past.
pub(super) fn after<'c>(now: Timestamp, conditions: impl Iterator<Item = &'c Condition> + Clone) -> Vec<Timestamp> {
    let (mut found, _) = moments(conditions.clone());
    let mut coming = Vec::new();
    for condition in conditions {
        if let Condition::Time(window) = condition {
            week_after(now.0, window, &mut coming);
        }
    }
    found.extend(coming.into_iter().map(Timestamp));
    found.sort_by_key(|moment| (*moment <= now, moment.0.abs_diff(now.0)));
    found.dedup();
    found
}

/// Where clocks are put forward and back, or hang in different places, more can happen together than in a week.
fn have_one_clock(clocks: &[&TimeWindow]) -> bool {
    let fixed = clocks.iter().all(|clock| clock.zone.to_fixed_offset().is_ok());
    fixed && clocks.windows(2).all(|pair| matches!(pair, [one, other] if one.zone == other.zone))
}

/// The moments at which a window opens or closes, or a day begins, in the nine days from a moment on.
fn week_after(moment: i64, clock: &TimeWindow, found: &mut Vec<i64>) {
    let Ok(known) = jiff::Timestamp::from_nanosecond(i128::from(moment)) else { return };
    let local = clock.zone.to_datetime(known);
    let part = |part: i8| i64::from(part);
    let second = part(local.hour()) * 3600 + part(local.minute()) * 60 + part(local.second());
    let midnight = moment.saturating_sub(second * SECOND).saturating_sub(i64::from(local.subsec_nanosecond()));
    for day in 0..=8 {
        for second in [Some(0), clock.after, clock.before].into_iter().flatten() {
            let at = midnight.saturating_add(day * DAY).saturating_add(i64::from(second) * SECOND);
            found.extend(Some(at).filter(|at| *at >= moment));
        }
    }
}
