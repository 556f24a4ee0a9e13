//! Documents with parts that can never match, in a store and on their way there.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;
use upheld_server::Config;
use upheld_server::config::StoreLocation;
use upheld_store::{Batch, Change, Key, Memory, Revision, Store};

use crate::support::Served;

fn policy(id: &str, effect: &str, resource: &Json) -> Json {
    json!({"id": id, "effect": effect, "subjects": [], "resources": [resource], "actions": []})
}

/// A server whose store was filled by an older program.
fn with_stored(documents: &[Json]) -> Served {
    let store = Arc::new(Memory::new());
    let put = |document: &Json| Change::Put {
        key: Key::new("AccessPolicy", "access", document["id"].as_str().unwrap()).unwrap(),
        text: document.to_string().into(),
    };
    let batch = Batch {
        after: Revision(0),
        seen: None,
        time: Timestamp::UNIX_EPOCH,
        actor: "older".to_owned(),
        message: None,
        changes: documents.iter().map(put).collect(),
        idempotency: None,
    };
    Runtime::new().unwrap().block_on(store.append(batch)).unwrap();
    Served::start(Config { store: StoreLocation::Given(store), ..Config::default() })
}

const NEVER: [&str; 4] = [
    r#"{"host": "a.example:8443"}"#,
    r#"{"host": "*.example"}"#,
    r#"{"path": "/admin/:id"}"#,
    r#"{"property": {"name": "Host", "value": "a"}}"#,
];

#[test]
fn a_server_starts_with_a_stored_deny_that_never_matches_and_refuses_to_write_it_again() {
    for resource in NEVER {
        let never = policy("old", "deny", &serde_json::from_str(resource).unwrap());
        let all = policy("all", "permit", &json!({"path": "/**"}));
        let served = with_stored(&[never.clone(), all]);
        let request = json!({"action": {"method": "GET"}, "resource": {"path": "/x", "host": "a.example"}});
        assert_eq!(served.post("/v1/decide", &request.to_string()).json()["decision"], "permit", "{resource}");
        let put = |id: &str, document: &Json, query: &str| {
            served.ask("PUT", &format!("/v1/documents/AccessPolicy/access/{id}{query}"), &[], &document.to_string())
        };
        assert_eq!(
            put("other", &policy("other", "deny", &json!({"path": "/y"})), "").status,
            201,
            "others are written"
        );
        assert_eq!(put("old", &never, "").status, 200, "nothing changes");
        let mut changed = never.clone();
        changed["priority"] = json!(5);
        for refused in [put("old", &changed, ""), put("old", &changed, "?dryRun=true")] {
            assert_eq!(refused.status, 422, "{}", refused.text);
            assert!(refused.text.contains("UP104") && !refused.text.contains("`other`"), "{}", refused.text);
        }
        let mut new = never;
        new["id"] = json!("new");
        assert_eq!(put("new", &new, "").status, 422, "{resource}");
        let repaired = policy("old", "deny", &json!({"host": "a.example"}));
        assert_eq!(put("old", &repaired, "").status, 201);
        assert_eq!(served.post("/v1/decide", &request.to_string()).json()["decision"], "deny");
    }
}

#[test]
fn a_key_that_is_there_twice_is_refused_wherever_a_question_is_read() {
    let served = with_stored(&[policy("all", "permit", &json!({"path": "/**"}))]);
    let twice = r#"{"action": {"method": "GET"}, "resource": {"path": "/a", "path": "/x"}}"#;
    let authzen = r#"{"subject": {"type": "user", "id": "a", "id": "b"}, "action": {"name": "GET"}, "resource": {"type": "route", "id": "/x"}}"#;
    let cases = [
        ("/v1/decide", twice.to_owned()),
        ("/v1/decide:batch", format!(r#"{{"requests": [{twice}]}}"#)),
        ("/v1/explain", format!(r#"{{"request": {twice}}}"#)),
        ("/v1/resolve", format!(r#"{{"request": {twice}}}"#)),
        ("/v1/reach", format!(r#"{{"request": {twice}}}"#)),
        ("/v1/why-not", format!(r#"{{"request": {twice}}}"#)),
        ("/v1/suppose", format!(r#"{{"request": {twice}}}"#)),
        ("/v1/test", r#"{"files": [], "files": []}"#.to_owned()),
        ("/v1/audit", r#"{"policies": [], "policies": []}"#.to_owned()),
        ("/v1/lint", r#"{"requests": [], "requests": []}"#.to_owned()),
        ("/v1/admission-review", format!(r#"{{"request": {twice}, "request": {twice}}}"#)),
        ("/authz/api/evaluate", twice.to_owned()),
        ("/authz/api/explain", twice.to_owned()),
        ("/access/v1/evaluation", authzen.to_owned()),
        ("/access/v1/evaluations", format!(r#"{{"evaluations": [{authzen}]}}"#)),
        ("/access/v1/search/action", authzen.to_owned()),
    ];
    for (path, body) in cases {
        let answer = served.post(path, &body);
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        assert!(answer.text.contains("twice"), "{path}: {}", answer.text);
    }
}

#[test]
fn a_number_that_would_be_rounded_is_unknown_on_every_surface() {
    let test = json!({"property": {"name": "serial", "value": 9_007_199_254_740_992_u64}});
    let served = with_stored(&[policy("one", "permit", &test)]);
    for (number, decision) in [
        ("9007199254740992", "permit"),
        ("9007199254740993", "deny"),
        ("9007199254740993.0", "deny"),
        ("9007199254740992.5", "undecided"),
    ] {
        let body = format!(r#"{{"resource": {{"serial": {number}}}}}"#);
        assert_eq!(served.post("/v1/decide", &body).json()["decision"], decision, "{number}");
        let body = format!(
            r#"{{"subject": {{"type": "user", "id": "a"}}, "action": {{"name": "read"}}, "resource": {{"type": "x", "id": "y", "properties": {{"serial": {number}}}}}}}"#
        );
        let is_open = served.post("/access/v1/evaluation", &body).json()["decision"] == json!(true);
        assert_eq!(is_open, decision == "permit", "{number}");
    }
}

#[test]
fn an_action_that_names_two_methods_is_a_bad_request() {
    let served = with_stored(&[policy("all", "permit", &json!({"path": "/**"}))]);
    let asked = |method: Json| {
        let body = json!({"subject": {"type": "user", "id": "a"}, "action": {"name": "GET", "properties": {"method": method}}, "resource": {"type": "route", "id": "/x"}});
        (
            served.post("/access/v1/evaluation", &body.to_string()),
            served.post("/access/v1/evaluations", &json!({"evaluations": [body]}).to_string()),
        )
    };
    for method in [json!("DELETE"), json!("delete"), json!(["GET"]), json!("x"), json!(1)] {
        let (one, several) = asked(method.clone());
        assert_eq!(one.status, 400, "{method}: {}", one.text);
        assert!(one.text.contains("`action.properties.method` contradicts `action.name`"), "{}", one.text);
        assert_eq!(several.json()["evaluations"][0]["decision"], false, "{method}: {}", several.text);
    }
    for method in [json!("GET"), json!("get"), Json::Null] {
        assert_eq!(asked(method.clone()).0.json()["decision"], true, "{method}");
    }
}
