//! Decisions, writes, the log.

use upheld_server::Config;

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
