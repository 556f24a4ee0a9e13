use serde_json::{Value as Json, json};

use super::*;
use crate::kuma::testing::{self, policy, selectors, snapshot, with};

fn any() -> Json {
    json!({"kuma.io/service": "*"})
}

fn service(name: &str) -> Json {
    json!({"kuma.io/service": name})
}

/// A proxy of a service on port 80 that calls services on ports from 10001.
fn dataplane(name: &str, offered: &str, called: &[&str]) -> Json {
    let outbounds: Json =
        called.iter().zip(10001..).map(|(called, port)| json!({"port": port, "tags": service(called)})).collect();
    json!({"type": "Dataplane", "name": name, "networking": {
        "address": "10.0.0.1",
        "inbound": [{"port": 80, "servicePort": 8080, "tags": service(offered)}],
        "outbound": outbounds,
    }})
}

/// The places of a proxy, each as `type name service` with `Type/name` of its policies.
fn places(documents: &[Json], name: &str) -> Vec<String> {
    let response = inspect(&snapshot(documents), &format!("/meshes/default/dataplanes/{name}/policies")).unwrap();
    let items = response["items"].as_array().unwrap();
    assert_eq!(response["kind"], "SidecarDataplane");
    assert_eq!(response["total"], items.len());
    let line = |item: &Json| {
        let words = ["type", "name", "service"].map(|field| item[field].as_str().unwrap_or("-"));
        let policies = item["matchedPolicies"].as_object().unwrap().values().flat_map(|list| list.as_array().unwrap());
        let policies: Vec<_> = policies
            .map(|policy| format!("{}/{}", policy["type"].as_str().unwrap(), policy["name"].as_str().unwrap()))
            .collect();
        format!("{}: {}", words.join(" "), policies.join(", "))
    };
    items.iter().map(line).collect()
}

/// The proxies of a policy, each as its name with the `type name` of the places.
fn reached(documents: &[Json], path: &str) -> Vec<String> {
    let response = inspect(&snapshot(documents), path).unwrap();
    let items = response["items"].as_array().unwrap();
    assert_eq!(response["total"], items.len());
    let line = |item: &Json| {
        assert_eq!(item["kind"], "SidecarDataplane");
        let places = item["attachments"].as_array().unwrap().iter();
        let places: Vec<_> = places
            .map(|place| format!("{} {}", place["type"].as_str().unwrap(), place["name"].as_str().unwrap_or("-")))
            .collect();
        format!("{}: {}", item["dataplane"]["name"].as_str().unwrap(), places.join(", "))
    };
    items.iter().map(line).collect()
}

#[test]
fn every_endpoint_that_is_told_of_is_there() {
    let snapshot = snapshot(&[json!({"type": "Mesh", "name": "default"})]);
    let filled = |path: &str| {
        let path = path.replace("{mesh}", "default").replace("{policies}", "traffic-logs");
        ["{name}", "{kri}", "{route}"].iter().fold(path, |path, name| path.replace(name, "x"))
    };
    for Endpoint { path, .. } in ENDPOINTS {
        let found = inspect(&snapshot, &filled(path));
        assert!(!matches!(found, Err(InspectError::NoEndpoint { .. })), "{path}");
    }
    let nowhere = inspect(&snapshot, "/meshes/default/dataplanes/x/nowhere");
    assert!(matches!(nowhere, Err(InspectError::NoEndpoint { .. })));
}

#[test]
fn each_kind_has_its_place() {
    let connection = |kind: &str| policy(kind, "p", &[any()], &[any()]);
    let whole = |kind: &str| json!({"type": kind, "name": "p", "selectors": selectors(&[any()])});
    let mut documents = vec![dataplane("web-1", "web", &["redis"]), whole("TrafficTrace"), whole("ProxyTemplate")];
    documents.extend(
        ["TrafficPermission", "FaultInjection", "RateLimit", "Timeout", "TrafficRoute", "TrafficLog"].map(connection),
    );
    documents.extend(["HealthCheck", "CircuitBreaker", "Retry"].map(connection));
    assert_eq!(
        places(&documents, "web-1"),
        [
            "dataplane - -: ProxyTemplate/p, TrafficTrace/p",
            "inbound 10.0.0.1:80:8080 web: FaultInjection/p, RateLimit/p, TrafficPermission/p",
            "outbound 127.0.0.1:10001 redis: RateLimit/p, Timeout/p, TrafficRoute/p",
            "service pass_through pass_through: TrafficLog/p",
            "service redis redis: CircuitBreaker/p, HealthCheck/p, Retry/p, TrafficLog/p",
        ]
    );
}

#[test]
fn places_are_ordered_by_their_text() {
    let documents = [
        dataplane("web-1", "web", &["redis", "elastic"]),
        policy("HealthCheck", "hc", &[any()], &[any()]),
        policy("Timeout", "t", &[any()], &[any()]),
    ];
    assert_eq!(
        places(&documents, "web-1"),
        [
            "outbound 127.0.0.1:10001 redis: Timeout/t",
            "outbound 127.0.0.1:10002 elastic: Timeout/t",
            "service elastic elastic: HealthCheck/hc",
            "service redis redis: HealthCheck/hc",
        ]
    );
}

#[test]
fn places_without_policies_are_left_out() {
    assert!(places(&[dataplane("web-1", "web", &["redis"])], "web-1").is_empty());
}

#[test]
fn permissions_do_not_ask_who_calls() {
    let documents = [
        dataplane("web-1", "web", &[]),
        policy("TrafficPermission", "for-strangers", &[service("stranger")], &[service("web")]),
    ];
    assert_eq!(places(&documents, "web-1"), ["inbound 10.0.0.1:80:8080 web: TrafficPermission/for-strangers"]);
}

#[test]
fn a_policy_is_listed_once_for_each_matching_destination() {
    let documents = [
        dataplane("web-1", "web", &[]),
        policy("FaultInjection", "twice", &[any()], &[any(), service("web"), service("other")]),
    ];
    assert_eq!(
        places(&documents, "web-1"),
        ["inbound 10.0.0.1:80:8080 web: FaultInjection/twice, FaultInjection/twice"]
    );
    assert_eq!(
        reached(&documents, "/meshes/default/fault-injections/twice/dataplanes"),
        ["web-1: inbound 10.0.0.1:80:8080, inbound 10.0.0.1:80:8080"]
    );
}

#[test]
fn lists_are_ordered_by_the_first_source_only() {
    let documents = [
        dataplane("web-1", "web", &[]),
        policy("RateLimit", "a-wild-first", &[any(), json!({"kuma.io/service": "x", "zone": "eu"})], &[any()]),
        policy("RateLimit", "b-exact", &[service("x")], &[any()]),
    ];
    assert_eq!(
        places(&documents, "web-1"),
        ["inbound 10.0.0.1:80:8080 web: RateLimit/b-exact, RateLimit/a-wild-first"]
    );
}

#[test]
fn outbound_limits_see_only_the_service() {
    let http = json!({"kuma.io/service": "redis", "kuma.io/protocol": "http"});
    let documents = [
        dataplane("web-1", "web", &["redis", "elastic"]),
        policy("RateLimit", "limit", &[any()], &[http, service("elastic")]),
    ];
    assert_eq!(
        reached(&documents, "/meshes/default/rate-limits/limit/dataplanes"),
        ["web-1: outbound 127.0.0.1:10002"]
    );
}

#[test]
fn health_checks_follow_the_routes_and_logs_the_outbounds() {
    let route = json!({"conf": {"split": [
        {"weight": 1, "destination": {"kuma.io/service": "*", "version": "v1"}},
        {"weight": 1, "destination": {"kuma.io/service": "google"}},
    ]}});
    let documents = [
        dataplane("web-1", "web", &["redis"]),
        with(policy("TrafficRoute", "tr", &[any()], &[service("redis")]), &route),
        policy("HealthCheck", "hc", &[any()], &[any()]),
        policy("TrafficLog", "tl", &[any()], &[service("google")]),
    ];
    assert_eq!(
        places(&documents, "web-1"),
        [
            "outbound 127.0.0.1:10001 redis: TrafficRoute/tr",
            "service google google: HealthCheck/hc",
            "service redis redis: HealthCheck/hc",
        ]
    );
}

#[test]
fn only_the_best_policy_is_attached_where_one_stands() {
    let documents = [
        dataplane("web-1", "web", &["redis"]),
        policy("Timeout", "general", &[any()], &[any()]),
        policy("Timeout", "special", &[service("web")], &[service("redis")]),
    ];
    assert_eq!(places(&documents, "web-1"), ["outbound 127.0.0.1:10001 redis: Timeout/special"]);
    assert!(reached(&documents, "/meshes/default/timeouts/general/dataplanes").is_empty());
}

#[test]
fn proxies_come_in_the_order_in_which_they_were_written() {
    let documents =
        [dataplane("zebra", "web", &[]), dataplane("ape", "web", &[]), json!({"type": "ProxyTemplate", "name": "pt"})];
    assert_eq!(
        reached(&documents, "/meshes/default/proxytemplates/pt/dataplanes"),
        ["zebra: dataplane -", "ape: dataplane -"]
    );
}

#[test]
fn virtual_outbounds_are_attached_to_no_proxy() {
    let documents = [
        dataplane("web-1", "web", &["redis"]),
        json!({"type": "VirtualOutbound", "name": "vo", "selectors": selectors(&[any()])}),
    ];
    assert!(places(&documents, "web-1").is_empty());
    assert!(reached(&documents, "/meshes/default/virtual-outbounds/vo/dataplanes").is_empty());
}

#[test]
fn policies_of_another_mesh_are_invisible() {
    let documents = [
        dataplane("web-1", "web", &["redis"]),
        with(policy("Timeout", "elsewhere", &[any()], &[any()]), &json!({"mesh": "other"})),
    ];
    assert!(places(&documents, "web-1").is_empty());
    assert!(reached(&documents, "/meshes/other/timeouts/elsewhere/dataplanes").is_empty());
}

#[test]
fn outbounds_of_resources_have_no_place() {
    let documents = [
        json!({"type": "Dataplane", "name": "web-1", "networking": {
            "inbound": [{"port": 80, "tags": service("web")}],
            "outbound": [{"port": 1, "tags": service("redis"), "backendRef": {"kind": "MeshService", "name": "redis"}}],
        }}),
        policy("Timeout", "t", &[any()], &[any()]),
    ];
    assert!(places(&documents, "web-1").is_empty());
}

#[test]
fn metrics_of_the_mesh_are_an_inbound() {
    let metrics = json!({"enabledBackend": "p", "backends": [{"name": "p", "type": "prometheus"}]});
    let own = json!({"metrics": {"type": "prometheus", "conf": {"port": 1234, "tags": {"team": "a"}}}});
    let documents = [
        json!({"type": "Mesh", "name": "default", "metrics": metrics}),
        dataplane("web-1", "web", &[]),
        with(dataplane("web-2", "web", &[]), &own),
        policy("TrafficPermission", "metrics", &[any()], &[service("dataplane-metrics")]),
    ];
    assert_eq!(
        reached(&documents, "/meshes/default/traffic-permissions/metrics/dataplanes"),
        ["web-1: inbound 10.0.0.1:5670:5670", "web-2: inbound 10.0.0.1:1234:1234"]
    );
}

#[test]
fn a_policy_is_shown_without_what_it_says() {
    let times = json!({"creationTime": "2024-01-01T00:00:00Z", "labels": {"team": "a"}, "conf": {"secret": true}});
    let documents = [dataplane("web-1", "web", &["redis"]), with(policy("Timeout", "t", &[any()], &[any()]), &times)];
    let response = inspect(&snapshot(&documents), "/meshes/default/dataplanes/web-1/policies").unwrap();
    let expected = json!({"Timeout": [{
        "type": "Timeout", "mesh": "default", "name": "t", "labels": {"team": "a"},
        "creationTime": "2024-01-01T00:00:00Z", "modificationTime": "0001-01-01T00:00:00Z",
    }]});
    assert_eq!(response["items"][0]["matchedPolicies"], expected);
}

/// What an error says.
#[track_caller]
fn check_error(documents: &[Json], path: &str, expected: &str) {
    assert_eq!(inspect(&snapshot(documents), path).unwrap_err().to_string(), expected);
}

#[test]
fn what_does_not_exist_is_named() {
    let documents = [dataplane("web-1", "web", &[])];
    let check = |path, expected| check_error(&documents, path, expected);
    check("/meshes/none/dataplanes/web-1/policies", "there is no Mesh `none`");
    check("/meshes/default/dataplanes/none/policies", "there is no Dataplane `none` in mesh `default`");
    check("/meshes/default/retries/none/dataplanes", "there is no Retry `none` in mesh `default`");
    check("/meshes/default/dataplanes/web-1", "there is no inspection endpoint `/meshes/default/dataplanes/web-1`");
    check("/meshes/default/cats/a/dataplanes", "there is no inspection endpoint `/meshes/default/cats/a/dataplanes`");
    check(
        "/meshes/default/cats/a/dataplanes?t=x",
        "there is no inspection endpoint `/meshes/default/cats/a/dataplanes`",
    );
}

#[test]
fn built_in_gateways_are_refused_and_not_left_out() {
    let gateway = json!({"type": "Dataplane", "name": "edge", "networking": {
        "gateway": {"type": "BUILTIN", "tags": service("edge")},
    }});
    let documents = [gateway, policy("Timeout", "t", &[any()], &[any()])];
    let expected = "`edge` is a built-in gateway, whose policies are not resolved yet";
    check_error(&documents, "/meshes/default/dataplanes/edge/policies", expected);
    check_error(&documents, "/meshes/default/timeouts/t/dataplanes", expected);
}

#[test]
fn delegated_gateways_call_with_their_own_tags() {
    let gateway = json!({"type": "Dataplane", "name": "edge", "networking": {
        "gateway": {"tags": service("edge")},
        "outbound": [{"port": 1, "tags": service("web")}],
    }});
    let documents = [gateway, policy("Timeout", "t", &[service("edge")], &[any()])];
    assert_eq!(places(&documents, "edge"), ["outbound 127.0.0.1:1 web: Timeout/t"]);
}

#[test]
fn other_editions_have_no_such_endpoint() {
    let snapshot = testing::snapshot_of("kuma/0.3", &[dataplane("web-1", "web", &[])]);
    let error = inspect(&snapshot, "/meshes/default/dataplanes/web-1/policies").unwrap_err();
    assert_eq!(error, InspectError::OtherEdition);
}

mod native;
