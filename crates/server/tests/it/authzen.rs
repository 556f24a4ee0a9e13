//! The Authorization API of `AuthZEN`.

use serde_json::json;
use upheld_server::Config;

use crate::support::Served;

const DOCUMENTS: &str = "
kind: Directory
subjects: [{type: user, id: ann, properties: {role: admin}}, {type: user, id: bob}]
resources: [{type: record, id: one}]
actions: [{name: read}, {name: write}]
---
id: admins-read
effect: permit
subjects: [{role: admin}]
resources: [{type: record}]
actions: [{operation: read}]
";

fn served(config: Config) -> Served {
    let served = Served::start(config);
    let written = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], DOCUMENTS);
    assert_eq!(written.status, 201, "{}", written.text);
    served
}

fn request(id: &str) -> serde_json::Value {
    json!({"subject": {"type": "user", "id": id}, "action": {"name": "read"}, "resource": {"type": "record", "id": "one"}})
}

#[test]
fn evaluations_are_answered_and_requests_recognised() {
    let served = served(Config::default());
    let headers = [("content-type", "application/json"), ("x-request-id", "r-1")];
    let answer = served.ask("POST", "/access/v1/evaluation", &headers, &request("ann").to_string());
    assert_eq!((answer.status, answer.header("x-request-id")), (200, Some("r-1")), "{}", answer.text);
    assert_eq!(answer.json()["decision"], true);
    assert_eq!(answer.header("upheld-revision"), Some("1"));
    assert_eq!(served.post("/access/v1/evaluation", &request("bob").to_string()).json()["decision"], false);
    let batch = json!({"evaluations": [request("bob"), request("ann")], "options": {"evaluations_semantic": "deny_on_first_deny"}});
    let answers = served.post("/access/v1/evaluations", &batch.to_string()).json();
    assert_eq!(answers["evaluations"].as_array().unwrap().len(), 1);
}

#[test]
fn searches_say_whether_they_are_complete() {
    let served = served(Config::default());
    let found = served.post("/access/v1/search/subject", &request("ann").to_string()).json();
    assert_eq!(found["results"], json!([{"type": "user", "id": "ann"}]));
    assert_eq!(found["context"]["complete"], true);
    let found = served.post("/access/v1/search/resource", &request("ann").to_string()).json();
    assert_eq!(found["results"], json!([{"type": "record", "id": "one"}]));
    let found = served.post("/access/v1/search/action", &request("ann").to_string()).json();
    assert_eq!(found["results"], json!([{"name": "read"}]));
    let found = served.post("/access/v1/search/resource", &request("nobody").to_string()).json();
    assert_eq!((&found["results"], &found["context"]["complete"]), (&json!([]), &false.into()));
}

#[test]
fn what_cannot_be_answered_is_said_as_text() {
    let served = served(Config::default());
    for (content, body) in [
        ("text/plain", request("ann").to_string()),
        ("application/json", "{".to_owned()),
        ("application/json", "{}".to_owned()),
    ] {
        let headers = [("content-type", content), ("x-request-id", "r-2")];
        let answer = served.ask("POST", "/access/v1/evaluation", &headers, &body);
        assert_eq!((answer.status, answer.header("x-request-id")), (400, Some("r-2")));
        assert!(answer.header("content-type").unwrap().starts_with("text/plain"), "{:?}", answer.headers);
    }
    let twice = r#"{"subject": {"type": "user", "id": "ann", "id": "bob"}}"#;
    assert_eq!(served.post("/access/v1/evaluation", twice).status, 400);
}

#[test]
fn the_server_is_called_as_its_operator_calls_it() {
    let served = Served::start(Config { public_url: Some("https://pdp.example.com/".to_owned()), ..Config::default() });
    let path = "/.well-known/authzen-configuration";
    let metadata = served.ask("GET", path, &[("host", "evil.example.com")], "").json();
    assert_eq!(metadata["policy_decision_point"], "https://pdp.example.com");
    assert_eq!(metadata["access_evaluation_endpoint"], "https://pdp.example.com/access/v1/evaluation");
    let plain = Served::start(Config::default());
    assert_eq!(plain.get(path).json()["policy_decision_point"], plain.base());
}

#[test]
fn everything_is_described() {
    let described = Served::start(Config::default()).get("/openapi.json").json();
    assert!(described["paths"]["/access/v1/search/action"]["post"].is_object());
    assert!(described["paths"]["/.well-known/authzen-configuration"]["get"].is_object());
}
