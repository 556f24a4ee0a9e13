//! Which references into other namespaces are granted.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

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

/// Group, type and namespace.
type Key = [SmolStr; 3];

impl End<'_> {
    fn key(self) -> Key {
        [self.group, self.kind, self.namespace].map(SmolStr::new)
    }
}

/// All grants, by the pair of ends that they speak of.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    /// With the names that may be referred to; `None` for all.
    by_ends: FxHashMap<(Key, Key), Vec<Option<SmolStr>>>,
}

impl Grants {
    /// Reads one `ReferenceGrant`.
    pub(super) fn add(&mut self, grant: &View<'_>) {
        for from in grant.spec_items("from") {
            let part = |key| text(from, key).unwrap_or_default();
            let from = End { group: part("group"), kind: part("kind"), namespace: part("namespace") };
            for to in grant.spec_items("to") {
                let part = |key| text(to, key).unwrap_or_default();
                let name = text(to, "name").filter(|name| !name.is_empty()).map(SmolStr::new);
                let to = End { group: part("group"), kind: part("kind"), namespace: grant.namespace };
                self.by_ends.entry((from.key(), to.key())).or_default().push(name);
            }
        }
    }

    /// Whether something may refer to something of this name. Within a namespace everything may.
    pub fn permit(&self, from: End<'_>, to: End<'_>, name: &str) -> bool {
        let named =
            |names: &Vec<Option<SmolStr>>| names.iter().any(|known| known.as_ref().is_none_or(|own| own == name));
        from.namespace == to.namespace || self.by_ends.get(&(from.key(), to.key())).is_some_and(named)
    }
}
