//! Requests that an unknown fact opens: permitted without it, and denied with one of its values.
//!
//! Only algorithms that pass over unknown policies can do that. Each finding is shown by a request that was asked both ways.

use smol_str::{SmolStr, format_smolstr};

use super::cells::{Bounds, Suggested};
use super::family::{Decide, Outcome, Strictness};
use super::request::{Fact, Facts, Maybe, Names, Request};
use super::rule::{Rule, Set, Status};
use super::value::{Algorithm, Effect, Unknowns};
use crate::ask::{EntryId, Scratch, ask};
use crate::witness::Silent;

/// A policy whose denial is passed over where a fact is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// The policy that denies.
    pub policy: EntryId,
    /// The set that permits.
    pub set: SmolStr,
    /// The fact, in the words of a request: `claim risk`.
    pub fact: SmolStr,
    /// The request without it.
    pub request: Request,
}

/// So many policies are looked at, each with so many requests that it suggests.
const MOST_POLICIES: usize = 256;
const BOUNDS: Bounds = Bounds { states: 1 << 12, points: 16, cells: 64 };

/// What unknown facts open, a finding for each policy.
pub fn openings(decide: &Decide) -> Vec<Opening> {
    if decide.strictness() == Strictness::Compat {
        return Vec::new();
    }
    let entries = (0..decide.rules().len()).map(EntryId::new);
    let denies = entries.filter(|entry| {
        decide.rule(*entry).is_some_and(|rule| rule.effect == Effect::Deny && rule.status == Status::On)
    });
    let passed_over = denies.filter_map(|entry| Some((entry, passing_set(decide, entry)?)));
    passed_over.take(MOST_POLICIES).filter_map(|(entry, set)| opening(decide, entry, set)).collect()
}

/// The innermost set around a policy that passes over it where it is unknown.
fn passing_set(decide: &Decide, entry: EntryId) -> Option<&Set> {
    let mut around = decide.set_number(entry);
    while let Some(number) = around {
        let set = decide.set(number)?;
        let passes = match set.algorithm {
            Algorithm::PermitUnlessDeny => true,
            Algorithm::FirstApplicable => decide.unknowns() == Unknowns::Xacml && number > 0,
            _ => false,
        };
        if passes {
            return Some(set);
        }
        around = decide.parent_of(number);
    }
    None
}

fn opening(decide: &Decide, policy: EntryId, set: &Set) -> Option<Opening> {
    let rule: Rule = decide.rule(policy)?.clone();
    let root = decide.set(0)?;
    let alone = Set { target: root.target.clone(), members: vec![rule.into()], ..root.clone() };
    let alone = Decide::new(alone, decide.strictness()).reading_paths(decide.paths());
    let suggested = Suggested::of(&alone, BOUNDS);
    let mut scratch = Scratch::default();
    let mut outcome = |request: &Request| ask(decide, &request, &mut scratch, &mut Silent).outcome;
    for (_, request) in suggested.cells() {
        if outcome(&request) != Outcome::Deny {
            continue;
        }
        for (fact, request) in omissions(&request) {
            if outcome(&request) == Outcome::Permit {
                return Some(Opening { policy, set: set.name.clone(), fact, request });
            }
        }
    }
    None
}

/// The request with one fact unknown, for each fact that it has.
fn omissions(request: &Request) -> Vec<(SmolStr, Request)> {
    let mut all = Vec::new();
    let mut without = |name: SmolStr, omit: &dyn Fn(&mut Request)| {
        let mut open = request.clone();
        omit(&mut open);
        if open != *request {
            all.push((name, open));
        }
    };
    let Request { subject, action, resource, environment } = request;
    for (name, _) in &subject.claims {
        without(format_smolstr!("claim {name}"), &|open| leave_open(&mut open.subject.claims, name));
    }
    for (name, _) in &resource.facts {
        without(format_smolstr!("resource {name}"), &|open| leave_open(&mut open.resource.facts, name));
    }
    for (name, _) in &action.facts {
        without(format_smolstr!("action {name}"), &|open| leave_open(&mut open.action.facts, name));
    }
    for (name, _) in &environment.facts {
        without(format_smolstr!("environment {name}"), &|open| leave_open(&mut open.environment.facts, name));
    }
    without("address".into(), &|open| open.environment.ip = Maybe::Unknown);
    without("roles".into(), &|open| open.subject.roles = Names::Unknown);
    without("groups".into(), &|open| open.subject.groups = Names::Unknown);
    without("subject id".into(), &|open| open.subject.id = Maybe::Unknown);
    without("subject type".into(), &|open| open.subject.kind = Maybe::Unknown);
    without("app".into(), &|open| open.resource.app = Maybe::Unknown);
    without("resource type".into(), &|open| open.resource.kind = Maybe::Unknown);
    without("resource id".into(), &|open| open.resource.id = Maybe::Unknown);
    without("operation".into(), &|open| open.action.operation = Maybe::Unknown);
    without("method".into(), &|open| open.action.method = Maybe::Unknown);
    all
}

fn leave_open(facts: &mut Facts, name: &str) {
    facts.set(name, Fact::Unknown);
}
