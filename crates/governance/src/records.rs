//! Since when something violates, and because of what.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::EntryId;
use upheld_engine::comply::{Filter, Finding, FindingId, FindingName, NetChange, Pair};
use upheld_model::{Pages, State, Timestamp};

use crate::Organisation;

/// Since when something violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSeen {
    /// Since when.
    pub first: Timestamp,
    /// Because of what.
    pub cause: Cause,
}

/// What made something violate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What was done, as a word: `tags`, `link`, `create`, `policy`, `defaults`.
    pub action: SmolStr,
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
pub(crate) struct Records {
    log: Pages<Arc<Entry>>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) cause: Cause,
    pub(crate) net: NetChange,
}

impl Records {
    /// Everything, in order.
    pub(crate) fn log(&self) -> impl Iterator<Item = &Entry> {
        self.log.iter().map(|entry| &**entry)
    }

    /// Writes down what an accepted change began and ended.
    pub(crate) fn write(&mut self, entry: Entry) {
        self.log.push(Arc::new(entry));
    }
}

/// Since when what violates now does so.
#[derive(Debug)]
pub struct History<'o> {
    organisation: &'o Organisation,
    began: FxHashMap<FindingId, &'o Entry>,
}

impl Organisation {
    /// Reads the history of everything that violates now.
    pub fn history(&self) -> History<'_> {
        let mut began: FxHashMap<FindingId, &Entry> = FxHashMap::default();
        for entry in self.records.log.iter() {
            for id in &entry.net.ended {
                began.remove(id);
            }
            began.extend(entry.net.begun.iter().map(|id| (*id, &**entry)));
        }
        History { organisation: self, began }
    }

    /// Remembers that something was let through which still violates, perhaps; what does not is of no account.
    pub fn remember(&mut self, cause: Cause, findings: &[FindingName]) {
        let begun: Vec<FindingId> = findings.iter().filter_map(|name| self.comply.find_named(name)).collect();
        if !begun.is_empty() {
            self.records.write(Entry { cause, net: NetChange { begun, ended: Vec::new() } });
        }
    }

    /// The violations within a filter, in order, those that a waiver covers too. What began with a change was accepted, and
    /// refuses nothing.
    pub fn violations(&self, filter: &Filter, now: Timestamp) -> Vec<Finding> {
        let history = self.history();
        self.comply.violations_within(filter, now, |id| history.has(id))
    }

    /// Since when something violates, if it began with a change.
    pub fn seen(&self, finding: &Finding) -> Option<FirstSeen> {
        self.history().seen(finding)
    }

    /// What violated once and does no more, in the order in which it ended: since when it did, and since when it does not.
    pub fn resolved(&self, now: Timestamp) -> Vec<(Finding, Option<FirstSeen>, Timestamp)> {
        let mut began: FxHashMap<FindingId, &Entry> = FxHashMap::default();
        let mut resolved = Vec::new();
        for entry in self.records.log.iter() {
            for id in &entry.net.ended {
                let seen = began.remove(id).map(Entry::seen);
                let named = self.comply.name(*id, State::Pass, now);
                resolved.extend(named.map(|finding| (finding, seen, entry.cause.at)));
            }
            began.extend(entry.net.begun.iter().map(|id| (*id, &**entry)));
        }
        resolved
    }
}

impl Entry {
    fn seen(&self) -> FirstSeen {
        FirstSeen { first: self.cause.at, cause: self.cause.clone() }
    }
}

impl History<'_> {
    /// The rules that a pair violates since somebody was allowed to let it.
    pub fn accepted(&self, pair: Pair) -> Vec<EntryId> {
        let mut rules = self.organisation.comply.rules_violated(pair);
        rules.retain(|entry| self.has(FindingId { pair, entry: *entry }));
        rules
    }

    /// Whether something violates since a change.
    pub fn has(&self, id: FindingId) -> bool {
        self.began.contains_key(&id)
    }

    /// Since when something violates, if it began with a change.
    pub fn seen(&self, finding: &Finding) -> Option<FirstSeen> {
        let id = self.organisation.comply.identify(finding)?;
        self.began.get(&id).map(|entry| entry.seen())
    }
}
