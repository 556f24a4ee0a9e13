//! What policies say, by the names that origins are kept under. Each field is one value that merges as a whole, unless the
//! rules of its kind know better.

mod listener;
mod traffic;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::hierarchy::Entry;
use upheld_model::config::{Config, Content};
use upheld_model::tree::{Kind, Value};
use upheld_model::{LayerContent, NodeRef, SourceId};

use super::policy_type::PolicyType;
use super::settings::PolicyMerge;
use crate::gateways::gateway_api::attachments::{TARGETS, Written};
use crate::gateways::gateway_api::settings::ControllerSettings;
use crate::gateways::gateway_api::stored::stored;

pub use listener::is_inside_port;

/// A field with its value.
pub type Field = (SmolStr, Arc<Config>);

/// The one field of a `BackendTLSPolicy`, which holds as a whole.
pub const TLS: &str = "tls";

/// The fields of a policy.
pub(crate) fn of(policy: PolicyType, written: Written<'_>, settings: &ControllerSettings) -> Vec<Field> {
    let Some(spec) = written.spec() else { return Vec::new() };
    let source = written.source;
    match policy {
        // Nothing can be said about how fields meet, so nothing is said at all.
        PolicyType::Traffic if settings.policies.policy_merge == PolicyMerge::Unreadable => Vec::new(),
        PolicyType::Traffic => traffic::fields(written.namespace, source, spec),
        PolicyType::Listener => listener::fields(source, spec),
        PolicyType::HttpListener => listener::http_fields(source, "", spec),
        PolicyType::BackendConfig => backend_fields(source, spec),
        PolicyType::BackendTls => {
            let entries = payload(spec).map(|(key, value)| (key, stored(source, value))).collect();
            let at = Some(NodeRef { source, node: spec.number() });
            vec![(SmolStr::new(TLS), Arc::new(Config { content: Content::Map(entries), at }))]
        }
        PolicyType::DirectResponse => payload(spec).map(|(key, value)| (key, stored(source, value))).collect(),
    }
}

/// Names that origins are kept under, and where documents have the field.
const RENAMED: [(&str, &str); 5] = [
    ("httpACL", "acl"),
    ("jwt", "jwtAuth"),
    ("oidc", "oauth2"),
    ("compression", "compression.responseCompression"),
    ("decompression", "compression.requestDecompression"),
];

/// The name of a field as documents have it.
pub(crate) fn written_name(policy: PolicyType, name: &str) -> String {
    if policy.is_about_connections() {
        return listener::written_name(name);
    }
    let traffic = RENAMED.iter().filter(|_| policy == PolicyType::Traffic);
    let found = traffic.filter_map(|(known, written)| {
        let rest = name.strip_prefix(known).filter(|rest| rest.is_empty() || rest.starts_with('.'))?;
        Some(format!("{written}{rest}"))
    });
    found.into_iter().next().unwrap_or_else(|| name.to_owned())
}

/// The name of a field as documents have it, if somebody asks for it by the name that origins are kept under.
pub(crate) fn asked_name(name: &str) -> String {
    match name {
        // The name is also the beginning of what documents have.
        name if name.starts_with("compression") => name.to_owned(),
        name if name.starts_with("perPortPolicy") => written_name(PolicyType::Listener, name),
        name => written_name(PolicyType::Traffic, name),
    }
}

/// What a policy says, as it was read.
pub(super) fn said(entry: &Entry) -> &[Field] {
    match entry.says().map(|layer| &layer.says) {
        Some(LayerContent::Fields(fields)) => fields,
        Some(LayerContent::Whole { .. }) | None => &[],
    }
}

/// The settings of name resolution are independent of each other.
fn backend_fields(source: SourceId, spec: Value<'_>) -> Vec<Field> {
    let mut fields = Vec::new();
    for (key, value) in payload(spec) {
        if key == "dns" {
            let inner = entries(value).map(|(inner, value)| (format!("dns.{inner}").into(), stored(source, value)));
            fields.extend(inner);
        } else {
            fields.push((key, stored(source, value)));
        }
    }
    fields
}

/// What a policy says, without whom it is attached to.
fn payload(spec: Value<'_>) -> impl Iterator<Item = (SmolStr, Value<'_>)> {
    entries(spec).filter(|(key, _)| !TARGETS.contains(&key.as_str()))
}

/// Entries of a map that are not null.
fn entries(value: Value<'_>) -> impl Iterator<Item = (SmolStr, Value<'_>)> {
    let set = value.entries().filter(|(_, value)| value.kind() != Kind::Null);
    set.map(|(key, value)| (SmolStr::new(key.text()), value))
}
