//! Meshes that no document describes. In a running system every mesh exists; in a folder of manifests its document is often
//! left out.

use std::collections::BTreeSet;

use super::GROUP;
use super::meta::mesh_of;
use super::reader::has_target_refs;
use super::resources::ResourceType;
use crate::dialect::Document;
use crate::document::Resource;
use crate::recognise::Documents;

/// What a document has to do with the existence of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stake {
    /// It describes one.
    Describes,
    /// It is a policy that lives in one.
    Uses,
}

pub(crate) fn stake(resource: Resource<'_>) -> Option<Stake> {
    // Other systems have meshes and target references, too.
    if resource.group().is_some_and(|group| group != GROUP) {
        return None;
    }
    let kind = resource.kind.text();
    if kind == ResourceType::Mesh.name() {
        return Some(Stake::Describes);
    }
    let lives = has_target_refs(resource) || (kind.starts_with("Mesh") && resource.spec().is_some());
    lives.then_some(Stake::Uses)
}

/// Whether a mesh exists that no document describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meshes {
    /// It does, if a policy with target references lives there: folders often leave it out.
    #[default]
    Implied,
    /// It does not.
    Described,
}

/// Documents for the meshes of policies with target references that have none. `None` if all are described.
pub(super) fn meshes(documents: &Documents<'_>, choice: Meshes) -> Option<String> {
    if choice == Meshes::Described {
        return None;
    }
    let (mut described, mut used): (BTreeSet<String>, BTreeSet<String>) = (BTreeSet::new(), BTreeSet::new());
    for resource in documents.typed().filter_map(Document::resource) {
        match stake(resource) {
            Some(Stake::Describes) => drop(described.insert(resource.name().into_owned())),
            Some(Stake::Uses) => drop(used.insert(mesh_of(resource).to_owned())),
            None => {}
        }
    }
    let quoted = |name: &String| format!("type: Mesh\nname: {}\n", serde_json::Value::from(name.as_str()));
    let documents: Vec<String> = used.difference(&described).map(quoted).collect();
    (!documents.is_empty()).then(|| documents.join("---\n"))
}
