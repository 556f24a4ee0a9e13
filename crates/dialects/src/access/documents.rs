//! Who documents about access are.

use std::collections::BTreeSet;

use upheld_model::tree::Value;

use super::authzen::directory::DIRECTORY;
use super::claim::{Claim, POLICY_SET, claim};
use super::reader::is_owned_by_another;
use super::{MANIFEST, POLICY, SCOPE};
use crate::document::{Form, Resource};
use crate::identity::{Identify, KindsInForce, Named, Nameless, Whose, named, own_name, text};

/// Says who documents about access are.
pub(super) struct AccessDocuments<'k> {
    /// The types of kinds that decide.
    types: BTreeSet<&'k str>,
}

impl<'k> AccessDocuments<'k> {
    pub(super) fn new(kinds: KindsInForce<'k>) -> Self {
        let deciding = kinds.kinds.iter().filter(|kind| kind.decide().is_some());
        let types = deciding.map(|kind| kinds.symbols.text(kind.governs));
        Self { types: types.filter(|typed| !is_owned_by_another(typed)).collect() }
    }
}

impl Identify for AccessDocuments<'_> {
    fn identity(&self, document: Value<'_>) -> Whose {
        // What the file is called does not matter for who a document is.
        if let Some(claim) = claim(document, "") {
            return Whose::Own(claimed(document, claim));
        }
        match Resource::of(document).filter(|resource| self.types.contains(resource.kind.text())) {
            Some(resource) => Whose::Own(typed(resource)),
            None => Whose::Others,
        }
    }
}

fn claimed(document: Value<'_>, claim: Claim) -> Named {
    // Of what has no name there is one.
    let or = |kind: &str, usual: &str| named(kind, SCOPE, own_name(document).unwrap_or(usual));
    let own = |kind: &str, field: &str| match text(document, field).or_else(|| own_name(document)) {
        Some(name) => named(kind, SCOPE, name),
        None => Err(Nameless::lacks(kind, [field])),
    };
    match claim {
        Claim::Policy => own(POLICY, "id"),
        Claim::Set => own(POLICY_SET, "id"),
        Claim::Manifest => or(MANIFEST, "manifest"),
        Claim::Directory => or(DIRECTORY, "directory"),
        Claim::List => Err(Nameless::Several),
    }
}

/// A policy of a kind with a name; on Kubernetes, its name has the namespace in it.
fn typed(resource: Resource<'_>) -> Named {
    let kind = resource.kind.text();
    match resource.form {
        _ if resource.has_name() => named(kind, SCOPE, &resource.name()),
        Form::Universal => Err(Nameless::lacks(kind, ["name"])),
        Form::Kubernetes => Err(Nameless::lacks(kind, ["metadata.name"])),
    }
}
