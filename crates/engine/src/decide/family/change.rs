//! What policies become when some of them come and go, for the price of those.

use std::sync::Arc;

use upheld_model::NodeRef;

use super::order::Edit;
use super::{Decide, Node, Policy};
use crate::ask::EntryId;
#[cfg(test)]
use crate::decide::index::Unshared;
use crate::decide::load::Load;
use crate::decide::rule::Rule;
use crate::decide::value::{Algorithm, Effect, Rank};
use crate::order::number;

/// What happens to a policy of the outermost set. A policy that says something else now is removed and added.
#[derive(Clone, Debug)]
pub enum RuleChange {
    /// It was not there.
    Added(Arc<Rule>),
    /// It is there no more; this very one.
    Removed(Arc<Rule>),
}

/// After so many changes what those left behind that are gone is never too much.
const FEW: usize = 64;

/// Where a member of the outermost set stands: by priority, then where it was written.
type Key<P> = (Rank, P);

/// Changes with the places in the order of evaluation that they are about.
struct Placed<'c, P> {
    /// The places of those that go, in order.
    gone: Vec<usize>,
    /// Those that come, in order, each with the place of the first that is evaluated after it.
    came: Vec<(usize, Key<P>, &'c Arc<Rule>)>,
}

impl Decide {
    /// After changes of policies in the outermost set. `written` is where a policy or set was written, such that members of the
    /// outermost set with the same priority stand in its order. Nothing if a policy that is to be removed is not there, or if a
    /// set does not say where it was written.
    #[must_use]
    pub fn with_changes<P: Ord>(&self, changes: &[RuleChange], written: impl Fn(NodeRef) -> P) -> Option<Self> {
        if changes.is_empty() {
            return Some(self.clone());
        }
        let placed = self.placed(changes, &written)?;
        let (order, slots) = self.order.with(&placed.edits());
        let gone: Option<Vec<(u32, &Rule)>> = placed
            .gone
            .iter()
            .map(|place| Some((self.order.slot(*place)?, self.rule(EntryId::new(*place))?)))
            .collect();
        let gone = gone?;
        let mut policies = self.policies.clone();
        for (slot, _) in &gone {
            if let Some(policy) = policies.get_mut(*slot as usize) {
                policy.rule = None;
            }
        }
        for (slot, (.., rule)) in slots.iter().zip(&placed.came) {
            policies.put(*slot as usize, Policy::new(Arc::clone(rule), 0), || Policy::new(Arc::clone(rule), 0));
        }
        let nodes = self.moved_nodes(&placed, &written)?;
        let (sets, strictness, changes) = (Arc::clone(&self.sets), self.strictness, self.changes + changes.len());
        if changes > (order.len() / 2).max(FEW) {
            // Without the slots of those that are gone, and without what only they asked for.
            let left = order.slots().iter().filter_map(|slot| policies.get(*slot as usize).cloned());
            return Some(
                Self::build(left.collect(), sets, nodes, strictness)
                    .reading_paths(self.paths)
                    .treating_unknowns(self.unknowns),
            );
        }
        let came: Vec<(u32, &Rule)> =
            slots.iter().zip(&placed.came).map(|(slot, (.., rule))| (*slot, rule.as_ref())).collect();
        let index = Arc::new(self.index.with(&gone, &came));
        let duties = self.duties || placed.came.iter().any(|(.., rule)| !rule.duties.is_empty());
        let of =
            |rules: &[(u32, &Rule)]| rules.iter().fold(Load::default(), |load, (_, rule)| load.plus(Load::of(rule)));
        let load = self.load.plus(of(&came)).minus(of(&gone));
        let (paths, unknowns, longest) = (self.paths, self.unknowns, load.longest_text());
        Some(Self { policies, order, sets, nodes, index, strictness, unknowns, paths, duties, changes, load, longest })
    }

    /// What a change has copied but for the flat order.
    #[cfg(test)]
    pub(in crate::decide) fn unshared(&self, other: &Self) -> Unshared {
        let Unshared { pages, items } = self.index.unshared(&other.index);
        Unshared { pages: pages + self.policies.unshared(&other.policies), items }
    }

    /// With other settings of the outermost set, written at this place.
    #[must_use]
    pub fn with_settings(&self, algorithm: Algorithm, default: Option<Effect>, at: Option<NodeRef>) -> Self {
        let mut changed = self.clone();
        if let Some(root) = Arc::make_mut(&mut changed.sets).first_mut() {
            (root.algorithm, root.default, root.at) = (algorithm, default, at);
        }
        changed
    }

    fn placed<'c, P: Ord>(&self, changes: &'c [RuleChange], written: &impl Fn(NodeRef) -> P) -> Option<Placed<'c, P>> {
        let key = |rule: &Rule| (Rank::of(rule.priority), written(rule.at));
        let (mut gone, mut came) = (Vec::new(), Vec::new());
        for change in changes {
            match change {
                RuleChange::Removed(rule) => gone.push(self.place_of(rule, &key(rule), written)?),
                RuleChange::Added(rule) => {
                    let key = key(rule);
                    came.push((self.partition(|known| *known <= key, written)?, key, rule));
                }
            }
        }
        gone.sort_unstable();
        gone.dedup();
        came.sort_by(|(_, one, _), (_, other, _)| one.cmp(other));
        Some(Placed { gone, came })
    }

    /// The place of a policy of the outermost set.
    fn place_of<P: Ord>(&self, rule: &Arc<Rule>, key: &Key<P>, written: &impl Fn(NodeRef) -> P) -> Option<usize> {
        let first = self.partition(|known| known < key, written)?;
        let mut same = (first..self.order.len()).take_while(|place| self.key_at(*place, written).as_ref() == Some(key));
        same.find(|place| self.shared_rule(*place).is_some_and(|known| Arc::ptr_eq(known, rule)))
    }

    /// The place of the first policy that does not come before, by the member of the outermost set that it belongs to.
    fn partition<P: Ord>(
        &self,
        comes_before: impl Fn(&Key<P>) -> bool,
        written: &impl Fn(NodeRef) -> P,
    ) -> Option<usize> {
        let (mut low, mut high) = (0, self.order.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if comes_before(&self.key_at(middle, written)?) { low = middle + 1 } else { high = middle }
        }
        Some(low)
    }

    /// Where the member of the outermost set stands that the policy at a place belongs to.
    fn key_at<P: Ord>(&self, place: usize, written: &impl Fn(NodeRef) -> P) -> Option<Key<P>> {
        let head = self.head(EntryId::new(place))?;
        match head.set {
            0 => Some((head.rank, written(self.shared_rule(place)?.at))),
            set => self.key_of_set(set as usize, written),
        }
    }

    /// Where the member of the outermost set stands that a set belongs to.
    fn key_of_set<P: Ord>(&self, set: usize, written: &impl Fn(NodeRef) -> P) -> Option<Key<P>> {
        let node = self.nodes.get(set)?;
        match node.parent? {
            0 => Some((node.rank, written(self.sets.get(set)?.at?))),
            parent => self.key_of_set(parent as usize, written),
        }
    }

    /// The sets with their beginnings after changes.
    fn moved_nodes<P: Ord>(&self, placed: &Placed<'_, P>, written: &impl Fn(NodeRef) -> P) -> Option<Vec<Node>> {
        let mut nodes = self.nodes.clone();
        for (set, node) in nodes.iter_mut().enumerate().skip(1) {
            let (start, own) = (node.start as usize, self.key_of_set(set, written)?);
            let gone = placed.gone.partition_point(|place| *place < start);
            // A set without policies begins where those begin that follow it.
            let came = placed.came.iter().filter(|(place, key, _)| *place < start || (*place == start && *key < own));
            node.start = number(start - gone + came.count());
        }
        Some(nodes)
    }
}

impl<P> Placed<'_, P> {
    fn edits(&self) -> Vec<(usize, Edit)> {
        let gone = self.gone.iter().map(|place| (*place, Edit::Remove));
        let came = self.came.iter().map(|(place, ..)| (*place, Edit::Insert));
        let mut edits: Vec<(usize, Edit)> = gone.chain(came).collect();
        edits.sort_unstable();
        edits
    }
}
