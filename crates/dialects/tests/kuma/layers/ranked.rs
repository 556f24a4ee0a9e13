//! How policies and their items rank.

use upheld_dialects::kuma::edition::Edition;

use super::world::{CLIQUES, V2, V3, WEB, World, policy, timeout};

/// Policies `a` to `z` rank as they are written, the lowest first; their names would rank them the other way round.
#[track_caller]
fn check(edition: Edition, labels_and_tops: &[(&str, &str)]) {
    let names: Vec<String> = ('a'..='z').take(labels_and_tops.len()).map(String::from).collect();
    let policies: Vec<String> =
        names.iter().zip(labels_and_tops).map(|(name, (labels, top))| timeout(name, labels, top)).collect();
    let mut documents: Vec<&str> = policies.iter().map(String::as_str).collect();
    documents.push(WEB);
    documents.reverse();
    assert_eq!(World::new(edition, &documents).matched("MeshTimeout"), names, "{edition:?} {labels_and_tops:?}");
}

const OWN: &str = "kuma.io/zone: east, k8s.kuma.io/namespace: shop";

#[test]
fn kinds_count_first() {
    let global = "kuma.io/origin: global";
    check(
        V2,
        &[
            ("kuma.io/origin: zone", "kind: Mesh"),
            (global, "kind: Dataplane"),
            (global, "kind: MeshSubset"),
            (global, "kind: MeshService, name: web"),
            (global, "kind: MeshServiceSubset, name: web"),
        ],
    );
    check(V3, &[("kuma.io/origin: zone", "kind: Mesh"), (global, "kind: Dataplane")]);
}

#[test]
fn then_names_and_sections() {
    let (name, section) = ("name: web", "sectionName: main");
    let dataplane =
        |fields: &[&str]| format!("kind: Dataplane{}", fields.iter().map(|f| format!(", {f}")).collect::<String>());
    for edition in [V2, CLIQUES] {
        check(edition, &[(OWN, &dataplane(&["labels: {app: web}"])), (OWN, &dataplane(&[name]))]);
        check(edition, &[(OWN, &dataplane(&["labels: {app: web}", section])), (OWN, &dataplane(&[name]))]);
        check(edition, &[(OWN, &dataplane(&[name])), (OWN, &dataplane(&[name, section]))]);
        check(edition, &[(OWN, &dataplane(&[name])), (OWN, &dataplane(&[section]))]);
        check(edition, &[(OWN, &dataplane(&[])), (OWN, &dataplane(&[section]))]);
    }
    check(V3, &[(OWN, &dataplane(&["labels: {app: web}"])), (OWN, &dataplane(&[section]))]);
}

#[test]
fn then_origins_then_roles() {
    for edition in [V2, V3] {
        let mesh = "kind: Mesh";
        let role =
            |role: &str| format!("kuma.io/origin: zone, k8s.kuma.io/namespace: shop, kuma.io/policy-role: {role}");
        check(
            edition,
            &[
                ("kuma.io/origin: global, kuma.io/policy-role: workload-owner, k8s.kuma.io/namespace: shop", mesh),
                ("kuma.io/policy-role: producer", mesh),
                (&role("system"), mesh),
                (&role("producer"), mesh),
                (&role("consumer"), mesh),
                (&role("workload-owner"), mesh),
            ],
        );
    }
}

#[test]
fn then_the_first_display_name_wins() {
    for edition in [V2, V3] {
        let named =
            |name: &str, display: &str| timeout(name, &format!("kuma.io/display-name: {display}"), "kind: Mesh");
        let world = World::new(edition, &[WEB, &named("x", "b"), &named("y", "c"), &timeout("a", "", "kind: Mesh")]);
        assert_eq!(world.matched("MeshTimeout"), ["y", "x", "a"]);
    }
}

#[test]
fn items_rank_by_role_before_their_kind_and_by_port_for_services_only() {
    let to = |items: &str| format!("to: [{items}]");
    let item = |target: &str| format!("{{targetRef: {{{target}}}, default: {{}}}}");
    let labels = "kuma.io/policy-role: consumer, k8s.kuma.io/namespace: shop";
    let service = item("kind: MeshService, labels: {a: b}, sectionName: http");
    let system = [
        service.clone(),
        item("kind: MeshMultiZoneService, labels: {a: b}, sectionName: http"),
        item("kind: MeshMultiZoneService, labels: {a: b}"),
        item("kind: MeshService, labels: {a: b}"),
        item("kind: Mesh"),
    ];
    for edition in [V2, V3] {
        let world = World::new(
            edition,
            &[
                &policy("MeshTimeout", "a", labels, "kind: Mesh", &to(&item("kind: Mesh"))),
                &policy("MeshTimeout", "b", "", "kind: Mesh", &to(&system.join(", "))),
                &policy("MeshTimeout", "c", "", "kind: Mesh", &to(&service)),
            ],
        );
        let rules = world.rules("MeshTimeout");
        let sorted = rules.sorted_destinations(&rules.in_document_order());
        let origins: Vec<String> = sorted.into_iter().map(|entry| world.origin(&rules, entry)).collect();
        assert_eq!(origins, ["b[4]", "b[3]", "c[0]", "b[0]", "b[1]", "b[2]", "a[0]"]);
    }
}
