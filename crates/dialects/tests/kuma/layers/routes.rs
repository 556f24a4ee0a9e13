//! Policies that are attached through routes.

use serde_json::json;
use upheld_model::Fault;

use super::world::{CLIQUES, V2, V3, WEB, World, policy, timeout};

fn route(name: &str, labels: &str, top: &str, target: &str, path: &str) -> String {
    let rules = format!("[{{matches: [{{path: {{type: Exact, value: {path}}}}}], default: {{}}}}]");
    policy("MeshHTTPRoute", name, labels, top, &format!("to: [{{targetRef: {{{target}}}, rules: {rules}}}]"))
}

const SHARED: &str = "kuma.io/display-name: shared";
const MINE: &str = "kind: Dataplane, labels: {app: web}";
const THEIRS: &str = "kind: Dataplane, labels: {app: other}";

#[test]
fn late_releases_of_kuma_2_attach_through_the_first_of_one_name_and_list_the_last() {
    let through = timeout("t", "", "kind: MeshHTTPRoute, name: shared");
    let (a, b) =
        (route("a", SHARED, MINE, "kind: MeshService, name: x", "/a"), route("b", SHARED, THEIRS, "kind: Mesh", "/b"));
    let world = World::new(CLIQUES, &[WEB, &a, &b, &through]);
    assert_eq!(world.matched("MeshTimeout"), ["t"]);
    let cells: Vec<String> = world.services("MeshTimeout").into_iter().map(|(cell, _)| cell).collect();
    assert!(cells.len() == 1 && !cells[0].contains("kuma.io/service"), "{cells:?}");
    assert_eq!(World::new(CLIQUES, &[WEB, &b, &a, &through]).matched("MeshTimeout"), [""; 0]);
    // By name the order of documents does not matter.
    assert_eq!(World::new(V2, &[WEB, &b, &a, &through]).matched("MeshTimeout"), ["t"]);
    assert_eq!(World::new(V2, &[WEB, &a, &b, &through]).matched("MeshTimeout"), ["t"]);
}

#[test]
fn every_rule_of_a_route_is_a_cell() {
    let rules = "rules: [{matches: [{headers: [{name: h, value: v}]}], default: {}}, \
                 {matches: [{headers: [{type: Exact, name: h, value: v}]}], default: {}}]";
    let to = format!("to: [{{targetRef: {{kind: MeshService, name: x}}, {rules}}}]");
    let through = timeout("t", "", "kind: MeshHTTPRoute, name: r");
    let world = World::new(V2, &[WEB, &policy("MeshHTTPRoute", "r", "", "kind: Mesh", &to), &through]);
    let cells = world.services("MeshTimeout");
    // The default type is filled in, so both are the same.
    let positive: Vec<_> = cells.iter().filter(|(cell, _)| !cell.contains('!')).collect();
    assert_eq!(positive.len(), 1, "{cells:?}");
    assert!(positive[0].0.contains("kuma.io/service=x") && positive[0].0.contains("__rule-matches-hash__="));
    assert_eq!(world.resources("MeshTimeout"), json!({}));
}

#[test]
fn a_policy_with_an_item_for_a_route_is_not_for_services_by_tags() {
    let to = "to: [{targetRef: {kind: Mesh}, default: {}}, {targetRef: {kind: MeshHTTPRoute, name: r}, default: {}}]";
    let world = World::new(V2, &[WEB, &policy("MeshTimeout", "t", "", "kind: Mesh", to)]);
    assert_eq!(world.services("MeshTimeout"), []);
}

#[test]
fn kuma_3_attaches_through_all_routes_with_the_labels() {
    let through = |labels: &str, top: &str| timeout("t", labels, &format!("kind: MeshHTTPRoute, labels: {{{top}}}"));
    let shop =
        route("a", "team: x, k8s.kuma.io/namespace: shop", "kind: Dataplane, sectionName: main", "kind: Mesh", "/");
    let bank =
        route("b", "team: x, k8s.kuma.io/namespace: bank", "kind: Dataplane, sectionName: '9090'", "kind: Mesh", "/");
    let on =
        |labels: &str, top: &str| World::new(V3, &[WEB, &shop, &bank, &through(labels, top)]).listeners("MeshTimeout");
    assert_eq!(on("", "team: x"), ["10.0.0.1:8080 t", "10.0.0.1:9090 t"]);
    assert_eq!(on("k8s.kuma.io/namespace: shop", "team: x"), ["10.0.0.1:8080 t", "10.0.0.1:9090 t"]);
    let consumer = "kuma.io/policy-role: consumer, k8s.kuma.io/namespace: shop";
    assert_eq!(on(consumer, "team: x"), ["10.0.0.1:8080 t"]);
    assert_eq!(on("", "team: y"), [""; 0]);
    assert_eq!(on("", ""), [""; 0]);
}

#[test]
fn routes_that_do_not_exist_or_lead_back_are_told() {
    let told = |documents: &[&str]| {
        let world = World::new(V2, documents);
        let told = world.warnings(Fault::DanglingReference).into_iter().map(str::to_owned).collect::<Vec<_>>();
        (world.matched("MeshTimeout"), told)
    };
    let through = timeout("t", "", "kind: MeshHTTPRoute, name: r");
    let missing = "MeshTimeout `t` is attached through MeshHTTPRoute `r`, which does not exist".to_owned();
    assert_eq!(told(&[WEB, &through]), (Vec::new(), vec![missing]));
    let circle = route("r", "", "kind: MeshHTTPRoute, name: r", "kind: Mesh", "/");
    assert_eq!(told(&[WEB, &circle, &through]).0, [""; 0]);
}

#[test]
fn the_zone_and_namespace_of_the_route_count_as_well() {
    let through = timeout("t", "", "kind: MeshHTTPRoute, name: r");
    let matched = |labels: &str| {
        World::new(V2, &[WEB, &route("r", labels, "kind: Mesh", "kind: Mesh", "/"), &through]).matched("MeshTimeout")
    };
    assert_eq!(matched("kuma.io/origin: zone, kuma.io/zone: east"), ["t"]);
    assert_eq!(matched("kuma.io/origin: zone, kuma.io/zone: west"), [""; 0]);
    assert_eq!(matched("kuma.io/policy-role: consumer, k8s.kuma.io/namespace: bank"), [""; 0]);
}
