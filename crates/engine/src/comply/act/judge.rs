//! What policies say to a change.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::change::{Retired, Touch};
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
            Looked::Around { deed, object } => (*deed, Some(*object), self.slots_of(*object)),
            Looked::Pairs { deed, made } => (*deed, None, made.iter().filter_map(|made| self.slot_of(*made)).collect()),
        };
        let class = self.class(actor);
        let (mut found, mut before) = (Vec::new(), None);
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
                let before = before.get_or_insert_with(|| self.before(since));
                self.blocking_in(slot, before.as_ref(), &mut found);
            }
        }
        found
    }

    fn slots_of(&self, object: ObjectId) -> Vec<Slot> {
        let pairs = self.object(object).map_or(&[][..], |object| &object.pairs);
        pairs.iter().map(|near| near.slot()).collect()
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
        change: &NetChange,
    ) -> (Outcome, Vec<ViolationId>) {
        let new: Vec<ViolationId> = match in_force_before {
            Some(before) => {
                let before: FxHashSet<ViolationId> = before.into_iter().collect();
                self.in_force().into_iter().filter(|finding| !before.contains(finding)).collect()
            }
            None if self.waivers.all().is_empty() => change.begun.clone(),
            None => change.begun.iter().copied().filter(|finding| !self.is_waived(*finding)).collect(),
        };
        let tells = |finding: &ViolationId| matches!(self.level_of(*finding), Level::Enforce | Level::Warn);
        let outcome = if new.iter().any(tells) { Outcome::Soft } else { Outcome::Allowed };
        (outcome, new)
    }

    /// What began to violate and what ended.
    pub(in crate::comply) fn net_change(&self, since: usize) -> NetChange {
        let mut change = NetChange::default();
        let touched = self.net(since);
        for touch in &touched {
            let now = self.word(touch.slot, touch.plane);
            let Touch { slot, plane, before } = *touch;
            change.begun.extend(bits(now & !before).map(|bit| ViolationId { slot, plane, bit }));
            change.ended.extend(bits(before & !now).map(|bit| ViolationId { slot, plane, bit }));
        }
        // Where a pair or a rule moved to another place, it is the same all the same.
        if self.retired == Retired::Some || !self.freed.is_empty() {
            let before: FxHashSet<Identity> = change.ended.iter().filter_map(|own| self.identity(*own)).collect();
            let now: FxHashSet<Identity> = change.begun.iter().filter_map(|own| self.identity(*own)).collect();
            let is_in = |set: &FxHashSet<Identity>, own: ViolationId| {
                self.identity(own).is_some_and(|identity| set.contains(&identity))
            };
            change.begun.retain(|own| !is_in(&before, *own));
            change.ended.retain(|own| !is_in(&now, *own));
        }
        change
    }

    /// Who violates what.
    pub(in crate::comply) fn identity(&self, finding: ViolationId) -> Option<Identity> {
        let ViolationId { slot, plane, bit } = finding;
        let joint = self.joints.get(usize::from(slot.joint))?;
        let pair = joint.pairs.get(slot.place as usize)?;
        let rule = joint.rule(plane, bit)?;
        let (policy, rule) = (u32::try_from(rule.policy).ok()?, u16::try_from(rule.rule).ok()?);
        Some(Identity { joint: slot.joint, a: pair.a, b: pair.b, scope: pair.scope, policy, rule })
    }
}

/// What a change began and ended.
#[derive(Clone, Debug, Default)]
pub(in crate::comply) struct NetChange {
    pub(in crate::comply) begun: Vec<ViolationId>,
    pub(in crate::comply) ended: Vec<ViolationId>,
}
