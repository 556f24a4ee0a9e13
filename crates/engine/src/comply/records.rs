//! Since when something violates, and because of what.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::{Comply, ObjectId, Violation};

/// Who violates what: values are content, not identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) a: ObjectId,
    pub(super) b: ObjectId,
    pub(super) scope: ObjectId,
    pub(super) policy: u32,
    pub(super) rule: u16,
    pub(super) joint: u8,
}

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
    pub(super) begun: Vec<Identity>,
    pub(super) ended: Vec<Identity>,
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
    began: FxHashMap<Identity, &'c Entry>,
}

impl Comply {
    /// Reads the history of everything that violates now.
    pub fn history(&self) -> History<'_> {
        let mut began = FxHashMap::default();
        for entry in &self.records.log {
            for identity in &entry.ended {
                began.remove(identity);
            }
            for identity in &entry.begun {
                began.insert(*identity, entry);
            }
        }
        History { comply: self, began }
    }

    /// Since when something violates, if it began with a change.
    pub fn seen(&self, violation: &Violation) -> Option<Seen> {
        self.history().seen(violation)
    }

    /// What violated once and does no more, in the order in which it ended: since when it did, and since when it does not.
    pub fn resolved(&self) -> Vec<(Violation, Option<Seen>, Timestamp)> {
        let mut began: FxHashMap<Identity, &Entry> = FxHashMap::default();
        let mut resolved = Vec::new();
        for entry in &self.records.log {
            for identity in &entry.ended {
                let seen = began.remove(identity).map(Entry::seen);
                resolved.extend(self.name_identity(identity).map(|violation| (violation, seen, entry.cause.at)));
            }
            began.extend(entry.begun.iter().map(|identity| (*identity, entry)));
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
    /// Since when something violates, if it began with a change.
    pub fn seen(&self, violation: &Violation) -> Option<Seen> {
        self.began.get(&self.comply.identity_of(violation)?).map(|entry| entry.seen())
    }
}
