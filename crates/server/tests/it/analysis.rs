//! What changes between revisions, what is wrong with policies, and what depends on one, over HTTP.

use serde_json::json;
use upheld_server::Config;

use crate::support::Served;

const PROXIES: &str = "type: Dataplane
mesh: default
name: web-1
networking: {address: 127.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
";

fn log(name: &str, backend: &str) -> String {
    format!(
        "type: TrafficLog\nmesh: default\nname: {name}\nsources: [{{match: {{kuma.io/service: '*'}}}}]\ndestinations: [{{match: \
         {{kuma.io/service: '*'}}}}]\nconf: {{backend: {backend}}}\n"
    )
}

fn put(served: &Served, path: &str, text: &str) -> serde_json::Value {
    let written = served.ask_bare("PUT", path, &[("content-type", "application/yaml")], text);
    assert!([200, 201].contains(&written.status), "{}", written.text);
    written.json()
}

#[test]
fn revisions_are_compared_and_dry_runs_say_what_they_would_change() {
    let served = Served::start(Config::default());
    put(&served, "/v1/documents/Dataplane/default/web-1", PROXIES);
    put(&served, "/v1/documents/TrafficLog/default/b", &log("b", "old"));
    let tried = put(&served, "/v1/documents/TrafficLog/default/b?dryRun=true", &log("b", "new"));
    assert_eq!(tried["shifts"]["counts"]["changed"], 1, "{tried:#}");
    assert_eq!(tried["shifts"]["shifts"][0]["fields"], json!([{"field": "backend", "before": "old", "after": "new"}]));
    put(&served, "/v1/documents/TrafficLog/default/b", &log("b", "new"));
    let diff = served.post("/v1/diff", r#"{"before": 2, "after": 3}"#).json();
    assert_eq!((&diff["verdict"], &diff["counts"]["changed"]), (&json!("differs"), &json!(1)), "{diff:#}");
    assert_eq!(diff["shifts"][0]["causes"][0]["name"], "b");
    assert_eq!(served.post("/v1/diff", "{}").json()["shifts"], diff["shifts"], "the last one against the one before");
    assert_eq!(served.post("/v1/prove", "{}").json()["counterexample"], diff["shifts"][0]);
    assert_eq!(served.post("/v1/prove", r#"{"before": 3}"#).json()["verdict"], "equal");
    assert_eq!(served.post("/v1/diff", r#"{"before": 9}"#).status, 404);
    assert_eq!(served.post("/v1/diff", r#"{"befor": 1}"#).status, 400);
    let made_again = served.post("/v1/diff", r#"{"recreated": ["b"]}"#).json();
    assert_eq!(
        (&made_again["verdict"], &made_again["changed"][0]["name"]),
        (&json!("equal"), &json!("b")),
        "{made_again:#}"
    );
    assert_eq!(served.post("/v1/prove", r#"{"restored": true}"#).json()["verdict"], "equal");
    assert_eq!(served.post("/v1/diff", r#"{"renamed": {"nobody": "x"}}"#).status, 422);
    assert_eq!(served.post("/v1/diff", r#"{"before": 1, "recreated": ["b"]}"#).status, 422);
}

#[test]
fn what_must_not_change_is_checked_since_a_revision_and_told_by_every_comparison() {
    let served = Served::start(Config::default());
    let policy = |pattern: &str| {
        format!("{{id: a, effect: permit, subjects: [], resources: [{{path: {pattern}}}], actions: []}}")
    };
    let at = "/v1/documents/AccessPolicy/access/a";
    put(&served, at, &policy("/shop/**"));
    let tests = "kind: PolicyTests\nname: kept\ninvariants: [{name: billing stays, unchanged: {resources: [{path: /billing/**}]}}]\n";
    put(&served, "/v1/documents/PolicyTests/access/kept", tests);
    let state = |address: &str| {
        let tested = served.post(address, "{}");
        assert_eq!(tested.status, 200, "{}", tested.text);
        tested.json()["cases"][0]["state"].clone()
    };
    assert_eq!((state("/v1/test"), state("/v1/test?since=1")), (json!("skipped"), json!("passed")));
    let tried = put(&served, &format!("{at}?dryRun=true"), &policy("/**"));
    let told = |answer: &serde_json::Value| {
        let notes = answer["notes"].as_array().cloned().unwrap_or_default();
        notes
            .iter()
            .any(|note| note["text"].as_str().is_some_and(|text| text.starts_with("BROKEN `billing stays`: a permits")))
    };
    assert!(told(&tried["shifts"]), "{tried:#}");
    put(&served, at, &policy("/**"));
    assert_eq!((state("/v1/test?since=1"), state("/v1/test?since=3")), (json!("failed"), json!("passed")));
    let diff = served.post("/v1/diff", "{}").json();
    assert!(told(&diff), "{diff:#}");
    assert_eq!(served.post("/v1/test?since=9", "{}").status, 404);
    assert_eq!(served.post("/v1/test?since=x", "{}").status, 400);
}

#[test]
fn findings_and_what_depends_on_a_policy_are_told() {
    let served = Served::start(Config::default());
    put(&served, "/v1/documents/Dataplane/default/web-1", PROXIES);
    put(&served, "/v1/documents/TrafficLog/default/a", &log("a", "x"));
    put(&served, "/v1/documents/TrafficLog/default/b", &log("b", "y"));
    let linted = served.post("/v1/lint", "{}").json();
    assert_eq!(linted["findings"][0]["code"], "UP101", "{linted:#}");
    assert_eq!(served.post("/v1/lint", r#"{"only": ["UP4"]}"#).json()["findings"], json!([]));
    assert_eq!(linted["findings"][0]["fix"]["text"], "remove it; no result changes", "{linted:#}");
    let again = served.post("/v1/lint", &json!({"baseline": linted}).to_string()).json();
    assert_eq!(again["findings"][0]["baselineState"], "unchanged", "{again:#}");
    assert_eq!(served.post("/v1/lint", r#"{"baseline": {}}"#).status, 422);
    let affected = served.post("/v1/affected", r#"{"policy": "a"}"#).json();
    assert_eq!(affected["counts"]["TrafficLog"]["pairs"], 1, "{affected:#}");
    assert_eq!(affected["ifDeleted"]["shifts"][0]["after"]["policies"], json!(["b"]));
    assert_eq!(served.post("/v1/affected", r#"{"policy": "b"}"#).json()["ifDeleted"]["verdict"], "equal");
    assert_eq!(affected["takesOver"], json!([{"policies": ["b"], "results": 1}]));
    let supposed =
        |what: serde_json::Value| served.post("/v1/affected", &json!({"policy": "a", "if": what}).to_string());
    let everywhere = json!([{"match": {"kuma.io/service": "*"}}]);
    let edited = supposed(json!({"edited": {
        "type": "TrafficLog", "mesh": "default", "name": "a", "sources": everywhere, "destinations": everywhere, "conf": {"backend": "z"},
    }}));
    let fields = json!([{"field": "backend", "before": "x", "after": "z"}]);
    assert_eq!(edited.json()["ifEdited"]["shifts"][0]["fields"], fields, "{}", edited.text);
    let off = supposed(json!("disabled"));
    assert!(off.status == 422 && off.text.contains("cannot be switched off"), "{}", off.text);
    assert_eq!(supposed(json!("gone")).status, 400);
    let question = json!({"policy": "b", "question": {"from": "web-1", "to": "web-1"}});
    let why = served.post("/v1/why-not", &question.to_string()).json();
    assert_eq!((&why["places"][0]["state"], &why["edits"][0]["edit"]), (&json!("LOST"), &json!("remove a")), "{why:#}");
    let unknown = served.post("/v1/affected", r#"{"policy": "c"}"#);
    assert_eq!(unknown.status, 422);
    assert!(unknown.text.contains("nothing is called"), "{}", unknown.text);
}

#[test]
fn requests_that_somebody_made_show_who_decides_them() {
    let served = Served::start(Config::default());
    for (id, path) in [("orders", "/orders/**"), ("old", "/v1/**")] {
        let policy = format!("id: {id}\neffect: permit\nsubjects: []\nresources: [{{path: {path}}}]\nactions: []\n");
        put(&served, &format!("/v1/documents/AccessPolicy/access/{id}"), &policy);
    }
    let request =
        |path: &str| json!({"subject": {"roles": ["staff"]}, "action": {"method": "GET"}, "resource": {"path": path}});
    let requests = [request("/orders/1"), request("/metrics"), request("/metrics")];
    let asked = json!({"only": ["UP404", "UP407"], "requests": requests});
    let linted = served.post("/v1/lint", &asked.to_string()).json();
    let told: Vec<(&str, &str)> = (linted["findings"].as_array().expect("findings").iter())
        .map(|one| (one["code"].as_str().unwrap_or_default(), one["message"].as_str().unwrap_or_default()))
        .collect();
    let expected = [
        ("UP404", "2 of 3 known requests are decided by no policy: the default (deny) decides alone"),
        ("UP407", "old applies to none of 3 known requests"),
    ];
    assert_eq!(told, expected, "{linted:#}");
    let bad = served.post("/v1/lint", r#"{"requests": [{"subject": 1}]}"#);
    assert!(bad.status == 422 && bad.text.contains("requests[0]"), "{}", bad.text);
}
