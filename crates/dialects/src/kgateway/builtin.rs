//! What rules of routes say themselves: filters, timeouts, retries. It goes before any policy.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::ObjectId;
use upheld_engine::merge::levels::{FieldLayer, Folded, Level, Rules, fold};
use upheld_model::config::{Config, Content};
use upheld_model::tree::{Kind, Value};
use upheld_model::{NodeRef, SourceId};

use super::references::{list, text};
use super::rules::Priority;

/// What the rules on the way to a scope come to. Numbers in it count [`Builtin::sources`].
#[derive(Clone, Debug)]
pub struct Builtin {
    /// Filters and other parts of rules, the nearest first.
    pub sources: Vec<Source>,
    /// Fields by name.
    pub folded: Folded,
}

/// A part of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// How many delegations away.
    pub level: usize,
    /// The route.
    pub route: ObjectId,
    /// The rule, by its place.
    pub rule: usize,
    /// Where it was written.
    pub at: NodeRef,
}

/// A rule on the way, the nearest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule<'t> {
    pub(super) route: ObjectId,
    pub(super) number: usize,
    pub(super) source: SourceId,
    pub(super) value: Option<Value<'t>>,
    pub(super) priority: Priority,
}

/// Folds what rules say, the nearest first; `None` if they say nothing.
pub(super) fn resolve(rules: &Rules, way: &[Rule<'_>]) -> Option<Builtin> {
    let mut sources = Vec::new();
    let mut levels = Vec::new();
    for (level, rule) in way.iter().enumerate() {
        let mut layers = Vec::new();
        for (at, fields) in rule.value.into_iter().flat_map(|value| parts(rule.source, value)) {
            layers.push(FieldLayer { by: sources.len(), fields });
            sources.push(Source { level, route: rule.route, rule: rule.number, at });
        }
        levels.push(Level { layers, inheritance: rule.priority.inheritance(), broken: Vec::new() });
    }
    if sources.is_empty() {
        return None;
    }
    Some(Builtin { folded: fold(rules, &levels), sources })
}

type Part = (NodeRef, Vec<(SmolStr, Arc<Config>)>);

/// Filters in their order, then what the rule says outside of them.
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
                .map(|(key, value)| (format!("urlRewrite.{}", key.text()).into(), Config::of(source, value)))
                .collect();
        }
        Some("CORS") => ("cors", "cors"),
        Some("RequestHeaderModifier") => ("requestHeaderModifier", "requestHeaderModifier"),
        Some("ResponseHeaderModifier") => ("responseHeaderModifier", "responseHeaderModifier"),
        Some("RequestMirror") => ("requestMirror", "requestMirror"),
        _ => return Vec::new(),
    };
    let Some(value) = filter.get(field).map(|value| Config::of(source, value)) else { return Vec::new() };
    let value = if super::rules::CUMULATIVE.contains(&name) {
        Arc::new(Config { at: value.at, content: Content::List(vec![value]) })
    } else {
        value
    };
    vec![(SmolStr::new_static(name), value)]
}

/// With retries, the timeout for a backend is that of each try.
fn own_fields(source: SourceId, rule: Value<'_>) -> Vec<(SmolStr, Arc<Config>)> {
    let set = |path: &[&str]| rule.at_path(path).filter(|value| value.kind() != Kind::Null);
    let read = |value: Value<'_>| Config::of(source, value);
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
