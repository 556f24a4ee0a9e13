//! Manifests as they lie in repositories: without what a cluster adds, and without what others keep elsewhere.

use upheld_dialects::question::Words;
use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};

use super::asked::{ask, loaded, reports, words};

const EDGE: &str = "
type: Dataplane
name: edge-1
networking: {address: 10.0.0.1, gateway: {type: BUILTIN, tags: {kuma.io/service: edge}}}
---
type: Dataplane
name: backend-1
networking: {address: 10.0.0.2, inbound: [{port: 8080, tags: {kuma.io/service: backend}}]}
---
type: MeshTimeout
name: all
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 5s}}]}
";

fn to_backend() -> Words {
    words(None, Some("edge-1"), Some("backend"), Some("MeshTimeout"))
}

#[test]
fn a_built_in_gateway_whose_gateway_was_not_read_is_answered_with_what_is_assumed() {
    let assumed = "note: no MeshGateway was read: edge-1 is taken to have one with one listener";
    let alone = loaded(EDGE, &["kuma/2"]);
    let answer = ask(&alone.snapshot, &to_backend()).expect("is answered");
    assert!(answer.notes.iter().any(|note| note.starts_with(assumed)), "{:?}", answer.notes);
    let by: Vec<&str> = answer.reports.iter().flat_map(|report| &report.policies).map(String::as_str).collect();
    assert_eq!(by, ["all"], "{:#?}", answer.reports);
    let whole = reports(&alone.snapshot, &words(Some("dataplane/edge-1"), None, None, None));
    assert!(whole.iter().any(|report| report.policies == ["all"]), "{whole:#?}");
    // A proxy is no sidecar, whatever was read.
    let sidecars = EDGE.replace("{kind: Mesh}, to", "{kind: Dataplane}, to");
    let answer = ask(&loaded(&sidecars, &["kuma/2"]).snapshot, &to_backend()).expect("is answered");
    assert!(answer.reports.iter().all(|report| report.policies.is_empty()), "{:#?}", answer.reports);
}

#[test]
fn where_gateways_were_read_nothing_is_assumed_about_one() {
    let gateway = |service: &str| {
        format!(
            "{EDGE}---\ntype: MeshGateway\nname: edge\nselectors: [{{match: {{kuma.io/service: {service}}}}}]\n\
             conf: {{listeners: [{{port: 80, protocol: HTTP}}]}}\n"
        )
    };
    for (service, applies) in [("edge", true), ("other", false)] {
        let answer = ask(&loaded(&gateway(service), &["kuma/2"]).snapshot, &to_backend()).expect("is answered");
        assert!(!answer.notes.iter().any(|note| note.contains("MeshGateway")), "{:?}", answer.notes);
        assert_eq!(answer.reports.iter().any(|report| report.policies == ["all"]), applies, "{:#?}", answer.reports);
    }
}

/// A mesh on Kubernetes whose namespaces stand in a kustomization.
fn kustomized(policy: &str) -> Loaded {
    let proxy = "apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmesh: default\nmetadata: {name: web}\n\
                 spec: {networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}\n";
    let kustomization = "kind: Kustomization\nnamespace: shop\nresources: [policy.yaml, proxy.yaml]\n";
    let texts = [("k/policy.yaml", policy), ("k/proxy.yaml", proxy), ("k/kustomization.yaml", kustomization)];
    let inputs = texts.into_iter().map(|(name, text)| Input::text(name, Format::Yaml, text)).collect();
    Choices::of_semantics(&["kuma/0.3", "kuma/2"]).load(inputs).expect("is read")
}

fn timeout(namespace: &str) -> String {
    format!(
        "apiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\nmetadata: {{name: t{namespace}}}\n\
         spec: {{targetRef: {{kind: Mesh}}, to: [{{targetRef: {{kind: Mesh}}, default: {{idleTimeout: 5s}}}}]}}\n"
    )
}

#[test]
fn the_namespace_of_a_kustomization_counts_for_proxies_and_policies_and_is_said() {
    let loaded = kustomized(&timeout(""));
    let names: Vec<String> = loaded
        .snapshot
        .policies()
        .iter()
        .map(|(_, policy)| policy.name)
        .chain(loaded.snapshot.objects().iter().map(|(_, object)| object.name))
        .map(|name| loaded.snapshot.text(name).to_owned())
        .collect();
    assert!(names.contains(&"t.shop".to_owned()) && names.contains(&"web.shop".to_owned()), "{names:?}");
    // In one namespace they find each other, in two they do not: the policy speaks for its own namespace.
    let asked = words(Some("dataplane/web"), None, None, Some("MeshTimeout"));
    let answer = ask(&loaded.snapshot, &asked).expect("is answered");
    assert!(answer.reports.iter().any(|report| report.policies == ["t.shop"]), "{:#?}", answer.reports);
    let note =
        "note: documents that name no namespace are taken to be in shop, as k/kustomization.yaml beside them says";
    assert!(answer.notes.contains(&note.to_owned()), "{:?}", answer.notes);
    let elsewhere = kustomized(&timeout(", namespace: other"));
    let answer = ask(&elsewhere.snapshot, &asked).expect("is answered");
    assert!(answer.reports.iter().all(|report| report.policies.is_empty()), "{:#?}", answer.reports);
}

#[test]
fn types_of_the_whole_cluster_get_no_namespace() {
    let log = "apiVersion: kuma.io/v1alpha1\nkind: TrafficLog\nmesh: default\nmetadata: {name: all}\n\
               spec: {sources: [{match: {kuma.io/service: '*'}}], destinations: [{match: {kuma.io/service: '*'}}], conf: {backend: a}}\n";
    let loaded = kustomized(log);
    let names: Vec<&str> =
        loaded.snapshot.policies().iter().map(|(_, policy)| loaded.snapshot.text(policy.name)).collect();
    assert_eq!(names, ["all"]);
}

#[test]
fn a_name_that_the_cluster_completes_is_known_by_its_beginning() {
    let policy = timeout("").replace("name: t", "generateName: t-, namespace: kuma-system");
    let loaded = loaded(&policy, &["kuma/2"]);
    let names: Vec<&str> =
        loaded.snapshot.policies().iter().map(|(_, policy)| loaded.snapshot.text(policy.name)).collect();
    assert_eq!(names, ["t-.kuma-system"]);
}
