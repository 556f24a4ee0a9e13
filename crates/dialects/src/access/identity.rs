//! Who asks, as a header or a token says.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::decide::{Facts, Maybe, Names, Subject};
use upheld_model::tree::{Kind, Value};
use upheld_model::{File, Severity, SourceId};
use upheld_syntax::{Format, parse};

use super::compat::is_truthy;
use super::facts::facts_of;
use super::{ANONYMOUS, Edition};

/// Who asks.
#[derive(Debug)]
pub enum Identity {
    /// They do not say.
    Absent,
    /// Somebody says so who is not believed.
    Ignored,
    /// They say something that cannot be read, or say it twice.
    Unreadable,
    /// This one.
    Known(Box<File>),
    /// This one, as a token says that was verified here.
    Verified(Arc<Subject>),
    /// They bring something that does not prove who they are.
    Unproven(Unproven),
}

/// What an identity header comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is not there, or names nobody.
    Nobody,
    /// It names a caller.
    Somebody,
    /// Its sender is not believed.
    Ignored,
    /// It cannot be read, or is there twice.
    Unreadable,
}

/// Why a token does not say who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// It is not accepted.
    Refused(&'static str),
    /// Whether it would be, or whether it counts, cannot be known.
    Undecided(&'static str),
}

impl Identity {
    /// Of a text of JSON: `sub`, `type`, `roles`, `groups`, `claims`.
    pub fn read(text: &str) -> Self {
        let (file, problems) = parse("identity", Format::Json, text.to_owned(), SourceId::new(0));
        let is_broken = problems.iter().any(|problem| problem.severity == Severity::Error);
        if is_broken || file.tree.documents().next().is_none() { Self::Unreadable } else { Self::Known(Box::new(file)) }
    }

    /// What it says.
    pub fn document(&self) -> Option<Value<'_>> {
        match self {
            Self::Known(file) => file.tree.documents().next(),
            Self::Absent | Self::Ignored | Self::Unreadable | Self::Verified(_) | Self::Unproven(_) => None,
        }
    }

    /// Whether anybody is named, as JavaScript sees it.
    pub(super) fn is_somebody(&self) -> bool {
        matches!(self, Self::Verified(_)) || self.document().is_some_and(is_truthy)
    }

    /// What it comes to beside a token.
    pub fn said(&self) -> Said {
        let is_empty = |said: Value<'_>| said.kind() == Kind::Map && said.entries().next().is_none();
        match self {
            Self::Absent | Self::Unproven(_) => Said::Nobody,
            Self::Ignored => Said::Ignored,
            Self::Unreadable => Said::Unreadable,
            Self::Verified(_) => Said::Somebody,
            Self::Known(_) => match self.document() {
                Some(said) if said.kind() != Kind::Null && !is_empty(said) => Said::Somebody,
                _ => Said::Nobody,
            },
        }
    }

    /// Who asks; nothing if that cannot be known.
    pub(super) fn subject(&self, edition: Edition) -> Option<Subject> {
        let identity = match (self, self.document(), edition) {
            (Self::Verified(subject), _, Edition::Strict) => return Some(Subject::clone(subject)),
            // The original knows no types.
            (Self::Verified(subject), _, Edition::Compat) => {
                return Some(Subject { kind: Maybe::Absent, ..Subject::clone(subject) });
            }
            (Self::Unproven(_), ..) | (Self::Unreadable, _, Edition::Strict) => return None,
            (_, Some(identity), _) if identity.kind() == Kind::Map => Some(identity),
            (_, Some(identity), Edition::Strict) if identity.kind() != Kind::Null => return None,
            _ => None,
        };
        let get = |field: &str| identity?.get(field).filter(|value| value.kind() != Kind::Null);
        let names = |field: &str| match get(field) {
            None => Names::default(),
            Some(names) if names.kind() == Kind::List => {
                let texts = names.items().map(|name| name.as_text().map(SmolStr::new));
                let known: Option<Vec<SmolStr>> = texts.clone().collect();
                match (known, edition) {
                    (Some(names), _) => Names::Known(names),
                    (None, Edition::Compat) => Names::Known(texts.flatten().collect()),
                    (None, Edition::Strict) => Names::Unknown,
                }
            }
            // The original fails on it, and nobody knows what is meant.
            Some(_) => Names::Unknown,
        };
        let id = match get("sub").filter(|sub| is_truthy(*sub)) {
            None => Maybe::Is(SmolStr::new_static(ANONYMOUS)),
            // Somebody, but nobody that a policy can name.
            Some(sub) => match (sub.as_text(), edition) {
                (Some(sub), _) => Maybe::Is(SmolStr::new(sub)),
                (None, Edition::Strict) => Maybe::Unknown,
                (None, Edition::Compat) => Maybe::Absent,
            },
        };
        let claims = match (get("claims"), edition) {
            (Some(claims), _) if claims.kind() == Kind::Map => facts_of(claims),
            (Some(_), Edition::Strict) => Facts::unknown(),
            _ => Facts::default(),
        };
        let kind = match get("type").filter(|_| edition == Edition::Strict) {
            None => Maybe::Absent,
            Some(kind) => kind.as_text().map_or(Maybe::Unknown, |kind| Maybe::Is(SmolStr::new(kind))),
        };
        Some(Subject { kind, id, roles: names("roles"), groups: names("groups"), claims })
    }
}
