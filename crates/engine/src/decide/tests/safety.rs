//! Hostile patterns and paths take a bounded number of steps.

use std::sync::Arc;

use super::world::{all_of, path, rule};
use crate::decide::index::{Index, Scratch};
use crate::decide::*;

fn permits(patterns: &[String]) -> Vec<Arc<Rule>> {
    let targets = patterns.iter().map(|pattern| Target { resources: all_of(vec![path(pattern)]), ..Target::default() });
    targets.enumerate().map(|(number, target)| rule(&format!("p{number}"), Effect::Permit, target).into()).collect()
}

fn index(rules: &[Arc<Rule>]) -> Index {
    Index::new((0..).zip(rules.iter().map(Arc::as_ref)))
}

/// The steps of a walk, and whether a policy was found.
fn walk(rules: &[Arc<Rule>], given: &str) -> (usize, bool) {
    let index = index(rules);
    let request =
        Request { resource: Resource { path: Maybe::Is(given.into()), ..Resource::default() }, ..Request::default() };
    let mut scratch = Scratch::default();
    let mut found = false;
    let asked = NormalizedRequest { request: &request, path: Path::Is(given), longest: usize::MAX };
    index.find(asked, |slot| rules.get(slot as usize).map(Arc::as_ref), &mut scratch, |_, _| found = true);
    (Index::steps(&scratch), found)
}

#[test]
fn a_pattern_with_too_many_wildcards_is_refused() {
    let at_the_limit = "/**/a".repeat(MAX_WILDCARDS);
    assert!(Glob::parse(&at_the_limit).is_ok());
    let over = Glob::parse(&format!("{at_the_limit}/*")).unwrap_err();
    assert_eq!(over.problem, PatternProblem::TooManyWildcards);
    assert_eq!(Wildcard::parse(&"a*".repeat(17)).unwrap_err().problem, PatternProblem::TooManyWildcards);
    assert_eq!(Glob::parse(&"a".repeat(MAX_LENGTH + 1)).unwrap_err().problem, PatternProblem::TooLong);
    assert_eq!(Glob::parse("/a\\b").unwrap_err().range, 2..3);
    assert_eq!(Glob::parse("").unwrap_err().problem, PatternProblem::Empty);
}

#[test]
fn a_pattern_at_the_limit_takes_few_steps_on_a_long_path() {
    let given = "/a".repeat(5_000);
    let (steps, found) = walk(&permits(&["/**/a".repeat(MAX_WILDCARDS)]), &given);
    assert!(found);
    // No more than all nodes of the pattern at each of the segments.
    assert!(steps <= 5_001 * (2 * MAX_WILDCARDS + 2), "{steps} steps");
    let (steps, found) = walk(&permits(&[format!("{}/b", "/**/a".repeat(MAX_WILDCARDS))]), &given);
    assert!(!found);
    assert!(steps <= 5_001 * (2 * MAX_WILDCARDS + 3), "{steps} steps");
}

#[test]
fn wildcards_within_a_segment_are_linear() {
    let given = format!("/{}", "a".repeat(10_000));
    let (steps, found) = walk(&permits(&[format!("/{}b", "a*".repeat(15))]), &given);
    assert!(!found);
    assert!(steps <= 3, "{steps} steps");
    let (_, found) = walk(&permits(&[format!("/{}a", "a*".repeat(15))]), &given);
    assert!(found);
}

#[test]
fn many_open_ends_are_all_followed() {
    // Far more than a machine word of nodes is active at once; none may be dropped.
    let patterns: Vec<String> = (0..300).map(|number| format!("/**/x{number}/**/end")).collect();
    let rules = permits(&patterns);
    for number in [0, 63, 64, 65, 299] {
        let given = format!("/start/x{number}/middle/end");
        let index = index(&rules);
        let request = Request::default();
        let mut found = Vec::new();
        let asked = NormalizedRequest { request: &request, path: Path::Is(&given), longest: usize::MAX };
        index.find(
            asked,
            |slot| rules.get(slot as usize).map(Arc::as_ref),
            &mut Scratch::default(),
            |rule, _| found.push(rule),
        );
        assert_eq!(found, [number]);
    }
    let everything: String = (0..300).map(|number| format!("/y/x{number}")).collect::<String>() + "/z/end";
    let (_, found) = walk(&rules, &everything);
    assert!(found);
}

#[test]
fn many_subjects_on_one_path_are_all_found() {
    let rules: Vec<Arc<Rule>> = (0..500)
        .map(|number| {
            let role = Wildcard::parse(&format!("role-{number}")).unwrap();
            let target = Target {
                subjects: all_of(vec![Test::Role(vec![role])]),
                resources: all_of(vec![path("/**")]),
                actions: Vec::new(),
            };
            rule(&format!("p{number}"), Effect::Deny, target).into()
        })
        .collect();
    let index = index(&rules);
    let names: Vec<String> = (0..200).map(|number| format!("role-{}", number * 2)).collect();
    let request = Request { subject: Subject { roles: Names::of(&names), ..Subject::default() }, ..Request::default() };
    let mut found = Vec::new();
    let asked = NormalizedRequest { request: &request, path: Path::Is("/any/where"), longest: usize::MAX };
    index.find(
        asked,
        |slot| rules.get(slot as usize).map(Arc::as_ref),
        &mut Scratch::default(),
        |rule, _| found.push(rule),
    );
    found.sort_unstable();
    assert_eq!(found, (0..200).map(|number| number * 2).collect::<Vec<u32>>());
}
