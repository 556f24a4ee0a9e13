//! What is said of one set of policies, against asking one request after the other.

use proptest::prelude::*;

use super::world::{decision, is_plain, rooted_set};
use crate::EntryId;
use crate::decide::cells::{Bounds as CellBounds, Suggested};
use crate::decide::shifts::{Bounds, Finding, Problem, Verdict, lint, shifts};
use crate::decide::tests::world::{all_of, path, rule, set, sets};
use crate::decide::*;

/// Whether a policy matches a request, or may.
fn matches(decide: &Decide, entry: EntryId, request: &Request) -> Truth {
    let mut room = Readings::default();
    let asked = decide.asked(request, &mut room);
    let rule = decide.rule(entry).unwrap();
    rule.conditions.iter().fold(rule.target.covers(asked), |truth, condition| truth.and(condition.holds(asked)))
}

fn found(findings: &[Finding], entry: EntryId, problems: &[Problem]) -> bool {
    findings.iter().any(|finding| finding.policy == Some(entry) && problems.contains(&finding.problem))
}

const NEVER: [Problem; 3] = [Problem::Shadowed, Problem::Covered, Problem::Outweighed];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_is_so_and_what_is_so_is_said(set in sets(4)) {
        let decide = Decide::new(rooted_set(set), Strictness::Strict);
        let linted = lint(&decide, &Bounds::default());
        prop_assert_eq!(&linted.bound, &None);
        let suggested = Suggested::of(&decide, CellBounds { states: 20_000, points: 64, cells: 400 });
        let all = suggested.gaps().is_empty();
        let requests: Vec<Request> =
            suggested.cells().map(|(_, request)| request).filter(|request| is_plain(&decide, request)).collect();
        let decisions: Vec<_> = requests.iter().map(|request| decision(&decide, request)).collect();
        for entry in (0..decide.rules().len()).map(EntryId::new) {
            if decide.rule(entry).unwrap().status == Status::Off {
                continue;
            }
            let without = decide.without_rule(entry).unwrap();
            let can_match = requests.iter().any(|request| matches(&decide, entry, request) != Truth::False);
            let decides = decisions.iter().any(|decision| decision.by == By::Policy(entry));
            let matters = requests
                .iter()
                .zip(&decisions)
                .any(|(request, known)| super::world::decision(&without, request).outcome != known.outcome);
            let impossible = found(&linted.findings, entry, &[Problem::Impossible]);
            let never = found(&linted.findings, entry, &NEVER);
            let redundant = found(&linted.findings, entry, &[Problem::Redundant, Problem::SameAsDefault]);
            let as_by_default = found(&linted.findings, entry, &[Problem::SameAsDefault]);
            let has_heirs = requests.iter().zip(&decisions).any(|(request, known)| {
                known.by == By::Policy(entry) && super::world::decision(&without, request).by != By::Default
            });
            prop_assert!(!as_by_default || !has_heirs);
            prop_assert!(!impossible || !can_match);
            prop_assert!(!never || (!decides && !matters));
            prop_assert!(!redundant || !matters);
            if impossible || never || redundant {
                let same = shifts(&decide, &without, &Bounds::default());
                prop_assert!(matches!(same, Verdict::Equal { .. }), "{:?}", same);
                // And the other way round: what is added changes nothing.
                let same = shifts(&without, &decide, &Bounds::default());
                prop_assert!(matches!(same, Verdict::Equal { .. }), "{:?}", same);
            }
            if all {
                prop_assert_eq!(impossible, !can_match);
                prop_assert_eq!(redundant, can_match && decides && !matters);
                prop_assert_eq!(as_by_default, can_match && decides && !matters && !has_heirs);
                if never {
                    prop_assert!(can_match);
                }
            }
        }
        let unreachable = linted.findings.iter().any(|finding| finding.problem == Problem::UnreachableDefault);
        prop_assert!(!unreachable || decisions.iter().all(|decision| decision.by != By::Default));
        for finding in &linted.findings {
            for other in &finding.others {
                if let (Some(example), Some(policy)) = (&other.example, finding.policy) {
                    prop_assert_eq!(matches(&decide, policy, example), Truth::True);
                    prop_assert!(matches(&decide, other.policy, example) != Truth::False);
                }
            }
        }
    }
}

fn policy(name: &str, effect: Effect, who: &str, pattern: &str) -> Rule {
    let subjects = all_of(vec![Test::Role(vec![Wildcard::parse(who).unwrap()])]);
    rule(name, effect, Target { subjects, resources: all_of(vec![path(pattern)]), actions: Vec::new() })
}

fn problems(algorithm: Algorithm, rules: Vec<Rule>) -> Vec<String> {
    let decide = Decide::new(set(algorithm, rules.into_iter().map(Member::from).collect()), Strictness::Strict);
    let name = |entry: EntryId| decide.rule(entry).unwrap().name.to_string();
    let linted = lint(&decide, &Bounds::default());
    let text = |finding: &Finding| {
        let others: Vec<String> = finding.others.iter().map(|other| name(other.policy)).collect();
        format!("{} {:?} {}", finding.policy.map(name).unwrap_or_default(), finding.problem, others.join(" "))
    };
    linted.findings.iter().map(text).collect()
}

#[test]
fn each_problem_is_told_from_the_others() {
    let permit = |name: &str, who: &str, pattern: &str| policy(name, Effect::Permit, who, pattern);
    let deny = |name: &str, who: &str, pattern: &str| policy(name, Effect::Deny, who, pattern);
    let all = problems(
        Algorithm::DenyOverrides,
        vec![permit("wide", "a*", "/**"), permit("narrow", "ab", "/x/*"), permit("never", "a", "relative")],
    );
    assert_eq!(all, ["narrow Shadowed wide", "never Impossible "]);
    let halves = vec![permit("one", "a", "/x/y"), permit("two", "a", "/x/z"), permit("both", "a", "/x/?")];
    assert_eq!(problems(Algorithm::FirstApplicable, halves), ["one Redundant ", "two Redundant "]);
    let cover = vec![permit("one", "a", "/x/*"), permit("two", "b", "/**"), {
        let mut both = permit("both", "a", "/x/y");
        both.target.subjects.extend(all_of(vec![Test::Role(vec![Wildcard::parse("b").unwrap()])]));
        both
    }];
    assert_eq!(problems(Algorithm::FirstApplicable, cover), ["both Covered one two"]);
    let outweighed = vec![permit("in", "a", "/x/*"), deny("out", "a*", "/x/**")];
    assert_eq!(problems(Algorithm::DenyOverrides, outweighed.clone()), ["in Outweighed out", "in Conflict out"]);
    // Whoever denies says no more than the default does where nothing follows that permits.
    assert_eq!(problems(Algorithm::FirstApplicable, outweighed), ["in Tie out", "out SameAsDefault "]);
    let redundant = vec![permit("first", "a", "/x/*"), permit("second", "a*", "/**")];
    assert_eq!(problems(Algorithm::FirstApplicable, redundant), ["first Redundant "]);
    let everything = vec![rule("all", Effect::Permit, Target::default())];
    assert_eq!(problems(Algorithm::FirstApplicable, everything), [" UnreachableDefault "]);
}
