//! Which references into other namespaces are granted.

use rustc_hash::FxHashMap;

use super::resources::{View, text};

/// One end of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct End<'s> {
    /// The API group.
    pub group: &'s str,
    /// The type.
    pub kind: &'s str,
    /// The namespace.
    pub namespace: &'s str,
}

/// All grants, by the pair of ends that they speak of.
#[derive(Debug, Default)]
pub struct Grants<'s> {
    /// With the names that may be referred to; `None` for all.
    by_ends: FxHashMap<(End<'s>, End<'s>), Vec<Option<&'s str>>>,
}

impl<'s> Grants<'s> {
    /// Reads one `ReferenceGrant`.
    pub(super) fn add(&mut self, grant: &View<'s>) {
        for from in grant.spec_items("from") {
            let part = |key| text(from, key).unwrap_or_default();
            let from = End { group: part("group"), kind: part("kind"), namespace: part("namespace") };
            for to in grant.spec_items("to") {
                let part = |key| text(to, key).unwrap_or_default();
                let name = text(to, "name").filter(|name| !name.is_empty());
                let to = End { group: part("group"), kind: part("kind"), namespace: grant.namespace };
                self.by_ends.entry((from, to)).or_default().push(name);
            }
        }
    }

    /// Whether something may refer to something of this name. Within a namespace everything may.
    pub fn permit(&self, from: End<'_>, to: End<'_>, name: &str) -> bool {
        from.namespace == to.namespace
            || self
                .by_ends
                .get(&(from, to))
                .is_some_and(|names| names.iter().any(|known| known.is_none_or(|known| known == name)))
    }
}
