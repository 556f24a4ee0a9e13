//! The part of a view that somebody may see: what a server would have that holds nothing else.

use std::collections::HashSet;
use std::sync::Arc;

use upheld_dialects::Identity;
use upheld_dialects::access::claim::STORED;
use upheld_dialects::dialect::{Visibility, dialects};
use upheld_engine::work;
use upheld_loader::Format;
use upheld_loader::load::Broken;
use upheld_model::tree::Value;
use upheld_model::{File, SourceId};
use upheld_store::Key;

use super::View;
use crate::auth::{Access, Operation, Sort, Touched, named};
use crate::documents::{Body, flatten};
use crate::http::decide::now;

/// What of a view somebody may see.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    stored: HashSet<Key>,
    /// By their places. Whoever may not see something in a file does not see the file.
    files: Vec<bool>,
}

/// What roles of policy systems keep from somebody; nothing from most.
#[derive(Debug)]
pub(crate) struct RoleLimits<'v>(Vec<Box<dyn Visibility + 'v>>);

impl RoleLimits<'_> {
    /// Whether a document may be known.
    fn show(&self, document: Value<'_>) -> bool {
        self.0.iter().all(|own| own.shows(document))
    }

    /// Whether a document of the log may be known; one without a text is gone.
    pub(crate) fn show_written(&self, key: &Key, text: Option<&str>) -> bool {
        if self.0.is_empty() {
            return true;
        }
        match text {
            // What cannot be read any more may name anything.
            Some(text) => Body::read(text.as_bytes(), Format::Json)
                .is_ok_and(|body| body.documents().into_iter().all(|document| self.show(document))),
            None => {
                let identity = Identity::new(key.kind(), key.scope(), key.name());
                self.0.iter().all(|own| own.shows_gone(&identity))
            }
        }
    }
}

impl View {
    /// Whether somebody may read, or see in answers, whatever is in it: by rights, and by the roles that they have in policy systems.
    pub(crate) fn is_whole_to(&self, access: &Access, operation: Operation) -> bool {
        let snapshot = &self.loaded.snapshot;
        access.may_all(operation) && !dialects().any(|dialect| dialect.limits(snapshot, access.roles()))
    }

    /// What roles keep from somebody.
    pub(crate) fn role_limits(&self, access: &Access) -> RoleLimits<'_> {
        let (snapshot, now) = (&self.loaded.snapshot, now());
        let limiting = dialects().filter(|dialect| dialect.limits(snapshot, access.roles()));
        RoleLimits(limiting.filter_map(|dialect| dialect.visibility(snapshot, access.roles(), now)).collect())
    }

    /// What somebody may see of it, for reading or in answers. Every document is decided by itself, which takes a while where
    /// there are many: not for threads that answer.
    pub(crate) fn seen(&self, access: &Access, operation: Operation) -> Seen {
        let (policies, all) = (self.types_of_policies(), access.may_all(operation));
        let may = |document: Touched<'_>| match operation {
            _ if all => true,
            Operation::See => access.may_see(sort(&policies, document.kind), document),
            other => access.may(other, document),
        };
        let may_stored = |key: &Key, text: &str| {
            work::step();
            may(key.into()) && (all || named(key, text).iter().all(|other| may(other.into())))
        };
        let hidden = self.hidden(&self.role_limits(access));
        let stored = self.state.iter().filter(|(key, document)| may_stored(key, &document.text));
        let stored = stored.map(|(key, _)| key).filter(|key| !hidden.contains(key.as_str())).cloned().collect();
        let (files, identities) = (self.loaded.snapshot.files(), self.identities());
        let is_seen = |identity: &Identity| may(identity.into());
        let all_seen = |source: &SourceId| {
            work::step();
            let Some(file) = files.get(*source) else { return false };
            let documents = documents_of(file);
            let mut documents = documents.into_iter();
            !hidden.contains(file.name.as_str())
                && (all
                    || documents.all(|document| identities.identity(document).is_ok_and(|identity| is_seen(&identity))))
        };
        Seen { stored, files: self.sources.of_files().iter().map(all_seen).collect() }
    }

    /// The keys of stored documents that roles keep from somebody, and the names of such files.
    pub(crate) fn kept_from(&self, access: &Access) -> HashSet<&str> {
        self.hidden(&self.role_limits(access))
    }

    /// The keys of stored documents that roles keep from somebody, and the names of such files.
    fn hidden(&self, limits: &RoleLimits<'_>) -> HashSet<&str> {
        if limits.0.is_empty() {
            return HashSet::new();
        }
        let files = self.loaded.snapshot.files().iter().map(|(_, file)| file);
        let shows = |document: Value<'_>| {
            work::step();
            limits.show(document)
        };
        let hidden = files.filter(|file| !documents_of(file).into_iter().all(shows));
        hidden.map(|file| file.name.strip_prefix(STORED).unwrap_or(&file.name)).collect()
    }

    /// The view of a part of its documents.
    pub(crate) fn part(&self, seen: &Seen) -> Result<Self, Box<Broken>> {
        let state = self.state.part(|key| {
            work::step();
            seen.stored.contains(key)
        });
        let files = self.files.part(|place| seen.files.get(place).copied().unwrap_or_default());
        Self::build(Arc::new(state), files, &self.choices)
    }

    /// What sort of thing a type of documents is.
    pub(crate) fn sort_of(&self, kind: &str) -> Sort {
        sort(&self.types_of_policies(), kind)
    }

    fn types_of_policies(&self) -> HashSet<&str> {
        let snapshot = &self.loaded.snapshot;
        snapshot.kinds().as_slice().iter().map(|kind| snapshot.text(kind.governs)).collect()
    }
}

fn documents_of(file: &File) -> Vec<Value<'_>> {
    let mut documents = Vec::new();
    file.tree.documents().for_each(|document| flatten(document, &mut documents));
    documents
}

fn sort(policies: &HashSet<&str>, kind: &str) -> Sort {
    if policies.contains(kind) { Sort::Policy } else { Sort::Object }
}
