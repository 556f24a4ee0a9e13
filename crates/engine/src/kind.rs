//! A kind of policy is three choices: how it matches, how it ranks, how it resolves.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::{Config, Facet, MergeAction, NodeRef, Side, Sym};

use crate::comply::Profile;
use crate::decide::{Algorithm, Clause, Effect};
use crate::hierarchy;
use crate::ladder::Ladder;
use crate::merge::{self, Strategy};
use crate::select::Column;

/// One kind, as a `PolicyKind` document says it.
#[derive(Clone, Debug)]
pub struct PolicyKind {
    /// Its name, by which users ask.
    pub name: Sym,
    /// The type of policies that it governs; mostly its name.
    pub governs: Sym,
    /// The edition that it belongs to; `None` fits every edition.
    pub semantics: Option<Sym>,
    /// The three choices.
    pub choices: Choices,
    /// The field that holds the result, opaque to the engine.
    pub payload: Option<Sym>,
    /// How the row is called that stands when nothing matches.
    pub default_name: Sym,
    /// What it means that nothing matches.
    pub default_means: Sym,
    /// Where it was written.
    pub at: NodeRef,
}

/// The three choices, by family.
#[derive(Clone, Debug)]
pub enum Choices {
    /// The most specific one stands, or all count.
    Select(SelectKind),
    /// Layers become one configuration.
    Merge(MergeKind),
    /// Policies along a hierarchy of objects become one configuration.
    Hierarchy(Arc<HierarchyKind>),
    /// Permits and denies become one decision.
    Decide(DecideKind),
    /// Objects that are related must agree in their tags.
    Comply(ComplyKind),
}

/// The choices of the comply family.
#[derive(Clone, Debug)]
pub struct ComplyKind {
    /// Which objects there are, how they are related, what is refused and who may do what.
    pub profile: Arc<Profile>,
}

/// The choices of the decide family.
#[derive(Clone, Debug)]
pub struct DecideKind {
    /// How policies are combined where nothing else says so.
    pub algorithm: Algorithm,
    /// What stands when no policy applies.
    pub default: Effect,
    /// How the fields of policies are called.
    pub fields: DecideFields,
}

/// How the fields of policies that decide are called.
#[derive(Clone, Debug)]
pub struct DecideFields {
    /// The effect.
    pub effect: Sym,
    /// Words for permit.
    pub permit: Vec<Sym>,
    /// Words for deny.
    pub deny: Vec<Sym>,
    /// The clauses.
    pub clauses: Vec<(Clause, Sym)>,
    /// The number by which they rank, the highest first.
    pub priority: Sym,
}

/// The choices of kinds whose policies are attached to objects of a hierarchy.
#[derive(Clone, Debug)]
pub struct HierarchyKind {
    /// The API group of the policies.
    pub group: Sym,
    /// How the dialect reads the documents, in its own word.
    pub reads: Sym,
    /// What the answers of this kind are stamped with, if it is not the edition.
    pub profile: Option<Sym>,
    /// The order of folding.
    pub rank: Ladder<hierarchy::Column>,
    /// From which end layers that override are read.
    pub ends: hierarchy::rank::RankDirection,
    /// How layers meet.
    pub fold: HierarchyFold,
    /// What a level is.
    pub levels: Levels,
    /// What scopes are called, by their numbers.
    pub scopes: Vec<Sym>,
    /// Which places make up which scope.
    pub places: Vec<PlaceChoice>,
    /// What the strategies of whole configurations are called, by which policies choose.
    pub strategies: Vec<Sym>,
    /// How layers meet that do not say it themselves.
    pub unsaid: LayerDefaults,
}

/// How layers of a policy meet others where they do not say it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerDefaults {
    /// What stands in neither defaults nor overrides.
    pub bare: MergeAction,
    /// Defaults.
    pub defaults: MergeAction,
    /// Overrides.
    pub overrides: MergeAction,
    /// What an empty value of a default means.
    pub empty: EmptyValue,
}

impl Default for LayerDefaults {
    fn default() -> Self {
        Self {
            bare: MergeAction::Keep,
            defaults: MergeAction::Keep,
            overrides: MergeAction::Take,
            empty: EmptyValue::Counts,
        }
    }
}

/// What an empty value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyValue {
    /// It is a value like any other.
    Counts,
    /// In defaults, and in the object itself, it is the same as no value.
    IsNothing,
}

/// What a level of a hierarchy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// A step of a delegation.
    Delegations,
    /// Every place by itself.
    Places,
    /// Only the target itself counts, not what delegates to it.
    None,
}

/// How the layers of a hierarchy meet.
#[derive(Clone, Debug)]
pub enum HierarchyFold {
    /// By named fields.
    Fields {
        /// How what targets say themselves meets.
        own: hierarchy::Rules,
        /// How what policies say meets.
        policies: hierarchy::Rules,
    },
    /// As whole configurations.
    Wholes(hierarchy::wholes::WholeRules),
}

/// Which places make up a scope, by the numbers that their dialect gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceChoice {
    /// The scope.
    pub scope: u8,
    /// For what; always where it is left out.
    pub when: Option<u8>,
    /// The places, the most specific first.
    pub places: Vec<u8>,
}

impl PolicyKind {
    /// The choices of the select family, if it belongs there.
    pub fn select(&self) -> Option<&SelectKind> {
        match &self.choices {
            Choices::Select(select) => Some(select),
            _ => None,
        }
    }

    /// The choices of the merge family, if it belongs there.
    pub fn merge(&self) -> Option<&MergeKind> {
        match &self.choices {
            Choices::Merge(merge) => Some(merge),
            _ => None,
        }
    }

    /// The choices of a kind whose policies are attached to objects of a hierarchy.
    pub fn hierarchy(&self) -> Option<&Arc<HierarchyKind>> {
        match &self.choices {
            Choices::Hierarchy(hierarchy) => Some(hierarchy),
            _ => None,
        }
    }

    /// The choices of the decide family, if it belongs there.
    pub fn decide(&self) -> Option<&DecideKind> {
        match &self.choices {
            Choices::Decide(decide) => Some(decide),
            _ => None,
        }
    }

    /// The choices of the comply family, if it belongs there.
    pub fn comply(&self) -> Option<&ComplyKind> {
        match &self.choices {
            Choices::Comply(comply) => Some(comply),
            _ => None,
        }
    }
}

/// The choices of the merge family.
#[derive(Clone, Debug)]
pub struct MergeKind {
    /// What its statements are about, by field.
    pub facets: Vec<FacetChoice>,
    /// How whole policies rank; statements may rank otherwise.
    pub rank: Ladder<merge::Column>,
    /// How layers meet.
    pub strategy: Strategy,
    /// A list field: for each of its values, layers meet apart.
    pub group: Option<SmolStr>,
    /// Its place in listings.
    pub position: i64,
    /// Values that documents may leave out, by path; `[]` stands for every item of a list.
    pub defaults: Vec<(SmolStr, Arc<Config>)>,
}

impl MergeKind {
    /// The choice for a facet.
    pub fn facet(&self, facet: Facet) -> Option<&FacetChoice> {
        self.facets.iter().find(|choice| choice.facet == facet)
    }
}

/// A field of policies whose items are about one facet of an object.
#[derive(Clone, Debug)]
pub struct FacetChoice {
    /// What they are about.
    pub facet: Facet,
    /// The field.
    pub field: Sym,
    /// The field that is read where a policy has nothing in the first; what its items are about is not looked at.
    pub instead: Option<Sym>,
    /// What of an item is the configuration.
    pub payload: Payload,
    /// How they rank.
    pub rank: Ladder<merge::Column>,
}

/// The choices of the select family.
#[derive(Clone, Debug)]
pub struct SelectKind {
    /// How it matches: a field of selectors for a side of the connection, at most one for each.
    pub matches: Vec<Match>,
    /// One entry for each selector of this field, instead of one for the policy.
    pub split: Option<Sym>,
    /// How it ranks.
    pub rank: Ladder<Column>,
    /// How it resolves.
    pub resolve: Resolve,
    /// Whether it says who may, and how; `None` for kinds that configure.
    pub grants: Option<Grants>,
}

impl SelectKind {
    /// How it matches a side, if that side matters.
    pub fn side(&self, side: Side) -> Option<&Match> {
        self.matches.iter().find(|item| item.side == side)
    }
}

/// How a kind says who may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grants {
    /// Who matches may.
    Match,
    /// The winner's own list of clients: who is not in it may not.
    Field(Sym),
}

impl Grants {
    /// The field with the clients.
    pub fn field(self) -> Option<Sym> {
        match self {
            Self::Match => None,
            Self::Field(field) => Some(field),
        }
    }
}

/// A field of selectors and the side that it is held against.
#[derive(Clone, Debug)]
pub struct Match {
    /// The field, for example `sources`.
    pub field: Sym,
    /// The side.
    pub side: Side,
    /// Only these tags are visible; `None` means all.
    pub sees: Option<Vec<Sym>>,
    /// What a policy without selectors in this field matches.
    pub empty: Empty,
    /// Whether matching here adds to the rank.
    pub counts: Counts,
    /// What a service is asked as.
    pub each: Granularity,
}

/// What a question about a service is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// The service by its name, which is all that callers know of it.
    Service,
    /// Every inbound that offers it, with all of its tags.
    Inbound,
}

/// What an absent or empty list of selectors matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// Nothing.
    Nothing,
    /// Everything, with rank zero.
    Everything,
}

/// Whether the tags of a side add to the rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// They add.
    Yes,
    /// They only have to match.
    No,
}

/// What happens to those that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolve {
    /// The best one stands.
    First,
    /// All of them count.
    All,
}

/// What of an item is the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The value of a field.
    Field(Sym),
    /// All fields but those that say what the item is about.
    Rest,
    /// The first item of a list; without one, what the dialect puts there.
    FirstOf(Sym),
}
