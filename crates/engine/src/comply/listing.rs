//! What violates now, in names.

use smol_str::SmolStr;

use super::facts::{ObjectId, Slot};
use super::joint::{Joint, Pair, RuleSlot};
use super::lists::ListId;
use super::policy::{Level, Policy};
use super::profile::{Class, Kind, Order, PairKind, Turned};
use super::records::Identity;
use super::refusal::Refusal;
use super::rights::Wish;
use super::waivers::Covered;
use super::{Actor, Comply, SideOf, Violation};

/// A rule that a pair violates, by its place; it means something until the next change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViolationId {
    pub(super) slot: Slot,
    pub(super) plane: usize,
    pub(super) bit: usize,
}

/// What a listing is cut to; nothing is cut by what is left out.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// Only pairs that live there.
    pub scope: Option<ObjectId>,
    /// Only pairs with this object.
    pub object: Option<ObjectId>,
    /// Only pairs with an object of one of these kinds.
    pub kinds: Option<Vec<Kind>>,
    /// Only this policy.
    pub policy: Option<SmolStr>,
}

/// How a policy fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The policy.
    pub policy: SmolStr,
    /// How many pairs it speaks about.
    pub pairs: usize,
    /// How many times a rule of it holds.
    pub holds: usize,
    /// How many of these because neither side has the tag.
    pub without_evidence: usize,
    /// How many times a rule of it does not hold.
    pub violated: usize,
}

/// A pair that violates rules, by its place; it means something until the next change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violating {
    slot: Slot,
    plane: u32,
    /// A bit for each rule.
    word: u64,
}

impl Violating {
    /// How many rules it violates.
    pub fn len(self) -> usize {
        self.word.count_ones() as usize
    }

    /// Never: it violates one rule or more.
    pub fn is_empty(self) -> bool {
        self.word == 0
    }

    /// The rules that it violates.
    pub fn findings(self) -> impl Iterator<Item = ViolationId> {
        bits(self.word).map(move |bit| ViolationId { slot: self.slot, plane: self.plane as usize, bit })
    }
}

/// Two objects held against a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Check {
    /// What it is about, whether or not it is violated.
    pub about: Violation,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Whether there is such a pair, made by a relationship.
    pub related: Related,
}

/// Whether a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It does.
    Holds,
    /// It does because neither side has the tag.
    HoldsWithoutEvidence,
    /// It does not.
    Violated,
}

/// Whether a relationship makes a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Related {
    /// It does.
    Yes,
    /// The two are only held against each other.
    No,
}

/// The bits of a word.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

impl Comply {
    /// Every violation, those that a waiver covers too, in order.
    pub fn violations(&self) -> Vec<Violation> {
        self.named(self.findings())
    }

    /// Every violation by its place, in no particular order.
    pub fn findings(&self) -> Vec<ViolationId> {
        let mut found = Vec::new();
        for (number, joint) in self.joints.iter().enumerate() {
            for (plane, own) in joint.planes.iter().enumerate() {
                for (place, word) in own.words.iter().enumerate().filter(|(_, word)| **word != 0) {
                    let slot = slot(number, place);
                    found.extend(bits(*word).map(|bit| ViolationId { slot, plane, bit }));
                }
            }
        }
        found
    }

    /// Holds every pair against every rule from scratch, whatever is known already, and lists those that violate. It always
    /// finds what [`Self::findings`] knows.
    pub fn audit(&self) -> Vec<Violating> {
        let mut found = Vec::new();
        for (number, joint) in self.joints.iter().enumerate() {
            for (plane, own) in joint.planes.iter().enumerate() {
                let plane = u32::try_from(plane).unwrap_or(u32::MAX);
                joint.sweep(own, &self.lists, |place, word| {
                    found.push(Violating { slot: slot(number, place), plane, word });
                });
            }
        }
        found
    }

    /// The violations of one scope, in order. It takes as long as the answer is.
    pub fn violations_in(&self, scope: Option<ObjectId>) -> Vec<Violation> {
        self.named(self.findings_in(scope.unwrap_or(ObjectId::NONE)))
    }

    fn findings_in(&self, scope: ObjectId) -> Vec<ViolationId> {
        let slots = self.violating.get(scope.list()).map_or(&[][..], Vec::as_slice);
        let mut found = Vec::new();
        for slot in slots {
            let Some(joint) = self.joints.get(usize::from(slot.joint)) else { continue };
            for (plane, own) in joint.planes.iter().enumerate() {
                let word = own.words.get(slot.place as usize).copied().unwrap_or(0);
                found.extend(bits(word).map(|bit| ViolationId { slot: *slot, plane, bit }));
            }
        }
        found
    }

    /// What somebody may see of violations: those of one scope, or all.
    pub fn sight(&self, actor: &Actor) -> Result<Option<ObjectId>, Refusal> {
        let scope = match actor {
            Actor::Person { scope: Some(own), .. } if self.class(actor) == Some(Class::EndUser) => {
                Some(self.resolve(own)?)
            }
            _ => None,
        };
        self.may(actor, Wish::Violations, scope)?;
        Ok(scope)
    }

    /// The violations that somebody may see.
    pub fn violations_for(&self, actor: &Actor) -> Result<Vec<Violation>, Refusal> {
        Ok(match self.sight(actor)? {
            Some(scope) => self.violations_in(Some(scope)),
            None => self.violations(),
        })
    }

    /// The violations within a cut, in order.
    pub fn violations_within(&self, cut: &Cut) -> Vec<Violation> {
        let found = match cut.scope {
            Some(scope) => self.findings_in(scope),
            None => self.findings(),
        };
        self.named(found.into_iter().filter(|finding| self.keeps(cut, *finding)).collect())
    }

    fn keeps(&self, cut: &Cut, finding: ViolationId) -> bool {
        let Some(joint) = self.joints.get(usize::from(finding.slot.joint)) else { return false };
        let rule = joint.rule(finding.plane, finding.bit);
        let pair = joint.pairs.get(finding.slot.place as usize);
        rule.is_some_and(|rule| self.keeps_rule(cut, rule)) && pair.is_some_and(|pair| self.keeps_pair(cut, pair))
    }

    fn keeps_rule(&self, cut: &Cut, rule: &RuleSlot) -> bool {
        let policy = self.policies.get(rule.policy).and_then(Option::as_ref);
        rule.is_in_force() && policy.is_some_and(|own| cut.policy.as_ref().is_none_or(|wanted| own.id == *wanted))
    }

    fn keeps_pair(&self, cut: &Cut, pair: &Pair) -> bool {
        let of_kind = |kinds: &Vec<Kind>| {
            [pair.a, pair.b].iter().any(|object| self.kind_of(*object).is_some_and(|kind| kinds.contains(&kind)))
        };
        pair.count > 0
            && cut.scope.is_none_or(|scope| pair.scope == scope)
            && cut.object.is_none_or(|object| pair.a == object || pair.b == object)
            && cut.kinds.as_ref().is_none_or(of_kind)
    }

    /// How many pairs there are, each counted once for its scope.
    pub fn pair_count(&self) -> usize {
        self.joints.iter().map(|joint| joint.pairs.iter().filter(|pair| pair.count > 0).count()).sum()
    }

    /// How many pairs there are within a cut that any rule is about, each counted once for its scope.
    pub fn judged_pairs(&self, cut: &Cut) -> usize {
        let judged = self.joints.iter().filter(|joint| joint.rules().any(|(_, _, rule)| self.keeps_rule(cut, rule)));
        judged.map(|joint| joint.pairs.iter().filter(|pair| self.keeps_pair(cut, pair)).count()).sum()
    }

    /// How every policy fares within a cut, in the order of their names; those that are off speak about nothing.
    pub fn tallies(&self, cut: &Cut) -> Vec<Tally> {
        let mut tallies: Vec<Tally> = Vec::new();
        for policy in self.policies() {
            if cut.policy.as_ref().is_some_and(|wanted| *wanted != policy.id) {
                continue;
            }
            let policy = policy.id.clone();
            tallies.push(Tally { policy, pairs: 0, holds: 0, without_evidence: 0, violated: 0 });
        }
        for joint in &self.joints {
            let places: Vec<usize> = (0..joint.pairs.len())
                .filter(|place| joint.pairs.get(*place).is_some_and(|pair| self.keeps_pair(cut, pair)))
                .collect();
            for (plane, bit, rule) in joint.rules().filter(|(_, _, rule)| self.keeps_rule(cut, rule)) {
                let name = self.policies.get(rule.policy).and_then(Option::as_ref).map(|policy| &policy.id);
                let Some(tally) = tallies.iter_mut().find(|tally| Some(&tally.policy) == name) else { continue };
                tally.pairs = places.len();
                for place in &places {
                    let word = joint.planes.get(plane).and_then(|own| own.words.get(*place)).copied().unwrap_or(0);
                    let Some(pair) = joint.pairs.get(*place) else { continue };
                    if word >> bit & 1 == 1 {
                        tally.violated += 1;
                        continue;
                    }
                    tally.holds += 1;
                    if joint.values(rule, pair.a, pair.b) == [ListId::NONE; 2] {
                        tally.without_evidence += 1;
                    }
                }
            }
        }
        tallies
    }

    /// Every pair within a cut held against every rule about it, in order: what passes as well as what violates.
    pub fn checks(&self, cut: &Cut) -> Vec<Check> {
        let mut checks = Vec::new();
        for (number, joint) in self.joints.iter().enumerate() {
            for (plane, bit, rule) in joint.rules().filter(|(_, _, rule)| self.keeps_rule(cut, rule)) {
                for (place, _) in joint.pairs.iter().enumerate().filter(|(_, pair)| self.keeps_pair(cut, pair)) {
                    let slot = slot(number, place);
                    let Some(about) = self.name(ViolationId { slot, plane, bit }) else { continue };
                    let violated = self.word(slot, plane) >> bit & 1 == 1;
                    checks.push(Check { verdict: verdict(violated, &about), about, related: Related::Yes });
                }
                debug_assert!(rule.is_in_force());
            }
        }
        checks.sort();
        checks
    }

    /// Two objects held against every rule about them, in either order, whether or not they are related.
    pub fn check(&self, one: ObjectId, other: ObjectId) -> Vec<Check> {
        let mut checks = Vec::new();
        let (Some(first), Some(second)) = (self.subject_of(one), self.subject_of(other)) else { return checks };
        let mut sides = vec![(first, second, one, other)];
        if first != second || self.profile.order == Order::Fixed {
            sides.push((second, first, other, one));
        }
        for (subject, with, a, b) in sides {
            let place = self.profile.pairs.iter().position(|pair| *pair == (subject, with));
            let Some(joint) = place.and_then(|place| self.joints.get(place)) else { continue };
            let number = PairKind(u8::try_from(place.unwrap_or(0)).unwrap_or(u8::MAX));
            let scope = self.scope_of(a).or_else(|| self.scope_of(b));
            if self.is_exempt(scope) {
                continue;
            }
            let related = self.related(number, a, b);
            for (plane, bit, rule) in joint.rules().filter(|(_, _, rule)| rule.is_in_force()) {
                let Some(about) = self.name_pair(joint, rule, a, b, scope) else { continue };
                let word = joint.planes.get(plane).map_or(0, |own| joint.verdict(own, a, b, &self.lists));
                let violated = word >> bit & 1 == 1;
                checks.push(Check { verdict: verdict(violated, &about), about, related });
            }
        }
        checks.sort();
        checks
    }

    fn related(&self, pair: PairKind, a: ObjectId, b: ObjectId) -> Related {
        let near = self.object(a).map_or(&[][..], |object| &object.pairs);
        let is = near.iter().any(|near| near.joint == pair.0 && near.side == 0 && near.other == b);
        if is { Related::Yes } else { Related::No }
    }

    pub(super) fn identity_of(&self, violation: &Violation) -> Option<Identity> {
        let place = *self.policy_places.get(&violation.policy)?;
        let policy = self.policies.get(place)?.as_ref()?;
        let (pair, turned) = self.profile.pair(policy.a, policy.b)?;
        let (first, second) = (self.resolve(&violation.a.object).ok()?, self.resolve(&violation.b.object).ok()?);
        let (a, b) = if turned == Turned::Yes { (second, first) } else { (first, second) };
        let scope = match &violation.scope {
            Some(scope) => self.resolve(scope).ok()?,
            None => ObjectId::NONE,
        };
        let (policy, rule) = (u32::try_from(place).ok()?, u16::try_from(violation.rule).ok()?);
        Some(Identity { joint: pair.0, a, b, scope, policy, rule })
    }

    /// A violation by its identity, with the values that its sides have now.
    pub(super) fn name_identity(&self, identity: &Identity) -> Option<Violation> {
        let policy = self.policies.get(identity.policy as usize)?.as_ref()?;
        let (_, turned) = self.profile.pair(policy.a, policy.b)?;
        let rule = usize::from(identity.rule);
        let tags = policy.rules.get(rule)?;
        let (first, second) = if turned == Turned::Yes { (identity.b, identity.a) } else { (identity.a, identity.b) };
        let side = |object: ObjectId, tag: &SmolStr| {
            let values = self.symbols.get(tag).and_then(|key| self.object(object).map(|own| own.values(key)));
            self.side(object, tag, values.map_or_else(Vec::new, |list| self.texts(list)))
        };
        Some(Violation {
            scope: identity.scope.some().map(|scope| self.reference(scope)),
            policy: policy.id.clone(),
            rule,
            a: side(first, &tags.a),
            b: side(second, &tags.b),
            strategy: policy.strategy,
            level: policy.level_at(self.now),
            waiver: None,
        })
    }

    /// Whether a waiver covers what has this identity.
    pub(super) fn is_covered(&self, identity: &Identity) -> bool {
        let Some(policy) = self.policies.get(identity.policy as usize).and_then(Option::as_ref) else { return false };
        self.waivers.concern(&policy.id)
            && self.name_identity(identity).is_some_and(|violation| self.waiver_of(policy, &violation).is_some())
    }

    pub(super) fn named(&self, found: Vec<ViolationId>) -> Vec<Violation> {
        let mut named: Vec<Violation> = found.into_iter().filter_map(|finding| self.name(finding)).collect();
        named.sort();
        named
    }

    pub(super) fn name(&self, finding: ViolationId) -> Option<Violation> {
        let joint = self.joints.get(usize::from(finding.slot.joint))?;
        let rule = joint.rule(finding.plane, finding.bit)?;
        let pair = joint.pairs.get(finding.slot.place as usize)?;
        self.name_pair(joint, rule, pair.a, pair.b, pair.scope.some())
    }

    pub(super) fn name_pair(
        &self,
        joint: &Joint,
        rule: &RuleSlot,
        a: ObjectId,
        b: ObjectId,
        scope: Option<ObjectId>,
    ) -> Option<Violation> {
        let policy = self.policies.get(rule.policy)?.as_ref()?;
        let tags = policy.rules.get(rule.rule)?;
        let [first, second] = joint.values(rule, a, b);
        let (a, b) = if rule.turned == Turned::Yes { (b, a) } else { (a, b) };
        let mut violation = Violation {
            scope: scope.map(|scope| self.reference(scope)),
            policy: policy.id.clone(),
            rule: rule.rule,
            a: self.side(a, &tags.a, self.texts(first)),
            b: self.side(b, &tags.b, self.texts(second)),
            strategy: policy.strategy,
            level: policy.level_at(self.now),
            waiver: None,
        };
        violation.waiver = self.waiver_of(policy, &violation);
        Some(violation)
    }

    fn side(&self, object: ObjectId, tag: &SmolStr, values: Vec<SmolStr>) -> SideOf {
        SideOf { object: self.reference(object), name: self.name_of(object).cloned(), tag: tag.clone(), values }
    }

    fn waiver_of(&self, policy: &Policy, violation: &Violation) -> Option<SmolStr> {
        let covered = Covered {
            policy: &policy.id,
            a: &violation.a.object,
            b: &violation.b.object,
            scope: violation.scope.as_deref(),
        };
        self.waivers.covering(covered, self.now).map(|waiver| waiver.id.clone())
    }

    /// Whether a waiver covers a finding.
    pub(super) fn is_waived(&self, finding: ViolationId) -> bool {
        let joint = self.joints.get(usize::from(finding.slot.joint));
        let rule = joint.and_then(|joint| joint.rule(finding.plane, finding.bit));
        let policy = rule.and_then(|rule| self.policies.get(rule.policy)).and_then(Option::as_ref);
        policy.is_some_and(|policy| {
            self.waivers.concern(&policy.id) && self.name(finding).is_some_and(|violation| violation.waiver.is_some())
        })
    }

    /// The level of the policy of a finding.
    pub(super) fn level_of(&self, finding: ViolationId) -> Level {
        let joint = self.joints.get(usize::from(finding.slot.joint));
        let rule = joint.and_then(|joint| joint.rule(finding.plane, finding.bit));
        let policy = rule.and_then(|rule| self.policies.get(rule.policy)).and_then(Option::as_ref);
        policy.map_or(Level::Off, |policy| policy.level_at(self.now))
    }
}

pub(super) fn slot(joint: usize, place: usize) -> Slot {
    Slot { joint: u8::try_from(joint).unwrap_or(u8::MAX), place: u32::try_from(place).unwrap_or(u32::MAX) }
}

fn verdict(violated: bool, about: &Violation) -> Verdict {
    match violated {
        true => Verdict::Violated,
        false if about.a.values.is_empty() && about.b.values.is_empty() => Verdict::HoldsWithoutEvidence,
        false => Verdict::Holds,
    }
}
