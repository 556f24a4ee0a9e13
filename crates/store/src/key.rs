//! Which document.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The identity of a document: `TrafficLog/default/all`, `AccessPolicy/access/admins`. Only the name may have slashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(Arc<str>);

/// What is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// A text that has not the three parts of one.
    #[error("`{0}` is not a valid document id: expected KIND/SCOPE/NAME")]
    Parts(String),
    /// A part that cannot stand there.
    #[error("`{text}` cannot be the {part} of a document: {why}")]
    Part {
        /// Which.
        part: Part,
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// A part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The type.
    Kind,
    /// What it is in.
    Scope,
    /// The name.
    Name,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "type",
            Self::Scope => "scope",
            Self::Name => "name",
        })
    }
}

impl Part {
    fn check(self, text: &str) -> Result<(), BadKey> {
        let is_dots = |segment: &str| matches!(segment, "." | "..");
        let why = match self {
            _ if text.is_empty() => "it is empty",
            _ if text.chars().any(char::is_control) => "it has control characters",
            Self::Kind | Self::Scope if text.contains('/') => "it has a slash, which only names may have",
            // Whoever reads addresses would take them for steps, encoded or not.
            _ if text.split('/').any(is_dots) => "`.` and `..` are steps in addresses, not names",
            _ => return Ok(()),
        };
        Err(BadKey::Part { part: self, text: text.to_owned(), why })
    }
}

impl Key {
    /// Of the parts of a new document: what can be written in an address and read back. Anything else goes, also spaces, slashes
    /// in names, and letters of all languages.
    pub fn new(kind: &str, scope: &str, name: &str) -> Result<Self, BadKey> {
        Part::Kind.check(kind)?;
        Part::Scope.check(scope)?;
        Part::Name.check(name)?;
        Ok(Self(format!("{kind}/{scope}/{name}").into()))
    }

    /// All of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The type of the document.
    pub fn kind(&self) -> &str {
        self.parts().0
    }

    /// The mesh, the namespace, or what stands in their place.
    pub fn scope(&self) -> &str {
        self.parts().1
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.parts().2
    }

    fn parts(&self) -> (&str, &str, &str) {
        let mut parts = self.0.splitn(3, '/');
        let mut next = || parts.next().unwrap_or_default();
        (next(), next(), next())
    }
}

/// Of a text that a store has, perhaps since before names were looked at: only its parts must be there.
impl FromStr for Key {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let parts: Vec<&str> = text.splitn(3, '/').collect();
        let full = parts.len() == 3 && parts.iter().all(|part| !part.is_empty());
        if full { Ok(Self(text.into())) } else { Err(BadKey::Parts(text.to_owned())) }
    }
}

impl TryFrom<String> for Key {
    type Error = BadKey;

    fn try_from(text: String) -> Result<Self, BadKey> {
        text.parse()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.as_str().to_owned()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_may_have_slashes() {
        let key: Key = "AccessPolicy/access/team/admins".parse().unwrap();
        assert_eq!((key.kind(), key.scope(), key.name()), ("AccessPolicy", "access", "team/admins"));
        assert!(Key::new("a/b", "c", "d").is_err());
    }

    #[test]
    fn no_part_may_be_empty() {
        for text in ["", "a", "a/b", "a/b/", "/b/c", "a//c"] {
            assert_eq!(text.parse::<Key>(), Err(BadKey::Parts(text.to_owned())));
        }
        assert!(Key::new("", "b", "c").is_err() && Key::new("a", "", "c").is_err() && Key::new("a", "b", "").is_err());
    }

    #[test]
    fn names_may_have_anything_that_addresses_keep() {
        for name in ["a b", "a/b", "shop/checkout~x", "50%", "ä?#&=+", "...", "a..b", "~", "%2e%2e"] {
            assert_eq!(Key::new("a", "b", name).unwrap().name(), name);
        }
    }

    #[test]
    fn names_are_no_steps_in_addresses() {
        for name in [".", "..", "a/..", "../a", "a/./b", "a\nb", "\u{0}"] {
            assert!(matches!(Key::new("a", "b", name), Err(BadKey::Part { part: Part::Name, .. })), "{name}");
        }
        assert!(Key::new("..", "b", "c").is_err() && Key::new("a", ".", "c").is_err());
    }

    #[test]
    fn what_a_store_has_can_be_read_whatever_its_name() {
        assert_eq!("a/b/..".parse::<Key>().unwrap().name(), "..");
    }
}
