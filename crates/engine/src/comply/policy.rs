//! Policies between two sides or about single objects, and waivers of them.

use smol_str::SmolStr;
use upheld_model::{NodeRef, Timestamp};

use super::profile::Subject;
use super::selection::Selection;

/// What must hold between the values of two sides, or between those of an object and those that its policy names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    /// They have a value in common, or neither has any.
    Intersection,
    /// The second has values, all of them among those of the first; or neither has any.
    Subset,
    /// Of an object alone: it has a value.
    Present,
    /// Of an object alone: all its values are among those of the policy; it may have none.
    Among,
    /// Of an object alone: it has values, all of them among those of the policy.
    PresentAmong,
}

impl Strategy {
    /// Those between two objects.
    pub const BETWEEN: [Self; 2] = [Self::Intersection, Self::Subset];

    /// Those about single objects.
    pub const ALONE: [Self; 3] = [Self::Present, Self::Among, Self::PresentAmong];

    /// The word that users write.
    pub fn word(self) -> &'static str {
        match self {
            Self::Intersection => "intersection",
            Self::Subset => "subset",
            Self::Present => "present",
            Self::Among => "among",
            Self::PresentAmong => "present-among",
        }
    }

    /// By its word.
    pub fn of(word: &str) -> Option<Self> {
        Self::BETWEEN.into_iter().chain(Self::ALONE).find(|strategy| strategy.word() == word)
    }

    /// Whether it is about single objects.
    pub fn is_alone(self) -> bool {
        Self::ALONE.contains(&self)
    }
}

/// How seriously a policy is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// It can refuse changes.
    Enforce,
    /// It never refuses, and tells who acts.
    Warn,
    /// It never refuses, and only records.
    Audit,
    /// It is not looked at.
    Off,
}

impl Level {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Enforce, Self::Warn, Self::Audit, Self::Off];

    /// The word that users write.
    pub fn word(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Warn => "warn",
            Self::Audit => "audit",
            Self::Off => "off",
        }
    }

    /// Whether whoever acts is told of what violates.
    pub fn is_told(self) -> bool {
        matches!(self, Self::Enforce | Self::Warn)
    }

    /// By its word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }
}

/// A policy: tags of one subject held against tags of another, or, if both are the same, tags of single objects held against
/// values that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Its name, unique.
    pub id: SmolStr,
    /// The first side.
    pub a: Subject,
    /// The second side.
    pub b: Subject,
    /// What is held against what; all must hold.
    pub rules: Vec<Rule>,
    /// What must hold.
    pub strategy: Strategy,
    /// The values that tags of single objects are held against.
    pub values: Vec<SmolStr>,
    /// The objects of both sides that it is cut to.
    pub only: [Selection; 2],
    /// How seriously it is taken.
    pub level: Level,
    /// Until then it only warns where it would refuse.
    pub enforce_from: Option<Timestamp>,
    /// What it is for.
    pub description: Option<SmolStr>,
    /// What to do about a violation.
    pub how_to_fix: Option<SmolStr>,
    /// For reports: `critical`, `high`, `medium`, `low` or `info`.
    pub severity: Option<SmolStr>,
    /// Where it was written.
    pub at: Option<NodeRef>,
}

impl Policy {
    /// Values have to meet, from now on; nothing else is said.
    pub fn new(id: SmolStr, [a, b]: [Subject; 2], rules: Vec<Rule>) -> Self {
        Self {
            id,
            a,
            b,
            rules,
            strategy: Strategy::Intersection,
            values: Vec::new(),
            only: Default::default(),
            level: Level::Enforce,
            enforce_from: None,
            description: None,
            how_to_fix: None,
            severity: None,
            at: None,
        }
    }

    /// The references that it is cut to, or that it leaves out.
    pub fn named(&self) -> impl Iterator<Item = &SmolStr> {
        self.only.iter().flat_map(Selection::references)
    }

    /// Whether it names an object.
    pub fn names(&self, reference: &str) -> bool {
        self.named().any(|own| own == reference)
    }

    /// The level at a moment.
    pub fn level_at(&self, now: Timestamp) -> Level {
        match (self.level, self.enforce_from) {
            (Level::Enforce, Some(from)) if now < from => Level::Warn,
            (level, _) => level,
        }
    }
}

/// A tag of the first side held against a tag of the second; of single objects both are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A tag of the first side.
    pub a: SmolStr,
    /// A tag of the second side.
    pub b: SmolStr,
}

/// What exempts violations for a while. It stops no evaluation: the violation is seen, and counts as waived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    /// Its name, unique.
    pub id: SmolStr,
    /// Of which policy.
    pub policy: SmolStr,
    /// Only with this first side.
    pub a: Option<SmolStr>,
    /// Only with this second side.
    pub b: Option<SmolStr>,
    /// Only in this scope.
    pub scope: Option<SmolStr>,
    /// `waiver` or `mitigated`.
    pub category: Option<SmolStr>,
    /// Why; without one it is not in force.
    pub reason: SmolStr,
    /// Who approved it.
    pub approved_by: Option<SmolStr>,
    /// Where it was discussed.
    pub ticket: Option<SmolStr>,
    /// From when it is in force.
    pub not_before: Option<Timestamp>,
    /// Until when it is in force.
    pub expires: Option<Timestamp>,
    /// Where it was written.
    pub at: Option<NodeRef>,
}

impl Waiver {
    /// Whether it counts at a moment.
    pub fn in_force(&self, now: Timestamp) -> bool {
        !self.reason.trim().is_empty()
            && self.not_before.is_none_or(|from| from <= now)
            && self.expires.is_none_or(|until| now < until)
    }
}
