//! Kinds of the family comply: the built-in ones, and mistakes in those of users.

use upheld_engine::comply::{Class, Effect, Order, Profile, Right, Rules, Strategy, Trigger};
use upheld_loader::load::{load, profile};
use upheld_loader::{Format, Input};

fn pairs(profile: &Profile) -> Vec<String> {
    let name = |subject| profile.subject_name(subject);
    profile.pairs.iter().map(|(a, b)| format!("{} ~ {}", name(*a), name(*b))).collect()
}

#[test]
fn the_editions_have_the_pairs_of_their_documentation() {
    let classic = profile("meshstack/classic").unwrap();
    let four = ["workspace ~ project", "workspace ~ principal", "project ~ principal", "project ~ landingZone"];
    assert_eq!(pairs(&classic), four);
    assert_eq!((classic.order, classic.rules), (Order::Either, Rules::Many));
    assert_eq!(classic.strategies, [Strategy::Intersection]);
    let current = profile("meshstack/current").unwrap();
    assert_eq!(current.pairs.len(), 8);
    assert_eq!((current.order, current.rules), (Order::Fixed, Rules::One));
    assert_eq!(current.strategies, [Strategy::Intersection, Strategy::Subset]);
    assert!(profile("meshstack/none").is_none());
}

#[test]
fn old_and_new_names_are_understood() {
    for edition in ["meshstack/classic", "meshstack/current"] {
        let profile = profile(edition).unwrap();
        for (word, name) in [
            ("meshCustomer", "workspace"),
            ("customer", "workspace"),
            ("meshworkspace", "workspace"),
            ("meshProject", "project"),
            ("landingzone", "landingZone"),
            ("Landing Zone", "landingZone"),
            ("meshWorkspaceUserGroup", "group"),
        ] {
            assert_eq!(profile.kind(word).map(|kind| profile.kind_name(kind)), Some(name), "{word}");
        }
        assert_eq!(profile.subject("meshUser/Group"), profile.subject("principal"));
        assert_eq!(profile.subject("user"), None);
    }
}

#[test]
fn effects_are_those_of_the_table() {
    use Class::{Administrator, EndUser};
    let table = [
        (Trigger::Link, "project", "landingZone", [true, true], [true, false]),
        (Trigger::Tags, "project", "workspace", [true, true], [true, false]),
        (Trigger::Tags, "project", "landingZone", [true, true], [false, false]),
        (Trigger::Tags, "workspace", "principal", [true, false], [false, false]),
        (Trigger::Tags, "workspace", "project", [false, false], [false, false]),
        (Trigger::Tags, "landingZone", "project", [false, false], [false, false]),
    ];
    let [classic, current] = ["meshstack/classic", "meshstack/current"].map(|edition| profile(edition).unwrap());
    for (on, of, with, in_classic, in_current) in table {
        for (profile, blocks) in [(&classic, in_classic), (&current, in_current)] {
            for (class, blocks) in [EndUser, Administrator].into_iter().zip(blocks) {
                let [of, with] = [of, with].map(|name| profile.subject(name).unwrap());
                let effect = if blocks { Effect::Block } else { Effect::Record };
                assert_eq!(profile.effect(on, of, with, Some(class)), effect, "{} {on:?} {class:?}", profile.name);
            }
        }
    }
}

#[test]
fn the_first_role_of_a_class_is_the_default() {
    let profile = profile("meshstack/classic").unwrap();
    let name = |class| profile.role_spec(profile.role_of(class).unwrap()).unwrap().name.clone();
    assert_eq!((name(Class::EndUser), name(Class::Administrator)), ("workspaceManager".into(), "orgAdmin".into()));
    let member = profile.role_spec(profile.role("workspaceMember").unwrap()).unwrap();
    assert!(!member.may.contains(&Right::Violations));
}

/// A kind that works, of which each test spoils something.
const OWN: &str = "
kind: PolicyKind
name: Labels
family: comply
objects:
- name: namespace
- name: deployment
  documents: [{kind: Deployment, id: metadata.name, links: [{to: namespace, field: metadata.namespace}]}]
- {name: user, keys: any}
- {name: robot}
subjects: [{name: principal, objects: [robot]}]
scope: namespace
relationships:
- {a: namespace, b: deployment, holds: true, gives: [{a: a, b: b}]}
- {a: deployment, b: user, gives: [{a: scope, b: b}]}
- {a: deployment, b: principal, documents: [{kind: Use, a: a.id, b: b.id, bKind: robot}]}
match: [[namespace, deployment], [namespace, user]]
roles: [{name: boss, class: administrator, may: [tag namespace, link]}]
";

fn mistakes(text: &str) -> Vec<String> {
    match load(vec![Input::text("kind.yaml", Format::Yaml, text)], &[]) {
        Ok(_) => Vec::new(),
        Err(broken) => {
            let found = broken.diagnostics.into_iter();
            found.map(|one| format!("{} {}", one.fault.code(), one.message)).collect()
        }
    }
}

#[test]
fn mistakes_in_kinds_are_told() {
    assert_eq!(mistakes(OWN), Vec::<String>::new());
    let spoilt = [
        ("name: deployment\n", "name: namespace\n", "two things have the name `namespace`"),
        ("[{name: principal", "[{name: USER", "two things have the name `user`"),
        ("objects: [robot]", "objects: [rabbit]", "there is no kind of object `rabbit`"),
        ("b: principal,", "b: robot,", "`robot` is not a subject of its own: it counts as `principal`"),
        ("scope: namespace", "scope: nowhere", "there is no kind of object `nowhere`"),
        ("[namespace, user]]", "[namespace, uzer]]", "there is no subject `uzer`"),
        ("[namespace, user]]", "[namespace, namespace]]", "`namespace` cannot be compared with itself"),
        ("[namespace, user]]", "[namespace, user], [user, namespace]]", "this pair is listed twice"),
        ("[namespace, user]]", "[namespace, user, robot]]", "a pair has two sides, not 3"),
        (
            "[namespace, user]]",
            "[namespace, user], [user, deployment]]",
            "no relationship makes pairs of `user` and `deployment`",
        ),
        ("{a: scope, b: b}", "{a: a, b: b}", "`match` does not have the pair `deployment` and `user`"),
        ("{a: scope, b: b}", "{a: role, b: b}", "this relationship has no role"),
        ("holds: true, ", "", "`deployment` belongs to nothing"),
        ("a: deployment, b: user", "a: user, b: deployment", "`user` belongs to nothing"),
        ("[tag namespace, link]", "[tag rocket]", "there is no subject `rocket`"),
        ("[tag namespace, link]", "[dance]", "there is no right `dance`"),
        ("{to: namespace", "{to: deployment", "`deployment` and `deployment` are not related"),
        ("{to: namespace, field: metadata.namespace", "{to: namespace, field: a..b", "`a..b` is not a valid path"),
        (", bKind: robot", "", "`principal` can be several kinds of objects"),
        ("bKind: robot", "bKind: user", "`user` does not count as `principal`"),
        ("- {name: robot}", "- {name: a/b}\n- {name: robot}", "`a/b` cannot be used in references: it has a slash"),
        ("- {name: robot}", "- {name: robot, keys: any}", "the keys of `robot` are those of `principal`"),
    ];
    for (right, wrong, message) in spoilt {
        assert!(OWN.contains(right), "{right}");
        let found = mistakes(&OWN.replacen(right, wrong, 1));
        assert!(
            found.iter().any(|one| one.to_lowercase() == format!("up016 {message}").to_lowercase()),
            "{wrong}: {found:#?}"
        );
    }
}
