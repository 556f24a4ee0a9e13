//! S11: a server that is cut off from its store knows how old its answers are, says so, and refuses them once they are too old.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use tokio::runtime::Runtime;
use upheld_server::Config;
use upheld_server::config::{DecisionLog, DecisionLogTo, Operations, StoreLocation};
use upheld_store::testing::{Database, Relay};
use upheld_store::{Sqlite, Store};

use crate::grpc::proto::envoy::service::auth::v3::attribute_context::{HttpRequest, Request as Asked};
use crate::grpc::proto::envoy::service::auth::v3::authorization_client::AuthorizationClient;
use crate::grpc::proto::envoy::service::auth::v3::check_response::HttpResponse;
use crate::grpc::proto::envoy::service::auth::v3::{AttributeContext, CheckRequest, CheckResponse};
use crate::support::{Answer, Served, eventually};

const MOST: Duration = Duration::from_secs(2);

const POLICY: &str = r#"{"id": "readers", "effect": "permit", "subjects": [], "resources": [{"path": "/api/**"}],
    "actions": [{"method": "GET"}]}"#;
const REQUEST: &str = r#"{"action": {"method": "GET"}, "resource": {"path": "/api/x"}}"#;

fn put(served: &Served, name: &str) -> u16 {
    let policy = POLICY.replace("readers", name);
    served.ask("PUT", &format!("/v1/documents/AccessPolicy/access/{name}"), &[], &policy).status
}

/// What an answer says about its age.
fn staleness(answer: &Answer) -> u64 {
    let told = answer.header("upheld-staleness").unwrap_or_else(|| panic!("no age: {:?}", answer.headers));
    told.parse().unwrap()
}

fn check(served: &Served) -> CheckResponse {
    let http = HttpRequest { method: "GET".to_owned(), path: "/api/x".to_owned(), ..HttpRequest::default() };
    let request = Some(Asked { http: Some(http), ..Asked::default() });
    let attributes = Some(AttributeContext { request, ..AttributeContext::default() });
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let endpoint = tonic::transport::Endpoint::from_shared(served.base().to_owned()).unwrap();
        let mut client = AuthorizationClient::new(endpoint.connect_lazy());
        client.check(CheckRequest { attributes }).await.unwrap().into_inner()
    })
}

/// Every endpoint that is described, asked with something in the place of names, with its status.
fn all_endpoints(served: &Served) -> Vec<(String, u16)> {
    let described = served.get("/openapi.json").json();
    let mut answers = Vec::new();
    for (path, item) in described["paths"].as_object().unwrap() {
        let address: String =
            path.split_inclusive('/').map(|part| if part.starts_with('{') { "x/" } else { part }).collect();
        let address = address.trim_end_matches('/');
        for method in ["get", "post", "put", "delete"].into_iter().filter(|method| item[method].is_object()) {
            let body = if method == "get" { "" } else { "{}" };
            let status = served.ask(&method.to_uppercase(), address, &[], body).status;
            answers.push((format!("{method} {path}"), status));
        }
    }
    answers
}

/// What is answered however old the documents are: it is not about them, or comes from the store itself.
const OPEN: [&str; 8] = [
    "get /healthz",
    "get /metrics",
    "get /v1/history",
    "get /v1/codes",
    "get /v1/lessons",
    "get /.well-known/authzen-configuration",
    "post /v1/reload",
    "post /v1/compact",
];

#[test]
fn s11_a_replica_that_is_cut_off_refuses_to_answer_on_every_surface_and_heals_by_itself() {
    let Some(database) = Database::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    let (relay, url) = Relay::before(&database.url()).unwrap();
    let near = Served::start(Config { store: StoreLocation::Postgres(database.url()), ..Config::default() });
    let log = DecisionLog::new(DecisionLogTo::File(path.clone()));
    let far = Served::start(Config {
        store: StoreLocation::Postgres(url),
        max_stale: Some(MOST),
        operations: Operations { decision_log: Some(log), ..Operations::default() },
        ..Config::default()
    });
    assert_eq!(put(&near, "readers"), 201);
    eventually(|| far.post("/v1/decide", REQUEST).json()["decision"] == "permit");
    eventually(|| staleness(&far.get("/forward-auth/api/x")) == 0);
    eventually(|| matches!(check(&far).http_response, Some(HttpResponse::OkResponse(_))));

    relay.cut();
    eventually(|| far.get("/readyz").json()["status"] == "stale");
    assert_eq!(put(&near, "later"), 201);
    let ready = far.get("/readyz");
    assert_eq!(ready.status, 503, "{}", ready.text);
    assert!(ready.json()["stalenessSeconds"].as_u64().unwrap() >= MOST.as_secs(), "{}", ready.text);
    assert_eq!(far.get("/healthz").status, 200);
    assert!(staleness(&far.get("/openapi.json")) >= MOST.as_secs());
    let numbers = far.get("/metrics").text;
    let number = numbers.lines().find_map(|line| line.strip_prefix("upheld_snapshot_staleness_seconds "));
    assert!(number.unwrap().parse::<f64>().unwrap() > MOST.as_secs_f64());

    // Every convention of refusing.
    let refused = far.post("/v1/decide", REQUEST);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{}", refused.text);
    assert_eq!(refused.json()["type"], "/problems/stale-snapshot");
    assert!(refused.json()["detail"].as_str().unwrap().contains("`--max-stale` permits 2 s"), "{}", refused.text);
    assert!(staleness(&refused) >= MOST.as_secs());
    let stopped = far.get("/forward-auth/api/x");
    assert_eq!((stopped.status, stopped.header("x-policy-decision")), (403, Some("undecided")), "{}", stopped.text);
    assert!(stopped.json()["reason"].as_str().unwrap().contains("--max-stale"), "{}", stopped.text);
    let text = far.post("/access/v1/evaluation", "{}");
    assert_eq!((text.status, text.header("content-type")), (503, Some("text/plain; charset=utf-8")), "{}", text.text);
    let seed = far.post("/authz/api/evaluate", "{}");
    assert_eq!((seed.status, &seed.json()["error"]), (503, &"Service Unavailable".into()), "{}", seed.text);
    let envoy = check(&far);
    let Some(HttpResponse::DeniedResponse(denied)) = envoy.http_response else { panic!("let through: {envoy:?}") };
    assert!(denied.body.contains("--max-stale"), "{}", denied.body);
    let page = far.ask("GET", "/policies", &[("accept", "text/html")], "");
    assert_eq!(page.status, 503, "{}", page.text);
    for (endpoint, status) in all_endpoints(&far) {
        let is_open = OPEN.iter().any(|open| endpoint == *open || endpoint.starts_with(&format!("{open}/")));
        assert_eq!(status == 503, !is_open || status == 503 && endpoint == "get /v1/history", "{endpoint} {status}");
    }

    relay.heal();
    eventually(|| far.get("/readyz").status == 200);
    eventually(|| far.get("/v1/documents/AccessPolicy/access/later").status == 200);
    eventually(|| far.post("/v1/decide", REQUEST).json()["decision"] == "permit");
    eventually(|| matches!(check(&far).http_response, Some(HttpResponse::OkResponse(_))));
    drop(far);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let undecided = lines.filter(|line| line["decision"] == "undecided");
    let surfaces: Vec<String> = undecided
        .map(|line| {
            assert!(line["reason"].as_str().unwrap().contains("--max-stale"), "{line}");
            line["surface"].as_str().unwrap().to_owned()
        })
        .collect();
    let all = std::collections::BTreeSet::from_iter(surfaces);
    assert_eq!(all.into_iter().collect::<Vec<_>>(), ["forward", "grpc"], "{text}");
}

/// A database that was put back to an earlier state is no confirmation of what it lost.
#[test]
fn s11_a_store_that_went_back_makes_answers_stale() {
    let Some(database) = Database::start() else { return };
    let store = || StoreLocation::Postgres(database.url());
    let served = Served::start(Config { store: store(), max_stale: Some(MOST), ..Config::default() });
    for name in ["a", "b", "c"] {
        eventually(|| put(&served, name) == 201);
    }
    Runtime::new().unwrap().block_on(Database::put_back(&database.url(), 2)).unwrap();
    eventually(|| served.post("/v1/decide", REQUEST).status == 503);
    assert_eq!(served.get("/readyz").json()["status"], "stale");
    // Others go on, and reach the same number with other documents.
    let other = Served::start(Config { store: store(), ..Config::default() });
    assert_eq!(put(&other, "d"), 201);
    std::thread::sleep(MOST);
    assert_eq!(served.post("/v1/decide", REQUEST).status, 503);
}

#[test]
fn s11_a_file_that_can_be_read_is_never_stale_and_one_that_cannot_is() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let sqlite = Arc::new(runtime.block_on(Sqlite::open(folder.path())).unwrap());
    let store = StoreLocation::Given(Arc::clone(&sqlite) as Arc<dyn Store>);
    let served = Served::start(Config { store, max_stale: Some(MOST), ..Config::default() });
    eventually(|| put(&served, "readers") == 201);
    // The store is asked without a write, too: otherwise it would be stale from now on.
    std::thread::sleep(MOST + Duration::from_secs(1));
    eventually(|| {
        let answer = served.post("/v1/decide", REQUEST);
        answer.status == 200 && answer.json()["decision"] == "permit" && staleness(&answer) == 0
    });
    runtime.block_on(sqlite.close());
    eventually(|| served.post("/v1/decide", REQUEST).status == 503);
    assert_eq!((served.get("/readyz").status, served.get("/healthz").status), (503, 200));
}

#[test]
fn s11_a_store_in_memory_is_never_out_of_reach() {
    let served = Served::start(Config { max_stale: Some(MOST), ..Config::default() });
    assert_eq!(put(&served, "readers"), 201);
    std::thread::sleep(MOST + Duration::from_millis(500));
    let answer = served.post("/v1/decide", REQUEST);
    assert_eq!((answer.json()["decision"].clone(), staleness(&answer)), ("permit".into(), 0));
    assert_eq!(served.get("/readyz").json()["stalenessSeconds"], 0);
}
