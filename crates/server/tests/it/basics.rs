//! Decisions, writes, the log.

use upheld_server::Config;
use upheld_server::config::AccessApi;

use crate::support::Served;

const ADMINS: &str = r#"{"id": "admins", "effect": "permit", "description": "Admins may",
    "subjects": [{"role": "admin"}], "resources": [{"path": "/api/**"}], "actions": [{"method": "*"}]}"#;
const REQUEST: &str = r#"{"subject": {"id": "ann", "roles": ["admin"]}, "action": {"method": "GET"},
    "resource": {"path": "/api/x"}}"#;

fn served() -> Served {
    Served::start(Config::default())
}

#[test]
fn nobody_is_let_in_without_policies() {
    let decision = served().post("/v1/decide", REQUEST).json();
    assert_eq!(decision["decision"], "deny");
    assert_eq!(decision["revision"], 0);
}

#[test]
fn a_write_is_answered_from_at_once() {
    let served = served();
    let written = served.ask("PUT", "/v1/documents/AccessPolicy/access/admins", &[], ADMINS);
    assert_eq!((written.status, written.header("etag")), (201, Some("\"1\"")), "{}", written.text);
    let decision = served.post("/v1/decide", REQUEST);
    assert_eq!(decision.header("upheld-revision"), Some("1"));
    let decision = decision.json();
    assert_eq!((&decision["decision"], &decision["policy"]), (&"permit".into(), &"admins".into()));
    assert_eq!(served.post("/v1/decide?at=0", REQUEST).json()["decision"], "deny");
}

#[test]
fn a_dry_run_says_what_would_happen_and_changes_nothing() {
    let served = served();
    let path = "/v1/documents/AccessPolicy/access/admins?dryRun=true";
    let tried = served.ask("PUT", path, &[], ADMINS).json();
    assert_eq!(tried["changes"][0]["effect"], "created");
    assert_eq!(served.get("/v1/revisions").json()["last"], 0);
}

#[test]
fn what_is_broken_is_refused_with_its_places() {
    let served = served();
    let broken = ADMINS.replace("\"subjects\"", "\"subjcts\"");
    let refused = served.ask("PUT", "/v1/documents/AccessPolicy/access/admins", &[], &broken);
    assert_eq!((refused.status, refused.header("content-type")), (422, Some("application/problem+json")));
    let diagnostics = refused.json()["diagnostics"].to_string();
    assert!(diagnostics.contains("subjcts") && diagnostics.contains("line"), "{diagnostics}");
    assert_eq!(served.get("/v1/revisions").json()["last"], 0);
}

#[test]
fn who_saw_an_old_version_does_not_overwrite_a_new_one() {
    let served = served();
    let path = "/v1/documents/AccessPolicy/access/admins";
    served.ask("PUT", path, &[], ADMINS);
    let other = ADMINS.replace("Admins may", "Admins may everything");
    assert_eq!(served.ask("PUT", path, &[("if-match", "\"1\"")], &other).status, 201);
    assert_eq!(served.ask("PUT", path, &[("if-match", "\"1\"")], ADMINS).status, 412);
    assert_eq!(served.ask("PUT", path, &[("if-none-match", "*")], ADMINS).status, 412);
}

#[test]
fn asking_twice_under_one_key_does_it_once() {
    let served = served();
    let body = format!(r#"{{"put": [{ADMINS}]}}"#);
    let headers = [("content-type", "application/json"), ("idempotency-key", "k1")];
    let first = served.ask("POST", "/v1/revisions", &headers, &body).json();
    let again = served.ask("POST", "/v1/revisions", &headers, &body).json();
    assert_eq!((&first["revision"], &again["revision"]), (&1.into(), &1.into()));
    assert_eq!(
        served.ask("POST", "/v1/revisions", &headers, &body.replace("ann", "bob").replace("may", "can")).status,
        422
    );
}

#[test]
fn a_batch_is_whole_or_not_there() {
    let served = served();
    let body = format!(r#"{{"put": [{ADMINS}, {{"id": "broken", "effect": "maybe", "subjects": []}}]}}"#);
    assert_eq!(served.post("/v1/revisions", &body).status, 422);
    assert_eq!(served.get("/v1/documents/AccessPolicy/access/admins").status, 404);
    let yaml = "id: a\neffect: permit\nsubjects: [{role: a}]\nresources: [{path: /a}]\nactions: [{method: GET}]\n---\n\
        id: b\neffect: permit\nsubjects: [{role: b}]\nresources: [{path: /b}]\nactions: [{method: GET}]\n";
    let written = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], yaml);
    assert_eq!((written.status, &written.json()["changes"][1]["effect"]), (201, &"created".into()), "{}", written.text);
    assert_eq!(served.get("/v1/revisions/1").json()["changes"][0]["put"], "AccessPolicy/access/a");
}

fn demo() -> Served {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo");
    Served::start(Config { watch: vec![folder], ..Config::default() })
}

#[test]
fn questions_of_the_command_line_are_answered_with_their_reasons() {
    let served = demo();
    let explained = served.post("/v1/explain", r#"{"kind": "TrafficLog", "from": "web-1", "to": "backend-1"}"#).json();
    assert_eq!(explained["answers"][0]["policies"][0], "web-to-backend-policy", "{explained}");
    assert!(explained["digest"].is_string() && explained["semantics"].is_array());
    let request = format!(r#"{{"request": {REQUEST}}}"#);
    assert_eq!(served.post("/v1/explain", &request).json()["answers"][0]["verdict"], "permit");
    let resolved = served.post("/v1/resolve", r#"{"kind": "TrafficLog", "from": "web-1", "to": "backend-1"}"#).json();
    assert_eq!(resolved["result"]["backend"], "splunk", "{resolved}");
    let misspelt = served.post("/v1/explain", r#"{"form": "web-1"}"#);
    assert_eq!(misspelt.status, 400);
    let unknown = served.post("/v1/explain", r#"{"from": "wbe-1", "to": "backend-1"}"#);
    assert_eq!(unknown.status, 422, "{}", unknown.text);
    assert!(unknown.text.contains("web-1"), "{}", unknown.text);
}

#[test]
fn what_there_is_is_listed_page_by_page() {
    let served = demo();
    let first = served.get("/v1/policies?limit=2").json();
    let rest = served.get(&format!("/v1/policies?limit=1000&after={}", first["next"].as_str().unwrap())).json();
    let all = served.get("/v1/policies?limit=1000").json();
    let count = |page: &serde_json::Value| page["items"].as_array().unwrap().len();
    assert_eq!((count(&first), count(&first) + count(&rest)), (2, count(&all)));
    assert_eq!(
        served.get("/v1/policies/TrafficLog/default/web-to-backend-policy").json()["name"],
        "web-to-backend-policy"
    );
    assert_eq!(served.get("/v1/policies/TrafficLog/default/nobody").status, 404);
    assert!(count(&served.get("/v1/objects").json()) > 0);
    assert!(served.get("/v1/objects/Dataplane/default/web-1/effective").json()["answers"].is_array());
    assert!(count(&served.get("/v1/kinds").json()) > 3);
    assert_eq!(served.get("/v1/codes/UP010").json()["code"], "UP010");
    assert_eq!(served.get("/v1/policies?limit=0").status, 400);
}

#[test]
fn the_description_has_all_endpoints() {
    let description = served().get("/openapi.json").json();
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths = description["paths"].as_object().unwrap();
    for path in [
        "/v1/explain",
        "/v1/decide",
        "/v1/decide:batch",
        "/v1/revisions",
        "/v1/events",
        "/v1/audit",
        "/v1/graph",
        "/access/v1/evaluation",
        "/authz/api/policies/{id}",
        "/meshes/{mesh}/dataplanes/{name}/_rules",
        "/healthz",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
    // The standard wants words for every response.
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let words = response["description"].as_str().unwrap_or_default();
                assert!(!words.is_empty(), "{method} {path} {status}");
            }
        }
    }
}

#[test]
fn the_description_follows_the_base_of_the_administration_api() {
    let access = AccessApi { base: "/elsewhere".to_owned(), ..AccessApi::default() };
    let description = Served::start(Config { access, ..Config::default() }).get("/openapi.json").json();
    assert!(description["paths"]["/elsewhere/api/evaluate"].is_object());
    assert!(description["paths"].get("/authz/api/evaluate").is_none());
}

#[test]
fn long_answers_come_packed_for_those_who_can_unpack_them() {
    let served = served();
    let answer = |path: &str, packing: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        served.raw(format!("{head}accept-encoding: {packing}\r\n\r\n").as_bytes())
    };
    // What else somebody can unpack makes no difference.
    for packing in ["gzip", "zstd, br, gzip"] {
        let answer = answer("/v1/codes", packing);
        assert!(answer.contains("content-encoding: gzip"), "{answer}");
    }
    assert!(!answer("/v1/codes", "identity").contains("content-encoding"));
    assert!(!answer("/healthz", "gzip").contains("content-encoding"));
}
