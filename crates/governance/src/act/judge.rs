//! What policies say to a change.

use rustc_hash::FxHashSet;
use upheld_engine::comply::{Effect, Finding, FindingId, NetChange, ObjectId, Pair, Question, Trigger};
use upheld_engine::{EntryId, Scratch};
use upheld_model::{State, Timestamp};

use crate::{Action, Actor, Organisation, Outcome, Preexisting};

/// The pairs that policies look at.
#[derive(Clone, Debug)]
pub(crate) enum Looked {
    /// None: what violates now is only recorded.
    Nothing,
    /// All pairs of an object.
    Around { trigger: Trigger, object: ObjectId },
    /// These.
    Pairs { trigger: Trigger, pairs: Vec<Pair> },
}

impl Organisation {
    /// The violations that refuse a change, in order.
    pub(crate) fn blocking(&self, now: Timestamp, actor: &Actor, looked: &Looked, change: &NetChange) -> Vec<Finding> {
        let (comply, mut found) = (&*self.comply, Vec::new());
        let (trigger, object, pairs) = match looked {
            Looked::Nothing => return found,
            Looked::Around { trigger, object } => (*trigger, Some(*object), comply.violating_pairs(*object)),
            Looked::Pairs { trigger, pairs } => (*trigger, None, pairs.clone()),
        };
        let class = self.class(actor);
        let tolerated = self.settings.preexisting == Preexisting::Tolerated;
        let new: FxHashSet<FindingId> = change.begun.iter().copied().filter(|_| tolerated).collect();
        let (mut scratch, mut accepted): (_, Vec<EntryId>) = (Scratch::default(), Vec::new());
        for pair in pairs {
            let Some((first, second)) = self.profile().sides(pair.kind) else { continue };
            let turned = object.is_some_and(|object| object != pair.a);
            let (of, with) = if turned { (second, first) } else { (first, second) };
            let effect = self.profile().effect(trigger, of, with, class);
            if effect == Effect::Record {
                continue;
            }
            accepted.clear();
            if tolerated {
                let is_new = |entry: EntryId| new.contains(&FindingId { pair, entry });
                accepted.extend(comply.rules_violated(pair).into_iter().filter(|entry| !is_new(*entry)));
            }
            let question = Question { pair, now, effect, accepted: &accepted };
            comply.violated_by(&question, &mut scratch, |state, hit| {
                if state == State::Hard {
                    found.extend(comply.named(pair, hit.entry, &hit.measure, state, now));
                }
            });
        }
        found.sort();
        found
    }

    /// What is in force before an action that moves no tag and no relationship, but what counts.
    pub(crate) fn in_force_before(&self, action: &Action, now: Timestamp) -> Option<Vec<FindingId>> {
        let counts = matches!(action, Action::Revoke { .. } | Action::Advance { .. });
        counts.then(|| self.in_force(now))
    }

    /// All violations that no waiver covers.
    fn in_force(&self, now: Timestamp) -> Vec<FindingId> {
        self.not_waived(self.comply.violation_ids(), now)
    }

    fn not_waived(&self, mut ids: Vec<FindingId>, now: Timestamp) -> Vec<FindingId> {
        if !self.comply.waivers().is_empty() {
            ids.retain(|id| !self.comply.is_waived(*id, now));
        }
        ids
    }

    /// What violates now and did not before, or counts now and did not before; and what that makes of the action.
    pub(crate) fn new_findings(
        &self,
        in_force_before: Option<Vec<FindingId>>,
        change: &NetChange,
        now: Timestamp,
    ) -> (Outcome, Vec<FindingId>) {
        let new: Vec<FindingId> = match in_force_before {
            Some(before) => {
                let before: FxHashSet<FindingId> = before.into_iter().collect();
                self.in_force(now).into_iter().filter(|finding| !before.contains(finding)).collect()
            }
            None => self.not_waived(change.begun.clone(), now),
        };
        let tells = |id: &FindingId| self.comply.level_of(id.entry, now).is_told();
        let outcome = if new.iter().any(tells) { Outcome::Soft } else { Outcome::Allowed };
        (outcome, new)
    }
}
