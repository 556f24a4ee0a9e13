//! What is said of routes.

use super::*;
use crate::gateways::gateway_api::settings::ReferenceGrants;

fn with_backends(references: &str) -> String {
    route("r", &format!("{{parentRefs: [{{name: web}}], rules: [{{backendRefs: [{references}]}}]}}"))
}

#[test]
fn backends_must_be_there() {
    for (references, expected, outcome) in [
        ("{name: app, port: 80}", "good", ""),
        ("{name: gone, port: 80}", "ResolvedRefs BackendNotFound", " 500"),
        ("{name: app, port: 81}", "ResolvedRefs BackendNotFound", " 500"),
        ("{kind: Bucket, name: app}", "ResolvedRefs InvalidKind", " 500"),
        ("{kind: Bucket, name: app, group: storage.example.com}", "ResolvedRefs InvalidKind", " 500"),
        ("{name: app, port: 80, namespace: other}", "ResolvedRefs RefNotPermitted", " 500"),
        ("{name: app, port: 80}, {name: gone, port: 80}", "ResolvedRefs BackendNotFound", ""),
        ("", "kgateway.dev/Programmed RouteRuleReplaced", " 500"),
    ] {
        let route = with_backends(references);
        check_status(&[GATEWAY, &route], &[&format!("HTTPRoute default/r at Gateway default/web: {expected}")]);
        check_ways(&[GATEWAY, &route], &[&format!("*:http / r#0{outcome}")]);
    }
}

#[test]
fn references_to_other_namespaces_are_granted() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: app, namespace: other}\nspec: {ports: [{port: 80}]}";
    let grant = |name: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {{name: g, namespace: other}}\nspec: {{from: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: default}}], to: [{{group: '', kind: Service{name}}}]}}"
        )
    };
    let route = with_backends("{name: app, port: 80, namespace: other}");
    let good = "HTTPRoute default/r at Gateway default/web: good";
    let bad = "HTTPRoute default/r at Gateway default/web: ResolvedRefs RefNotPermitted";
    check_status(&[GATEWAY, service, &grant(""), &route], &[good]);
    check_status(&[GATEWAY, service, &grant(", name: app"), &route], &[good]);
    check_status(&[GATEWAY, service, &grant(", name: web"), &route], &[bad]);
    let snapshot = snapshot(&[GATEWAY, service, &route]);
    let settings = Settings { reference_grants: ReferenceGrants::Off, ..Settings::default() };
    assert_eq!(status(&build(&snapshot, &settings)), [good]);
    let topology = build(&snapshot, &Settings::default());
    let warnings = topology.warnings();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert_eq!(warning.help, ["add a ReferenceGrant in the namespace `other`, or read the one that is there"]);
}

#[test]
fn policies_of_filters_must_be_there() {
    let filter = "filters: [{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: DirectResponse, name: teapot}}]";
    let route = route("r", &format!("{{parentRefs: [{{name: web}}], rules: [{{{filter}}}]}}"));
    let policy = "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: DirectResponse\nmetadata: {name: teapot}\nspec: {status: 418}";
    check_ways(&[GATEWAY, &route], &["*:http / r#0 500"]);
    check_status(
        &[GATEWAY, &route],
        &["HTTPRoute default/r at Gateway default/web: kgateway.dev/Programmed RouteRuleReplaced"],
    );
    check_ways(&[GATEWAY, &route, policy], &["*:http / r#0 answered"]);
}

#[test]
fn broken_expressions_drop_their_rule() {
    let rule = |path: &str| {
        format!(
            "{{matches: [{{path: {{type: RegularExpression, value: '{path}'}}}}], backendRefs: [{{name: app, port: 80}}]}}"
        )
    };
    let route = route("r", &format!("{{parentRefs: [{{name: web}}], rules: [{}, {}]}}", rule("/a["), rule("/b.*")));
    check_ways(&[GATEWAY, &route], &["*:http /b.* r#1"]);
    check_status(
        &[GATEWAY, &route],
        &["HTTPRoute default/r at Gateway default/web: kgateway.dev/Programmed RouteRuleDropped"],
    );
}

#[test]
fn others_can_replace_a_way() {
    let snapshot = snapshot(&[GATEWAY, &with_backends("{name: app, port: 80}")]);
    let mut topology = build(&snapshot, &Settings::default());
    let (place, _) = topology.ways().next().unwrap();
    topology.replace(place, "a: broken");
    topology.replace(place, "a: broken");
    topology.replace(place, "b: broken");
    assert_eq!(ways(&topology), ["*:http / r#0 500"]);
    let condition = &topology.reports(&snapshot)[0].parents[0].conditions[2];
    assert_eq!(condition.message, "Replaced Rule (0): a: broken; Replaced Rule (0): b: broken");
    assert_eq!((condition.status, condition.reason.as_str()), (false, "RouteRuleReplaced"));
}

#[test]
fn a_parent_that_is_not_there_says_nothing_but_is_reported() {
    let route = route("r", "{parentRefs: [{name: gone}], rules: [{backendRefs: [{name: app, port: 80}]}]}");
    let snapshot = snapshot(&[GATEWAY, &route]);
    let topology = build(&snapshot, &Settings::default());
    assert!(topology.reports(&snapshot).is_empty());
    assert_eq!(
        warnings(&topology),
        ["HTTPRoute default/r names the parent `Gateway default/gone`, which was not read"]
    );
}
