//! Every caller and everything that is called, under one kind; and what the system makes of documents.

use std::collections::BTreeSet;

use upheld_dialects::dialect::{LayeredStanding, SomePairs};
use upheld_dialects::dialects;
use upheld_engine::{Granularity, KindId};
use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_report::Report;

use super::asked::{ask, loaded, reports, words};

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

/// Who calls, who is called, the policies that count, and whether the caller may.
type Pair = (String, String, BTreeSet<String>, Option<bool>);

/// Every pair, by its cell.
fn pairs(loaded: &Loaded, name: &str) -> Vec<Pair> {
    let (snapshot, kind) = (&loaded.snapshot, kind(loaded, name));
    let mesh = snapshot.symbols().get("default").expect("the mesh");
    let cells = dialects()
        .find_map(|dialect| dialect.layered_cells(snapshot, kind, mesh, &SomePairs::default()))
        .expect("cells");
    let ends = dialects().find_map(|dialect| dialect.ends(snapshot, mesh, Granularity::Inbound)).expect("ends");
    let callers: Vec<_> = cells.callers.iter().map(|(name, _)| *name).collect();
    let called: Vec<_> = cells.called.iter().map(|(label, _)| label.clone()).collect();
    assert_eq!(callers, ends.callers.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    assert_eq!(called, ends.called.iter().map(|(label, _)| label.clone()).collect::<Vec<_>>());
    let mut pairs = Vec::new();
    for (from, caller) in &cells.callers {
        for (to, called) in &cells.called {
            let LayeredStanding { policies, granted } =
                &cells.cells[cells.rows.cell(*caller, *called).expect("a cell") as usize];
            let policies = policies.iter().map(|id| snapshot.text(snapshot.policy(*id).expect("a policy").name));
            pairs.push((snapshot.text(*from).to_owned(), to.clone(), policies.map(str::to_owned).collect(), *granted));
        }
    }
    pairs
}

/// The same for one pair, as a user asks for it.
fn asked(loaded: &Loaded, name: &str, from: &str, to: &str) -> (BTreeSet<String>, Option<bool>) {
    let snapshot = &loaded.snapshot;
    let proxy = to.split('#').next().unwrap_or(to);
    let to = match snapshot.object_named("Dataplane", "default", proxy) {
        Some(_) => format!("dataplane/{to}"),
        None => to.to_owned(),
    };
    match ask(snapshot, &words(None, Some(&format!("dataplane/{from}")), Some(&to), Some(name))) {
        Ok(answer) => {
            let granted = answer.reports.iter().find_map(|report| report.verdict.granted());
            (answer.reports.into_iter().flat_map(|one| one.policies).collect(), granted)
        }
        // Nobody has anything to say.
        Err(_) => (BTreeSet::new(), None),
    }
}

#[test]
fn every_pair_has_the_answer_that_asking_for_it_has() {
    let loaded = loaded(WORLD, &["kuma/2"]);
    for name in ["MeshTrafficPermission", "MeshTimeout"] {
        for (from, to, policies, granted) in pairs(&loaded, name) {
            assert_eq!((policies, granted), asked(&loaded, name, &from, &to), "{name}: {from} → {to}");
        }
    }
    let granted = pairs(&loaded, "MeshTrafficPermission").into_iter().filter(|(.., granted)| *granted == Some(true));
    let may: Vec<(String, String)> = granted.map(|(from, to, ..)| (from, to)).collect();
    assert_eq!(may, [("web".to_owned(), "back".to_owned())]);
}

/// Lists of identities are no patterns of the engine, and tell callers apart all the same.
#[test]
fn callers_that_only_a_list_tells_apart_are_told_apart() {
    let list = "type: Dataplane
name: plain
networking: {address: 10.0.0.4, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: MeshTrafficPermission
name: listed
spec: {targetRef: {kind: Dataplane}, rules: [{default: {allow: [{spiffeID: {type: Exact, value: spiffe://default/admin}}]}}]}
";
    let world = WORLD.split("---\n").filter(|text| !text.contains("web-may")).chain([list]).collect::<Vec<_>>();
    for edition in ["kuma/2", "kuma/3"] {
        let loaded = loaded(&world.join("---\n"), &[edition]);
        let granted = |from: &str| {
            let all = pairs(&loaded, "MeshTrafficPermission");
            all.iter().find(|(caller, to, ..)| caller == from && to == "back").expect("a pair").3
        };
        assert_eq!([granted("web"), granted("plain")], [Some(true), Some(false)], "{edition}");
        // Asked together, they are told apart as well.
        let question = words(None, Some("service/web"), Some("dataplane/back"), Some("MeshTrafficPermission"));
        let both = reports(&loaded.snapshot, &question);
        let both: BTreeSet<_> = both.iter().map(|report| (&report.about.holds_for, report.verdict.granted())).collect();
        let [web, plain] = ["web → back", "plain → back"].map(|pair| vec![pair.to_owned()]);
        assert_eq!(both, BTreeSet::from([(&web, Some(true)), (&plain, Some(false))]), "{edition}");
    }
}

mod laws {
    use proptest::prelude::*;

    use super::{asked, loaded, pairs};

    const OTHERS: &str = "type: Mesh
name: default
routing: {zoneEgress: true}
mtls: {enabledBackend: c, backends: [{name: c, type: builtin}]}
---
type: MeshService
name: orders
labels: {kuma.io/display-name: orders}
spec: {selector: {dataplaneTags: {kuma.io/service: s0}}, ports: [{port: 80, name: http, appProtocol: http}]}
---
type: MeshService
name: stock
labels: {kuma.io/display-name: stock}
spec: {selector: {dataplaneLabels: {matchLabels: {app: a1}}}, ports: [{port: 8080, targetPort: 80, name: http}]}
---
type: ExternalService
name: far
tags: {kuma.io/service: far, kuma.io/protocol: http}
networking: {address: 'far.example:80'}
";

    /// A proxy out of few tags and labels, so that some are alike.
    fn proxy() -> impl Strategy<Value = String> {
        let inbound = |port: u16| {
            (0..3_u8, 0..2_u8).prop_map(move |(service, version)| {
                format!("{{port: {port}, tags: {{kuma.io/service: s{service}, version: v{version}}}}}")
            })
        };
        (0..3_u8, inbound(80), proptest::option::of(inbound(81)), 0..8_u8).prop_map(|(app, first, second, idle)| {
            let inbounds: Vec<String> = Some(first).filter(|_| idle > 0).into_iter().chain(second).collect();
            format!(
                "type: Dataplane\nname: NAME\nlabels: {{app: a{app}}}\nnetworking: {{address: 10.0.0.1, inbound: [{}]}}\n",
                inbounds.join(", ")
            )
        })
    }

    const TOPS: [&str; 6] = [
        "{kind: Mesh}",
        "{kind: Dataplane, labels: {app: a0}}",
        "{kind: Dataplane, sectionName: '81'}",
        "{kind: MeshSubset, tags: {version: v1}}",
        "{kind: MeshService, name: s1}",
        "{kind: MeshSubset, proxyTypes: [Sidecar], tags: {kuma.io/service: s2}}",
    ];
    const CALLED: [&str; 5] = [
        "{kind: Mesh}",
        "{kind: MeshService, name: orders}",
        "{kind: MeshService, name: stock, sectionName: http}",
        "{kind: MeshService, name: s1}",
        "{kind: MeshService, name: far}",
    ];
    const CALLERS: [&str; 4] = [
        "{kind: Mesh}",
        "{kind: MeshService, name: s0}",
        "{kind: MeshSubset, tags: {version: v1}}",
        "{kind: MeshServiceSubset, name: s1, tags: {version: v0}}",
    ];
    const IDENTITIES: [&str; 3] = [
        "{type: Exact, value: spiffe://default/s0}",
        "{type: Prefix, value: spiffe://default/s}",
        "{type: Exact, value: spiffe://default/s2}",
    ];

    fn policy() -> impl Strategy<Value = String> {
        let pick = |list: &'static [&'static str]| proptest::sample::select(list);
        prop_oneof![
            (pick(&TOPS), pick(&CALLED), 1..9_u8).prop_map(|(top, to, time)| format!(
                "type: MeshTimeout\nname: NAME\nspec: {{targetRef: {top}, to: [{{targetRef: {to}, default: {{idleTimeout: {time}s}}}}]}}\n"
            )),
            (pick(&TOPS), pick(&IDENTITIES), 1..9_u8).prop_map(|(top, identity, time)| format!(
                "type: MeshTimeout\nname: NAME\nspec: {{targetRef: {top}, rules: [{{matches: [{{spiffeID: {identity}}}], default: {{connectionTimeout: {time}s}}}}]}}\n"
            )),
            (pick(&TOPS), pick(&CALLERS), pick(&["Allow", "Deny"])).prop_map(|(top, from, action)| format!(
                "type: MeshTrafficPermission\nname: NAME\nspec: {{targetRef: {top}, from: [{{targetRef: {from}, default: {{action: {action}}}}}]}}\n"
            )),
            (pick(&TOPS), pick(&["allow", "deny"]), pick(&IDENTITIES)).prop_map(|(top, list, identity)| format!(
                "type: MeshTrafficPermission\nname: NAME\nspec: {{targetRef: {top}, rules: [{{default: {{{list}: [{{spiffeID: {identity}}}]}}}}]}}\n"
            )),
        ]
    }

    /// Names that do not repeat.
    fn named(texts: Vec<String>, prefix: &str) -> impl Iterator<Item = String> {
        let prefix = prefix.to_owned();
        texts.into_iter().enumerate().map(move |(number, text)| text.replace("NAME", &format!("{prefix}{number}")))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn asking_for_a_pair_gives_the_answer_of_its_cell(
            proxies in proptest::collection::vec(proxy(), 1..6),
            policies in proptest::collection::vec(policy(), 1..6),
            edition in proptest::sample::select(&["kuma/2", "kuma/3"][..]),
        ) {
            let documents = [OTHERS.to_owned()].into_iter().chain(named(proxies, "dp-")).chain(named(policies, "p"));
            let loaded = loaded(&documents.collect::<Vec<_>>().join("---\n"), &[edition]);
            for name in ["MeshTrafficPermission", "MeshTimeout"] {
                for (from, to, policies, granted) in pairs(&loaded, name) {
                    prop_assert_eq!((policies, granted), asked(&loaded, name, &from, &to), "{}: {} → {}", name, from, to);
                }
            }
        }
    }
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
