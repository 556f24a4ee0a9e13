//! What policies see of the objects there are: only to tell which of their references mean nothing.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use upheld_engine::merge::Targets;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::layers::Reference;
use upheld_model::{Draft, Object, Part, SourceId, Sym, Symbols};

use crate::kuma::SERVICE_TAGS;
use crate::kuma::kri::Kri;
use crate::kuma::meta::fact;

/// Objects of a snapshot, without those that changed files described.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Others<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) changed: &'s BTreeSet<SourceId>,
}

impl<'s> Others<'s> {
    fn iter(self) -> impl Iterator<Item = &'s Object> {
        let all = self.snapshot.objects().iter().map(|(_, object)| object);
        all.filter(move |object| !self.changed.contains(&object.at.source))
    }

    /// What references mean, with the objects of a draft as well. These get ids that no other has: here it counts only whether
    /// a reference means anything.
    fn targets(self, draft: &Draft) -> Targets {
        let objects = self.snapshot.objects();
        let mut targets = self.snapshot.targets().cloned().unwrap_or_else(|| Targets::new(objects.iter()));
        let gone: Vec<(ObjectId, &Object)> =
            self.changed.iter().flat_map(|source| objects.of_source(*source)).collect();
        let ids = (0..u32::MAX as usize).rev().map(ObjectId::new);
        let came: Vec<(ObjectId, &Object)> = ids.zip(draft.objects.as_slice()).collect();
        targets.change(&gone, &came);
        targets
    }

    /// Whether some proxy offers a service by its tag.
    pub(crate) fn offer(self, mesh: Sym, service: Sym) -> bool {
        let key = self.snapshot.symbols().get(SERVICE_TAGS[0]);
        self.iter().any(|object| object.scope == mesh && services(object, key).any(|offered| offered == service))
    }
}

/// All objects: those of a draft, and others.
pub(super) struct Known<'d> {
    draft: &'d Draft,
    others: Option<Others<'d>>,
    targets: Targets,
    /// Services that some proxy offers by its tag, with their mesh.
    offered: OnceCell<FxHashSet<(Sym, Sym)>>,
}

impl<'d> Known<'d> {
    pub(super) fn new(draft: &'d Draft, others: Option<Others<'d>>) -> Self {
        let targets = others.map_or_else(|| Targets::new(draft.objects.iter()), |others| others.targets(draft));
        Self { draft, others, targets, offered: OnceCell::new() }
    }

    pub(super) fn symbols(&self) -> &'d Symbols {
        &self.draft.symbols
    }

    /// Whether a reference means something.
    pub(super) fn resolves(&self, reference: &Reference, scope: Sym) -> bool {
        !self.targets.resolve(reference, scope).is_empty()
    }

    /// Whether some proxy of a mesh offers a service by its tag.
    pub(super) fn is_offered(&self, mesh: Sym, service: Sym) -> bool {
        let key = self.symbols().get(SERVICE_TAGS[0]);
        let offered = || self.objects().flat_map(|object| services(object, key).map(|service| (object.scope, service)));
        self.offered.get_or_init(|| offered().collect()).contains(&(mesh, service))
    }

    /// The ports of what a reference to whole objects means.
    pub(super) fn ports(&self, reference: &Reference, scope: Sym) -> Vec<String> {
        let meant = |object: &&Object| {
            let has = |(key, value): &(Sym, Sym)| object.facts.get(*key).is_some_and(|fact| fact.value == Some(*value));
            object.kind == reference.kind && object.scope == scope && reference.facts.iter().all(has)
        };
        let parts = self.objects().filter(meant).flat_map(|object| &object.parts);
        let ports: BTreeSet<String> = parts.map(|part| self.symbols().text(part.section).to_owned()).collect();
        ports.into_iter().collect()
    }

    /// Something of the same type, mesh and name as what a reference names, and what that would be.
    pub(super) fn elsewhere(&self, reference: &Reference) -> Option<(Kri, Kri)> {
        let text = |symbol| self.symbols().text(symbol);
        let identifier = reference.facts.iter().find(|(key, _)| text(*key) == fact::KRI)?.1;
        let wanted = text(identifier).parse::<Kri>().ok()?;
        let key = self.symbols().get(fact::KRI)?;
        let identifiers = self.objects().filter(|object| object.kind == reference.kind);
        let kris = identifiers.filter_map(|object| text(object.facts.get(key)?.value?).parse::<Kri>().ok());
        let alike = kris.filter(|kri| kri.name == wanted.name && kri.mesh == wanted.mesh);
        Some((alike.min_by_key(ToString::to_string)?, wanted))
    }

    fn objects(&self) -> impl Iterator<Item = &'d Object> {
        self.others.into_iter().flat_map(Others::iter).chain(self.draft.objects.as_slice())
    }
}

/// The services that an object offers by the tag with this key.
pub(crate) fn services(object: &Object, key: Option<Sym>) -> impl Iterator<Item = Sym> {
    let value = move |part: &Part| part.tags.get(key?).and_then(|tag| tag.value);
    object.parts.iter().filter_map(value)
}
