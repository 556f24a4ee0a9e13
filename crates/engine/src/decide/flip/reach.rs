//! How far a policy is from a request, and what is in between.

use smallvec::SmallVec;

use crate::decide::cells::{Field, FieldRef};
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
    let mut fields = FieldRefs::new();
    for (_, alternatives) in target.clauses() {
        let of_each = alternatives.iter().map(|matcher| failing_fields(matcher, asked));
        let nearest = of_each.min_by_key(SmallVec::len).unwrap_or_default();
        nearest.into_iter().for_each(|field| add(&mut fields, field));
    }
    let mut expressions = 0;
    for condition in conditions.iter().filter(|condition| condition.holds(asked) != Truth::True) {
        match condition {
            Condition::Time(_) | Condition::Validity(_) => add(&mut fields, FieldRef::Own(Field::Time)),
            Condition::Address(_) => add(&mut fields, FieldRef::Own(Field::Address)),
            // What it reads may be changed anyway.
            Condition::Expression(_) | Condition::Always => expressions = 1,
            Condition::Never => return usize::MAX,
        }
    }
    fields.len().max(expressions)
}

/// Parts of a request, each once. All policies are held against a request, so few of them take memory.
type FieldRefs<'t> = SmallVec<[FieldRef<'t>; 8]>;

fn add<'t>(fields: &mut FieldRefs<'t>, field: FieldRef<'t>) {
    if !fields.contains(&field) {
        fields.push(field);
    }
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
fn failing_fields<'t>(matcher: &'t Matcher, asked: NormalizedRequest<'_>) -> FieldRefs<'t> {
    let failing = matcher.tests.iter().filter(|test| test.holds(asked) != Truth::True);
    let mut all = FieldRefs::new();
    failing.filter_map(|test| first_field(test, asked.request)).for_each(|field| add(&mut all, field));
    all
}

/// The part of a request that a test reads; where one of several is enough, the first stands for all.
fn first_field<'t>(test: &'t Test, request: &Request) -> Option<FieldRef<'t>> {
    let field = match test {
        Test::Id(_) | Test::OwnedBySubject => Field::SubjectId,
        Test::SubjectType(_) => Field::SubjectType,
        Test::Role(_) => Field::Roles,
        Test::Group(_) => Field::Groups,
        Test::Fact(test) => return Some(FieldRef::read_in(test, request)),
        Test::App(_) => Field::App,
        Test::Path(_) => Field::Path,
        Test::Type(_) => Field::Type,
        Test::ResourceId(_) => Field::ResourceId,
        Test::Method(_) => Field::Method,
        Test::Operation(_) => Field::Operation,
        Test::Not(matcher) => return matcher.tests.iter().find_map(|test| first_field(test, request)),
    };
    Some(FieldRef::Own(field))
}

/// The parts of a request that a test reads.
pub(super) fn fields(test: &Test, request: &Request) -> Vec<Field> {
    match test {
        Test::OwnedBySubject => {
            let owners = OWNER_FIELDS.iter().map(|name| Field::Fact(FactOf::Resource, vec![(*name).into()]));
            std::iter::once(Field::SubjectId).chain(owners).collect()
        }
        Test::Not(matcher) => matcher.tests.iter().flat_map(|test| fields(test, request)).collect(),
        test => first_field(test, request).iter().map(FieldRef::to_field).collect(),
    }
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
