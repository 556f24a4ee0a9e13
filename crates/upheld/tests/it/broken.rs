//! Files broken on purpose: what comes out must say where, what was expected, and what to do. Five ways that every new
//! user finds, and a few that only some do.

use std::fs;

use crate::support::{example, run, shown, snapshot, with_files};

/// Files of the second kind: policies with target references, and what the same question prints about them.
fn told(document: &str, semantics: &str) -> String {
    let files = [("mesh.yaml", MESH), ("policy.yaml", document)];
    with_files(&files, &format!("explain web-1 --semantics {semantics}"))
}

const MESH: &str = "type: Mesh
name: default
---
type: Dataplane
name: web-1
networking: {address: 10.0.0.1, inbound: [{port: 8080, tags: {kuma.io/service: web}}]}
";

macro_rules! told {
    ($name:ident, $semantics:literal, $document:literal) => {
        snapshot!("told_", $name, told($document, $semantics));
    };
}

told!(
    unknown_target_kind,
    "kuma/2",
    "type: MeshTimeout\nname: a\nspec:\n  targetRef: {kind: MeshServce, name: web}\n  to: []\n"
);
told!(
    name_and_labels,
    "kuma/2",
    "type: MeshTimeout\nname: a\nspec:\n  targetRef: {kind: Dataplane, name: web-1, labels: {app: web}}\n  to: []\n"
);
told!(
    section_on_a_kind_without_any,
    "kuma/2",
    "type: MeshTimeout\nname: a\nspec:\n  targetRef: {kind: Mesh, sectionName: http}\n  to: []\n"
);
told!(item_without_target, "kuma/2", "type: MeshTimeout\nname: a\nspec:\n  to:\n  - default: {idleTimeout: 1s}\n");
told!(
    dangling_references,
    "kuma/2",
    "type: MeshRetry\nname: a\nspec:\n  targetRef: {kind: MeshHTTPRoute, name: nowhere}\n  to: [{targetRef: {kind: Mesh}}]\n---\n\
     type: MeshTimeout\nname: b\nspec:\n  to: [{targetRef: {kind: MeshService, labels: {app: bakend}}, default: {idleTimeout: 1s}}]\n"
);
told!(
    routes_in_a_circle,
    "kuma/2",
    "type: MeshHTTPRoute\nname: a\nspec:\n  targetRef: {kind: MeshHTTPRoute, name: b}\n  to: []\n---\n\
     type: MeshHTTPRoute\nname: b\nspec:\n  targetRef: {kind: MeshHTTPRoute, name: a}\n  to: []\n"
);
told!(
    fields_of_older_versions,
    "kuma/3",
    "type: MeshTimeout\nname: a\nspec:\n  targetRef: {kind: MeshSubset, tags: {app: web}}\n  \
     from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]\n  \
     to: [{targetRef: {kind: MeshService, name: backend}, default: {idleTimeout: 1s}}]\n"
);
told!(
    unknown_type,
    "kuma/2",
    "type: MeshNovelty\nname: a\nspec:\n  to: [{targetRef: {kind: Mesh}, default: {limit: 1}}]\n"
);
told!(
    misspelt_policy_type,
    "kuma/2",
    "type: MeshTimeuot\nname: a\nspec:\n  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]\n"
);
told!(
    misspelt_spec_field,
    "kuma/2",
    "type: MeshTimeout\nname: a\nspec:\n  too: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]\n"
);

/// The gateway of the example with more documents, and what its status and one of its routes say.
fn gateway(documents: &str, line: &str) -> String {
    let folder = example("kgateway-policy-application-and-merging");
    fs::write(folder.path().join("more.yaml"), documents).expect("the folder is writable");
    shown(&run(folder.path(), line))
}

macro_rules! gateway {
    ($name:ident, $line:literal, $document:literal) => {
        snapshot!("gateway_", $name, gateway($document, $line));
    };
}

gateway!(
    unknown_annotation,
    "explain httproute/shop-2",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: shop-2\n  annotations:\n    \
     kgateway.dev/inherited-policy-priority: DeepMergePreferParnt\nspec:\n  parentRefs: [{name: example-gateway}]\n  \
     hostnames: [two.example]\n  rules: [{backendRefs: [{name: shop, port: 80}]}]\n"
);
gateway!(
    unknown_section,
    "explain httproute/example-route --field csrf",
    "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: typo}\nspec:\n  targetRefs:\n  - \
     {group: gateway.networking.k8s.io, kind: HTTPRoute, name: example-route, sectionName: rule00}\n  csrf: {percentageEnabled: 1}\n"
);
gateway!(
    filter_of_nothing,
    "explain httproute/shop-2",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop-2}\nspec:\n  \
     parentRefs: [{name: example-gateway}]\n  hostnames: [two.example]\n  rules:\n  - filters:\n    - type: ExtensionRef\n      \
     extensionRef: {group: gateway.kgateway.dev, kind: TrafficPolicy, name: nobody}\n    backendRefs: [{name: shop, port: 80}]\n"
);
gateway!(
    no_grant,
    "explain httproute/shop-2",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop-2}\nspec:\n  \
     parentRefs: [{name: example-gateway}]\n  hostnames: [two.example]\n  rules:\n  - \
     backendRefs: [{name: shop, namespace: other, port: 80}]\n---\n\
     apiVersion: v1\nkind: Service\nmetadata: {name: shop, namespace: other}\nspec: {ports: [{port: 80}]}\n"
);
gateway!(
    cycle,
    "explain httproute/loop",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: loop}\nspec:\n  \
     parentRefs: [{name: example-gateway}]\n  hostnames: [loop.example]\n  rules:\n  - \
     matches: [{path: {type: PathPrefix, value: /}}]\n    \
     backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: loop}]\n"
);
gateway!(
    invalid_weight,
    "status",
    "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata:\n  name: heavy\n  annotations: \
     {kgateway.dev/policy-weight: high}\nspec:\n  targetRefs:\n  - \
     {group: gateway.networking.k8s.io, kind: HTTPRoute, name: example-route}\n  csrf: {percentageEnabled: 1}\n"
);
gateway!(
    misspelt_fields,
    "explain httproute/shop-2",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop-2}\nspec:\n  \
     parentRefs: [{name: example-gateway}]\n  hostname: [two.example]\n  rules: [{backendRefs: [{name: shop, port: 80}]}]\n"
);
gateway!(
    misspelt_fields_without_schemas,
    "explain httproute/shop-2 --schemas off",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop-2}\nspec:\n  \
     parentRefs: [{name: example-gateway}]\n  hostname: [two.example]\n  rules: [{backendRefs: [{name: shop, port: 80}]}]\n"
);
gateway!(unknown_setting, "status --kgateway GlobalPolicyNamspace=x", "");

/// A copy of the demo with one text replaced in one file, and what `explain` then prints.
fn broken(file: &str, from: &str, to: &str) -> String {
    let folder = example("demo");
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).expect("a file of the demo");
    assert!(text.contains(from), "{file} has no {from:?}");
    fs::write(&path, text.replacen(from, to, 1)).expect("the copy is writable");
    shown(&run(folder.path(), "explain --kind TrafficLog --from web-1 --to backend-1"))
}

macro_rules! broken {
    ($name:ident, $file:literal, $from:literal => $to:literal) => {
        snapshot!("broken_", $name, broken($file, $from, $to));
    };
}

// The five.
broken!(misspelt_field, "policies/logging.yaml", "sources:" => "sorces:");
broken!(misspelt_type, "policies/resilience.yaml", "type: HealthCheck" => "type: HealtCheck");
broken!(number_without_quotes, "dataplanes.yaml", "version: v1}" => "version: 1.10}");
broken!(wrong_indentation, "policies/logging.yaml", "    kuma.io/service: web\n" => "   kuma.io/service: web\n");
broken!(name_given_twice, "policies/logging.yaml", "name: web-on-gcp" => "name: catch-all-policy");

// The others.
broken!(tab, "policies/logging.yaml", "    cloud: aws" => "\tcloud: aws");
broken!(duplicate_key, "policies/logging.yaml", "    cloud: aws" => "    cloud: aws\n    cloud: gcp");
broken!(missing_dash, "policies/logging.yaml", "- match:\n    kuma.io/service: web\n" => "  match:\n    kuma.io/service: web\n");
broken!(missing_name, "policies/logging.yaml", "name: web-on-gcp\n" => "");
broken!(unclosed_quote, "policies/logging.yaml", "'*'" => "'*");
broken!(bare_yes, "policies/logging.yaml", "backend: splunk" => "backend: yes");
broken!(unknown_document, "mesh.yaml", "type: Mesh" => "sort: Mesh");
broken!(wrong_time, "policies/logging.yaml", "name: web-on-gcp" => "name: web-on-gcp\ncreationTime: yesterday");
