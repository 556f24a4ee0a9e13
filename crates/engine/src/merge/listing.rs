//! All targets that some layers name, each with what holds there: the answers to every question about them at once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::fold::Merged;
use super::index::{Merge, ResolvedReach};
use super::targets::Target;
use crate::ask::EntryId;

/// What holds at a target.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The layers, the best first.
    pub entries: Vec<EntryId>,
    /// What they come to; `by` is a place in `entries`.
    pub results: Vec<Merged>,
}

/// Rules by target. A known target costs one look, however many there are.
#[derive(Clone, Debug, Default)]
pub struct TargetRules {
    rules: FxHashMap<Target, Arc<Rule>>,
    /// How many folds were needed.
    pub folded: u64,
}

/// Which wider targets concern an object: the object without the section, then what surrounds it.
pub trait Surroundings {
    /// The object that surrounds another, for example its mesh.
    fn around(&self, target: Target) -> Option<Target>;
}

impl<F: Fn(Target) -> Option<Target>> Surroundings for F {
    fn around(&self, target: Target) -> Option<Target> {
        self(target)
    }
}

/// The targets that concern a target, the most specific first.
pub fn chain(target: Target, surroundings: &impl Surroundings) -> Vec<Target> {
    let mut chain = vec![target];
    if target.section.is_some() {
        chain.push(Target::whole(target.object));
    }
    chain.extend(surroundings.around(target).filter(|around| !chain.contains(around)));
    chain
}

impl Merge {
    /// A rule for every target that the entries name. Targets with the same layers share one fold.
    pub fn target_rules(&self, entries: &[EntryId], surroundings: &impl Surroundings) -> TargetRules {
        let mut ranked = entries.to_vec();
        self.rank(&mut ranked);
        // Places in the order of ranks, so that nothing has to be compared again.
        let mut at: FxHashMap<Target, Vec<usize>> = FxHashMap::default();
        for (place, id) in ranked.iter().enumerate() {
            for target in self.named_by(*id) {
                at.entry(*target).or_default().push(place);
            }
        }
        let mut shared: FxHashMap<Vec<usize>, Arc<Rule>> = FxHashMap::default();
        let mut rules = TargetRules::default();
        let mut keys: Vec<Target> = at.keys().copied().collect();
        keys.sort_unstable();
        for target in keys {
            let concerning = chain(target, surroundings);
            let mut places: Vec<usize> =
                concerning.iter().filter_map(|target| at.get(target)).flatten().copied().collect();
            places.sort_unstable();
            places.dedup();
            let rule = shared.entry(places).or_insert_with_key(|places| {
                rules.folded += 1;
                let layers: Vec<EntryId> = places.iter().filter_map(|place| ranked.get(*place).copied()).collect();
                Arc::new(Rule { results: self.fold(&layers), entries: layers })
            });
            rules.rules.insert(target, rule.clone());
        }
        rules
    }

    /// Which targets to ask about so that the answer is what a look-up in the listing of these entries gives.
    ///
    /// A look-up goes through keys, the most specific first, and takes the first rule that it finds as a whole; what other
    /// keys have is not added. So the question is about this one key and what is [around](chain) it. None of the keys has a
    /// rule: nothing to ask about, and no layer will answer.
    ///
    /// For the keys of one target and what is around it (`chain(target)`) this changes nothing: what nobody names has no
    /// layers of its own, so asking about the whole chain gives the same. It matters for keys of several objects, as a route
    /// and then the service behind it: a rule of the route has nothing of the service.
    pub fn targets_to_ask(
        &self,
        entries: &[EntryId],
        keys: &[Target],
        surroundings: &impl Surroundings,
    ) -> Vec<Target> {
        let named = |key: &&Target| entries.iter().any(|id| self.named_by(*id).binary_search(key).is_ok());
        keys.iter().find(named).map_or_else(Vec::new, |key| chain(*key, surroundings))
    }

    /// The targets that an entry names, in order.
    fn named_by(&self, id: EntryId) -> &[Target] {
        match self.entry(id).map(|entry| &entry.reach) {
            Some(ResolvedReach::Objects(_, targets)) => targets,
            _ => &[],
        }
    }
}

impl TargetRules {
    /// The rule of a target itself.
    pub fn at(&self, target: Target) -> Option<&Arc<Rule>> {
        self.rules.get(&target)
    }

    /// What holds for a target: its own rule, else that of the object, else that of what surrounds it.
    pub fn lookup(&self, target: Target, surroundings: &impl Surroundings) -> Option<&Arc<Rule>> {
        self.first(&chain(target, surroundings))
    }

    /// The rule of the first key that has one, as a whole. [`Merge::targets_to_ask`] asks the same.
    pub fn first(&self, keys: &[Target]) -> Option<&Arc<Rule>> {
        keys.iter().find_map(|key| self.at(*key))
    }

    /// All targets with their rules, in an order that means nothing: whoever lists them sorts them by what is shown.
    pub fn iter(&self) -> impl Iterator<Item = (Target, &Arc<Rule>)> {
        let mut targets: Vec<Target> = self.rules.keys().copied().collect();
        targets.sort_unstable();
        targets.into_iter().filter_map(|target| Some((target, self.rules.get(&target)?)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}
