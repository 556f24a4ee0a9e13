//! Every caller and everything that is called, under one kind; and what the system makes of documents.

use std::collections::BTreeSet;

use upheld_dialects::dialects;
use upheld_engine::KindId;
use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_report::Report;

use super::asked::{loaded, reports, words};

const WORLD: &str = "type: Mesh
name: default
mtls: {enabledBackend: c, backends: [{name: c, type: builtin}]}
---
type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}, {port: 81, tags: {kuma.io/service: admin}}]}
---
type: Dataplane
name: back
networking: {address: 10.0.0.2, inbound: [{port: 80, state: NotReady, tags: {kuma.io/service: backend, version: v1}}]}
---
type: Dataplane
name: job
networking: {address: 10.0.0.3}
---
type: MeshTrafficPermission
name: web-may
spec: {targetRef: {kind: MeshService, name: backend}, from: [{targetRef: {kind: MeshService, name: admin}, default: {action: Allow}}]}
---
type: MeshTimeout
name: calls
spec: {to: [{targetRef: {kind: MeshService, name: backend}, default: {idleTimeout: 1s}}]}
---
type: MeshTimeout
name: tried
labels: {kuma.io/effect: shadow}
spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2s, connectionTimeout: 2s}}]}
";

fn kind(loaded: &Loaded, name: &str) -> KindId {
    let mut kinds = loaded.snapshot.kinds().iter();
    kinds.find(|(_, kind)| loaded.snapshot.text(kind.name) == name).expect("a kind").0
}

#[test]
fn every_pair_has_the_answer_that_asking_for_it_has() {
    let loaded = loaded(WORLD, &["kuma/2"]);
    let snapshot = &loaded.snapshot;
    let mesh = snapshot.symbols().get("default").expect("the mesh");
    for name in ["MeshTrafficPermission", "MeshTimeout"] {
        let kind = kind(&loaded, name);
        let pairs = dialects().find_map(|dialect| dialect.layered_pairs(snapshot, kind, mesh)).expect("pairs");
        assert!(!pairs.is_empty());
        for pair in &pairs {
            let to = format!("dataplane/{}", pair.to);
            let asked =
                reports(snapshot, &words(None, Some(&format!("dataplane/{}", pair.from)), Some(&to), Some(name)));
            let granted = asked.iter().find_map(|report| report.verdict.granted());
            let policies: BTreeSet<&str> = asked.iter().flat_map(|one| &one.policies).map(String::as_str).collect();
            let listed = pair.policies.iter().filter_map(|id| snapshot.policy(*id));
            let listed: BTreeSet<&str> = listed.map(|policy| snapshot.text(policy.name)).collect();
            assert_eq!((pair.granted, listed), (granted, policies), "{name}: {pair:?}");
        }
    }
    let permission = kind(&loaded, "MeshTrafficPermission");
    let pairs = dialects().find_map(|dialect| dialect.layered_pairs(snapshot, permission, mesh)).expect("pairs");
    let may: Vec<(&str, &str)> = (pairs.iter())
        .filter(|pair| pair.granted == Some(true))
        .map(|pair| (pair.from.as_str(), pair.to.as_str()))
        .collect();
    assert_eq!(may, [("web", "back")]);
}

#[test]
fn policies_in_shadow_mode_count_where_somebody_asks_for_it() {
    let with = |given: &[&str]| {
        let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
        let settings = upheld_dialects::dialect::read_settings([("kuma", given.as_slice())]).expect("settings");
        let choices = Choices { semantics: vec!["kuma/2".to_owned()], settings };
        let loaded = choices.load(vec![Input::text("world.yaml", Format::Yaml, WORLD)]).expect("a world");
        let answers = reports(&loaded.snapshot, &words(Some("web"), None, Some("dataplane/back"), Some("MeshTimeout")));
        answers.iter().flat_map(|report| report.policies.clone()).collect::<BTreeSet<String>>()
    };
    assert!(!with(&[]).contains("tried"));
    assert!(with(&["shadow=on"]).contains("tried"));
}

#[test]
fn an_inbound_that_is_not_ready_is_noted() {
    let loaded = loaded(WORLD, &["kuma/2"]);
    let answers = reports(&loaded.snapshot, &words(None, Some("web"), Some("back"), Some("MeshTrafficPermission")));
    let noted = |report: &Report| report.notes.iter().any(|note| note.text.contains("NotReady"));
    assert!(answers.iter().any(noted), "{answers:#?}");
}

#[test]
fn the_role_zone_and_identifier_of_a_policy_are_shown() {
    let text = "apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: shop, labels: {kuma.io/zone: east, kuma.io/origin: zone}}
spec: {to: [{targetRef: {kind: MeshService, name: orders}, default: {idleTimeout: 1s}}]}
";
    let loaded = loaded(text, &["kuma/2"]);
    let (_, policy) = loaded.snapshot.policies().iter().next().expect("a policy");
    let computed: Vec<(&str, String)> =
        dialects().flat_map(|dialect| dialect.computed(&loaded.snapshot, policy.at, Some(policy))).collect();
    let expected =
        [("role", "producer"), ("origin", "zone"), ("zone", "east"), ("identifier", "kri_mt_default_east_shop_t_")];
    assert_eq!(computed, expected.map(|(name, value)| (name, value.to_owned())));
}
