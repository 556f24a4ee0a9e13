//! What a statement of a policy is about: its own reference.

use upheld_model::layers::{Extent, Pattern, Reach, Reference, Section};
use upheld_model::{Config, Symbols};

use super::attach::named;
use crate::kuma::edition::Edition;
use crate::kuma::kri::Kri;
use crate::kuma::meta::{Meta, fact, label};
use crate::kuma::target_ref::{TargetKind, TargetRef};

/// Real resources that a `to` item means.
pub(super) fn objects(reference: &TargetRef<'_>, meta: &Meta<'_>, edition: Edition, symbols: &mut Symbols) -> Reach {
    let kind = reference.kind;
    let has_ports =
        matches!(kind, TargetKind::MeshService | TargetKind::MeshMultiZoneService | TargetKind::MeshExternalService);
    let mut section = reference.section.filter(|_| has_ports).map(|name| Section::Named(symbols.intern(name)));
    let identifier = |kri: &Kri| vec![(fact::KRI.to_owned(), kri.to_string())];
    let labels =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let facts: Vec<(String, String)> = match (kind, &reference.labels, edition) {
        (TargetKind::Mesh, ..) => identifier(&mesh(meta)),
        (_, Some(pairs), Edition::V3) => labels(pairs),
        // Nothing has this identifier.
        (_, None, Edition::V3) => vec![(fact::KRI.to_owned(), String::new())],
        (_, Some(pairs), _) if !pairs.is_empty() => labels(pairs),
        (TargetKind::MeshService, ..)
            if section.is_none()
                && let Some(old) = old_name(reference.name) =>
        {
            section = old.port.map(|port| Section::Port(symbols.intern(port)));
            labels(&[(label::NAMESPACE, old.namespace), (label::DISPLAY_NAME, old.name)])
        }
        _ => identifier(&named(kind, reference.name.unwrap_or_default(), reference.namespace, meta)),
    };
    let facts = facts.iter().map(|(key, value)| (symbols.intern(key), symbols.intern(value))).collect();
    Reach::Objects(Reference { kind: symbols.intern(kind.name()), facts, section })
}

fn mesh(meta: &Meta<'_>) -> Kri {
    let empty = String::new;
    Kri {
        kind: TargetKind::Mesh.name().to_owned(),
        mesh: empty(),
        zone: empty(),
        namespace: empty(),
        name: meta.mesh.to_owned(),
        section: empty(),
    }
}

/// A service of Kubernetes as it was named before services were resources: `backend_finance_svc_8080`.
struct OldName<'t> {
    name: &'t str,
    namespace: &'t str,
    port: Option<&'t str>,
}

fn old_name(name: Option<&str>) -> Option<OldName<'_>> {
    let parts: Vec<&str> = name?.split('_').collect();
    match parts.as_slice() {
        [name, namespace, "svc"] => Some(OldName { name, namespace, port: None }),
        [name, namespace, "svc", port] if port.parse::<u16>().is_ok() => {
            Some(OldName { name, namespace, port: Some(port) })
        }
        _ => None,
    }
}

/// Whom a match of an inbound rule is about.
pub(super) fn callers(inbound_match: &Config, symbols: &mut Symbols) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for key in ["spiffeID", "sni"] {
        let Some(wanted) = inbound_match.get(key) else { continue };
        let text = |name: &str| wanted.get(name).and_then(|text| text.as_text()).unwrap_or_default();
        let extent = if text("type") == "Prefix" { Extent::Beginning } else { Extent::Whole };
        patterns.push(Pattern { key: symbols.intern(key), text: text("value").into(), extent });
    }
    patterns
}
