//! Many policies that are alike: long lists on one path, many paths at once, many alternatives.

use smol_str::SmolStr;

use super::Bytes;
use super::alternatives::{action, glob, path_pattern, resource, subject};
use super::facts::numbered;
use super::policies::rule;
use crate::decide::fact_test::{FactOf, FactTest, Operator};
use crate::decide::glob::Wildcard;
use crate::decide::request::Fact;
use crate::decide::rule::{Matcher, PathPattern, Rule, Target, Test};
use crate::decide::truth::Truth;

/// All of them cover the segment `a`.
const WIDE: [&str; 6] = ["*", "a", "**", "a*", "*a", "?"];

/// More policies than a list may have to be read from end to end, or more paths than a machine word has bits.
pub(super) fn crowd(bytes: &mut Bytes<'_>) -> Vec<Rule> {
    if bytes.one_in(4) { paths(bytes) } else { subjects(bytes) }
}

fn paths(bytes: &mut Bytes<'_>) -> Vec<Rule> {
    let (first, count) = (bytes.below(216), 65 + bytes.below(40));
    let digit = |number: usize| WIDE.get(number % WIDE.len()).copied().unwrap_or_default();
    let patterns = (first..first + count).map(|number| {
        let [low, middle, high] = [number, number / WIDE.len(), number / WIDE.len().pow(2)].map(digit);
        format!("/{low}/{middle}/{high}")
    });
    let targets = patterns.map(|pattern| {
        let patterns: Vec<PathPattern> = glob(&pattern).into_iter().collect();
        Target { resources: vec![Matcher { tests: vec![Test::Path(patterns)] }], ..Target::default() }
    });
    targets.map(|target| rule(bytes, target)).collect()
}

/// On one path each has a subject of its own, or nearly so.
fn subjects(bytes: &mut Bytes<'_>) -> Vec<Rule> {
    let resources = match bytes.below(4) {
        0 => Vec::new(),
        1 => vec![resource(bytes)],
        _ => vec![Matcher { tests: vec![Test::Path(bytes.some(2, path_pattern))] }],
    };
    let actions = bytes.any(1, action);
    let (first, count, kind) = (bytes.below(64), 17 + bytes.below(32), bytes.below(7));
    let mut rules = Vec::new();
    for number in first..first + count {
        let test = match kind {
            0 => Test::Id(vec![numbered(number)]),
            1 => Test::Group(vec![numbered(number), numbered(number / 2)]),
            2 => claim(number),
            3 => pattern(&format!("{}*", numbered(number / 4))),
            4 => Test::SubjectType(vec![numbered(number % 8)]),
            _ => pattern(&numbered(number)),
        };
        let mut subjects = vec![Matcher { tests: vec![test] }];
        if bytes.one_in(8) {
            subjects.push(subject(bytes));
        }
        let target = Target { subjects, resources: resources.clone(), actions: actions.clone() };
        rules.push(rule(bytes, target));
    }
    rules
}

fn pattern(text: &str) -> Test {
    Test::Role(Wildcard::parse(text).into_iter().collect())
}

fn claim(number: usize) -> Test {
    let name = SmolStr::new_static("x");
    let operator = Operator::In(vec![Fact::Text(numbered(number))]);
    let (absent, mismatch) = (Truth::False, Truth::Error);
    Test::Fact(FactTest {
        of: FactOf::Subject,
        path: vec![name.clone()],
        name,
        called: None,
        operator,
        absent,
        mismatch,
    })
}

/// More combinations of alternatives than the index keeps.
pub(super) fn many(bytes: &mut Bytes<'_>) -> Target {
    let times = |matchers: Vec<Matcher>| matchers.into_iter().cycle().take(11).collect();
    Target {
        subjects: times(bytes.some(3, subject)),
        resources: times(bytes.some(3, resource)),
        actions: times(bytes.some(3, action)),
    }
}
