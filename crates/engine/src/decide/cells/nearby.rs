//! Values that some policies tell apart, for each part of one request: what the request could be changed to.

use crate::decide::path::Readings;
use std::collections::BTreeMap;

use smol_str::{SmolStr, ToSmolStr, format_smolstr};

use super::dimension::{Field, Given};
use super::values::{Part, fresh};
use super::{Atom, Atoms, Bounds, moments};
use crate::decide::condition::{AddressLists, Condition};
use crate::decide::fact_test::{FactTest, Operator};
use crate::decide::family::Decide;
use crate::decide::request::{Fact, Maybe, NormalizedRequest, Request};
use crate::decide::rule::{OWNER_FIELDS, Rule, Set, Test};

/// Enough for policies that are near to a request; their number is bounded, too.
const BOUNDS: Bounds = Bounds { states: 1 << 12, points: 1 << 8, cells: 0 };
/// Items of which all combinations are tried.
const MOST_COMBINED: usize = 4;

/// The values of each part that these policies and sets tell apart. Of roles and groups there are single names, to be added.
pub(in crate::decide) fn nearby<'d>(
    decide: &'d Decide,
    rules: &[&'d Rule],
    sets: &[&'d Set],
    request: &Request,
) -> BTreeMap<Field, Vec<Given>> {
    let atoms = Atoms::among(decide, rules.iter().copied(), sets.iter().copied());
    let mut parts: BTreeMap<Field, Vec<u32>> = BTreeMap::new();
    let mut more: Vec<(Field, Given)> = Vec::new();
    let mut buffer = Readings::default();
    let asked = decide.asked(request, &mut buffer);
    for (number, atom) in (0..).zip(&atoms.all) {
        match atom {
            Atom::Test(Test::Fact(test), _) => parts.entry(Field::read_in(test, request)).or_default().push(number),
            Atom::Test(Test::OwnedBySubject, _) => more.extend(owning(request)),
            Atom::Condition(Condition::Expression(expression)) => more.extend(expression.suggestions(asked)),
            atom => parts.entry(atom.reads().unwrap_or(Field::Path)).or_default().push(number),
        }
    }
    let mut found: BTreeMap<Field, Vec<Given>> = BTreeMap::new();
    for (field, own) in &parts {
        let part = Part { atoms: &atoms, field, own, bounds: BOUNDS };
        let values = match field {
            Field::Roles | Field::Groups => part.names(),
            _ => part.values_with(part.preferred(asked)),
        };
        found.insert(field.clone(), values);
    }
    for (field, given) in more {
        let values = found.entry(field).or_default();
        if !values.contains(&given) {
            values.push(given);
        }
    }
    for (field, values) in &mut found {
        values.retain(|given| is_sound(field, given, request));
    }
    found
}

/// No request is better for being broken: stand-ins for what cannot be read are left out, and so are paths from nowhere.
fn is_sound(field: &Field, given: &Given, request: &Request) -> bool {
    let Given::Text(text) = given else { return true };
    let is_rooted = |path: &SmolStr| path.starts_with('/');
    match field {
        Field::Path => {
            text != "/%"
                && !text.is_empty()
                && (is_rooted(text) || !request.resource.path.known().is_some_and(is_rooted))
        }
        Field::Address => text != "?",
        _ => true,
    }
}

/// Who would own the resource, and who would not.
fn owning(request: &Request) -> Vec<(Field, Given)> {
    let facts = &request.resource.facts;
    let mut names: Vec<&'static str> = OWNER_FIELDS.into_iter().filter(|name| facts.get(name).is_some()).collect();
    let owners = names.iter().filter_map(|name| match facts.get(name) {
        Some(Fact::Text(owner)) => Some(owner.clone()),
        _ => None,
    });
    let mut ids: Vec<SmolStr> = owners.collect();
    let mut all: Vec<(Field, Given)> = ids.iter().map(|owner| (Field::SubjectId, Given::Text(owner.clone()))).collect();
    ids.extend(request.subject.id.known().cloned());
    if names.is_empty() {
        names.extend(OWNER_FIELDS.first());
    }
    for field in Field::owners() {
        if matches!(&field, Field::Fact(_, path) if path.iter().any(|name| names.contains(&name.as_str()))) {
            all.push((field.clone(), Given::OwnId));
            all.push((field, Given::Text(fresh(&ids))));
        }
    }
    all.push((Field::SubjectId, Given::Text(fresh(&ids))));
    all
}

impl Part<'_, '_> {
    /// Values that people would rather hear of than of others like them.
    fn preferred(&self, asked: NormalizedRequest<'_>) -> Vec<Given> {
        match self.field {
            Field::Method => {
                let common = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
                common.into_iter().map(|method| Given::Text(SmolStr::new_static(method))).collect()
            }
            Field::Time => match asked.request.environment.time {
                Maybe::Is(now) => moments::after(now, self.conditions()).into_iter().map(Given::Moment).collect(),
                Maybe::Absent | Maybe::Unknown => Vec::new(),
            },
            Field::Address => {
                // Addresses for examples stand for all that nobody names.
                let others = ["198.51.100.1", "203.0.113.1"].map(SmolStr::new_static);
                self.conditions().flat_map(hosts).chain(others).map(Given::Text).collect()
            }
            Field::Fact(..) => self.joined(asked).into_iter().map(Given::Fact).collect(),
            _ => Vec::new(),
        }
    }

    /// Lists and texts that pass several tests at once, and the list of the request with one item more or less.
    fn joined(&self, asked: NormalizedRequest<'_>) -> Vec<Fact> {
        let tests: Vec<&FactTest> = self
            .tests()
            .filter_map(|test| match test {
                Test::Fact(test) => Some(test),
                _ => None,
            })
            .collect();
        let (mut items, mut begins, mut ends): (Vec<Fact>, Vec<SmolStr>, Vec<SmolStr>) = Default::default();
        for test in &tests {
            match &test.operator {
                Operator::Contains(item) => items.push(item.clone()),
                Operator::ContainsAny(all) => items.extend(all.iter().cloned()),
                Operator::StartsWith(text) => begins.push(text.clone()),
                Operator::EndsWith(text) => ends.push(text.clone()),
                _ => {}
            }
        }
        let given: &[Fact] = match tests.first().map(|test| test.find(asked)) {
            Some(crate::decide::View::Fact(Fact::List(given))) => given,
            _ => &[],
        };
        // Of a truth there is only one other.
        let truths = tests.iter().flat_map(|test| super::values::named_facts(&test.operator));
        let mut found: Vec<Fact> = truths
            .filter_map(|fact| match fact {
                Fact::Bool(truth) => Some([truth, !truth].map(Fact::Bool)),
                _ => None,
            })
            .flatten()
            .collect();
        if !given.is_empty() {
            for item in &items {
                let without = given.iter().filter(|known| *known != item).cloned();
                found.push(Fact::List(without.clone().chain([item.clone()]).collect()));
                found.push(Fact::List(without.collect()));
            }
        }
        items.truncate(MOST_COMBINED);
        for combination in 1..1_usize << items.len() {
            let chosen = items.iter().enumerate().filter(|(place, _)| combination >> place & 1 == 1);
            found.push(Fact::List(chosen.map(|(_, item)| item.clone()).collect()));
        }
        // A text may have to be another one than those that are named, and still begin or end like them.
        let within = items.iter().filter_map(super::values::text).cloned();
        let within: Vec<SmolStr> = std::iter::once(fresh(&[])).chain(within).collect();
        let or_none = |texts: &[SmolStr]| [&[SmolStr::default()], texts].concat();
        for begin in or_none(&begins).iter().take(MOST_COMBINED) {
            for inner in or_none(&within).iter().take(MOST_COMBINED) {
                let joined = or_none(&ends).into_iter().take(MOST_COMBINED);
                found.extend(joined.map(|end| Fact::Text(format_smolstr!("{begin}{inner}{end}"))));
            }
        }
        found.retain(|fact| *fact != Fact::Text(SmolStr::default()));
        found
    }
}

/// An address of each network that may: not the one that stands for the network itself.
fn hosts(condition: &Condition) -> Vec<SmolStr> {
    match condition {
        Condition::Address(AddressLists::Networks { allow, .. }) => {
            let first = |network: &ipnet::IpNet| Some(network.hosts().next()?.to_smolstr());
            allow.iter().flatten().filter_map(first).collect()
        }
        _ => Vec::new(),
    }
}
