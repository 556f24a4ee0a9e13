//! The listing: a rule for every cell that some item speaks about.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_engine::merge::{Layer, Strategy, fold};
use upheld_model::Config;

use super::{Client, Item, Subset, Tag, cells};

/// Which items are listed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Those that meet pairwise, as Kuma does it; cells of two groups may overlap.
    Cliques,
    /// Those that are connected; cells never overlap.
    Components,
}

/// A cell and what holds in it.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The cell.
    pub subset: Subset,
    /// The merged configuration.
    pub conf: Option<Arc<Config>>,
    /// The items that speak about it, the lowest priority first.
    pub items: Vec<usize>,
}

/// The listing would have more cells than anybody can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyCells {
    /// The most that are listed.
    pub limit: usize,
}

/// The most cells of one group.
const LIMIT: usize = 100_000;

/// All rules of some items, those with more tags first.
pub fn rules(items: &[Item], grouping: Grouping, strategy: &Strategy) -> Result<Vec<Rule>, TooManyCells> {
    let mut rules: Vec<Rule> = Vec::new();
    for group in groups(items, grouping) {
        let members = group.iter().filter_map(|number| items.get(*number));
        let tags: BTreeSet<Tag> = members.flat_map(|item| item.subset.tags.iter().cloned()).collect();
        let tags: Vec<Tag> = tags.into_iter().collect();
        if cell_count(&tags) > LIMIT {
            return Err(TooManyCells { limit: LIMIT });
        }
        for subset in cells(&tags) {
            let speaking: Vec<usize> = (items.iter().enumerate())
                .filter(|(_, item)| item.subset.has_all_of(&subset))
                .map(|(number, _)| number)
                .collect();
            if !speaking.is_empty() {
                rules.push(Rule { conf: merged(items, &speaking, strategy), subset, items: speaking });
            }
        }
    }
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.subset.positive_tags()));
    Ok(rules)
}

/// The first rule that has a client.
pub fn lookup<'r>(rules: &'r [Rule], client: &Client) -> Option<&'r Rule> {
    rules.iter().find(|rule| rule.subset.has(client))
}

/// What some items come to together.
fn merged(items: &[Item], numbers: &[usize], strategy: &Strategy) -> Option<Arc<Config>> {
    let best_first = numbers.iter().rev();
    let layers: Vec<Layer> = best_first
        .filter_map(|number| items.get(*number).map(|item| Layer { by: *number, config: item.conf.clone() }))
        .collect();
    fold(strategy, &layers)?.config()
}

fn cell_count(tags: &[Tag]) -> usize {
    let mut count = 1_usize;
    let mut previous: Option<(&str, usize)> = None;
    for tag in tags {
        let values = match previous {
            Some((key, values)) if key == tag.key => {
                count /= values + 1;
                values + 1
            }
            _ => 1,
        };
        count = count.saturating_mul(values + 1);
        previous = Some((&tag.key, values));
    }
    count
}

/// Numbers of the items of each group, in the order in which Kuma lists groups: by their numbers as text, backwards.
fn groups(items: &[Item], grouping: Grouping) -> Vec<Vec<usize>> {
    let meet = |a: usize, b: usize| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => a.subset.meets(&b.subset),
        _ => false,
    };
    let mut groups = match grouping {
        Grouping::Cliques => {
            let mut found = Vec::new();
            let all: Vec<usize> = (0..items.len()).collect();
            grow_clique(&mut Vec::new(), all, Vec::new(), &meet, &mut found);
            found
        }
        Grouping::Components => components(items.len(), &meet),
    };
    let text = |group: &Vec<usize>| group.iter().map(ToString::to_string).collect::<Vec<_>>().join(":");
    groups.sort_by_key(|group| std::cmp::Reverse(text(group)));
    groups
}

/// Bron and Kerbosch: everything in `open` meets all of `clique`, and so did everything in `done`.
fn grow_clique(
    clique: &mut Vec<usize>,
    mut open: Vec<usize>,
    mut done: Vec<usize>,
    meet: &impl Fn(usize, usize) -> bool,
    found: &mut Vec<Vec<usize>>,
) {
    if open.is_empty() && done.is_empty() && !clique.is_empty() {
        let mut group = clique.clone();
        group.sort_unstable();
        found.push(group);
    }
    while let Some(next) = open.pop() {
        let meeting = |others: &[usize]| others.iter().copied().filter(|other| meet(next, *other)).collect();
        clique.push(next);
        grow_clique(clique, meeting(&open), meeting(&done), meet, found);
        clique.pop();
        done.push(next);
    }
}

fn components(count: usize, meet: &impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut waiting: BTreeSet<usize> = (0..count).collect();
    let mut components = Vec::new();
    while let Some(first) = waiting.pop_first() {
        let mut component = vec![first];
        let mut next = 0;
        while let Some(&member) = component.get(next) {
            let reached: Vec<usize> = waiting.iter().copied().filter(|other| meet(member, *other)).collect();
            for other in reached {
                waiting.remove(&other);
                component.push(other);
            }
            next += 1;
        }
        component.sort_unstable();
        components.push(component);
    }
    components
}
