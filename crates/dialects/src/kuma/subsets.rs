//! Clients in subsets: how Kuma 2 turns `from` items into rules, and what the items mean.
//!
//! - [`Subset`]: a conjunction of tags, some of them negated
//! - [`exact_items`]: the meaning; asking goes by it, never by a listing
//! - [`rules()`]: the listing that Kuma prints, by one of its own [`Grouping`]s or by an exact one
//! - [`lookup`], [`cells_with`]: what a listing says of a client, for comparison with the meaning
//!
//! Kuma groups items that meet pairwise (cliques) or that are connected (components). Cells of two groups may overlap and
//! say different things, so looking a client up in such a listing can give another answer than the items themselves: often
//! enough with cliques, hardly ever with components, never with [`Grouping::Exact`].

mod bits;
mod cells;
mod classes;
mod cliques;
mod groups;
mod limits;
mod rules;

pub use groups::Grouping;
pub use limits::{Limits, TooManyCells};
pub use rules::{Negations, Rule, cells_with, folding, lookup, rules};

use std::collections::BTreeMap;

use smol_str::SmolStr;

/// Tags of a client.
pub type Client = BTreeMap<String, String>;

/// What a subset says of one tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag {
    /// The name of the tag.
    pub key: SmolStr,
    /// The value.
    pub value: SmolStr,
    /// Whether the tag must have another value, or none.
    pub not: bool,
}

/// A conjunction of tags; an empty one has everybody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subset {
    /// The tags.
    pub tags: Vec<Tag>,
}

impl Subset {
    /// Whether everybody in the other subset is in this one, as Kuma decides it.
    pub fn has_all_of(&self, other: &Self) -> bool {
        self.tags.iter().all(|mine| {
            let mut same_key = other.tags.iter().filter(|theirs| theirs.key == mine.key).peekable();
            same_key.peek().is_some()
                && same_key.all(|theirs| match (mine.not, theirs.not) {
                    (true, true) | (false, false) => mine.value == theirs.value,
                    (true, false) => mine.value != theirs.value,
                    (false, true) => false,
                })
        })
    }

    /// Whether somebody could be in both; negated tags are not looked at.
    pub fn meets(&self, other: &Self) -> bool {
        let positive = |tag: &&Tag| !tag.not;
        !self.tags.iter().filter(positive).any(|mine| {
            other.tags.iter().filter(positive).any(|theirs| mine.key == theirs.key && mine.value != theirs.value)
        })
    }

    /// Whether a client is in it. One without any tag is only in the subset of everybody.
    pub fn has(&self, client: &Client) -> bool {
        if self.tags.is_empty() {
            return true;
        }
        let agrees = |tag: &Tag| client.get(tag.key.as_str()).is_some_and(|value| *value == tag.value) != tag.not;
        !client.is_empty() && self.tags.iter().all(agrees)
    }

    /// How many tags are not negated.
    pub fn positive_tags(&self) -> usize {
        self.tags.iter().filter(|tag| !tag.not).count()
    }
}

/// The items that speak about a client, in their order: what a listing should say of it.
pub fn exact_items(subsets: &[Subset], client: &Client) -> Vec<usize> {
    let speaking = subsets.iter().enumerate().filter(|(_, subset)| subset.has(client));
    speaking.map(|(number, _)| number).collect()
}

/// All cells that some tags can tell apart, in the order in which Kuma lists them. For each key one of its values or none
/// of them; the first key changes fastest, and the cell of all last values comes last.
pub fn cells(tags: &[Tag]) -> impl Iterator<Item = Subset> {
    let mut keys: Vec<(SmolStr, Vec<SmolStr>)> = Vec::new();
    for tag in tags {
        match keys.iter_mut().find(|(key, _)| *key == tag.key) {
            Some((_, values)) if values.contains(&tag.value) => {}
            Some((_, values)) => values.push(tag.value.clone()),
            None => keys.push((tag.key.clone(), vec![tag.value.clone()])),
        }
    }
    let count = keys.iter().fold(1_usize, |count, (_, values)| count.saturating_mul(values.len() + 1));
    (1..=count).map(move |number| cell(&keys, number % count))
}

/// The cell whose choices are the digits of a number.
fn cell(keys: &[(SmolStr, Vec<SmolStr>)], mut number: usize) -> Subset {
    let mut cell = Subset::default();
    for (key, values) in keys {
        let digit = number % (values.len() + 1);
        number /= values.len() + 1;
        let tag = |value: &SmolStr, not| Tag { key: key.clone(), value: value.clone(), not };
        match values.iter().rev().nth(digit) {
            Some(value) => cell.tags.push(tag(value, false)),
            None => cell.tags.extend(values.iter().map(|value| tag(value, true))),
        }
    }
    cell
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
