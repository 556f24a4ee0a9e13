//! Pairs in cells.

use upheld_model::State;

use super::super::super::reference::random::starts;
use super::*;
use crate::{EntryId, Partition, Scratch, Silent, ask};

/// How a pair fares, without names.
fn fares(comply: &Comply, pair: Pair) -> (Complied, Vec<(EntryId, State, RuleResult)>) {
    let (mut rules, mut scratch) = (Vec::new(), Scratch::default());
    let question = comply.question(pair, NOW);
    let complied =
        comply.violated_by(&question, &mut scratch, |state, hit| rules.push((hit.entry, state, hit.measure)));
    assert_eq!(complied, ask(comply, &question, &mut scratch, &mut Silent));
    (complied, rules)
}

proptest! {
    #[test]
    fn a_pair_fares_as_the_representative_of_its_cell(start in starts()) {
        let comply = start.build();
        let filter = Filter::default();
        let cells = comply.cells(&filter);
        for pair in comply.pairs(&filter) {
            let cell = cells.locate(pair).expect("every pair has a cell");
            prop_assert_eq!(fares(&comply, pair), fares(&comply, cells.representative(cell)));
        }
        let sizes: u64 = cells.cells().map(|cell| cells.size(cell)).sum();
        prop_assert_eq!(sizes, comply.pair_count() as u64);
    }

    #[test]
    fn pairs_of_a_scope_and_of_an_object_are_those_that_a_look_at_all_finds(start in starts()) {
        let comply = start.build();
        let all: Vec<Pair> = comply.pairs(&Filter::default()).collect();
        for object in comply.objects() {
            let mut within: Vec<Pair> = comply.pairs(&Filter { scopes: Some(vec![object]), ..Filter::default() }).collect();
            let mut expected: Vec<Pair> = all.iter().filter(|pair| pair.scope == Some(object)).copied().collect();
            within.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(within, expected);
            let mut with: Vec<Pair> = comply.pairs(&Filter { object: Some(object), ..Filter::default() }).collect();
            let mut expected: Vec<Pair> = all.iter().filter(|pair| [pair.a, pair.b].contains(&object)).copied().collect();
            with.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(with, expected);
        }
    }

    #[test]
    fn the_makers_of_a_pair_are_those_that_a_look_at_all_relationships_finds(start in starts()) {
        let comply = start.build();
        let all: BTreeSet<Link> = comply.objects().into_iter().flat_map(|own| comply.links_of(own)).map(|(_, link)| *link).collect();
        for pair in comply.pairs(&Filter::default()) {
            let makers: BTreeSet<Link> = comply.makers_of(pair).into_iter().collect();
            let expected: BTreeSet<Link> =
                all.iter().filter(|link| comply.made_by(link).any(|made| made == pair)).copied().collect();
            prop_assert_eq!(makers, expected);
        }
    }

    #[test]
    fn tallies_count_what_is_checked_pair_by_pair(start in starts()) {
        let comply = start.build();
        let scopes = comply.objects().into_iter().filter(|own| comply.kind_of(*own) == comply.profile().scope);
        let within = scopes.map(|scope| Filter { scopes: Some(vec![scope]), ..Filter::default() });
        let only = |policy: &Policy| Filter { policy: Some(policy.id.clone()), ..Filter::default() };
        let only = comply.policies().into_iter().map(only);
        for filter in within.chain(only).chain([Filter::default()]) {
            let checks = comply.checks(&filter, NOW);
            let cells = comply.cells(&filter);
            for tally in cells.tallies() {
                let own: Vec<&Finding> = checks.iter().filter(|check| check.policy == tally.policy).collect();
                let count = |which: &dyn Fn(&Finding) -> bool| own.iter().filter(|check| which(check)).count();
                let pairs: BTreeSet<Pair> = own.iter().map(|check| comply.identify(check).unwrap().pair).collect();
                prop_assert_eq!(tally.pairs, pairs.len());
                prop_assert_eq!(tally.violated, count(&|check| !check.verdict.holds()));
                prop_assert_eq!(tally.holds, count(&|check| check.verdict.holds()));
                prop_assert_eq!(tally.without_evidence, count(&|check| check.verdict.is_without_evidence()));
            }
            let pairs: BTreeSet<Pair> = checks.iter().map(|check| comply.identify(check).unwrap().pair).collect();
            prop_assert_eq!(pairs.len(), cells.judged_pairs());
        }
    }
}

#[test]
fn a_waiver_for_one_pair_makes_it_a_cell_of_its_own() {
    let mut world = World::classic().object("workspace/w", "env=dev").policy("p", "workspace.env", "project.env");
    for project in ["project/1", "project/2", "project/3"] {
        world = world.object(project, "env=prod").link("workspace/w", project);
    }
    let mut comply = world.build();
    let filter = Filter::default();
    assert_eq!(comply.cells(&filter).cells().count(), 1);
    comply
        .grant(Waiver { a: Some("project/2".into()), ..super::super::super::reference::random::waiver("later", "p") });
    assert_eq!(comply.cells(&filter).cells().count(), 2);
}

#[test]
fn a_pair_that_policies_leave_alone_is_like_no_other() {
    let comply = World::exempting_partners()
        .partner("workspace/own")
        .object("workspace/w", "env=dev")
        .object("project/1", "env=prod")
        .policy("p", "workspace.env", "project.env")
        .build();
    let project = comply.lookup("project/1").unwrap();
    let kind = PairKind(0);
    let pair_key = |workspace: &str| {
        let workspace = comply.lookup(workspace).unwrap();
        comply.pair_key(Pair { kind, a: workspace, b: project, scope: Some(workspace) })
    };
    assert!(pair_key("workspace/w").is_some());
    assert!(pair_key("workspace/own").is_none());
}
