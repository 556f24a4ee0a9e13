//! Objects that are related must agree in their tags: what violates, what is refused, and why.
//!
//! ```text
//! PolicyKind document ──▶ Profile: kinds, relations, pairs, effects, rights          profile
//! objects, links, policies ──▶ Draft ──▶ Comply                                       draft
//!     objects ──▶ signatures ─┐
//!     links   ──▶ pairs ──────┼─▶ a word for each pair: the rules that it violates    pairs
//!     policies ─▶ rules ──────┘
//! Question: a pair ──▶ ask ──▶ every rule in a state ──▶ Finding: the same in names    family, finding
//! Action by an Actor ──▶ shape, rights, tags, policies ──▶ Decision                   act, rights, tagging
//! ```
//!
//! There is one evaluator, the family. Every change goes through a few steps that keep the words true and can be taken back
//! (`steps`), so what is listed is always what a fresh audit would find, and what is refused leaves no trace.
//!
//! `reference` is the naive twin that tests and benches compare with.

mod act;
mod action;
mod draft;
mod facts;
mod family;
mod finding;
mod fix;
mod listing;
mod lists;
mod names;
mod near;
mod offers;
mod pairs;
mod plan;
mod policies;
mod policy;
mod profile;
mod records;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod refusal;
mod rights;
mod schema;
mod steps;
mod tagging;
#[cfg(test)]
mod tests;
mod value;
mod waivers;

use std::sync::Arc;

use upheld_model::{Symbols, Timestamp};

pub use self::act::Tried;
pub use self::action::{Action, Actor, Decision, NewLink, NewObject, Outcome, Tags};
pub use self::draft::{Draft, Problem};
pub use self::facts::{Described, Link, LinkId, ObjectId, Pair, Partner, Standing};
pub use self::family::{Complied, Held, Question, Verdict};
pub use self::finding::{Finding, FindingId, SideOf};
pub use self::fix::{By, Edit, Fix};
pub use self::listing::{Filter, Tally, Violating};
pub use self::near::{Likeness, NearMiss, near_misses};
pub use self::plan::{Flip, Plan, Step, Then};
pub use self::policy::{Level, Policy, Rule, Strategy, Waiver};
pub use self::profile::{
    Class, Defaults, Effect, EffectRow, End, Given, Holds, Keys, Kind, KindSpec, NeedsScope, Order, PairKind, Profile,
    Relation, Right, Role, RoleSpec, Rules, Subject, SubjectSpec, Swapped, Trigger,
};
pub use self::records::{Cause, History, Seen};
pub use self::refusal::Refusal;
pub use self::schema::{
    BadDefinition, BadValue, Definition, Immutable, Mandatory, Pattern, Redefinition, Restricted, TagType,
};
pub use self::steps::{Mark, NetChange};
pub use self::value::{bare_number, canonical_number};

use self::facts::{Object, Slot};
use self::lists::Lists;
use self::names::Names;
use self::pairs::PairTable;
use self::policies::PolicySet;
use self::records::Records;
use self::steps::{Retired, Touch, Undo};
use self::waivers::Waivers;

/// Switches of an organisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether what was violated before can refuse a change.
    pub preexisting: Preexisting,
    /// Whether policies look at the provider's own scopes.
    pub partners: Partners,
    /// Whether who is related to an object has to be related to its scope.
    pub membership: Membership,
}

/// Whether what was violated before can refuse a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preexisting {
    /// It can, as in the original.
    #[default]
    Blocks,
    /// It cannot.
    Tolerated,
}

/// Whether policies look at the provider's own scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partners {
    /// They do.
    #[default]
    Judged,
    /// They leave them alone, with all that lives in them.
    Exempt,
}

/// Whether who is related to an object has to be related to its scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Membership {
    /// It need not be known.
    #[default]
    Optional,
    /// It must.
    Required,
}

/// Objects, relationships, policies, and what violates them.
#[derive(Clone, Debug)]
pub struct Comply {
    profile: Arc<Profile>,
    settings: Settings,
    now: Timestamp,
    /// Counts accepted changes.
    version: u64,
    symbols: Symbols,
    lists: Lists,
    objects: Vec<Object>,
    names: Names,
    by_kind: Vec<Vec<ObjectId>>,
    links: Vec<Option<Link>>,
    /// By pair of subjects, in the order of the profile.
    tables: Vec<PairTable>,
    /// Pairs that violate something, by scope.
    violating: Vec<Vec<Slot>>,
    policies: PolicySet,
    definitions: Vec<Definition>,
    waivers: Waivers,
    defaults: Tags,
    records: Records,
    journal: Vec<Undo>,
    touched: Vec<Touch>,
    /// Places of pairs that are gone, not to be used before the change is accepted.
    freed: Vec<Slot>,
    free_links: Vec<LinkId>,
    freed_links: Vec<LinkId>,
    retired: Retired,
}

impl Comply {
    /// The rules of the game.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The switches.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The moment at which everything is judged.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Counts accepted changes; a decision holds for the version that it names.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The policies in the order of their names.
    pub fn policies(&self) -> Vec<&Policy> {
        self.policies.sorted().into_iter().map(Arc::as_ref).collect()
    }

    /// A policy by its name.
    pub fn policy(&self, name: &str) -> Option<&Policy> {
        self.policies.get(name).map(Arc::as_ref)
    }

    /// The tag definitions in the order in which they came.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// A tag definition.
    pub fn definition(&self, subject: Subject, key: &str) -> Option<&Definition> {
        self.definitions.iter().find(|known| known.subject == subject && known.key == key)
    }

    /// The waivers in the order in which they came.
    pub fn waivers(&self) -> &[Waiver] {
        self.waivers.all()
    }

    /// The default tags.
    pub fn defaults(&self) -> &Tags {
        &self.defaults
    }

    /// Sets the clock without asking anybody: when something is loaded, not when time passes.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }
}
