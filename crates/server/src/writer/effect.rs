//! What changes do to documents.

use upheld_store::{Change, Key, State};

/// What happens to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Created,
    Replaced,
    Deleted,
    Unchanged,
}

impl Effect {
    /// As answers have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Replaced => "replaced",
            Self::Deleted => "deleted",
            Self::Unchanged => "unchanged",
        }
    }
}

/// The changes that change anything, and what happens to each document.
pub(super) fn effective(state: &State, changes: &[Change]) -> (Vec<Change>, Vec<(Key, Effect)>) {
    let effects = effects(state, changes);
    let effective = changes.iter().zip(&effects).filter(|(_, (_, effect))| *effect != Effect::Unchanged);
    (effective.map(|(change, _)| change.clone()).collect(), effects)
}

fn effects(state: &State, changes: &[Change]) -> Vec<(Key, Effect)> {
    let effect = |change: &Change| match (change, state.get(change.key())) {
        (Change::Put { .. }, None) => Effect::Created,
        (Change::Put { text, .. }, Some(old)) if old.text == *text => Effect::Unchanged,
        (Change::Put { .. }, Some(_)) => Effect::Replaced,
        (Change::Delete { .. }, Some(_)) => Effect::Deleted,
        (Change::Delete { .. }, None) => Effect::Unchanged,
    };
    changes.iter().map(|change| (change.key().clone(), effect(change))).collect()
}
