//! Who a resource is: labels, zone, namespace, and what references can see of it.

use std::borrow::Cow;

use upheld_engine::Snapshot;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId, Sym, Symbols, TagSet};

use super::control_plane::Stamps;
use super::kri::Kri;
use super::reader::has_target_refs;
use super::resources::ResourceType;
use crate::document::{DEFAULT_MESH, Form, Resource};

/// Labels that Kuma itself looks at.
pub mod label {
    /// Where it was created: `global` or `zone`.
    pub const ORIGIN: &str = "kuma.io/origin";
    /// The zone.
    pub const ZONE: &str = "kuma.io/zone";
    /// The namespace on Kubernetes.
    pub const NAMESPACE: &str = "k8s.kuma.io/namespace";
    /// The name that users gave it.
    pub const DISPLAY_NAME: &str = "kuma.io/display-name";
    /// On whose behalf a policy speaks.
    pub const ROLE: &str = "kuma.io/policy-role";
    /// `shadow` for policies that are only tried.
    pub const EFFECT: &str = "kuma.io/effect";
}

/// Facts that no label has. Their names cannot be labels.
pub mod fact {
    /// The identifier without a section.
    pub const KRI: &str = "@identifier";
    /// The display name, also where no label says it.
    pub const DISPLAY_NAME: &str = "@name";
    /// The zone to which policies of other zones do not reach.
    pub const ZONE: &str = "@zone";
    /// `Sidecar` or `Gateway`.
    pub const PROXY_TYPE: &str = "@proxy type";
    /// The gateway whose selectors have a proxy.
    pub const GATEWAY: &str = "@gateway";
    /// The same, for proxies that are built-in gateways.
    pub const BUILTIN_GATEWAY: &str = "@built-in gateway";
}

/// Who a resource is.
#[derive(Clone, Debug)]
pub struct Meta<'t> {
    /// Its type.
    pub kind: &'t str,
    /// Its mesh; empty for a mesh.
    pub mesh: &'t str,
    /// Its name; on Kubernetes with its namespace.
    pub name: Cow<'t, str>,
    /// Its labels in the order of the document.
    pub labels: Vec<(&'t str, &'t str)>,
}

impl<'t> Meta<'t> {
    /// Of a resource of a snapshot.
    pub fn known(snapshot: &'t Snapshot, resource: Resource<'t>) -> Self {
        Self::stamped(resource, Stamps::of(snapshot))
    }

    /// Of a resource with the labels that the control plane adds.
    pub fn stamped(resource: Resource<'t>, stamps: &'t Stamps) -> Self {
        let mut meta = Self::of(resource);
        for (key, value) in stamps.labels(resource) {
            meta.labels.push((key, value));
        }
        meta
    }

    /// Of a resource as it is written. On Kubernetes, namespace and display name are labels that follow from where it is.
    pub fn of(resource: Resource<'t>) -> Self {
        let labels = resource.labels().into_iter().flat_map(Value::entries);
        let mut labels: Vec<(&str, &str)> = labels.map(|(key, value)| (key.text(), value.text())).collect();
        if resource.form == Form::Kubernetes {
            let (name, namespace) = resource.kubernetes_name();
            for (key, value) in [(label::NAMESPACE, namespace), (label::DISPLAY_NAME, Some(name))] {
                if let Some(value) = value.filter(|_| !labels.iter().any(|(known, _)| *known == key)) {
                    labels.push((key, value));
                }
            }
        }
        let kind = resource.kind.text();
        let mesh = if kind == "Mesh" { "" } else { mesh_of(resource) };
        Self { kind, mesh, name: resource.name(), labels }
    }

    /// A label.
    pub fn label(&self, key: &str) -> Option<&'t str> {
        self.labels.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    }

    /// The name that users gave it.
    pub fn display_name(&self) -> &str {
        self.label(label::DISPLAY_NAME).filter(|name| !name.is_empty()).unwrap_or(&self.name)
    }

    /// Where it was created.
    pub fn origin(&self) -> Option<&'t str> {
        self.label(label::ORIGIN).filter(|origin| !origin.is_empty())
    }

    /// The zone.
    pub fn zone(&self) -> Option<&'t str> {
        self.label(label::ZONE).filter(|zone| !zone.is_empty())
    }

    /// The namespace.
    pub fn namespace(&self) -> Option<&'t str> {
        self.label(label::NAMESPACE).filter(|namespace| !namespace.is_empty())
    }

    /// The identifier.
    pub fn kri(&self) -> Kri {
        Kri {
            kind: self.kind.to_owned(),
            mesh: self.mesh.to_owned(),
            zone: self.zone().unwrap_or_default().to_owned(),
            namespace: self.namespace().unwrap_or_default().to_owned(),
            name: self.display_name().to_owned(),
            section: String::new(),
        }
    }

    /// What references see of it.
    pub fn facts(&self, symbols: &mut Symbols) -> Vec<(Sym, Option<Sym>)> {
        let own = [(fact::KRI, self.kri().to_string()), (fact::DISPLAY_NAME, self.display_name().to_owned())];
        // Nobody can label a fact of ours onto a resource.
        let labels = self.labels.iter().filter(|(key, _)| !key.starts_with('@'));
        let labels = labels.map(|(key, value)| (*key, (*value).to_owned()));
        labels.chain(own).map(|(key, value)| (symbols.intern(key), Some(symbols.intern(&value)))).collect()
    }

    /// The zone that policies of other zones do not reach. `None` for what belongs to no zone, so that all reach it.
    pub fn zone_fact(&self) -> Option<&'t str> {
        match self.origin() {
            None | Some("global") => None,
            Some("zone") => self.zone(),
            // Something that only Kuma understands: no zone reaches it.
            Some(_) => Some(""),
        }
    }
}

/// The mesh of a resource. The newer types of Kubernetes have it in a label alone.
pub fn mesh_of(resource: Resource<'_>) -> &str {
    if is_labelled(resource) { resource.mesh_label().map_or(DEFAULT_MESH, Value::text) } else { resource.mesh() }
}

/// Whether only a label names the mesh of a resource.
pub(super) fn is_labelled(resource: Resource<'_>) -> bool {
    use ResourceType::{MeshExternalService, MeshIdentity, MeshMultiZoneService, MeshService};
    let newer = match ResourceType::of(resource.kind.text()) {
        Some(kind) => matches!(kind, MeshService | MeshExternalService | MeshMultiZoneService | MeshIdentity),
        None => has_target_refs(resource) || resource.kind.text().starts_with("Mesh"),
    };
    resource.form == Form::Kubernetes && newer
}

/// Warns of a field that would name the mesh elsewhere.
pub(super) fn check_mesh(source: SourceId, resource: Resource<'_>, found: &mut Diagnostics) {
    let Some(field) = resource.mesh_field().filter(|_| is_labelled(resource)) else { return };
    let (counts, written) = (mesh_of(resource), field.text());
    if resource.mesh_label().is_some() && counts == written {
        return;
    }
    let kind = resource.kind.text();
    let message =
        format!("Kuma reads the mesh of a {kind} from its label `kuma.io/mesh`, so this one is in mesh `{counts}`");
    found.push(
        Diagnostic::warning(Fault::NoEffect, message)
            .at_value(source, field, "is not read")
            .help(format!("write `metadata.labels: {{kuma.io/mesh: {written}}}` instead of `mesh`")),
    );
}

/// Facts with another one in place of what was there.
pub(crate) fn with_fact(facts: &TagSet, key: Sym, value: Option<Sym>) -> TagSet {
    let kept = facts.as_slice().iter().filter(|tag| tag.key != key).map(|tag| (tag.key, tag.value));
    TagSet::new(kept.chain(value.map(|value| (key, Some(value)))).collect::<Vec<_>>())
}
