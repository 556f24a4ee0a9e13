//! Who the documents of Kuma are, and those of users' kinds in the same form: their mesh and name tell them apart.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use upheld_engine::PolicyKind;
use upheld_model::tree::Value;

use super::meta::mesh_of;
use super::reader::{Maker, is_own};
use super::resources::ResourceType;
use super::{GROUP, OTHER_TYPES};
use crate::document::Resource;
use crate::identity::{Identify, KindsInForce, Whose, in_mesh};

/// Says who the documents of Kuma are.
pub(super) struct KumaDocuments<'k> {
    /// The types of policies with sources and destinations.
    selecting: FxHashMap<&'k str, Maker>,
    /// Those of policies with target references.
    layered: FxHashMap<&'k str, Maker>,
}

impl<'k> KumaDocuments<'k> {
    pub(super) fn new(kinds: KindsInForce<'k>) -> Self {
        let types = |are: fn(&PolicyKind) -> bool| {
            let mut types = FxHashMap::default();
            for kind in kinds.kinds.iter().filter(|kind| are(kind)) {
                let maker = types.entry(kinds.symbols.text(kind.governs)).or_insert(Maker::Builtin);
                if !kinds.is_builtin(kind.at) {
                    *maker = Maker::User;
                }
            }
            types.retain(|governs, _| is_own(governs));
            types
        };
        Self { selecting: types(|kind| kind.select().is_some()), layered: types(|kind| kind.merge().is_some()) }
    }

    /// The mesh that tells a document apart, if it is one of these.
    fn mesh<'t>(&self, resource: Resource<'t>) -> Option<Cow<'t, str>> {
        let kind = resource.kind.text();
        // Other systems have types of the same name; those of users are theirs, whatever the group.
        let foreign = resource.group().is_some_and(|group| group != GROUP);
        let has =
            |types: &FxHashMap<&str, Maker>| types.get(kind).is_some_and(|maker| !foreign || *maker == Maker::User);
        if has(&self.selecting) {
            return Some(resource.mesh().into());
        }
        let known = || resource.group().is_some() || ResourceType::of(kind).is_some() || OTHER_TYPES.contains(&kind);
        if !has(&self.layered) && (foreign || !known()) {
            return None;
        }
        // A mesh is in itself.
        Some(if kind == ResourceType::Mesh.name() { resource.name() } else { mesh_of(resource).into() })
    }
}

impl Identify for KumaDocuments<'_> {
    fn identity(&self, document: Value<'_>) -> Whose {
        let Some(resource) = Resource::of(document) else { return Whose::Others };
        self.mesh(resource).map_or(Whose::Others, |mesh| Whose::Own(in_mesh(resource, &mesh)))
    }
}
