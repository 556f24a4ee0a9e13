//! What policies say to a change.

use rustc_hash::FxHashSet;
use upheld_model::State;

use super::super::facts::{ObjectId, Pair};
use super::super::family::Question;
use super::super::finding::{Finding, FindingId};
use super::super::policy::Level;
use super::super::profile::{Effect, Trigger};
use super::super::steps::NetChange;
use super::super::{Action, Actor, Comply, Outcome, Preexisting};
use crate::ask::{EntryId, Scratch};

/// The pairs that policies look at.
#[derive(Clone, Debug)]
pub(super) enum Looked {
    /// None: what violates now is only recorded.
    Nothing,
    /// All pairs of an object.
    Around { trigger: Trigger, object: ObjectId },
    /// These.
    Pairs { trigger: Trigger, pairs: Vec<Pair> },
}

impl Comply {
    /// The violations that refuse a change, in order.
    pub(super) fn blocking(&self, actor: &Actor, looked: &Looked, change: &NetChange) -> Vec<Finding> {
        let mut found = Vec::new();
        let (trigger, object, pairs) = match looked {
            Looked::Nothing => return found,
            Looked::Around { trigger, object } => (*trigger, Some(*object), self.violating_pairs(*object)),
            Looked::Pairs { trigger, pairs } => (*trigger, None, pairs.clone()),
        };
        let class = self.class(actor);
        let tolerated = self.settings.preexisting == Preexisting::Tolerated;
        let new: FxHashSet<FindingId> =
            if tolerated { change.begun.iter().copied().collect() } else { FxHashSet::default() };
        let (mut scratch, mut accepted): (_, Vec<EntryId>) = (Scratch::default(), Vec::new());
        for pair in pairs {
            let Some((first, second)) = self.profile.pairs.get(usize::from(pair.kind.0)) else { continue };
            let turned = object.is_some_and(|object| object != pair.a);
            let (of, with) = if turned { (*second, *first) } else { (*first, *second) };
            let effect = self.profile.effect(trigger, of, with, class);
            if effect == Effect::Record {
                continue;
            }
            accepted.clear();
            if tolerated {
                let is_new = |entry: EntryId| new.contains(&FindingId { pair, entry });
                accepted.extend(self.rules_violated(pair).into_iter().filter(|entry| !is_new(*entry)));
            }
            let question = Question { pair, now: self.now, effect, accepted: &accepted };
            self.violated_by(&question, &mut scratch, |state, hit| {
                if state == State::Hard {
                    found.extend(self.named(pair, hit.entry, &hit.measure, state, self.now));
                }
            });
        }
        found.sort();
        found
    }

    /// What is in force before an action that moves no tag and no relationship, but what counts.
    pub(super) fn in_force_before(&self, action: &Action) -> Option<Vec<FindingId>> {
        let counts = matches!(action, Action::Revoke { .. } | Action::Advance { .. });
        counts.then(|| self.in_force())
    }

    /// All violations that no waiver covers.
    fn in_force(&self) -> Vec<FindingId> {
        self.not_waived(self.violation_ids())
    }

    fn not_waived(&self, mut ids: Vec<FindingId>) -> Vec<FindingId> {
        if !self.waivers().is_empty() {
            ids.retain(|id| !self.is_waived(*id, self.now));
        }
        ids
    }

    /// What violates now and did not before, or counts now and did not before; and what that makes of the action.
    pub(super) fn new_findings(
        &self,
        in_force_before: Option<Vec<FindingId>>,
        change: &NetChange,
    ) -> (Outcome, Vec<FindingId>) {
        let new: Vec<FindingId> = match in_force_before {
            Some(before) => {
                let before: FxHashSet<FindingId> = before.into_iter().collect();
                self.in_force().into_iter().filter(|finding| !before.contains(finding)).collect()
            }
            None => self.not_waived(change.begun.clone()),
        };
        let tells = |id: &FindingId| matches!(self.level_of(id.entry, self.now), Level::Enforce | Level::Warn);
        let outcome = if new.iter().any(tells) { Outcome::Soft } else { Outcome::Allowed };
        (outcome, new)
    }
}
