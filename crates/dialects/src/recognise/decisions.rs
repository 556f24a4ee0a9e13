//! Policies that decide requests: those without a type, and those of kinds with a name.

use rustc_hash::{FxBuildHasher, FxHashSet};
use smol_str::SmolStr;
use upheld_engine::{DecideKind, PolicyKind, Snapshot};
use upheld_model::{Diagnostics, Files, NodeRef, Policy, Says, SourceId, Sym, Symbols};

use super::Reading;
use crate::access::book::{Book, Claim, Collector, is_named};
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
    collector: Collector<'f>,
}

/// Where documents about deciding requests stand.
#[derive(Clone, Debug, Default)]
pub struct Deciding {
    /// Those without a type.
    pub(super) untyped: Vec<(NodeRef, Claim)>,
    /// Those with the type of a kind.
    pub(super) typed: Vec<NodeRef>,
}

impl<'f> Decisions<'f> {
    /// For the kinds in force.
    pub(super) fn new<'k>(
        reading: Reading<'_>,
        files: &'f Files,
        kinds: impl IntoIterator<Item = &'k PolicyKind>,
        symbols: &Symbols,
    ) -> Self {
        let edition = reading.edition();
        let kinds = kinds.into_iter().filter_map(|kind| Some((kind, kind.decide()?)));
        let kinds = kinds.map(|(kind, decide)| {
            let of_kind = of_kind(files, kind, decide, edition, symbols);
            OfKind { collector: of_kind.collector.with_seeds(reading.seeds), ..of_kind }
        });
        Decisions { seeds: reading.seeds, files, kinds: kinds.collect() }
    }

    /// Knows policies that were read before: those of sources that are the same.
    pub(super) fn knowing(mut self, before: &'f Snapshot, same: impl Fn(SourceId) -> bool) -> Self {
        let kinds = self.kinds.into_iter().map(|kind| {
            // Symbols of another snapshot may be others; documents have their places.
            let known = before.decides().find(|(id, _)| before.kind(*id).is_some_and(|known| known.at == kind.at));
            match known {
                Some((_, decide)) => OfKind { collector: kind.collector.knowing(decide, &same), ..kind },
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
    edition: Edition,
    symbols: &Symbols,
) -> OfKind<'f> {
    let typed = symbols.text(kind.governs).to_owned();
    // Kinds of users have no original to be compatible with.
    let edition = if typed == POLICY { edition } else { Edition::Strict };
    let fields = Fields::of_kind(decide, symbols);
    let shapes = Shapes::new(&fields.body());
    let collector = Collector::new(files, edition, fields, decide.algorithm, decide.default);
    OfKind { at: kind.at, name: kind.name, governs: kind.governs, typed, shapes, collector }
}

impl Decisions<'_> {
    /// Reads documents without a type.
    pub(super) fn untyped(&mut self, documents: &[(NodeRef, Claim)], found: &mut Diagnostics) {
        let Some(kind) = self.kinds.iter_mut().find(|kind| kind.typed == POLICY) else { return };
        let apart = if self.seeds == Seeds::Apart { seed_files(self.files, documents) } else { Vec::new() };
        for (at, claim) in documents.iter().filter(|(at, _)| !apart.contains(&at.source)) {
            if let Some(document) = self.files.value(*at) {
                kind.collector.document(at.source, document, *claim, found);
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
        if kind.collector.as_before(at, found) {
            return true;
        }
        if Checker::new(source, found).check(resource.document, kind.shapes.of(resource.form))
            && let Some(body) = resource.body()
        {
            kind.collector.named(source, body, &resource.name(), at, found);
        }
        true
    }

    /// The policies of every kind that has any; they are listed with all others. Known ones are listed as they were, in
    /// the order in which they come.
    pub(super) fn finish(
        self,
        known: &[Policy],
        mut intern: impl FnMut(&str) -> Sym,
        listed: &mut Vec<Policy>,
    ) -> Vec<(Sym, Book)> {
        let mut books = Vec::new();
        for OfKind { name, governs, collector, .. } in self.kinds {
            if collector.is_empty() {
                continue;
            }
            let scope = intern(crate::access::SCOPE);
            let policies: Vec<(&SmolStr, NodeRef)> = collector.policies().collect();
            let mut new = FxHashSet::with_capacity_and_hasher(policies.len(), FxBuildHasher);
            new.extend(policies.iter().map(|(_, at)| *at));
            // The document at a place may be another one by now.
            let is_known = |policy: &&Policy| policy.kind == governs && collector.is_known(policy.at);
            for policy in known.iter().filter(is_known) {
                if new.remove(&policy.at) {
                    listed.push(policy.clone());
                }
            }
            for (id, at) in policies.into_iter().filter(|(_, at)| new.contains(at)) {
                let name = intern(id);
                let (title, says) = (name, Says::Document);
                listed.push(Policy { kind: governs, scope, name, title, created: None, at, payload: None, says });
            }
            books.push((name, collector.finish()));
        }
        books
    }
}

/// The files that manifests name for their seeds.
fn seed_files(files: &Files, documents: &[(NodeRef, Claim)]) -> Vec<SourceId> {
    let manifests = documents.iter().filter(|(_, claim)| *claim == Claim::Manifest);
    let named = manifests.filter_map(|(at, _)| files.value(*at)?.at_path(&["policySeed", "file"])?.as_text());
    let named: Vec<&str> = named.collect();
    if named.is_empty() {
        return Vec::new();
    }
    let is_one = |file: &str| named.iter().any(|named| is_named(file, named));
    files.iter().filter(|(_, file)| is_one(&file.name)).map(|(source, _)| source).collect()
}
