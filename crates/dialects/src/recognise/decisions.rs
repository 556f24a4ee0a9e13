//! Policies that decide requests: those without a type, and those of kinds with a name.

use upheld_engine::{DecideKind, PolicyKind};
use upheld_model::tree::Value;
use upheld_model::{Diagnostics, Draft, Files, NodeRef, Policy, Says, SourceId, Sym, Symbols};

use super::Recognised;
use crate::access::book::{Book, Claim, Collector};
use crate::access::shapes::Fields;
use crate::access::{Edition, POLICY, Seeds};
use crate::document::{Header, Resource, Shapes};
use crate::shape::Checker;

/// Collects the policies of all kinds that decide.
pub(super) struct Decisions<'f> {
    kinds: Vec<OfKind<'f>>,
}

struct OfKind<'f> {
    name: Sym,
    governs: Sym,
    /// The type of its documents.
    typed: String,
    shapes: Shapes,
    collector: Collector<'f>,
}

impl Recognised {
    pub(super) fn decisions<'f>(&self, files: &'f Files, semantics: &[&str], seeds: Seeds) -> Decisions<'f> {
        let edition = semantics.iter().find_map(|name| Edition::of(name)).unwrap_or_default();
        let symbols = &self.draft.symbols;
        let kinds = self.kinds.iter().filter_map(|kind| Some((kind, kind.decide()?)));
        let kinds = kinds.map(|(kind, decide)| {
            let of_kind = of_kind(files, kind, decide, edition, symbols);
            OfKind { collector: of_kind.collector.with_seeds(seeds), ..of_kind }
        });
        Decisions { kinds: kinds.collect() }
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
    OfKind { name: kind.name, governs: kind.governs, typed, shapes, collector }
}

impl Decisions<'_> {
    /// Reads a document without a type.
    pub(super) fn document(&mut self, source: SourceId, document: Value<'_>, claim: Claim, found: &mut Diagnostics) {
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.typed == POLICY) {
            kind.collector.document(source, document, claim, found);
        }
    }

    /// Reads a document with the type of one of the kinds; whether it was one.
    pub(super) fn typed(&mut self, source: SourceId, header: Header<'_>, found: &mut Diagnostics) -> bool {
        let Some(resource) = Resource::with_header(header) else { return false };
        let Some(kind) = self.kinds.iter_mut().find(|kind| kind.typed == resource.kind.text()) else { return false };
        if Checker::new(source, found).check(resource.document, kind.shapes.of(resource.form))
            && let Some(body) = resource.body()
        {
            let at = NodeRef { source, node: resource.document.number() };
            kind.collector.named(source, body, &resource.name(), at, found);
        }
        true
    }

    /// The policies of every kind that has any; they are listed with all others.
    pub(super) fn finish(self, draft: &mut Draft) -> Vec<(Sym, Book)> {
        let mut books = Vec::new();
        for OfKind { name, governs, collector, .. } in self.kinds {
            if collector.is_empty() {
                continue;
            }
            let scope = draft.symbols.intern(crate::access::SCOPE);
            for (id, at) in collector.policies() {
                let id = draft.symbols.intern(id);
                draft.policies.push(Policy {
                    kind: governs,
                    scope,
                    name: id,
                    title: id,
                    created: None,
                    at,
                    payload: None,
                    says: Says::Document,
                });
            }
            books.push((name, collector.finish()));
        }
        books
    }
}
