//! What questions cost among few documents and among ten times as many: steps of work, for answers of one size.

use serde_json::{Value as Json, json};
use upheld_engine::work::Work;
use upheld_loader::load::Loaded;
use upheld_report::Depth;

use super::{options, read};
use crate::lint::LintWanted;
use crate::{Words, World};

const FEW: usize = 12;
const MANY: usize = 120;

/// A gateway with routes, each with a policy and a service of its own.
fn gateways(count: usize) -> Vec<String> {
    let document = |document: Json| document.to_string();
    let policy = |name: &str, kind: &str, target: &str| {
        json!({"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": name, "namespace": "team"},
            "spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": kind, "name": target}],
                "timeouts": {"request": "3s"}}})
    };
    let mut all = vec![
        document(
            json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "kgateway"},
            "spec": {"controllerName": "kgateway.dev/kgateway"}}),
        ),
        document(json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": {"name": "edge", "namespace": "team"},
            "spec": {"gatewayClassName": "kgateway", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}})),
        document(policy("all", "Gateway", "edge")),
    ];
    for number in 0..count {
        let name = format!("r{number}");
        all.push(document(json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": format!("s{number}"), "namespace": "team"}, "spec": {"ports": [{"port": 80}]}})));
        all.push(document(json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"parentRefs": [{"name": "edge"}], "hostnames": [format!("h{number}.example.com")],
                "rules": [{"backendRefs": [{"name": format!("s{number}"), "port": 80}]}]}})));
        all.push(document(policy(&format!("t{number}"), "HTTPRoute", &name)));
        // Policies of nothing: each is odd, and none is about a route that is there.
        all.push(document(policy(&format!("x{number}"), "HTTPRoute", &format!("nowhere{number}"))));
    }
    all
}

/// Pods in namespaces of ten, each with a policy.
fn networks(count: usize) -> Vec<String> {
    let of_pod = |number: usize| {
        let (namespace, app) = (format!("n{}", number / 10), format!("a{number}"));
        let next = format!("a{}", if number % 10 < 9 { number + 1 } else { number - 9 });
        let pod = json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
        let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": format!("d{number}"), "namespace": namespace},
            "spec": {"selector": {"matchLabels": {"app": app}}, "template": pod}});
        let policy = json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {"name": format!("p{number}"), "namespace": namespace},
            "spec": {"podSelector": {"matchLabels": {"app": app}}, "policyTypes": ["Ingress"],
                "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": next}}}], "ports": [{"port": 80}]}]}});
        [workload.to_string(), policy.to_string()]
    };
    (0..count).flat_map(of_pod).collect()
}

/// The steps of the second time: what is kept from then on is there.
fn steps(loaded: &Loaded, ask: impl Fn(&World<'_>)) -> u64 {
    let options = options();
    let world = World::new(&loaded.snapshot, &options);
    ask(&world);
    let work = Work::default();
    work.during(|| ask(&world)).expect("nobody ends it");
    work.steps()
}

/// With another text in the document of a name.
fn edited(documents: &[String], name: &str, from: &str, to: &str) -> Vec<String> {
    let is_named = |document: &String| document.contains(&format!("\"name\":\"{name}\",\"namespace\""));
    let edit = |document: &String| if is_named(document) { document.replace(from, to) } else { document.clone() };
    let edited: Vec<String> = documents.iter().map(edit).collect();
    assert_ne!(edited, documents);
    edited
}

fn answered(world: &World<'_>, words: &Json) {
    let words: Words = serde_json::from_value(words.clone()).expect("are words");
    let question = world.question(&words).expect("is a question");
    world.answer(&question).expect("is answered");
    world.resolve(&question).expect("has a result");
}

#[test]
fn p4_questions_about_gateways_follow_what_is_asked() {
    let [few, many] = [FEW, MANY].map(|count| read(&gateways(count)));
    for words in [
        json!({"what": "HTTPRoute/r7"}),
        json!({"what": "HTTPRoute/team/r7"}),
        json!({"host": "h7.example.com", "path": "/x"}),
        json!({"what": "backend/team/s7"}),
        json!({"what": "HTTPRoute/nowhere7"}),
    ] {
        let [few, many] = [&few, &many].map(|loaded| steps(loaded, |world| answered(world, &words)));
        assert_eq!(many, few, "{words}");
        assert!(few > 0, "{words}");
    }
}

#[test]
fn p4_an_answer_about_gateways_tells_no_more_among_many() {
    let told = |count: usize| {
        let (loaded, options) = (read(&gateways(count)), options());
        let world = World::new(&loaded.snapshot, &options);
        let words = Words { what: Some("HTTPRoute/r7".to_owned()), ..Words::default() };
        world.answer_to(&world.question(&words).expect("is a question"), Depth::All).expect("is answered").warnings
    };
    assert_eq!(told(MANY).len(), told(FEW).len());
}

#[test]
fn p3_g45_lint_of_gateways_grows_with_what_there_is() {
    let lint = |count: usize| {
        steps(&read(&gateways(count)), |world| drop(world.lint(&[], &LintWanted::default()).expect("is linted")))
    };
    let (few, many) = (lint(FEW), lint(MANY));
    assert!(many <= few * 12, "{few} {many}");
}

#[test]
fn p3_g45_a_policy_of_gateways_is_compared_where_it_is_attached() {
    let cost = |count: usize| {
        let before = gateways(count);
        let after = read(&edited(&before, "t7", "3s", "5s"));
        let before = read(&before);
        let changed = steps(&before, |world| {
            let options = options();
            let shifts = world.shifts(&World::new(&after.snapshot, &options), &());
            assert_eq!((shifts.counts.changed, shifts.shifts.len()), (1, 1));
        });
        let survives = steps(&before, |world| {
            let survival = world.survival("TrafficPolicy/team/t7").expect("is a policy").expect("has a say");
            assert_eq!((survival.results, survival.stands), (1, 1));
        });
        (changed, survives)
    };
    let ((few, alone), (many, among)) = (cost(FEW), cost(MANY));
    assert!(many <= few * 12, "{few} {many}");
    assert_eq!(among, alone);
}

#[test]
fn p2_a_network_policy_is_compared_where_its_rules_are_otherwise() {
    let cost = |count: usize| {
        let before = networks(count);
        let after = read(&edited(&before, "p7", "\"port\":80", "\"port\":90"));
        steps(&read(&before), |world| {
            let options = options();
            let shifts = world.shifts(&World::new(&after.snapshot, &options), &());
            assert_eq!((shifts.counts.changed, shifts.shifts.len()), (2, 2));
        })
    };
    let (few, many) = (cost(FEW), cost(MANY));
    // Each pod is held against the rules; all pairs of them would be a hundred times as many.
    assert!(many <= few * 10, "{few} {many}");
}

#[test]
fn p2_lint_of_network_policies_asks_no_pairs() {
    let lint = |count: usize| {
        steps(&read(&networks(count)), |world| {
            let linted = world.lint(&[], &LintWanted::default()).expect("is linted");
            assert!(linted.findings.iter().all(|finding| finding.code() != "UP004"), "{:?}", linted.findings);
        })
    };
    let (few, many) = (lint(FEW), lint(MANY));
    assert!(many <= few * 12, "{few} {many}");
}
