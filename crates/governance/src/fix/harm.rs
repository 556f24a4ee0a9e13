//! What an edit does to others than those who agree then: it opens what grants, or closes less what was closed.

use smol_str::SmolStr;
use upheld_engine::comply::{Class, Finding, Level, Right, Rule, SideOf, Subject, Swapped};

use super::propose::End;
use crate::Organisation;
use crate::definition::{Definition, Protects};

/// What an edit does that somebody has to allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// It opens the side that grants: others can be related to it then, too.
    Widens,
    /// It lowers what protects: what was secret is less so.
    Lowers,
}

impl Harm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Widens, Self::Lowers];

    /// The word that users write to allow it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Widens => "widen",
            Self::Lowers => "lower",
        }
    }

    /// By its word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|harm| harm.word() == word)
    }
}

/// Words for how well something is protected, wherever they are used: those of one row protect alike, the next row protects more.
const KNOWN_SCALE: [&[&str]; 5] = [
    &["public", "open", "unclassified"],
    &["internal", "official", "private"],
    &["confidential", "restricted", "sensitive"],
    &["secret", "strictly confidential", "highly confidential"],
    &["top secret"],
];

impl Organisation {
    /// Whether a side of a finding grants: end-users cannot change it, or others live in it.
    pub(super) fn grants(&self, finding: &Finding, end: End) -> bool {
        let subject = |side: &SideOf| self.subject_named(&side.object);
        let (Some(a), Some(b)) = (subject(&finding.a), subject(&finding.b)) else { return true };
        if finding.strategy.is_alone() {
            return self.grants_by(a, &finding.a.tag);
        }
        let (own, other) = if end == End::A { (a, b) } else { (b, a) };
        self.grants_to(own, other)
    }

    /// Whether other values on a side of a finding open something: for the other side, or, of what others live in, for those.
    pub(super) fn opens(&self, finding: &Finding, end: End) -> bool {
        let side = end.of(finding);
        let lived_in = || {
            let scope = self.profile().scope.and_then(|kind| self.profile().subject_of(kind));
            self.subject_named(&side.object).filter(|own| scope == Some(*own))
        };
        self.grants(finding, end) || lived_in().is_some_and(|own| self.grants_by(own, &side.tag))
    }

    /// Whether a tag of a subject grants something: what is asked of single objects grants nothing, what others are held against may.
    fn grants_by(&self, subject: Subject, tag: &str) -> bool {
        let policies = self.comply.policies();
        let mut between = policies.iter().filter(|policy| !policy.strategy.is_alone() && policy.level != Level::Off);
        between.any(|policy| {
            let looks = |own: Subject, key: fn(&Rule) -> &SmolStr| {
                own == subject && policy.rules.iter().any(|rule| key(rule) == tag)
            };
            looks(policy.a, |rule| &rule.a) && self.grants_to(policy.a, policy.b)
                || looks(policy.b, |rule| &rule.b) && self.grants_to(policy.b, policy.a)
        })
    }

    fn grants_to(&self, own: Subject, other: Subject) -> bool {
        match (self.end_users_tag(own), self.end_users_tag(other)) {
            (false, _) => true,
            (true, false) => false,
            (true, true) => self.governs(own, other),
        }
    }

    /// Whether of two subjects that end-users look after one governs the other: what others live in, or else what comes first.
    fn governs(&self, own: Subject, other: Subject) -> bool {
        let scope = self.profile().scope.and_then(|kind| self.profile().subject_of(kind));
        match (scope == Some(own), scope == Some(other)) {
            (true, false) => true,
            (false, true) => false,
            _ => self.profile().pair(own, other).is_some_and(|(_, swapped)| swapped == Swapped::No),
        }
    }

    fn end_users_tag(&self, subject: Subject) -> bool {
        let roles = &self.profile().roles;
        let may = |right: &Right| matches!(right, Right::Tag(granted) if granted.is_none_or(|own| own == subject));
        roles.is_empty() || roles.iter().any(|role| role.class == Class::EndUser && role.may.iter().any(may))
    }

    /// What an object counts as, by its reference; it need not be there yet.
    pub(super) fn subject_named(&self, object: &str) -> Option<Subject> {
        let kind = object.split_once('/').and_then(|(kind, _)| self.profile().kind(kind))?;
        self.profile().subject_of(kind)
    }

    /// Whether other values protect less than those that were there.
    pub(super) fn lowers(&self, side: &SideOf, after: &[SmolStr]) -> bool {
        let definition = self.subject_named(&side.object).and_then(|own| self.schema.definition(own, &side.tag));
        let least = |values: &[SmolStr]| values.iter().filter_map(|value| protection(definition, value)).min();
        match (least(&side.values), least(after)) {
            (Some(before), Some(after)) => after < before,
            (Some(before), None) => before > 0,
            _ => false,
        }
    }
}

/// How well a value protects: by the place of the option, where the definition says that this means something, else by the word.
fn protection(definition: Option<&Definition>, value: &str) -> Option<usize> {
    if let Some(own) = definition.filter(|own| own.protects == Protects::Yes) {
        return own.options.iter().position(|option| option == value);
    }
    let plain = value.trim().to_lowercase().replace(['-', '_'], " ");
    KNOWN_SCALE.iter().position(|row| row.contains(&plain.as_str()))
}
