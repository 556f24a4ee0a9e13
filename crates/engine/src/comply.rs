//! Objects that are related must agree in their tags: which pairs violate which rules, how seriously, and why.
//!
//! ```text
//! PolicyKind document ──▶ Profile: kinds, relations, pairs, effects, rights          profile
//! objects, links, policies, waivers ──▶ Draft ──▶ Comply                              draft
//!     objects ──▶ signatures ─┐
//!     links   ──▶ pairs ──────┼─▶ a word for each pair: the rules that it violates    pairs
//!     policies ─▶ rules ──────┘
//! Question: a pair ──▶ ask ──▶ every rule in a state ──▶ Finding: the same in names    family, finding
//! steps: tags, links, policies, waivers change ──▶ the words stay true, or all is taken back   steps
//! ```
//!
//! There is one evaluator, the family; what is listed is always what a fresh audit would find. Who may change what, and what is
//! to be known of the past, is governance, which builds on the steps. Time is part of the question: nothing here has a clock.
//!
//! `reference` is the naive twin that tests and benches compare with.

mod cells;
mod differing;
mod digest;
mod draft;
mod facts;
mod family;
mod finding;
mod listing;
mod near_miss;
mod object_names;
mod pairs;
mod passing;
mod policies;
mod policy;
mod profile;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod relationships;
mod revision;
mod selection;
mod sharing;
mod steps;
#[cfg(test)]
mod tests;
mod value_lists;
mod waivers;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::{Pages, Sym, Symbols};

pub use self::cells::{Cell, Cells, PairKey};
pub use self::draft::{Draft, Problem};
pub use self::facts::{Described, Link, LinkId, NotFound, ObjectId, ObjectState, Pair, Partner};
pub use self::family::{Complied, Question, RuleResult, Verdict};
pub use self::finding::{Finding, FindingId, FindingName, SideOf};
pub use self::listing::{Filter, Tally, Violating};
pub use self::near_miss::{NearMiss, NearMissKind, near_misses};
pub use self::passing::Sides;
pub use self::policy::{Level, Policy, Rule, Strategy, Waiver};
pub use self::profile::{
    Class, Defaults, DerivedPair, Effect, EffectRow, End, Holds, Keys, Kind, KindSpec, NeedsScope, Order, PairKind,
    Profile, Relation, Right, Role, RoleSpec, Rules, Selectors, Subject, SubjectSpec, Swapped, Trigger,
};
pub use self::relationships::HomeScope;
pub use self::revision::Mentions;
pub use self::selection::{Selection, Selector};
pub use self::steps::{Mark, NetChange};
pub use self::value_lists::NO_VALUES;

use self::facts::{Neighbours, Objects, Slot};
use self::object_names::ObjectNames;
use self::pairs::PairTable;
use self::policies::PolicySet;
use self::steps::{Retired, Touch, Undo};
use self::value_lists::ValueLists;
use self::waivers::Waivers;

/// Tags as they are written: keys with their values in order.
pub type Tags = Vec<(SmolStr, Vec<SmolStr>)>;

/// Whether policies look at the provider's own scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partners {
    /// They do.
    #[default]
    Judged,
    /// They leave them alone, with all that lives in them.
    Exempt,
}

/// Objects, relationships, policies, and what violates them. A clone shares everything until one of the two changes, and then
/// copies the pages that change.
#[derive(Clone, Debug)]
pub struct Comply {
    profile: Arc<Profile>,
    partners: Partners,
    symbols: Arc<Symbols>,
    lists: Arc<ValueLists>,
    objects: Objects,
    /// By object, what relates it.
    near: Pages<Neighbours>,
    names: Arc<ObjectNames>,
    by_kind: Vec<Pages<ObjectId, 1024>>,
    links: Pages<Option<Link>, 1024>,
    /// By pair of subjects, in the order of the profile.
    tables: Vec<PairTable>,
    /// Pairs that violate something, by scope.
    violating: Pages<Arc<Vec<Slot>>>,
    policies: Arc<PolicySet>,
    waivers: Arc<Waivers>,
    journal: Vec<Undo>,
    touched: Vec<Touch>,
    /// Places of pairs that are gone, not to be used before the change is accepted.
    freed: Vec<Slot>,
    free_links: Pages<LinkId>,
    freed_links: Vec<LinkId>,
    retired: Retired,
}

impl Comply {
    /// The rules of the game.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Whether policies look at the provider's own scopes.
    pub fn partners(&self) -> Partners {
        self.partners
    }

    /// The policies in the order of their names.
    pub fn policies(&self) -> Vec<&Policy> {
        self.policies.sorted().into_iter().map(Arc::as_ref).collect()
    }

    /// The policies, in no particular order.
    pub fn each_policy(&self) -> impl Iterator<Item = &Policy> {
        self.policies.iter().map(Arc::as_ref)
    }

    /// A policy by its name.
    pub fn policy(&self, name: &str) -> Option<&Policy> {
        self.policies.get(name).map(Arc::as_ref)
    }

    /// A waiver by its name.
    pub fn waiver(&self, name: &str) -> Option<&Waiver> {
        self.waivers.all().iter().find(|waiver| waiver.id == name)
    }

    /// The text of a key or value of tags, or of a name.
    pub fn text(&self, symbol: Sym) -> &str {
        self.symbols.text(symbol)
    }

    /// The waivers in the order in which they came.
    pub fn waivers(&self) -> &[Waiver] {
        self.waivers.all()
    }
}
