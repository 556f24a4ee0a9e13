//! Policies that decide requests: those without a type, and those of kinds with a name.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::decide::Decide;
use upheld_engine::{DecideKind, PolicyKind, Snapshot};
use upheld_model::{Diagnostics, Files, NodeRef, Policy, Says, SourceId, Sym, Symbols};

use super::Reading;
use crate::access::claim::{Claim, is_named};
use crate::access::manifest::Manifest;
use crate::access::policy_set::{PolicySet, PolicySetBuilder, Withdrawn};
use crate::access::shapes::Fields;
use crate::access::{Edition, POLICY, Seeds};
use crate::document::{Header, Resource, Shapes};
use crate::shape::Checker;

/// Collects the policies of all kinds that decide.
pub(super) struct Decisions<'f> {
    files: &'f Files,
    seeds: Seeds,
    kinds: Vec<OfKind<'f>>,
}

struct OfKind<'f> {
    at: NodeRef,
    name: Sym,
    governs: Sym,
    /// The type of its documents.
    typed: String,
    shapes: Shapes,
    builder: PolicySetBuilder<'f>,
}

/// What the documents about deciding requests come to.
#[derive(Clone, Debug, Default)]
pub struct Deciding {
    /// The policies of every kind that has any, by its name.
    sets: Vec<(Sym, PolicySet)>,
    /// The files that manifests name for their seeds.
    seed_files: Vec<SmolStr>,
}

/// Where some documents about deciding requests stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// Those without a type.
    pub(super) untyped: Vec<(NodeRef, Claim)>,
    /// Those with the type of a kind.
    pub(super) typed: Vec<NodeRef>,
}

impl Written {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.untyped.is_empty() && self.typed.is_empty()
    }
}

impl Deciding {
    /// The policies of every kind that has any.
    pub fn decides(&self) -> impl Iterator<Item = (Sym, Arc<Decide>)> {
        self.sets.iter().map(|(kind, set)| (*kind, Arc::clone(&set.decide)))
    }

    /// The files that manifests name for their seeds.
    pub(super) fn seed_files(&self) -> &[SmolStr] {
        &self.seed_files
    }

    /// The settings beside them.
    pub fn manifests(&self) -> impl Iterator<Item = (Sym, Arc<Manifest>)> {
        self.sets.iter().map(|(kind, set)| (*kind, Arc::clone(&set.manifest)))
    }
}

impl<'f> Decisions<'f> {
    /// For the kinds in force.
    pub(super) fn new<'k>(
        reading: Reading<'_>,
        files: &'f Files,
        kinds: impl IntoIterator<Item = &'k PolicyKind>,
        symbols: &Symbols,
    ) -> Self {
        let kinds = kinds.into_iter().filter_map(|kind| Some((kind, kind.decide()?)));
        let kinds = kinds.map(|(kind, decide)| of_kind(files, kind, decide, reading, symbols));
        Decisions { seeds: reading.seeds, files, kinds: kinds.collect() }
    }

    /// Reuses policies that were read before: those of sources that are the same.
    pub(super) fn reusing(mut self, before: &'f Snapshot, same: impl Fn(SourceId) -> bool) -> Self {
        let kinds = self.kinds.into_iter().map(|kind| {
            // Symbols of another snapshot may be others; documents have their places.
            let known = before.decides().find(|(id, _)| before.kind(*id).is_some_and(|known| known.at == kind.at));
            match known {
                Some((_, decide)) => OfKind { builder: kind.builder.reusing(decide, before.files(), &same), ..kind },
                None => kind,
            }
        });
        self.kinds = kinds.collect();
        self
    }
}

impl Reading<'_> {
    /// How access policies are read.
    pub(super) fn edition(self) -> Edition {
        self.semantics.iter().find_map(|name| Edition::of(name)).unwrap_or_default()
    }
}

fn of_kind<'f>(
    files: &'f Files,
    kind: &PolicyKind,
    decide: &DecideKind,
    reading: Reading<'_>,
    symbols: &Symbols,
) -> OfKind<'f> {
    let typed = symbols.text(kind.governs).to_owned();
    // Kinds of users have no original to be compatible with.
    let edition = if typed == POLICY { reading.edition() } else { Edition::Strict };
    let fields = Fields::of_kind(decide, symbols);
    let shapes = Shapes::new(&fields.body());
    let builder = PolicySetBuilder::new(files, edition, fields, decide.algorithm, decide.default);
    let builder = builder.with_seeds(reading.seeds);
    OfKind { at: kind.at, name: kind.name, governs: kind.governs, typed, shapes, builder }
}

impl Decisions<'_> {
    /// Reads documents without a type. What manifests name for their seeds is left out where seeds are apart.
    pub(super) fn untyped(&mut self, documents: &[(NodeRef, Claim)], seed_files: &[SmolStr], found: &mut Diagnostics) {
        let Some(kind) = self.kinds.iter_mut().find(|kind| kind.typed == POLICY) else { return };
        for (at, claim) in documents.iter().filter(|(at, _)| !is_apart(*at, self.seeds, seed_files, self.files)) {
            if let Some(document) = self.files.value(*at) {
                kind.builder.document(at.source, document, *claim, found);
            }
        }
    }

    /// Whether the documents of a type are about deciding requests.
    pub(super) fn know(&self, header: Header<'_>) -> bool {
        let resource = Resource::with_header(header);
        resource.is_some_and(|resource| self.kinds.iter().any(|kind| kind.typed == resource.kind.text()))
    }

    /// Reads the document at a place, which has the type of one of the kinds.
    pub(super) fn typed_at(&mut self, at: NodeRef, found: &mut Diagnostics) {
        if let Some(document) = self.files.value(at) {
            self.typed(at.source, Header::of(document), found);
        }
    }

    /// Reads a document with the type of one of the kinds; whether it was one.
    pub(super) fn typed(&mut self, source: SourceId, header: Header<'_>, found: &mut Diagnostics) -> bool {
        let Some(resource) = Resource::with_header(header) else { return false };
        let Some(kind) = self.kinds.iter_mut().find(|kind| kind.typed == resource.kind.text()) else { return false };
        let at = NodeRef { source, node: resource.document.number() };
        if kind.builder.as_before(at, found) {
            return true;
        }
        if Checker::new(source, found).check(resource.document, kind.shapes.of(resource.form))
            && let Some(body) = resource.body()
        {
            kind.builder.named(source, body, &resource.name(), at, found);
        }
        true
    }

    /// The policies of every kind that has any, all documents having been read.
    pub(super) fn finish(self, seed_files: Vec<SmolStr>) -> Deciding {
        let some = self.kinds.into_iter().filter(|kind| !kind.builder.is_empty());
        Deciding { sets: some.map(|kind| (kind.name, kind.builder.finish())).collect(), seed_files }
    }

    /// What was decided by before, after some of its documents are gone and those came that were read, and nothing else. Nothing
    /// where this needs all the others as well.
    pub(super) fn after(self, before: &Deciding, before_files: &Files, gone: &Written) -> Option<Deciding> {
        let mut sets = Vec::with_capacity(before.sets.len());
        for kind in self.kinds {
            let withdrawn = kind.withdrawn(gone, before_files, self.seeds, &before.seed_files);
            match before.sets.iter().find(|(name, _)| *name == kind.name) {
                Some((name, set)) => sets.push((*name, set.after(&withdrawn, kind.builder, before_files)?)),
                None if kind.builder.is_empty() => {}
                None => return None,
            }
        }
        Some(Deciding { sets, seed_files: before.seed_files.clone() })
    }

    /// The policies that were read, as they are listed with all others.
    pub(super) fn list(&self, mut intern: impl FnMut(&str) -> Sym, listed: &mut Vec<Policy>) {
        for OfKind { governs, builder, .. } in self.kinds.iter().filter(|kind| !kind.builder.is_empty()) {
            let scope = intern(crate::access::SCOPE);
            for (id, at) in builder.policies() {
                let name = intern(id);
                let (kind, title, says) = (*governs, name, Says::Document);
                listed.push(Policy { kind, scope, name, title, created: None, at, payload: None, says });
            }
        }
    }
}

impl OfKind<'_> {
    /// What documents of the kind said that are gone.
    fn withdrawn(&self, gone: &Written, before: &Files, seeds: Seeds, seed_files: &[SmolStr]) -> Withdrawn {
        let mut withdrawn = Withdrawn::default();
        let own = |(at, _): &&(NodeRef, Claim)| self.typed == POLICY && !is_apart(*at, seeds, seed_files, before);
        for (at, claim) in gone.untyped.iter().filter(own) {
            if let Some(document) = before.value(*at) {
                withdrawn.document(at.source, document, *claim);
            }
        }
        for at in &gone.typed {
            let resource = before.value(*at).and_then(Resource::of);
            if let Some(resource) = resource.filter(|resource| self.typed == resource.kind.text()) {
                withdrawn.named(&resource.name(), *at);
            }
        }
        withdrawn
    }
}

/// Whether a document is in a file that a manifest names for its seeds, and such files are left out.
fn is_apart(at: NodeRef, seeds: Seeds, seed_files: &[SmolStr], files: &Files) -> bool {
    let is_one = |file: &str| seed_files.iter().any(|named| is_named(file, named));
    seeds == Seeds::Apart && files.get(at.source).is_some_and(|file| is_one(&file.name))
}

/// The files that manifests name for their seeds.
pub(super) fn seed_files(files: &Files, documents: &[(NodeRef, Claim)]) -> Vec<SmolStr> {
    let manifests = documents.iter().filter(|(_, claim)| *claim == Claim::Manifest);
    let named = manifests.filter_map(|(at, _)| files.value(*at)?.at_path(&["policySeed", "file"])?.as_text());
    named.map(SmolStr::new).collect()
}
