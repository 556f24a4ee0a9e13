//! Why an action makes no sense, or its actor may not: codes with parameters; the sentences are in `words`.

use smol_str::SmolStr;
use upheld_engine::comply::NotFound;

use crate::definition::{BadDefinition, BadValue};

/// Why an action was refused, but for policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A reference that means nothing.
    NotFound(NotFound),
    /// The object is there already.
    ObjectExists {
        /// Which.
        object: SmolStr,
    },
    /// Objects of this kind live in another one, and none was named.
    NoOwner {
        /// Which.
        object: SmolStr,
    },
    /// It lives in another one already.
    Owned {
        /// Which.
        object: SmolStr,
        /// Where.
        owner: SmolStr,
    },
    /// Objects of these kinds are not related in this way.
    NotRelated {
        /// One side.
        a: SmolStr,
        /// The other.
        b: SmolStr,
    },
    /// There is no such relationship.
    NoLink {
        /// One side.
        a: SmolStr,
        /// The other.
        b: SmolStr,
    },
    /// The object takes no new relationships.
    Disabled {
        /// Which.
        object: SmolStr,
    },
    /// The other side is not related to the scope.
    NotInScope {
        /// Who.
        object: SmolStr,
        /// Which scope.
        scope: SmolStr,
    },
    /// Something still lives in it.
    NotEmpty {
        /// Which.
        object: SmolStr,
        /// What lives in it, for example.
        inside: SmolStr,
    },
    /// The tag is not defined.
    UnknownTag {
        /// Of which subject.
        subject: SmolStr,
        /// What was written.
        key: SmolStr,
        /// What may have been meant.
        nearest: Option<SmolStr>,
    },
    /// The tag does not take the value.
    Value {
        /// The tag.
        key: SmolStr,
        /// What is wrong.
        bad: BadValue,
        /// What can be chosen.
        options: Vec<SmolStr>,
    },
    /// The tag must have a value.
    Mandatory {
        /// The tag.
        key: SmolStr,
    },
    /// Only administrators may change the tag.
    Restricted {
        /// The tag.
        key: SmolStr,
    },
    /// The tag cannot change any more.
    Immutable {
        /// The tag.
        key: SmolStr,
    },
    /// The actor may not do this.
    Right {
        /// The role.
        role: SmolStr,
        /// What was tried, as a word: `link`, `tag project`.
        what: SmolStr,
    },
    /// Nobody acts who has a role.
    Nobody,
    /// The actor may not do this here.
    Scope {
        /// Where the actor may.
        own: SmolStr,
    },
    /// A policy that is there already.
    PolicyExists {
        /// Which.
        policy: SmolStr,
    },
    /// A policy that a waiver is about.
    PolicyWaived {
        /// Which.
        policy: SmolStr,
        /// The waiver.
        waiver: SmolStr,
    },
    /// A policy that is not there.
    UnknownPolicy {
        /// What was written.
        written: SmolStr,
        /// What may have been meant.
        nearest: Option<SmolStr>,
    },
    /// Policies cannot be about this pair.
    NoPair {
        /// One side.
        a: SmolStr,
        /// The other.
        b: SmolStr,
    },
    /// A policy without rules, or with more than its edition allows.
    RuleCount {
        /// How many.
        count: usize,
    },
    /// The edition has no such strategy.
    Strategy {
        /// Which.
        strategy: SmolStr,
    },
    /// A policy that is cut to some objects, where policies are about all of them.
    Selectors {
        /// Which.
        policy: SmolStr,
    },
    /// A tag definition that makes no sense.
    Definition {
        /// The tag.
        key: SmolStr,
        /// What is wrong.
        bad: BadDefinition,
    },
    /// A tag definition that is not there.
    UnknownDefinition {
        /// Of which subject.
        subject: SmolStr,
        /// The tag.
        key: SmolStr,
    },
    /// A policy uses the tag.
    TagInUse {
        /// The tag.
        key: SmolStr,
        /// Which policy.
        policy: SmolStr,
    },
    /// A waiver that is there already.
    WaiverExists {
        /// Which.
        waiver: SmolStr,
    },
    /// A waiver that is not there.
    UnknownWaiver {
        /// Which.
        waiver: SmolStr,
    },
    /// A waiver without a reason.
    NoReason {
        /// Which.
        waiver: SmolStr,
    },
    /// Time does not run backwards.
    Backwards,
}

impl From<NotFound> for Refusal {
    fn from(not_found: NotFound) -> Self {
        Self::NotFound(not_found)
    }
}
