//! Documents for tests, written as JSON values; positions play no part.

use serde_json::{Value as Json, json};
use upheld_engine::{Indexed, PolicyId, Snapshot};
use upheld_model::tree::{Kind, Span, Tree, TreeBuilder, Written};
use upheld_model::{File, Files};

use crate::recognise;

/// A snapshot of documents under the kinds of `kuma/0.4`.
pub(super) fn snapshot(documents: &[Json]) -> Snapshot {
    snapshot_of("kuma/0.4", documents)
}

/// A snapshot with an edition of one's own in force.
pub(super) fn snapshot_of(edition: &str, documents: &[Json]) -> Snapshot {
    let files: Files = [kinds().as_slice(), documents]
        .into_iter()
        .map(|documents| File { name: "test".to_owned(), tree: tree(documents) })
        .collect();
    let recognised = recognise(&files, &[edition]);
    assert_eq!(recognised.diagnostics.errors(), 0, "{:?}", recognised.diagnostics);
    Snapshot::build(recognised.draft, recognised.kinds, Indexed::default(), files.into()).unwrap()
}

/// The documents of one file.
pub(super) fn tree(documents: &[Json]) -> Tree {
    let mut tree = TreeBuilder::default();
    for document in documents {
        add(document, &mut tree);
    }
    tree.finish(String::new())
}

/// A policy with selectors of callers and called ones.
pub(super) fn policy(kind: &str, name: &str, sources: &[Json], destinations: &[Json]) -> Json {
    json!({
        "type": kind,
        "name": name,
        "sources": selectors(sources),
        "destinations": selectors(destinations),
    })
}

/// The document with further fields.
pub(super) fn with(mut document: Json, fields: &Json) -> Json {
    document.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    document
}

/// A list of selectors.
pub(super) fn selectors(matches: &[Json]) -> Json {
    matches.iter().map(|tags| json!({"match": tags})).collect()
}

/// The policy of a name.
pub(super) fn policy_id(snapshot: &Snapshot, name: &str) -> PolicyId {
    snapshot.policies().iter().find(|(_, policy)| snapshot.text(policy.name) == name).unwrap().0
}

/// The kinds of `kuma/0.4`, one of each sort. Those that are built in are YAML, which is read elsewhere.
fn kinds() -> Vec<Json> {
    let kind = |name: &str, fields: Json| {
        let newest = json!(["more-tags", "more-exact-tags", "newest", "name"]);
        let common = json!({
            "kind": "PolicyKind", "name": name, "semantics": "kuma/0.4", "family": "select",
            "rank": newest, "resolve": "first", "payload": "conf",
        });
        with(common, &fields)
    };
    let outbound = json!({"match": [
        {"field": "sources", "side": "source"},
        {"field": "destinations", "side": "destination", "sees": ["kuma.io/service"]},
    ]});
    let inbound = json!({
        "match": [
            {"field": "sources", "side": "source", "counts": false},
            {"field": "destinations", "side": "destination", "counts": false},
        ],
        "rank": [{"more-tags-in": "sources"}, {"more-exact-tags-in": "sources"}, "newest", "name"],
        "resolve": "all",
    });
    let whole = json!({"match": [{"field": "selectors", "side": "source", "empty": "everything"}]});
    let virtual_outbound = json!({"match": [{"field": "selectors", "side": "destination"}], "resolve": "all"});
    let permission = json!({"match": [{"field": "destinations", "side": "destination"}], "grants": "sources"});
    let mut kinds = vec![
        kind("TrafficPermission", permission),
        kind("FaultInjection", inbound.clone()),
        kind("RateLimit", with(inbound, &json!({"split": "sources"}))),
        kind("RateLimitOutbound", with(outbound.clone(), &json!({"governs": "RateLimit"}))),
        kind("TrafficTrace", whole.clone()),
        kind("ProxyTemplate", whole),
        kind("VirtualOutbound", virtual_outbound),
    ];
    let same = ["TrafficRoute", "TrafficLog", "Timeout", "HealthCheck", "CircuitBreaker", "Retry"];
    kinds.extend(same.map(|name| kind(name, outbound.clone())));
    kinds
}

fn add(value: &Json, tree: &mut TreeBuilder) {
    let mut scalar = |kind, text: &str| {
        tree.scalar(kind, Span::default(), Written::Unescaped(text));
    };
    match value {
        Json::Null => scalar(Kind::Null, ""),
        Json::Bool(truth) => scalar(Kind::Bool, &truth.to_string()),
        Json::Number(number) => scalar(Kind::Integer, &number.to_string()),
        Json::String(text) => scalar(Kind::Text, text),
        Json::Array(items) => {
            tree.open(Kind::List, Span::default());
            for item in items {
                add(item, tree);
            }
            tree.close(0);
        }
        Json::Object(fields) => {
            tree.open(Kind::Map, Span::default());
            for (key, value) in fields {
                tree.scalar(Kind::Text, Span::default(), Written::Unescaped(key));
                add(value, tree);
            }
            tree.close(0);
        }
    }
}
