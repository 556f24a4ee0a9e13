//! The choices of each system, as a table.
//!
//! | | same level: defaults, overrides | stanza without a strategy | no stanza | fields meet | empty values |
//! |---|---|---|---|---|---|
//! | GEP-713 | newer, older | whole | as the kind offers | patch | count |
//! | GEP-2649 | older, older | fields | fields, defaults | patch, lists by key | do not count |
//! | gwctl | older, newer | fields | fields, defaults | patch | count |
//! | Kuadrant | newer, older | whole | whole, defaults | by rule | count |
//! | Envoy Gateway | older | – | as `mergeType` says | patch, lists by key under `StrategicMerge` | count |

use upheld_engine::merge::{Extent, Keyed, Side, Stance, Strategy};

/// How one system makes effective policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Who wins among policies on one target.
    pub same_level: SameLevel,
    /// How a stanza meets that does not say it.
    pub extent: Extent,
    /// How words outside of stanzas meet.
    pub bare: Stance,
    /// How far down fields meet.
    pub strategy: Strategy,
    /// Whether empty values count.
    pub empty: Empty,
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

/// What an empty value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// It is a value like any other.
    Value,
    /// In defaults, and in the object itself, it is the same as no value.
    Nothing,
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

    /// The same as a stance.
    pub const fn stance(self) -> Stance {
        match self {
            Self::None | Self::AtomicOverrides => Stance { side: Side::Overrides, extent: Extent::Whole },
            Self::AtomicDefaults => Stance { side: Side::Defaults, extent: Extent::Whole },
            Self::PatchDefaults => Stance { side: Side::Defaults, extent: Extent::Fields },
            Self::PatchOverrides => Stance { side: Side::Overrides, extent: Extent::Fields },
        }
    }
}

/// Defaults, field by field.
const FIELD_DEFAULTS: Stance = MergeStrategy::PatchDefaults.stance();
/// Defaults as a whole.
const WHOLE_DEFAULTS: Stance = MergeStrategy::AtomicDefaults.stance();

impl Profile {
    /// GEP-713, for a kind that offers these strategies; with none of them, atomic defaults.
    pub fn gep_713(offered: &[MergeStrategy]) -> Self {
        let bare = offered.iter().min().map_or(WHOLE_DEFAULTS, |strategy| strategy.stance());
        Self {
            same_level: SameLevel::OlderOutside,
            extent: Extent::Whole,
            bare,
            strategy: Strategy::patch(),
            empty: Empty::Value,
        }
    }

    /// GEP-2649, for objects whose lists have these keys.
    pub fn gep_2649(keyed: Vec<Keyed>) -> Self {
        Self {
            same_level: SameLevel::OlderWins,
            extent: Extent::Fields,
            bare: FIELD_DEFAULTS,
            strategy: Strategy { keyed, ..Strategy::patch() },
            empty: Empty::Nothing,
        }
    }

    /// The command line tool `gwctl`.
    pub fn gwctl() -> Self {
        Self {
            same_level: SameLevel::NewerOutside,
            extent: Extent::Fields,
            bare: FIELD_DEFAULTS,
            strategy: Strategy::patch(),
            empty: Empty::Value,
        }
    }

    /// Kuadrant: maps of rules, each of which is one value.
    pub fn kuadrant() -> Self {
        Self { strategy: Strategy::shallow(), ..Self::gep_713(&[]) }
    }

    /// Kuadrant's policy machinery with strategies that patch.
    pub fn kuadrant_patch() -> Self {
        Self { extent: Extent::Fields, bare: FIELD_DEFAULTS, ..Self::gep_713(&[]) }
    }

    /// Envoy Gateway: the policy of the nearest parent, then the more specific one with its `mergeType`.
    pub fn envoy_gateway(merge_type: MergeType) -> Self {
        let (bare, keyed) = match merge_type {
            MergeType::Replace => (WHOLE_DEFAULTS, Vec::new()),
            MergeType::JsonMerge => (FIELD_DEFAULTS, Vec::new()),
            MergeType::StrategicMerge => {
                (FIELD_DEFAULTS, ENVOY_LISTS.map(|(list, key)| Keyed::items(list, key)).to_vec())
            }
        };
        Self {
            same_level: SameLevel::OlderWins,
            extent: bare.extent,
            bare,
            strategy: Strategy { keyed, ..Strategy::patch() },
            empty: Empty::Value,
        }
    }
}

/// How a policy of Envoy Gateway meets that of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeType {
    /// It stands alone.
    Replace,
    /// RFC 7396.
    JsonMerge,
    /// The same, with lists that meet by key.
    StrategicMerge,
}

/// The lists that Envoy Gateway's interface declares a key for.
const ENVOY_LISTS: [(&str, &str); 4] =
    [("compression", "type"), ("compressor", "type"), ("httpUpgrade", "type"), ("contextExtensions", "name")];
