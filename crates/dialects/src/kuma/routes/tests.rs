use serde_json::{Value as Json, json};
use upheld_model::Tree;

use super::*;
use crate::document::Resource;
use crate::kuma::testing::tree;

fn dataplane_of(tree: &Tree) -> Dataplane<'_> {
    Dataplane::of(Resource::of(tree.documents().next().unwrap()).unwrap())
}

fn calling(outbounds: &Json) -> Tree {
    tree(&[json!({"type": "Dataplane", "name": "web-1", "networking": {"outbound": outbounds}})])
}

/// Resolves a `conf` for an outbound and prints the result.
#[track_caller]
fn check_resolved(conf: &Json, outbound: &Tags<'_>, split: &Json, http: &Json) {
    let tree = tree(std::slice::from_ref(conf));
    let route = Route::of(tree.documents().next().unwrap()).resolved(outbound);
    let print = |shares: &[Share<'_>]| -> Json {
        shares.iter().map(|share| json!({"weight": share.weight, "destination": share.destination})).collect()
    };
    assert_eq!(print(&route.split), *split);
    assert_eq!(route.http.iter().map(|shares| print(shares)).collect::<Json>(), *http);
}

/// Prints what a proxy reaches when each service has the route that is given for it.
#[track_caller]
fn check_reached(outbounds: &Json, routes: &Json, expected: &Json) {
    let (documents, confs) = (calling(outbounds), tree(std::slice::from_ref(routes)));
    let confs = confs.documents().next().unwrap();
    let route_of = |outbound| confs.get(service(outbound)?).map(Route::of);
    assert_eq!(json!(destination_map(dataplane_of(&documents), route_of)), *expected);
}

#[test]
fn a_split_keeps_its_weights() {
    check_resolved(
        &json!({"split": [
            {"weight": 90, "destination": {"kuma.io/service": "redis", "version": "v1"}},
            {"weight": 10, "destination": {"kuma.io/service": "redis", "version": "v2"}},
        ]}),
        &Tags::from([("kuma.io/service", "redis")]),
        &json!([
            {"weight": 90, "destination": {"kuma.io/service": "redis", "version": "v1"}},
            {"weight": 10, "destination": {"kuma.io/service": "redis", "version": "v2"}},
        ]),
        &json!([]),
    );
}

#[test]
fn a_wildcard_takes_the_value_of_the_outbound() {
    check_resolved(
        &json!({"split": [{"weight": 1, "destination": {"kuma.io/service": "*"}}]}),
        &Tags::from([("kuma.io/service", "redis")]),
        &json!([{"weight": 1, "destination": {"kuma.io/service": "redis"}}]),
        &json!([]),
    );
}

#[test]
fn a_wildcard_that_the_outbound_does_not_know_is_dropped() {
    check_resolved(
        &json!({"destination": {"kuma.io/service": "redis", "version": "*"}}),
        &Tags::from([("kuma.io/service", "redis")]),
        &json!([{"weight": 1, "destination": {"kuma.io/service": "redis"}}]),
        &json!([]),
    );
}

#[test]
fn missing_tags_come_from_the_outbound_and_those_of_the_route_stay() {
    check_resolved(
        &json!({"destination": {"version": "v2"}}),
        &Tags::from([("kuma.io/service", "redis"), ("version", "v1")]),
        &json!([{"weight": 1, "destination": {"kuma.io/service": "redis", "version": "v2"}}]),
        &json!([]),
    );
}

#[test]
fn one_destination_counts_before_a_split() {
    check_resolved(
        &json!({
            "destination": {"kuma.io/service": "one"},
            "split": [{"weight": 5, "destination": {"kuma.io/service": "two"}}],
        }),
        &Tags::new(),
        &json!([{"weight": 1, "destination": {"kuma.io/service": "one"}}]),
        &json!([]),
    );
}

#[test]
fn the_oldest_form_is_a_list_of_shares() {
    check_resolved(
        &json!([{"weight": 100, "destination": {"service": "*"}}]),
        &Tags::from([("service", "redis")]),
        &json!([{"weight": 100, "destination": {"service": "redis"}}]),
        &json!([]),
    );
}

#[test]
fn parts_for_http_are_resolved_too() {
    check_resolved(
        &json!({
            "http": [
                {"match": {"path": {"prefix": "/a"}}, "destination": {"kuma.io/service": "*", "version": "v2"}},
                {"match": {}, "split": [{"weight": 3, "destination": {"kuma.io/service": "other"}}]},
            ],
            "destination": {"kuma.io/service": "*"},
        }),
        &Tags::from([("kuma.io/service", "redis")]),
        &json!([{"weight": 1, "destination": {"kuma.io/service": "redis"}}]),
        &json!([
            [{"weight": 1, "destination": {"kuma.io/service": "redis", "version": "v2"}}],
            [{"weight": 3, "destination": {"kuma.io/service": "other"}}],
        ]),
    );
}

#[test]
fn an_outbound_without_a_route_reaches_its_service() {
    check_reached(
        &json!([
            {"port": 1, "tags": {"kuma.io/service": "redis", "version": "v1"}},
            {"port": 2, "service": "elastic"},
        ]),
        &json!({}),
        &json!({"elastic": [{"kuma.io/service": "elastic"}], "redis": [{"kuma.io/service": "redis"}]}),
    );
}

#[test]
fn an_outbound_with_a_route_reaches_only_where_the_route_leads() {
    check_reached(
        &json!([{"port": 1, "tags": {"kuma.io/service": "redis"}}]),
        &json!({"redis": {"split": [
            {"weight": 1, "destination": {"kuma.io/service": "a", "version": "v1"}},
            {"weight": 1, "destination": {"kuma.io/service": "a", "version": "v2"}},
            {"weight": 1, "destination": {"kuma.io/service": "b"}},
        ]}}),
        &json!({
            "a": [{"kuma.io/service": "a", "version": "v1"}, {"kuma.io/service": "a", "version": "v2"}],
            "b": [{"kuma.io/service": "b"}],
        }),
    );
}

#[test]
fn equal_tags_are_reached_once() {
    let route = json!({"destination": {"kuma.io/service": "all"}});
    check_reached(
        &json!([{"port": 1, "tags": {"kuma.io/service": "a"}}, {"port": 2, "tags": {"kuma.io/service": "b"}}]),
        &json!({"a": route, "b": route}),
        &json!({"all": [{"kuma.io/service": "all"}]}),
    );
}

#[test]
fn destinations_without_a_service_and_outbounds_of_resources_are_left_out() {
    check_reached(
        &json!([
            {"port": 1, "tags": {"kuma.io/service": "a"}},
            {"port": 2, "tags": {"kuma.io/service": "b"}, "backendRef": {"kind": "MeshService", "name": "b"}},
        ]),
        &json!({"a": {"destination": {"version": "v1"}}}),
        &json!({}),
    );
}

#[test]
fn called_services_are_listed_once_and_end_with_pass_through() {
    let tree = calling(&json!([
        {"port": 1, "tags": {"kuma.io/service": "web"}},
        {"port": 2, "tags": {"kuma.io/service": "api"}},
        {"port": 3, "tags": {"kuma.io/service": "web", "version": "v2"}},
        {"port": 4, "tags": {"kuma.io/service": "other"}, "backendRef": {"kind": "MeshService", "name": "other"}},
    ]));
    assert_eq!(outbound_services(dataplane_of(&tree)), ["web", "api", PASS_THROUGH]);
}
