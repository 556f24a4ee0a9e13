//! Folders in which files of ours lie between those of other programs: whatever is ours is read or is an error, and nothing of others
//! stops it.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use proptest::sample::select;
use upheld_dialects::Reading;
use upheld_dialects::recognise::{Marks, Surroundings};
use upheld_engine::Companions;
use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Exclude, Format, Input, Origin, Why, discover_without};
use upheld_model::{Severity, SourceId};

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is read.
    Read,
    /// It is an error.
    Wrong,
    /// It is left aside, or its documents are.
    Aside,
}

/// Contents with their ends, and what becomes of them. `NAME` is another one in every file.
const CONTENTS: &[(&str, &str, Fate)] = &[
    (
        "yaml",
        "type: TrafficLog\nname: NAME\nmesh: default\nsources: [{match: {kuma.io/service: '*'}}]\ndestinations: [{match: {kuma.io/service: '*'}}]\nconf: {backend: a}\n",
        Fate::Read,
    ),
    (
        "yaml",
        "apiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\nmetadata: {name: NAME, namespace: kuma-system}\nspec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}\n",
        Fate::Read,
    ),
    (
        "json",
        "{\"apiVersion\": \"networking.k8s.io/v1\", \"kind\": \"NetworkPolicy\", \"metadata\": {\"name\": \"NAME\"}, \"spec\": {\"podSelector\": {}}}",
        Fate::Read,
    ),
    (
        "yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: NAME, namespace: a}\nspec: {rules: [{backendRefs: [{name: '{{ later }}', port: 80}]}]}\n",
        Fate::Read,
    ),
    (
        "yml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: NAME, namespace: a}\nspec: {rules: [{backendRefs: [{name: b, port: 80}]}]}\n",
        Fate::Read,
    ),
    (
        "yaml",
        "id: NAME\neffect: permit\nsubjects: [{role: admin}]\nresources: [{path: /**}]\nactions: [{method: GET}]\n",
        Fate::Read,
    ),
    (
        "json",
        "[{\"id\": \"NAME\", \"effect\": \"deny\", \"subjects\": [{\"role\": \"x\"}], \"resources\": [], \"actions\": []}]",
        Fate::Read,
    ),
    ("yaml", "ref: project/NAME\ntags: {}\n", Fate::Read),
    ("yaml", "- {ref: project/NAME, tags: {}}\n", Fate::Read),
    ("yaml", "type: TrafficLog\nname: NAME\nconf: [\n", Fate::Wrong),
    ("json", "{\"kind\": \"MeshTimeout\", \"apiVersion\": \"kuma.io/v1alpha1\" \"metadata\": {}}", Fate::Wrong),
    ("yaml", "id: NAME\neffect: permit\nsubjects: [{role: admin]\n", Fate::Wrong),
    ("yaml", "ref: project/NAME\ntags: {\n", Fate::Wrong),
    (
        "yaml",
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: NAME\nspec: {}\n",
        Fate::Wrong,
    ),
    ("yaml", "name: NAME\nmesh: default\nsources: []\n", Fate::Wrong),
    ("yaml", "{{- range .Values.all }}\nkind: HTTPRoute\nname: {{ .name }}\n{{- end }}\n", Fate::Aside),
    ("yml", "{% for a in b %}\n- {{ a }}\n{% endfor %}\n", Fate::Aside),
    ("yml", "a: !!python/name:b.c\n", Fate::Aside),
    ("json", "{\n  // words\n  \"strict\": true,\n}\n", Fate::Aside),
    ("yml", "- hosts: all\n  tasks: []\n", Fate::Aside),
    ("yaml", "- {type: A, name: www}\n", Fate::Aside),
    ("yaml", "services: {web: {image: nginx}}\n", Fate::Aside),
    ("yaml", "apiVersion: apps.example/v1\nkind: Widget\nmetadata: {name: NAME}\n", Fate::Aside),
    ("yaml", "only words\n", Fate::Aside),
    ("jsonl", "123456789012345678901234567890\n", Fate::Aside),
    ("yaml", "mesh: {collection: projects}\nselectors: [a]\n", Fate::Aside),
    ("json", "{\"type\": \"module\", \"name\": \"NAME\"}", Fate::Aside),
    ("yaml", "a: ENC[AES256_GCM,data:x]\nsops: {mac: x}\n", Fate::Aside),
];

/// A folder with some of them, each in a folder of its own.
fn folder(chosen: &[(usize, &str)]) -> (tempfile::TempDir, Vec<(String, Fate)>) {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (number, (content, place)) in chosen.iter().enumerate() {
        let (end, text, fate) = CONTENTS[*content];
        let name = format!("{place}/f{number:02}.{end}");
        fs::create_dir_all(folder.path().join(place)).unwrap();
        fs::write(folder.path().join(&name), text.replace("NAME", &format!("n{number}"))).unwrap();
        files.push((name, fate));
    }
    (folder, files)
}

/// What was read of a folder, or the files that have errors.
fn read(folder: &std::path::Path) -> Result<Loaded, BTreeSet<String>> {
    let found = discover_without(folder, &["."], &Exclude::default());
    // A folder may have lost its last file.
    assert!(found.inputs.is_empty() || found.problems.is_empty());
    assert!(found.inputs.iter().all(|input| input.origin() == Origin::Found));
    let semantics = upheld_dialects::default_editions().collect::<Vec<_>>();
    match Choices::of_semantics(&semantics).with(Surroundings::Mixed).load(found.inputs) {
        Ok(loaded) => Ok(loaded),
        Err(broken) => {
            let errors = broken.diagnostics.as_slice().iter().filter(|one| one.severity == Severity::Error);
            let at = |source: SourceId| broken.files.get(source).map(|file| file.name.clone()).unwrap_or_default();
            Err(errors.map(|one| at(one.label.as_ref().expect("a place").source)).collect())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn everything_of_ours_is_read_or_an_error_and_nothing_of_others_stops_it(
        chosen in prop::collection::vec((0..CONTENTS.len(), select(vec!["a", "a/b", "c", "templates"])), 1..12),
        looked_at in any::<prop::sample::Index>(),
    ) {
        let (folder, files) = folder(&chosen);
        let wrong: BTreeSet<String> = files.iter().filter(|(_, fate)| *fate == Fate::Wrong).map(|(name, _)| name.clone()).collect();
        match read(folder.path()) {
            // All mistakes at once, and no others.
            Err(errors) => prop_assert_eq!(errors, wrong),
            Ok(loaded) => {
                prop_assert_eq!(wrong, BTreeSet::new());
                let aside: usize = loaded.left_aside.by_reason.values().map(BTreeSet::len).sum();
                let of_types: usize = loaded.set_aside.by_type.values().sum();
                let expected = files.iter().filter(|(_, fate)| *fate == Fate::Aside).count();
                prop_assert_eq!(aside + of_types, expected, "{:?} {:?}", loaded.left_aside, loaded.set_aside);
                // The digest covers every document that can change an answer.
                let (name, fate) = looked_at.get(&files);
                fs::remove_file(folder.path().join(name)).unwrap();
                let without = read(folder.path()).expect("is read");
                prop_assert_eq!(without.snapshot.digest() != loaded.snapshot.digest(), *fate == Fate::Read, "{}", name);
            }
        }
    }
}

#[test]
fn what_others_write_is_warned_of_only_where_it_could_be_ours() {
    let load = |text: &str| {
        let input = Input::text("a.yaml", Format::Yaml, text).of(Origin::Found);
        let loaded = Choices::default().with(Surroundings::Mixed).load(vec![input]).expect("is read");
        loaded.warnings.as_slice().len()
    };
    assert_eq!(load("threadsafe: yes\n"), 0);
    assert_eq!(load("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{name: yes, port: 80}]}\n"), 1);
    // Fields that others have, too, make no document of ours out of one that has no name.
    assert_eq!(load("mesh: {name: mesh}\nproject: {name: project}\n"), 0);
}

#[test]
fn what_was_named_is_read_or_an_error_whatever_it_is() {
    let text = "{\n  // words\n}\n";
    let load = |origin| {
        let input = Input::bytes("tsconfig.json", text.into()).of(origin);
        Choices::default().with(Surroundings::Mixed).load(vec![input])
    };
    assert!(load(Origin::Named).is_err());
    let loaded = load(Origin::Found).expect("is left aside");
    assert_eq!(loaded.left_aside.by_reason.keys().collect::<Vec<_>>(), [&Why::OtherProgram]);
    assert!(
        Choices::default().load(vec![Input::bytes("a.json", text.into()).of(Origin::Found)]).is_err(),
        "not asked for"
    );
}

#[test]
fn all_dialects_have_words_that_a_broken_text_is_known_by() {
    let semantics: Vec<&str> = upheld_dialects::default_editions().collect();
    let kinds = upheld_dialects::builtin().map(|document| Input::text(document.name, Format::Yaml, document.text));
    let (files, _) = upheld_loader::read(kinds.collect());
    let settings = Companions::default();
    let marks = Marks::of(Reading { semantics: &semantics, settings: &settings }, &files);
    for ours in [
        "type: TrafficLog",
        "kind: MeshTimeout",
        "{\"kind\": \"Dataplane\"",
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: [",
        "kind: HTTPRoute",
        "kind: NetworkPolicy",
        "kind: PolicyKind",
        "kind: PolicyTests",
        "kind: meshProject",
        "kind: TagDefinition",
        "kind: AccessPolicy",
        "id: a\neffect: permit\nsubjects: [",
        "ref: project/a\ntags: {",
    ] {
        assert!(marks.are_in(ours), "{ours}");
    }
    for foreign in [
        "site_name: x\ntheme: !!python/name:y",
        "{\"compilerOptions\": {} // no\n}",
        "- hosts: all\n  tasks: [",
        "kind: Widget",
    ] {
        assert!(!marks.are_in(foreign), "{foreign}");
    }
}
