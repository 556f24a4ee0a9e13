//! What is read, what is refused, and what is left to others.

use serde_json::json;
use upheld_dialects::dialects;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};

use crate::world::{ask, may, namespace, pod, policy, read, refused, try_read};

#[test]
fn every_mistake_is_told_with_its_place() {
    for (spec, expected) in [
        ("podSelectr: {}", "`spec` has no field `podSelectr`; did you mean `podSelector`?"),
        ("policyTypes: [ingress]", "`spec.policyTypes[0]` cannot be `ingress`; did you mean `Ingress`?"),
        ("ingress: [{form: []}]", "`spec.ingress[0]` has no field `form`; did you mean `from`?"),
        ("ingress: [{to: []}]", "`spec.ingress[0]` has no field `to`; fields here: `from`, `ports`"),
        ("ingress: [{from: [{}]}]", "this peer is nobody"),
        ("ingress: [{from: [{podSelector: null}]}]", "this peer is nobody"),
        (
            "ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}, podSelector: {}}]}]",
            "`ipBlock` cannot stand beside selectors: addresses have no labels",
        ),
        ("ingress: [{from: [{ipBlock: {cidr: 10.0.0.0}}]}]", "`10.0.0.0` is no network"),
        (
            "ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/16]}}]}]",
            "`11.0.0.0/16` is not in `10.0.0.0/8`",
        ),
        ("podSelector: {matchExpressions: [{key: a, operator: In}]}", "`In` needs values"),
        ("podSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}", "`Exists` looks at no values"),
        ("ingress: [{ports: [{port: 0}]}]", "there is no port 0"),
        ("ingress: [{ports: [{port: 65536}]}]", "there is no port 65536"),
        ("ingress: [{ports: [{port: '80'}]}]", "`80` is a number, not the name of a port"),
        ("ingress: [{ports: [{endPort: 80}]}]", "`endPort` needs `port`"),
        ("ingress: [{ports: [{port: http, endPort: 80}]}]", "a range cannot begin with the name of a port"),
        ("ingress: [{ports: [{port: 80, endPort: 79}]}]", "a range from 80 to 79 is empty"),
        (
            "ingress: [{ports: [{port: 80, protocol: ICMP}]}]",
            "`spec.ingress[0].ports[0].protocol` cannot be `ICMP`; did you mean `SCTP`?",
        ),
        // Also where the direction does not count.
        ("policyTypes: [Ingress], egress: [{to: [{}]}]", "this peer is nobody"),
    ] {
        let told = try_read(&policy("p", spec)).expect_err(spec);
        assert_eq!(told, [expected], "{spec}");
    }
    let told = try_read(&[policy("p", ""), policy("p", "")].concat()).expect_err("twice");
    assert_eq!(told, ["NetworkPolicy `p` of namespace `a` is defined twice; rename or remove one of them"]);
}

#[test]
fn policies_of_other_systems_with_the_same_type_are_left_aside() {
    let calico = "{apiVersion: projectcalico.org/v3, kind: NetworkPolicy, metadata: {name: p, namespace: a}, spec: {selector: all()}}";
    let loaded = read(calico);
    assert_eq!(loaded.set_aside.by_type.keys().collect::<Vec<_>>(), ["projectcalico.org/v3 NetworkPolicy"]);
}

#[test]
fn what_names_no_namespace_is_in_the_default_one() {
    let head = "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy";
    let text = format!("{{{head}, metadata: {{name: p}}, spec: {{podSelector: {{}}}}}}\n");
    let web = "---\n{apiVersion: v1, kind: Pod, metadata: {name: web}}\n";
    let loaded = read(&[text, web.to_owned(), pod("db", "a", "")].concat());
    assert_eq!([may(&loaded, "db", "default/web", 1), may(&loaded, "web", "db", 1)], ["deny", "permit"]);
}

#[test]
fn a_policy_without_a_spec_isolates_its_namespace() {
    let text = "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p, namespace: a}}\n";
    assert_eq!(may(&read(&[text.to_owned(), pod("db", "a", "")].concat()), "192.0.2.1", "db", 1), "deny");
}

#[test]
fn gateways_read_namespaces_as_well() {
    let gateway = "---\n{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: g, namespace: a}, spec: {gatewayClassName: x, listeners: [{name: http, protocol: HTTP, port: 80}]}}\n";
    let spec = "podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: two}}}]}]";
    let text =
        [gateway.to_owned(), pod("web", "b", ""), pod("db", "a", ""), namespace("b", "team: two"), policy("p", spec)];
    let loaded = read(&text.concat());
    assert_eq!(may(&loaded, "web", "db", 1), "permit");
    let kinds = loaded.snapshot.objects().iter().map(|(_, object)| loaded.snapshot.text(object.kind));
    assert!(kinds.into_iter().any(|kind| kind == "Namespace"), "theirs, too");
}

#[test]
fn policies_and_workloads_are_listed() {
    let loaded =
        read(&[pod("web", "a", "b: c, app: web"), namespace("a", ""), policy("p", "podSelector: {}")].concat());
    assert!(loaded.snapshot.policy_named("NetworkPolicy", "a", "p").is_some());
    let objects = dialects().flat_map(|dialect| dialect.objects(&loaded.snapshot));
    let rows: Vec<_> = objects
        .map(|object| [object.kind.as_str(), &object.scope, &object.name, &object.tags_text()].join(" "))
        .collect();
    assert_eq!(rows, ["Pod a web app=web,b=c"]);
    let shapes = dialects().flat_map(|dialect| dialect.shapes(&loaded.snapshot));
    assert_eq!(shapes.filter(|(name, _)| name == "NetworkPolicy").count(), 1);
}

#[test]
fn network_policies_decide_no_requests() {
    let loaded = read(&[pod("web", "a", ""), policy("p", "podSelector: {}")].concat());
    assert_eq!(loaded.snapshot.decides().count(), 0);
    let told = refused(&loaded, &json!({"subject": "role=admin", "action": "GET", "resource": "/"}));
    assert!(told.starts_with("there are no policies that decide requests"), "{told}");
}

#[test]
fn the_namespace_of_a_kustomization_counts_for_policies_and_pods_and_is_said() {
    let text = "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {}}}\n---\n\
                {apiVersion: v1, kind: Pod, metadata: {name: db}}\n---\n\
                {apiVersion: v1, kind: Namespace, metadata: {name: data, labels: {tier: back}}}\n";
    let kustomization = "kind: Kustomization\nnamespace: data\nresources: [all.yaml]\n";
    let inputs = vec![
        Input::text("k/all.yaml", Format::Yaml, text),
        Input::text("k/kustomization.yaml", Format::Yaml, kustomization),
    ];
    let loaded = load(inputs, &[]).expect("is read");
    let scopes: Vec<&str> =
        loaded.snapshot.policies().iter().map(|(_, policy)| loaded.snapshot.text(policy.scope)).collect();
    assert_eq!(scopes, ["data"]);
    let answer = ask(&loaded, &json!({"from": "203.0.113.7", "to": "data/db"})).expect("is answered");
    assert_eq!(answer.reports[0].policies, ["data/p"], "{:#?}", answer.reports);
    let note =
        "note: documents that name no namespace are taken to be in data, as k/kustomization.yaml beside them says";
    assert!(answer.notes.contains(&note.to_owned()), "{:?}", answer.notes);
}

#[test]
fn a_name_that_the_cluster_completes_is_known_by_its_beginning() {
    let loaded = read(&policy("p", "podSelector: {}").replace("name: p", "generateName: p-"));
    let names: Vec<&str> =
        loaded.snapshot.policies().iter().map(|(_, policy)| loaded.snapshot.text(policy.name)).collect();
    assert_eq!(names, ["p-"]);
    let told = try_read(&policy("p", "podSelector: {}").replace("name: p", "generateName: ''")).expect_err("no name");
    assert_eq!(told, ["`metadata` has no `name`; add `name:`, the name"]);
}
