//! Gateway policies that a `PolicyKind` document declares.

use serde_json::{Value as Json, json};
use upheld_dialects::gateways::gateway_api::Network;
use upheld_engine::merge::Merged;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};

const TOPOLOGY: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  gatewayClassName: any
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec:
  parentRefs: [{name: edge}]
  rules: [{name: cart, backendRefs: [{name: cart, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: cart}
spec: {ports: [{port: 80}]}
";

fn kind(profile: &str) -> String {
    format!("---\nkind: PolicyKind\nname: Quota\nfamily: merge\nhierarchy: gateway\ngroup: quota.example\n{profile}\n")
}

fn policy(name: &str, created: u32, target: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: quota.example/v1\nkind: Quota\n\
         metadata: {{name: {name}, creationTimestamp: '2025-01-01T00:00:0{created}Z'}}\n\
         spec: {{targetRef: {{{target}}}, {spec}}}\n"
    )
}

const GATEWAY: &str = "kind: Gateway, name: edge";
const ROUTE: &str = "kind: HTTPRoute, name: shop";
const RULE: &str = "kind: HTTPRoute, name: shop, sectionName: cart";

/// What holds for the rule.
#[track_caller]
fn effective(profile: &str, policies: &[String]) -> Json {
    let text = TOPOLOGY.to_owned() + &kind(profile) + &policies.concat();
    let loaded = load(vec![Input::text("world.yaml", Format::Yaml, text)], &[]);
    let loaded = loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics));
    let network = Network::of(&loaded.snapshot).expect("gateways");
    let kind = network.kind("Quota").expect("the kind");
    let gateway = network.topology().gateways.first().expect("a gateway");
    let host = gateway.hosts.first().expect("a host");
    let merged = network.way(kind, gateway, host, host.ways.first().expect("a way")).effective().merged;
    merged
        .as_ref()
        .and_then(Merged::config)
        .map_or(Json::Null, |config| serde_json::to_value(config.as_ref()).expect("JSON"))
}

#[test]
fn defaults_give_way_and_overrides_do_not() {
    let policies = [
        policy("house", 1, GATEWAY, "overrides: {strategy: patch, a: 1}, defaults: {strategy: patch, b: 1, c: 1}"),
        policy("shop", 2, ROUTE, "defaults: {strategy: patch, a: 2, b: 2}"),
    ];
    assert_eq!(effective("profile: gep-713", &policies), json!({"a": 1, "b": 2, "c": 1}));
}

#[test]
fn a_stanza_without_a_strategy_counts_as_a_whole_under_gep_713_and_by_field_under_gwctl() {
    let policies =
        [policy("house", 1, GATEWAY, "defaults: {a: 1, b: 1}"), policy("shop", 2, ROUTE, "defaults: {a: 2}")];
    assert_eq!(effective("profile: gep-713", &policies), json!({"a": 2}));
    assert_eq!(effective("profile: gwctl", &policies), json!({"a": 2, "b": 1}));
}

#[test]
fn at_one_place_profiles_differ_in_who_wins() {
    let policies = [
        policy("older", 1, ROUTE, "defaults: {strategy: patch, a: 1}"),
        policy("newer", 2, ROUTE, "defaults: {strategy: patch, a: 2}"),
    ];
    assert_eq!(effective("profile: gep-713", &policies), json!({"a": 2}));
    assert_eq!(effective("profile: gep-2649", &policies), json!({"a": 1}));
}

#[test]
fn of_direct_policies_the_oldest_of_the_most_specific_place_stands_alone() {
    let policies = [
        policy("route", 1, ROUTE, "a: 1, b: 1"),
        policy("rule-newer", 3, RULE, "a: 3"),
        policy("rule-older", 2, RULE, "a: 2"),
    ];
    assert_eq!(effective("profile: direct", &policies), json!({"a": 2}));
}

#[test]
fn a_kind_may_rank_by_a_number_before_age() {
    let policies = [
        policy("older", 1, ROUTE, "priority: 1, defaults: {strategy: patch, a: 1}"),
        policy("heavier", 2, ROUTE, "priority: 5, defaults: {strategy: patch, a: 2}"),
        policy("newest", 3, ROUTE, "defaults: {strategy: patch, a: 3}"),
    ];
    let kind = "profile: gep-2649\nrank: [{highest: priority}]";
    assert_eq!(effective(kind, &policies)["a"], 2);
}

#[test]
fn a_kind_may_say_how_its_own_fields_meet() {
    let policies = [
        policy("house", 1, GATEWAY, "defaults: {strategy: patch, extraHosts: [a], hosts: [a]}"),
        policy("shop", 2, ROUTE, "defaults: {strategy: patch, extraHosts: [b], hosts: [b]}"),
    ];
    let profile = "profile: gep-713\nresolve: {depth: deep, append: extra}";
    assert_eq!(effective(profile, &policies), json!({"extraHosts": ["a", "b"], "hosts": ["b"]}));
}

#[test]
fn patches_of_several_places_meet_field_by_field_and_nulls_remove() {
    let profile = "profile: gep-713\nstrategies: [PatchDefaults, PatchOverrides]";
    let policies = [
        policy("a", 1, GATEWAY, "defaults: {strategy: patch, walls: {inside: black, outside: blue}, roof: red}"),
        policy("b", 2, ROUTE, "overrides: {strategy: patch, walls: {inside: green}, floor: oak}"),
        policy(
            "c",
            3,
            RULE,
            "defaults: {strategy: patch, walls: {inside: white, trim: gold}, roof: null, floor: pine}",
        ),
    ];
    assert_eq!(
        effective(profile, &policies),
        json!({"walls": {"inside": "green", "outside": "blue", "trim": "gold"}, "floor": "oak"})
    );
}
