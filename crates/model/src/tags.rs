//! Tags of objects, and what selectors want of them.

use crate::source::NodeRef;
use crate::symbols::Sym;

/// One tag of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag {
    /// The name of the tag.
    pub key: Sym,
    /// Its value; `None` when the asker does not know it.
    pub value: Option<Sym>,
}

/// The tags of an object or of a part of one, sorted by key, each key once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagSet {
    tags: Box<[Tag]>,
}

impl TagSet {
    /// Sorts the tags; of two with one key the last one stays.
    pub fn new(tags: impl IntoIterator<Item = (Sym, Option<Sym>)>) -> Self {
        let mut tags: Vec<Tag> = tags.into_iter().map(|(key, value)| Tag { key, value }).collect();
        tags.reverse();
        tags.sort_by_key(|tag| tag.key);
        tags.dedup_by_key(|tag| tag.key);
        Self { tags: tags.into() }
    }

    /// All tags by key number.
    pub fn as_slice(&self) -> &[Tag] {
        &self.tags
    }

    /// The tag of a key.
    pub fn get(&self, key: Sym) -> Option<Tag> {
        self.tags.binary_search_by_key(&key, |tag| tag.key).ok().and_then(|index| self.tags.get(index)).copied()
    }

    /// Whether the value of some tag is not known.
    pub fn has_unknown(&self) -> bool {
        self.tags.iter().any(|tag| tag.value.is_none())
    }
}

/// What a selector wants of one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Want {
    /// The tag has any value (`*`), but is there.
    Any,
    /// The tag has this value.
    Exactly(Sym),
}

/// One selector: all of its wants must hold. Sorted by key; equality ignores where it was written.
#[derive(Clone, Debug)]
pub struct Selector {
    wants: Box<[(Sym, Want)]>,
    /// Where it was written.
    pub at: NodeRef,
}

impl Selector {
    /// Sorts the wants; of two with one key the last one stays.
    pub fn new(wants: impl IntoIterator<Item = (Sym, Want)>, at: NodeRef) -> Self {
        let mut wants: Vec<(Sym, Want)> = wants.into_iter().collect();
        wants.reverse();
        wants.sort_by_key(|(key, _)| *key);
        wants.dedup_by_key(|(key, _)| *key);
        Self { wants: wants.into(), at }
    }

    /// What it wants, by key number.
    pub fn wants(&self) -> &[(Sym, Want)] {
        &self.wants
    }
}

impl PartialEq for Selector {
    fn eq(&self, other: &Self) -> bool {
        self.wants == other.wants
    }
}
impl Eq for Selector {}
