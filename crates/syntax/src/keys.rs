//! The keys of the maps that are being read: in goes each key, out comes the first one of that name
//! if there was one already.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use upheld_model::{Diagnostic, Fault, SourceId, Span};

use crate::quote;

/// Up to this many keys, comparing with each costs less than hashing.
const SMALL: usize = 16;

/// The keys of all open maps, the innermost last.
#[derive(Debug, Default)]
pub(crate) struct Keys<'t> {
    /// Keys of the open maps that are small, one map after the other.
    small: Vec<(Cow<'t, str>, u32)>,
    open: Vec<Map<'t>>,
}

#[derive(Debug)]
struct Map<'t> {
    /// Where its keys begin in `small`.
    start: usize,
    /// Its keys, once there are many: a map of 200 000 keys must not cost 200 000² comparisons. The
    /// hash is seeded at random, so no file can be made to collide.
    large: Option<HashMap<Cow<'t, str>, u32>>,
}

impl<'t> Keys<'t> {
    /// A map begins.
    pub(crate) fn open(&mut self) {
        if self.open.is_empty() {
            // Once is enough for most texts.
            self.small.reserve(SMALL);
        }
        self.open.push(Map { start: self.small.len(), large: None });
    }

    /// Adds a key with its node to the innermost map. Returns the node of the same key if the map has
    /// it already; then that one stays.
    pub(crate) fn insert(&mut self, key: Cow<'t, str>, node: u32) -> Option<u32> {
        let map = self.open.last_mut()?;
        if let Some(large) = &mut map.large {
            return insert_large(large, key, node);
        }
        let known = self.small.get(map.start..).unwrap_or_default();
        if let Some((_, first)) = known.iter().find(|(known, _)| *known == key) {
            return Some(*first);
        }
        if known.len() == SMALL {
            let large = map.large.insert(self.small.drain(map.start..).collect());
            return insert_large(large, key, node);
        }
        self.small.push((key, node));
        None
    }

    /// The innermost map ends.
    pub(crate) fn close(&mut self) {
        if let Some(map) = self.open.pop() {
            self.small.truncate(map.start);
        }
    }

    /// Forgets all maps, as after an error.
    pub(crate) fn clear(&mut self) {
        self.small.clear();
        self.open.clear();
    }
}

/// The words for a key that stands twice.
pub(crate) fn duplicate(source: SourceId, key: &str, first: Span, second: Span) -> Diagnostic {
    let begins_a_document = matches!(key, "type" | "kind" | "apiVersion");
    let help = if begins_a_document { "is a line `---` missing between two documents?" } else { "keep one of them" };
    Diagnostic::error(Fault::DuplicateKey, format!("key `{}` appears twice in one map", quote::short(key)))
        .at(source, second, "the second one")
        .related(source, first, "the first one")
        .help(help)
}

fn insert_large<'t>(large: &mut HashMap<Cow<'t, str>, u32>, key: Cow<'t, str>, node: u32) -> Option<u32> {
    match large.entry(key) {
        Entry::Occupied(entry) => Some(*entry.get()),
        Entry::Vacant(entry) => {
            entry.insert(node);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_key_in_small_and_large_maps() {
        assert_eq!(SMALL, 16, "the counts below are around it");
        for count in [1, 15, 16, 17, 1_000] {
            let mut keys = Keys::default();
            keys.open();
            for node in 0..count {
                assert_eq!(keys.insert(Cow::Owned(format!("key{node}")), node), None);
            }
            for node in 0..count {
                assert_eq!(keys.insert(Cow::Owned(format!("key{node}")), 9_999), Some(node));
            }
        }
    }

    #[test]
    fn maps_do_not_see_the_keys_of_each_other() {
        let mut keys = Keys::default();
        keys.open();
        assert_eq!(keys.insert("name".into(), 1), None);
        keys.open();
        assert_eq!(keys.insert("name".into(), 2), None);
        keys.close();
        assert_eq!(keys.insert("name".into(), 3), Some(1));
    }
}
