//! The smallest changes that would turn a decision round, each tried out before it is reported.

mod edit;
mod reach;
mod search;

use smol_str::SmolStr;

pub use self::edit::Edit;
use super::cells::{Field, FieldRef};
use super::family::{By, Decide, Decided, Measure, Outcome};
use super::request::Request;
use super::rule::{Matcher, Rule, Test};
use super::truth::Truth;
use super::value::Effect;
use crate::ask::{EntryId, Hit};

/// What would turn a decision round.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// These policies were not there.
    Without(Vec<EntryId>),
    /// The request were like this; the policy decides then and does not apply now, if it is about one.
    Request(Vec<Edit>, Option<EntryId>),
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

impl Decide {
    /// What policies call a fact where whose fact it is says too little.
    pub fn called(&self, field: &Field) -> Option<SmolStr> {
        let tests = |rule: &Rule| {
            let clauses = rule.target.clauses().into_iter();
            clauses.flat_map(|(_, alternatives)| alternatives).find_map(|matcher| called(matcher, field))
        };
        self.rules().iter().find_map(|rule| tests(rule))
    }
}

fn called(matcher: &Matcher, field: &Field) -> Option<SmolStr> {
    matcher.tests.iter().find_map(|test| match test {
        Test::Fact(test) if FieldRef::of_fact(test).is(field) => test.called.clone(),
        Test::Not(inner) => called(inner, field),
        _ => None,
    })
}

/// Policies that may have to go.
const MOST_REMOVED: usize = 3;

/// Changes that would permit what is not permitted, or deny what is; the smallest first.
pub fn changes(decide: &Decide, request: &Request, decided: &Decided, hits: &[Hit<Measure>]) -> Vec<Change> {
    let wanted = if decided.outcome == Outcome::Permit { Outcome::Deny } else { Outcome::Permit };
    let found = search::smallest(decide, request, hits, wanted).into_iter();
    let mut changes: Vec<Change> = found.map(|(edits, entry)| Change::Request(edits, entry)).collect();
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
    // Where the request itself is at fault, policies may go and nothing changes.
    if decide.failing(request).is_some() {
        return None;
    }
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
            By::Policy(entry) => Some(entry),
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
