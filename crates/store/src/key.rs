//! Which document.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The identity of a document: `TrafficLog/default/all`, `AccessPolicy/access/admins`. Only the name may have slashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(Arc<str>);

/// A text that is not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid document id: expected KIND/SCOPE/NAME")]
pub struct BadKey(String);

impl Key {
    /// Of its parts. None of them may be empty.
    pub fn new(kind: &str, scope: &str, name: &str) -> Result<Self, BadKey> {
        let text = format!("{kind}/{scope}/{name}");
        let slashes = kind.contains('/') || scope.contains('/');
        let empty = kind.is_empty() || scope.is_empty() || name.is_empty();
        if slashes || empty { Err(BadKey(text)) } else { Ok(Self(text.into())) }
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

impl FromStr for Key {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let mut parts = text.splitn(3, '/');
        let mut next = || parts.next().unwrap_or_default();
        Self::new(next(), next(), next())
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
            assert_eq!(
                text.parse::<Key>(),
                Err(BadKey(format!("{text}{}", "/".repeat(2 - text.matches('/').count()))))
            );
        }
    }
}
