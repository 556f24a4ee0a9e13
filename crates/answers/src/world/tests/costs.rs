//! What questions about Kuma cost, counted in steps: it follows what is asked, not what there is.

use serde_json::json;
use upheld_engine::work::Work;
use upheld_loader::load::Loaded;
use upheld_report::Comparison;

use crate::shifts::tests::{loaded, options};
use crate::{Supposition, Words, World};

/// Few and many: ten times as much of everything, and the same answers.
const SIZES: [usize; 2] = [40, 400];

fn steps<T>(asked: impl Fn() -> T) -> u64 {
    // What is kept with a snapshot is made by the first who asks.
    drop(asked());
    let work = Work::default();
    drop(work.during(asked).expect("nobody ends it"));
    work.steps()
}

fn read(documents: impl Iterator<Item = serde_json::Value>) -> Loaded {
    let mesh = json!({"type": "Mesh", "name": "default"});
    let all: Vec<String> = [mesh].into_iter().chain(documents).map(|document| document.to_string()).collect();
    loaded(&[all.join("\n---\n")])
}

/// So many proxies that call their neighbours, each with a policy that selects.
fn selected(count: usize) -> Loaded {
    let proxy = |number: usize| {
        let tags = json!({"kuma.io/service": format!("s{number}")});
        json!({"type": "Dataplane", "mesh": "default", "name": format!("d{number}"), "networking": {"address": "10.0.0.1", "inbound": [{"port": 80, "tags": tags}]}})
    };
    let policy = |name: String, from: String, to: String| {
        let ends = [from, to].map(|service| json!([{"match": {"kuma.io/service": service}}]));
        json!({"type": "TrafficLog", "mesh": "default", "name": name, "sources": ends[0], "destinations": ends[1], "conf": {"backend": "b"}})
    };
    let own = (0..count)
        .map(|number| policy(format!("p{number}"), format!("s{number}"), format!("s{}", (number + 1) % count)));
    read((0..count).map(proxy).chain([policy("all".into(), "*".into(), "*".into())]).chain(own))
}

fn timeout(name: &str, top: &serde_json::Value, to: &serde_json::Value, value: &str) -> serde_json::Value {
    let conf = json!({"idleTimeout": value, "http": {"requestTimeout": "3s"}});
    json!({"type": "MeshTimeout", "mesh": "default", "name": name, "spec": {"targetRef": top, "to": [{"targetRef": to, "default": conf}]}})
}

/// The same with layers; `m7` says something of its own.
fn layered(count: usize, value: &str) -> Loaded {
    let ends = (0..count).flat_map(|number| {
        let tags = json!({"kuma.io/service": format!("s{number}")});
        let labels = json!({"app": format!("a{number}")});
        let port = json!({"port": 80, "name": "http", "targetPort": 80, "appProtocol": "http"});
        [
            json!({"type": "Dataplane", "mesh": "default", "name": format!("d{number}"), "labels": labels, "networking": {"address": "10.0.0.1", "inbound": [{"port": 80, "name": "http", "tags": tags}]}}),
            json!({"type": "MeshService", "mesh": "default", "name": format!("ms{number}"), "labels": labels, "spec": {"selector": {"dataplaneTags": tags}, "ports": [port]}}),
        ]
    });
    let policies = (0..count).map(|number| {
        let top = json!({"kind": "Dataplane", "labels": {"app": format!("a{number}")}});
        let to = json!({"kind": "MeshService", "name": format!("ms{}", (number + 1) % count)});
        timeout(&format!("m{number}"), &top, &to, if number == 7 { value } else { "1s" })
    });
    let mesh = json!({"kind": "Mesh"});
    read(ends.chain([timeout("all", &mesh, &mesh, "1h")]).chain(policies).collect::<Vec<_>>().into_iter())
}

fn words(pairs: &[(&str, &str)]) -> Words {
    let words: serde_json::Map<String, serde_json::Value> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    serde_json::from_value(json!(words)).expect("words")
}

/// What one question costs in both sizes.
fn of_sizes(world: impl Fn(usize) -> Loaded, ask: impl Fn(&World<'_>, &Loaded)) -> [u64; 2] {
    let options = options();
    SIZES.map(|size| {
        let loaded = world(size);
        steps(|| ask(&World::new(&loaded.snapshot, &options), &loaded))
    })
}

#[track_caller]
fn flat([few, many]: [u64; 2]) {
    assert!(many * 10 <= few * 11 + 20, "{few} → {many}");
}

#[test]
fn p6_one_policy_costs_what_it_matches() {
    flat(of_sizes(selected, |world, _| {
        let shown = world.show("TrafficLog/default/p7").expect("is there");
        assert_eq!(shown.counts.iter().map(|(_, tally)| tally.pairs).sum::<usize>(), 1);
    }));
    flat(of_sizes(selected, |world, _| {
        let survival = world.survival("TrafficLog/default/p7").expect("is there").expect("is counted");
        assert_eq!((survival.results, survival.stands), (1, 1));
    }));
}

#[test]
fn p6_findings_cost_what_policies_there_are() {
    let options = options();
    let [few, many] = SIZES.map(|size| {
        let loaded = selected(size);
        steps(|| World::new(&loaded.snapshot, &options).lint(&[], &crate::lint::LintWanted::default()).is_ok())
    });
    assert!(many <= 11 * few, "not the pairs of them: {few} → {many}");
}

#[test]
fn h2_a_result_costs_what_matches_and_not_what_else_there_is() {
    let asked = [
        words(&[("what", "dataplane/d7")]),
        words(&[("what", "dataplane/d7"), ("to", "meshservice/ms8"), ("kind", "MeshTimeout")]),
        words(&[("from", "d7"), ("to", "d8"), ("kind", "MeshTimeout")]),
    ];
    for words in &asked {
        flat(of_sizes(
            |size| layered(size, "1s"),
            |world, _| {
                world.resolve(&world.question(words).expect("means something")).expect("has a result");
            },
        ));
    }
    let [few, many] = of_sizes(
        |size| layered(size, "1s"),
        |world, _| {
            let [_, one, _] = &asked;
            world.answer(&world.question(one).expect("means something")).expect("is answered");
        },
    );
    assert!(many >= 8 * few, "who explains looks at all policies, and that is counted: {few} → {many}");
}

#[test]
fn p7_what_a_policy_is_attached_to_is_found_by_what_it_wants() {
    flat(of_sizes(
        |size| layered(size, "1s"),
        |world, _| {
            let shown = world.show("MeshTimeout/default/m7").expect("is there");
            assert_eq!(shown.attached.map(|(names, _)| names), Some(vec!["d7".to_owned()]));
        },
    ));
    flat(of_sizes(
        |size| layered(size, "1s"),
        |world, _| {
            let survival = world.survival("MeshTimeout/default/m7").expect("is there").expect("is counted");
            assert!(survival.stands > 0);
        },
    ));
}

/// What one edit could touch is one caller and all that it calls: that is looked through, and two questions are asked of each side.
#[test]
fn p5_one_edit_is_compared_where_its_policy_is_attached() {
    let options = options();
    let [few, many] = SIZES.map(|size| {
        let worlds = ["1s", "2s"].map(|value| layered(size, value));
        let [before, after] = worlds.each_ref().map(|loaded| World::new(&loaded.snapshot, &options));
        let shifts = before.shifts(&after, &());
        let all = (size * size) as u64;
        assert_eq!((shifts.verdict, shifts.counts.compared, shifts.counts.changed), (Comparison::Differs, all, 1));
        steps(|| before.shifts(&after, &()))
    });
    assert!(many <= 11 * few, "it follows what there is, not the pairs of it: {few} → {many}");
}

/// All pairs are one question for each sort of them: as many as proxies, where each has a policy about one destination.
#[test]
fn p5_all_values_are_looked_at_once_for_each_sort_of_connections() {
    let wanted = crate::lint::LintWanted::default();
    for size in SIZES {
        let loaded = layered(size, "1s");
        let options = options();
        let linted = World::new(&loaded.snapshot, &options).lint(&[], &wanted).expect("is looked at");
        let limits = linted.findings.iter().filter(|finding| finding.code() == "UP004");
        assert_eq!(limits.count(), 0, "{size} are not too many");
    }
    let kinds = |loaded: &Loaded| {
        let options = options();
        let all = World::new(&loaded.snapshot, &options).all_pairs("MeshTimeout", &()).expect("a kind");
        all.meshes.iter().map(|pairs| pairs.numbered().1.len()).sum::<usize>()
    };
    assert_eq!(SIZES.map(|size| kinds(&layered(size, "1s"))), SIZES.map(|size| 2 * size));
}

/// A supposition is read once, and both worlds are asked once.
#[test]
fn h10_a_supposition_asks_each_side_once() {
    let loaded = layered(40, "1s");
    let options = options();
    let world = World::new(&loaded.snapshot, &options);
    let words = words(&[("what", "dataplane/d7")]);
    let supposition = Supposition {
        without: vec!["MeshTimeout/default/m7".to_owned()],
        question: Some(words.clone()),
        ..Supposition::default()
    };
    let supposed = world.suppose(&loaded, &supposition).expect("can be read");
    let after = supposed.after.as_ref().expect("is another world");
    let ask = |loaded: &Loaded| {
        let world = World::new(&loaded.snapshot, &options);
        let question = world.question(&words).expect("means something");
        steps(|| world.answer(&question).expect("is answered"))
    };
    let (before, now) = (ask(&loaded), ask(after));
    let work = Work::default();
    let read = work.during(|| world.supposing(&loaded, &supposition).is_ok()).map(|_| work.steps()).expect("is read");
    let both = steps(|| world.suppose(&loaded, &supposition).expect("can be read"));
    // A new snapshot finds out once what leads where, and what its documents come to.
    let known = Work::default();
    let fresh = world.supposing(&loaded, &supposition).expect("can be read").expect("is another world");
    known
        .during(|| {
            let world = World::new(&fresh.snapshot, &options);
            drop(world.answer(&world.question(&words).expect("means something")).expect("is answered"));
            fresh.snapshot.digest();
        })
        .expect("nobody ends it");
    assert!(known.steps() >= now);
    // Which documents are not the same is found by a look at them.
    let compared = steps(|| upheld_dialects::changed(&loaded.snapshot, &fresh.snapshot));
    assert_eq!(both, read + before + known.steps() + compared);
    assert!(!supposed.told.reports.is_empty() && !supposed.was.reports.is_empty());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    #[test]
    fn a_policy_alone_counts_as_often_as_among_all_pairs([documents, _] in crate::shifts::tests::worlds()) {
        let loaded = loaded(&documents);
        let snapshot = &loaded.snapshot;
        for (kind, known) in snapshot.kinds().iter().filter(|(_, kind)| kind.select().is_some()) {
            for (policy, document) in snapshot.policies().iter().filter(|(_, policy)| policy.kind == known.governs) {
                let all = crate::all_pairs::tally(snapshot, kind, document.scope, &());
                let expected = all.tallies().get(&Some(policy)).copied().unwrap_or_else(|| all.none());
                let alone = crate::all_pairs::tally_of(snapshot, kind, policy).expect("is of this snapshot");
                proptest::prop_assert_eq!(alone.json(), expected.json());
            }
        }
    }

    #[test]
    fn things_of_a_name_are_found_as_by_looking_at_all([documents, _] in crate::shifts::tests::worlds()) {
        let loaded = loaded(&documents);
        let snapshot = &loaded.snapshot;
        for (_, policy) in snapshot.policies().iter() {
            let all = snapshot.policies().iter().filter(|(_, other)| other.name == policy.name).map(|(id, _)| id);
            proptest::prop_assert_eq!(snapshot.policies().of_name(policy.name, snapshot.symbols()), all.collect::<Vec<_>>());
        }
        for (_, object) in snapshot.objects().iter() {
            let all = snapshot.objects().iter().filter(|(_, other)| other.name == object.name).map(|(id, _)| id);
            proptest::prop_assert_eq!(snapshot.objects().of_name(object.name, snapshot.symbols()), all.collect::<Vec<_>>());
        }
    }
}
