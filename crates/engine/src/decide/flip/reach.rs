//! How far a policy is from a request, and what is in between.

use crate::decide::cells::Field;
use crate::decide::condition::Condition;
use crate::decide::fact_test::FactOf;
use crate::decide::request::{NormalizedRequest, Request};
use crate::decide::rule::{Matcher, OWNER_FIELDS, Target, Test};
use crate::decide::truth::Truth;

/// The first part of a policy that does not fit.
pub(super) enum Reach<'d> {
    /// Of each alternative of a clause, the first test that does not hold.
    Tests(Vec<&'d Test>),
    /// A condition.
    Condition(&'d Condition),
}

/// How many parts of a request must be changed at least before a policy applies.
pub(super) fn distance(target: &Target, conditions: &[Condition], asked: NormalizedRequest<'_>) -> usize {
    let mut fields: Vec<Field> = Vec::new();
    for (_, alternatives) in target.clauses() {
        let of_each = alternatives.iter().map(|matcher| failing_fields(matcher, asked));
        fields.extend(of_each.min_by_key(Vec::len).unwrap_or_default());
    }
    let mut expressions = 0;
    for condition in conditions.iter().filter(|condition| condition.holds(asked) != Truth::True) {
        match condition {
            Condition::Time(_) | Condition::Validity(_) => fields.push(Field::Time),
            Condition::Address(_) => fields.push(Field::Address),
            // What it reads may be changed anyway.
            Condition::Expression(_) | Condition::Always => expressions = 1,
            Condition::Never => return usize::MAX,
        }
    }
    fields.sort();
    fields.dedup();
    fields.len().max(expressions)
}

/// What to look at first; nothing if all fits, or if it takes more changes than are left.
pub(super) fn first_miss<'d>(
    target: &'d Target,
    conditions: &'d [Condition],
    asked: NormalizedRequest<'_>,
    left: usize,
) -> Option<Reach<'d>> {
    if distance(target, conditions, asked) > left {
        return None;
    }
    for (_, alternatives) in target.clauses() {
        if alternatives.is_empty() || alternatives.iter().any(|matcher| matcher.covers(asked) == Truth::True) {
            continue;
        }
        let near = alternatives.iter().filter(|matcher| failing_fields(matcher, asked).len() <= left);
        let first = |matcher: &'d Matcher| matcher.tests.iter().find(|test| test.holds(asked) != Truth::True);
        return Some(Reach::Tests(near.filter_map(first).collect()));
    }
    conditions.iter().find(|condition| condition.holds(asked) != Truth::True).map(Reach::Condition)
}

/// The parts that tests of an alternative fail on, each once.
fn failing_fields(matcher: &Matcher, asked: NormalizedRequest<'_>) -> Vec<Field> {
    let failing = matcher.tests.iter().filter(|test| test.holds(asked) != Truth::True);
    // Where one of several parts is enough, the first stands for all.
    let mut all: Vec<Field> = failing.filter_map(|test| fields(test, asked.request).into_iter().next()).collect();
    all.sort();
    all.dedup();
    all
}

/// The parts of a request that a test reads.
pub(super) fn fields(test: &Test, request: &Request) -> Vec<Field> {
    let field = match test {
        Test::Id(_) => Field::SubjectId,
        Test::SubjectType(_) => Field::SubjectType,
        Test::Role(_) => Field::Roles,
        Test::Group(_) => Field::Groups,
        Test::Fact(test) => Field::read_in(test, request),
        Test::App(_) => Field::App,
        Test::Path(_) => Field::Path,
        Test::Type(_) => Field::Type,
        Test::ResourceId(_) => Field::ResourceId,
        Test::Method(_) => Field::Method,
        Test::Operation(_) => Field::Operation,
        Test::OwnedBySubject => {
            let owners = OWNER_FIELDS.iter().map(|name| Field::Fact(FactOf::Resource, vec![(*name).into()]));
            return std::iter::once(Field::SubjectId).chain(owners).collect();
        }
        Test::Not(matcher) => return matcher.tests.iter().flat_map(|test| fields(test, request)).collect(),
    };
    vec![field]
}

/// The parts that a condition reads.
pub(super) fn fields_of_condition(condition: &Condition, asked: NormalizedRequest<'_>) -> Vec<Field> {
    match condition {
        Condition::Time(_) | Condition::Validity(_) => vec![Field::Time],
        Condition::Address(_) => vec![Field::Address],
        Condition::Expression(expression) => {
            expression.suggestions(asked).into_iter().map(|(field, _)| field).collect()
        }
        Condition::Always | Condition::Never => Vec::new(),
    }
}
