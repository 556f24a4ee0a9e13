//! Reads Kuma's objects and policies, and policies of users' kinds of the families select and merge, which have the same form.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use upheld_engine::{PolicyKind, Snapshot, work};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Files, NodeRef, SourceId, Symbols};

use super::changed::Changed;
use super::control_plane::{Stamps, zone_of};
use super::edition::Edition;
use super::layered::{self, Others, Written};
use super::meta::mesh_of;
use super::resources::{ObjectReader, ResourceType};
use super::{GROUP, served};
use crate::dialect::{Document, Known, Opening, Reader, Side, Taken, dialects};
use crate::document::{Form, Resource, Shapes};
use crate::recognise::{Reading, Recognised, is_builtin};
use crate::schemas;
use crate::select_policy::PolicyReader;
use crate::shape::Shape;

/// Takes documents, and reads them when all are there.
pub(super) struct KumaReader<'f> {
    reading: Reading<'f>,
    files: &'f Files,
    known: Known<'f>,
    readers: Readers,
    came: Vec<(SourceId, Resource<'f>)>,
    /// What documents mean for others, where only some are read.
    changed: Option<Changed<'f>>,
}

/// Who made a kind. Other systems have types with the names of Kuma's; the types of users are theirs, whatever the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    Builtin,
    User,
}

/// One reader for each type.
struct Readers {
    policies: FxHashMap<String, (PolicyReader, Maker)>,
    layered: FxHashMap<String, (PolicyKind, Maker)>,
    objects: [ObjectReader; 9],
}

/// Who reads a document.
enum ReadBy<'r> {
    Policies(&'r PolicyReader),
    Layered(&'r PolicyKind),
    Objects(&'r ObjectReader),
}

impl<'f> KumaReader<'f> {
    pub(super) fn new(opening: Opening<'f, '_>) -> Self {
        let Opening { reading, files, kinds, symbols, known, .. } = opening;
        let changed = match known {
            Known::Unchanged(before, changed) => Some(Changed::new(before, changed)),
            Known::Nothing | Known::Reusable(_) => None,
        };
        Self { reading, files, known, readers: Readers::new(files, kinds, symbols), came: Vec::new(), changed }
    }
}

impl<'f> Reader<'f> for KumaReader<'f> {
    fn see(&mut self, document: &Document<'f>, side: Side) {
        if let (Some(changed), Some(resource)) = (&mut self.changed, document.resource()) {
            changed.see(resource, side);
        }
    }

    fn take(&mut self, document: &Document<'f>, side: Side) -> Taken {
        let Some(resource) = document.resource().filter(|resource| self.readers.of(*resource).is_some()) else {
            return Taken::No;
        };
        if side == Side::Came {
            self.came.push((document.source, resource));
        }
        Taken::Yes
    }

    fn words(&self) -> Vec<String> {
        let Readers { policies, layered, .. } = &self.readers;
        let types = ResourceType::ALL.map(|kind| kind.name().to_owned());
        policies.keys().chain(layered.keys()).cloned().chain(types).collect()
    }

    fn finish(self: Box<Self>, recognised: &mut Recognised) -> Option<()> {
        let Self { reading, files, known, readers, came, changed } = *self;
        changed.map_or(Some(()), Changed::check)?;
        let stamps = match known {
            // What is added to others is not another because of these, or all are read.
            Known::Unchanged(before, _) => Stamps::of(before.snapshot).clone(),
            Known::Nothing | Known::Reusable(_) => {
                let zones = came.iter().filter_map(|(_, resource)| zone_of(*resource)).map(str::to_owned);
                let stamps = Stamps::new(reading.settings, zones.collect());
                recognised.keep(stamps.clone());
                stamps
            }
        };
        recognised.draft.policies.reserve(came.len());
        let mut layered = Vec::new();
        for (source, resource) in &came {
            work::step();
            if let Some(written) = readers.read(files, *source, *resource, &stamps, recognised) {
                layered.push(written);
            }
        }
        let edition = reading.semantics.iter().find_map(|name| Edition::of(name)).unwrap_or(Edition::V2);
        let Recognised { draft, diagnostics, .. } = recognised;
        let others = match known {
            Known::Unchanged(before, changed) => Some(Others { snapshot: before.snapshot, changed }),
            Known::Nothing | Known::Reusable(_) => {
                served::attach(files, edition, &stamps, &mut draft.objects, &mut draft.symbols);
                None
            }
        };
        layered::read_all(files, &layered, edition, &stamps, others, draft, diagnostics);
        Some(())
    }
}

impl Readers {
    fn new(files: &Files, kinds: &[PolicyKind], symbols: &Symbols) -> Self {
        let maker = |kind: &PolicyKind| if is_builtin(files, kind.at) { Maker::Builtin } else { Maker::User };
        let mut layered = FxHashMap::default();
        let own = kinds.iter().filter(|kind| is_own(symbols.text(kind.governs)));
        for kind in own.filter(|kind| kind.merge().is_some()) {
            layered.insert(symbols.text(kind.governs).to_owned(), (kind.clone(), maker(kind)));
        }
        let selecting = selecting(kinds, symbols).into_iter().map(|(name, kinds)| {
            let user = kinds.iter().any(|kind| maker(kind) == Maker::User);
            let maker = if user { Maker::User } else { Maker::Builtin };
            (name.to_owned(), (PolicyReader::new(&kinds, symbols), maker))
        });
        Self { policies: selecting.collect(), layered, objects: ResourceType::ALL.map(ObjectReader::new) }
    }

    /// Who reads a document, if anybody does.
    fn of(&self, resource: Resource<'_>) -> Option<ReadBy<'_>> {
        let name = resource.kind.text();
        // Other systems have types of the same name.
        let foreign = resource.group().is_some_and(|group| group != GROUP);
        let reads = |maker: Maker| !foreign || maker == Maker::User;
        if let Some((reader, _)) = self.policies.get(name).filter(|(_, maker)| reads(*maker)) {
            return Some(ReadBy::Policies(reader));
        }
        if let Some((kind, _)) = self.layered.get(name).filter(|(_, maker)| reads(*maker)) {
            return Some(ReadBy::Layered(kind));
        }
        self.objects.iter().find(|reader| reader.kind.name() == name && !foreign).map(ReadBy::Objects)
    }

    /// Reads a document; policies with target references are given back, since they are read when all others are.
    fn read<'t>(
        &self,
        files: &Files,
        source: SourceId,
        resource: Resource<'t>,
        stamps: &Stamps,
        recognised: &mut Recognised,
    ) -> Option<Written<'t, '_>> {
        let Recognised { draft, diagnostics, .. } = &mut *recognised;
        match self.of(resource)? {
            ReadBy::Policies(reader) => {
                let policy = reader.read(source, resource, draft, diagnostics)?;
                let identity = (policy.kind, policy.scope, policy.name);
                if recognised.is_new(files, identity, policy.at, MESH) {
                    recognised.draft.policies.push(policy);
                }
                None
            }
            ReadBy::Layered(kind) => {
                let symbols = &mut draft.symbols;
                let [typed, scope] = [resource.kind.text(), mesh_of(resource)].map(|text| symbols.intern(text));
                let identity = (typed, scope, symbols.intern(&resource.name()));
                let at = NodeRef { source, node: resource.document.number() };
                recognised.is_new(files, identity, at, MESH).then_some(Written { source, resource, kind })
            }
            ReadBy::Objects(reader) => {
                let object = reader.read(source, resource, stamps, draft, diagnostics)?;
                let identity = (object.kind, object.scope, object.name);
                if recognised.is_new(files, identity, object.at, MESH) {
                    recognised.draft.objects.push(object);
                }
                None
            }
        }
    }
}

/// What scopes are called.
const MESH: &str = "mesh";

/// Whether documents of a type have this form.
pub(super) fn is_own(kind: &str) -> bool {
    !dialects().any(|dialect| dialect.owns_type(kind))
}

/// Kinds that select, by the type that they govern.
fn selecting<'k>(kinds: &'k [PolicyKind], symbols: &'k Symbols) -> BTreeMap<&'k str, Vec<&'k PolicyKind>> {
    let mut by_type: BTreeMap<&str, Vec<&PolicyKind>> = BTreeMap::new();
    let own = kinds.iter().filter(|kind| kind.select().is_some() && is_own(symbols.text(kind.governs)));
    for kind in own {
        by_type.entry(symbols.text(kind.governs)).or_default().push(kind);
    }
    by_type
}

/// What documents look like, by type.
pub(super) fn shapes(snapshot: &Snapshot) -> Vec<(String, Vec<Shape>)> {
    let both = |shapes: &Shapes| [Form::Universal, Form::Kubernetes].map(|form| shapes.of(form).clone()).to_vec();
    let (kinds, symbols) = (snapshot.kinds().as_slice(), snapshot.symbols());
    let mut all: Vec<(String, Vec<Shape>)> = Vec::new();
    for kind in kinds.iter().filter(|kind| is_own(symbols.text(kind.governs))) {
        if let Some(merge) = kind.merge() {
            let governs = symbols.text(kind.governs);
            let mut forms = both(&layered::shapes(merge, symbols));
            if let Some(spec) = schemas::known(GROUP, governs).filter(|_| is_builtin(snapshot.files(), kind.at)) {
                forms = forms.iter().map(|form| form.with_spec(spec)).collect();
            }
            all.push((governs.to_owned(), forms));
        }
    }
    for (name, kinds) in selecting(kinds, symbols) {
        let reader = PolicyReader::new(&kinds, symbols);
        let forms = [Form::Universal, Form::Kubernetes].map(|form| reader.shape(form).clone());
        all.push((name.to_owned(), forms.to_vec()));
    }
    all.extend(ResourceType::ALL.map(|kind| (kind.name().to_owned(), both(&kind.shapes()))));
    all
}

/// Whether a document has the fields of a policy with target references.
pub(super) fn has_target_refs(resource: Resource<'_>) -> bool {
    let Some(spec) = resource.spec() else { return false };
    let item = |name: &str| spec.get(name).and_then(|list| list.items().next());
    let has = |item: Option<Value<'_>>| item.is_some_and(|item| item.get("targetRef").is_some());
    has(Some(spec)) || has(item("to")) || has(item("from"))
}

/// Whether a document has fields of a policy or an object.
pub(super) fn resembles(document: Value<'_>) -> bool {
    let fields = ["mesh", "sources", "destinations", "selectors", "networking", "conf", "spec", "targetRef"];
    let names_a_type = |value: Value<'_>| value.kind() == Kind::Text && ResourceType::of(value.text()).is_some();
    fields.iter().any(|field| document.get(field).is_some()) || document.entries().any(|(_, value)| names_a_type(value))
}
