//! What holds for all policies and requests.

use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_model::State;

use super::world::{all_of, given_path, path, pattern, requests, rule, sets, step, unknowns};
use crate::decide::reference::changing::Changing;
use crate::decide::*;
use crate::{Ruling, Scratch, Silent, ask};

/// Where nothing is certain, nobody decides.
fn agrees(set: &Set, request: &Request, decide: &Decide, decided: &Decided) -> Result<(), TestCaseError> {
    let mut buffer = Readings::default();
    let asked = decide.asked(request, &mut buffer);
    let (value, by) = reference::decide(set, asked, decide.unknowns());
    prop_assert_eq!(decided.value, value, "{:?} {:?}", set, request);
    prop_assert_eq!(decider(decide, decided), value.effect().and(by), "{:?} {:?}", set, request);
    Ok(())
}

pub(super) fn decider(decide: &Decide, decided: &Decided) -> Option<SmolStr> {
    match decided.by {
        By::Policy(entry) => Some(decide.rule(entry).unwrap().name.clone()),
        By::Default | By::Algorithm | By::Nobody => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn the_index_decides_as_the_naive_way(set in sets(8), all in prop::collection::vec(requests(0), 4)) {
        let decide = Decide::new(set.clone(), Strictness::Strict);
        let mut scratch = Scratch::default();
        for request in &all {
            let decided = ask(&decide, &request, &mut scratch, &mut Silent);
            agrees(&set, request, &decide, &decided)?;
        }
    }

    #[test]
    fn an_index_that_was_changed_decides_as_the_naive_way(
        set in sets(8),
        changes in prop::collection::vec(prop::collection::vec(step(), 1..4), 1..6),
        all in prop::collection::vec(requests(0), 4),
    ) {
        let mut scratch = Scratch::default();
        let mut changing = Changing::new(set, Strictness::Strict, Unknowns::Union);
        for steps in changes {
            changing.change(steps);
            let (set, decide) = (changing.set(), changing.decide());
            let anew = Decide::new(set.clone(), Strictness::Strict);
            let names = |decide: &Decide| decide.rules().iter().map(|rule| rule.name.clone()).collect::<Vec<_>>();
            prop_assert_eq!(names(decide), names(&anew));
            for request in &all {
                let decided = ask(decide, &request, &mut scratch, &mut Silent);
                agrees(&set, request, decide, &decided)?;
                let rulings = [decide, &anew].map(|decide| Ruling::explain(decide, &request));
                let duties = |decide: &Decide| {
                    let mut scratch = Scratch::default();
                    ask(decide, &request, &mut scratch, &mut Silent);
                    format!("{:?}", decide.duties(request, scratch.hits()))
                };
                let [changed, built] = rulings.map(|ruling| format!("{ruling:?}"));
                prop_assert_eq!(changed, built);
                prop_assert_eq!(duties(decide), duties(&anew));
            }
        }
    }

    #[test]
    fn unknown_facts_are_judged_as_the_naive_way(set in sets(6), request in requests(4), unknowns in unknowns()) {
        let decide = Decide::new(set.clone(), Strictness::Strict).treating_unknowns(unknowns);
        let decided = ask(&decide, &&request, &mut Scratch::default(), &mut Silent);
        agrees(&set, &request, &decide, &decided)?;
    }

    #[test]
    fn who_does_not_read_the_path_says_the_same_of_all(set in sets(6), request in requests(1), given in given_path()) {
        let decide = Decide::new(set, Strictness::Strict);
        for rule in decide.rules().iter().filter(|rule| !rule.reads_path()) {
            let said = |path| {
                let asked = NormalizedRequest { request: &request, path, longest: usize::MAX };
                let conditions: Vec<Truth> = rule.conditions.iter().map(|condition| condition.holds(asked)).collect();
                (rule.target.covers(asked), conditions)
            };
            prop_assert_eq!(said(Path::Unknown), said(Path::Is(&given)));
            prop_assert_eq!(said(Path::Unknown), said(Path::Absent));
        }
    }

    #[test]
    fn explaining_changes_nothing(set in sets(6), request in requests(1)) {
        let decide = Decide::new(set, Strictness::Strict);
        let silent = ask(&decide, &&request, &mut Scratch::default(), &mut Silent);
        let all = Ruling::explain(&decide, &&request);
        let matched = Ruling::matched(&decide, &&request);
        prop_assert_eq!(silent, all.answer);
        prop_assert_eq!(silent, matched.answer);
        // Everybody is told of once.
        let mut told: Vec<_> = all.candidates.iter().map(|candidate| candidate.entry).collect();
        told.sort();
        let entries: Vec<_> = (0..decide.rules().len()).map(crate::EntryId::new).collect();
        prop_assert_eq!(told, entries);
        // The decider is the one that won.
        let winner = all.in_state(State::Won).map(|candidate| candidate.entry).next();
        let decider = match silent.by { By::Policy(entry) => Some(entry), _ => None };
        prop_assert_eq!(winner, decider);
    }

    #[test]
    fn losers_and_others_can_go(set in sets(6), request in requests(1)) {
        let decide = Decide::new(set.clone(), Strictness::Strict);
        let ruling = Ruling::explain(&decide, &&request);
        let beaten: Vec<_> = ruling.candidates.iter()
            .filter(|candidate| matches!(candidate.state, State::Lost | State::Skip | State::Off))
            .filter_map(|candidate| Some(decide.rule(candidate.entry)?.name.clone()))
            .collect();
        if let Some(name) = beaten.first() {
            let less = Decide::new(without(set, name), Strictness::Strict);
            let answer = ask(&less, &&request, &mut Scratch::default(), &mut Silent);
            // Who clashes is kept, and so is whose target alone counts.
            prop_assert_eq!(answer.outcome, ruling.answer.outcome, "without {}", name);
        }
    }

    #[test]
    fn patterns_cover_the_same_paths_in_any_way(pattern in pattern(), given in given_path()) {
        let glob = Glob::parse(&pattern).unwrap();
        let target = Target { resources: all_of(vec![path(&pattern)]), ..Target::default() };
        let rule = rule("p", Effect::Permit, target);
        let set = super::world::set(Algorithm::DenyOverrides, vec![rule.into()]);
        let decide = Decide::new(set.clone(), Strictness::Compat);
        let resource = Resource { path: Maybe::Is(given.clone().into()), ..Resource::default() };
        let request = Request { resource, ..Request::default() };
        let decided = ask(&decide, &&request, &mut Scratch::default(), &mut Silent);
        prop_assert_eq!(decided.outcome == Outcome::Permit, glob.matches(&given));
        agrees(&set, &request, &decide, &decided)?;
    }
}

fn without(set: Set, name: &str) -> Set {
    let members = set.members.into_iter().filter_map(|member| match member {
        Member::Rule(rule) if rule.name == name => None,
        Member::Rule(rule) => Some(Member::Rule(rule)),
        Member::Set(inner) => Some(without(*inner, name).into()),
    });
    Set { members: members.collect(), ..set }
}
