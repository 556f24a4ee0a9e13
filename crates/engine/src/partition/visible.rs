//! Which tags policies look at: what none of them looks at cannot tell two objects apart.

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_model::{Sym, TagSet, Want};

/// What policies look at, by the key of the tag.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    keys: FxHashMap<Sym, Looks>,
}

/// What is looked at in one tag.
#[derive(Clone, Debug, Default)]
struct Looks {
    /// Whether it has one of these values.
    values: FxHashSet<Sym>,
    presence: Presence,
}

/// Whether it matters that a tag is there, whatever its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Presence {
    #[default]
    Unseen,
    Seen,
}

/// What is seen of some tags, by key.
pub type VisibleTags = Vec<(Sym, VisibleValue)>;

/// What is seen of the value of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VisibleValue {
    /// A value that some policy names.
    Named(Sym),
    /// A value that none names, where it matters that there is one.
    Other,
    /// A value that is not known: it may be any of those that policies name.
    Unknown,
}

impl Visible {
    /// Looks at what somebody wants of a tag, too.
    pub fn add(&mut self, key: Sym, want: Want) {
        let looks = self.keys.entry(key).or_default();
        match want {
            Want::Exactly(value) => drop(looks.values.insert(value)),
            Want::Any => looks.presence = Presence::Seen,
        }
    }

    /// What is seen of some tags. Those of which the same is seen get the same answers.
    pub fn of(&self, tags: &TagSet) -> VisibleTags {
        let value = |key: Sym, value: Option<Sym>| {
            let looks = self.keys.get(&key)?;
            match value {
                None => Some(VisibleValue::Unknown),
                Some(value) if looks.values.contains(&value) => Some(VisibleValue::Named(value)),
                Some(_) => (looks.presence == Presence::Seen).then_some(VisibleValue::Other),
            }
        };
        tags.as_slice().iter().filter_map(|tag| Some((tag.key, value(tag.key, tag.value)?))).collect()
    }

    /// Whether it looks at a value of a tag.
    pub fn has(&self, key: Sym, value: Sym) -> bool {
        self.keys.get(&key).is_some_and(|looks| looks.values.contains(&value))
    }

    /// The tags of which it matters whether they are there; in no order.
    pub fn presences(&self) -> impl Iterator<Item = Sym> {
        self.keys.iter().filter(|(_, looks)| looks.presence == Presence::Seen).map(|(key, _)| *key)
    }

    /// Whether it looks at everything that another looks at.
    pub fn covers(&self, other: &Self) -> bool {
        other.keys.iter().all(|(key, theirs)| {
            let covers = |mine: &Looks| {
                theirs.values.is_subset(&mine.values)
                    && (theirs.presence == Presence::Unseen || mine.presence == Presence::Seen)
            };
            self.keys.get(key).is_some_and(covers)
        })
    }
}
