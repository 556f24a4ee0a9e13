//! Routes that delegate to others.

use super::*;
use crate::gateways::gateway_api::settings::RoutePrecedence;

const CHILD: &str = "rules: [{matches: [{path: {value: /a/1}}], filters: [{type: RequestRedirect}]}]";

fn parent(references: &str) -> String {
    route(
        "parent",
        &format!(
            "{{parentRefs: [{{name: web}}], rules: [{{matches: [{{path: {{value: /a}}}}], backendRefs: [{references}]}}]}}"
        ),
    )
}

fn to(name: &str, namespace: &str) -> String {
    format!("{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {name}, namespace: {namespace}}}")
}

#[test]
fn two_references_in_a_rule_do_not_share_children() {
    let references = format!("{}, {}", to("x", "a"), to("y", "a"));
    check_ways(
        &[
            GATEWAY,
            &parent(&references),
            &route("a/x", &format!("{{{CHILD}}}")),
            &route("a/y", &format!("{{{CHILD}}}")),
        ],
        &["*:http /a/1 parent#0 > x#0 redirect", "*:http /a/1 parent#0 > y#0 redirect"],
    );
}

#[test]
fn a_reference_to_a_gateway_does_not_make_a_child() {
    let child = route("a/x", &format!("{{parentRefs: [{{name: other}}], {CHILD}}}"));
    let lost = snapshot(&[GATEWAY, &parent(&to("x", "a")), &child]);
    let topology = build(&lost, &Settings::default());
    assert_eq!(ways(&topology), ["*:http /a parent#0 500"]);
    let told = "HTTPRoute default/parent: gateway.networking.k8s.io/HTTPRoute/a/x: unresolved reference";
    assert!(warnings(&topology).contains(&told.to_owned()));
    let child = route(
        "a/x",
        &format!(
            "{{parentRefs: [{{name: other}}, {{group: gateway.networking.k8s.io, kind: HTTPRoute, name: parent, namespace: default}}], {CHILD}}}"
        ),
    );
    check_ways(&[GATEWAY, &parent(&to("x", "a")), &child], &["*:http /a/1 parent#0 > x#0 redirect"]);
}

#[test]
fn the_wildcard_word_means_all_namespaces() {
    let reference = |namespace: &str| {
        format!("{{group: delegation.kgateway.dev, kind: label, name: team, namespace: {namespace}}}")
    };
    let labelled = |namespace: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: x, namespace: {namespace}, labels: {{delegation.kgateway.dev/label: team}}}}\nspec: {{{CHILD}}}"
        )
    };
    let (a, b) = (labelled("a"), labelled("b"));
    check_ways(&[GATEWAY, &parent(&reference("a")), &a, &b], &["*:http /a/1 parent#0 > x#0 redirect"]);
    let all = [GATEWAY, &parent(&reference("every")), &a, &b];
    let snapshot = snapshot(&all);
    let count = |word: &str| {
        let settings = Settings { delegation_wildcard_namespace: word.to_owned(), ..Settings::default() };
        ways(&build(&snapshot, &settings)).iter().filter(|way| way.contains('>')).count()
    };
    assert_eq!((count("every"), count("all")), (2, 0));
}

#[test]
fn a_cycle_spoils_its_reference_only() {
    let back = format!(
        "{{rules: [{{matches: [{{path: {{value: /a/1}}}}], backendRefs: [{}]}}, {{matches: [{{path: {{value: /a/2}}}}], filters: [{{type: RequestRedirect}}]}}]}}",
        to("'*'", "a")
    );
    let documents = [GATEWAY, &parent(&to("x", "a")), &route("a/x", &back), &route("a/y", &format!("{{{CHILD}}}"))];
    let snapshot = snapshot(&documents);
    let topology = build(&snapshot, &Settings::default());
    assert_eq!(ways(&topology), ["*:http /a/1 parent#0 > x#0 500", "*:http /a/2 parent#0 > x#1 redirect"]);
    assert_eq!(
        status(&topology),
        [
            "HTTPRoute a/x at HTTPRoute default/parent: ResolvedRefs RefNotPermitted",
            "HTTPRoute default/parent at Gateway default/web: good"
        ]
    );
    assert_eq!(warnings(&topology), ["HTTPRoute a/x delegates to `HTTPRoute a/x`, which leads back to it"]);
}

/// Each route delegates twice to the next.
fn ladder(rungs: usize) -> Vec<String> {
    let twice = |index: usize| {
        let next = to(&format!("r{}", index + 1), "a");
        let rule = format!("{{matches: [{{path: {{value: /a}}}}], backendRefs: [{next}]}}");
        route(&format!("a/r{index}"), &format!("{{rules: [{rule}, {rule}]}}"))
    };
    let last = "{rules: [{matches: [{path: {value: /a}}], filters: [{type: RequestRedirect}]}]}";
    let mut documents = vec![GATEWAY.to_owned(), parent(&to("r0", "a"))];
    documents.extend((0..rungs).map(twice));
    documents.push(route(&format!("a/r{rungs}"), last));
    documents
}

#[test]
fn diamonds_multiply_up_to_a_limit() {
    let documents = ladder(3);
    let snapshot_of = |documents: &[String]| snapshot(&documents.iter().map(String::as_str).collect::<Vec<_>>());
    let small = snapshot_of(&documents);
    assert_eq!(ways(&build(&small, &Settings::default())).len(), 8);
    let large = snapshot_of(&ladder(40));
    let settings = Settings { step_limit: 1_000, ..Settings::default() };
    let topology = build(&large, &settings);
    assert!(ways(&topology).len() <= 1_000);
    assert!(warnings(&topology).contains(&"the paths through the routes have more than 1000 steps".to_owned()));
    let deep = Settings { depth_limit: 2, ..Settings::default() };
    let topology = build(&small, &deep);
    assert_eq!(warnings(&topology), ["HTTPRoute a/r0 is more than 2 routes deep"]);
}

#[test]
fn children_rank_by_their_own_weight() {
    let child = |name: &str, weight: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: a, annotations: {{kgateway.dev/route-weight: '{weight}'}}}}\nspec: {{{CHILD}}}"
        )
    };
    let documents = [GATEWAY, &parent(&to("'*'", "a")), &child("x", "-5"), &child("y", "7"), &child("z", "much")];
    let snapshot = snapshot(&documents);
    let names = |precedence| {
        let settings = Settings { route_precedence: precedence, ..Settings::default() };
        let ways = ways(&build(&snapshot, &settings));
        ways.iter().map(|way| way.split("> ").nth(1).unwrap().chars().next().unwrap()).collect::<String>()
    };
    assert_eq!(names(RoutePrecedence::ByMatch), "xyz");
    assert_eq!(names(RoutePrecedence::Weighted), "yzx");
    let topology = build(&snapshot, &Settings::default());
    assert_eq!(warnings(&topology), ["the annotation `kgateway.dev/route-weight` has an invalid value: `much`"]);
}

#[test]
fn absolute_and_relative_children_can_be_mixed() {
    let relative = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: x, namespace: a, annotations: {delegation.kgateway.dev/inherit-parent-matcher: 'Yes'}}\n";
    let reference = to("y", "a");
    let x = format!(
        "{relative}spec: {{rules: [{{matches: [{{path: {{value: /b}}, method: GET}}], backendRefs: [{reference}]}}]}}"
    );
    let y = |path: &str, more: &str| {
        route(
            "a/y",
            &format!(
                "{{rules: [{{matches: [{{path: {{value: {path}}}{more}}}], filters: [{{type: RequestRedirect}}]}}]}}"
            ),
        )
    };
    let parent = parent(&to("x", "a"));
    check_ways(
        &[GATEWAY, &parent, &x, &y("/a/b/c", ", method: GET")],
        &["*:http /a/b/c parent#0 > x#0 > y#0 redirect"],
    );
    check_ways(&[GATEWAY, &parent, &x, &y("/a/b/c", "")], &["*:http /a/b parent#0 > x#0 500"]);
    check_ways(&[GATEWAY, &parent, &x, &y("/b/c", ", method: GET")], &["*:http /a/b parent#0 > x#0 500"]);
}
