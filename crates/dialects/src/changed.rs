//! Which documents are not the same in two snapshots, whatever files they stand in.

use std::collections::BTreeMap;

use upheld_engine::Snapshot;
use upheld_engine::digest::Fingerprint;
use upheld_engine::snapshot::of_document;
use upheld_model::{NodeRef, SourceId};
use upheld_report::{At, Change, ChangedDocument};

use crate::identity::{Identities, Identity};
use crate::recognise::{self, IMPLIED};

/// The documents that are not the same, by identity. How they are written, and where, is no change.
pub fn changed(before: &Snapshot, after: &Snapshot) -> Vec<ChangedDocument> {
    let (was, is) = (written(before, after), written(after, before));
    let mut all = Vec::new();
    for (identity, (own, at)) in &is {
        match was.get(identity) {
            None => all.push(document(Change::Added, identity, after, *at)),
            Some((old, _)) if old != own => all.push(document(Change::Edited, identity, after, *at)),
            Some(_) => {}
        }
    }
    let gone = was.iter().filter(|(identity, _)| !is.contains_key(identity));
    all.extend(gone.map(|(identity, (_, at))| document(Change::Removed, identity, before, *at)));
    all.sort_by(|one, other| {
        let key = |one: &ChangedDocument| (one.kind.clone(), one.scope.clone(), one.name.clone());
        key(one).cmp(&key(other))
    });
    all
}

/// What documents say, by who they are: of those that are written twice, all of it.
type Written = BTreeMap<Identity, (Vec<Fingerprint>, NodeRef)>;

/// The documents of a snapshot in files that another one does not share.
fn written(snapshot: &Snapshot, other: &Snapshot) -> Written {
    let identities = Identities::of(snapshot);
    let (files, others) = (snapshot.files(), other.files());
    let is_own = |source: SourceId| {
        files.get(source).is_some_and(|file| !file.name.starts_with("builtin:") && file.name != IMPLIED)
    };
    let is_looked_at = |source: SourceId| is_own(source) && !files.share(source, others);
    let mut all = Written::new();
    let mut waiting = recognise::documents(snapshot, is_looked_at);
    while let Some((source, document)) = waiting.pop() {
        match identities.identity(document) {
            Ok(identity) => {
                let at = NodeRef { source, node: document.number() };
                all.entry(identity).or_insert_with(|| (Vec::new(), at)).0.push(of_document(document));
            }
            // A list is nobody; those in it are.
            Err(_) => waiting.extend(document.items().map(|item| (source, item))),
        }
    }
    for (own, _) in all.values_mut() {
        own.sort_unstable();
    }
    all
}

fn document(change: Change, identity: &Identity, snapshot: &Snapshot, at: NodeRef) -> ChangedDocument {
    let Identity { kind, scope, name } = identity.clone();
    ChangedDocument { change, kind, scope, name, at: At::of(snapshot.files(), at) }
}
