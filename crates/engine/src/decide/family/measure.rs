//! How policies fit a request, and how many steps it takes to know.

use upheld_model::{Code, Reason};

use super::{Conditions, Decide, Head};
use crate::ask::{EntryId, Fit, Hit, Place};
use crate::decide::path;
use crate::decide::request::{Fact, Facts, NormalizedRequest, Request};
use crate::decide::rule::{Rule, Status};
use crate::decide::shortfall::Shortfall;
use crate::decide::truth::Truth;
use crate::witness::Witness;
use crate::work;

/// How a policy fits a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Whether it is about the request.
    pub target: Truth,
    /// Whether its conditions hold.
    pub conditions: Truth,
    /// How many steps it took to know that.
    pub steps: usize,
}

impl Measure {
    /// Whether it applies.
    pub fn applies(self) -> Truth {
        self.target.and(self.conditions)
    }
}

impl Decide {
    /// Holds one policy against a request.
    pub(super) fn hold<W: Witness<Measure>>(
        &self,
        entry: EntryId,
        asked: NormalizedRequest<'_>,
        witness: &mut W,
        sit: &mut impl FnMut(Place, Fit<Measure>),
    ) {
        let Some(rule) = self.rule(entry) else { return };
        if rule.status == Status::Off {
            witness.off(entry, || Reason::new(Code::DecideOff, &[]));
            return;
        }
        let target = rule.target.covers(asked);
        if target == Truth::False {
            let distance = Shortfall::of(rule, asked).parts;
            witness.miss(entry, distance, || Reason::new(Shortfall::code(rule, asked), &[]));
            return;
        }
        let measure = measured(rule, target, asked);
        let fit = if measure.applies() == Truth::Error { Fit::Unknown(measure) } else { Fit::Yes(measure) };
        sit(Place::default(), fit);
    }

    /// Holds the conditions of policies against a request, as long as there are steps left.
    pub(super) fn hold_conditions(&self, asked: NormalizedRequest<'_>, hits: &mut [Hit<Measure>]) {
        let mut left = self.load.most_steps();
        for hit in hits {
            let has_conditions = |head: &Head| head.conditions == Conditions::Some;
            let Some(rule) = self.head(hit.entry).filter(|head| has_conditions(head)).and(self.rule(hit.entry)) else {
                continue;
            };
            // Where a policy has taken more than there was, nothing is decided, and the others are not asked.
            let measure = measured(rule, hit.measure.target, asked);
            *hit = Hit { measure, certain: measure.applies() != Truth::Error, ..*hit };
            work::steps(measure.steps as u64);
            match left.checked_sub(measure.steps) {
                Some(still) => left = still,
                None => break,
            }
        }
    }

    /// Whether the conditions that were held against a request have taken more steps than there are for all of them.
    pub fn takes_too_much(&self, hits: &[Hit<Measure>]) -> bool {
        hits.iter().map(|hit| hit.measure.steps).sum::<usize>() > self.load.most_steps()
    }

    /// About how many steps a decision took, for those who make many: its facts, its path, its conditions, and a few for each policy
    /// that matched.
    pub fn steps(&self, request: &Request, hits: &[Hit<Measure>]) -> usize {
        const FEW: usize = 16;
        let path = request.resource.path.known().map_or(0, |path| path::steps(path));
        let Request { subject, action, resource, environment } = request;
        let headers = match resource.facts.get("headers") {
            Some(Fact::Map(headers)) => headers.len(),
            _ => 0,
        };
        let facts = [&subject.claims, &action.facts, &resource.facts, &environment.facts];
        let names = subject.roles.known().len() + subject.groups.known().len();
        let read = FEW + path + headers + names + facts.into_iter().map(Facts::len).sum::<usize>();
        hits.iter().fold(read, |steps, hit| steps.saturating_add(FEW + hit.measure.steps))
    }
}

/// Whether the conditions of a policy hold that is about a request, or may be.
pub(super) fn measured(rule: &Rule, target: Truth, asked: NormalizedRequest<'_>) -> Measure {
    let known = Measure { target, conditions: Truth::True, steps: 0 };
    rule.conditions.iter().fold(known, |known, condition| match known.conditions {
        Truth::False => known,
        conditions => {
            let (holds, steps) = condition.measured(asked);
            Measure { conditions: conditions.and(holds), steps: known.steps + steps, ..known }
        }
    })
}
