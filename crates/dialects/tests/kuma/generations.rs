//! Older and newer kinds about one matter, and services that only policies name.

use upheld_report::Report;

use super::asked::{ask, loaded, reports, words};

const OBJECTS: &str = "type: Mesh
name: default
mtls: {enabledBackend: c, backends: [{name: c, type: builtin}]}
---
type: Dataplane
name: web-1
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: Dataplane
name: api-1
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: api}}]}
";
const OLD: &str = "type: TrafficPermission
name: all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
---
type: Retry
name: five
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {http: {numRetries: 5}}
";
const DENY: &str = "type: MeshTrafficPermission
name: none
mesh: default
spec: {targetRef: {kind: MeshService, name: api}, from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}
";
const RETRY: &str = "type: MeshRetry
name: two
mesh: default
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 2}}}]}
";

fn notes(found: &[Report], kind: &str) -> Vec<String> {
    let own = found.iter().filter(|report| report.kind == kind);
    own.flat_map(|report| &report.notes).map(|note| format!("{} {}", note.code, note.text)).collect()
}

#[test]
fn of_two_kinds_about_one_matter_the_answer_says_which_counts() {
    let world = loaded(&[OBJECTS, OLD, DENY, RETRY].join("---\n"), &["kuma/2"]);
    let found = reports(&world.snapshot, &words(None, Some("web-1"), Some("api-1"), None));
    let counts = |old: &str, new: &str| {
        format!("UP030 {new} took the place of {old}: where both say something, {new} counts and {old} has no effect")
    };
    assert_eq!(notes(&found, "TrafficPermission"), [counts("TrafficPermission", "MeshTrafficPermission")]);
    assert_eq!(notes(&found, "Retry"), [counts("Retry", "MeshRetry")]);
    assert_eq!(notes(&found, "MeshRetry"), [""; 0]);
}

#[test]
fn where_the_newer_kind_says_nothing_the_older_one_counts() {
    let world = loaded(&[OBJECTS, OLD, DENY].join("---\n"), &["kuma/2"]);
    let found = reports(&world.snapshot, &words(None, Some("api-1"), Some("web-1"), None));
    let note = "UP035 no MeshTrafficPermission says anything here, so TrafficPermission counts, whose place it took";
    assert_eq!(notes(&found, "MeshTrafficPermission"), [note]);
    assert_eq!(notes(&found, "TrafficPermission"), [""; 0]);
}

#[test]
fn the_newest_edition_has_no_older_kinds() {
    let allow = "type: MeshTrafficPermission
name: some
mesh: default
spec: {targetRef: {kind: Mesh}, rules: [{default: {allow: [{spiffeID: {type: Prefix, value: 'spiffe://'}}]}}]}
";
    let world = loaded(&[OBJECTS, OLD, allow].join("---\n"), &["kuma/3"]);
    let found = reports(&world.snapshot, &words(None, Some("web-1"), Some("api-1"), None));
    let note = "UP030 control planes of kuma/3 do not know TrafficPermission, which has no effect there: MeshTrafficPermission took its place";
    assert_eq!(notes(&found, "TrafficPermission"), [note]);
}

#[test]
fn a_service_that_only_policies_name_is_answered_and_that_is_said() {
    let policy = "type: MeshRetry
name: kv
mesh: default
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshService, name: kv_demo_svc_5050}, default: {http: {numRetries: 7}}}]}
";
    let world = loaded(&[OBJECTS, policy].join("---\n"), &["kuma/2"]);
    let asked = words(None, Some("web-1"), Some("kv_demo_svc_5050"), Some("MeshRetry"));
    let answer = ask(&world.snapshot, &asked).expect("is answered");
    assert_eq!(answer.reports[0].result, serde_json::json!({"http": {"numRetries": 7}}));
    let note = "note: nothing that was read offers kv_demo_svc_5050: this is what policies say that name it";
    assert_eq!(answer.notes.first().map(String::as_str), Some(note));
    let unknown = words(None, Some("web-1"), Some("kv_demo_svc_5051"), Some("MeshRetry"));
    assert!(ask(&world.snapshot, &unknown).is_err());
}

#[test]
fn an_older_kind_of_another_distribution_is_left_out_and_no_mistake() {
    let policy = "type: OPAPolicy
name: opa
mesh: default
selectors: [{match: {kuma.io/service: api}}]
conf: {policies: [{inlineString: 'package envoy.authz'}]}
";
    let world = loaded(&[OBJECTS, policy].join("---\n"), &["kuma/2"]);
    assert_eq!(world.warnings.as_slice().len(), 0, "{:?}", world.warnings);
    assert_eq!(world.set_aside.by_type.get("OPAPolicy"), Some(&1));
}
