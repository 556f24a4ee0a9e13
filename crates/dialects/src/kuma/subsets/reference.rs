//! The listing as its definition reads, for small inputs.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{Grouping, Negations, Subset, Tag, cells};

/// All rules, as cells with the items that speak about them.
pub(super) fn rules(subsets: &[Subset], grouping: Grouping, negations: Negations) -> Vec<(Subset, Vec<usize>)> {
    let keys: BTreeSet<&str> = subsets.iter().flat_map(|subset| &subset.tags).map(|tag| tag.key.as_str()).collect();
    let mut rules = Vec::new();
    if negations == Negations::Off && keys.len() <= 1 {
        let mut seen: Vec<Subset> = Vec::new();
        for subset in subsets {
            let mut subset = subset.clone();
            subset.tags.sort();
            if !seen.contains(&subset) {
                seen.push(subset.clone());
                add_rule(subsets, subset, &mut rules);
            }
        }
        rules.sort_by_key(|(subset, _)| Reverse(subset.tags.len()));
    } else {
        for group in groups(subsets, grouping) {
            cells(&tags(subsets, &group)).for_each(|cell| add_rule(subsets, cell, &mut rules));
        }
        rules.sort_by_key(|(subset, _)| Reverse(subset.positive_tags()));
    }
    rules
}

/// How many cells there are, with or without a rule.
pub(super) fn cell_count(subsets: &[Subset], grouping: Grouping) -> usize {
    groups(subsets, grouping).iter().map(|group| cells(&tags(subsets, group)).count()).sum()
}

fn add_rule(subsets: &[Subset], cell: Subset, rules: &mut Vec<(Subset, Vec<usize>)>) {
    let speaking: Vec<usize> = (0..subsets.len()).filter(|item| subsets[*item].has_all_of(&cell)).collect();
    if !speaking.is_empty() {
        rules.push((cell, speaking));
    }
}

fn tags(subsets: &[Subset], group: &[usize]) -> Vec<Tag> {
    let tags: BTreeSet<&Tag> = group.iter().flat_map(|item| &subsets[*item].tags).collect();
    tags.into_iter().cloned().collect()
}

fn groups(subsets: &[Subset], grouping: Grouping) -> Vec<Vec<usize>> {
    let mut groups = match grouping {
        Grouping::Cliques => {
            let mut found = Vec::new();
            grow_clique(subsets, &mut Vec::new(), (0..subsets.len()).collect(), Vec::new(), &mut found);
            found
        }
        Grouping::Components => joined(subsets, |_, _| false),
        Grouping::Exact => joined(subsets, |group, other| {
            let known = tags(subsets, group);
            other.iter().any(|item| subsets[*item].tags.iter().all(|tag| known.contains(tag)))
        }),
    };
    for group in &mut groups {
        group.sort_unstable();
    }
    let text = |group: &Vec<usize>| group.iter().map(ToString::to_string).collect::<Vec<_>>().join(":");
    groups.sort_by_key(|group| Reverse(text(group)));
    groups
}

/// Bron and Kerbosch without a pivot: everything in `open` meets all of `clique`, and so did everything in `done`.
fn grow_clique(
    subsets: &[Subset],
    clique: &mut Vec<usize>,
    mut open: Vec<usize>,
    mut done: Vec<usize>,
    found: &mut Vec<Vec<usize>>,
) {
    if open.is_empty() && done.is_empty() && !clique.is_empty() {
        found.push(clique.clone());
    }
    while let Some(next) = open.pop() {
        let meeting =
            |others: &[usize]| others.iter().copied().filter(|other| subsets[next].meets(&subsets[*other])).collect();
        clique.push(next);
        grow_clique(subsets, clique, meeting(&open), meeting(&done), found);
        clique.pop();
        done.push(next);
    }
}

/// Joins groups of one item while items of two meet, or while two must be joined for another reason.
fn joined(subsets: &[Subset], must_join: impl Fn(&[usize], &[usize]) -> bool) -> Vec<Vec<usize>> {
    let meet = |group: &[usize], other: &[usize]| {
        group.iter().any(|one| other.iter().any(|another| subsets[*one].meets(&subsets[*another])))
    };
    let mut groups: Vec<Vec<usize>> = (0..subsets.len()).map(|item| vec![item]).collect();
    let pair = |groups: &[Vec<usize>]| {
        let pairs = (0..groups.len()).flat_map(|one| (0..groups.len()).map(move |other| (one, other)));
        pairs.into_iter().find(|(one, other)| {
            let (group, another) = (&groups[*one], &groups[*other]);
            one != other && (meet(group, another) || must_join(group, another))
        })
    };
    while let Some((one, other)) = pair(&groups) {
        let other = std::mem::take(&mut groups[other]);
        groups[one].extend(other);
        groups.retain(|group| !group.is_empty());
    }
    groups
}
