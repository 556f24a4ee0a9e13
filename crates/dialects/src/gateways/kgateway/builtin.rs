//! What rules of routes say themselves: filters, timeouts, retries. It goes before any policy.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::hierarchy::{OwnContent, OwnLayer};
use upheld_model::config::{Config, Content};
use upheld_model::tree::{Kind, Value};
use upheld_model::{NodeRef, SourceId};

use super::references::{list, text};
use crate::gateways::gateway_api::stored::stored;

/// What a rule says itself: filters in their order, then what it says outside of them.
pub(crate) fn layers(source: SourceId, rule: Value<'_>) -> Vec<OwnLayer> {
    let layer = |(at, fields): Part| {
        let fields = fields.into_iter().map(|(name, value)| {
            let (name, part) = field_and_part(&name);
            (name, part, value)
        });
        OwnLayer { says: OwnContent::Fields(fields.collect()), at }
    };
    parts(source, rule).into_iter().map(layer).collect()
}

/// The field of policies that something is the same as, and which part of it.
fn field_and_part(name: &SmolStr) -> (SmolStr, Option<SmolStr>) {
    match name.split_once('.') {
        Some(("urlRewrite", "path")) => (SmolStr::new_static("urlRewrite"), None),
        Some((field, part)) => (SmolStr::new(field), Some(SmolStr::new(part))),
        None => (name.clone(), None),
    }
}

type Part = (NodeRef, Vec<(SmolStr, Arc<Config>)>);

/// Fields of which all count, whatever other rules on the way say.
const CUMULATIVE: [&str; 3] = ["requestHeaderModifier", "requestMirror", "responseHeaderModifier"];

fn parts(source: SourceId, rule: Value<'_>) -> Vec<Part> {
    let at = |value: Value<'_>| NodeRef { source, node: value.number() };
    let mut parts: Vec<Part> = Vec::new();
    for filter in list(rule, "filters") {
        let fields = filter_fields(source, filter);
        if !fields.is_empty() {
            parts.push((at(filter), fields));
        }
    }
    let fields = own_fields(source, rule);
    if !fields.is_empty() {
        parts.push((at(rule), fields));
    }
    parts
}

fn filter_fields(source: SourceId, filter: Value<'_>) -> Vec<(SmolStr, Arc<Config>)> {
    let (name, field) = match text(filter, "type") {
        Some("RequestRedirect") => ("redirect", "requestRedirect"),
        Some("URLRewrite") => {
            let inner = filter.get("urlRewrite").into_iter().flat_map(Value::entries);
            let named = inner.filter(|(_, value)| value.kind() != Kind::Null);
            return named
                .map(|(key, value)| (format!("urlRewrite.{}", key.text()).into(), stored(source, value)))
                .collect();
        }
        Some("CORS") => ("cors", "cors"),
        Some("RequestHeaderModifier") => ("requestHeaderModifier", "requestHeaderModifier"),
        Some("ResponseHeaderModifier") => ("responseHeaderModifier", "responseHeaderModifier"),
        Some("RequestMirror") => ("requestMirror", "requestMirror"),
        _ => return Vec::new(),
    };
    let Some(value) = filter.get(field).map(|value| stored(source, value)) else { return Vec::new() };
    let value = if CUMULATIVE.contains(&name) {
        Arc::new(Config { at: value.at, content: Content::List(vec![value]) })
    } else {
        value
    };
    vec![(SmolStr::new_static(name), value)]
}

/// With retries, the timeout for a backend is that of each try.
fn own_fields(source: SourceId, rule: Value<'_>) -> Vec<(SmolStr, Arc<Config>)> {
    let set = |path: &[&str]| rule.at_path(path).filter(|value| value.kind() != Kind::Null);
    let read = |value: Value<'_>| stored(source, value);
    let (request, backend) = (set(&["timeouts", "request"]), set(&["timeouts", "backendRequest"]));
    let retry = set(&["retry"]);
    let timeout = if retry.is_some() { request } else { backend.or(request) };
    let mut fields = Vec::new();
    fields.extend(timeout.map(|timeout| (SmolStr::new_static("timeouts.request"), read(timeout))));
    if let Some(retry) = retry {
        let mut entries = read(retry).entries().to_vec();
        entries.extend(backend.map(|backend| (SmolStr::new_static("perTryTimeout"), read(backend))));
        let at = Some(NodeRef { source, node: retry.number() });
        fields.push((SmolStr::new_static("retry"), Arc::new(Config { content: Content::Map(entries), at })));
    }
    let session = set(&["sessionPersistence"]);
    fields.extend(session.map(|session| (SmolStr::new_static("sessionPersistence"), read(session))));
    fields
}
