//! Meshes that no document describes. In a running system every mesh exists; in a folder of manifests its document is often
//! left out.

use std::collections::BTreeSet;

use upheld_model::{Diagnostics, Files};

use super::resources::ResourceType;
use crate::document::Resource;
use crate::recognise::{documents, has_target_refs};

/// How the file with these documents is called.
pub const FILE: &str = "(implied)";

/// What a document has to do with the existence of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stake {
    /// It describes one.
    Describes,
    /// It is a policy that lives in one.
    Uses,
}

pub(crate) fn stake(resource: Resource<'_>) -> Option<Stake> {
    let kind = resource.kind.text();
    if kind == ResourceType::Mesh.name() {
        return Some(Stake::Describes);
    }
    let lives = has_target_refs(resource) || (kind.starts_with("Mesh") && resource.spec().is_some());
    lives.then_some(Stake::Uses)
}

/// Documents for the meshes of policies with target references that have none. `None` if all are described.
pub fn meshes(files: &Files) -> Option<String> {
    let (mut described, mut used): (BTreeSet<String>, BTreeSet<String>) = (BTreeSet::new(), BTreeSet::new());
    // What is wrong with documents is told when they are recognised.
    for (_, header) in documents(files, &mut Diagnostics::default()).typed {
        let Some(resource) = Resource::with_header(header) else { continue };
        match stake(resource) {
            Some(Stake::Describes) => drop(described.insert(resource.name().into_owned())),
            Some(Stake::Uses) => drop(used.insert(resource.mesh().to_owned())),
            None => {}
        }
    }
    let quoted = |name: &String| format!("type: Mesh\nname: {}\n", serde_json::Value::from(name.as_str()));
    let documents: Vec<String> = used.difference(&described).map(quoted).collect();
    (!documents.is_empty()).then(|| documents.join("---\n"))
}
