use serde_json::{Value as Json, json};

use super::*;
use crate::kuma::testing;

/// A timeout for these services, created in this second if any is given.
fn timeout(name: &str, services: &[&str], second: Option<u8>) -> Json {
    let wants: Vec<Json> = services.iter().map(|service| json!({"kuma.io/service": service})).collect();
    let created = second.map(|second| format!("2024-01-01T00:00:{second:02}Z"));
    let policy = testing::policy("Timeout", name, &[json!({"kuma.io/service": "*"})], &wants);
    testing::with(policy, &json!({"creationTime": created}))
}

/// Asks for a route to these services, each with the policy that was chosen for it.
#[track_caller]
fn check(policies: &[Json], destinations: &[(&str, Option<&str>)], expected: Option<&str>) {
    let snapshot = testing::snapshot(policies);
    let destinations: Vec<_> = destinations
        .iter()
        .map(|(service, policy)| Destination {
            service: snapshot.symbols().get(service),
            policy: policy.map(|name| testing::policy_id(&snapshot, name)),
        })
        .collect();
    let chosen = policy_of_route(&snapshot, &destinations).and_then(|id| snapshot.policy(id));
    assert_eq!(chosen.map(|policy| snapshot.text(policy.name)), expected);
}

#[test]
fn without_policies_there_is_none() {
    check(&[], &[("a", None), ("b", None)], None);
}

#[test]
fn one_policy_for_all_destinations_stands() {
    check(&[timeout("ab", &["a", "b"], None)], &[("a", Some("ab")), ("b", Some("ab"))], Some("ab"));
}

#[test]
fn a_policy_for_all_services_comes_first_even_if_it_is_younger() {
    check(
        &[timeout("for-a", &["a"], Some(1)), timeout("for-all", &["*"], Some(2))],
        &[("a", Some("for-a")), ("b", Some("for-all"))],
        Some("for-all"),
    );
}

#[test]
fn the_oldest_stands_and_not_the_newest() {
    check(
        &[timeout("for-a", &["a"], Some(3)), timeout("for-b", &["b"], Some(1)), timeout("for-c", &["c"], Some(2))],
        &[("a", Some("for-a")), ("b", Some("for-b")), ("c", Some("for-c"))],
        Some("for-b"),
    );
}

#[test]
fn a_policy_of_unknown_age_is_the_oldest() {
    check(
        &[timeout("for-a", &["a"], Some(1)), timeout("for-b", &["b"], None)],
        &[("a", Some("for-a")), ("b", Some("for-b"))],
        Some("for-b"),
    );
}

#[test]
fn of_two_of_one_age_the_first_destination_has_its_way() {
    check(
        &[timeout("for-a", &["a"], Some(1)), timeout("for-b", &["b"], Some(1))],
        &[("b", Some("for-b")), ("a", Some("for-a"))],
        Some("for-b"),
    );
}

#[test]
fn a_selector_for_another_service_does_not_count() {
    check(&[timeout("for-b", &["b"], None)], &[("a", Some("for-b"))], None);
}
