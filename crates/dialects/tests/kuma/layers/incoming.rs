//! What policies say about callers.

use upheld_model::Fault;

use super::world::{V2, V3, WEB, World, cells, policy};

/// Rules for what comes in: `a[0] spiffeID` for a rule of policy `a` about callers with one.
fn listed(world: &World, kind: &str) -> Vec<String> {
    let rules = world.rules(kind);
    let rule = |rule: &upheld_dialects::kuma::rules::InboundRule| {
        let callers =
            rule.callers.iter().flat_map(|callers| callers.entries().iter().map(|(key, _)| format!(" {key}")));
        format!("{}{}", world.origin(&rules, rule.entry), callers.collect::<String>())
    };
    rules.inbound_rules(&world.slots(&rules)).iter().map(rule).collect()
}

fn caller(kind: &str, value: &str) -> String {
    format!("{{spiffeID: {{type: {kind}, value: '{value}'}}}}")
}

#[test]
fn callers_that_are_described_closely_stand_first_then_the_lowest_priority() {
    let (exact, long, short) =
        (caller("Exact", "spiffe://m/a"), caller("Prefix", "spiffe://m/a"), caller("Prefix", "spiffe://"));
    let rules =
        |matches: &[&str]| format!("rules: [{{matches: [{}], default: {{}}}}, {{default: {{}}}}]", matches.join(", "));
    for edition in [V2, V3] {
        let world = World::new(
            edition,
            &[
                WEB,
                &policy("MeshTimeout", "a", "", "kind: Mesh", &rules(&[&long, "{sni: {type: Exact, value: x}}"])),
                &policy("MeshTimeout", "b", "", "kind: Mesh", &rules(&[&short, &exact])),
            ],
        );
        let expected = ["b[0] spiffeID", "b[0] spiffeID", "a[0] spiffeID", "a[0] sni", "b[1]", "a[1]"];
        assert_eq!(listed(&world, "MeshTimeout"), expected);
    }
}

#[test]
fn some_kinds_have_rules_for_all_callers_only() {
    let rules = format!("rules: [{{matches: [{}], default: {{}}}}]", caller("Exact", "spiffe://m/a"));
    for edition in [V2, V3] {
        for kind in ["MeshTrafficPermission", "MeshCircuitBreaker", "MeshTLS"] {
            let world = World::new(edition, &[WEB, &policy(kind, "p", "", "kind: Mesh", &rules)]);
            assert_eq!(listed(&world, kind), ["p[0]"]);
            assert_eq!(world.warnings(Fault::NoEffect), [format!("rules of a {kind} are for all callers")]);
        }
        for kind in ["MeshTimeout", "MeshRateLimit", "MeshAccessLog", "MeshFaultInjection"] {
            let world = World::new(edition, &[WEB, &policy(kind, "p", "", "kind: Mesh", &rules)]);
            assert_eq!(listed(&world, kind), ["p[0] spiffeID"]);
        }
    }
}

#[test]
fn kuma_2_takes_from_where_there_are_no_rules() {
    let from = "from: [{targetRef: {kind: MeshSubset, tags: {a: b}}, default: {}}]";
    let counts =
        |kind: &str, rest: &str| listed(&World::new(V2, &[WEB, &policy(kind, "p", "", "kind: Mesh", rest)]), kind);
    for kind in ["MeshAccessLog", "MeshCircuitBreaker", "MeshRateLimit", "MeshTimeout", "MeshTLS"] {
        assert_eq!(counts(kind, from), ["p[0]"]);
        assert_eq!(counts(kind, &format!("rules: []\n  {from}")), ["p[0]"]);
        assert_eq!(counts(kind, &format!("rules: [{{default: {{}}}}, {{default: {{}}}}]\n  {from}")), ["p[0]", "p[1]"]);
    }
    for kind in ["MeshTrafficPermission", "MeshFaultInjection"] {
        assert_eq!(counts(kind, from), [""; 0]);
    }
}

#[test]
fn newer_references_are_no_clients() {
    let from = "from: [{targetRef: {kind: Dataplane}, default: {}}, {targetRef: {kind: Mesh}, default: {by: p}}]";
    let world = World::new(V2, &[WEB, &policy("MeshTrafficPermission", "p", "", "kind: Mesh", from)]);
    let rules = world.rules("MeshTrafficPermission");
    let cells = cells(&rules.client_rules(&world.slots(&rules)).unwrap());
    assert_eq!(cells, [(String::new(), serde_json::json!({"by": "p"}))]);
    assert_eq!(world.warnings(Fault::BadReference), ["a Dataplane does not describe clients"]);
}
