//! What manifests look like that people write: empty maps, nulls, classes of other controllers, missing neighbours.

use serde_json::json;

use upheld_report::Verdict;

use crate::asking::{CURRENT, answer, held, notes, overridden, report, reports};

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
    // The place of each is where it is written, not where its document begins.
    let written = "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]\n  http3: {}\n";
    let document =
        format!("---\napiVersion: {ENVOY}\nkind: ClientTrafficPolicy\nmetadata: {{name: q, namespace: web}}\n");
    let before = world("envoy", FORWARDS);
    let line = before.lines().count() + document.lines().count() + written.lines().count();
    let found = report(CURRENT, &format!("{before}{document}{written}"), "gateway/web/edge", "ClientTrafficPolicy");
    let at = found.fields[0].from[0].at.as_ref().expect("has a place");
    assert_eq!(at.to_string(), format!("documents.yaml:{line}"));
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

/// A class of a controller.
fn class(name: &str, controller: &str) -> String {
    format!(
        "---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: {name}}}
spec: {{controllerName: {controller}}}
"
    )
}

const BY_KGATEWAY: &str = "kgateway.dev/kgateway";
const BY_ENVOY: &str = "gateway.envoyproxy.io/gatewayclass-controller";

/// What is said of policies without effect when a route is asked about.
fn warned(text: &str) -> Vec<String> {
    let answer = answer(CURRENT, text, json!({"what": "httproute/web/shop"})).expect("is answered");
    answer.warnings.into_iter().map(|warning| warning.message).collect()
}

#[test]
fn policies_of_one_controller_do_not_count_at_gateways_of_another() {
    let cases = [
        (BY_KGATEWAY, ENVOY, "SecurityPolicy", "authorization: {defaultAction: Deny}"),
        (BY_ENVOY, KGATEWAY, "TrafficPolicy", "csrf: {percentageEnabled: 7}"),
        ("example.com/controller", KGATEWAY, "TrafficPolicy", "csrf: {percentageEnabled: 7}"),
    ];
    for (controller, api, kind, rest) in cases {
        let text = world("shared", FORWARDS) + &class("shared", controller) + &policy(api, kind, "lost", ROUTE, rest);
        let found = report(CURRENT, &text, "httproute/web/shop", kind);
        assert_eq!((found.verdict, found.policies.len(), found.fields.len()), (Verdict::Unset, 0, 0), "{kind}");
        let told = format!("has no effect: {controller} runs this gateway, and does not know such policies");
        assert_eq!(found.candidates[0].reason.text, told);
        let why =
            format!("{kind} web/lost has no effect: Gateway web/edge is run by {controller}, which does not know");
        assert!(warned(&text).iter().any(|warning| warning.starts_with(&why)), "{:?}", warned(&text));
    }
    // The controller that knows it applies it, and so does one that nobody knows; that is said.
    let lost = policy(ENVOY, "SecurityPolicy", "kept", ROUTE, "authorization: {defaultAction: Deny}");
    let known = world("shared", FORWARDS) + &class("shared", BY_ENVOY) + &lost;
    let found = report(CURRENT, &known, "httproute/web/shop", "SecurityPolicy");
    assert_eq!((found.policies.len(), notes(&found, "UP035").len()), (1, 0));
    let unknown = world("shared", FORWARDS) + &lost;
    let found = report(CURRENT, &unknown, "httproute/web/shop", "SecurityPolicy");
    let note = "the GatewayClass shared of Gateway web/edge was not read: its controller is taken for one that knows SecurityPolicy";
    assert_eq!((found.policies.len(), notes(&found, "UP035")), (1, vec![note]));
}

#[test]
fn rules_are_broken_by_the_rules_of_who_runs_the_gateway() {
    let filter = "filters: [{type: ExtensionRef, extensionRef: {group: example.com, kind: Middleware, name: strip}}]";
    let errors = |text: &str| reports(text, "httproute/web/shop").iter().any(|report| report.verdict == Verdict::Error);
    for rule in ["matches: []", filter] {
        for (controller, fails) in [(BY_KGATEWAY, true), (BY_ENVOY, false), ("example.com/controller", false)] {
            let text = world("shared", rule) + &class("shared", controller);
            assert_eq!(errors(&text), fails, "{rule} {controller}");
        }
    }
    // Where nobody knows who runs it, a filter of a strange group may do anything.
    let found = reports(&world("shared", filter), "httproute/web/shop");
    assert_eq!(found[0].verdict, Verdict::Unset);
    let note = "the filter example.com/Middleware strip is not known here: what it does is not part of this answer";
    assert_eq!(notes(&found[0], "UP035"), [note]);
    assert!(errors(&world("shared", "matches: []")));
}

#[test]
fn a_filter_of_envoy_gateway_may_answer_itself() {
    let filter = "filters: [{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: ok}}]";
    let filters = "---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: HTTPRouteFilter
metadata: {name: ok, namespace: web}
spec: {directResponse: {statusCode: 200}}
";
    for classes in [String::new(), class("shared", BY_ENVOY)] {
        let text = world("shared", filter) + &classes + filters;
        let found = reports(&text, "httproute/web/shop");
        assert!(found.iter().all(|report| report.verdict != Verdict::Error), "{classes}");
    }
    // One that is not there is an error there, too.
    let text = world("shared", filter) + &class("shared", BY_ENVOY);
    assert!(warned(&text).iter().any(|warning| warning.contains("`ok`, which does not exist")));
}

#[test]
fn the_timeout_of_a_rule_goes_before_that_of_envoy_gateways_policy() {
    let rule = "timeouts: {request: 5s}, backendRefs: [{name: shop, port: 80}]";
    let near = policy(
        ENVOY,
        "BackendTrafficPolicy",
        "near",
        ROUTE,
        "timeout: {http: {requestTimeout: 30s, connectionIdleTimeout: 9s}}",
    );
    let wide = policy(ENVOY, "BackendTrafficPolicy", "wide", GATEWAY, "retry: {numRetries: 3}");
    for classes in [String::new(), class("shared", BY_ENVOY)] {
        let text = world("shared", rule) + &classes + &near + &wide;
        let found = reports(&text, "httproute/web/shop");
        let kinds: Vec<&str> = found.iter().map(|report| report.kind.as_str()).collect();
        assert_eq!(kinds, ["BackendTrafficPolicy"]);
        let timeout = "timeout.http.requestTimeout";
        assert_eq!(held(&found[0], timeout), Some((json!("5s"), "(the rule itself)".to_owned())));
        assert_eq!(
            overridden(&found[0], timeout, "web/near"),
            Some((&json!("30s"), "a rule's own setting goes before any policy"))
        );
        // What the rule does not say is as before: the nearer policy stands alone.
        assert_eq!(held(&found[0], "timeout.http.connectionIdleTimeout"), Some((json!("9s"), "web/near".to_owned())));
        assert_eq!(held(&found[0], "retry.numRetries"), None);
    }
    // The timeout for backends is the one that is waited for.
    let rule = "timeouts: {request: 5s, backendRequest: 4s}, backendRefs: [{name: shop, port: 80}]";
    let text = world("shared", rule) + &class("shared", BY_ENVOY);
    let found = report(CURRENT, &text, "httproute/web/shop", "BackendTrafficPolicy");
    assert_eq!(held(&found, "timeout.http.requestTimeout"), Some((json!("4s"), "(the rule itself)".to_owned())));
}
