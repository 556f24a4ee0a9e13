//! Tests that ask for one of several values: the same with one value less, and with each value alone.

use super::super::fact_test::{FactTest, Operator};
use super::super::rule::Test;
use super::without;

/// The test without each of its values; nothing where it has one, or none.
pub(super) fn fewer(test: &Test) -> Vec<Test> {
    let negated = match test {
        Test::Fact(fact) => match &fact.operator {
            Operator::NotIn(all) => each(all, Keep::Others, |all| of_fact(fact, Operator::NotIn(all))),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    if negated.is_empty() { of_each(test, Keep::Others) } else { negated }
}

/// Tests of which one holds whenever this one does; nothing where it has one value, or none.
pub(super) fn apart(test: &Test) -> Vec<Test> {
    of_each(test, Keep::Only)
}

/// What is kept of a list of values, for each of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Only,
    Others,
}

fn of_each(test: &Test, keep: Keep) -> Vec<Test> {
    match test {
        Test::Id(all) => each(all, keep, Test::Id),
        Test::SubjectType(all) => each(all, keep, Test::SubjectType),
        Test::Role(all) => each(all, keep, Test::Role),
        Test::Group(all) => each(all, keep, Test::Group),
        Test::App(all) => each(all, keep, Test::App),
        Test::Path(all) => each(all, keep, Test::Path),
        Test::Type(all) => each(all, keep, Test::Type),
        Test::ResourceId(all) => each(all, keep, Test::ResourceId),
        Test::Method(all) => each(all, keep, Test::Method),
        Test::Operation(all) => each(all, keep, Test::Operation),
        Test::Fact(fact) => match &fact.operator {
            Operator::In(all) => each(all, keep, |all| of_fact(fact, Operator::In(all))),
            Operator::ContainsAny(all) => each(all, keep, |all| of_fact(fact, Operator::ContainsAny(all))),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn each<T: Clone>(all: &[T], keep: Keep, test: impl Fn(Vec<T>) -> Test) -> Vec<Test> {
    if all.len() < 2 {
        return Vec::new();
    }
    match keep {
        Keep::Only => all.iter().map(|value| test(vec![value.clone()])).collect(),
        Keep::Others => (0..all.len()).map(|place| test(without(all, place))).collect(),
    }
}

fn of_fact(fact: &FactTest, operator: Operator) -> Test {
    Test::Fact(FactTest { operator, ..fact.clone() })
}
