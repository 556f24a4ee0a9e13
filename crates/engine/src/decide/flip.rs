//! The smallest changes that would turn a decision round, each tried out before it is told.

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::condition::{AddressLists, Condition, TimeWindow};
use super::examine::Examined;
use super::fact_test::{FactOf, Operator, Order};
use super::family::{Decide, Decided, Measure, Outcome};
use super::glob::Wild;
use super::request::{Asked, Fact, Maybe, Names, Request};
use super::rule::{ANY_METHOD, Matcher, Rule, Status, Test};
use super::truth::Truth;
use super::value::Effect;
use crate::ask::{EntryId, Hit};

/// What would turn a decision round.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// These policies were not there.
    Without(Vec<EntryId>),
    /// The request were like this; the policy would apply then, if it is about one.
    Request(Vec<Edit>, Option<EntryId>),
}

/// One change of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// One more role.
    Role(SmolStr),
    /// One more group.
    Group(SmolStr),
    /// Without a role.
    NoRole(SmolStr),
    /// Without a group.
    NoGroup(SmolStr),
    /// Another subject.
    Id(SmolStr),
    /// Another method.
    Method(SmolStr),
    /// Another operation.
    Operation(SmolStr),
    /// Another sort of resource.
    Type(SmolStr),
    /// Another application.
    App(SmolStr),
    /// Another claim.
    Claim(SmolStr, Fact),
    /// Another moment.
    Time(Timestamp),
    /// Another address.
    Address(SmolStr),
}

impl Change {
    /// How many things it changes.
    pub fn size(&self) -> usize {
        match self {
            Self::Without(policies) => policies.len(),
            Self::Request(edits, _) => edits.len(),
        }
    }
}

/// Policies that are looked at for changes of the request: those that miss by the least.
const MOST_TRIED: usize = 64;
/// Policies that may have to go.
const MOST_REMOVED: usize = 3;

/// Changes that would permit what is not permitted, or deny what is; the smallest first.
pub fn changes(decide: &Decide, request: &Request, decided: &Decided, hits: &[Hit<Measure>]) -> Vec<Change> {
    let wanted = if decided.outcome == Outcome::Permit { Outcome::Deny } else { Outcome::Permit };
    let mut changes = edits(decide, request, wanted);
    changes.extend(removal(decide, request, decided, hits, wanted));
    // Stable, so a change of the request comes before one of the policies.
    changes.sort_by_key(Change::size);
    changes
}

/// Takes away whoever stands in the way, one after the other.
fn removal(
    decide: &Decide,
    request: &Request,
    decided: &Decided,
    hits: &[Hit<Measure>],
    wanted: Outcome,
) -> Option<Change> {
    let (mut left, mut gone) = (hits.to_vec(), Vec::new());
    let mut now = *decided;
    while now.outcome != wanted {
        let in_the_way = |hit: &&Hit<Measure>| {
            let effect = decide.rule(hit.entry).map(|rule| rule.effect);
            hit.measure.applies() != Truth::False
                && matches!(
                    (wanted, effect),
                    (Outcome::Permit, Some(Effect::Deny)) | (Outcome::Deny, Some(Effect::Permit))
                )
        };
        let decider = match now.by {
            super::family::By::Policy(entry) => Some(entry),
            _ => left.iter().find(in_the_way).map(|hit| hit.entry),
        }?;
        gone.push(decider);
        left.retain(|hit| hit.entry != decider);
        if gone.len() > MOST_REMOVED {
            return None;
        }
        now = decide.decide_among(request, &left, decide.algorithm());
    }
    (!gone.is_empty()).then_some(Change::Without(gone))
}

/// Makes policies of the wanted effect apply, or keeps the others from applying, by changing the request.
fn edits(decide: &Decide, request: &Request, wanted: Outcome) -> Vec<Change> {
    let effect = if wanted == Outcome::Permit { Effect::Permit } else { Effect::Deny };
    let mut buffer = String::new();
    let asked = decide.asked(request, &mut buffer);
    let mut tried: Vec<(usize, usize, Vec<Edit>, Option<EntryId>)> = Vec::new();
    for (number, rule) in decide.rules().iter().enumerate().filter(|(_, rule)| rule.status == Status::On) {
        let entry = EntryId::new(number);
        if rule.effect == effect {
            let Some(edits) = to_apply(rule, asked).filter(|edits| !edits.is_empty()) else { continue };
            tried.push((edits.len(), number, edits, Some(entry)));
        } else if rule.target.covers(asked) == Truth::True {
            tried.extend(to_miss(rule, asked).into_iter().map(|edit| (1, number, vec![edit], None)));
        }
    }
    tried.sort_by_key(|(edits, number, ..)| (*edits, *number));
    tried.truncate(MOST_TRIED);
    let mut found: Vec<Change> = Vec::new();
    for (count, _, edits, entry) in tried {
        // More changes are only told where fewer do not help.
        if found
            .iter()
            .any(|known| matches!(known, Change::Request(known, _) if known.len() < count || *known == edits))
        {
            continue;
        }
        let mut other = request.clone();
        for edit in &edits {
            edit.apply(&mut other);
        }
        let decided =
            crate::ask::ask(decide, &&other, &mut crate::ask::Scratch::default(), &mut crate::witness::Silent);
        if decided.outcome == wanted {
            found.push(Change::Request(edits, entry));
        }
    }
    found
}

/// What would make a policy apply; nothing if it takes another path or cannot be told.
fn to_apply(rule: &Rule, asked: Asked<'_>) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let examined = Examined::of(rule, asked);
    for ((_, alternatives), held) in rule.target.clauses().into_iter().zip(&examined.clauses) {
        if held.truth == Truth::True {
            continue;
        }
        let matcher = alternatives.get(held.place?)?;
        for test in matcher.tests.iter().filter(|test| test.holds(asked) != Truth::True) {
            edits.push(edit_for(test)?);
        }
    }
    for condition in rule.conditions.iter().filter(|condition| condition.holds(asked) != Truth::True) {
        edits.push(edit_for_condition(condition, asked)?);
    }
    Some(edits)
}

fn edit_for(test: &Test) -> Option<Edit> {
    match test {
        Test::Role(wanted) => wanted.first().and_then(example).map(Edit::Role),
        Test::App(wanted) => wanted.first().and_then(example).map(Edit::App),
        Test::Group(wanted) => wanted.first().cloned().map(Edit::Group),
        Test::Id(wanted) => wanted.first().cloned().map(Edit::Id),
        Test::Type(wanted) => wanted.first().cloned().map(Edit::Type),
        Test::Operation(wanted) => wanted.first().cloned().map(Edit::Operation),
        Test::Method(wanted) => wanted.iter().find(|method| *method != ANY_METHOD).cloned().map(Edit::Method),
        Test::Fact(test) if test.of == FactOf::Subject && test.path.len() == 1 => {
            let value = match &test.operator {
                Operator::In(wanted) => wanted.first().cloned()?,
                Operator::Order(Order::Greater, bound) => Fact::Number(bound + 1.0),
                Operator::Order(Order::Less, bound) => Fact::Number(bound - 1.0),
                Operator::Order(Order::AtLeast | Order::AtMost, bound) => Fact::Number(*bound),
                _ => return None,
            };
            Some(Edit::Claim(test.name.clone(), value))
        }
        _ => None,
    }
}

fn example(wanted: &Wild) -> Option<SmolStr> {
    match wanted {
        Wild::Exact(text) => Some(text.clone()),
        Wild::Runs(..) | Wild::Foreign(..) | Wild::Broken(_) => None,
    }
}

fn edit_for_condition(condition: &Condition, asked: Asked<'_>) -> Option<Edit> {
    match condition {
        Condition::Time(window) => {
            let Maybe::Is(now) = asked.request.environment.time else { return None };
            next_moment(window, now).map(Edit::Time)
        }
        Condition::Address(AddressLists::Networks { allow: Some(allow), .. }) => {
            let network = allow.first()?;
            Some(Edit::Address(network.hosts().next()?.to_string().into()))
        }
        _ => None,
    }
}

/// The next full minute within two weeks at which a window is open.
fn next_moment(window: &TimeWindow, now: Timestamp) -> Option<Timestamp> {
    const MINUTE: i64 = 60 * 1_000_000_000;
    let start = now.0 - now.0.rem_euclid(MINUTE);
    (1..=14 * 24 * 60).map(|minutes| Timestamp(start + minutes * MINUTE)).find(|moment| window.is_open(*moment))
}

/// What would keep a policy from applying.
fn to_miss(rule: &Rule, asked: Asked<'_>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = other_method(rule, asked).into_iter().collect();
    let holding = |matcher: &&Matcher| matcher.covers(asked) == Truth::True;
    let Some(matcher) = only(rule.target.subjects.iter().filter(holding)) else { return edits };
    let subject = &asked.request.subject;
    let edit = |test: &Test| match test {
        Test::Role(wanted) => {
            let fits = |role: &&SmolStr| wanted.iter().any(|wanted| wanted.covers(role));
            only(subject.roles.known().iter().filter(fits)).cloned().map(Edit::NoRole)
        }
        Test::Group(wanted) => {
            let fits = |group: &&SmolStr| wanted.contains(group);
            only(subject.groups.known().iter().filter(fits)).cloned().map(Edit::NoGroup)
        }
        _ => None,
    };
    edits.extend(matcher.tests.iter().filter_map(edit));
    edits
}

/// A common method that a policy about this one says nothing of.
fn other_method(rule: &Rule, asked: Asked<'_>) -> Option<Edit> {
    let given = asked.request.action.method.known()?;
    let others = ["GET", "POST", "PUT", "PATCH", "DELETE"].into_iter().filter(|other| *other != given.as_str());
    others.map(|other| Edit::Method(SmolStr::new_static(other))).find(|edit| {
        let mut request = asked.request.clone();
        edit.apply(&mut request);
        rule.target.covers(Asked { request: &request, path: asked.path }) == Truth::False
    })
}

/// The item of a list with one item.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next();
    first.filter(|_| items.next().is_none())
}

impl Edit {
    /// Makes the change.
    pub fn apply(&self, request: &mut Request) {
        let add = |names: &mut Names, name: &SmolStr| {
            let mut all = names.known().to_vec();
            all.push(name.clone());
            *names = Names::Known(all);
        };
        let remove = |names: &mut Names, name: &SmolStr| {
            let all = names.known().iter().filter(|known| *known != name).cloned().collect();
            *names = Names::Known(all);
        };
        match self {
            Self::Role(role) => add(&mut request.subject.roles, role),
            Self::Group(group) => add(&mut request.subject.groups, group),
            Self::NoRole(role) => remove(&mut request.subject.roles, role),
            Self::NoGroup(group) => remove(&mut request.subject.groups, group),
            Self::Id(id) => request.subject.id = Maybe::Is(id.clone()),
            Self::Method(method) => request.action.method = Maybe::Is(method.clone()),
            Self::Operation(operation) => request.action.operation = Maybe::Is(operation.clone()),
            Self::Type(kind) => request.resource.kind = Maybe::Is(kind.clone()),
            Self::App(app) => request.resource.app = Maybe::Is(app.clone()),
            Self::Claim(name, fact) => request.subject.claims.set(name, fact.clone()),
            Self::Time(moment) => request.environment.time = Maybe::Is(*moment),
            Self::Address(address) => request.environment.ip = Maybe::Is(address.clone()),
        }
    }
}
