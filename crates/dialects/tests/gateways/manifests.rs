//! What manifests look like that people write: empty maps, nulls, classes of other controllers, missing neighbours.

use serde_json::json;

use crate::asking::{CURRENT, answer, held, overridden, report};

/// A gateway with a plain listener, and a route with one rule; the rest of the rule is given.
fn world(class: &str, rule: &str) -> String {
    format!(
        "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: web}}
spec: {{gatewayClassName: {class}, listeners: [{{name: http, protocol: HTTP, port: 80}}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: shop, namespace: web}}
spec: {{parentRefs: [{{name: edge}}], rules: [{{{rule}}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: shop, namespace: web}}
spec: {{ports: [{{port: 80}}]}}
"
    )
}

const FORWARDS: &str = "backendRefs: [{name: shop, port: 80}]";

/// A policy of a group and kind for a target, with the rest of its spec.
fn policy(api: &str, kind: &str, name: &str, target: &str, rest: &str) -> String {
    format!(
        "---
apiVersion: {api}
kind: {kind}
metadata: {{name: {name}, namespace: web}}
spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], {rest}}}
"
    )
}

const ENVOY: &str = "gateway.envoyproxy.io/v1alpha1";
const KGATEWAY: &str = "gateway.kgateway.dev/v1alpha1";
const GATEWAY: &str = "kind: Gateway, name: edge";
const ROUTE: &str = "kind: HTTPRoute, name: shop";

#[test]
fn an_empty_map_is_a_field_that_is_set() {
    let text = world("envoy", FORWARDS)
        + &policy(ENVOY, "ClientTrafficPolicy", "quic", GATEWAY, "http3: {}, tcpKeepalive: {}, timeout: {http: {}}");
    let found = report(CURRENT, &text, "gateway/web/edge", "ClientTrafficPolicy");
    for field in ["http3", "tcpKeepalive", "timeout.http"] {
        assert_eq!(held(&found, field), Some((json!({}), "web/quic".to_owned())), "{field}");
    }
    assert_eq!(found.fields.len(), 3);
    let only =
        answer(CURRENT, &text, json!({"what": "gateway/web/edge", "kind": "ClientTrafficPolicy", "field": "http3"}));
    let only = only.expect("is answered");
    assert_eq!(only.reports[0].fields.len(), 1);
}

#[test]
fn an_empty_map_survives_where_policies_are_merged() {
    let text = world("envoy", FORWARDS)
        + &policy(ENVOY, "BackendTrafficPolicy", "wide", GATEWAY, "tcpKeepalive: {}, retry: {numRetries: 3}")
        + &policy(
            ENVOY,
            "BackendTrafficPolicy",
            "near",
            ROUTE,
            "mergeType: StrategicMerge, tcpKeepalive: {}, http2: {}",
        );
    let found = report(CURRENT, &text, "httproute/web/shop", "BackendTrafficPolicy");
    assert_eq!(held(&found, "tcpKeepalive"), Some((json!({}), "web/near".to_owned())));
    assert_eq!(held(&found, "http2"), Some((json!({}), "web/near".to_owned())));
    assert_eq!(held(&found, "retry.numRetries"), Some((json!(3), "web/wide".to_owned())));
}

#[test]
fn a_null_hides_no_wider_policy() {
    let text = world("kgateway", FORWARDS)
        + &policy(KGATEWAY, "TrafficPolicy", "near", ROUTE, "timeouts: {request: 5s, streamIdle: null}")
        + &policy(KGATEWAY, "TrafficPolicy", "wide", GATEWAY, "timeouts: {streamIdle: 10s}");
    let found = report(CURRENT, &text, "httproute/web/shop", "TrafficPolicy");
    assert_eq!(held(&found, "timeouts.streamIdle"), Some((json!("10s"), "web/wide".to_owned())));
    assert_eq!(held(&found, "timeouts.request"), Some((json!("5s"), "web/near".to_owned())));
    let text = world("envoy", FORWARDS)
        + &policy(
            ENVOY,
            "BackendTrafficPolicy",
            "near",
            ROUTE,
            "mergeType: StrategicMerge, retry: null, timeout: {http: null}",
        )
        + &policy(
            ENVOY,
            "BackendTrafficPolicy",
            "wide",
            GATEWAY,
            "retry: {numRetries: 3}, timeout: {http: {requestTimeout: 9s}}",
        );
    let found = report(CURRENT, &text, "httproute/web/shop", "BackendTrafficPolicy");
    assert_eq!(held(&found, "retry.numRetries"), Some((json!(3), "web/wide".to_owned())));
    assert_eq!(held(&found, "timeout.http.requestTimeout"), Some((json!("9s"), "web/wide".to_owned())));
    assert_eq!(overridden(&found, "retry", "web/wide"), None);
}

#[test]
fn a_null_stays_where_fields_are_free() {
    let text = world("envoy", FORWARDS)
        + &policy(
            ENVOY,
            "EnvoyExtensionPolicy",
            "wasm",
            ROUTE,
            "wasm: [{name: a, failOpen: null, config: {mode: null}}]",
        );
    let found = report(CURRENT, &text, "httproute/web/shop", "EnvoyExtensionPolicy");
    assert_eq!(held(&found, "wasm").expect("is set").0, json!([{"name": "a", "config": {"mode": null}}]));
}
