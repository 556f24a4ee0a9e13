//! The entries that a path leads to.

use std::slice;
use std::sync::Arc;

use upheld_model::Shards;

use super::Entry;

/// Lists up to this length are read from end to end; longer ones are looked up by atom.
const SHORT: usize = 16;

/// A list of entries.
#[derive(Clone, Debug)]
pub(super) enum EntryList {
    /// All of them.
    Short(Entries),
    /// By the atom that a request must have; it stays long when entries are taken away.
    Long(Arc<Shards<u32, Entries>>),
}

/// Some entries in the order of their atoms. Mostly there is one: it needs no memory of its own.
#[derive(Clone, Debug, Default)]
pub(super) enum Entries {
    #[default]
    None,
    One(Entry),
    Many(Arc<[Entry]>),
}

impl Default for EntryList {
    fn default() -> Self {
        Self::Short(Entries::None)
    }
}

impl EntryList {
    /// With more entries, which are in the order of their atoms.
    pub(super) fn with(&self, more: &[Entry]) -> Self {
        let runs = match self {
            Self::Short(few) if few.as_slice().len() + more.len() <= SHORT => return Self::Short(few.with(more)),
            Self::Short(few) => by_key(Shards::default(), few.as_slice()),
            Self::Long(runs) => (**runs).clone(),
        };
        Self::Long(Arc::new(by_key(runs, more)))
    }

    /// The slots of all entries; some come more than once.
    pub(super) fn slots(&self) -> Vec<u32> {
        let of = |entries: &Entries| entries.as_slice().iter().map(|entry| entry.slot).collect::<Vec<_>>();
        match self {
            Self::Short(few) => of(few),
            Self::Long(runs) => runs.sorted().into_iter().flat_map(|(_, run)| of(run)).collect(),
        }
    }

    /// Without the entries of a policy, all of which have one of these atoms.
    pub(super) fn without(&self, slot: u32, keys: impl Iterator<Item = u32>) -> Self {
        let runs = match self {
            Self::Short(few) => return Self::Short(few.without(slot)),
            Self::Long(runs) => runs,
        };
        let mut left = (**runs).clone();
        for key in keys {
            let Some(run) = left.get(&key) else { continue };
            if run.as_slice().iter().all(|entry| entry.slot != slot) {
                continue;
            }
            match run.without(slot) {
                Entries::None => left.remove(&key),
                some => left.insert(key, some),
            };
        }
        Self::Long(Arc::new(left))
    }
}

impl EntryList {
    /// How many shards of a long list others do not have.
    #[cfg(test)]
    pub(super) fn unshared(&self, other: &Self) -> usize {
        match (self, other) {
            (Self::Long(own), Self::Long(other)) => own.unshared(other),
            _ => 0,
        }
    }
}

fn by_key(mut runs: Shards<u32, Entries>, more: &[Entry]) -> Shards<u32, Entries> {
    for run in more.chunk_by(|one, other| one.key == other.key) {
        if let Some(Entry { key, .. }) = run.first() {
            let known = runs.get(key).map_or_else(|| Entries::None.with(run), |known| known.with(run));
            runs.insert(*key, known);
        }
    }
    runs
}

impl Entries {
    #[inline]
    pub(super) fn as_slice(&self) -> &[Entry] {
        match self {
            Self::None => &[],
            Self::One(entry) => slice::from_ref(entry),
            Self::Many(entries) => entries,
        }
    }

    fn with(&self, more: &[Entry]) -> Self {
        match (self, more) {
            (known, []) => known.clone(),
            (Self::None, [only]) => Self::One(*only),
            (Self::None, more) => Self::Many(more.into()),
            (known, more) => {
                let mut all = [known.as_slice(), more].concat();
                all.sort_by_key(|entry| (entry.key, entry.slot));
                Self::Many(all.into())
            }
        }
    }

    fn without(&self, slot: u32) -> Self {
        let left: Vec<Entry> = self.as_slice().iter().copied().filter(|entry| entry.slot != slot).collect();
        Self::None.with(&left)
    }
}
