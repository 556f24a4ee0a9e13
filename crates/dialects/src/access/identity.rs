//! Who asks, as a header or a token says.

use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::decide::{Facts, Maybe, Names, Subject};
use upheld_model::nearest::{did_you_mean, nearest};
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
    /// They say something that cannot be read.
    Unreadable(Unreadable),
    /// This one.
    Known(Box<File>),
    /// This one, as a token says that was verified here.
    Verified(Arc<Subject>),
    /// They bring something that does not prove who they are.
    Unproven(Unproven),
}

/// What an identity header comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is not there, or names nobody.
    Nobody,
    /// It names a caller.
    Somebody,
    /// Its sender is not believed.
    Ignored,
    /// It cannot be read.
    Unreadable(Unreadable),
}

/// Why a token does not say who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// It is not accepted.
    Refused(&'static str),
    /// Whether it would be, or whether it counts, cannot be known.
    Undecided(&'static str),
}

/// Why an identity cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The header that carries it is there twice, or is not text.
    Twice,
    /// It is not JSON, or a key is there twice.
    Invalid(String),
    /// It is JSON, but not a map.
    NotAMap,
    /// It has a field that no reader here knows.
    UnknownField(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the identity of the caller cannot be read: ")?;
        match self {
            Self::Twice => f.write_str("the header is there twice, or is not text"),
            Self::Invalid(problem) => f.write_str(problem),
            Self::NotAMap => write!(f, "expected a map with {}", FIELDS.join(", ")),
            Self::UnknownField(field) => {
                let otherwise = || format!("expected {}", FIELDS.join(", "));
                let help = nearest(field, FIELDS).map_or_else(otherwise, did_you_mean);
                write!(f, "unknown field `{field}`: {help}")
            }
        }
    }
}

/// What an identity says.
const FIELDS: [&str; 5] = ["sub", "type", "roles", "groups", "claims"];

impl Identity {
    /// Of a text of JSON: `sub`, `type`, `roles`, `groups`, `claims`.
    pub fn read(text: &str) -> Self {
        let (file, problems) = parse("identity", Format::Json, text.to_owned(), SourceId::new(0));
        let broken = problems.iter().find(|problem| problem.severity == Severity::Error);
        if let Some(problem) = broken {
            return Self::Unreadable(Unreadable::Invalid(problem.message.clone()));
        }
        let is_empty = file.tree.documents().next().is_none();
        if is_empty { Self::Unreadable(Unreadable::NotAMap) } else { Self::Known(Box::new(file)) }
    }

    /// What it says.
    pub fn document(&self) -> Option<Value<'_>> {
        match self {
            Self::Known(file) => file.tree.documents().next(),
            Self::Absent | Self::Ignored | Self::Unreadable(_) | Self::Verified(_) | Self::Unproven(_) => None,
        }
    }

    /// Whether anybody is named, as JavaScript sees it.
    pub(super) fn is_somebody(&self) -> bool {
        matches!(self, Self::Verified(_)) || self.document().is_some_and(is_truthy)
    }

    /// What it comes to beside a token.
    pub fn said(&self, edition: Edition) -> Said {
        if let Some(unreadable) = self.unreadable(edition) {
            return Said::Unreadable(unreadable);
        }
        match self {
            Self::Absent | Self::Unproven(_) | Self::Unreadable(_) => Said::Nobody,
            Self::Ignored => Said::Ignored,
            Self::Verified(_) => Said::Somebody,
            Self::Known(_) => match self.document() {
                Some(said) if said.kind() == Kind::Map && said.entries().next().is_some() => Said::Somebody,
                _ => Said::Nobody,
            },
        }
    }

    /// Why it cannot be read, if so. The original passes over fields that it does not know; the strict edition does not.
    pub fn unreadable(&self, edition: Edition) -> Option<Unreadable> {
        match self {
            Self::Absent | Self::Ignored | Self::Verified(_) | Self::Unproven(_) => None,
            Self::Unreadable(why) => Some(why.clone()),
            Self::Known(_) if edition == Edition::Compat => None,
            Self::Known(_) => {
                let identity = self.document()?;
                if identity.kind() != Kind::Map {
                    return Some(Unreadable::NotAMap);
                }
                let mut names = identity.entries().map(|(name, _)| name.text());
                // A name in other letters is not passed over: the roles that it gives may be those that a policy denies.
                names.find(|name| !FIELDS.contains(name)).map(|name| Unreadable::UnknownField(name.to_owned()))
            }
        }
    }

    /// Who asks, unless that cannot be known.
    pub(super) fn subject(&self, edition: Edition) -> Result<Subject, Unreadable> {
        if let Self::Verified(subject) = self {
            let subject = Subject::clone(subject);
            return Ok(match edition {
                Edition::Strict => subject,
                // The original knows no types.
                Edition::Compat => Subject { kind: Maybe::Absent, ..subject },
            });
        }
        // To the original, whoever cannot be read is nobody in particular.
        if edition == Edition::Strict
            && let Some(unreadable) = self.unreadable(edition)
        {
            return Err(unreadable);
        }
        let identity = self.document().filter(|identity| identity.kind() == Kind::Map);
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
        let id = match (get("sub"), edition) {
            (None, _) => Maybe::Is(SmolStr::new_static(ANONYMOUS)),
            (Some(sub), _) if sub.as_text() == Some("") => Maybe::Is(SmolStr::new_static(ANONYMOUS)),
            (Some(sub), Edition::Compat) if !is_truthy(sub) => Maybe::Is(SmolStr::new_static(ANONYMOUS)),
            // Somebody, but nobody that a policy can name, if it is not text.
            (Some(sub), _) => match (sub.as_text(), edition) {
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
        Ok(Subject { kind, id, roles: names("roles"), groups: names("groups"), claims })
    }
}
