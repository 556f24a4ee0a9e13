//! Every endpoint that decides tries for a few steps where it answers, and goes on elsewhere, within the steps of its request: S1 and S2 of the second round.

use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;
use tonic::transport::Endpoint;
use upheld_server::Config;
use upheld_server::config::Limits;

use crate::grpc::proto::envoy::service::auth::v3::attribute_context::{HttpRequest, Request as Asked};
use crate::grpc::proto::envoy::service::auth::v3::authorization_client::AuthorizationClient;
use crate::grpc::proto::envoy::service::auth::v3::check_response::HttpResponse;
use crate::grpc::proto::envoy::service::auth::v3::{AttributeContext, CheckRequest};
use crate::support::Served;

/// The steps of a request here. A decision is tried for fewer of them.
const STEPS: u64 = 2000;

/// One policy that knows of `GET` at once whether it applies, and of other methods after many comparisons.
fn served(steps: u64) -> Served {
    let served = Served::start(Config { limits: Limits { steps, ..Limits::default() }, ..Config::default() });
    let comparisons: Vec<String> = (0..120).map(|number| format!("action.method != 'M{number}'")).collect();
    let expression = format!("action.method == 'GET' || ({})", comparisons.join(" && "));
    let condition = json!({"type": "custom", "expression": expression});
    let documents = json!([
        {"id": "a", "effect": "permit", "subjects": [], "resources": [{"path": "/a/**"}], "actions": [],
            "conditions": vec![condition; 6]},
        {"kind": "Directory", "subjects": [{"type": "user", "id": "x"}], "resources": [{"type": "route", "id": "r", "properties": {"path": PATH}}],
            "actions": [{"name": LONG, "properties": {"method": LONG}}]},
    ]);
    let written = served.post("/v1/revisions", &json!({ "put": documents }).to_string());
    assert_eq!(written.status, 201, "{}", written.text);
    served
}

const SOON: &str = "GET";
const LONG: &str = "POST";
/// It can be read in two ways.
const PATH: &str = "/a/b%2fc";

fn request(method: &str) -> Json {
    json!({"subject": {"id": "x", "roles": [], "groups": [], "claims": {}}, "action": {"method": method}, "resource": {"path": PATH}, "environment": {}})
}

fn evaluation(method: &str) -> Json {
    json!({"subject": {"type": "user", "id": "x"}, "action": {"name": method, "properties": {"method": method}},
        "resource": {"type": "route", "id": "r", "properties": {"path": PATH}}})
}

/// What every endpoint that decides says of a method, by its name.
fn said(served: &Served, method: &str) -> Vec<(&'static str, String)> {
    let post = |name: &'static str, body: Json| {
        let answer = served.post(name, &body.to_string());
        (name, format!("{} {}", answer.status, answer.text))
    };
    let (one, evaluated) = (request(method), evaluation(method));
    let search = |part: &str| {
        let mut asked = evaluation(method);
        if let Some(fields) = asked[part].as_object_mut() {
            fields.shift_remove("id");
        }
        asked
    };
    let mut all = vec![
        post("/v1/decide", one.clone()),
        post("/v1/decide:batch", json!({"requests": [one.clone()]})),
        post("/v1/decide:batch", json!({"requests": vec![one.clone(); 10]})),
        post("/access/v1/evaluation", evaluated.clone()),
        post("/access/v1/evaluations", json!({"evaluations": [evaluated.clone()]})),
        // What each leaves out stands beside all of them.
        post(
            "/access/v1/evaluations",
            json!({"subject": evaluated["subject"], "action": evaluated["action"], "resource": evaluated["resource"], "evaluations": vec![json!({}); 10]}),
        ),
        post("/access/v1/search/subject", search("subject")),
        post("/access/v1/search/resource", search("resource")),
        post("/access/v1/search/action", search("action")),
        post("/authz/api/evaluate", one.clone()),
        post("/authz/api/explain", one.clone()),
        post("/v1/explain", json!({"request": one})),
        post("/v1/resolve", json!({"request": one})),
    ];
    let proxied = served.ask(method, &format!("/forward-auth{PATH}"), &[], "");
    all.push(("/forward-auth", format!("{} {}", proxied.status, proxied.text)));
    all.push(("gRPC", checked(served, method)));
    all
}

/// What Envoy is told.
fn checked(served: &Served, method: &str) -> String {
    let http = HttpRequest {
        method: method.to_owned(),
        path: PATH.to_owned(),
        host: "localhost".to_owned(),
        scheme: "http".to_owned(),
        protocol: "HTTP/1.1".to_owned(),
        ..HttpRequest::default()
    };
    let attributes = AttributeContext {
        request: Some(Asked { http: Some(http), ..Asked::default() }),
        ..AttributeContext::default()
    };
    let base = served.base().to_owned();
    let answer = Runtime::new().unwrap().block_on(async {
        let channel = Endpoint::from_shared(base).unwrap().connect().await.unwrap();
        let mut client = AuthorizationClient::new(channel);
        client.check(CheckRequest { attributes: Some(attributes) }).await.unwrap().into_inner()
    });
    match answer.http_response {
        Some(HttpResponse::OkResponse(_)) => "200".to_owned(),
        Some(HttpResponse::DeniedResponse(denied)) => format!("{:?}", denied.headers),
        None => answer.status.map(|status| status.message).unwrap_or_default(),
    }
}

#[test]
fn s2_every_endpoint_that_decides_has_the_budget_of_its_request() {
    let served = served(STEPS);
    for (name, said) in said(&served, SOON) {
        // Searches and explanations ask about more than one method.
        let asks_more = name.contains("/search/") || name.ends_with("/explain");
        assert!(said.starts_with("200") || asks_more, "{name}: {said}");
    }
    for (name, said) in said(&served, LONG) {
        // Those who ask for proxies say it in their own words.
        let is_told =
            said.contains(&format!("more than {STEPS} steps")) || said.contains("more steps than one request may");
        // A search says how many it could not decide.
        let is_incomplete = name.contains("/search/") && said.contains(r#""complete":false"#);
        assert!(is_told && !said.starts_with("200") || is_incomplete, "{name}: {said}");
    }
}

/// With the usual budget all of them are decided, as the same request is anywhere.
#[test]
fn s2_a_decision_that_is_given_up_at_first_is_made_elsewhere() {
    let served = served(Limits::default().steps);
    for (name, said) in said(&served, LONG) {
        assert!(!said.contains("steps"), "{name}: {said}");
        let is_decided = said.starts_with("200") || said.starts_with("403") || name == "gRPC";
        assert!(is_decided, "{name}: {said}");
    }
    let answer = served.post("/v1/decide", &request(LONG).to_string()).json();
    let batch = served.post("/v1/decide:batch", &json!({"requests": [request(LONG)]}).to_string()).json();
    assert_eq!(answer["decision"], batch["decisions"][0]["decision"]);
    let counted = served.get("/metrics").text;
    // Each of the surfaces counts a decision once, also one that was tried before.
    let expected = 1 + 1 + 10 + 2;
    assert!(
        counted.contains(&format!(
            r#"upheld_decisions_total{{surface="http",outcome="{}"}} {expected}"#,
            answer["decision"].as_str().unwrap()
        )),
        "{answer} {counted}"
    );
}
