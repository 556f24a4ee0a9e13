//! Since when something violates, and because of what.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::EntryId;
use upheld_engine::comply::{Complied, Filter, Finding, FindingId, FindingName, NetChange, Pair};
use upheld_model::{Pages, State, TextShards, Timestamp};

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
    /// What is on record besides.
    remembered: Remembered,
    /// How much of the log is older than that.
    before: usize,
}

/// What was let through and is on record, by what violates: nobody has to look at all of it to know one. A clone shares what does not
/// change.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    by_finding: TextShards<FindingName, Vec<OnRecord>>,
}

/// Why something violates, and the name of the record that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OnRecord {
    record: SmolStr,
    cause: Arc<Cause>,
}

impl Remembered {
    /// Adds a record of its name.
    pub fn add(&mut self, record: &SmolStr, cause: &Arc<Cause>, findings: &[FindingName]) {
        for finding in findings {
            let mut known = self.by_finding.get(finding).cloned().unwrap_or_default();
            known.retain(|own| own.record != *record);
            known.push(OnRecord { record: record.clone(), cause: Arc::clone(cause) });
            known.sort_by(|one, other| (one.cause.at, &one.record).cmp(&(other.cause.at, &other.record)));
            self.by_finding.insert(finding.clone(), known);
        }
    }

    /// Takes a record back.
    pub fn remove(&mut self, record: &SmolStr, findings: &[FindingName]) {
        for finding in findings {
            let Some(known) = self.by_finding.get_mut(finding) else { continue };
            known.retain(|own| own.record != *record);
            if known.is_empty() {
                self.by_finding.remove(finding);
            }
        }
    }

    /// The records that say something of a finding.
    pub fn records_of(&self, finding: &FindingName) -> impl Iterator<Item = &SmolStr> {
        self.by_finding.get(finding).into_iter().flatten().map(|own| &own.record)
    }

    /// What the last record says of a finding.
    fn cause(&self, finding: &FindingName) -> Option<&Cause> {
        self.by_finding.get(finding)?.last().map(|own| &*own.cause)
    }

    /// All of it, in order.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (&FindingName, impl Iterator<Item = &Cause>)> {
        let all = self.by_finding.sorted().into_iter();
        all.map(|(name, known)| (name, known.iter().map(|own| &*own.cause)))
    }
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

    /// What is on record besides.
    pub(crate) fn remembered(&self) -> &Remembered {
        &self.remembered
    }

    fn age(&self, place: usize) -> Age {
        if place < self.before { Age::Before } else { Age::Since }
    }

    /// Writes down what an accepted change began and ended.
    pub(crate) fn write(&mut self, entry: Entry) {
        self.log.push(Arc::new(entry));
    }
}

/// Whether something happened before anything was remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    Before,
    Since,
}

/// Since when what violates now does so.
#[derive(Debug)]
pub struct History<'o> {
    organisation: &'o Organisation,
    /// What began before anything was remembered.
    before: FxHashMap<FindingId, &'o Entry>,
    /// What changed since: what began, and nothing for what ended.
    since: FxHashMap<FindingId, Option<&'o Entry>>,
}

impl Organisation {
    /// Reads the history of everything that violates now.
    pub fn history(&self) -> History<'_> {
        let mut history = History { organisation: self, before: FxHashMap::default(), since: FxHashMap::default() };
        for (place, entry) in self.records.log.iter().enumerate() {
            history.happened(entry, self.records.age(place));
        }
        history
    }

    /// Remembers what was let through and still violates, perhaps; what does not is of no account. What happened so far is older.
    pub fn remember(&mut self, remembered: Remembered) {
        self.records.before = self.records.log.len();
        self.records.remembered = remembered;
    }

    /// The violations within a filter, in order, those that a waiver covers too. What began with a change was accepted, and
    /// refuses nothing.
    pub fn violations(&self, filter: &Filter, now: Timestamp) -> Vec<Finding> {
        let history = self.history();
        self.comply.violations_within(filter, now, |id| history.has(id))
    }

    /// Those of them that another organisation, judged at the same moment, may not have: all if the two are not judged alike.
    pub fn violations_unlike(&self, other: &Self, filter: &Filter, now: Timestamp) -> Vec<Finding> {
        let history = self.history();
        if self.is_judged_as(other) {
            self.comply.violations_unlike(&other.comply, filter, now, |id| history.has(id))
        } else {
            self.violations(filter, now)
        }
    }

    /// How many violations of every policy end how, at a moment.
    pub fn violations_by_policy(&self, now: Timestamp) -> BTreeMap<SmolStr, Complied> {
        let history = self.history();
        self.comply.violations_by_policy(now, |id| history.has(id))
    }

    /// Since when something violates, if it began with a change.
    pub fn seen(&self, finding: &Finding) -> Option<FirstSeen> {
        self.history().seen(finding)
    }

    /// What violated once and does no more, in the order in which it ended: since when it did, and since when it does not.
    pub fn resolved(&self, now: Timestamp) -> Vec<(Finding, Option<FirstSeen>, Timestamp)> {
        let mut history = History { organisation: self, before: FxHashMap::default(), since: FxHashMap::default() };
        let mut resolved = Vec::new();
        for (place, entry) in self.records.log.iter().enumerate() {
            for id in &entry.net.ended {
                let seen = history.cause(*id).map(Cause::seen);
                let named = self.comply.name(*id, State::Pass, now);
                resolved.extend(named.map(|finding| (finding, seen, entry.cause.at)));
            }
            history.happened(entry, self.records.age(place));
        }
        resolved
    }
}

impl Cause {
    fn seen(&self) -> FirstSeen {
        FirstSeen { first: self.at, cause: self.clone() }
    }
}

impl<'o> History<'o> {
    fn happened(&mut self, entry: &'o Entry, age: Age) {
        let NetChange { begun, ended } = &entry.net;
        if age == Age::Before {
            for id in ended {
                self.before.remove(id);
            }
            self.before.extend(begun.iter().map(|id| (*id, entry)));
        } else {
            self.since.extend(ended.iter().map(|id| (*id, None)));
            self.since.extend(begun.iter().map(|id| (*id, Some(entry))));
        }
    }

    /// Because of what something violates, if it began with a change.
    fn cause(&self, id: FindingId) -> Option<&'o Cause> {
        match self.since.get(&id) {
            Some(began) => began.map(|entry| &entry.cause),
            None => self.remembered(id).or_else(|| self.before.get(&id).map(|entry| &entry.cause)),
        }
    }

    fn remembered(&self, id: FindingId) -> Option<&'o Cause> {
        let remembered = &self.organisation.records.remembered;
        if remembered.by_finding.is_empty() {
            return None;
        }
        let (name, turned) = self.organisation.comply.names_of(id)?;
        remembered.cause(&name).or_else(|| remembered.cause(&turned?))
    }

    /// The rules that a pair violates since somebody was allowed to let it.
    pub fn accepted(&self, pair: Pair) -> Vec<EntryId> {
        let mut rules = self.organisation.comply.rules_violated(pair);
        rules.retain(|entry| self.has(FindingId { pair, entry: *entry }));
        rules
    }

    /// Whether something violates since a change.
    pub fn has(&self, id: FindingId) -> bool {
        self.cause(id).is_some()
    }

    /// Since when something violates, if it began with a change.
    pub fn seen(&self, finding: &Finding) -> Option<FirstSeen> {
        self.cause(self.organisation.comply.identify(finding)?).map(Cause::seen)
    }
}
