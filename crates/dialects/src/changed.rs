//! Which documents are not the same in two snapshots, whatever files they stand in.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_engine::Snapshot;
use upheld_engine::digest::Fingerprint;
use upheld_engine::snapshot::of_document;
use upheld_engine::work;
use upheld_model::{File, Files, NodeRef, SourceId};
use upheld_report::{At, Change, ChangedDocument};

use crate::identity::{Identities, Identity};
use crate::recognise::{self, IMPLIED, Kustomizations};

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
    let alike = Alike::of(snapshot, other);
    let is_looked_at = |source: SourceId| is_own(source) && !files.share(source, others) && !alike.has(files, source);
    let mut all = Written::new();
    let mut waiting = recognise::documents(snapshot, is_looked_at);
    while let Some((source, document)) = waiting.pop() {
        work::step();
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

/// Files of another snapshot by their names: one that is written alike in both says the same in both.
#[derive(Default)]
struct Alike<'f>(FxHashMap<&'f str, &'f File>);

impl<'f> Alike<'f> {
    /// None where one was made of the other, so that files are shared; where kustomizations may set the same file aside in one of the two;
    /// or where names do not tell files apart.
    fn of(snapshot: &Snapshot, other: &'f Snapshot) -> Self {
        let has_kustomizations = |one: &Snapshot| !Kustomizations::in_snapshot(one).documents().is_empty();
        let (files, others) = (snapshot.files(), other.files());
        let is_apart = files.iter().all(|(source, _)| !files.share(source, others));
        let is_told =
            is_apart && [snapshot, other].into_iter().all(|one| !has_kustomizations(one) && has_names(one.files()));
        let named = others.iter().filter(|_| is_told).map(|(_, file)| (file.name.as_str(), file));
        Self(named.collect())
    }

    fn has(&self, files: &Files, source: SourceId) -> bool {
        let own = files.get(source);
        own.is_some_and(|own| self.0.get(own.name.as_str()).is_some_and(|other| other.tree.text() == own.tree.text()))
    }
}

/// Whether every file has a name of its own.
fn has_names(files: &Files) -> bool {
    let mut seen = FxHashSet::default();
    files.iter().all(|(_, file)| seen.insert(file.name.as_str()))
}

fn document(change: Change, identity: &Identity, snapshot: &Snapshot, at: NodeRef) -> ChangedDocument {
    let Identity { kind, scope, name } = identity.clone();
    ChangedDocument { change, kind, scope, name, at: At::of(snapshot.files(), at) }
}
