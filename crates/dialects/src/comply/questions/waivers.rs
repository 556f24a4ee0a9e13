//! Which waivers cover something, and which are good for nothing any more?

use serde::{Deserialize, Serialize};
use upheld_model::Timestamp;

use super::Organisation;
use upheld_report::compliance::{ListedWaivers, WaiverLine, WaiverState, waiver_lines};

const DAY: i64 = 86_400 * 1_000_000_000;

/// Which waivers are wanted: all, or those that something is true of.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WaiverQuestion {
    /// Those that cover nothing.
    pub unused: bool,
    /// Those that are over.
    pub expired: bool,
    /// Those that end within so many days.
    pub expiring: Option<u32>,
}

impl Organisation<'_> {
    /// Waivers by name, and how many there are in all.
    pub fn waivers(&self, wanted: &WaiverQuestion) -> ListedWaivers {
        let mut lines = waiver_lines(self.comply(), self.now, self.snapshot.files());
        lines.sort_by(|one, other| one.id.cmp(&other.id));
        let all = lines.len();
        lines.retain(|line| keeps(wanted, line, self.now));
        ListedWaivers { waivers: lines, all }
    }
}

fn keeps(wanted: &WaiverQuestion, line: &WaiverLine, now: Timestamp) -> bool {
    let ends_soon = |days: u32| {
        let until: Option<Timestamp> = line.expires.as_deref().and_then(|moment| moment.parse().ok());
        until.is_some_and(|until| now < until && until.0 <= now.0.saturating_add(i64::from(days) * DAY))
    };
    let any = wanted.unused || wanted.expired || wanted.expiring.is_some();
    !any || (wanted.unused && line.state == WaiverState::Unused)
        || (wanted.expired && line.state == WaiverState::Expired)
        || wanted.expiring.is_some_and(ends_soon)
}
