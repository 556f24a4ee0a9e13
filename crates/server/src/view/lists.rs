//! Lists of a view in the order of ids, made once: whoever turns pages does not pay for those before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use upheld_answers::inventory::Row;
use upheld_store::Key;

use super::View;

/// Policies or objects by their ids.
pub(crate) type Rows = Arc<Vec<(String, Row)>>;

/// How many there are of each type.
pub(crate) type Counts = BTreeMap<String, usize>;

/// Which rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WhichRows {
    /// Whether policies or objects.
    pub(crate) what: RowSort,
    /// Only this type.
    pub(crate) kind: Option<String>,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowSort {
    /// Policies.
    Policies,
    /// Objects.
    Objects,
}

/// What was listed of a view.
#[derive(Debug, Default)]
pub(super) struct Lists {
    keys: OnceLock<Vec<Key>>,
    /// How many policies and objects there are of each type.
    counts: [OnceLock<Counts>; 2],
    rows: Mutex<Vec<(WhichRows, Rows)>>,
}

/// So many lists are kept: those of all kinds, and some of single kinds.
const KEPT: usize = 8;

impl View {
    /// The documents of the store by their ids.
    pub(crate) fn keys(&self) -> &[Key] {
        self.lists.keys.get_or_init(|| {
            let mut keys: Vec<Key> = self.state.iter().map(|(key, _)| key.clone()).collect();
            keys.sort_unstable();
            keys
        })
    }

    /// How many rows of all kinds there are of each type; counted by whoever asks first.
    pub(crate) fn counts(&self, what: RowSort, rows: &[(String, Row)]) -> Counts {
        let [policies, objects] = &self.lists.counts;
        let kept = if what == RowSort::Policies { policies } else { objects };
        kept.get_or_init(|| count(rows.iter().map(|(_, row)| row))).clone()
    }

    /// Rows by their ids; made by whoever asks first. Takes a while then: not for threads that answer.
    pub(crate) fn rows<E>(&self, which: &WhichRows, make: impl FnOnce() -> Result<Vec<Row>, E>) -> Result<Rows, E> {
        let kept = || self.lists.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().iter().find(|(known, _)| known == which).map(|(_, rows)| Arc::clone(rows));
        if let Some(rows) = known {
            return Ok(rows);
        }
        // Nobody holds the lock meanwhile: whoever asks for another list does not wait for this one.
        let mut rows: Vec<(String, Row)> = make()?.into_iter().map(|row| (row.id(), row)).collect();
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        let rows = Arc::new(rows);
        let mut kept = kept();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((which.clone(), Arc::clone(&rows)));
        Ok(rows)
    }
}

/// How many rows there are of each type.
pub(crate) fn count<'r>(rows: impl Iterator<Item = &'r Row>) -> Counts {
    rows.fold(Counts::new(), |mut all, row| {
        match all.get_mut(row.kind.as_str()) {
            Some(count) => *count += 1,
            None => drop(all.insert(row.kind.clone(), 1)),
        }
        all
    })
}
