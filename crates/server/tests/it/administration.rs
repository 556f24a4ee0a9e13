//! The seed's administration API.

use serde_json::json;
use upheld_server::Config;

use crate::support::Served;

const POLICIES: &str = "/authz/api/policies";

fn policy(id: &str, priority: i64) -> String {
    json!({"id": id, "effect": "permit", "subjects": [{"role": id}], "resources": [{"path": "/**"}],
        "actions": [{"method": "*"}], "priority": priority})
    .to_string()
}

fn context(role: &str) -> String {
    json!({"subject": {"id": "ann", "roles": [role], "groups": [], "claims": {}}, "resource": {"app": "a", "path": "/x"},
        "action": {"method": "GET"}, "environment": {"ip": "192.0.2.1", "time": "2026-01-01T10:00:00Z"}})
    .to_string()
}

fn ids(served: &Served) -> Vec<String> {
    let listed = served.get(POLICIES).json();
    listed.as_array().unwrap().iter().map(|policy| policy["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn policies_come_and_go_in_the_order_of_the_store() {
    let served = Served::start(Config::default());
    assert_eq!(served.get(POLICIES).text, "[]");
    for id in ["b", "a", "c"] {
        let created = served.post(POLICIES, &policy(id, 0));
        assert_eq!((created.status, &created.text), (201, &policy(id, 0)));
    }
    assert_eq!(ids(&served), ["b", "a", "c"]);
    assert_eq!(served.post(POLICIES, &policy("b", 7)).status, 201);
    assert_eq!(ids(&served), ["b", "a", "c"]);
    let deleted = served.ask("DELETE", &format!("{POLICIES}/b"), &[], "");
    assert_eq!((deleted.status, deleted.json()), (200, json!({"success": true})));
    assert_eq!(served.ask("DELETE", &format!("{POLICIES}/b"), &[], "").json(), json!({"error": "Policy not found"}));
    served.post(POLICIES, &policy("b", 0));
    assert_eq!(ids(&served), ["a", "c", "b"]);
    assert_eq!(served.get(&format!("{POLICIES}?offset=1&limit=1")).json()[0]["id"], "c");
}

#[test]
fn the_order_of_the_store_decides_between_equals() {
    let served = Served::start(Config::default());
    served.post("/v1/revisions", r#"{"put": [{"combiningAlgorithm": "first-applicable", "defaultEffect": "deny"}]}"#);
    served.post(POLICIES, &policy("z", 0).replace("\"role\":\"z\"", "\"role\":\"x\""));
    served.post(POLICIES, &policy("a", 0).replace("\"role\":\"a\"", "\"role\":\"x\""));
    assert_eq!(served.post("/authz/api/evaluate", &context("x")).json()["matchedPolicy"], "z");
}

#[test]
fn what_is_broken_is_refused_in_the_words_of_the_seed() {
    let served = Served::start(Config::default());
    for broken in
        [r#"{"id": "a"}"#, r#"{"id": "a", "effect": "allow", "subjects": [], "resources": [], "actions": []}"#]
    {
        let refused = served.post(POLICIES, broken);
        assert_eq!((refused.status, &refused.json()["error"]), (400, &"Invalid policy structure".into()));
    }
    assert_eq!(served.post(POLICIES, "{").status, 400);
    assert_eq!(served.get(POLICIES).text, "[]");
    assert_eq!(served.ask("PUT", &format!("{POLICIES}/a"), &[], "{}").status, 404);
}

#[test]
fn evaluations_answer_as_the_seed_does() {
    let served = Served::start(Config::default());
    served.post(POLICIES, &policy("admin", 3));
    let decision = served.post("/authz/api/evaluate", &context("admin")).json();
    assert_eq!(decision, json!({"effect": "permit", "matchedPolicy": "admin"}));
    let explained = served.post("/authz/api/explain", &context("guest")).json();
    assert_eq!(explained["decision"], json!({"effect": "deny", "reason": "No applicable policy"}));
    assert_eq!(explained["context"]["subject"]["id"], "ann");
    assert_eq!(explained["policies"], json!([{"id": "admin", "effect": "permit", "priority": 3}]));
    let half =
        served.post("/authz/api/evaluate", r#"{"subject": {"id": "x"}, "resource": {}, "action": {"method": "GET"}}"#);
    assert_eq!(half.status, 400, "{}", half.text);
}

#[test]
fn writes_have_conditions_and_rehearsals() {
    let served = Served::start(Config::default());
    let tried = served.post(&format!("{POLICIES}?dryRun=true"), &policy("a", 0)).json();
    assert_eq!(tried["changes"][0]["effect"], "created");
    assert_eq!(served.get(POLICIES).text, "[]");
    let created = served.post(POLICIES, &policy("a", 0));
    assert_eq!((created.header("etag"), created.header("upheld-revision")), (Some("\"1\""), Some("1")));
    let headers = [("content-type", "application/json"), ("if-match", "\"7\"")];
    assert_eq!(served.ask("POST", POLICIES, &headers, &policy("a", 1)).status, 412);
    assert_eq!(served.get(&format!("{POLICIES}/a")).json()["priority"], 0);
}

#[test]
fn policies_of_files_are_listed_and_stay() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kept.json"), policy("kept", 0)).unwrap();
    let served = Served::start(Config { watch: vec![folder.path().to_owned()], ..Config::default() });
    served.post(POLICIES, &policy("z", 0));
    assert_eq!(ids(&served), ["z", "kept"]);
    assert_eq!(served.ask("DELETE", &format!("{POLICIES}/kept"), &[], "").status, 409);
    assert_eq!(served.post(POLICIES, &policy("kept", 0)).status, 400);
}

#[test]
fn the_base_can_be_chosen() {
    let mut config = Config::default();
    config.access.base = "/plugins/authz/".to_owned();
    let served = Served::start(config);
    assert_eq!(served.get("/plugins/authz/api/policies").status, 200);
    assert_eq!(served.get(POLICIES).status, 404);
}

#[test]
fn rights_are_the_same_below_any_base() {
    for (written, base) in [("/authz", "/authz"), ("/plugins/authz/", "/plugins/authz"), ("authz", "/authz"), ("/", "")]
    {
        let mut config = Config::default();
        written.clone_into(&mut config.access.base);
        let served = Served::guarded(config);
        // To ask is everybody's right here, to write is not; both are told in the shape of this API.
        let asked = served.post(&format!("{base}/api/evaluate"), "{}");
        assert_eq!((asked.status, asked.json()["error"].is_string()), (400, true), "{written}: {}", asked.text);
        let put = served.post(&format!("{base}/api/policies"), "{}");
        assert_eq!((put.status, put.json()["error"].is_string()), (401, true), "{written}: {}", put.text);
    }
}

/// A folder with a manifest and a file of seeds beside it.
fn with_seeds(settings: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("manifest.yaml"), format!("policySeed: {settings}\n")).unwrap();
    std::fs::write(folder.path().join("seed.json"), format!("[{}, {}]", policy("b", 0), policy("a", 0))).unwrap();
    folder
}

fn seeded(settings: &str, environment: &str) -> Vec<String> {
    let folder = with_seeds(settings);
    let mut config = Config { watch: vec![folder.path().to_owned()], ..Config::default() };
    environment.clone_into(&mut config.access.environment);
    ids(&Served::start(config))
}

#[test]
fn a_store_begins_with_the_seeds_of_the_manifest() {
    let inline = policy("c", 0);
    assert_eq!(seeded(&format!("{{file: seed.json, policies: [{inline}]}}"), "production"), ["b", "a", "c"]);
    assert!(seeded("{file: seed.json, environments: [staging]}", "production").is_empty());
    assert_eq!(seeded("{file: seed.json, environments: [staging]}", "staging"), ["b", "a"]);
    assert!(seeded("{file: seed.json, enabled: false}", "production").is_empty());
}

#[test]
fn what_was_seeded_belongs_to_the_store() {
    let folder = with_seeds("{file: ./seed.json}");
    let served = Served::start(Config { watch: vec![folder.path().to_owned()], ..Config::default() });
    let log = served.get("/v1/revisions").json();
    assert_eq!((&log["last"], &log["items"][0]["actor"]), (&1.into(), &"seed".into()));
    assert_eq!(served.ask("DELETE", &format!("{POLICIES}/b"), &[], "").status, 200);
    assert_eq!(served.post(POLICIES, &policy("a", 9)).status, 201);
    assert_eq!(ids(&served), ["a"]);
    assert_eq!(served.get(POLICIES).json()[0]["priority"], 9);
}
