//! What policies say, by the names that origins are kept under. Each field is one value that merges as a whole, unless the
//! rules of its kind know better.

mod listener;
mod traffic;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};
use upheld_model::tree::{Kind, Value};
use upheld_model::{NodeRef, SourceId};

use super::kinds::Subject;
use crate::document::Resource;

pub use listener::is_inside_port;

/// A field with its value.
pub type Field = (SmolStr, Arc<Config>);

/// Fields that say what a policy is attached to.
const TARGETS: [&str; 4] = ["targetRef", "targetRefs", "targetSelector", "targetSelectors"];

/// The one field of a `BackendTLSPolicy`, which holds as a whole.
pub const TLS: &str = "tls";

/// The fields of a policy.
pub(super) fn of(subject: Subject, namespace: &str, source: SourceId, resource: Resource<'_>) -> Vec<Field> {
    let Some(spec) = resource.spec() else { return Vec::new() };
    match subject {
        Subject::Traffic => traffic::fields(namespace, source, spec),
        Subject::Listener => listener::fields(source, spec),
        Subject::HttpListener => listener::http_fields(source, "", spec),
        Subject::BackendConfig => backend_fields(source, spec),
        Subject::BackendTls => {
            let entries = payload(spec).map(|(key, value)| (key, Config::of(source, value))).collect();
            let at = Some(NodeRef { source, node: spec.number() });
            vec![(SmolStr::new(TLS), Arc::new(Config { content: Content::Map(entries), at }))]
        }
        Subject::DirectResponse => payload(spec).map(|(key, value)| (key, Config::of(source, value))).collect(),
    }
}

/// The settings of name resolution are independent of each other.
fn backend_fields(source: SourceId, spec: Value<'_>) -> Vec<Field> {
    let mut fields = Vec::new();
    for (key, value) in payload(spec) {
        if key == "dns" {
            let inner = entries(value).map(|(inner, value)| (format!("dns.{inner}").into(), Config::of(source, value)));
            fields.extend(inner);
        } else {
            fields.push((key, Config::of(source, value)));
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
