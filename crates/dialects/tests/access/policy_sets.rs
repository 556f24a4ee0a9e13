//! Sets of policies that are changed by documents that come and go: what is cheap, and that it leads where reading all leads.

use std::collections::BTreeMap;

use upheld_dialects::access::Edition;
use upheld_dialects::access::claim::claim;
use upheld_dialects::access::policy_set::{PolicySet, PolicySetBuilder, Withdrawn};
use upheld_dialects::access::shapes::Fields;
use upheld_engine::decide::{Algorithm, Effect};
use upheld_loader::Format;
use upheld_model::{Diagnostics, Files, SourceId};
use upheld_syntax::parse;

/// Files by number: name and text.
type Written = BTreeMap<usize, (&'static str, String)>;

fn policy(id: &str, rest: &str) -> String {
    format!("{{id: {id}, effect: permit, subjects: [], resources: [{{path: /{id}/**}}], actions: [], {rest}}}")
}

fn files(written: &Written) -> Files {
    let mut files = Files::default();
    for (number, (name, text)) in written {
        let source = SourceId::new(*number);
        files.put(source, Some(parse(*name, Format::Yaml, text.clone(), source).0));
    }
    files
}

fn builder(edition: Edition, files: &Files) -> PolicySetBuilder<'_> {
    PolicySetBuilder::new(files, edition, Fields::default(), Algorithm::DenyOverrides, Effect::Deny)
}

fn read_all(edition: Edition, files: &Files) -> PolicySet {
    let (mut builder, mut found) = (builder(edition, files), Diagnostics::default());
    for (source, file) in files.iter() {
        for document in file.tree.documents() {
            // Tests beside policies are nobody's.
            if let Some(claim) = claim(document, &file.name) {
                builder.document(source, document, claim, &mut found);
            }
        }
    }
    assert_eq!(found.errors(), 0, "{found:?}");
    builder.finish()
}

/// From one state of the files to another by the documents of those that differ.
fn change(edition: Edition, set: &PolicySet, before: &Files, after: &Files, changed: &[usize]) -> Option<PolicySet> {
    let (mut gone, mut came, mut found) = (Withdrawn::default(), builder(edition, after), Diagnostics::default());
    for source in changed.iter().copied().map(SourceId::new) {
        for document in before.get(source).into_iter().flat_map(|file| file.tree.documents()) {
            if let Some(claim) = claim(document, &before.get(source).unwrap().name) {
                gone.document(source, document, claim);
            }
        }
        for document in after.get(source).into_iter().flat_map(|file| file.tree.documents()) {
            if let Some(claim) = claim(document, &after.get(source).unwrap().name) {
                came.document(source, document, claim, &mut found);
            }
        }
    }
    set.after(&gone, came, before).filter(|_| found.errors() == 0)
}

fn shown(set: &PolicySet) -> String {
    let rules = set.decide.rules().iter().map(|rule| format!("{} {:?} {:?}", rule.name, rule.status, rule.at));
    let settings = (set.decide.algorithm(), set.decide.default_effect(), set.manifest.at);
    format!("{settings:?} {:?}", rules.collect::<Vec<_>>())
}

fn stored() -> Written {
    let mut written: Written = BTreeMap::new();
    written.insert(0, ("files/b.yaml", policy("b", "priority: 3")));
    written.insert(1, ("files/a.yaml", policy("a", "")));
    for (number, id) in [(2, "s"), (3, "t"), (4, "u")] {
        written.insert(number, (if number == 3 { "store:3" } else { "store:x" }, policy(id, "")));
    }
    written
}

/// What becomes of files, and whether it is cheap.
fn check(edition: Edition, start: &Written, changes: &[(usize, Option<(&'static str, String)>)]) -> bool {
    let mut end = start.clone();
    for (number, text) in changes {
        match text {
            Some(text) => drop(end.insert(*number, text.clone())),
            None => drop(end.remove(number)),
        }
    }
    let (before, after) = (files(start), files(&end));
    let numbers: Vec<usize> = changes.iter().map(|(number, _)| *number).collect();
    let Some(changed) = change(edition, &read_all(edition, &before), &before, &after, &numbers) else { return false };
    assert_eq!(shown(&changed), shown(&read_all(edition, &after)));
    // And back again, out of what was changed.
    let back = change(edition, &changed, &after, &before, &numbers);
    assert_eq!(back.as_ref().map(shown), Some(shown(&read_all(edition, &before))));
    true
}

#[test]
fn policies_that_come_change_and_go_are_cheap() {
    let check = |changes: &[(usize, Option<(&'static str, String)>)]| check(Edition::Strict, &stored(), changes);
    assert!(check(&[(5, Some(("store:y", policy("new", ""))))]));
    assert!(check(&[(5, Some(("files/ab.yaml", policy("new", ""))))]));
    assert!(check(&[(3, Some(("store:3", policy("t", "priority: 7"))))]));
    assert!(check(&[(3, Some(("store:3", policy("renamed", "enabled: false"))))]));
    assert!(check(&[(2, None), (0, None)]));
    assert!(check(&[(2, Some(("store:x", policy("t", "")))), (3, Some(("store:3", policy("s", ""))))]));
    let list = format!("[{}, {}]", policy("one", "priority: -1"), policy("two", ""));
    assert!(check(&[(6, Some(("store:z", list))), (1, None)]));
    assert!(check(&[(6, Some(("store:z", format!("policies: [{}]", policy("one", "")))))]));
    assert!(check(&[(6, Some(("store:z", "[]".to_owned())))]));
    assert!(check(&[(6, Some(("store:z", "{kind: PolicyTests, cases: []}".to_owned())))]));
}

#[test]
fn settings_are_cheap() {
    let manifest = |text: &str| Some(("store:m", text.to_owned()));
    let settings = "{combiningAlgorithm: first-applicable, defaultEffect: permit}";
    assert!(check(Edition::Strict, &stored(), &[(7, manifest(settings))]));
    let mut with = stored();
    with.insert(7, manifest(settings).unwrap());
    assert!(check(Edition::Strict, &with, &[(7, manifest("{combiningAlgorithm: unanimous, excludePaths: [/x]}"))]));
    assert!(check(Edition::Strict, &with, &[(7, None)]));
    assert!(!check(Edition::Strict, &with, &[(8, manifest(settings))]));
}

#[test]
fn policies_of_a_file_that_a_manifest_switches_off_stay_off() {
    let mut written = stored();
    written.insert(7, ("manifest.yaml", "policySeed: {file: a.yaml, environments: [elsewhere]}".to_owned()));
    assert!(check(Edition::Strict, &written, &[(1, Some(("files/a.yaml", policy("other", ""))))]));
    assert!(check(Edition::Strict, &written, &[(1, None)]));
}

#[test]
fn what_means_something_for_others_is_read_with_all_of_them() {
    let file = |text: &str| Some(("store:m", text.to_owned()));
    let is_cheap = |start: &Written, text: &str| check(Edition::Strict, start, &[(7, file(text))]);
    // Defined twice.
    assert!(!is_cheap(&stored(), &policy("s", "")));
    // Seeds may take the place of policies.
    assert!(!is_cheap(&stored(), &format!("policySeed: {{policies: [{}]}}", policy("seed", ""))));
    let set = format!("{{kind: PolicySet, id: inner, algorithm: deny-overrides, policies: [{}]}}", policy("in", ""));
    assert!(!is_cheap(&stored(), &set));
    // The last policy.
    let only: Written = [(0, ("store:x", policy("only", "")))].into();
    assert!(!check(Edition::Strict, &only, &[(0, None)]));
    // What the original makes of one may depend on all.
    assert!(!check(Edition::Compat, &stored(), &[(3, None)]));

    let mut with = stored();
    with.insert(7, ("store:m", set));
    assert!(!check(Edition::Strict, &with, &[(7, None)]));
    // Beside a set, the others are cheap; the names in it are taken.
    assert!(check(Edition::Strict, &with, &[(3, Some(("store:3", policy("t", "priority: 2"))))]));
    assert!(!check(Edition::Strict, &with, &[(3, Some(("store:3", policy("in", ""))))]));
    let mut seeded = stored();
    seeded.insert(7, ("store:m", format!("policySeed: {{policies: [{}]}}", policy("s", "priority: 9"))));
    assert!(!check(Edition::Strict, &seeded, &[(2, None)]));
    assert!(!check(Edition::Strict, &seeded, &[(3, None)]));
}

/// Where policies of one priority stand depends on the names of files.
#[test]
fn policies_of_a_file_with_another_name_are_put_elsewhere() {
    let names = ["a.yaml", "b.yaml", "c.yaml"].into_iter().flat_map(|name| [name; 3]);
    let written: Written = (0..)
        .zip(names)
        .map(|(number, name)| (number, (name, format!("[{}]", policy(&format!("p{number}"), "")))))
        .collect();
    for (number, name) in [(0, "z.yaml"), (4, "z.yaml"), (4, "a.yaml"), (8, "store:x")] {
        let change: &[(usize, Option<(&'static str, String)>)] = &[(number, Some((name, policy("other", ""))))];
        assert!(!check(Edition::Strict, &written, change));
        let mut end = written.clone();
        end.insert(number, (name, policy("other", "")));
        let (before, after) = (files(&written), files(&end));
        let (known, mut found) = (read_all(Edition::Strict, &before), Diagnostics::default());
        let same = |source: SourceId| source.index() != number;
        let mut reusing = builder(Edition::Strict, &after).reusing(&known.decide, &before, same);
        for (source, file) in after.iter() {
            for document in file.tree.documents() {
                reusing.document(source, document, claim(document, &file.name).unwrap(), &mut found);
            }
        }
        assert_eq!(shown(&reusing.finish()), shown(&read_all(Edition::Strict, &after)));
    }
}

/// However many there are, one page of each table is copied.
#[test]
fn names_that_did_not_change_are_shared() {
    let written: Written = (0..2_000).map(|number| (number, ("store:x", policy(&format!("p{number}"), "")))).collect();
    let mut other = written.clone();
    other.insert(700, ("store:x", policy("other", "")));
    let (before, after) = (files(&written), files(&other));
    let set = read_all(Edition::Strict, &before);
    let changed = change(Edition::Strict, &set, &before, &after, &[700]).unwrap();
    assert!(changed.unshared(&set) <= 2, "{} shards", changed.unshared(&set));
    let same = |(one, other): &(&std::sync::Arc<_>, &std::sync::Arc<_>)| std::sync::Arc::ptr_eq(one, other);
    assert_eq!(set.decide.rules().iter().zip(changed.decide.rules()).filter(same).count(), 1_999);
}
