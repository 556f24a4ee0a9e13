//! A value for each class equals one for each subject, and a change computes exactly what it concerns.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use upheld_model::Object;

use super::super::reference::{NaiveAudience, NaiveCondition, NaiveObject, NaivePart, NaivePolicy, NaiveWorld, Texts};
use super::super::{AdmitScratch, Admitted, Change, ClassTable, Merge, Subject, Work};
use super::random::{policies, proxy, world};
use super::update::{Step, stepped, stepped_naively, steps};
use super::world::World;

/// What a table is about here: the policies of a subject with their parts and entries.
type Computed = Vec<(Admitted, std::sync::Arc<[crate::EntryId]>)>;

fn computed(merge: &Merge, subject: Subject<'_>, scratch: &mut AdmitScratch) -> Computed {
    let admitted = merge.audiences().admit(subject, scratch).into_iter();
    admitted.map(|one| (one.clone(), merge.policy(one.slot).unwrap().entries.clone())).collect()
}

fn names(merge: &Merge, symbols: &upheld_model::Symbols, computed: &Computed) -> BTreeMap<String, BTreeSet<usize>> {
    let named = computed.iter().map(|(admitted, _)| {
        let name = symbols.text(merge.policy(admitted.slot).unwrap().name).to_owned();
        (name, admitted.parts.iter().map(|part| *part as usize).collect())
    });
    named.collect()
}

fn naive_names(naive: &NaiveWorld, proxy: &NaiveObject) -> BTreeMap<String, BTreeSet<usize>> {
    let attached = naive.policies.iter().map(|policy| (policy.name.clone(), NaiveWorld::attached(policy, proxy)));
    attached.filter(|(_, parts)| !parts.is_empty()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_table_equals_its_subjects_one_by_one(naive in world(), proxies in proptest::collection::vec(proxy(), 1..12)) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let objects: Vec<Object> = proxies.iter().map(|proxy| world.object(proxy)).collect();
        let subjects: Vec<Subject<'_>> = objects.iter().map(Subject::of).collect();
        let (table, work) =
            ClassTable::build([merge], &subjects, |subject, scratch| computed(merge, subject, scratch));
        prop_assert_eq!((work.computed, work.classified), (table.len(), subjects.len()));
        for (number, proxy) in proxies.iter().enumerate() {
            prop_assert_eq!(names(merge, world.snapshot.symbols(), table.get(number).unwrap()), naive_names(&naive, proxy));
            prop_assert_eq!(table.find(subjects[number]), table.get(number));
        }
    }

    #[test]
    fn a_changed_table_equals_a_fresh_one(
        naive in world(), steps in steps(), proxies in proptest::collection::vec(proxy(), 1..12),
    ) {
        let world = World::new(&naive);
        let Some(first) = world.merge() else { return Ok(()) };
        let mut symbols = world.snapshot.symbols().clone();
        let objects: Vec<Object> = proxies.iter().map(|proxy| world.object(proxy)).collect();
        let subjects: Vec<Subject<'_>> = objects.iter().map(Subject::of).collect();
        let (mut naive, mut merge) = (naive, first.clone());
        let (mut table, _) =
            ClassTable::build([&merge], &subjects, |subject, scratch| computed(&merge, subject, scratch));
        for step in &steps {
            let Some((after, slot)) = stepped(&world, &mut symbols, &merge, step) else { continue };
            let (Step::Put(NaivePolicy { name, .. }) | Step::Remove(name)) = step;
            let speaks_to = |naive: &NaiveWorld, proxy: &NaiveObject| naive_names(naive, proxy).contains_key(name);
            let before: Vec<bool> = proxies.iter().map(|proxy| speaks_to(&naive, proxy)).collect();
            stepped_naively(&mut naive, step);
            let change = Change { before: &merge, after: &after, slots: &[slot] };
            let work = table.change(&[change], &subjects, |subject, scratch| computed(&after, subject, scratch));
            // Exactly the classes that the policy speaks to, before or now.
            let concerned: BTreeSet<usize> = (proxies.iter().enumerate())
                .filter(|(number, proxy)| before[*number] || speaks_to(&naive, proxy))
                .filter_map(|(number, _)| table.class_of(number))
                .collect();
            prop_assert_eq!(work.computed, concerned.len());
            merge = after;
            for (number, subject) in subjects.iter().enumerate() {
                let fresh = computed(&merge, *subject, &mut AdmitScratch::default());
                prop_assert_eq!(table.get(number), Some(&fresh));
            }
        }
    }

    #[test]
    fn new_subjects_may_follow(
        naive in world(), proxies in proptest::collection::vec(proxy(), 1..12), known in 0..12_usize, more in policies(),
    ) {
        let world = World::new(&naive);
        let Some(merge) = world.merge() else { return Ok(()) };
        let mut symbols = world.snapshot.symbols().clone();
        let objects: Vec<Object> = proxies.iter().map(|proxy| world.object(proxy)).collect();
        let subjects: Vec<Subject<'_>> = objects.iter().map(Subject::of).collect();
        let known = &subjects[..known.min(subjects.len())];
        let (mut table, _) = ClassTable::build([merge], known, |subject, scratch| computed(merge, subject, scratch));
        let step = more.into_iter().next().map(Step::Put);
        let stepped = step.and_then(|step| stepped(&world, &mut symbols, merge, &step));
        let (after, slots) = stepped.map_or((merge.clone(), vec![]), |(after, slot)| (after, vec![slot]));
        let change = Change { before: merge, after: &after, slots: &slots };
        table.change(&[change], &subjects, |subject, scratch| computed(&after, subject, scratch));
        for (number, subject) in subjects.iter().enumerate() {
            prop_assert_eq!(table.get(number), Some(&computed(&after, *subject, &mut AdmitScratch::default())));
        }
    }
}

/// A proxy with an app and a zone.
fn numbered(app: usize, zone: usize) -> NaiveObject {
    let facts: Texts = [("app", format!("app-{app}")), ("zone", format!("zone-{zone}"))]
        .map(|(key, value)| (key.to_owned(), value))
        .into();
    let part =
        NaivePart { role: upheld_model::Role::Inbound, section: "http".to_owned(), port: None, tags: Texts::new() };
    NaiveObject { kind: "Proxy".to_owned(), name: format!("proxy-{app}-{zone}"), facts, parts: vec![part] }
}

fn for_fact(name: &str, key: &str, value: &str) -> NaivePolicy {
    let conditions = vec![NaiveCondition::Is(key.to_owned(), value.to_owned())];
    let audience =
        NaiveAudience { conditions, roles: vec![upheld_model::Role::Inbound], tags: Texts::new(), section: None };
    let (name, title) = (name.to_owned(), name.to_owned());
    NaivePolicy { name, title, audiences: vec![audience], marks: BTreeMap::new(), statements: Vec::new() }
}

#[test]
fn one_policy_that_changes_costs_the_classes_that_it_speaks_to() {
    let (apps, zones, copies) = (40, 3, 5);
    let proxies = (0..apps * zones * copies).map(|number| numbered(number % apps, number / apps % zones));
    let proxies: Vec<NaiveObject> = proxies.collect();
    let by_app = (0..apps).map(|app| for_fact(&format!("app-{app}"), "app", &format!("app-{app}")));
    let by_zone = (0..zones - 1).map(|zone| for_fact(&format!("zone-{zone}"), "zone", &format!("zone-{zone}")));
    let naive = NaiveWorld { policies: by_app.chain(by_zone).collect(), ..NaiveWorld::default() };
    let world = World::new(&naive);
    let mut symbols = world.snapshot.symbols().clone();
    for (_, text) in proxies.iter().flat_map(|proxy| &proxy.facts) {
        symbols.intern(text);
    }
    let merge = world.merge().unwrap().clone();
    let objects: Vec<Object> = proxies.iter().map(|proxy| world.object(proxy)).collect();
    let subjects: Vec<Subject<'_>> = objects.iter().map(Subject::of).collect();
    let (mut table, built) =
        ClassTable::build([&merge], &subjects, |subject, scratch| computed(&merge, subject, scratch));
    assert_eq!((built.computed, built.classified), (apps * zones, apps * zones * copies));

    let mut change = |name: &str, key: &str, value: &str| -> Work {
        let step = Step::Put(for_fact(name, key, value));
        let (after, slot) = stepped(&world, &mut symbols, &merge, &step).unwrap();
        let change = Change { before: &merge, after: &after, slots: &[slot] };
        table.change(&[change], &subjects, |subject, scratch| computed(&after, subject, scratch))
    };
    let work = change("app-7", "app", "app-7");
    assert_eq!((work.computed, work.classified), (zones, 0), "one app in each zone, and nobody is classified again");
    assert!(work.looked_at <= 4 * zones as u64, "only those with the app are looked at: {work:?}");
    let work = change("zone-0", "zone", "zone-0");
    assert_eq!((work.computed, work.classified), (apps, 0), "all apps of one zone");
    let work = change("app-7", "app", "app-9");
    assert_eq!(work.computed, 2 * zones, "those that it leaves and those that it reaches");
    let work = change("new", "app", "app-nobody-has");
    assert_eq!(work.computed, 0, "a policy for nobody");
}
