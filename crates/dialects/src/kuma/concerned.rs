//! Which other files a change concerns: those of policies that may have to be warned of, or no more, because objects are others.
//!
//! Policies with target references are told when they refer to nothing. So what is told of them depends on the objects there
//! are, though nothing else of what they mean does.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use upheld_engine::merge::alike;
use upheld_engine::{Described, Identity, Snapshot};
use upheld_model::{Diagnostics, Draft, Fault, Files, Object, SourceId, Sym, Symbols};

use super::control_plane::Stamps;
use super::layered::{Others, services};
use super::resources::{ObjectReader, ResourceType};
use super::{GROUP, SERVICE_TAGS};
use crate::dialect::Document;
use crate::recognise::{Before, Documents, Kustomizations, changed_files};

/// Files with policies to which the objects of changed files make a difference. `None` if all policies must be looked at.
pub(super) fn concerned(before: Before<'_>, files: &Files, changed: &BTreeSet<SourceId>) -> Option<BTreeSet<SourceId>> {
    let snapshot = before.snapshot;
    let mut concerned = BTreeSet::new();
    if snapshot.merges().next().is_none() {
        return Some(concerned);
    }
    let objects = snapshot.objects();
    let old: Vec<&Object> =
        changed.iter().flat_map(|source| objects.of_source(*source)).map(|(_, object)| object).collect();
    let draft = objects_of(files, changed, snapshot);
    let new = draft.objects.as_slice();
    let key = draft.symbols.get(SERVICE_TAGS[0]);
    let offers = |object: &Object| services(object, key).collect::<BTreeSet<Sym>>();
    let same = |a: &Object, b: &&Object| alike(a, b) && offers(a) == offers(b);
    let [known, now] = [old.clone(), new.iter().collect()].map(by_identity);
    let gone = old.iter().filter(|object| !now.get(&object.identity()).is_some_and(|new| same(object, new)));
    let gone: Vec<&Object> = gone.copied().collect();
    let came = new.iter().any(|object| !known.get(&object.identity()).is_some_and(|old| same(object, old)));
    if gone.is_empty() && !came {
        return Some(concerned);
    }
    // Who is warned of may be right now.
    let dangling = before.warnings.as_slice().iter().filter(|warning| warning.fault == Fault::DanglingReference);
    concerned.extend(dangling.filter_map(|warning| Some(warning.label.as_ref()?.source)));
    let others = Others { snapshot, changed };
    for object in gone {
        // Who is right may be warned of now; but nobody is because of a mesh.
        let is_mesh = snapshot.text(object.kind) == ResourceType::Mesh.name();
        for (_, _, merge) in snapshot.merges().filter(|(_, scope, _)| !is_mesh && *scope == object.scope) {
            let entries = merge.referring_to(object).filter_map(|entry| merge.entry(entry));
            concerned.extend(entries.map(|entry| entry.at.source));
        }
        // Policies are not found by the services that they name.
        let still = |service: Sym| {
            let own = new.iter().filter(|own| own.scope == object.scope);
            own.flat_map(|own| services(own, key)).any(|own| own == service) || others.offer(object.scope, service)
        };
        if !services(object, key).all(still) {
            return None;
        }
    }
    Some(concerned)
}

/// The objects of changed files, as far as they can be read.
fn objects_of(files: &Files, changed: &BTreeSet<SourceId>, before: &Snapshot) -> Draft {
    let (stamps, kustomizations) = (Stamps::of(before), Kustomizations::in_snapshot(before));
    let mut draft = Draft { symbols: Symbols::clone(before.symbols()), ..Draft::default() };
    // What is wrong with them is told when they are read for good.
    let mut found = Diagnostics::default();
    let readers = ResourceType::ALL.map(ObjectReader::new);
    let documents = Documents::of(changed_files(files, changed), kustomizations, &mut found);
    for (source, resource) in documents.typed().filter_map(|one: &Document<'_>| Some((one.source, one.resource()?))) {
        let ours = resource.group().is_none_or(|group| group == GROUP);
        let reader = readers.iter().find(|reader| ours && reader.kind.name() == resource.kind.text());
        let object = reader.and_then(|reader| reader.read(source, resource, stamps, &mut draft, &mut found));
        draft.objects.extend(object);
    }
    draft
}

fn by_identity(objects: Vec<&Object>) -> FxHashMap<Identity, &Object> {
    objects.into_iter().map(|object| (object.identity(), object)).collect()
}
