//! Whom policies are attached to.

use upheld_dialects::kuma::edition::Edition;
use upheld_model::Fault;

use super::world::{CLIQUES, KONG, V2, V3, WEB, World, policy, timeout};

/// Whether a policy with these labels and this top-level reference matches a proxy.
#[track_caller]
fn check(edition: Edition, proxy: &str, labels: &str, top: &str, expected: bool) {
    let world = World::new(edition, &[proxy, &timeout("policy", labels, top)]);
    assert_eq!(!world.matched("MeshTimeout").is_empty(), expected, "{edition:?} {labels} {top}");
}

#[test]
fn policies_of_another_zone_do_not_reach() {
    for edition in [V2, CLIQUES, V3] {
        let check = |proxy, labels, expected| check(edition, proxy, labels, "kind: Mesh", expected);
        check(WEB, "", true);
        check(WEB, "kuma.io/origin: global, kuma.io/zone: west", true);
        check(WEB, "kuma.io/origin: zone", true);
        check(WEB, "kuma.io/origin: zone, kuma.io/zone: east", true);
        check(WEB, "kuma.io/origin: zone, kuma.io/zone: west", false);
        check(WEB, "kuma.io/origin: zone, kuma.io/zone: west, kuma.io/policy-role: producer", true);
        check(KONG, "kuma.io/origin: zone, kuma.io/zone: west", true);
    }
}

#[test]
fn consumers_and_owners_stay_in_their_namespace() {
    for edition in [V2, V3] {
        let check = |labels: &str, expected| check(edition, WEB, labels, "kind: Mesh", expected);
        for role in ["consumer", "workload-owner"] {
            check(&format!("kuma.io/policy-role: {role}, k8s.kuma.io/namespace: shop"), true);
            check(&format!("kuma.io/policy-role: {role}, k8s.kuma.io/namespace: bank"), false);
            check(&format!("kuma.io/policy-role: {role}"), false);
        }
        for role in ["system", "producer", "''"] {
            check(&format!("kuma.io/policy-role: {role}, k8s.kuma.io/namespace: bank"), true);
        }
    }
}

#[test]
fn kuma_2_selects_by_type_of_proxy() {
    for kind in ["Mesh", "MeshSubset"] {
        let check = |proxy, types, expected| {
            check(V2, proxy, "", &format!("kind: {kind}, proxyTypes: [{types}]"), expected);
        };
        check(WEB, "", true);
        check(WEB, "Sidecar", true);
        check(WEB, "Gateway", false);
        check(WEB, "Gateway, Sidecar", true);
        check(KONG, "Gateway", true);
        check(KONG, "Sidecar", false);
    }
    check(V3, WEB, "", "kind: Mesh, proxyTypes: [Gateway]", true);
}

#[test]
fn kuma_2_selects_by_tags_of_one_inbound() {
    let check = |top, expected| check(V2, WEB, "", top, expected);
    check("kind: MeshSubset, tags: {version: '*'}", true);
    check("kind: MeshSubset, tags: {version: v1, kuma.io/service: web}", true);
    check("kind: MeshSubset, tags: {version: v1, kuma.io/service: web-admin}", false);
    check("kind: MeshSubset, tags: {missing: '*'}", false);
    check("kind: MeshService, name: web", true);
    check("kind: MeshService, name: other", false);
    check("kind: MeshServiceSubset, name: web, tags: {version: v1}", true);
    check("kind: MeshServiceSubset, name: web, tags: {version: v2}", false);
    check("kind: MeshServiceSubset, name: other, tags: {kuma.io/service: web}", true);
}

#[test]
fn kuma_2_selects_proxies_by_name_or_labels() {
    let own = "kuma.io/zone: east, k8s.kuma.io/namespace: shop";
    let check = |labels, top, expected| check(V2, WEB, labels, top, expected);
    check("", "kind: Dataplane", true);
    check(own, "kind: Dataplane, name: web", true);
    check("kuma.io/zone: east", "kind: Dataplane, name: web", false);
    check("kuma.io/zone: east", "kind: Dataplane, name: web, namespace: shop", true);
    check("k8s.kuma.io/namespace: shop", "kind: Dataplane, name: web", false);
    check(own, "kind: Dataplane, namespace: shop", false);
    check(own, "kind: Dataplane, name: other, labels: {app: web}", true);
    check("", "kind: Dataplane, labels: {app: web, missing: ''}", true);
    check("", "kind: Dataplane, labels: {app: web, missing: x}", false);
    check("", "kind: Dataplane, labels: {kuma.io/display-name: web}", false);
}

#[test]
fn kuma_3_selects_proxies_by_labels_and_display_name() {
    let check = |top, expected| check(V3, WEB, "", top, expected);
    check("kind: Dataplane, labels: {kuma.io/display-name: web}", true);
    check("kind: Dataplane, labels: {kuma.io/display-name: other}", false);
    check("kind: Dataplane, labels: {app: web, missing: ''}", true);
    check("kind: Dataplane, labels: {}", true);
    // Fields that are not read any more do not narrow.
    check("kind: Dataplane, name: other", true);
    check("kind: MeshSubset, tags: {}", false);
    check("kind: MeshService, name: web", false);
}

#[test]
fn sections_are_names_or_else_ports() {
    for edition in [V2, V3] {
        let on = |section: &str| {
            let top = format!("kind: Dataplane, sectionName: '{section}'");
            World::new(edition, &[WEB, &timeout("policy", "", &top)]).listeners("MeshTimeout")
        };
        assert_eq!(on("main"), ["10.0.0.1:8080 policy"]);
        assert_eq!(on("9090"), ["10.0.0.1:9090 policy"]);
        assert_eq!(on("8080"), [""; 0]);
    }
}

#[test]
fn a_gateway_of_somebody_else_has_no_sections() {
    for edition in [V2, V3] {
        check(edition, KONG, "", "kind: Dataplane, labels: {app: kong}, sectionName: main", true);
        check(edition, KONG, "", "kind: Dataplane, labels: {app: web}, sectionName: main", false);
    }
}

#[test]
fn nothing_is_attached_to_a_proxy_that_is_not_called() {
    let proxy = "{type: Dataplane, name: silent, networking: {address: 10.0.0.1}}";
    for edition in [V2, V3] {
        check(edition, proxy, "", "kind: Mesh", false);
        check(edition, proxy, "", "kind: Dataplane", false);
    }
}

#[test]
fn listeners_of_zone_proxies_are_attached_to_by_mesh_and_proxy() {
    let proxy = "
type: Dataplane
name: egress
networking:
  address: 10.0.0.3
  listeners: [{type: ZoneEgress, port: 10002, name: out}, {type: ZoneIngress, port: 10001, address: 10.0.0.4}]
";
    let on = |edition, top: &str| World::new(edition, &[proxy, &timeout("p", "", top)]).listeners("MeshTimeout");
    for edition in [V2, V3] {
        assert_eq!(on(edition, "kind: Mesh"), ["10.0.0.3:10002 p", "10.0.0.4:10001 p"]);
        assert_eq!(on(edition, "kind: Dataplane, sectionName: out"), ["10.0.0.3:10002 p"]);
        assert_eq!(on(edition, "kind: Dataplane, sectionName: '10001'"), ["10.0.0.4:10001 p"]);
    }
    assert_eq!(on(V2, "kind: MeshSubset"), [""; 0]);
}

#[test]
fn policies_that_are_only_tried_are_invisible() {
    for edition in [V2, V3] {
        check(edition, WEB, "kuma.io/effect: shadow", "kind: Mesh", false);
    }
}

#[test]
fn what_cannot_be_attached_to_is_told() {
    let top = "kind: MeshExternalService, name: far";
    let world = World::new(V2, &[WEB, &policy("MeshTimeout", "p", "", top, "to: []")]);
    assert_eq!(world.matched("MeshTimeout"), [""; 0]);
    let told = world.warnings(Fault::DanglingReference);
    assert_eq!(told, ["MeshTimeout `p` cannot be attached to a MeshExternalService"]);
}
