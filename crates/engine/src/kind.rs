//! A kind of policy is three choices: how it matches, how it ranks, how it resolves.

use upheld_model::{NodeRef, Side, Sym};

use crate::ladder::Ladder;

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
    pub select: SelectKind,
    /// The field that holds the result, opaque to the engine.
    pub payload: Option<Sym>,
    /// How the row is called that stands when nothing matches.
    pub default_name: Sym,
    /// What it means that nothing matches.
    pub default_means: Sym,
    /// Where it was written.
    pub at: NodeRef,
}

/// The choices of the select family.
#[derive(Clone, Debug)]
pub struct SelectKind {
    /// How it matches: a field of selectors for a side of the connection, at most one for each.
    pub matches: Vec<Match>,
    /// One entry for each selector of this field, instead of one for the policy.
    pub split: Option<Sym>,
    /// How it ranks.
    pub rank: Ladder,
    /// How it resolves.
    pub resolve: Resolve,
    /// The winner's own list of clients; who is not in it gets nothing.
    pub grants: Option<Sym>,
}

impl SelectKind {
    /// How it matches a side, if that side matters.
    pub fn side(&self, side: Side) -> Option<&Match> {
        self.matches.iter().find(|item| item.side == side)
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
