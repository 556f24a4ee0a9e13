//! Documents whose id is another than the store has: what makes a document one thing is said by its system and by the kinds in
//! force, and both may have changed since it was written.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use upheld_dialects::access::claim::STORED;
use upheld_dialects::policy_kind::POLICY_KIND;
use upheld_store::{Change, Key, Revision, machine};

use crate::app::Shared;
use crate::documents::key;
use crate::view::View;
use crate::writer::{Author, Condition, Mode, Refusal, Write};

/// What must change so that every document has the id that it has now.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Moves {
    /// Deletes and puts, at most one for an id.
    pub(crate) changes: Vec<Change>,
    /// How many documents get another id.
    count: usize,
    /// Documents that are the same thing as a later one, which holds: their ids, and what both are now.
    lost: Vec<(Key, Key)>,
}

/// A document that wants an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wants<'v> {
    /// Whoever was written later holds; of one revision, whoever comes later in it.
    changed: Revision,
    place: usize,
    /// The id that it has.
    from: &'v Key,
}

impl Moves {
    /// Those of a view.
    pub(crate) fn of(view: &View) -> Self {
        let leaving = leaving(view);
        let mut wanted: BTreeMap<&Key, Vec<Wants<'_>>> = BTreeMap::new();
        for (from, (to, place)) in &leaving {
            let Some(document) = view.state.get(from) else { continue };
            wanted.entry(to).or_default().push(Wants { changed: document.revision, place: *place, from });
        }
        let mut moves = Self::default();
        let mut changes: BTreeMap<Key, Change> = BTreeMap::new();
        let mut puts = Vec::new();
        for (to, mut wants) in wanted {
            moves.count += wants.len();
            changes.extend(wants.iter().map(|one| (one.from.clone(), Change::Delete { key: one.from.clone() })));
            // Whoever is there already, and stays.
            let stays = view.state.get(to).filter(|_| !leaving.contains_key(to));
            wants.extend(stays.map(|document| Wants { changed: document.revision, place: 0, from: to }));
            let Some(holds) = wants.iter().max() else { continue };
            moves.lost.extend(wants.iter().filter(|one| *one != holds).map(|one| (one.from.clone(), to.clone())));
            if let Some(document) = view.state.get(holds.from).filter(|_| holds.from != to) {
                puts.push(Change::Put { key: to.clone(), text: document.text.clone() });
            }
        }
        // A place that somebody leaves may be taken by another.
        for put in puts {
            changes.insert(put.key().clone(), put);
        }
        moves.changes = changes.into_values().collect();
        moves
    }

    /// Changes with those moves that they bring about: a kind decides which documents are one thing.
    pub(crate) fn after(changes: &[Change], next: &View) -> Option<Vec<Change>> {
        if !changes.iter().any(|change| change.key().kind() == POLICY_KIND) {
            return None;
        }
        let Self { changes: moved, .. } = Self::of(next);
        if moved.is_empty() {
            return None;
        }
        let keys: BTreeSet<&Key> = moved.iter().map(Change::key).collect();
        let kept: Vec<Change> = changes.iter().filter(|change| !keys.contains(change.key())).cloned().collect();
        Some(kept.into_iter().chain(moved).collect())
    }
}

/// Documents that have another id now, by the one that the store has, with their place among all. Nothing is kept of the others:
/// there can be a million.
fn leaving(view: &View) -> BTreeMap<Key, (Key, usize)> {
    let identities = view.identities();
    let mut leaving = BTreeMap::new();
    for (place, (_, file)) in view.loaded.snapshot.files().iter().enumerate() {
        let Some(from) = file.name.strip_prefix(STORED) else { continue };
        let Some(document) = file.tree.documents().next() else { continue };
        // What has no id now keeps the one that it has.
        let Ok(identity) = identities.identity(document) else { continue };
        let Ok(to) = key(&identity) else { continue };
        if to.as_str() != from
            && let Ok(from) = from.parse()
        {
            leaving.insert(from, (to, place));
        }
    }
    leaving
}

/// How often it is tried again because somebody wrote in between.
const TRIES: usize = 8;

/// Gives every document of the store the id that it has now, in one revision. What goes wrong is logged: then the documents keep
/// their ids.
pub(crate) async fn settle(app: &Shared) {
    for _ in 0..TRIES {
        match try_settle(app).await {
            // Somebody wrote in between, perhaps the same: look again.
            Err(Refusal::Condition(..)) => {}
            Err(Refusal::Broken(broken)) => {
                let first = broken.diagnostics.as_slice().first().map_or("", |first| first.message.as_str());
                tracing::error!(first, "documents could not be moved to the ids that they have now");
                return;
            }
            Err(Refusal::NotAdmitted(refused)) => {
                tracing::error!(
                    answer = refused.ruled.answer,
                    "documents may not be moved to the ids that they have now"
                );
                return;
            }
            Err(Refusal::NotPermitted(problem)) => {
                tracing::error!(problem.detail, "documents may not be moved to the ids that they have now");
                return;
            }
            Err(Refusal::Undone(undone)) => {
                let because = undone.sentence();
                tracing::error!(because, "documents could not be moved to the ids that they have now");
                return;
            }
            Err(Refusal::Store(error)) => {
                tracing::error!(%error, "documents could not be moved to the ids that they have now");
                return;
            }
            Ok(()) => return,
        }
    }
    tracing::error!("documents could not be moved to the ids that they have now because of constant writes by others");
}

async fn try_settle(app: &Shared) -> Result<(), Refusal> {
    let view = app.live.view();
    let looked = std::sync::Arc::clone(&view);
    let Ok(moves) = machine::aside(move || Moves::of(&looked)).await else { return Ok(()) };
    let Moves { changes, count, lost } = moves;
    if changes.is_empty() {
        return Ok(());
    }
    let write = Write {
        author: Author::Server("upheld"),
        message: Some(format!("moved {count} documents to the ids that they have now")),
        changes,
        conditions: vec![Condition::At(view.revision())],
        idempotency: None,
        mode: Mode::Commit,
    };
    let written = app.writer.write(write).await?;
    for (from, to) in lost {
        tracing::warn!(%from, %to, "a document was the same thing as a later one, which holds");
    }
    tracing::info!(
        documents = count,
        revision = written.revision.0,
        "documents were moved to the ids that they have now"
    );
    Ok(())
}
