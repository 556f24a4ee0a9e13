//! What a digest covers: whatever can change an answer, and nothing else.

use upheld_dialects::gateways::gateway_api::ControllerSettings;
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input};

const POLICIES: &str = r"
id: readers
effect: permit
subjects: [{role: reader}]
resources: [{path: /docs/**}]
actions: []
---
id: nobody
effect: deny
subjects: []
resources: [{path: /docs/secret}]
actions: []
---
combiningAlgorithm: deny-overrides
defaultEffect: deny
";

const KINDS: &str = "
kind: PolicyKind
name: Quota
family: select
match:
- {field: sources, side: source}
rank: [more-tags, name]
resolve: first
---
type: Dataplane
mesh: default
name: web-1
networking: {address: 10.0.0.1, inbound: [{port: 8080, tags: {kuma.io/service: web}}]}
---
type: TrafficLog
mesh: default
name: all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: logstash}
";

fn with(choices: Choices, texts: &[&str]) -> String {
    let inputs = texts.iter().enumerate();
    let inputs = inputs.map(|(place, text)| Input::text(format!("{place}.yaml"), Format::Yaml, *text));
    choices.load(inputs.collect()).unwrap().snapshot.digest().to_owned()
}

fn digest(texts: &[&str]) -> String {
    with(Choices::default(), texts)
}

#[test]
fn an_algorithm_and_a_default_effect_change_it() {
    let other = |from: &str, to: &str| digest(&[&POLICIES.replace(from, to)]);
    let all = [
        digest(&[POLICIES]),
        other("deny-overrides", "first-applicable"),
        other("defaultEffect: deny", "defaultEffect: permit"),
    ];
    for (place, one) in all.iter().enumerate() {
        assert!(!all[..place].contains(one), "{place}");
    }
}

#[test]
fn objects_policies_and_choices_of_kinds_change_it() {
    let edits = [
        ("", ""),
        ("kuma.io/service: web", "kuma.io/service: api"),
        ("backend: logstash", "backend: splunk"),
        ("rank: [more-tags, name]", "rank: [more-exact-tags, name]"),
        ("resolve: first", "resolve: all"),
    ];
    let all = edits.map(|(old, new)| digest(&[&KINDS.replacen(old, new, 1)]));
    for (place, one) in all.iter().enumerate() {
        assert!(!all[..place].contains(one), "{:?}", edits[place]);
    }
}

#[test]
fn the_order_of_evaluation_changes_it() {
    let mut turned: Vec<&str> = POLICIES.split("---").collect();
    turned.swap(0, 1);
    assert_ne!(digest(&[&turned.join("---")]), digest(&[POLICIES]));
}

#[test]
fn a_directory_changes_it() {
    let directory =
        |role: &str| format!("kind: Directory\nsubjects: [{{type: user, id: ana, properties: {{roles: [{role}]}}}}]\n");
    let all =
        [digest(&[POLICIES]), digest(&[POLICIES, &directory("reader")]), digest(&[POLICIES, &directory("writer")])];
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
}

#[test]
fn settings_of_the_controller_change_it() {
    let under = |given: &[&str]| {
        let controller = ControllerSettings::read(given).unwrap();
        with(Choices::default().with(controller), &[POLICIES])
    };
    let all = [
        under(&[]),
        under(&["GlobalPolicyNamespace=policies"]),
        under(&["ReferenceGrantMode=Off"]),
        under(&["WeightedRoutePrecedence=true"]),
        under(&["DelegationWildcardNamespace=any"]),
        under(&[r#"PolicyMerge={"trafficPolicy": {"extAuth": "DeepMerge"}}"#]),
    ];
    for (place, one) in all.iter().enumerate() {
        assert!(!all[..place].contains(one), "{place}");
    }
}

#[test]
fn an_edition_changes_it() {
    let under = |semantics: &[&str]| with(Choices::of_semantics(semantics), &[POLICIES]);
    let all = [under(&[]), under(&["access/compat"]), under(&["kuma/2-cliques"]), under(&["kgateway/ep-11268"])];
    for (place, one) in all.iter().enumerate() {
        assert!(!all[..place].contains(one), "{place}");
    }
    // To name what is in force anyway changes nothing.
    assert_eq!(under(&["access/strict"]), all[0]);
}

#[test]
fn formatting_names_and_the_order_of_files_do_not_change_it() {
    let route = "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {namespace: team, name: shop}, spec: {rules: []}}";
    let written = "# a comment\nkind: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nspec:\n  rules: []\nmetadata:\n  name: shop\n  namespace: team\n";
    let mesh = "type: Mesh\nname: default\n";
    assert_eq!(digest(&[route, mesh]), digest(&[mesh, written]));
    assert_eq!(digest(&[&format!("{mesh}---\n{written}")]), digest(&[route, mesh]));
}

#[test]
fn what_answers_nothing_does_not_change_it() {
    let beside = ["apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n", "kind: PolicyTests\ncases: []\n"];
    for text in beside {
        assert_eq!(digest(&[POLICIES, text]), digest(&[POLICIES]), "{text}");
    }
}

#[test]
fn documents_of_a_store_have_that_of_files() {
    let file = || Input::text("a.yaml", Format::Yaml, POLICIES);
    let stored = Choices::default().load_for_store(Vec::new(), vec![file()]).unwrap();
    assert_eq!(stored.snapshot.digest(), digest(&[POLICIES]));
}
