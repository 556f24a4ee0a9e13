//! Facts of a request, looked up and compared in the plainest way.

use std::net::IpAddr;

use smol_str::SmolStr;

use crate::decide::fact_test::{FactOf, FactTest, Operator, Order};
use crate::decide::request::{Fact, Maybe, NormalizedRequest, Path};
use crate::decide::truth::Truth;

/// Whether a fact is what it must be. The moment of a request is left to conditions.
pub(super) fn holds(test: &FactTest, asked: NormalizedRequest<'_>) -> Truth {
    let whole = of_name(test.of, &test.name, asked);
    let found = match whole {
        None if test.path.len() > 1 => of_path(test.of, &test.path, asked),
        whole => whole,
    };
    let names_null = match &test.operator {
        Operator::In(wanted) | Operator::NotIn(wanted) => wanted.contains(&Fact::Null),
        _ => false,
    };
    match (found.filter(|found| names_null || *found != Fact::Null), &test.operator) {
        (Some(Fact::Unknown), _) => Truth::Error,
        (found, Operator::Exists) => found.is_some().into(),
        (found, Operator::Absent) => found.is_none().into(),
        (None, _) => test.absent,
        (Some(Fact::Text(text)), Operator::Regex(_) | Operator::Foreign(..)) if text.len() > asked.longest => {
            Truth::Error
        }
        (Some(found), operator) => passes(operator, &found).unwrap_or(test.mismatch),
    }
}

/// What resources, actions and environments always have a place for is no other fact of that name.
fn of_name(of: FactOf, name: &str, asked: NormalizedRequest<'_>) -> Option<Fact> {
    let request = asked.request;
    let text = |value: &Maybe<SmolStr>| match value {
        Maybe::Is(text) => Some(Fact::Text(text.clone())),
        Maybe::Absent => None,
        Maybe::Unknown => Some(Fact::Unknown),
    };
    match (of, name) {
        (FactOf::Subject, name) => request.subject.claims.get(name).cloned(),
        (FactOf::Resource, "app") => text(&request.resource.app),
        (FactOf::Resource, "path") => match asked.path {
            Path::Is(path) => Some(Fact::Text(path.into())),
            Path::Absent => None,
            Path::Several(_) | Path::Unknown => Some(Fact::Unknown),
        },
        (FactOf::Resource, "type") => text(&request.resource.kind),
        (FactOf::Resource, "id") => text(&request.resource.id),
        (FactOf::Resource, name) => request.resource.facts.get(name).cloned(),
        (FactOf::Action, "method") => text(&request.action.method),
        (FactOf::Action, "operation") => text(&request.action.operation),
        (FactOf::Action, name) => request.action.facts.get(name).cloned(),
        (FactOf::Environment, "ip") => text(&request.environment.ip),
        (FactOf::Environment, name) => request.environment.facts.get(name).cloned(),
    }
}

fn of_path(of: FactOf, path: &[SmolStr], asked: NormalizedRequest<'_>) -> Option<Fact> {
    let (first, rest) = path.split_first()?;
    within(of_name(of, first, asked)?, rest)
}

fn within(fact: Fact, path: &[SmolStr]) -> Option<Fact> {
    match (fact, path) {
        (fact, []) => Some(fact),
        (Fact::Unknown, _) => Some(Fact::Unknown),
        (Fact::Map(facts), [first, rest @ ..]) => within(facts.get(first)?.clone(), rest),
        _ => None,
    }
}

/// Nothing for a fact of another type.
fn passes(operator: &Operator, found: &Fact) -> Option<Truth> {
    let text = match found {
        Fact::Text(text) => Some(text.as_str()),
        _ => None,
    };
    Some(match operator {
        Operator::In(wanted) => wanted.contains(found).into(),
        Operator::NotIn(wanted) => (!wanted.contains(found)).into(),
        Operator::Order(order, bound) => {
            let Fact::Number(number) = found else { return None };
            Truth::from(match order {
                Order::Greater => number > bound,
                Order::AtLeast => number >= bound,
                Order::Less => number < bound,
                Order::AtMost => number <= bound,
            })
        }
        Operator::Contains(wanted) => contains(found, wanted)?,
        Operator::ContainsAny(wanted) => {
            let each: Vec<Option<Truth>> = wanted.iter().map(|wanted| contains(found, wanted)).collect();
            if each.contains(&Some(Truth::True)) {
                return Some(Truth::True);
            }
            let known: Option<Vec<Truth>> = each.into_iter().collect();
            known?.into_iter().reduce(Truth::or)?
        }
        Operator::StartsWith(wanted) => text?.starts_with(wanted.as_str()).into(),
        Operator::EndsWith(wanted) => text?.ends_with(wanted.as_str()).into(),
        Operator::Regex(regex) => regex.is_match(text?).into(),
        Operator::Foreign(_, pattern) => pattern.covers(text?).into(),
        Operator::Broken(_) => text.map(|_| Truth::Error)?,
        Operator::Within(networks) => {
            let address = text?.parse::<IpAddr>().ok()?.to_canonical();
            networks.iter().any(|network| network.contains(&address)).into()
        }
        Operator::Exists => Truth::True,
        Operator::Absent | Operator::Never => Truth::False,
    })
}

/// An item that nobody knows could be the one.
fn contains(found: &Fact, wanted: &Fact) -> Option<Truth> {
    match (found, wanted) {
        (Fact::Text(found), Fact::Text(wanted)) => Some(found.contains(wanted.as_str()).into()),
        (Fact::List(items), wanted) if items.contains(wanted) => Some(Truth::True),
        (Fact::List(items), _) if items.contains(&Fact::Unknown) => Some(Truth::Error),
        (Fact::List(_), _) => Some(Truth::False),
        _ => None,
    }
}
