//! All policies, and an entry for each of their rules.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::policy::{Level, Policy, Rule};
use super::profile::{PairKind, Profile, Swapped};
use crate::ask::EntryId;

/// Policies and entries keep their places; those that are gone leave them empty, and who comes back under the same name gets
/// the same.
#[derive(Clone, Debug, Default)]
pub(super) struct PolicySet {
    all: Vec<OfPolicy>,
    places: FxHashMap<SmolStr, usize>,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, Default)]
struct OfPolicy {
    policy: Option<Arc<Policy>>,
    /// By rule.
    entries: Vec<EntryId>,
}

/// A rule of a policy.
#[derive(Clone, Copy, Debug)]
struct Entry {
    policy: usize,
    rule: usize,
    /// Which pair the policy is about.
    about: Option<(PairKind, Swapped)>,
    place: Option<RulePlace>,
}

/// A rule with its policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleOf<'p> {
    pub(super) policy: &'p Policy,
    pub(super) rule: &'p Rule,
    /// Of the rule in its policy, from 0.
    pub(super) number: usize,
    /// Which pair it is about.
    pub(super) pair: PairKind,
    pub(super) swapped: Swapped,
}

/// Where a rule stands among those about its pair of subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RulePlace {
    pub(super) table: PairKind,
    /// Which words have its bit.
    pub(super) word: usize,
    pub(super) bit: usize,
}

impl PolicySet {
    /// All policies in the order of their names.
    pub(super) fn sorted(&self) -> Vec<&Arc<Policy>> {
        let mut policies: Vec<&Arc<Policy>> = self.iter().collect();
        policies.sort_by(|a, b| a.id.cmp(&b.id));
        policies
    }

    /// All policies, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Policy>> {
        self.all.iter().filter_map(|own| own.policy.as_ref())
    }

    /// A policy by its name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<Policy>> {
        self.all.get(*self.places.get(name)?)?.policy.as_ref()
    }

    /// Puts a policy in the place of its name, or takes the one away that is there; returns which one that was.
    pub(super) fn put(
        &mut self,
        name: &SmolStr,
        policy: Option<Arc<Policy>>,
        profile: &Profile,
    ) -> Option<Arc<Policy>> {
        let next = self.all.len();
        let place = *self.places.entry(name.clone()).or_insert(next);
        if place == next {
            self.all.push(OfPolicy::default());
        }
        let own = self.all.get_mut(place)?;
        for rule in own.entries.len()..policy.as_ref().map_or(0, |policy| policy.rules.len()) {
            own.entries.push(EntryId::new(self.entries.len()));
            self.entries.push(Entry { policy: place, rule, about: None, place: None });
        }
        let about = policy.as_ref().and_then(|policy| profile.pair(policy.a, policy.b));
        for entry in &own.entries {
            if let Some(entry) = self.entries.get_mut(entry.index()) {
                entry.about = about;
            }
        }
        std::mem::replace(&mut own.policy, policy)
    }

    /// The entries of a policy, by rule; also of rules that it has no more.
    pub(super) fn entries_of(&self, name: &str) -> &[EntryId] {
        let own = self.places.get(name).and_then(|place| self.all.get(*place));
        own.map_or(&[], |own| &own.entries)
    }

    /// The entries of all rules, by policy and rule.
    pub(super) fn entries(&self) -> impl Iterator<Item = EntryId> {
        let policies = self.sorted().into_iter();
        policies.flat_map(|policy| self.entries_of(&policy.id).iter().copied().take(policy.rules.len()))
    }

    /// The policy of an entry, its rule, and what it is about; nothing if it has no such rule any more.
    pub(super) fn rule(&self, entry: EntryId) -> Option<RuleOf<'_>> {
        let entry = self.entries.get(entry.index())?;
        let policy = self.policy_at(entry)?;
        let (pair, swapped) = entry.about?;
        Some(RuleOf { policy, rule: policy.rules.get(entry.rule)?, number: entry.rule, pair, swapped })
    }

    /// The level of an entry at a moment.
    pub(super) fn level(&self, entry: EntryId, now: Timestamp) -> Level {
        let policy = self.entries.get(entry.index()).and_then(|entry| self.policy_at(entry));
        policy.map_or(Level::Off, |policy| policy.level_at(now))
    }

    fn policy_at(&self, entry: &Entry) -> Option<&Policy> {
        self.all.get(entry.policy)?.policy.as_deref()
    }

    /// Where a rule stands; nothing for those that are off or gone.
    pub(super) fn place(&self, entry: EntryId) -> Option<RulePlace> {
        self.entries.get(entry.index())?.place
    }

    /// Says where a rule stands from now on.
    pub(super) fn stand(&mut self, entry: EntryId, place: Option<RulePlace>) {
        if let Some(entry) = self.entries.get_mut(entry.index()) {
            entry.place = place;
        }
    }
}
