//! Which way takes a request, and the graph of all ways.

use super::*;
use crate::gateways::gateway_api::find::Request;

const BACKEND: &str = "backendRefs: [{name: app, port: 80}]";

fn rules(matches: &[&str]) -> String {
    let rules: Vec<String> = matches.iter().map(|wanted| format!("{{matches: [{{{wanted}}}], {BACKEND}}}")).collect();
    format!("rules: [{}]", rules.join(", "))
}

/// The rule that takes a request.
fn taken(topology: &Built<'_>, request: &Request<'_>) -> Option<String> {
    let step = topology.find(request)?.chain.last()?;
    Some(format!("{}#{}", title(topology.snapshot, step.route).split_once('/')?.1, step.rule))
}

#[test]
fn the_most_specific_match_takes_a_request() {
    let matches = [
        "path: {value: /}",
        "path: {value: /api/}",
        "path: {value: /api}, method: POST",
        "path: {value: /api}, headers: [{name: X-Team, value: a}]",
        "path: {type: Exact, value: /api}",
        "path: {type: RegularExpression, value: '/api/v[0-9]+/.*'}",
        "path: {value: /api}, queryParams: [{name: debug, type: RegularExpression, value: 'on|1'}]",
    ];
    let route = route("r", &format!("{{parentRefs: [{{name: web}}], {}}}", rules(&matches)));
    let snapshot = snapshot(&[GATEWAY, &route]);
    let topology = build(&snapshot, &Settings::default());
    let base = Request { host: "example.com:8080", path: "/api/x", method: "GET", ..Request::default() };
    let check = |request: &Request<'_>, expected: &str| {
        assert_eq!(taken(&topology, request).as_deref(), Some(expected), "{request:?}");
    };
    check(&base, "r#1");
    check(&Request { path: "/apix", ..base.clone() }, "r#0");
    check(&Request { path: "/api", ..base.clone() }, "r#4");
    check(&Request { path: "/api/v2/users?x=y", ..base.clone() }, "r#5");
    check(&Request { method: "POST", headers: vec![("x-team", "a")], ..base.clone() }, "r#2");
    check(&Request { headers: vec![("x-team", "a")], ..base.clone() }, "r#3");
    check(&Request { query: vec![("debug", "on")], ..base.clone() }, "r#6");
    check(&Request { query: vec![("debug", "only")], ..base.clone() }, "r#1");
    assert_eq!(taken(&topology, &Request { port: Some(81), ..base }), None);
}

#[test]
fn hosts_are_chosen_before_paths() {
    let on = |name: &str, host: &str, path: &str| {
        let rules = rules(&[&format!("path: {{value: {path}}}")]);
        route(name, &format!("{{parentRefs: [{{name: web}}], hostnames: ['{host}'], {rules}}}"))
    };
    let documents =
        [GATEWAY, &on("exact", "a.example.com", "/a"), &on("wild", "*.example.com", "/"), &on("wide", "*.com", "/")];
    let snapshot = snapshot(&documents);
    let topology = build(&snapshot, &Settings::default());
    let find = |host, path| taken(&topology, &Request { host, path, ..Request::default() });
    assert_eq!(find("a.example.com", "/a").as_deref(), Some("exact#0"));
    assert_eq!(find("A.example.COM", "/a").as_deref(), Some("exact#0"));
    assert_eq!(find("a.example.com", "/b"), None);
    assert_eq!(find("x.y.example.com", "/b").as_deref(), Some("wild#0"));
    assert_eq!(find("other.com", "/b").as_deref(), Some("wide#0"));
    assert_eq!(find("other.org", "/b"), None);
}

#[test]
fn methods_of_services_become_paths() {
    let grpc = |wanted: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {{name: g}}\nspec: {{parentRefs: [{{name: web}}], rules: [{{matches: [{{method: {{{wanted}}}}}], {BACKEND}}}]}}"
        )
    };
    check_ways(&[GATEWAY, &grpc("service: s.S, method: Do")], &["*:http /s.S/Do g#0"]);
    check_ways(&[GATEWAY, &grpc("service: s.S")], &["*:http /s.S/.+ g#0"]);
    check_ways(&[GATEWAY, &grpc("method: Do")], &["*:http /.+/Do g#0"]);
}

#[test]
fn a_graph_has_nodes_with_what_rules_want_and_edges_with_hosts() {
    let route =
        route("r", &format!("{{parentRefs: [{{name: web}}], hostnames: [a.com], {}}}", rules(&["path: {value: /a}"])));
    let snapshot = snapshot(&[GATEWAY, &route]);
    let graph = drawn(&snapshot);
    let nodes: Vec<(&str, &[String])> =
        graph.nodes.iter().map(|node| (node.label.as_str(), node.details.as_slice())).collect();
    let path = ["PathPrefix /a".to_owned()];
    let expected: [(&str, &[String]); 5] = [
        ("Gateway default/web", &[]),
        ("http HTTP 80 *", &[]),
        ("HTTPRoute default/r", &[]),
        ("rule 0", &path),
        ("Service default/app:80", &[]),
    ];
    assert_eq!(nodes, expected);
    let edges: Vec<(usize, usize, &str)> =
        graph.edges.iter().map(|edge| (edge.from, edge.to, edge.label.as_str())).collect();
    assert_eq!(edges, [(0, 1, ""), (1, 2, "a.com"), (2, 3, ""), (3, 4, "")]);
}

#[test]
fn many_routes_are_walked() {
    let mut documents = vec![GATEWAY.to_owned()];
    for index in 0..10_000 {
        let rest =
            format!("{{parentRefs: [{{name: web}}], hostnames: [h{index}.com], {}}}", rules(&["path: {value: /a}"]));
        documents.push(route(&format!("r{index}"), &rest));
    }
    let snapshot = snapshot(&documents.iter().map(String::as_str).collect::<Vec<_>>());
    let topology = build(&snapshot, &Settings::default());
    assert_eq!(topology.ways().count(), 10_000);
    assert_eq!(drawn(&snapshot).nodes.len(), 20_003);
}

#[test]
fn many_children_are_walked() {
    let mut documents = vec![GATEWAY.to_owned()];
    let delegate = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: '*', namespace: NS}";
    let rule = |index: usize| {
        let reference = delegate.replace("NS", &format!("n{index}"));
        format!("{{matches: [{{path: {{value: /n{index}}}}}], backendRefs: [{reference}]}}")
    };
    let rules_of_parent: Vec<String> = (0..100).map(rule).collect();
    documents
        .push(route("parent", &format!("{{parentRefs: [{{name: web}}], rules: [{}]}}", rules_of_parent.join(", "))));
    for index in 0..10_000 {
        let redirect = "filters: [{type: RequestRedirect}]";
        let (namespace, path) = (index % 100, format!("/n{}/{index}", index % 100));
        let rest = format!("{{rules: [{{matches: [{{path: {{value: {path}}}}}], {redirect}}}]}}");
        documents.push(route(&format!("n{namespace}/r{index}"), &rest));
    }
    let snapshot = snapshot(&documents.iter().map(String::as_str).collect::<Vec<_>>());
    let topology = build(&snapshot, &Settings::default());
    assert_eq!(topology.ways().count(), 10_000);
}
