//! Policies on two sides, and what is to be found out about them by asking one request after the other.

use proptest::prelude::*;

use crate::decide::cells::{Bounds as CellBounds, Suggested};
use crate::decide::reference::changing::{Changing, Step};
use crate::decide::shifts::{Certainty, Decision, Shift};
use crate::decide::tests::world::{requests, set, sets, step, unknowns};
use crate::decide::*;
use crate::{Scratch, Silent, ask};

/// Patterns of real paths begin with a slash.
pub(super) fn rooted(target: Target) -> Target {
    let pattern = |pattern: PathPattern| match &pattern {
        PathPattern::Glob(glob) if !glob.text().starts_with(['/', '*']) => {
            PathPattern::Glob(Glob::parse(&format!("/{}", glob.text())).unwrap())
        }
        _ => pattern,
    };
    let test = |test: Test| match test {
        Test::Path(patterns) => Test::Path(patterns.into_iter().map(pattern).collect()),
        other => other,
    };
    let all = |matchers: Vec<Matcher>| -> Vec<Matcher> {
        matchers.into_iter().map(|one| Matcher { tests: one.tests.into_iter().map(test).collect() }).collect()
    };
    Target { resources: all(target.resources), ..target }
}

fn rooted_member(member: Member) -> Member {
    match member {
        Member::Rule(rule) => {
            let rule = (*rule).clone();
            Rule { target: rooted(rule.target.clone()), ..rule }.into()
        }
        Member::Set(inner) => rooted_set(*inner).into(),
    }
}

pub(super) fn rooted_set(set: Set) -> Set {
    let members = set.members.into_iter().map(rooted_member).collect();
    Set { members, target: rooted(set.target.clone()), ..set }
}

fn rooted_step(step: Step) -> Step {
    match step {
        Step::Insert(place, member) => Step::Insert(place, rooted_member(member)),
        Step::Replace(place, rule) => {
            let target = rooted(rule.target.clone());
            Step::Replace(place, Rule { target, ..rule })
        }
        other => other,
    }
}

/// A set of policies, and the same after some steps.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    pub(super) sets: [Set; 2],
    pub(super) before: Decide,
    pub(super) after: Decide,
}

pub(super) fn sides(most: usize) -> impl Strategy<Value = Sides> {
    (sets(most), prop::collection::vec(step(), 1..4), unknowns()).prop_map(|(set, steps, unknowns)| {
        let mut changing = Changing::new(rooted_set(set), Strictness::Strict, unknowns);
        let (own, before) = (changing.set(), changing.decide().clone());
        changing.change(steps.into_iter().map(rooted_step).collect());
        let (other, after) = (changing.set(), changing.decide().clone());
        Sides { sets: [own, other], before, after }
    })
}

/// Requests of which nothing is unknown and whose path everybody reads alike.
pub(super) fn plain_requests(count: usize) -> impl Strategy<Value = Vec<Request>> {
    let rooted = |request: Request| {
        let path = request.resource.path.clone().map(|path| format!("/{}", path.trim_start_matches('/')).into());
        Request { resource: Resource { path, ..request.resource }, ..request }
    };
    prop::collection::vec(requests(0).prop_map(rooted), count)
}

pub(super) fn is_plain(decide: &Decide, request: &Request) -> bool {
    let mut room = Readings::default();
    matches!(decide.asked(request, &mut room).path, Path::Is(_) | Path::Absent)
}

pub(super) fn decision(decide: &Decide, request: &Request) -> Decision {
    let decided = ask(decide, &request, &mut Scratch::default(), &mut Silent);
    Decision { outcome: decided.outcome, by: decided.by }
}

/// Requests that the policies of both sides tell apart, so many at most; whether these are all sorts that there are.
pub(super) fn grid(sets: &[Set], most: usize) -> (Vec<Request>, bool) {
    let all = set(Algorithm::DenyOverrides, sets.iter().map(|one| one.clone().into()).collect());
    let decide = Decide::new(all, Strictness::Strict);
    let suggested = Suggested::of(&decide, CellBounds { states: 20_000, points: 64, cells: most });
    let requests = suggested.cells().map(|(_, request)| request).collect();
    (requests, suggested.gaps().is_empty())
}

/// Both sides have answered an example as it is said.
pub(super) fn is_confirmed(before: &Decide, after: &Decide, shift: &Shift) -> bool {
    match &shift.certainty {
        Certainty::Sure => {
            decision(before, &shift.example) == shift.before && decision(after, &shift.example) == shift.after
        }
        Certainty::May(names) => !names.is_empty(),
    }
}
