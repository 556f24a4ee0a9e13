//! What policies say to a change.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::facts::{Made, ObjectId, Slot};
use super::super::listing::bits;
use super::super::policy::Level;
use super::super::profile::{Deed, Effect};
use super::super::records::Identity;
use super::super::{Action, Actor, Comply, Outcome, Preexisting, ViolationId};

/// The pairs that policies look at.
#[derive(Clone, Debug)]
pub(super) enum Looked {
    /// None: what violates now is only recorded.
    Nothing,
    /// All pairs of an object.
    Around { deed: Deed, object: ObjectId },
    /// These.
    Pairs { deed: Deed, made: Vec<Made> },
}

impl Comply {
    /// The violations that refuse a change.
    pub(super) fn blocking(&self, actor: &Actor, looked: &Looked, since: usize) -> Vec<ViolationId> {
        let (deed, object, slots) = match looked {
            Looked::Nothing => return Vec::new(),
            Looked::Around { deed, object } => {
                (*deed, Some(*object), self.object(*object).map_or_else(Vec::new, |object| object.pairs.clone()))
            }
            Looked::Pairs { deed, made } => (*deed, None, made.iter().filter_map(|made| self.slot_of(*made)).collect()),
        };
        let class = self.class(actor);
        let before = self.before(since);
        let mut found = Vec::new();
        for slot in slots {
            let Some(joint) = self.joints.get(usize::from(slot.joint)) else { continue };
            if joint.planes.iter().all(|plane| plane.words.get(slot.place as usize).is_none_or(|word| *word == 0)) {
                continue;
            }
            let Some(pair) = joint.pairs.get(slot.place as usize) else { continue };
            let (first, second) = match self.profile.pairs.get(usize::from(slot.joint)) {
                Some((a, b)) => (*a, *b),
                None => continue,
            };
            let turned = object.is_some_and(|object| object != pair.a);
            let (of, with) = if turned { (second, first) } else { (first, second) };
            let effect = self.profile.effect(deed, of, with, class);
            if effect == Effect::Block {
                self.blocking_in(slot, before.as_ref(), &mut found);
            }
        }
        found
    }

    /// What touched pairs violated before, where that excuses them.
    fn before(&self, since: usize) -> Option<FxHashMap<(Slot, usize), u64>> {
        let tolerated = self.settings.preexisting == Preexisting::Tolerated;
        // The first touch knows what was before all of them, so it is written last.
        let touched = self.touched.get(since..).unwrap_or(&[]).iter().rev();
        tolerated.then(|| touched.map(|touch| ((touch.slot, touch.plane), touch.before)).collect())
    }

    fn blocking_in(&self, slot: Slot, before: Option<&FxHashMap<(Slot, usize), u64>>, found: &mut Vec<ViolationId>) {
        let planes = self.joints.get(usize::from(slot.joint)).map_or(0, |joint| joint.planes.len());
        for plane in 0..planes {
            let mut word = self.word(slot, plane);
            if let Some(before) = before {
                // Where nothing was touched, all of it was there before.
                word &= !before.get(&(slot, plane)).copied().unwrap_or(word);
            }
            for bit in bits(word) {
                let finding = ViolationId { slot, plane, bit };
                if self.level_of(finding) == Level::Enforce && !self.is_waived(finding) {
                    found.push(finding);
                }
            }
        }
    }

    /// What is in force before an action that moves no tag and no relationship, but what counts.
    pub(super) fn in_force_before(&self, action: &Action) -> Option<Vec<ViolationId>> {
        let counts = matches!(action, Action::Revoke { .. } | Action::Advance { .. });
        counts.then(|| self.in_force())
    }

    /// All findings that no waiver covers.
    fn in_force(&self) -> Vec<ViolationId> {
        let found = self.findings();
        if self.waivers.all().is_empty() { found } else { found.into_iter().filter(|f| !self.is_waived(*f)).collect() }
    }

    /// What violates now and did not before, or counts now and did not before; and what that makes of the action.
    pub(super) fn new_findings(
        &self,
        in_force_before: Option<Vec<ViolationId>>,
        since: usize,
    ) -> (Outcome, Vec<ViolationId>) {
        let new: Vec<ViolationId> = match in_force_before {
            Some(before) => {
                let before: FxHashSet<ViolationId> = before.into_iter().collect();
                self.in_force().into_iter().filter(|finding| !before.contains(finding)).collect()
            }
            None => {
                let begun = self.net_change(since).begun.into_iter().map(|(_, finding)| finding);
                begun.filter(|finding| !self.is_waived(*finding)).collect()
            }
        };
        let tells = |finding: &ViolationId| matches!(self.level_of(*finding), Level::Enforce | Level::Warn);
        let outcome = if new.iter().any(tells) { Outcome::Soft } else { Outcome::Allowed };
        (outcome, new)
    }

    /// What began to violate and what ended, by identity: pairs and rules may have moved to other places.
    pub(in crate::comply) fn net_change(&self, since: usize) -> NetChange {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for touch in self.net(since) {
            self.identities(touch.slot, touch.plane, touch.before, &mut before);
            self.identities(touch.slot, touch.plane, self.word(touch.slot, touch.plane), &mut after);
        }
        let known: FxHashSet<Identity> = before.iter().map(|(identity, _)| *identity).collect();
        let now: FxHashSet<Identity> = after.iter().map(|(identity, _)| *identity).collect();
        after.retain(|(identity, _)| !known.contains(identity));
        before.retain(|(identity, _)| !now.contains(identity));
        NetChange { begun: after, ended: before.into_iter().map(|(identity, _)| identity).collect() }
    }

    fn identities(&self, slot: Slot, plane: usize, word: u64, into: &mut Vec<(Identity, ViolationId)>) {
        let Some(joint) = self.joints.get(usize::from(slot.joint)) else { return };
        let Some(pair) = joint.pairs.get(slot.place as usize) else { return };
        for bit in bits(word) {
            let Some(rule) = joint.rule(plane, bit) else { continue };
            let (policy, rule) = (rule.policy, rule.rule);
            let identity = Identity { joint: slot.joint, a: pair.a, b: pair.b, scope: pair.scope, policy, rule };
            into.push((identity, ViolationId { slot, plane, bit }));
        }
    }
}

/// What a change began and ended.
#[derive(Clone, Debug, Default)]
pub(in crate::comply) struct NetChange {
    pub(in crate::comply) begun: Vec<(Identity, ViolationId)>,
    pub(in crate::comply) ended: Vec<Identity>,
}
