//! Questions about things whose neighbours were not read, or that no request reaches: what is said must be true, and come to an end.

use serde_json::json;
use upheld_model::State;

use crate::asking::{CURRENT, answer, findings, held, notes, read, refusal, report, reports};

fn warned(text: &str, what: &str) -> Vec<String> {
    let answer = answer(CURRENT, text, json!({"what": what})).expect("is answered");
    answer.warnings.into_iter().map(|warning| warning.message).collect()
}

const STREAMS: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: web}
spec: {gatewayClassName: envoy, listeners: [{name: tcp, protocol: TCP, port: 5432}]}
---
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: TCPRoute
metadata: {name: store, namespace: web}
spec: {parentRefs: [{name: edge}], rules: [{name: all, backendRefs: [{name: store, port: 5432}]}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: near, namespace: web}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: TCPRoute, name: store}], mergeType: StrategicMerge, tcpKeepalive: {probes: 3}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: wide, namespace: web}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}], timeout: {tcp: {connectTimeout: 1s}}}
";

#[test]
fn routes_for_streams_can_be_asked_about() {
    let found = report(CURRENT, STREAMS, "tcproute/web/store", "BackendTrafficPolicy");
    assert_eq!(found.about.what, "TCPRoute web/store all");
    assert_eq!(found.about.holds_for, ["Gateway web/edge listener tcp"]);
    assert_eq!(held(&found, "tcpKeepalive.probes"), Some((json!(3), "web/near".to_owned())));
    assert_eq!(held(&found, "timeout.tcp.connectTimeout"), Some((json!("1s"), "web/wide".to_owned())));
    // Without its gateway, what was read is answered.
    let alone = STREAMS.split_once("---").expect("has a gateway").1;
    let found = report(CURRENT, alone, "tcproute/store", "BackendTrafficPolicy");
    assert_eq!(held(&found, "tcpKeepalive.probes"), Some((json!(3), "web/near".to_owned())));
    assert_eq!(notes(&found, "UP035").len(), 1);
    assert!(refusal(STREAMS, json!({"what": "tlsroute/web/store"})).starts_with("there is no tlsroute `web/store`"));
}

const ANSWERED: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: web}
spec:
  parentRefs: [{name: edge}]
  rules: [{filters: [{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: DirectResponse, name: gone}}]}]
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: DirectResponse
metadata: {name: gone, namespace: web}
spec: {status: 410}
";

#[test]
fn what_a_route_names_whose_gateway_was_not_read_has_an_effect() {
    let told = warned(ANSWERED, "httproute/web/shop");
    assert!(told.iter().all(|warning| !warning.starts_with("DirectResponse")), "{told:?}");
    let unnamed = ANSWERED.replace("name: gone}}", "name: other}}");
    let told = findings(&read(CURRENT, &unnamed));
    assert!(told.iter().any(|warning| warning.starts_with("DirectResponse web/gone has no effect")), "{told:?}");
}

const DELEGATING: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: root, namespace: web}
spec:
  parentRefs: [{name: edge}]
  rules: [{matches: [{path: {value: /a}}], backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: leaf}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: leaf, namespace: web}
spec: {rules: [{matches: [{path: {value: /a/b}}], backendRefs: [{name: shop, port: 80}]}]}
";

#[test]
fn a_route_that_another_leads_to_is_led_to() {
    let found = reports(DELEGATING, "httproute/web/leaf");
    let told = notes(&found[0], "UP035");
    assert!(told.iter().any(|note| note.starts_with("Gateway web/edge, which HTTPRoute web/root names")), "{told:?}");
    assert!(told.iter().all(|note| !note.starts_with("nothing that was read")), "{told:?}");
}

#[test]
fn nothing_is_applied_to_a_rule_that_answers_with_an_error() {
    let text = "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: web}
spec: {parentRefs: [{name: edge}], rules: [{name: all}]}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: one, namespace: web}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}], retry: {attempts: 2}, csrf: {percentageEnabled: 7}}
";
    let found = report(CURRENT, text, "httproute/web/shop", "TrafficPolicy");
    let states: Vec<_> = found.candidates.iter().map(|one| (one.state, one.reason.text.as_str())).collect();
    assert_eq!(states, [(State::Off, "not applied: the rule answers with an error")]);
    assert!(found.policies.is_empty());
}

/// A gateway with a listener for all hosts and one for a host, and a route for that host at the first.
fn shadowed(protocol: &str, port: u16) -> String {
    format!(
        "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: web}}
spec:
  gatewayClassName: kgateway
  listeners:
  - {{name: any, protocol: {protocol}, port: {port}}}
  - {{name: exact, protocol: {protocol}, port: {port}, hostname: shop.example}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: shop, namespace: web}}
spec:
  parentRefs: [{{name: edge, sectionName: any}}]
  hostnames: [shop.example]
  rules: [{{backendRefs: [{{name: shop, port: 80}}]}}]
"
    )
}

#[test]
fn a_route_behind_a_narrower_listener_is_reached_by_nobody_and_that_is_said() {
    for (protocol, port) in [("HTTP", 80), ("HTTPS", 443)] {
        let text = shadowed(protocol, port);
        let come =
            format!("requests for shop.example on port {port} come to the listener exact of Gateway web/edge, and");
        let told = refusal(&text, json!({"what": "httproute/web/shop"}));
        assert!(told.starts_with("no request is answered by HTTPRoute web/shop"), "{told}");
        assert!(told.contains(&format!("{come} HTTPRoute web/shop is at another")), "{told}");
        let told = refusal(&text, json!({"host": "shop.example"}));
        assert_eq!(told, format!("no route takes GET shop.example/; {come} no route is at it for that host"));
        // At the other listener it is found, both ways.
        let moved = text.replace("sectionName: any", "sectionName: exact");
        assert_eq!(reports(&moved, "httproute/web/shop").len(), 1);
        assert!(answer(CURRENT, &moved, json!({"host": "shop.example"})).is_ok());
    }
}

#[test]
fn a_target_that_was_not_read_may_exist() {
    let policy = |name: &str| {
        format!(
            "---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {{name: wide, namespace: web}}
spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: {name}}}], csrf: {{percentageEnabled: 7}}}}
"
        )
    };
    let told = warned(&(ANSWERED.to_owned() + &policy("edge")), "httproute/web/shop");
    let expected = "TrafficPolicy web/wide has an effect only if its target exists: Gateway web/edge was not read";
    assert!(told.iter().any(|warning| warning == expected), "{told:?}");
    // What is nearly the name of something that was read is a mistake.
    let told = warned(&(shadowed("HTTP", 80) + &policy("edgy")), "gateway/web/edge");
    assert!(told.iter().any(|warning| warning.starts_with("TrafficPolicy web/wide has no effect")), "{told:?}");
}

#[test]
fn a_route_at_a_listener_set_is_answered_without_its_gateway() {
    let text = "
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more, namespace: web}
spec: {parentRef: {name: edge, namespace: infra}, listeners: [{name: shop, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: web}
spec:
  parentRefs: [{kind: ListenerSet, name: more}]
  rules: [{timeouts: {request: 3s}, backendRefs: [{name: shop, port: 80}]}]
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: set, namespace: web}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: more}], csrf: {percentageEnabled: 7}}
";
    let found = report(CURRENT, text, "httproute/web/shop", "TrafficPolicy");
    assert_eq!(held(&found, "timeouts.request"), Some((json!("3s"), "(the rule itself)".to_owned())));
    assert_eq!(held(&found, "csrf"), Some((json!({"percentageEnabled": 7}), "web/set".to_owned())));
    let told = notes(&found, "UP035");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("Gateway infra/edge, which HTTPRoute web/shop names as its parent, was not read"));
}

#[test]
fn a_target_that_policies_name_can_be_asked_about() {
    let text = "
apiVersion: gateway.kgateway.dev/v1alpha1
kind: BackendConfigPolicy
metadata: {name: one, namespace: web, creationTimestamp: 2025-01-01T00:00:00Z}
spec: {targetRefs: [{group: '', kind: Service, name: shop}], connectTimeout: 5s}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: BackendConfigPolicy
metadata: {name: two, namespace: web, creationTimestamp: 2025-01-02T00:00:00Z}
spec: {targetRefs: [{group: '', kind: Service, name: shop}], connectTimeout: 6s, perConnectionBufferLimitBytes: 1024}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: route, namespace: web}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}], csrf: {percentageEnabled: 7}}
";
    let found = report(CURRENT, text, "service/web/shop", "BackendConfigPolicy");
    assert_eq!(held(&found, "connectTimeout"), Some((json!("5s"), "web/one".to_owned())));
    assert_eq!(held(&found, "perConnectionBufferLimitBytes"), Some((json!(1024), "web/two".to_owned())));
    let note = "Service web/shop was not read: this is what policies say that name it, and nothing around it is part of this answer";
    assert_eq!(notes(&found, "UP035"), [note]);
    let found = report(CURRENT, text, "httproute/shop", "TrafficPolicy");
    assert_eq!(held(&found, "csrf"), Some((json!({"percentageEnabled": 7}), "web/route".to_owned())));
    assert!(refusal(text, json!({"what": "service/web/other"})).starts_with("there is no service"));
}

#[test]
fn nobody_is_told_to_move_because_of_a_namespace_that_is_not_written() {
    let text = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec: {gatewayClassName: envoy, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: clients, namespace: network}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}], http3: {}}
";
    let answer = answer(CURRENT, text, json!({"what": "gateway/edge"})).expect("is answered");
    // The one that was read is meant, not the one that only the policy names.
    assert!(answer.reports.iter().all(|report| report.about.what.starts_with("Gateway default/edge")));
    let [warning] = answer.warnings.as_slice() else { panic!("one warning: {:?}", answer.warnings) };
    let message = "ClientTrafficPolicy network/clients has an effect only if its target exists: Gateway edge names no namespace, and default is assumed; Gateway network/edge was not read";
    assert_eq!(warning.message, message);
    let help = "write `namespace: network` into its metadata, or read what kustomize or helm makes of it";
    assert_eq!(warning.help, [help]);
}

#[test]
fn a_name_that_is_null_is_none() {
    let text = ANSWERED.replace("rules: [{", "rules: [{name: null, ");
    assert_eq!(reports(&text, "httproute/web/shop")[0].about.what, "HTTPRoute web/shop rule 0");
}

#[test]
fn policies_of_a_backend_do_not_count_where_others_run_all_gateways_that_lead_there() {
    let world = |controller: &str| {
        format!(
            "
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: own}}
spec: {{controllerName: {controller}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: web}}
spec: {{gatewayClassName: own, listeners: [{{name: http, protocol: HTTP, port: 80}}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: shop, namespace: web}}
spec: {{parentRefs: [{{name: edge}}], rules: [{{backendRefs: [{{name: shop, port: 80}}]}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: shop, namespace: web}}
spec: {{ports: [{{port: 80}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: alone, namespace: web}}
spec: {{ports: [{{port: 80}}]}}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: BackendConfigPolicy
metadata: {{name: slow, namespace: web}}
spec: {{targetRefs: [{{group: '', kind: Service, name: shop}}, {{group: '', kind: Service, name: alone}}], connectTimeout: 3s}}
"
        )
    };
    let slow = Some((json!("3s"), "web/slow".to_owned()));
    let others = world("gateway.envoyproxy.io/gatewayclass-controller");
    let at = |text: &str, what: &str| report(CURRENT, text, what, "BackendConfigPolicy");
    assert_eq!(held(&at(&world("kgateway.dev/kgateway"), "service/web/shop"), "connectTimeout"), slow);
    let found = at(&others, "service/web/shop");
    assert_eq!(held(&found, "connectTimeout"), None);
    assert!(found.candidates[0].reason.text.contains("runs this gateway, and does not know such policies"));
    // Nothing is known of who leads there.
    assert_eq!(held(&at(&others, "service/web/alone"), "connectTimeout"), slow);
}

#[test]
fn a_listener_set_whose_gateway_was_not_read_has_a_status_that_says_so() {
    let text = "
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more, namespace: web}
spec: {parentRef: {name: edge, namespace: shared}, listeners: [{name: one, protocol: HTTP, port: 82}]}
";
    let loaded = read(CURRENT, text);
    let told: Vec<_> =
        upheld_dialects::dialects().flat_map(|dialect| dialect.object_statuses(&loaded.snapshot)).collect();
    let [status] = told.as_slice() else { panic!("one status: {told:?}") };
    assert_eq!(status.object.to_string(), "ListenerSet web/more");
    assert_eq!(status.notes, ["its parent Gateway shared/edge was not read"]);
}

#[test]
fn a_condition_of_one_controller_is_reported_at_its_own_gateways_alone() {
    let gateway = |name: &str, class: &str| {
        format!(
            "---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {name}, namespace: web}}
spec: {{gatewayClassName: {class}, listeners: [{{name: http, protocol: HTTP, port: 80}}]}}
"
        )
    };
    let route = "---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: web}
spec: {parentRefs: [{name: one}, {name: other}], rules: [{backendRefs: [{name: shop, port: 80}]}]}
";
    let loaded = read(CURRENT, &(gateway("one", "kgateway") + &gateway("other", "envoy") + route));
    let told = upheld_dialects::dialects().flat_map(|dialect| dialect.object_statuses(&loaded.snapshot));
    let parents: Vec<_> = told.filter(|one| one.object.kind == "HTTPRoute").flat_map(|one| one.parents).collect();
    let reports = |at: &str| {
        let found = parents.iter().find(|parent| parent.ancestor.name == at).expect("a parent");
        found.conditions.iter().any(|condition| condition.name == "kgateway.dev/Programmed")
    };
    assert!(reports("one") && !reports("other"));
}

#[test]
fn a_class_that_its_controller_makes_is_known_without_being_read() {
    let text = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: web}
spec: {gatewayClassName: kgateway, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: clients, namespace: web}
spec: {targetSelectors: [{kind: Gateway}], http3: {}}
";
    let found = report(CURRENT, text, "gateway/web/edge", "ClientTrafficPolicy");
    assert_eq!(held(&found, "http3"), None);
    let why = "has no effect: kgateway.dev/kgateway runs this gateway, and does not know such policies";
    assert_eq!((found.candidates[0].state, found.candidates[0].reason.text.as_str()), (State::Off, why));
}

#[test]
fn a_backend_of_a_type_that_nobody_here_knows_may_be_known_to_who_runs_the_gateway() {
    let world = |class: &str| {
        format!(
            "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: web}}
spec: {{gatewayClassName: {class}, listeners: [{{name: http, protocol: HTTP, port: 80}}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: ask, namespace: web}}
spec: {{parentRefs: [{{name: edge}}], rules: [{{backendRefs: [{{group: models.example, kind: Model, name: small}}]}}]}}
"
        )
    };
    let found = &reports(&world("agents"), "httproute/web/ask")[0];
    let note = "the backend models.example/Model web/small is not known here: what becomes of requests there is not part of this answer";
    assert!(notes(found, "UP035").contains(&note), "{:?}", found.notes);
    assert_eq!(notes(found, "UP036"), [""; 0]);
    let found = &reports(&world("kgateway"), "httproute/web/ask")[0];
    let note = "unknown backend kind: models.example/Model: requests get 500, after all policies";
    assert_eq!(notes(found, "UP036"), [note]);
}
