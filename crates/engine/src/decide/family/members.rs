//! The policies and sets that there are, as others see them.

use std::slice;
use std::sync::Arc;

use upheld_model::Pages;

use super::{Decide, Head, Policy};
use crate::ask::EntryId;
use crate::decide::rule::{Rule, Set};
use crate::decide::value::{Algorithm, Effect, Rank};
use crate::order::number;
use crate::work;

impl Decide {
    /// The policies in the order of evaluation, which is that of their numbers.
    pub fn rules(&self) -> Rules<'_> {
        Rules(self)
    }

    /// One policy.
    pub fn rule(&self, entry: EntryId) -> Option<&Rule> {
        self.shared_rule(entry.index()).map(Arc::as_ref)
    }

    /// The policy in a slot.
    pub(super) fn in_slot(&self, slot: u32) -> Option<&Rule> {
        self.policies.get(slot as usize)?.rule.as_deref()
    }

    /// The policies of a name.
    pub fn named(&self, name: &str) -> impl Iterator<Item = EntryId> {
        work::steps(self.rules().len() as u64);
        self.rules().iter().enumerate().filter(move |(_, rule)| rule.name == name).map(|(place, _)| EntryId::new(place))
    }

    /// How the outermost set combines.
    pub fn algorithm(&self) -> Algorithm {
        self.sets.first().map_or(Algorithm::default(), |root| root.algorithm)
    }

    /// What stands when no policy says anything.
    pub fn default_effect(&self) -> Effect {
        self.sets.first().and_then(|root| root.default).unwrap_or(Effect::Deny)
    }

    /// The sets, outermost first, without their members.
    pub fn sets(&self) -> impl Iterator<Item = &Set> {
        self.sets.iter()
    }

    /// The set that a policy is in.
    pub fn set_of(&self, entry: EntryId) -> Option<&Set> {
        self.sets.get(self.head(entry)?.set as usize)
    }

    /// The number of the set that a policy is in, among [`Self::sets`].
    pub(in crate::decide) fn set_number(&self, entry: EntryId) -> Option<usize> {
        self.head(entry).map(|head| head.set as usize)
    }

    /// One set, by its number.
    pub(in crate::decide) fn set(&self, number: usize) -> Option<&Set> {
        self.sets.get(number)
    }

    /// The set that a set is in.
    pub(in crate::decide) fn parent_of(&self, set: usize) -> Option<usize> {
        self.nodes.get(set)?.parent.map(|parent| parent as usize)
    }

    /// The priority of a member as a rank.
    pub(in crate::decide) fn rank_of_set(&self, set: usize) -> Option<Rank> {
        self.nodes.get(set).map(|node| node.rank)
    }

    /// Whether a policy is in no set but the outermost.
    pub(in crate::decide) fn is_outermost(&self, entry: EntryId) -> bool {
        self.head(entry).is_some_and(|head| head.set == 0)
    }

    pub(in crate::decide) fn shared_rule(&self, place: usize) -> Option<&Arc<Rule>> {
        let slot = self.order.slot(place)?;
        self.policies.get(slot as usize)?.rule.as_ref()
    }

    #[inline]
    pub(super) fn head(&self, entry: EntryId) -> Option<&Head> {
        let slot = self.order.slot(entry.index())?;
        self.policies.get(slot as usize).map(|policy| &policy.head)
    }

    /// The place of a policy among all policies and sets: as many as there are before it.
    #[inline]
    pub(in crate::decide) fn order_of_rule(&self, entry: EntryId) -> u32 {
        let place = number(entry.index());
        // The outermost set comes before all.
        place + if self.nodes.len() == 1 { 1 } else { self.begun_up_to(place) }
    }

    /// The place of a set among all policies and sets.
    pub(in crate::decide) fn order_of_set(&self, set: usize) -> u32 {
        self.nodes.get(set).map_or(0, |node| node.start) + number(set)
    }

    /// How many sets begin before the policy at a place.
    fn begun_up_to(&self, place: u32) -> u32 {
        number(self.nodes.partition_point(|node| node.start <= place))
    }
}

/// The policies in the order of evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'d>(&'d Decide);

impl<'d> Rules<'d> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.0.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The one at a place in the order of evaluation.
    pub fn get(self, place: usize) -> Option<&'d Arc<Rule>> {
        self.0.shared_rule(place)
    }

    /// All of them.
    pub fn iter(self) -> RulesIter<'d> {
        RulesIter { policies: &self.0.policies, slots: self.0.order.slots().iter() }
    }
}

impl<'d> IntoIterator for Rules<'d> {
    type Item = &'d Arc<Rule>;
    type IntoIter = RulesIter<'d>;

    fn into_iter(self) -> RulesIter<'d> {
        self.iter()
    }
}

/// Goes through the policies in the order of evaluation.
#[derive(Clone, Debug)]
pub struct RulesIter<'d> {
    policies: &'d Pages<Policy>,
    slots: slice::Iter<'d, u32>,
}

impl<'d> Iterator for RulesIter<'d> {
    type Item = &'d Arc<Rule>;

    fn next(&mut self) -> Option<&'d Arc<Rule>> {
        self.policies.get(*self.slots.next()? as usize)?.rule.as_ref()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.slots.size_hint()
    }
}

impl ExactSizeIterator for RulesIter<'_> {}
