//! The choices of each system, as a table.
//!
//! | | same level: defaults, overrides | stanza without a strategy | no stanza | fields meet | empty values |
//! |---|---|---|---|---|---|
//! | GEP-713 | newer, older | whole | as the kind offers | patch | count |
//! | GEP-2649 | older, older | fields | fields, defaults | patch, lists by key | do not count |
//! | gwctl | older, newer | fields | fields, defaults | patch | count |
//! | Kuadrant | newer, older | whole | whole, defaults | by rule | count |

use upheld_engine::hierarchy::Column;
use upheld_engine::hierarchy::rank::RankDirection;
use upheld_engine::hierarchy::wholes::{WholeJoin, WholeRules};
use upheld_engine::merge::{Keyed, Strategy};
use upheld_engine::{Best, EmptyValue, Ladder, LayerDefaults, Rung};
use upheld_model::MergeAction;

/// The profiles that a kind may name.
pub const NAMES: [&str; 5] = ["direct", "gep-713", "gep-2649", "gwctl", "kuadrant"];

/// The strategies of GEP-713 that a kind may offer.
pub const STRATEGIES: [&str; 5] = ["None", "AtomicDefaults", "PatchDefaults", "AtomicOverrides", "PatchOverrides"];

/// How one system makes effective policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What a policy says: stanzas that meet, or one whole.
    pub says: Says,
    /// Who wins among policies on one target.
    pub same_level: SameLevel,
    /// How layers meet that do not say it.
    pub unsaid: LayerDefaults,
    /// How far down fields meet.
    pub strategy: Strategy,
}

/// What a policy says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Defaults, overrides, and what stands in neither.
    Stanzas,
    /// One whole, which stands alone.
    Whole,
}

/// Who wins among policies on one target. The one outside is the established one: it wins overrides and loses defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameLevel {
    /// The older one is outside.
    OlderOutside,
    /// The newer one is outside.
    NewerOutside,
    /// The older one wins both.
    OlderWins,
}

/// The strategies of GEP-713 that a kind may offer, in the order in which one is taken if a policy selects none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MergeStrategy {
    /// Nothing is merged: the established one stands and the others are rejected.
    None,
    /// The challenger wins as a whole.
    AtomicDefaults,
    /// The challenger patches the established one.
    PatchDefaults,
    /// The established one wins as a whole.
    AtomicOverrides,
    /// The established one patches the challenger.
    PatchOverrides,
}

impl MergeStrategy {
    /// By name, for example `AtomicDefaults`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "None" => Self::None,
            "AtomicDefaults" => Self::AtomicDefaults,
            "PatchDefaults" => Self::PatchDefaults,
            "AtomicOverrides" => Self::AtomicOverrides,
            "PatchOverrides" => Self::PatchOverrides,
            _ => return None,
        })
    }

    /// How a layer with it meets what is inside of it.
    pub const fn act(self) -> MergeAction {
        match self {
            Self::None | Self::AtomicOverrides => MergeAction::Take,
            Self::AtomicDefaults => MergeAction::Keep,
            Self::PatchDefaults => MergeAction::KeepOver,
            Self::PatchOverrides => MergeAction::TakeOver,
        }
    }
}

/// Layers meet as wholes.
const WHOLES: LayerDefaults = LayerDefaults {
    bare: MergeAction::Keep,
    defaults: MergeAction::Keep,
    overrides: MergeAction::Take,
    empty: EmptyValue::Counts,
};
/// Layers meet field by field.
const FIELDS: LayerDefaults = LayerDefaults {
    bare: MergeAction::KeepOver,
    defaults: MergeAction::KeepOver,
    overrides: MergeAction::TakeOver,
    empty: EmptyValue::Counts,
};

/// The profile of a name, for a kind that offers these strategies. Unknown ones are not merged.
pub fn named(name: &str, offered: &[MergeStrategy]) -> Profile {
    match name {
        "gep-713" => Profile::gep_713(offered),
        "gep-2649" => Profile::gep_2649(Vec::new()),
        "gwctl" => Profile::gwctl(),
        "kuadrant" => Profile::kuadrant(),
        _ => Profile::direct(),
    }
}

impl Profile {
    /// A policy for one place, as a whole: the most specific one, and of several the oldest.
    pub fn direct() -> Self {
        Self { says: Says::Whole, same_level: SameLevel::NewerOutside, unsaid: WHOLES, strategy: Strategy::whole() }
    }

    /// GEP-713, for a kind that offers these strategies; with none of them, atomic defaults.
    pub fn gep_713(offered: &[MergeStrategy]) -> Self {
        let bare = offered.iter().min().map_or(MergeAction::Keep, |strategy| strategy.act());
        Self {
            says: Says::Stanzas,
            same_level: SameLevel::OlderOutside,
            unsaid: LayerDefaults { bare, ..WHOLES },
            strategy: Strategy::patch(),
        }
    }

    /// GEP-2649, for objects whose lists have these keys.
    pub fn gep_2649(keyed: Vec<Keyed>) -> Self {
        Self {
            says: Says::Stanzas,
            same_level: SameLevel::OlderWins,
            unsaid: LayerDefaults { empty: EmptyValue::IsNothing, ..FIELDS },
            strategy: Strategy { keyed, ..Strategy::patch() },
        }
    }

    /// The command line tool `gwctl`.
    pub fn gwctl() -> Self {
        Self { says: Says::Stanzas, same_level: SameLevel::NewerOutside, unsaid: FIELDS, strategy: Strategy::patch() }
    }

    /// Kuadrant: maps of rules, each of which is one value.
    pub fn kuadrant() -> Self {
        Self { strategy: Strategy::shallow(), ..Self::gep_713(&[]) }
    }

    /// Kuadrant's policy machinery with strategies that patch.
    pub fn kuadrant_patch() -> Self {
        Self { unsaid: FIELDS, ..Self::gep_713(&[]) }
    }

    /// How documents are read.
    pub(crate) fn reader(&self) -> &'static str {
        match self.says {
            Says::Stanzas => "stanzas",
            Says::Whole => "whole",
        }
    }

    /// How layers meet that do not say it.
    pub fn unsaid(&self) -> LayerDefaults {
        self.unsaid
    }

    /// The order of folding: from the nearest place to the widest, and at one place by these numbers, by age and by name.
    pub fn ladder(&self, numbers: &[(Column, Best)]) -> Ladder<Column> {
        let rung = |column, best| Rung { column, best };
        // Of those that are folded one after the other at one place, the last one is outside.
        let turned = self.same_level == SameLevel::OlderOutside;
        let end = |best: Best| match (best, turned) {
            (Best::Lowest, false) | (Best::Highest, true) => Best::Lowest,
            (Best::Highest, false) | (Best::Lowest, true) => Best::Highest,
        };
        let mut rungs = vec![rung(Column::Scope, Best::Lowest), rung(Column::Level, Best::Lowest)];
        if self.same_level == SameLevel::OlderWins {
            rungs.push(rung(Column::Side, Best::Lowest));
        }
        rungs.extend(numbers.iter().map(|(column, best)| rung(*column, end(*best))));
        rungs.push(rung(Column::Created, end(Best::Lowest)));
        rungs.push(rung(Column::Identity, end(Best::Lowest)));
        rungs.push(rung(Column::Layer, Best::Highest));
        Ladder::new(rungs)
    }

    /// From which end overrides are read.
    pub fn ends(&self) -> RankDirection {
        if self.same_level == SameLevel::OlderWins { RankDirection::BySide } else { RankDirection::AsRanked }
    }

    /// How configurations meet.
    pub fn rules(&self) -> WholeRules {
        let within = match self.says {
            Says::Stanzas => WholeJoin::AsTheNextSays,
            Says::Whole => WholeJoin::Keep,
        };
        WholeRules { within, across: None, strategies: vec![self.strategy.clone()] }
    }
}
