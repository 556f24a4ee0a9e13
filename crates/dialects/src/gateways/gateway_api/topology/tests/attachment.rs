//! Routes at listeners.

use super::*;

fn gateway(listeners: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: web}}\nspec:\n  listeners: {listeners}\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: app}}\nspec: {{ports: [{{port: 80}}]}}"
    )
}

const RULES: &str = "rules: [{backendRefs: [{name: app, port: 80}]}]";

#[test]
fn namespaces_are_selected_by_their_labels() {
    let gateway = gateway(
        "[{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: a}, matchExpressions: [{key: env, operator: NotIn, values: [test]}]}}}}]",
    );
    let namespace = |name: &str, labels: &str| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{labels}}}}}")
    };
    let rest = "{parentRefs: [{name: web, namespace: default}], rules: [{filters: [{type: RequestRedirect}]}]}";
    check_status(
        &[
            &gateway,
            &namespace("one", "team: a"),
            &namespace("two", "team: a, env: test"),
            &route("one/r", rest),
            &route("two/r", rest),
            &route("three/r", rest),
        ],
        &[
            "HTTPRoute one/r at Gateway default/web: good",
            // Its namespace was not read, so nobody knows.
            "HTTPRoute three/r at Gateway default/web: good",
            "HTTPRoute two/r at Gateway default/web: Accepted NotAllowedByListeners",
        ],
    );
}

#[test]
fn the_own_namespace_is_allowed_by_default() {
    let rest = "{parentRefs: [{name: web, namespace: default}], rules: [{filters: [{type: RequestRedirect}]}]}";
    check_status(
        &[&gateway("[{name: http, protocol: HTTP, port: 80}]"), &route("r", rest), &route("other/r", rest)],
        &[
            "HTTPRoute default/r at Gateway default/web: good",
            "HTTPRoute other/r at Gateway default/web: Accepted NotAllowedByListeners",
        ],
    );
}

#[test]
fn listeners_take_kinds_that_they_name_and_speak() {
    let gateway = gateway(
        "[{name: grpc, protocol: HTTP, port: 80, allowedRoutes: {kinds: [{kind: GRPCRoute}]}}, {name: tcp, protocol: TCP, port: 90}]",
    );
    check_status(
        &[&gateway, &route("r", &format!("{{parentRefs: [{{name: web}}], {RULES}}}"))],
        &["HTTPRoute default/r at Gateway default/web: Accepted NotAllowedByListeners"],
    );
}

#[test]
fn sections_and_ports_pick_listeners() {
    let listeners = "[{name: a, protocol: HTTP, port: 80}, {name: b, protocol: HTTP, port: 81}]";
    let route = |name: &str, reference: &str| route(name, &format!("{{parentRefs: [{{{reference}}}], {RULES}}}"));
    check_ways(
        &[
            &gateway(listeners),
            &route("by-port", "name: web, port: 81"),
            &route("by-name", "name: web, sectionName: a"),
        ],
        &["*:a / by-name#0", "*:b / by-port#0"],
    );
}

#[test]
fn an_unknown_section_is_reported() {
    let listeners = "[{name: http, protocol: HTTP, port: 80}]";
    let route = route("r", &format!("{{parentRefs: [{{name: web, sectionName: htp}}], {RULES}}}"));
    let snapshot = snapshot(&[&gateway(listeners), &route]);
    let topology = build(&snapshot, &Settings::default());
    assert_eq!(status(&topology), ["HTTPRoute default/r at Gateway default/web: Accepted NoMatchingParent"]);
    let warnings = topology.warnings();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert_eq!(warning.help, ["did you mean `http`?"]);
    assert!(warning.label.is_some());
}

#[test]
fn a_host_belongs_to_the_narrowest_listener_of_a_plain_port() {
    let listeners = "[{name: all, protocol: HTTP, port: 80}, {name: wild, protocol: HTTP, port: 80, hostname: '*.example.com'}, {name: one, protocol: HTTP, port: 80, hostname: a.example.com}]";
    let hosts = "hostnames: [a.example.com, b.example.com, other.com]";
    let route = |name: &str, section: &str| {
        route(name, &format!("{{parentRefs: [{{name: web, sectionName: {section}}}], {hosts}, {RULES}}}"))
    };
    check_ways(
        &[&gateway(listeners), &route("all", "all"), &route("wild", "wild"), &route("one", "one")],
        &["a.example.com:one / one#0", "b.example.com:wild / wild#0", "other.com:all / all#0"],
    );
}

#[test]
fn secure_listeners_share_no_hosts() {
    let listeners =
        "[{name: one, protocol: HTTPS, port: 443, hostname: '*.example.com'}, {name: two, protocol: HTTPS, port: 443}]";
    let route = route("r", &format!("{{parentRefs: [{{name: web}}], hostnames: [a.example.com], {RULES}}}"));
    check_ways(&[&gateway(listeners), &route], &["a.example.com:one / r#0", "a.example.com:two / r#0"]);
}

#[test]
fn host_names_meet_in_the_narrower_one() {
    let listeners = "[{name: a, protocol: HTTP, port: 80, hostname: a.example.com}, {name: b, protocol: HTTP, port: 81, hostname: '*.b.com'}, {name: c, protocol: HTTP, port: 82, hostname: c.com}]";
    let wild =
        route("wild", &format!("{{parentRefs: [{{name: web}}], hostnames: ['*.example.com', '*.com'], {RULES}}}"));
    check_ways(&[&gateway(listeners), &wild], &["a.example.com:a / wild#0", "*.b.com:b / wild#0", "c.com:c / wild#0"]);
    let other = route("r", &format!("{{parentRefs: [{{name: web}}], hostnames: [example.org], {RULES}}}"));
    check_status(
        &[&gateway(listeners), &other],
        &["HTTPRoute default/r at Gateway default/web: Accepted NoMatchingListenerHostname"],
    );
}

#[test]
fn listener_sets_must_be_allowed() {
    let set = "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: more}\nspec:\n  parentRef: {name: web}\n  listeners: [{name: extra, protocol: HTTP, port: 81}]";
    let route = route("r", &format!("{{parentRefs: [{{kind: ListenerSet, name: more}}], {RULES}}}"));
    let listeners = "[{name: http, protocol: HTTP, port: 80}]";
    let refused = snapshot(&[&gateway(listeners), set, &route]);
    let topology = build(&refused, &Settings::default());
    assert!(ways(&topology).is_empty());
    let expected = "Gateway default/web takes no listeners from the namespace of ListenerSet default/more";
    assert_eq!(warnings(&topology), [expected]);
    let allowed = gateway(&format!("{listeners}\n  allowedListeners: {{namespaces: {{from: Same}}}}"));
    check_ways(&[&allowed, set, &route], &["*:extra / r#0"]);
}

#[test]
fn two_references_to_one_listener_serve_once() {
    let listeners = "[{name: http, protocol: HTTP, port: 80}]";
    let route = route("r", &format!("{{parentRefs: [{{name: web}}, {{name: web, sectionName: http}}], {RULES}}}"));
    check_ways(&[&gateway(listeners), &route], &["*:http / r#0"]);
    check_status(
        &[&gateway(listeners), &route],
        &["HTTPRoute default/r at Gateway default/web: good", "HTTPRoute default/r at Gateway default/web: good"],
    );
}

#[test]
fn routes_for_connections_are_attached_without_ways() {
    let listeners = "[{name: db, protocol: TCP, port: 5432}]";
    let tcp = "apiVersion: gateway.networking.k8s.io/v1alpha2\nkind: TCPRoute\nmetadata: {name: db}\nspec: {parentRefs: [{name: web}], rules: [{backendRefs: [{name: app, port: 80}]}]}";
    let snapshot = snapshot(&[&gateway(listeners), tcp]);
    let topology = build(&snapshot, &Settings::default());
    assert_eq!(topology.attached().count(), 1);
    assert_eq!(status(&topology), ["TCPRoute default/db at Gateway default/web: good"]);
    let ids: Vec<String> = drawn(&snapshot).nodes.into_iter().map(|node| node.id).collect();
    let expected = [
        "Gateway default/web",
        "Gateway default/web#db",
        "TCPRoute default/db",
        "TCPRoute default/db#0",
        "Service default/app:80",
    ];
    assert_eq!(ids, expected);
}
