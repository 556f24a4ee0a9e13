//! What leaves a mesh through a zone egress: which policies it has for a caller.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::egress::Egress;
use upheld_dialects::kuma::rules::kinds;
use upheld_loader::load::Loaded;

use super::asked::{ask, loaded, words};

const OBJECTS: &str = "type: Mesh
name: default
routing: {zoneEgress: true}
mtls: {enabledBackend: c, backends: [{name: c, type: builtin}]}
---
type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, version: v1}}]}
---
type: Dataplane
name: job
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: job, version: v2}}]}
---
type: ExternalService
name: bank
tags: {kuma.io/service: bank, version: v1}
networking: {address: 'bank.example:443'}
---
type: MeshExternalService
name: paid
spec: {match: {type: HostnameGenerator, port: 443, protocol: http}, endpoints: [{address: pay.example, port: 443}]}
";

/// What the egress does for a caller, by kind: whether it may pass, and what it gets.
fn at_egress(loaded: &Loaded, from: &str, to: &str) -> BTreeMap<String, (Option<bool>, Json)> {
    let asked = words(None, Some(&format!("dataplane/{from}")), Some(to), None);
    let reports = ask(&loaded.snapshot, &asked).map(|answer| answer.reports).unwrap_or_default();
    let there = reports.into_iter().filter(|report| report.about.place.as_deref() == Some("zone egress"));
    there.map(|report| (report.kind, (report.verdict.granted(), report.result))).collect()
}

fn world(policies: &[&str]) -> Loaded {
    let documents: Vec<&str> = std::iter::once(OBJECTS).chain(policies.iter().copied()).collect();
    loaded(&documents.join("---\n"), &["kuma/2"])
}

#[test]
fn an_external_service_has_policies_at_the_egress() {
    let loaded = world(&[
        "type: MeshTimeout\nname: there\nspec: {targetRef: {kind: MeshService, name: bank}, from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 3s}}]}\n",
        "type: MeshLoadBalancingStrategy\nname: near\nspec: {targetRef: {kind: MeshService, name: web}, to: [{targetRef: {kind: MeshService, name: bank}, default: {localityAwareness: {disabled: true}}}]}\n",
        "type: MeshTrafficPermission\nname: may\nspec: {targetRef: {kind: MeshService, name: bank}, from: [{targetRef: {kind: MeshService, name: web}, default: {action: Allow}}]}\n",
    ]);
    let near = json!({"localityAwareness": {"disabled": true}});
    let web = BTreeMap::from([
        ("MeshLoadBalancingStrategy".to_owned(), (None, near)),
        ("MeshTimeout".to_owned(), (None, json!({"idleTimeout": "3s"}))),
        ("MeshTrafficPermission".to_owned(), (Some(true), json!({"action": "Allow"}))),
    ]);
    for called in ["bank", "service/bank", "externalservice/bank"] {
        assert_eq!(at_egress(&loaded, "web", called), web, "{called}");
    }
    let job = at_egress(&loaded, "job", "bank");
    assert_eq!(job.get("MeshTrafficPermission"), Some(&(Some(false), Json::Null)));
    assert!(!job.contains_key("MeshLoadBalancingStrategy"));
    // Nobody in the mesh has them, and that is no mistake.
    let warned = ask(&loaded.snapshot, &words(None, Some("web"), Some("bank"), None)).expect("an answer").warnings;
    assert!(warned.is_empty(), "{warned:#?}");
}

#[test]
fn a_mesh_external_service_has_what_any_policy_says_about_it() {
    let loaded = world(&[
        "type: MeshTimeout\nname: job\nspec: {targetRef: {kind: MeshService, name: job}, to: [{targetRef: {kind: MeshExternalService, name: paid}, default: {idleTimeout: 2s}}]}\n",
    ]);
    let timeout = BTreeMap::from([("MeshTimeout".to_owned(), (None, json!({"idleTimeout": "2s"})))]);
    for from in ["web", "job"] {
        assert_eq!(at_egress(&loaded, from, "meshexternalservice/paid"), timeout, "{from}");
    }
}

#[test]
fn without_a_zone_egress_nothing_is_asked_there() {
    let policy = "type: MeshTrafficPermission\nname: may\nspec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}\n";
    let without = OBJECTS.replace("routing: {zoneEgress: true}\n", "");
    let loaded = loaded(&[&without, policy].join("---\n"), &["kuma/2"]);
    assert!(at_egress(&loaded, "web", "bank").is_empty());
    assert!(!at_egress(&world(&[policy]), "web", "bank").is_empty());
}

/// What the listing of the egress has for a caller with these tags.
fn listed(loaded: &Loaded, kind: &str, tags: &[(&str, &str)]) -> Option<Json> {
    let snapshot = &loaded.snapshot;
    let mesh = snapshot.symbols().get("default")?;
    let all = kinds(snapshot, mesh);
    let rules = all.iter().find(|rules| rules.name() == kind)?;
    let (_, bank) = snapshot.objects_in("ExternalService", "default").next()?;
    let egress = Egress::of(rules, &bank.parts[0].tags).expect("few cells");
    let has = |key: &str, value: &str| tags.contains(&(key, value));
    let rule =
        egress.clients.iter().find(|rule| rule.subset.tags.iter().all(|tag| has(&tag.key, &tag.value) != tag.not))?;
    Some(serde_json::to_value(&*rule.conf).expect("JSON"))
}

fn policy() -> impl Strategy<Value = String> {
    let pick = |list: &'static [&'static str]| proptest::sample::select(list);
    let refs: &[&str] = &[
        "{kind: Mesh}",
        "{kind: MeshService, name: bank}",
        "{kind: MeshService, name: web}",
        "{kind: MeshSubset, tags: {version: v1}}",
        "{kind: MeshSubset, tags: {version: v2}}",
        "{kind: MeshServiceSubset, name: job, tags: {version: v2}}",
        "{kind: MeshServiceSubset, name: bank, tags: {version: v1}}",
    ];
    prop_oneof![
        (pick(refs), pick(refs), pick(&["Allow", "Deny"])).prop_map(|(top, from, action)| format!(
            "type: MeshTrafficPermission\nname: NAME\nspec: {{targetRef: {top}, from: [{{targetRef: {from}, default: {{action: {action}}}}}]}}\n"
        )),
        (pick(refs), pick(refs), any::<bool>()).prop_map(|(top, to, disabled)| format!(
            "type: MeshLoadBalancingStrategy\nname: NAME\nspec: {{targetRef: {top}, to: [{{targetRef: {to}, default: {{localityAwareness: {{disabled: {disabled}}}}}}}]}}\n"
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn asking_at_the_egress_is_looking_up_in_its_listing(policies in proptest::collection::vec(policy(), 1..6)) {
        let named = policies.iter().enumerate().map(|(number, text)| text.replace("NAME", &format!("p{number}")));
        let named: Vec<String> = named.collect();
        let loaded = world(&named.iter().map(String::as_str).collect::<Vec<_>>());
        for (name, version) in [("web", "v1"), ("job", "v2")] {
            let found = at_egress(&loaded, name, "bank");
            for kind in ["MeshTrafficPermission", "MeshLoadBalancingStrategy"] {
                let asked = found.get(kind).map(|(_, result)| result.clone()).filter(|result| !result.is_null());
                let listed = listed(&loaded, kind, &[("kuma.io/service", name), ("version", version)]);
                prop_assert_eq!(asked, listed, "{} for {}", kind, name);
            }
        }
    }
}

/// The calls of a caller beside what the egress does.
fn of_caller(loaded: &Loaded, from: &str, to: &str, kind: &str) -> Json {
    let asked = words(None, Some(&format!("dataplane/{from}")), Some(to), Some(kind));
    let reports = ask(&loaded.snapshot, &asked).map(|answer| answer.reports).unwrap_or_default();
    let own = reports.into_iter().find(|report| report.about.place.as_deref() != Some("zone egress"));
    own.map_or(Json::Null, |report| report.result)
}

const PAID: &str = "{targetRef: {kind: MeshExternalService, name: paid}, default: {idleTimeout: 2s}}";

#[test]
fn what_is_said_to_others_about_a_mesh_external_service_holds_at_the_egress_and_not_at_the_caller() {
    let loaded = world(&[&format!(
        "type: MeshTimeout\nname: job\nspec: {{targetRef: {{kind: MeshService, name: job}}, to: [{PAID}]}}\n"
    )]);
    assert_eq!(of_caller(&loaded, "job", "meshexternalservice/paid", "MeshTimeout"), json!({"idleTimeout": "2s"}));
    assert_eq!(of_caller(&loaded, "web", "meshexternalservice/paid", "MeshTimeout"), Json::Null);
}

#[test]
fn the_egress_has_one_answer_for_all_callers_of_a_mesh_external_service() {
    let policies = [
        "type: MeshTimeout\nname: all\nspec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s, connectionTimeout: 1s}}]}\n".to_owned(),
        format!("type: MeshTimeout\nname: near\nspec: {{targetRef: {{kind: Mesh}}, to: [{PAID}]}}\n"),
        "type: MeshTimeout\nname: odd\nspec: {targetRef: {kind: MeshService, name: web}, to: [{targetRef: {kind: MeshExternalService, name: paid}, default: {http: {requestTimeout: 5s}}}]}\n".to_owned(),
    ];
    let loaded = world(&policies.iter().map(String::as_str).collect::<Vec<_>>());
    let found: Vec<_> = ["web", "job"].map(|from| at_egress(&loaded, from, "meshexternalservice/paid")).into();
    assert_eq!(found[0], found[1]);
    let (granted, result) = &found[0]["MeshTimeout"];
    assert_eq!(*granted, None);
    assert_eq!((&result["idleTimeout"], &result["http"]["requestTimeout"]), (&json!("2s"), &json!("5s")));
}

#[test]
fn shadow_policies_and_policies_about_others_are_not_at_the_egress() {
    let loaded = world(&[
        "type: MeshTimeout\nname: tried\nlabels: {kuma.io/effect: shadow}\nspec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshExternalService, name: paid}, default: {idleTimeout: 2s}}]}\n",
        "type: MeshTimeout\nname: bank\nspec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshService, name: bank}, default: {idleTimeout: 3s}}]}\n",
    ]);
    let found = at_egress(&loaded, "web", "meshexternalservice/paid");
    assert!(found.values().all(|(_, result)| result.is_null()), "{found:?}");
}

#[test]
fn a_port_of_a_mesh_external_service_is_asked_at_the_egress_as_the_whole() {
    let loaded =
        world(&[&format!("type: MeshTimeout\nname: near\nspec: {{targetRef: {{kind: Mesh}}, to: [{PAID}]}}\n")]);
    let whole = at_egress(&loaded, "web", "meshexternalservice/paid");
    assert_eq!(whole["MeshTimeout"].1, json!({"idleTimeout": "2s"}));
    assert_eq!(at_egress(&loaded, "web", "meshexternalservice/paid#443"), whole);
}

#[test]
fn other_kinds_about_a_mesh_external_service_hold_at_the_egress_too() {
    let loaded = world(&[
        "type: MeshRetry\nname: again\nspec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshExternalService, name: paid}, default: {http: {numRetries: 4}}}]}\n",
        "type: MeshCircuitBreaker\nname: few\nspec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshExternalService, name: paid}, default: {connectionLimits: {maxConnections: 2}}}]}\n",
        "type: MeshTrafficPermission\nname: nobody\nspec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}\n",
    ]);
    let found = at_egress(&loaded, "web", "meshexternalservice/paid");
    assert_eq!(found["MeshRetry"].1, json!({"http": {"numRetries": 4}}));
    assert_eq!(found["MeshCircuitBreaker"].1, json!({"connectionLimits": {"maxConnections": 2}}));
}

#[test]
fn without_a_zone_egress_a_mesh_external_service_is_asked_at_the_caller_alone() {
    let without = OBJECTS.replace("routing: {zoneEgress: true}\n", "");
    let policy = format!("type: MeshTimeout\nname: near\nspec: {{targetRef: {{kind: Mesh}}, to: [{PAID}]}}\n");
    let loaded = loaded(&[without.as_str(), &policy].join("---\n"), &["kuma/2"]);
    assert!(at_egress(&loaded, "web", "meshexternalservice/paid").is_empty());
    assert_eq!(of_caller(&loaded, "web", "meshexternalservice/paid", "MeshTimeout"), json!({"idleTimeout": "2s"}));
}
