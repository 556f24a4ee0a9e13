//! What happens to an organisation over time: who may change what, what becomes of it, and what is to be known of the past.
//!
//! ```text
//! Comply (the evaluator) + TagSchema + Settings + Records = Organisation
//! Action by an Actor ──▶ shape, rights, tags, policies ──▶ Decision        act, rights, schema
//! one state to the next, by an Actor ──▶ the same for all that lies between  admit
//! what would happen  ──▶ Trial: a copy to try things out on                trial, plan, fix, offers
//! since when, and because of whom ──▶ History                              records
//! refusals, causes, fixes ──▶ sentences                                    words
//! ```
//!
//! Whether rules hold is for the evaluator alone; everything here goes through the steps that it offers. Readers take an
//! organisation as it is and the moment at which they ask; trying something out copies what it changes and nothing else.
//!
//! Invariants: what is refused leaves no trace; what is predicted is what happens; the violations listed are those that a fresh
//! audit finds. No I/O, no clock, no panic.

mod act;
mod action;
mod admit;
mod definition;
mod digest;
mod draft;
mod fix;
mod offers;
mod plan;
mod records;
mod refusal;
mod rights;
mod schema;
#[cfg(test)]
mod tests;
mod trial;
mod value;
pub mod words;

use std::sync::Arc;

use upheld_engine::comply::{Comply, Mark, Partners, Profile};

pub use self::act::Attempt;
pub use self::action::{Action, Actor, Decision, Description, Filling, NewLink, NewObject, Outcome};
pub use self::admit::{Admission, Blocked, Foundation, Recorded};
pub use self::definition::{
    BadDefinition, BadValue, Definition, Immutable, Mandatory, Pattern, Protects, Redefinition, Restricted, TagType,
};
pub use self::draft::Draft;
pub use self::fix::{By, Edit, Fix, Fixes, Harm, Obstacle, Remedy, Seeker};
pub use self::offers::JudgedValue;
pub use self::plan::{AfterChange, Flip, Plan, Step};
pub use self::records::{Cause, FirstSeen, History, Remembered};
pub use self::refusal::Refusal;
pub use self::schema::TagSchema;
pub use self::trial::Trial;
pub use self::value::{bare_number, canonical_number};

use self::records::Records;

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

/// Whether who is related to an object has to be related to its scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Membership {
    /// It need not be known.
    #[default]
    Optional,
    /// It must.
    Required,
}

/// What an organisation is kept in, and so what becomes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// In what happens, as in the original: objects get the default tags when they are created, join a scope, or the default tags change, and
    /// keep what they got once.
    #[default]
    Events,
    /// In documents, which say what is there now: objects have the default tags as long as there are these, and no waiver is about a policy
    /// that is not there.
    Documents,
}

/// An organisation: what policies judge, and how it may change. A clone shares everything until one of the two changes.
#[derive(Clone, Debug)]
pub struct Organisation {
    comply: Arc<Comply>,
    schema: Arc<TagSchema>,
    settings: Settings,
    records: Records,
    keeping: Keeping,
    /// Counts accepted changes.
    version: u64,
}

/// Where to go back to while something is tried out.
#[derive(Clone, Debug)]
struct Before {
    steps: Mark,
    schema: Arc<TagSchema>,
}

impl Organisation {
    /// What policies judge, and what violates them.
    pub fn comply(&self) -> &Arc<Comply> {
        &self.comply
    }

    /// The rules of the game.
    pub fn profile(&self) -> &Profile {
        self.comply.profile()
    }

    /// Which tags objects may carry.
    pub fn schema(&self) -> &TagSchema {
        &self.schema
    }

    /// The switches.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Whether nothing that is judged or judges is another one: known without a look at what the two share.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.comply, &other.comply) && self.is_judged_as(other)
    }

    /// Whether the same tags are allowed and the same settings hold.
    fn is_judged_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.schema, &other.schema) && self.settings == other.settings
    }

    /// Counts accepted changes; a decision holds for the version that it names.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The steps are taken here; whoever shares the evaluator does not see them.
    fn steps(&mut self) -> &mut Comply {
        Arc::make_mut(&mut self.comply)
    }

    /// As documents say it is: what they say of default tags is true of everybody from then on, whatever happens.
    #[must_use]
    pub fn documented(mut self) -> Self {
        self.keeping = Keeping::Documents;
        self
    }

    /// As it was when things happened that documents tell of.
    #[must_use]
    pub fn happening(mut self) -> Self {
        self.keeping = Keeping::Events;
        self
    }

    fn before(&self) -> Before {
        Before { steps: self.comply.mark(), schema: Arc::clone(&self.schema) }
    }

    fn roll_back(&mut self, before: Before) {
        let Before { steps, schema } = before;
        self.schema = schema;
        if self.comply.mark() != steps {
            self.steps().roll_back(steps);
        }
    }
}
