//! Who the documents of Kuma are, and those of users' kinds in the same form: their mesh and name tell them apart.

use rustc_hash::FxHashMap;
use upheld_engine::PolicyKind;
use upheld_model::tree::Value;

use super::meta::mesh_of;
use super::reader::{Maker, is_own};
use super::resources::ResourceType;
use super::{GROUP, OTHER_TYPES};
use crate::document::Resource;
use crate::identity::{Identify, Identity, KindsInForce, Named, Whose, in_mesh};

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

    /// Who a resource is, if it is one of these.
    fn of(&self, resource: Resource<'_>) -> Option<Named> {
        let kind = resource.kind.text();
        // Other systems have types of the same name; those of users are theirs, whatever the group.
        let foreign = resource.group().is_some_and(|group| group != GROUP);
        let has =
            |types: &FxHashMap<&str, Maker>| types.get(kind).is_some_and(|maker| !foreign || *maker == Maker::User);
        if has(&self.selecting) {
            return Some(in_mesh(resource, resource.mesh()));
        }
        if has(&self.layered) {
            return Some(in_mesh(resource, mesh_of(resource)));
        }
        match ResourceType::of(kind) {
            _ if foreign => None,
            // A mesh is in itself.
            Some(ResourceType::Mesh) => Some(in_mesh(resource, &resource.name())),
            Some(_) => Some(in_mesh(resource, mesh_of(resource))),
            None if resource.group().is_some() || OTHER_TYPES.contains(&kind) => Some(unread(resource)),
            None => None,
        }
    }
}

impl Identify for KumaDocuments<'_> {
    fn identity(&self, document: Value<'_>) -> Whose {
        let Some(resource) = Resource::of(document) else { return Whose::Others };
        self.of(resource).map_or(Whose::Others, Whose::Own)
    }
}

/// What is not read here has the group in its type: others have secrets, too.
fn unread(resource: Resource<'_>) -> Named {
    let Identity { kind, scope, name } = in_mesh(resource, mesh_of(resource))?;
    Ok(Identity { kind: format!("{kind}.{GROUP}"), scope, name })
}
