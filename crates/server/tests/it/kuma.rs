//! Kuma's Inspect API.

use upheld_server::Config;

use crate::support::Served;

const DOCUMENTS: &str = "type: Mesh
name: default
---
type: Dataplane
name: web-1
mesh: default
networking: {address: 127.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: Dataplane
name: web-2
mesh: default
networking: {address: 127.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: TrafficPermission
name: everybody
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: web}}]
---
type: MeshTimeout
name: short
mesh: default
spec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}
";

fn served() -> Served {
    let served = Served::start(Config::default());
    let written = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], DOCUMENTS);
    assert_eq!(written.status, 201, "{}", written.text);
    served
}

#[test]
fn older_endpoints_answer_without_a_word_about_editions() {
    let answer = served().get("/meshes/default/dataplanes/web-1/policies");
    assert_eq!(answer.status, 200, "{}", answer.text);
    let inbound = &answer.json()["items"][1];
    assert_eq!(inbound["matchedPolicies"]["TrafficPermission"][0]["name"], "everybody", "{}", answer.text);
    assert_eq!(answer.header("upheld-revision"), Some("1"));
}

#[test]
fn rules_are_those_of_the_proxy() {
    let answer = served().get("/meshes/default/dataplanes/web-1/_rules").json();
    assert_eq!(answer["resource"]["name"], "web-1");
    assert_eq!(answer["rules"][0]["type"], "MeshTimeout");
}

#[test]
fn the_next_page_is_named_as_the_operator_names_the_server() {
    let config = Config { public_url: Some("https://mesh.example.com/".to_owned()), ..Config::default() };
    let served = Served::start(config);
    served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], DOCUMENTS);
    let path = "/meshes/default/meshtimeouts/short/_resources/dataplanes?size=1";
    let answer = served.ask("GET", path, &[("host", "evil.example.com")], "").json();
    let next = answer["next"].as_str().unwrap();
    assert!(next.starts_with("https://mesh.example.com/meshes/default/meshtimeouts/"), "{next}");
}

#[test]
fn errors_have_the_shape_of_kuma() {
    let served = served();
    let answer = served.get("/meshes/default/dataplanes/nobody/_rules");
    assert_eq!(answer.status, 404);
    let body = answer.json();
    assert_eq!((&body["type"], &body["title"]), (&"/std-errors".into(), &"Could not retrieve Dataplane".into()));
    assert_eq!(served.get("/meshes/default").status, 404);
    let answer = served.post("/meshes/default/dataplanes/web-1/_rules", "{}");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(answer.json()["status"], 405);
}
