//! Hostile patterns and paths take a bounded number of steps.

use std::sync::Arc;

use smol_str::SmolStr;

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

/// The policies that may be about one of these readings of a path, and the steps of their walk.
fn walk_readings(index: &Index, readings: &[SmolStr]) -> (usize, Vec<u32>) {
    let (request, mut scratch, mut slots) = (Request::default(), Scratch::default(), Vec::new());
    let asked = NormalizedRequest { request: &request, path: Path::Several(readings), longest: usize::MAX };
    assert!(index.candidates(asked, usize::MAX, &mut scratch, &mut slots).is_continue());
    (Index::steps(&scratch), slots)
}

#[test]
fn p37_readings_of_a_path_are_walked_as_one_where_they_are_the_same() {
    let index = index(&permits(&["/**", "/**/y", "/a/*/**", "/**/a/end"].map(str::to_owned)));
    let same = "a/".repeat(100);
    for at_the_end in [true, false] {
        let reading = |number: u32| {
            let other = format!("x{number}/end/{number}");
            SmolStr::from(if at_the_end { format!("/{same}{other}") } else { format!("/{other}/{same}y") })
        };
        let (one, _) = walk_readings(&index, &[reading(0)]);
        let (all, slots) = walk_readings(&index, &(0..90).map(reading).collect::<Vec<_>>());
        assert!(all <= 5 * one, "{all} steps for all, {one} for one");
        assert_eq!(slots, if at_the_end { vec![0, 2] } else { vec![0, 1] });
    }
}

#[test]
fn p37_readings_together_find_what_each_of_them_finds() {
    const PARTS: [&str; 8] = ["/a", "/b", "/a/b", "/", "/c/a", "/ab", "/a/a/a", "/b/"];
    const PATTERNS: [&str; 8] = ["/a", "/**", "/*", "/a*", "/b/**", "/**/a", "/a/b", "/*/a"];
    let mut numbers = super::random::Numbers(0x5eed_0037);
    for round in 0..300 {
        let bytes = numbers.bytes(400);
        let mut bytes = bytes.iter().map(|byte| usize::from(*byte));
        let mut text = |parts: &[&str; 8], most: usize| -> String {
            let count = 1 + bytes.next().unwrap_or_default() % most;
            (0..count).map(|_| parts[bytes.next().unwrap_or_default() % 8]).collect()
        };
        // Some have whole rests of a path: `/a**`.
        let rest =
            |text: String, number: usize| if number.is_multiple_of(3) && round % 2 == 0 { text + "x**" } else { text };
        let rules = permits(&(0..6).map(|number| rest(text(&PATTERNS, 3), number)).collect::<Vec<_>>());
        let index = index(&rules);
        let readings: Vec<SmolStr> = (0..12).map(|_| text(&PARTS, 6).into()).collect();
        let each = readings.iter().flat_map(|reading| walk_readings(&index, std::slice::from_ref(reading)).1);
        let each: std::collections::BTreeSet<u32> = each.collect();
        let matching = |rule: &Rule| {
            readings.iter().any(|path| {
                let asked =
                    NormalizedRequest { request: &Request::default(), path: Path::Is(path), longest: usize::MAX };
                rule.target.covers(asked) == Truth::True
            })
        };
        let naive: Vec<u32> = (0..).zip(&rules).filter(|(_, rule)| matching(rule)).map(|(slot, _)| slot).collect();
        assert_eq!(each.into_iter().collect::<Vec<_>>(), naive);
        assert_eq!(walk_readings(&index, &readings).1, naive, "{readings:?} {rules:?}");
    }
}

#[test]
fn p37_a_path_that_is_not_known_leads_to_policies_by_what_else_they_ask_for() {
    let rules: Vec<Arc<Rule>> = (0..500)
        .map(|number: u32| {
            let role = Wildcard::parse(&format!("role-{number}")).unwrap();
            let paths = [format!("/p{number}/**"), format!("/q{number}")]
                .map(|pattern| Matcher { tests: vec![path(&pattern)] });
            let target = Target {
                subjects: all_of(vec![Test::Role(vec![role])]),
                resources: if number.is_multiple_of(5) { Vec::new() } else { paths.to_vec() },
                actions: Vec::new(),
            };
            rule(&format!("p{number}"), Effect::Deny, target).into()
        })
        .collect();
    let names = ["role-7", "role-10", "role-499"];
    let request = Request { subject: Subject { roles: Names::of(&names), ..Subject::default() }, ..Request::default() };
    let asked = NormalizedRequest { request: &request, path: Path::Unknown, longest: usize::MAX };
    let find = |index: &Index| {
        let mut slots = Vec::new();
        assert!(index.candidates(asked, usize::MAX, &mut Scratch::default(), &mut slots).is_continue());
        slots
    };
    let index = index(&rules);
    assert_eq!(find(&index), [7, 10, 499]);
    let without = index.with(&[(7, &*rules[7])], &[]);
    assert_eq!(find(&without), [10, 499]);
    assert_eq!(find(&without.with(&[], &[(7, &*rules[7])])), [7, 10, 499]);
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
