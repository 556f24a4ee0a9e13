//! What the alternatives of policies ask for.

use std::sync::Arc;

use smol_str::SmolStr;

use super::Bytes;
use super::facts::{FACTS, fact, name, names, number};
use crate::decide::fact_test::{FactOf, FactTest, Operator, Order};
use crate::decide::glob::{ForeignPattern, Glob, Wildcard};
use crate::decide::pattern::Pattern;
use crate::decide::rule::{Matcher, PathPattern, Test};
use crate::decide::truth::Truth;

const WILD: [&str; 14] =
    ["a", "b", "a*", "*b", "*", "a*b", "c", "**", "n1*", "?", "a-name-*", "*-number-4", "*-over-*-byte?", "a*-*-*s"];
const SEGMENTS: [&str; 24] = [
    "a",
    "b",
    "*",
    "**",
    "ab",
    "a*",
    "?",
    "*b",
    "",
    "a**",
    "**b",
    "?*b",
    "a*b*",
    "??",
    "a?",
    "é",
    "\\*",
    "..",
    "%61",
    "***",
    "a-segment-of-over-sixteen-bytes",
    "a-segment-of-over-sixteen-*",
    "*-bytes",
    "x**z",
];
const METHODS: [&str; 8] = ["GET", "post", "PUT", "GET", "PURGE", "Other", "*", "DELETE"];

/// An alternative of subjects.
pub(super) fn subject(bytes: &mut Bytes<'_>) -> Matcher {
    matcher(bytes, 0)
}

/// An alternative of resources.
pub(super) fn resource(bytes: &mut Bytes<'_>) -> Matcher {
    matcher(bytes, 1)
}

/// An alternative of actions.
pub(super) fn action(bytes: &mut Bytes<'_>) -> Matcher {
    matcher(bytes, 2)
}

fn matcher(bytes: &mut Bytes<'_>, clause: usize) -> Matcher {
    if bytes.one_in(64) {
        return Matcher::default();
    }
    Matcher { tests: bytes.some(2, |bytes| test(bytes, clause, 0)) }
}

/// Nothing keeps a test from standing in a clause where nobody would look for it.
fn test(bytes: &mut Bytes<'_>, clause: usize, depth: usize) -> Test {
    if depth < 3 && bytes.one_in(8) {
        return Test::Not(Matcher { tests: bytes.some(2, |bytes| test(bytes, clause, depth + 1)) });
    }
    let clause = if bytes.one_in(24) { bytes.below(3) } else { clause };
    match (clause, bytes.below(8)) {
        (0, 0..3) => Test::Role(wild(bytes)),
        (0, 3) => Test::Group(names(bytes)),
        (0, 4) => Test::Id(names(bytes)),
        (0, 5) => Test::SubjectType(names(bytes)),
        (0, _) => fact_test(bytes, FactOf::Subject),
        (1, 0..3) => Test::Path(if bytes.one_in(48) { Vec::new() } else { bytes.some(3, path_pattern) }),
        (1, 3) => Test::App(wild(bytes)),
        (1, 4) => Test::Type(names(bytes)),
        (1, 5) => Test::ResourceId(names(bytes)),
        (1, 6) => Test::OwnedBySubject,
        (1, _) => fact_test(bytes, FactOf::Resource),
        (_, 0..5) => Test::Method(bytes.any(3, |bytes| SmolStr::new_static(bytes.pick(&METHODS)))),
        (_, 5) => Test::Operation(names(bytes)),
        (_, 6) => fact_test(bytes, FactOf::Action),
        _ => fact_test(bytes, FactOf::Environment),
    }
}

/// Another system looks for the text anywhere.
#[derive(Debug)]
struct Anywhere(SmolStr);

impl ForeignPattern for Anywhere {
    fn covers(&self, text: &str) -> bool {
        text.contains(self.0.as_str())
    }
}

fn foreign(bytes: &mut Bytes<'_>) -> (SmolStr, Arc<dyn ForeignPattern>) {
    let text = name(bytes);
    (text.clone(), Arc::new(Anywhere(text)))
}

fn wild(bytes: &mut Bytes<'_>) -> Vec<Wildcard> {
    let one = |bytes: &mut Bytes<'_>| {
        if bytes.one_in(24) {
            let (text, pattern) = foreign(bytes);
            return Some(Wildcard::Foreign(text, pattern));
        }
        let text = if bytes.one_in(3) { name(bytes) } else { SmolStr::new_static(bytes.pick(&WILD)) };
        Wildcard::parse(&text).ok()
    };
    bytes.some(3, one).into_iter().flatten().collect()
}

/// A pattern of any sort.
pub(super) fn path_pattern(bytes: &mut Bytes<'_>) -> PathPattern {
    if bytes.one_in(24) {
        let (text, pattern) = foreign(bytes);
        return PathPattern::Foreign(text, pattern);
    }
    let start = if bytes.one_in(16) { "" } else { "/" };
    let segments = bytes.some(5, |bytes| match bytes.below(4) {
        0 => bytes.pick(&SEGMENTS),
        _ => bytes.pick(SEGMENTS.get(..4).unwrap_or_default()),
    });
    let everything = || PathPattern::Foreign(SmolStr::default(), Arc::new(Anywhere(SmolStr::default())));
    glob(&format!("{start}{}", segments.join("/"))).unwrap_or_else(everything)
}

/// A pattern of segments, if the text is one.
pub(super) fn glob(text: &str) -> Option<PathPattern> {
    Glob::parse(text).ok().map(PathPattern::Glob)
}

fn fact_test(bytes: &mut Bytes<'_>, of: FactOf) -> Test {
    let own: &[&str] = match of {
        FactOf::Subject => &["x", "level"],
        FactOf::Resource => &["app", "path", "type", "id"],
        FactOf::Action => &["method", "operation"],
        FactOf::Environment => &["ip"],
    };
    let name = SmolStr::new_static(if bytes.one_in(4) { bytes.pick(own) } else { bytes.pick(&FACTS) });
    let path = if bytes.one_in(6) { vec![name.clone()] } else { name.split('.').map(SmolStr::new).collect() };
    let operator = operator(bytes);
    let absent = match operator {
        Operator::In(_) if !bytes.one_in(12) => Truth::False,
        _ => truth(bytes),
    };
    Test::Fact(FactTest { of, name, called: None, path, operator, absent, mismatch: truth(bytes) })
}

fn truth(bytes: &mut Bytes<'_>) -> Truth {
    match bytes.below(4) {
        0 => Truth::False,
        1 => Truth::True,
        _ => Truth::Error,
    }
}

fn operator(bytes: &mut Bytes<'_>) -> Operator {
    match bytes.below(20) {
        0..7 => Operator::In(bytes.some(3, fact)),
        7 => Operator::NotIn(bytes.some(3, fact)),
        8 => Operator::Order(Order::Greater, number(bytes)),
        9 => Operator::Order(Order::AtLeast, number(bytes)),
        10 => Operator::Order(Order::Less, number(bytes)),
        11 => Operator::Order(Order::AtMost, number(bytes)),
        12 => Operator::Contains(fact(bytes)),
        13 => Operator::ContainsAny(bytes.some(3, fact)),
        14 => Operator::StartsWith(name(bytes)),
        15 => Operator::EndsWith(name(bytes)),
        16 => Pattern::build(bytes.pick(&["^a", "b$", "^[0-9.]+$"]), None).map_or(Operator::Never, Operator::Regex),
        17 => Operator::Within(["10.0.0.0/8", "2001:db8::/32"].iter().filter_map(|one| one.parse().ok()).collect()),
        18 => Operator::Exists,
        _ => match bytes.below(4) {
            0 => Operator::Never,
            1 => {
                let (text, pattern) = foreign(bytes);
                Operator::Foreign(text, pattern)
            }
            _ => Operator::Absent,
        },
    }
}
