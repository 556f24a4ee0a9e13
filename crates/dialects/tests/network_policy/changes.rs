//! Documents that change: the next snapshot answers as one that is read anew.

use upheld_engine::work::Work;
use upheld_loader::load::{Change, Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::SourceId;

use crate::world::{may, namespace, pod, policy};

fn input(name: &str, text: &str) -> Input {
    Input::text(name, Format::Yaml, text)
}

fn start(policies: &str) -> Loaded {
    let inputs = vec![
        input("policies.yaml", policies),
        input("web.yaml", &pod("web", "b", "app: web")),
        input("db.yaml", &pod("db", "a", "app: db")),
        input("namespace.yaml", &namespace("b", "team: two")),
        input("other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}"),
    ];
    load(inputs, &[]).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics))
}

fn source(loaded: &Loaded, name: &str) -> SourceId {
    loaded.snapshot.files().iter().find(|(_, file)| file.name == name).unwrap().0
}

fn replace(loaded: &Loaded, name: &str, text: &str) -> Loaded {
    let change = Change::Replaced(source(loaded, name), input(name, text));
    loaded.after(vec![change]).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics))
}

const BY_TEAM: &str = "podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: two}}}]}]";

#[test]
fn policies_pods_and_namespaces_come_and_go() {
    let first = start(&policy("p", BY_TEAM));
    assert_eq!(may(&first, "web", "db", 1), "permit");
    let closed = replace(&first, "policies.yaml", &policy("p", "podSelector: {}"));
    assert_eq!(may(&closed, "web", "db", 1), "deny");
    let other_team = replace(&first, "namespace.yaml", &namespace("b", "team: one"));
    assert_eq!(may(&other_team, "web", "db", 1), "deny");
    let gone = first.after(vec![Change::Gone(source(&first, "namespace.yaml"))]).unwrap();
    assert_eq!(may(&gone, "web", "db", 1), "undecided");
    let moved = replace(&first, "web.yaml", &pod("web", "c", "app: web"));
    assert_eq!(may(&moved, "web", "db", 1), "undecided");
    let new = first.after(vec![Change::New(input("new.yaml", &pod("new", "b", "")))]).unwrap();
    assert_eq!(may(&new, "new", "db", 1), "permit");
}

#[test]
fn what_is_not_about_networks_changes_nothing() {
    let first = start(&policy("p", BY_TEAM));
    let next = replace(&first, "other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: y}}");
    assert_eq!(may(&next, "web", "db", 1), "permit");
    assert_eq!(next.snapshot.digest(), first.snapshot.digest());
}

#[test]
fn the_first_policy_makes_pods_matter_and_the_last_one_takes_that_away() {
    let none = start("{apiVersion: v1, kind: ConfigMap, metadata: {name: z}}");
    assert_eq!(none.set_aside.by_type.values().sum::<usize>(), 5);
    let some = replace(&none, "policies.yaml", &policy("p", "podSelector: {}"));
    assert_eq!((may(&some, "web", "db", 1), some.set_aside.by_type.values().sum::<usize>()), ("deny", 1));
    let none = some.after(vec![Change::Gone(source(&some, "policies.yaml"))]).unwrap();
    assert_eq!(none.set_aside.by_type.values().sum::<usize>(), 4);
}

#[test]
fn changes_lead_to_what_is_read_anew() {
    let changed = replace(&start(&policy("p", "podSelector: {}")), "policies.yaml", &policy("p", BY_TEAM));
    assert_eq!(changed.snapshot.digest(), start(&policy("p", BY_TEAM)).snapshot.digest());
}

/// Steps of work of a write: of a policy, of a pod and of a namespace among so many.
fn steps(count: usize) -> [u64; 3] {
    let pods =
        (0..count).map(|number| input(&format!("pod-{number}.yaml"), &pod(&format!("web-{number}"), "a", "app: web")));
    let policies = (0..count).map(|number| {
        input(
            &format!("policy-{number}.yaml"),
            &policy(&format!("p{number}"), "podSelector: {matchLabels: {app: web}}"),
        )
    });
    let namespaces =
        (0..count).map(|number| input(&format!("n{number}.yaml"), &namespace(&format!("n{number}"), "team: two")));
    let all = load(pods.chain(policies).chain(namespaces).collect(), &[]);
    let all = all.unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics));
    let other = [
        ("policy-7.yaml", policy("p7", "podSelector: {}")),
        ("pod-7.yaml", pod("web-7", "a", "app: db")),
        ("n7.yaml", namespace("n7", "team: one")),
    ];
    other.map(|(name, text)| {
        let work = Work::default();
        work.during(|| replace(&all, name, &text)).expect("nobody ends it");
        work.steps()
    })
}

#[test]
fn p10_a_document_that_changes_is_read_and_no_other() {
    let few = steps(12);
    assert!(few.iter().all(|steps| *steps < 10), "as it was, and as it is: {few:?}");
    assert_eq!(steps(120), few);
}
