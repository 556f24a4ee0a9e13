//! Which changes of policies tests notice: each policy with one thing otherwise, and the same cases asked again.

mod suggest;
#[cfg(test)]
mod tests;

use upheld_dialects::access::arrivals::Arrived;
use upheld_dialects::access::decider::CompleteRequest;
use upheld_dialects::access::decider::deciders;
use upheld_dialects::access::policy_set::written_in;
use upheld_engine::decide::{Decide, Mutant, MutantOf, Request, mutants};
use upheld_engine::{KindId, Snapshot};
use upheld_model::NodeRef;

use self::suggest::suggested;
use super::coverage::{called, written};
use super::read::{Asks, Case};
use super::{Runner, decider};
use crate::progress::Progress;
use crate::report::{At, MutationReport, Phrase, Survivor, TestState, mutated};
use crate::world::World;

/// For so many of the changes that nobody notices a test is looked for, until one is found.
const TRIED: usize = 8;

/// Changes policies, and asks cases that came out as expected again.
pub(super) fn mutate(world: &World<'_>, passed: &[&Case], progress: &dyn Progress) -> MutationReport {
    let snapshot = world.snapshot();
    let asking: Vec<Asking<'_>> = passed.iter().filter_map(|case| Asking::of(world, case)).collect();
    for (_, decide) in deciders(snapshot) {
        progress.expect(u64::try_from(mutants(decide).count()).unwrap_or(u64::MAX));
    }
    let (mut noticed, mut unnoticed) = (0, Vec::new());
    for (kind, decide) in deciders(snapshot) {
        let own: Vec<&Asking<'_>> = asking.iter().filter(|asking| asking.kind == kind).collect();
        for mutant in mutants(decide) {
            progress.done(1);
            let change = Change { kind, decide, mutant };
            match change.applied(snapshot) {
                Some(changed) if change.is_noticed(&changed, &own, world) => noticed += 1,
                Some(_) => unnoticed.push(change),
                None => {}
            }
        }
    }
    // As people read: policy by policy, from the beginning of each file.
    unnoticed.sort_by_cached_key(|change| change.owner(snapshot));
    let suggested = unnoticed.iter().take(TRIED).find_map(|change| suggested(world, change));
    let survivors = unnoticed.iter().map(|change| change.survivor(snapshot)).collect();
    MutationReport::new(noticed, asking.len(), survivors, suggested)
}

/// A case that asks policies of a kind.
struct Asking<'c> {
    case: &'c Case,
    kind: KindId,
    /// With all that is known of it; nothing if it is about all requests of a region.
    request: Option<CompleteRequest>,
}

impl<'c> Asking<'c> {
    fn of(world: &World<'_>, case: &'c Case) -> Option<Self> {
        let kind = match &case.asks {
            Asks::Decision { kind, .. } | Asks::Arrival { kind, .. } => kind,
            Asks::Invariant(invariant) if invariant.is_about_requests() => &invariant.kind,
            Asks::Explanation(_) | Asks::Related { .. } | Asks::Invariant(_) => return None,
        };
        let decider = decider(world.snapshot(), world.options(), kind.as_deref()).ok()?;
        if matches!(case.asks, Asks::Invariant(_)) {
            return Some(Self { case, kind: decider.kind, request: None });
        }
        match case.arrived(decider)? {
            Arrived::Asks(request) => Some(Self { case, kind: decider.kind, request: Some(*request) }),
            Arrived::Told(..) => None,
        }
    }
}

/// One change of policies.
struct Change<'s> {
    kind: KindId,
    /// The policies as they are.
    decide: &'s Decide,
    mutant: Mutant,
}

impl Change<'_> {
    fn applied(&self, snapshot: &Snapshot) -> Option<Decide> {
        self.mutant.applied(self.decide, written_in(snapshot.files()))
    }

    /// Whether a case comes out otherwise, by the code that runs all tests.
    fn is_noticed(&self, changed: &Decide, asking: &[&Asking<'_>], world: &World<'_>) -> bool {
        let mut runner = Runner { world, before: None, instead: Some((self.kind, changed)), counter: None };
        // Most cases are about other policies, and need not be asked.
        let touches = |request: &Request| self.mutant.touches(self.decide, request);
        let concerns =
            |asking: &Asking<'_>| asking.case.looks_closely() || asking.request.as_deref().is_none_or(touches);
        asking.iter().any(|asking| concerns(asking) && runner.case(asking.case).state == TestState::Failed)
    }

    /// The place of the policy or set.
    fn owner(&self, snapshot: &Snapshot) -> Option<(String, usize, usize)> {
        let place = snapshot.files().locate(self.written()?)?;
        Some((place.file.to_owned(), place.line, place.column))
    }

    fn written(&self) -> Option<NodeRef> {
        match self.mutant.of {
            MutantOf::Policy(entry) => self.decide.rule(entry).map(|rule| rule.at),
            MutantOf::Set(number) => self.decide.sets().nth(number).and_then(|set| set.at),
        }
    }

    fn name(&self) -> String {
        let name = match self.mutant.of {
            MutantOf::Policy(entry) => self.decide.rule(entry).map(|rule| rule.name.to_string()),
            MutantOf::Set(number) => self.decide.sets().nth(number).map(|set| set.name.to_string()),
        };
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| "(default)".to_owned())
    }

    fn survivor(&self, snapshot: &Snapshot) -> Survivor {
        let kind = snapshot.kind(self.kind).map_or("", |kind| snapshot.text(kind.governs));
        let clause = match (self.mutant.of, self.mutant.place) {
            (MutantOf::Policy(entry), Some((clause, index))) => {
                self.decide.rule(entry).and_then(|rule| written(snapshot, self.kind, rule, clause, index))
            }
            _ => None,
        };
        Survivor {
            kind: kind.to_owned(),
            policy: self.name(),
            change: self.sentence(snapshot),
            at: clause.or_else(|| self.written()).and_then(|at| At::of(snapshot.files(), at)),
        }
    }

    fn sentence(&self, snapshot: &Snapshot) -> Phrase {
        mutated(&self.mutant.mutation, |clause| called(snapshot, self.kind, clause).to_owned()).into()
    }
}
