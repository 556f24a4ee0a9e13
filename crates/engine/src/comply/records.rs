//! Since when something violates, and because of what.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::{ObjectId, ViolationId};

/// Who violates what: values are content, not identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) joint: u8,
    pub(super) a: ObjectId,
    pub(super) b: ObjectId,
    pub(super) scope: ObjectId,
    pub(super) policy: usize,
    pub(super) rule: usize,
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

/// What violated once and does no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) identity: Identity,
    pub(super) seen: Option<Seen>,
    pub(super) at: Timestamp,
}

/// The history of violations since the beginning; what violated from the start has none.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    causes: Vec<Cause>,
    seen: FxHashMap<Identity, usize>,
    ended: Vec<Ended>,
}

impl Records {
    /// Writes down what an accepted change began and ended.
    pub(super) fn write(
        &mut self,
        cause: impl FnOnce() -> Cause,
        at: Timestamp,
        begun: &[(Identity, ViolationId)],
        ended: &[Identity],
    ) {
        for identity in ended {
            let seen = self.seen.remove(identity).and_then(|cause| self.told(cause));
            self.ended.push(Ended { identity: *identity, seen, at });
        }
        if begun.is_empty() {
            return;
        }
        let place = self.causes.len();
        self.causes.push(cause());
        for (identity, _) in begun {
            self.seen.insert(*identity, place);
        }
    }

    fn told(&self, cause: usize) -> Option<Seen> {
        self.causes.get(cause).map(|cause| Seen { first: cause.at, cause: cause.clone() })
    }

    /// Since when something violates, if it began with a change.
    pub(super) fn seen(&self, identity: &Identity) -> Option<Seen> {
        self.seen.get(identity).and_then(|cause| self.told(*cause))
    }

    /// What violates no more, in the order in which it ended.
    pub(super) fn ended(&self) -> &[Ended] {
        &self.ended
    }
}
