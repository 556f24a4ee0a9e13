//! Since when something violates, and because of what.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_model::{State, Timestamp};

use super::Comply;
use super::facts::Pair;
use super::finding::{Finding, FindingId};
use super::listing::Filter;
use super::steps::NetChange;
use crate::ask::EntryId;

/// Since when something violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Since when.
    pub first: Timestamp,
    /// Because of what.
    pub cause: Cause,
}

/// What made something violate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What was done, as a word: `tags`, `link`, `create`, `policy`, `defaults`.
    pub action: &'static str,
    /// Whom or what it changed: a reference, or the name of a policy.
    pub object: SmolStr,
    /// The tag that changed, with its values before and after.
    pub change: Option<(SmolStr, Vec<SmolStr>, Vec<SmolStr>)>,
    /// The role of who did it; nothing for the program itself.
    pub role: Option<SmolStr>,
    /// Who did it.
    pub name: Option<SmolStr>,
    /// When.
    pub at: Timestamp,
}

/// What changes began and ended, one after the other; what violated from the start is in none of them. Changes only add to
/// it: who asks since when reads it once.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    log: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) cause: Cause,
    pub(super) net: NetChange,
}

impl Records {
    /// Writes down what an accepted change began and ended.
    pub(super) fn write(&mut self, entry: Entry) {
        self.log.push(entry);
    }
}

/// Since when what violates now does so.
#[derive(Debug)]
pub struct History<'c> {
    comply: &'c Comply,
    began: FxHashMap<FindingId, &'c Entry>,
}

impl Comply {
    /// Reads the history of everything that violates now.
    pub fn history(&self) -> History<'_> {
        let mut began = FxHashMap::default();
        for entry in &self.records.log {
            for identity in &entry.net.ended {
                began.remove(identity);
            }
            for identity in &entry.net.begun {
                began.insert(*identity, entry);
            }
        }
        History { comply: self, began }
    }

    /// The violations within a filter, in order. Those that began with a change were accepted, and refuse nothing.
    pub fn recorded(&self, filter: &Filter) -> Vec<Finding> {
        let history = self.history();
        self.violations_within(filter, self.now, |id| history.has(id))
    }

    /// Since when something violates, if it began with a change.
    pub fn seen(&self, finding: &Finding) -> Option<Seen> {
        self.history().seen(finding)
    }

    /// What violated once and does no more, in the order in which it ended: since when it did, and since when it does not.
    pub fn resolved(&self) -> Vec<(Finding, Option<Seen>, Timestamp)> {
        let mut began: FxHashMap<FindingId, &Entry> = FxHashMap::default();
        let mut resolved = Vec::new();
        for entry in &self.records.log {
            for identity in &entry.net.ended {
                let seen = began.remove(identity).map(Entry::seen);
                resolved
                    .extend(self.name(*identity, State::Pass, self.now).map(|finding| (finding, seen, entry.cause.at)));
            }
            began.extend(entry.net.begun.iter().map(|identity| (*identity, entry)));
        }
        resolved
    }
}

impl Entry {
    fn seen(&self) -> Seen {
        Seen { first: self.cause.at, cause: self.cause.clone() }
    }
}

impl History<'_> {
    /// The rules that a pair violates since somebody was allowed to let it.
    pub fn accepted(&self, pair: Pair) -> Vec<EntryId> {
        let mut rules = self.comply.rules_violated(pair);
        rules.retain(|entry| self.has(FindingId { pair, entry: *entry }));
        rules
    }

    /// Whether something violates since a change.
    pub fn has(&self, id: FindingId) -> bool {
        self.began.contains_key(&id)
    }

    /// Since when something violates, if it began with a change.
    pub fn seen(&self, finding: &Finding) -> Option<Seen> {
        self.began.get(&self.comply.identify(finding)?).map(|entry| entry.seen())
    }
}
