//! What a zone egress does for an external service.

use serde_json::{Value as Json, json};
use upheld_dialects::kuma::egress::Egress;

use super::world::{CLIQUES, V2, World, cells, policy};

const SERVICE: &str = "
type: ExternalService
name: bank
tags: {kuma.io/service: bank, version: v1}
networking: {address: bank.example.com}
";

fn egress(world: &World, kind: &str) -> Egress {
    Egress::of(&world.rules(kind), &world.object("ExternalService").parts[0].tags).unwrap()
}

fn to(name: &str, labels: &str, top: &str, target: &str) -> String {
    let to = format!("to: [{{targetRef: {{{target}}}, default: {{by: {name}}}}}]");
    policy("MeshLoadBalancingStrategy", name, labels, top, &to)
}

fn clients(policies: &[String]) -> Vec<(String, Json)> {
    let documents: Vec<&str> = std::iter::once(SERVICE).chain(policies.iter().map(String::as_str)).collect();
    let listed = [V2, CLIQUES].map(|edition| {
        let egress = egress(&World::new(edition, &documents), "MeshLoadBalancingStrategy");
        assert!(egress.inbound.is_none() && egress.resources.is_some());
        cells(&egress.clients)
    });
    assert_eq!(listed[0], listed[1]);
    let [listed, _] = listed;
    listed
}

#[test]
fn what_clients_are_told_about_the_service_becomes_rules_by_client() {
    let policies = [
        to("a", "", "kind: Mesh", "kind: Mesh"),
        to("b", "", "kind: MeshService, name: web", "kind: MeshService, name: bank"),
        to("c", "", "kind: Mesh", "kind: MeshService, name: other"),
        to("d", "", "kind: Dataplane", "kind: MeshService, name: bank"),
        to("e", "kuma.io/effect: shadow", "kind: Mesh", "kind: Mesh"),
    ];
    let by = |name: &str| json!({"by": name});
    assert_eq!(clients(&policies), [("kuma.io/service=web".to_owned(), by("b")), (String::new(), by("a"))]);
}

#[test]
fn tags_of_the_service_are_wanted_as_by_selectors() {
    let check = |target: &str, expected: usize| {
        assert_eq!(clients(&[to("p", "", "kind: Mesh", target)]).len(), expected, "{target}");
    };
    check("kind: MeshSubset, tags: {version: '*'}", 1);
    check("kind: MeshSubset, tags: {version: v2}", 0);
    check("kind: MeshServiceSubset, name: bank, tags: {version: v1}", 1);
    check("kind: MeshServiceSubset, name: bank, tags: {version: v2}", 0);
    check("kind: MeshServiceSubset, name: other, tags: {version: v1}", 0);
    check("kind: MeshExternalService, name: bank", 0);
}

#[test]
fn kinds_about_callers_go_by_whom_their_policies_are_attached_to() {
    let from = |name: &str, top: &str| {
        let from = format!("from: [{{targetRef: {{kind: Mesh}}, default: {{by: {name}}}}}]");
        policy("MeshTimeout", name, "", top, &from)
    };
    let (all, bank, other) = (
        from("a", "kind: Mesh"),
        from("b", "kind: MeshService, name: bank"),
        from("c", "kind: MeshService, name: other"),
    );
    let world = World::new(V2, &[SERVICE, &all, &bank, &other]);
    let egress = egress(&world, "MeshTimeout");
    assert_eq!(cells(&egress.clients), [(String::new(), json!({"by": "b"}))]);
    let rules = world.rules("MeshTimeout");
    let inbound = egress.inbound.unwrap();
    let origins: Vec<String> = inbound.iter().map(|rule| world.origin(&rules, rule.entry)).collect();
    assert_eq!(origins, ["a[0]", "b[0]"]);
}
