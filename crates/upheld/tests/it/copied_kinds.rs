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
        ("demo", "TrafficPermission", Question::between("web-1", "backend-1")),
        ("kuma-matching-real-resources", "MeshTimeout", Question::about("dataplane/web-1")),
        ("kuma-matching-real-resources", "MeshTrafficPermission", Question::about("dataplane/web-1")),
        ("kgateway-policy-application-and-merging", "TrafficPolicy", Question::about("httproute/example-route")),
        ("envoy-gateway", "BackendTrafficPolicy", Question::about("httproute/shop")),
        ("compliance", "MeshPolicy", Question::about("project/my-example-project-prod~workspace/managed-customer")),
    ];
    for (folder, kind, question) in cases {
        let called = format!("Own{kind}");
        let choices = Choices::default;
        let original = Policies::load(texts(folder, kind, kind), choices()).unwrap_or_else(|wrong| panic!("{wrong}"));
        let inputs = texts(folder, kind, &called).into_iter().chain([copied(kind, &called)]).collect();
        let copy = Policies::load(inputs, choices()).unwrap_or_else(|wrong| panic!("{wrong}"));
        let expected = reports(&original, &question.clone().kind(kind));
        let told = reports(&copy, &question.kind(&called));
        let renamed = Json::from(told).to_string().replace(&called, kind);
        assert!(!expected.is_empty(), "{folder} {kind}");
        assert_eq!(renamed, Json::from(expected).to_string(), "{folder} {kind}");
    }
}
