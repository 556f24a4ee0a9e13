//! How much of the past is kept.

use jiff::{SignedDuration, Timestamp};

use crate::{Result, Revision, Store};

/// Which revisions stay readable. What either rule wants to keep is kept; without rules, everything is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// How many of the last revisions are kept at least.
    pub keep_revisions: Option<u64>,
    /// How long a revision is kept at least after the next one took its place.
    pub keep_for: Option<SignedDuration>,
}

/// How many entries are read at once.
const PAGE: usize = 200;

/// How long the name of a request is remembered, counted back from the last entry: a repetition comes within minutes.
const KEYS_ARE_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// From when on idempotency keys are kept at a compaction.
pub(crate) fn keys_before(last: Timestamp) -> Option<Timestamp> {
    last.checked_sub(KEYS_ARE_KEPT).ok()
}

impl Retention {
    /// Up to which revision the log can be compacted: the states from there on stay known. The entries are those that follow the
    /// oldest known state, in order; more than the first that must stay need not be given.
    pub fn up_to(
        &self,
        now: Timestamp,
        last: Revision,
        entries: impl IntoIterator<Item = (Revision, Timestamp)>,
    ) -> Option<Revision> {
        if self.keep_revisions.is_none() && self.keep_for.is_none() {
            return None;
        }
        let by_number = |revision: Revision| {
            self.keep_revisions.is_none_or(|keep| revision.0.saturating_add(keep.max(1)) <= last.0.saturating_add(1))
        };
        // The state that an entry made is the current one until the next entry, so what counts is whether the entry itself is old:
        // then everything before it was replaced long ago.
        let limit = self.keep_for.map(|keep| now.checked_sub(keep).unwrap_or(Timestamp::MIN));
        let by_time = |time: Timestamp| limit.is_none_or(|limit| time <= limit);
        let old = entries.into_iter().take_while(|(revision, time)| by_number(*revision) && by_time(*time));
        old.last().map(|(revision, _)| revision)
    }

    /// Compacts a store as far as this allows. Says up to which revision, when there was anything to do.
    pub async fn apply(&self, store: &dyn Store, now: Timestamp) -> Result<Option<Revision>> {
        let head = store.head().await?;
        let mut found = None;
        let mut after = head.oldest;
        loop {
            let page = store.entries(after, PAGE).await?;
            let times = page.iter().map(|entry| (entry.revision, entry.time));
            let Some(up_to) = self.up_to(now, head.revision, times) else { break };
            found = Some(up_to);
            after = up_to;
            if page.last().map(|entry| entry.revision) != found {
                break;
            }
        }
        if let Some(up_to) = found {
            store.compact(up_to).await?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Revision 11 was written ten hours ago, 20 one hour ago, and 21 would be now.
    fn entries() -> impl Iterator<Item = (Revision, Timestamp)> {
        (11..=20).map(|revision| (Revision(revision), at(revision)))
    }

    fn at(hour: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(i64::try_from(hour).unwrap())
    }

    fn up_to(keep_revisions: Option<u64>, hours: Option<i64>) -> Option<u64> {
        let retention = Retention { keep_revisions, keep_for: hours.map(SignedDuration::from_hours) };
        retention.up_to(at(21), Revision(20), entries()).map(|revision| revision.0)
    }

    #[test]
    fn without_rules_everything_is_kept() {
        assert_eq!(up_to(None, None), None);
    }

    #[test]
    fn the_last_revisions_stay_readable() {
        assert_eq!(up_to(Some(3), None), Some(18), "the states of 18, 19 and 20 are three");
        assert_eq!(up_to(Some(1), None), Some(20));
        assert_eq!(up_to(Some(0), None), Some(20), "the last state cannot be forgotten");
        assert_eq!(up_to(Some(10), None), Some(11));
        assert_eq!(up_to(Some(11), None), None);
        assert_eq!(up_to(Some(u64::MAX), None), None);
    }

    #[test]
    fn what_was_true_within_the_time_stays_readable() {
        assert_eq!(up_to(None, Some(5)), Some(16), "five hours ago 16 was just written");
        assert_eq!(up_to(None, Some(0)), Some(20));
        assert_eq!(up_to(None, Some(11)), None);
        assert_eq!(up_to(None, Some(i64::MAX / 3600)), None);
    }

    #[test]
    fn what_either_rule_keeps_is_kept() {
        assert_eq!(up_to(Some(3), Some(5)), Some(16));
        assert_eq!(up_to(Some(8), Some(5)), Some(13));
    }

    #[test]
    fn a_young_entry_keeps_all_that_follow_even_if_a_clock_went_back() {
        let retention = Retention { keep_for: Some(SignedDuration::from_hours(5)), ..Retention::default() };
        let entries = [(1, 1), (2, 30), (3, 1)].map(|(revision, hour)| (Revision(revision), at(hour)));
        assert_eq!(retention.up_to(at(31), Revision(3), entries), Some(Revision(1)));
    }
}
