//! Every rule and every example of the document "How Kuma chooses the right policy to apply", by name.

use crate::world::World;
use upheld_model::Code;

const DATAPLANES: &str = "
type: Dataplane
name: web-1
networking:
  inbound: [{port: 80, tags: {kuma.io/service: web, cloud: aws, region: us, version: v1}}]
---
type: Dataplane
name: mobile-1
networking:
  inbound: [{port: 80, tags: {kuma.io/service: mobile, cloud: gcp}}]
---
type: Dataplane
name: backend-1
networking:
  inbound: [{port: 80, tags: {kuma.io/service: backend, cloud: aws}}]
---
";

/// Policies as `(name, source tags, destination tags)`.
fn world(kind: &str, semantics: &str, policies: &[(&str, &str, &str)]) -> World {
    let documents = policies.iter().map(|(name, source, destination)| {
        format!(
            "type: {kind}\nname: {name}\nsources: [{{match: {{{source}}}}}]\ndestinations: [{{match: {{{destination}}}}}]\n---\n"
        )
    });
    World::new(&(DATAPLANES.to_owned() + &documents.collect::<String>()), semantics)
}

const ANY: &str = "kuma.io/service: '*'";
const WEB: &str = "kuma.io/service: web";
const BACKEND: &str = "kuma.io/service: backend";

const TWO_LOGS: [(&str, &str, &str); 2] = [
    ("catch-all-policy", ANY, ANY),
    ("web-to-backend-policy", "kuma.io/service: web, cloud: aws, region: us", BACKEND),
];

#[test]
fn traffic_permissions_aggregate_all_that_match() {
    let policies = [("everyone", ANY, BACKEND), ("web", WEB, ANY), ("mobile", "kuma.io/service: mobile", ANY)];
    let answer = world("TrafficPermission", "kuma/0.3", &policies).ask("TrafficPermission", "web-1", "backend-1");
    assert_eq!(answer.standing, ["everyone", "web"]);
    assert_eq!(answer.because, Some(Code::SelectAggregate));
    assert_eq!(answer.skipped, ["mobile"]);
}

#[test]
fn other_types_apply_only_the_most_specific_policy() {
    for kind in ["TrafficRoute", "TrafficLog", "HealthCheck"] {
        let answer = world(kind, "kuma/0.3", &TWO_LOGS).ask(kind, "web-1", "backend-1");
        assert_eq!(answer.standing, ["web-to-backend-policy"], "{kind}");
        assert_eq!(answer.lost, ["catch-all-policy"], "{kind}");
    }
}

#[test]
fn connections_between_web_and_backend_get_the_specific_policy() {
    let answer = world("TrafficLog", "kuma/0.3", &TWO_LOGS).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!(answer.standing, ["web-to-backend-policy"]);
}

#[test]
fn connections_between_all_others_get_the_catch_all() {
    let world = world("TrafficLog", "kuma/0.3", &TWO_LOGS);
    for (from, to) in [("mobile-1", "backend-1"), ("web-1", "mobile-1"), ("backend-1", "web-1")] {
        assert_eq!(world.ask("TrafficLog", from, to).standing, ["catch-all-policy"], "{from} → {to}");
    }
}

#[test]
fn rule_1_more_tags_are_more_specific() {
    // Four tags (three and one) against two.
    let answer = world("TrafficLog", "kuma/0.3", &TWO_LOGS).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!((answer.because, answer.rung), (Some(Code::SelectMoreTags), Some(1)));
}

#[test]
fn rule_2_an_exact_value_is_more_specific_than_a_wildcard() {
    let policies = [("exact", WEB, ANY), ("wild", ANY, ANY)];
    let answer = world("TrafficLog", "kuma/0.3", &policies).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!(answer.standing, ["exact"]);
    assert_eq!((answer.because, answer.rung), (Some(Code::SelectMoreExact), Some(2)));
}

#[test]
fn rule_3_at_equal_tags_the_greater_total_of_exact_values_wins() {
    let policies =
        [("one", "kuma.io/service: web, version: '*'", ANY), ("two", "kuma.io/service: web, version: v1", ANY)];
    let answer = world("TrafficLog", "kuma/0.3", &policies).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!(answer.standing, ["two"]);
    assert_eq!((answer.because, answer.rung), (Some(Code::SelectMoreExact), Some(2)));
}

#[test]
fn rule_3_does_not_reach_over_the_number_of_tags() {
    // Three wildcards against two exact values: the number of tags is compared first.
    let policies = [("exact", WEB, BACKEND), ("wild", "kuma.io/service: '*', cloud: '*'", ANY)];
    let answer = world("TrafficLog", "kuma/0.3", &policies).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!(answer.standing, ["wild"]);
}

#[test]
fn rule_4_the_first_name_wins_when_all_else_is_equal() {
    let policies = [("b", WEB, BACKEND), ("a", WEB, BACKEND)];
    let answer = world("TrafficLog", "kuma/0.3", &policies).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!(answer.standing, ["a"]);
    assert_eq!((answer.because, answer.rung), (Some(Code::SelectNameOrder), Some(3)));
}

#[test]
fn example_1_a_greater_number_of_tags() {
    let policies = [("more", "kuma.io/service: '*', cloud: aws, region: us", ANY), ("fewer", ANY, ANY)];
    let answer = world("TrafficLog", "kuma/0.3", &policies).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!((answer.standing.as_slice(), answer.because), (&["more".to_owned()][..], Some(Code::SelectMoreTags)));
}

#[test]
fn example_2_the_exact_tag_value() {
    let policies = [("exact", WEB, BACKEND), ("wild", ANY, ANY)];
    let answer = world("TrafficLog", "kuma/0.3", &policies).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!((answer.standing.as_slice(), answer.because), (&["exact".to_owned()][..], Some(Code::SelectMoreExact)));
}

#[test]
fn example_3_a_greater_total_of_exact_values() {
    let policies = [
        ("three", "kuma.io/service: web, version: v1", BACKEND),
        ("two", "kuma.io/service: web, version: '*'", BACKEND),
    ];
    let answer = world("TrafficLog", "kuma/0.3", &policies).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!((answer.standing.as_slice(), answer.because), (&["three".to_owned()][..], Some(Code::SelectMoreExact)));
}

const TIE: [(&str, &str, &str); 2] = [
    ("policy-1", "kuma.io/service: web, version: v1", BACKEND),
    ("policy-2", WEB, "kuma.io/service: backend, cloud: aws"),
];

#[test]
fn example_4_equally_specific_policies_between_two_dataplanes_go_by_name() {
    let answer = world("TrafficLog", "kuma/0.3", &TIE).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!(answer.standing, ["policy-1"]);
    assert_eq!(answer.lost, ["policy-2"]);
    assert_eq!((answer.because, answer.rung), (Some(Code::SelectNameOrder), Some(3)));
}

#[test]
fn example_4_towards_a_tag_alone_nothing_else_is_known() {
    let answer = world("TrafficLog", "kuma/0.3", &TIE).ask("TrafficLog", "web-1", "kuma.io/service=backend");
    assert_eq!(answer.standing, ["policy-1"]);
    assert_eq!(answer.skipped, ["policy-2"]);
}

#[test]
fn in_0_4_outbound_kinds_see_only_the_service_of_a_proxy() {
    let answer = world("TrafficLog", "kuma/0.4", &TIE).ask("TrafficLog", "web-1", "backend-1");
    assert_eq!(answer.skipped, ["policy-2"]);
}

#[test]
fn in_0_4_the_newest_wins_before_the_name() {
    let text = format!(
        "{DATAPLANES}type: TrafficLog\nname: a\ncreationTime: 2025-01-01T00:00:00Z\nsources: [{{match: {{{ANY}}}}}]\ndestinations: [{{match: {{{ANY}}}}}]\n\
         ---\ntype: TrafficLog\nname: b\ncreationTime: 2025-02-01T00:00:00Z\nsources: [{{match: {{{ANY}}}}}]\ndestinations: [{{match: {{{ANY}}}}}]\n\
         ---\ntype: TrafficLog\nname: c\nsources: [{{match: {{{ANY}}}}}]\ndestinations: [{{match: {{{ANY}}}}}]\n"
    );
    let answer = World::new(&text, "kuma/0.4").ask("TrafficLog", "web-1", "backend-1");
    assert_eq!((answer.standing.as_slice(), answer.because), (&["b".to_owned()][..], Some(Code::SelectNewer)));
    assert_eq!(answer.lost, ["a", "c"], "no creation time is older than all others");
    let by_name = World::new(&text, "kuma/0.3").ask("TrafficLog", "web-1", "backend-1");
    assert_eq!(by_name.standing, ["a"]);
}

#[test]
fn in_0_4_one_permission_wins_an_inbound() {
    let policies = [("wide", WEB, ANY), ("narrow", "kuma.io/service: mobile", BACKEND)];
    let answer = world("TrafficPermission", "kuma/0.4", &policies).ask("TrafficPermission", "web-1", "backend-1");
    assert_eq!(answer.standing, ["narrow"], "sources do not take part in the choice");
}

#[test]
fn in_0_4_fault_injections_and_rate_limits_take_all() {
    let policies = [("a", ANY, ANY), ("b", "kuma.io/service: web, cloud: aws", BACKEND)];
    for kind in ["FaultInjection", "RateLimit"] {
        let answer = world(kind, "kuma/0.4", &policies).ask(kind, "web-1", "backend-1");
        assert_eq!(answer.standing, ["b", "a"], "{kind}: the narrower audience first");
    }
}

#[test]
fn kinds_that_0_3_did_not_have_follow_its_general_rule() {
    for kind in ["FaultInjection", "Retry", "Timeout", "CircuitBreaker", "RateLimit"] {
        let answer = world(kind, "kuma/0.3", &TWO_LOGS).ask(kind, "web-1", "backend-1");
        assert_eq!(answer.standing, ["web-to-backend-policy"], "{kind}");
    }
}

#[test]
fn of_several_selectors_the_best_matching_one_counts() {
    let text = format!(
        "{DATAPLANES}type: TrafficLog\nname: several\nsources: [{{match: {{{ANY}}}}}, {{match: {{kuma.io/service: web, cloud: aws}}}}, {{match: {{kuma.io/service: mobile, a: b, c: d}}}}]\n\
         destinations: [{{match: {{{ANY}}}}}]\n---\ntype: TrafficLog\nname: single\nsources: [{{match: {{{WEB}}}}}]\ndestinations: [{{match: {{{BACKEND}}}}}]\n"
    );
    let answer = World::new(&text, "kuma/0.3").ask("TrafficLog", "web-1", "backend-1");
    assert_eq!((answer.standing.as_slice(), answer.because), (&["several".to_owned()][..], Some(Code::SelectMoreTags)));
}

#[test]
fn policies_of_another_mesh_are_invisible() {
    let text = format!(
        "{DATAPLANES}type: TrafficLog\nname: other\nmesh: other\nsources: [{{match: {{{WEB}}}}}]\ndestinations: [{{match: {{{BACKEND}}}}}]\n\
         ---\ntype: TrafficLog\nname: ours\nsources: [{{match: {{{ANY}}}}}]\ndestinations: [{{match: {{{ANY}}}}}]\n"
    );
    let answer = World::new(&text, "kuma/0.3").ask("TrafficLog", "web-1", "backend-1");
    assert_eq!((answer.standing.len(), answer.skipped.len()), (1, 0));
}
