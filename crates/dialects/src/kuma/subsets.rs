//! Clients in subsets: how Kuma 2 turns `from` items into rules, and what the items mean.
//!
//! - [`Subset`]: a conjunction of tags, some of them negated
//! - [`rules()`]: the listing that Kuma prints, by its own grouping or by an exact one
//! - [`Item::speaks_about`]: the meaning; asking goes by it, never by the listing
//!
//! Kuma groups items that meet pairwise (cliques). Cells of two groups may overlap, so looking a client up in that listing
//! can give another answer than the items themselves. Groups of items that are connected do not overlap.

mod rules;

pub use rules::{Grouping, Rule, TooManyCells, lookup, rules};

use std::collections::BTreeMap;
use std::sync::Arc;

use upheld_model::Config;

/// Tags of a client.
pub type Client = BTreeMap<String, String>;

/// What a subset says of one tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag {
    /// The name of the tag.
    pub key: String,
    /// The value.
    pub value: String,
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
        !client.is_empty() && self.tags.iter().all(|tag| (client.get(&tag.key) == Some(&tag.value)) != tag.not)
    }

    /// How many tags are not negated.
    pub fn positive_tags(&self) -> usize {
        self.tags.iter().filter(|tag| !tag.not).count()
    }
}

/// One `from` item; items come in the order of their priority, the lowest first.
#[derive(Clone, Debug)]
pub struct Item {
    /// Whom it speaks about.
    pub subset: Subset,
    /// What it says.
    pub conf: Arc<Config>,
}

impl Item {
    /// Whether it speaks about a client.
    pub fn speaks_about(&self, client: &Client) -> bool {
        self.subset.has(client)
    }
}

/// All cells that the tags of some subsets can tell apart, in the order in which Kuma lists them. For each key one of its
/// values or none of them; the first key changes fastest, and the cell of all last values comes last.
pub fn cells(tags: &[Tag]) -> Vec<Subset> {
    let mut keys: Vec<(&str, Vec<&str>)> = Vec::new();
    for tag in tags {
        match keys.iter_mut().find(|(key, _)| *key == tag.key) {
            Some((_, values)) if values.contains(&tag.value.as_str()) => {}
            Some((_, values)) => values.push(&tag.value),
            None => keys.push((&tag.key, vec![&tag.value])),
        }
    }
    let count: usize = keys.iter().map(|(_, values)| values.len() + 1).product();
    (1..=count)
        .map(|number| {
            let mut rest = number % count;
            let mut cell = Subset::default();
            for (key, values) in &keys {
                let digit = rest % (values.len() + 1);
                rest /= values.len() + 1;
                let tag = |value: &str, not| Tag { key: (*key).to_owned(), value: value.to_owned(), not };
                match values.iter().rev().nth(digit) {
                    Some(value) => cell.tags.push(tag(value, false)),
                    None => cell.tags.extend(values.iter().map(|value| tag(value, true))),
                }
            }
            cell
        })
        .collect()
}

#[cfg(test)]
mod tests;
