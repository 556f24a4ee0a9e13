//! Requests from a proxy to a service: which rule of a route takes them, where they go, and what holds on the way.

use upheld_dialects::question::Words;
use upheld_loader::load::Loaded;
use upheld_report::Report;

use super::asked::{ask, loaded, reports, words};

const RESOURCES: &str = "type: Mesh
name: default
meshServices: {mode: Exclusive}
---
type: Dataplane
name: web
labels: {app: web}
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: MeshService
name: orders
labels: {kuma.io/display-name: orders}
spec: {selector: {dataplaneTags: {kuma.io/service: orders}}, ports: [{port: 80, name: http, appProtocol: http}]}
---
type: MeshHTTPRoute
name: split
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  to:
  - targetRef: {kind: MeshService, name: orders}
    rules:
    - matches: [{path: {type: PathPrefix, value: /}, headers: [{name: x-team, value: blue}]}]
      default: {backendRefs: [{kind: MeshService, name: blue, port: 80}]}
    - matches: [{path: {type: PathPrefix, value: /v2}, method: GET}]
      default: {backendRefs: [{kind: MeshService, name: new, weight: 90}, {kind: MeshService, name: orders, weight: 10}]}
---
type: MeshTimeout
name: on-route
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshHTTPRoute, name: split}, default: {http: {requestTimeout: 3s}}}]}
---
type: MeshTimeout
name: on-service
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshService, name: orders}, default: {http: {requestTimeout: 10s}}}]}
---
type: MeshRetry
name: base
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 3}}}]}
";

fn request(to: &str, path: &str, method: Option<&str>, header: &[&str]) -> Words {
    Words {
        path: Some(path.to_owned()),
        method: method.map(str::to_owned),
        header: header.iter().map(|one| (*one).to_owned()).collect(),
        ..words(None, Some("web"), Some(to), None)
    }
}

/// The headline about routes, and who says what else.
fn told(loaded: &Loaded, asked: &Words) -> (String, Vec<(String, Vec<String>)>) {
    let reports = reports(&loaded.snapshot, asked);
    let (routes, others): (Vec<Report>, Vec<Report>) =
        reports.into_iter().partition(|report| report.kind == "MeshHTTPRoute");
    let [route] = routes.as_slice() else { panic!("{routes:#?}") };
    let others = others.into_iter().map(|report| (report.kind, report.policies)).collect();
    (route.headline.text.clone(), others)
}

fn others(timeout: &str) -> Vec<(String, Vec<String>)> {
    [("MeshRetry", "base"), ("MeshTimeout", timeout)]
        .map(|(kind, policy)| (kind.to_owned(), vec![policy.to_owned()]))
        .to_vec()
}

#[test]
fn the_best_match_takes_a_request_and_policies_of_its_route_hold() {
    let loaded = loaded(RESOURCES, &["kuma/2"]);
    let (headline, policies) = told(&loaded, &request("meshservice/orders", "/v2/all?page=1", None, &["X-Team=blue"]));
    let goes = "meshservice/new (90 of 100), meshservice/orders (10 of 100): rule 2 of split takes it.";
    assert_eq!(headline, format!("GET /v2/all?page=1 for web → meshservice/orders (outbound) goes to {goes}"));
    assert_eq!(policies, others("on-route"));
    let (headline, policies) = told(&loaded, &request("meshservice/orders", "/v1", None, &["x-team: blue"]));
    assert!(headline.ends_with("goes to meshservice/blue#80: rule 1 of split takes it."), "{headline}");
    assert_eq!(policies, others("on-route"));
}

#[test]
fn a_request_that_no_rule_takes_has_what_holds_for_the_service() {
    let loaded = loaded(RESOURCES, &["kuma/2"]);
    for asked in [
        request("meshservice/orders", "/v2", Some("POST"), &[]),
        request("meshservice/orders", "/v22", None, &["x-team=red"]),
    ] {
        let (headline, policies) = told(&loaded, &asked);
        assert!(headline.starts_with("No rule of a route takes "), "{headline}");
        assert!(headline.ends_with("all requests go to the service itself. 2 rules looked at."), "{headline}");
        assert_eq!(policies, others("on-service"));
    }
}

/// K21: policies that are attached through the route (`e5`), where services are known by tags.
#[test]
fn k21_policies_attached_through_a_route_hold_for_what_its_rules_take() {
    let text = "type: Dataplane
name: web
networking: {address: 1.1.1.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], outbound: [{port: 1000, tags: {kuma.io/service: backend}}]}
---
type: MeshHTTPRoute
name: r
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: backend}
    rules: [{matches: [{path: {type: PathPrefix, value: /a}}], default: {}}]
---
type: MeshTimeout
name: on-r
spec: {targetRef: {kind: MeshHTTPRoute, name: r}, to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 3s}}}]}
---
type: MeshTimeout
name: base
spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 5s, http: {requestTimeout: 15s}}}]}
";
    let loaded = loaded(text, &["kuma/2"]);
    let timeout = |path: &str| {
        let (headline, others) = told(&loaded, &request("backend", path, None, &[]));
        let policies: Vec<String> = others.into_iter().flat_map(|(_, policies)| policies).collect();
        (headline.contains("rule 1 of r takes it"), policies)
    };
    assert_eq!(timeout("/a/b"), (true, vec!["on-r".to_owned(), "base".to_owned()]));
    assert_eq!(timeout("/b"), (false, vec!["base".to_owned()]));
}

#[test]
fn a_request_needs_somebody_who_is_called() {
    let loaded = loaded(RESOURCES, &["kuma/2"]);
    let asked = Words { path: Some("/".to_owned()), ..words(Some("web"), None, None, None) };
    let refused = ask(&loaded.snapshot, &asked).expect_err("is refused");
    assert!(refused.diagnostics.iter().any(|problem| problem.message.contains("to whom?")), "{refused:#?}");
}
