//! The laws that every family keeps: the index finds what the sweep finds, reasons come out of the evaluation, and the order
//! of arrival never shows.

use std::collections::BTreeSet;

use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_model::{Param, State};

use super::super::super::policy::Strategy as Asked;
use super::super::super::reference::random::starts;
use super::super::super::*;
use super::super::steps::steps;
use super::{NOW, after, order::turned};
use crate::ask::{EntryId, Scratch, ask};
use crate::ruling::{Candidate, Ruling};
use crate::witness::Silent;

/// Every pair that is, and every pair that could be.
fn pairs(comply: &Comply) -> Vec<Pair> {
    let objects = comply.objects();
    let mut pairs: Vec<Pair> = comply.pairs(&Filter::default()).collect();
    for one in &objects {
        pairs.extend(objects.iter().flat_map(|other| comply.pairs_between(*one, *other)));
    }
    pairs
}

/// What became of the rules about a pair, as they were reported, in names.
fn told(comply: &Comply, ruling: &Ruling<Comply>) -> Vec<String> {
    let tell = |candidate: &Candidate<RuleResult>| {
        let (policy, rule) = comply.rule_of(candidate.entry).unwrap();
        let param = |param: &Param| match param {
            Param::Text(text) => comply.symbols.text(*text).to_owned(),
            Param::Values(values) => format!("{:?}", comply.texts(*values)),
            other => format!("{other:?}"),
        };
        let params: Vec<String> = candidate.reason.params.iter().map(param).collect();
        format!("{} {rule:?} {} {} {params:?}", policy.id, candidate.state.word(), candidate.reason.code.text())
    };
    ruling.candidates.iter().map(tell).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_the_sweep_finds((start, steps) in steps(8)) {
        let comply = after(&start, &steps);
        let mut scratch = Scratch::default();
        for pair in pairs(&comply) {
            let question = comply.question(pair, NOW);
            let (swept, indexed) = (Ruling::explain(&comply, &question), Ruling::matched(&comply, &question));
            let silent = ask(&comply, &question, &mut scratch, &mut Silent);
            prop_assert_eq!((swept.answer, indexed.answer), (silent, silent));
            let speaking: Vec<_> = swept.candidates.iter().filter(|own| own.measure.is_some()).copied().collect();
            prop_assert_eq!(&speaking, &indexed.candidates);
            // The hits of the hot path are those that are violated, with the same states.
            let hot = scratch.hits().iter().enumerate().map(|(place, hit)| (hit.entry, silent.state(place), hit.measure));
            let cold = speaking.iter().filter(|own| own.state != State::Pass).map(|own| (own.entry, own.state, own.measure.unwrap()));
            let in_order = |mut hits: Vec<(EntryId, State, RuleResult)>| { hits.sort_by_key(|(entry, ..)| *entry); hits };
            prop_assert_eq!(in_order(hot.collect()), in_order(cold.collect()));
        }
    }

    #[test]
    fn every_rule_ends_in_a_state_and_says_why((start, steps) in steps(8)) {
        let comply = after(&start, &steps);
        let all: usize = comply.policies().iter().map(|policy| policy.rules.len()).sum();
        for pair in pairs(&comply) {
            let question = comply.question(pair, NOW);
            let ruling = Ruling::explain(&comply, &question);
            prop_assert_eq!(ruling.candidates.len(), all);
            for finding in comply.findings_of(&question, &ruling) {
                let tags = |side: &SideOf| comply.tags_of(comply.lookup(&side.object).unwrap());
                let values = |side: &SideOf| -> BTreeSet<SmolStr> {
                    let own = tags(side).into_iter().find(|(key, _)| *key == side.tag);
                    own.map(|(_, values)| values.into_iter().collect()).unwrap_or_default()
                };
                let (a, b) = (values(&finding.a), values(&finding.b));
                let policy = comply.policy(&finding.policy).unwrap();
                let named: BTreeSet<SmolStr> = policy.values.iter().cloned().collect();
                let expected = match (a.is_empty(), b.is_empty(), finding.strategy) {
                    (true, _, Asked::Present | Asked::PresentAmong) => Verdict::Absent,
                    (false, _, Asked::Present) => Verdict::Present,
                    (true, _, Asked::Among) => Verdict::Untagged,
                    (_, _, Asked::Among | Asked::PresentAmong) if a.is_subset(&named) => Verdict::Allowed,
                    (_, _, Asked::Among | Asked::PresentAmong) => Verdict::NotAllowed,
                    (true, true, _) => Verdict::BothEmpty,
                    (true, false, _) | (false, true, _) => Verdict::OneEmpty,
                    (_, _, Asked::Intersection) if a.is_disjoint(&b) => Verdict::Disjoint,
                    (_, _, Asked::Intersection) => Verdict::Common,
                    (_, _, Asked::Subset) if b.is_subset(&a) => Verdict::Within,
                    (_, _, Asked::Subset) => Verdict::NotSubset,
                };
                prop_assert_eq!(finding.verdict, expected, "{:?}", finding);
                let state = match (expected.holds(), &finding.waiver, finding.level) {
                    (true, _, _) => State::Pass,
                    (false, Some(_), _) => State::Off,
                    (false, None, Level::Enforce) => State::Hard,
                    (false, None, _) => State::Soft,
                };
                prop_assert_eq!(finding.state, state, "{:?}", finding);
            }
        }
    }

    #[test]
    fn what_was_accepted_refuses_nothing_and_nothing_else_changes(start in starts(), accepted in any::<prop::sample::Index>()) {
        let comply = start.build();
        for pair in pairs(&comply) {
            let question = comply.question(pair, NOW);
            let ruling = Ruling::matched(&comply, &question);
            let hard: Vec<_> = ruling.in_state(State::Hard).map(|own| own.entry).collect();
            if hard.is_empty() {
                continue;
            }
            let accepted = [*accepted.get(&hard)];
            let other = Ruling::matched(&comply, &Question { accepted: &accepted, ..question });
            let state = |own: &Candidate<RuleResult>| if accepted.contains(&own.entry) { State::Soft } else { own.state };
            let mut expected: Vec<_> = ruling.candidates.iter().map(|own| (own.entry, state(own), own.reason)).collect();
            let mut found: Vec<_> = other.candidates.iter().map(|own| (own.entry, own.state, own.reason)).collect();
            expected.sort_by_key(|(entry, ..)| *entry);
            found.sort_by_key(|(entry, ..)| *entry);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_order_of_arrival_never_shows_in_a_ruling(start in starts()) {
        let (comply, other) = (start.build(), turned(&start).build());
        for pair in pairs(&comply) {
            let same = |object: ObjectId| other.lookup(&comply.reference(object)).unwrap();
            let (a, b, scope) = (same(pair.a), same(pair.b), pair.scope.map(same));
            let question = comply.question(pair, NOW);
            let turned = other.question(Pair { a, b, scope, ..pair }, NOW);
            prop_assert_eq!(
                told(&comply, &Ruling::explain(&comply, &question)),
                told(&other, &Ruling::explain(&other, &turned))
            );
        }
    }

    #[test]
    fn what_is_told_to_hold_is_what_passes((start, steps) in steps(8)) {
        let comply = after(&start, &steps);
        let all = Filter::default();
        let passing: BTreeSet<Finding> =
            comply.checks(&all, NOW).into_iter().filter(|found| found.state == State::Pass).collect();
        let mut told = BTreeSet::new();
        for policy in comply.policies() {
            let held = comply.holding(&policy.id, &all);
            let named: Vec<Finding> = held.iter().filter_map(|id| comply.name_held(*id, NOW)).collect();
            prop_assert_eq!(named.len(), held.len());
            for (id, found) in held.iter().zip(&named) {
                let sides = comply.sides_of(*id).unwrap();
                let scope = sides.scope.map(|scope| comply.reference(scope));
                let (a, b) = (comply.reference(sides.a), comply.reference(sides.b));
                prop_assert_eq!(found.name(), FindingName { scope, policy: sides.policy.clone(), rule: sides.rule, a, b });
            }
            let place = |found: &Finding| {
                let known = comply.find_named(&found.name()).unwrap().pair;
                (found.scope.clone(), comply.reference(known.a), comply.reference(known.b), found.rule)
            };
            prop_assert!(named.is_sorted_by_key(place), "the order of arrival never shows");
            told.extend(named);
        }
        prop_assert_eq!(&told, &passing);
        let evidence: BTreeSet<(SmolStr, usize)> = passing
            .iter()
            .filter(|found| !matches!(found.verdict, Verdict::BothEmpty | Verdict::Untagged))
            .map(|found| (found.policy.clone(), found.rule))
            .collect();
        prop_assert_eq!(comply.rules_with_evidence(&all, NOW).into_iter().collect::<BTreeSet<_>>(), evidence);
        let scopes: BTreeSet<_> = comply.pairs(&all).map(|pair| pair.scope).collect();
        prop_assert_eq!(comply.meeting_scopes(&all).into_iter().collect::<BTreeSet<_>>(), scopes);
    }
}
