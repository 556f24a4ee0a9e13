//! Built-in kinds are documents and nothing else: a copy under another name answers alike.

use std::path::Path;

use serde_json::Value as Json;
use upheld::{Choices, Format, Input, Policies, Question, discover};

use crate::support::root;

/// The texts of a folder, in which a type is called otherwise.
fn texts(folder: &str, kind: &str, called: &str) -> Vec<Input> {
    let (inputs, missing) = discover(&[root().join("examples").join(folder)]);
    assert!(missing.is_empty());
    let texts = inputs.into_iter().map(|input| {
        let text = std::fs::read_to_string(Path::new(input.name())).expect("is a text");
        let renamed = text.replace(&format!("type: {kind}"), &format!("type: {called}"));
        let renamed = renamed.replace(&format!("kind: {kind}"), &format!("kind: {called}"));
        Input::text(input.name(), Format::Yaml, renamed)
    });
    texts.collect()
}

/// The document of a built-in kind, in all editions, under another name.
fn copied(kind: &str, called: &str) -> Input {
    let document = Policies::from_text("[]").and_then(|all| all.ask(|world| world.kind_document(kind)));
    let Json::Object(mut document) = document.expect("is built in") else { panic!("a kind is a map") };
    document.shift_remove("semantics");
    document.shift_remove("governs");
    document.insert("name".to_owned(), called.into());
    Input::text("kind.json", Format::Json, Json::Object(document).to_string())
}

/// The reports under a kind, without the edition that it belongs to, which a copy has not.
fn reports(policies: &Policies, question: &Question) -> Vec<Json> {
    let document = policies.document(question).unwrap_or_else(|problems| panic!("{problems}"));
    let reports = document["answers"].as_array().expect("there are answers").clone();
    let mut reports = reports;
    for report in &mut reports {
        report.as_object_mut().expect("is a map").shift_remove("semantics");
    }
    reports
}

#[test]
fn a_copy_of_a_kind_under_another_name_answers_alike() {
    let cases = [
        ("demo", "TrafficLog", Question::between("web-1", "backend-1")),
        ("demo", "HealthCheck", Question::between("web-1", "backend-1")),
        ("demo", "TrafficRoute", Question::between("web-1", "backend-1")),
        ("demo", "TrafficPermission", Question::between("web-1", "backend-1")),
        ("kuma-matching-real-resources", "MeshTimeout", Question::about("dataplane/web-1")),
        ("kuma-matching-real-resources", "MeshTrafficPermission", Question::about("dataplane/web-1")),
        ("kgateway-policy-application-and-merging", "TrafficPolicy", Question::about("httproute/example-route")),
        ("envoy-gateway", "BackendTrafficPolicy", Question::about("httproute/shop")),
        ("compliance", "MeshPolicy", Question::about("project/my-example-project-prod~workspace/managed-customer")),
    ];
    for (folder, kind, question) in cases {
        answers_alike(kind, &question, |called| texts(folder, kind, called));
    }
}

/// Asks about policies of a kind, and about the same policies of a copy of it.
#[track_caller]
fn answers_alike(kind: &str, question: &Question, texts: impl Fn(&str) -> Vec<Input>) {
    let called = format!("Own{kind}");
    let load = |inputs| Policies::load(inputs, Choices::default()).unwrap_or_else(|wrong| panic!("{wrong}"));
    let original = load(texts(kind));
    let copy = load(texts(&called).into_iter().chain([copied(kind, &called)]).collect());
    let expected = reports(&original, &question.clone().kind(kind));
    let told = reports(&copy, &question.clone().kind(&called));
    let renamed = Json::from(told).to_string().replace(&called, kind);
    assert!(!expected.is_empty(), "{kind}");
    assert_eq!(renamed, Json::from(expected).to_string(), "{kind}");
}

/// What a route says itself comes from its kind. Bound to the name are references of other policies (`kind: MeshHTTPRoute`): there
/// the name is a word of Kuma's, as `MeshService` is.
#[test]
fn a_copy_of_the_kind_of_routes_answers_alike_for_what_it_says_itself() {
    let text = "
type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: MeshService
name: orders
labels: {kuma.io/display-name: orders}
spec: {selector: {dataplaneTags: {kuma.io/service: orders}}, ports: [{port: 80, name: http, appProtocol: http}]}
---
type: ROUTE
name: a
spec:
  targetRef: {kind: Mesh}
  to:
  - targetRef: {kind: MeshService, name: orders}
    rules:
    - matches: [{path: {type: PathPrefix, value: /}}]
      default: {backendRefs: [{kind: MeshService, name: orders, port: 80, weight: 1}]}
---
type: ROUTE
name: b
spec:
  targetRef: {kind: Dataplane, name: web}
  to:
  - targetRef: {kind: MeshService, name: orders}
    rules:
    - matches: [{path: {type: Exact, value: /cart}}]
      default: {filters: []}
";
    let texts = |called: &str| vec![Input::text("world.yaml", Format::Yaml, text.replace("ROUTE", called))];
    for question in
        [Question::about("dataplane/web"), Question::about("dataplane/web").with("to", "meshservice/orders")]
    {
        answers_alike("MeshHTTPRoute", &question, texts);
    }
}

#[test]
fn a_split_is_summed_up_where_the_kind_says_so() {
    let policies = Policies::load(texts("demo", "TrafficRoute", "TrafficRoute"), Choices::default());
    let policies = policies.unwrap_or_else(|wrong| panic!("{wrong}"));
    let told = reports(&policies, &Question::between("web-1", "backend-1").kind("TrafficRoute"));
    assert_eq!(told[0]["summary"], "100% v1");
}
