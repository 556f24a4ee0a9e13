//! What became of each policy that matched.

use upheld_model::{Code, Param, Reason, State};

use super::{By, Decide, DecideScratch, Decided, Measure};
use crate::ask::{EntryId, Hit};
use crate::decide::path::Readings;
use crate::decide::request::Request;
use crate::decide::shortfall::Shortfall;
use crate::decide::truth::Truth;
use crate::decide::value::{Algorithm, Combined, Value};
use crate::witness::Witness;

impl Decide {
    /// What became of each hit, in the order of evaluation.
    pub(super) fn tell<W: Witness<Measure>>(
        &self,
        request: &Request,
        decided: &Decided,
        scratch: &DecideScratch,
        hits: &mut [Hit<Measure>],
        witness: &mut W,
    ) {
        hits.sort_unstable_by_key(|hit| hit.entry);
        let decider = match decided.by {
            By::Policy(entry) => Some(entry),
            By::Default | By::Algorithm | By::Nobody => None,
        };
        let mut room = Readings::default();
        let asked = self.asked(request, &mut room);
        let distance = |entry: EntryId| self.rule(entry).map_or(1, |rule| Shortfall::of(rule, asked).parts);
        let number = |entry: EntryId| Param::Number(i64::try_from(entry.index()).unwrap_or(i64::MAX));
        for hit in &*hits {
            let Some(head) = self.head(hit.entry) else { continue };
            let set = self.sets.get(head.set as usize);
            if hit.measure.applies() != Truth::False && self.is_outside(head.set, scratch) {
                // The set is one more part that does not fit.
                witness.miss(hit.entry, 1 + distance(hit.entry), || Reason::new(Code::SkipSet, &[]));
                continue;
            }
            let of_set = scratch.said.get(head.set as usize).copied().unwrap_or(Combined::NOTHING);
            let only_one = set.is_some_and(|set| set.algorithm == Algorithm::OnlyOneApplicable);
            let (state, code) = match hit.measure.applies() {
                // Whoever is about the request counts there, whatever its conditions say.
                Truth::False if only_one => (State::Kept, Code::DecideClash),
                Truth::False => {
                    witness.miss(hit.entry, distance(hit.entry), || Reason::new(Code::SkipCondition, &[]));
                    continue;
                }
                Truth::Error => (State::Unknown, Code::UnknownFact),
                Truth::True if decider == Some(hit.entry) => {
                    let rival = |other: &Hit<Measure>| {
                        let effect = self.head(other.entry).map(|other| other.effect);
                        other.measure.applies() != Truth::False && effect != Some(head.effect)
                    };
                    let code = if hits.iter().any(rival) { self.won_by(hit.entry) } else { Code::DecideUnopposed };
                    (State::Won, code)
                }
                Truth::True if only_one || matches!(of_set.value, Value::Unknown(_)) => {
                    (State::Kept, Code::DecideClash)
                }
                // It makes its own set say what it says.
                Truth::True if of_set.by == Some(hit.entry) => (State::Kept, Code::DecideInSet),
                Truth::True => self.lost(hit.entry, of_set.by),
            };
            let by = decider.or(of_set.by);
            let params: &[Param] = &by.map_or([Param::Nothing], |by| [number(by)]);
            witness.state(hit, state, || Reason::new(code, params));
        }
    }

    /// Whether a set, or one around it, is about something else.
    fn is_outside(&self, set: u32, scratch: &DecideScratch) -> bool {
        let mut around = Some(set);
        while let Some(number) = around {
            if scratch.targets.get(number as usize) == Some(&Truth::False) {
                return true;
            }
            around = self.nodes.get(number as usize).and_then(|node| node.parent);
        }
        false
    }

    fn lost(&self, entry: EntryId, to: Option<EntryId>) -> (State, Code) {
        let effect = |entry: EntryId| self.head(entry).map(|head| head.effect);
        let algorithm = self.set_of(entry).map_or(self.algorithm(), |set| set.algorithm);
        let code = if to.is_some_and(|to| effect(to) == effect(entry)) {
            Code::DecideSame
        } else if algorithm == Algorithm::FirstApplicable {
            Code::DecideNotReached
        } else {
            Code::DecideOutweighed
        };
        (State::Lost, code)
    }

    fn won_by(&self, decider: EntryId) -> Code {
        let algorithm = self.set_of(decider).map_or(self.algorithm(), |set| set.algorithm);
        match algorithm {
            Algorithm::DenyOverrides | Algorithm::OrderedDenyOverrides => Code::DecideDenyOverrides,
            Algorithm::PermitOverrides | Algorithm::OrderedPermitOverrides => Code::DecidePermitOverrides,
            Algorithm::FirstApplicable => Code::DecideFirstApplicable,
            Algorithm::OnlyOneApplicable => Code::DecideOnlyOne,
            Algorithm::DenyUnlessPermit => Code::DecideUnlessPermit,
            Algorithm::PermitUnlessDeny => Code::DecideUnlessDeny,
            Algorithm::Unanimous => Code::DecideUnanimous,
            Algorithm::PriorityDenyOverrides => Code::DecidePriority,
        }
    }
}
