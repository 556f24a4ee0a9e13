//! How layers meet: data, so that a document can say it.

use smol_str::SmolStr;

/// How layers meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// How deep.
    pub depth: Depth,
    /// What a null in a layer means.
    pub nulls: Nulls,
    /// Lists under a key with this beginning add up, the worst layer first, instead of replacing each other.
    pub append_prefix: Option<SmolStr>,
    /// Lists whose items meet by a key instead of replacing each other.
    pub keyed: Vec<Keyed>,
    /// Lists that add up, the best layer first, by their paths: `rateLimit.global.rules`.
    pub chained: Vec<SmolStr>,
}

/// How deep layers meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The best layer counts as a whole.
    Whole,
    /// The fields of the top level meet; what is below belongs to the layer that sets the field.
    Shallow,
    /// Maps meet at every depth.
    Deep,
}

/// What a null in a layer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// Remove what worse layers say, as in RFC 7396; but not from lists that add up or meet by key, where it says nothing.
    Erase,
    /// The same as saying nothing.
    Ignore,
}

/// A list whose items meet by a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyed {
    /// The field that holds the list, anywhere.
    pub field: SmolStr,
    /// The field of an item by which two are the same.
    pub key: SmolStr,
    /// The field of an item whose values meet; empty: the whole item.
    pub payload: SmolStr,
    /// Whose items come first.
    pub order: ItemOrder,
}

/// In which order the items of several layers stand. An item that several layers have stands where the better one has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemOrder {
    /// Those of the worst layer.
    WorstFirst,
    /// Those of the best layer; within a layer the earlier item is the better one.
    BestFirst,
    /// Those of the better layer, except that an item of the worse one alone stays before those that follow it there, as in a
    /// strategic merge patch.
    Woven,
}

impl Keyed {
    /// A list whose items meet as wholes, as in a strategic merge patch.
    pub fn items(field: &str, key: &str) -> Self {
        Self { field: field.into(), key: key.into(), payload: SmolStr::default(), order: ItemOrder::Woven }
    }
}

impl Strategy {
    /// RFC 7396: maps meet, everything else is replaced, null removes.
    pub fn patch() -> Self {
        Self { depth: Depth::Deep, nulls: Nulls::Erase, append_prefix: None, keyed: Vec::new(), chained: Vec::new() }
    }

    /// The best layer as a whole.
    pub fn whole() -> Self {
        Self { depth: Depth::Whole, ..Self::patch() }
    }

    /// Top-level fields, each from the best layer that sets it.
    pub fn shallow() -> Self {
        Self { depth: Depth::Shallow, ..Self::patch() }
    }

    pub(super) fn appends(&self, key: &str) -> bool {
        self.append_prefix.as_ref().is_some_and(|prefix| key.starts_with(prefix.as_str()))
    }

    /// Whether the list at a path adds up; `path` says from the inside what it is under.
    pub(super) fn chains(&self, path: Path<'_>) -> bool {
        self.chained.iter().any(|chained| chained.rsplit('.').eq(path.keys()))
    }

    pub(super) fn keyed(&self, key: &str) -> Option<&Keyed> {
        self.keyed.iter().find(|keyed| keyed.field == key)
    }
}

/// Where a value stands: its key, then that of what it is in, and so on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'p> {
    pub(super) key: &'p str,
    pub(super) within: Option<&'p Path<'p>>,
}

impl<'p> Path<'p> {
    /// The keys, from the inside.
    fn keys(self) -> impl Iterator<Item = &'p str> {
        std::iter::successors(Some(self), |path| path.within.copied()).map(|path| path.key)
    }
}
