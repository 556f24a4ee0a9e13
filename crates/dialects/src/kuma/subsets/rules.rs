//! The listing: a rule for every cell that some item speaks about.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_engine::merge::{Layer, Strategy, fold};
use upheld_model::Config;

use super::cells::{subset_of, visit_cells};
use super::classes::Classes;
use super::groups::{Group, Grouping, groups};
use super::limits::{Effort, Limits, TooManyCells};
use super::{Client, Subset};

/// A cell and what holds in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule<T> {
    /// The cell.
    pub subset: Subset,
    /// The items that speak about it, the lowest priority first.
    pub items: Arc<[usize]>,
    /// What these items come to.
    pub conf: T,
}

/// Whether a listing needs cells that say what a client is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negations {
    /// As for `from`: always.
    On,
    /// As for `to` and for whole proxies: not where there is one key at most, since rules with a tag come before the rule
    /// of everybody.
    Off,
}

/// All rules of some items, those with more tags first. Items come in the order of their priority, the lowest first.
///
/// What items come to is the business of the caller: `resolve` is asked once for each distinct list of items. Rules share
/// its answers, so they should be cheap to clone. [`folding`] makes one for the plain case. Where items come to several
/// configurations, Kuma lists the cell once for each.
pub fn rules<T: Clone>(
    subsets: &[Subset],
    grouping: Grouping,
    negations: Negations,
    limits: Limits,
    resolve: impl FnMut(&[usize]) -> T,
) -> Result<Vec<Rule<T>>, TooManyCells> {
    let classes = Classes::of(subsets);
    let effort = Effort::new(limits);
    let mut listing = Listing { classes: &classes, effort, resolved: FxHashMap::default(), resolve, rules: Vec::new() };
    if negations == Negations::Off && classes.key_count() <= 1 {
        listing.add_each_subset(subsets)?;
        listing.rules.sort_by_key(|rule| Reverse(rule.subset.tags.len()));
    } else {
        for group in groups(&classes, grouping, &mut listing.effort)? {
            listing.add_cells(&group)?;
        }
        listing.rules.sort_by_cached_key(|rule| Reverse(rule.subset.positive_tags()));
    }
    Ok(listing.rules)
}

/// The first rule that has a client: what Kuma goes by. Compare its items with the [exact ones](super::exact_items).
pub fn lookup<'r, T>(rules: &'r [Rule<T>], client: &Client) -> Option<&'r Rule<T>> {
    cells_with(rules, client).next()
}

/// All rules that have a client: what a proxy goes by that joins cells with "or". Compare the items of each with the
/// [exact ones](super::exact_items).
pub fn cells_with<'r, T>(rules: &'r [Rule<T>], client: &Client) -> impl Iterator<Item = &'r Rule<T>> {
    rules.iter().filter(|rule| rule.subset.has(client))
}

/// Resolves items by folding their configurations into one, which is `None` where a null removed everything.
pub fn folding(confs: &[Arc<Config>], strategy: &Strategy) -> impl FnMut(&[usize]) -> Option<Arc<Config>> {
    |items| {
        let best_first = items.iter().rev();
        let layer = |number: &usize| Some(Layer { by: *number, config: confs.get(*number)?.clone() });
        let layers: Vec<Layer> = best_first.filter_map(layer).collect();
        fold(strategy, &layers)?.config()
    }
}

/// A listing that grows.
struct Listing<'l, 's, T, R> {
    classes: &'l Classes<'s>,
    effort: Effort,
    /// What classes come to.
    resolved: FxHashMap<Vec<usize>, (Arc<[usize]>, T)>,
    resolve: R,
    rules: Vec<Rule<T>>,
}

impl<T: Clone, R: FnMut(&[usize]) -> T> Listing<'_, '_, T, R> {
    /// A rule for each distinct subset.
    fn add_each_subset(&mut self, subsets: &[Subset]) -> Result<(), TooManyCells> {
        let mut seen: FxHashSet<Subset> = FxHashSet::default();
        for (item, subset) in subsets.iter().enumerate() {
            let mut subset = subset.clone();
            subset.tags.sort_unstable();
            if !seen.insert(subset.clone()) {
                continue;
            }
            self.effort.add_cells(1)?;
            let tags = self.classes.tags_of(self.classes.class_of(item).as_slice());
            self.effort.spend(self.classes.steps_within(&tags))?;
            let mut speaking = self.classes.within(&tags);
            speaking.retain(|class| self.classes.get(*class).is_some_and(|class| class.subset.has_all_of(&subset)));
            if !speaking.is_empty() {
                let rule = self.rule(subset, &speaking)?;
                self.rules.push(rule);
            }
        }
        Ok(())
    }

    /// A rule for each cell of a group that lies in some item.
    fn add_cells(&mut self, group: &Group) -> Result<(), TooManyCells> {
        let classes = self.classes;
        let mut last = None;
        visit_cells(classes, &group.dimensions, &group.candidates, |digits, speaking| {
            let rule = self.rule(subset_of(classes, &group.dimensions, digits), speaking)?;
            // Kuma counts before it lists, so what would be the first cell becomes the last.
            if digits.iter().all(|digit| *digit == 0) {
                last = Some(rule);
            } else {
                self.rules.push(rule);
            }
            Ok(())
        })?;
        self.rules.extend(last);
        Ok(())
    }

    fn rule(&mut self, subset: Subset, speaking: &[usize]) -> Result<Rule<T>, TooManyCells> {
        self.effort.spend(speaking.len())?;
        if let Some((items, conf)) = self.resolved.get(speaking) {
            return Ok(Rule { subset, items: items.clone(), conf: conf.clone() });
        }
        let items: Arc<[usize]> = self.classes.items_of(speaking).into();
        self.effort.keep(items.len())?;
        let conf = (self.resolve)(&items);
        self.resolved.insert(speaking.to_vec(), (items.clone(), conf.clone()));
        Ok(Rule { subset, items, conf })
    }
}
