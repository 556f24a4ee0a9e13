//! Groups of layers inside each other: what is equal in level folds first among itself, then level by level, each field by a
//! join of its own.
//!
//! ```text
//! layers of a level, best first ──(same level)──▶ one value a field ──(join of each further level)──▶ Joined
//! ```
//!
//! - [`rules`]: what kinds of fields there are, and which act a pair of sides meets by
//! - [`join`]: the acts, with origins and losers
//! - [`combine`]: fields with their own logic, a small closed set
//! - [`origins`]: whose words a field is made of
//!
//! Rank is the order of folding, not of winning: a level that prefers itself takes what came before it. Everything here is
//! pure; no value is written through.

pub mod combine;
pub mod join;
pub mod origins;
pub mod rules;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::smallvec;
use smol_str::SmolStr;
use upheld_model::config::{Config, Content};
use upheld_model::{MergeAction, Uniques};

pub use join::{Beaten, Joined, Part, Parts};
pub use origins::{Origins, Share};
pub use rules::{
    Combiner, FieldMerge, FieldRule, Inheritance, Join, PlainWhenDeep, Prefer, Reach, Rules, SameLevel, Switch, Within,
};

use super::answer::Exception;

/// The fields of one policy.
#[derive(Clone, Debug)]
pub struct FieldLayer<'f> {
    /// Who says it: the asker's own number.
    pub by: usize,
    /// What it says, by the name of the field.
    pub fields: Cow<'f, [(SmolStr, Arc<Config>)]>,
}

/// Layers of equal level.
#[derive(Clone, Debug, Default)]
pub struct Level<'f> {
    /// The layers, the best first.
    pub layers: Vec<FieldLayer<'f>>,
    /// How it meets the levels before it.
    pub inheritance: Inheritance,
}

/// What levels come to: each field that somebody sets, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    /// In the order of names. There are few, and answers keep many of these: a list is smaller than a map.
    fields: Vec<(SmolStr, Joined)>,
}

/// Folds levels, the most specific first.
pub fn fold(rules: &Rules, levels: &[Level<'_>]) -> Folded {
    let mut folded = Folded::default();
    for level in levels {
        let join = rules.across(level.inheritance);
        let new = within(rules, level);
        if folded.fields.is_empty() {
            folded.fields = new;
            continue;
        }
        let known = std::mem::take(&mut folded.fields);
        folded.fields = met(known, new, |name, known, new| {
            let meeting = rules.meeting(name);
            let act = join.act(meeting);
            join::join(act, meeting, known, new, exception(level.inheritance, act))
        });
    }
    folded
}

/// The layers of one level among themselves: their fields, by name.
fn within(rules: &Rules, level: &Level<'_>) -> Vec<(SmolStr, Joined)> {
    let most = level.layers.iter().map(|layer| layer.fields.len()).sum();
    let mut said: Vec<(&SmolStr, Part)> = Vec::with_capacity(most);
    let mut seen = Uniques::default();
    // A policy that is attached twice counts once, where it is better.
    let is_alone = level.layers.len() == 1;
    for layer in level.layers.iter().filter(|layer| is_alone || seen.is_new(layer.by)) {
        let set = layer.fields.iter().filter(|(_, value)| is_set(value));
        said.extend(set.map(|(name, value)| (name, Part { by: layer.by, value: value.clone() })));
    }
    // Stable: what layers say about a field stays in the order of the layers.
    said.sort_by_key(|(name, _)| *name);
    let mut joined = Vec::with_capacity(said.len());
    let mut said = said.into_iter().peekable();
    while let Some((name, first)) = said.next() {
        let mut parts: Parts = smallvec![first];
        while let Some((_, part)) = said.next_if(|(other, _)| *other == name) {
            parts.push(part);
        }
        let meeting = rules.meeting(name);
        let act = rules.within(name, level.inheritance).act(meeting);
        joined.extend(join::join_all(act, meeting, parts).map(|value| (name.clone(), value)));
    }
    joined
}

/// Two lists by name as one; what both have is joined.
fn met(
    known: Vec<(SmolStr, Joined)>,
    new: Vec<(SmolStr, Joined)>,
    join: impl Fn(&str, Joined, Joined) -> Joined,
) -> Vec<(SmolStr, Joined)> {
    let mut met = Vec::with_capacity(known.len() + new.len());
    let mut new = new.into_iter().peekable();
    for (name, joined) in known {
        while let Some(before) = new.next_if(|(other, _)| *other < name) {
            met.push(before);
        }
        let joined = match new.next_if(|(other, _)| *other == name) {
            Some((_, other)) => join(&name, joined, other),
            None => joined,
        };
        met.push((name, joined));
    }
    met.extend(new);
    met
}

/// Whether an act is the opposite of what a level says that merges deep.
fn exception(Inheritance { reach, prefer }: Inheritance, act: MergeAction) -> Exception {
    match (reach, prefer, act) {
        (Reach::Deep, Prefer::Parent, MergeAction::Keep) | (Reach::Deep, Prefer::Child, MergeAction::Take) => {
            Exception::Plain
        }
        _ => Exception::None,
    }
}

/// Nothing, an empty text and an empty list are not set; `false` and an empty map are.
pub fn is_set(value: &Config) -> bool {
    match &value.content {
        Content::Null => false,
        Content::Text(text) => !text.is_empty(),
        Content::List(items) => !items.is_empty(),
        Content::Bool(_) | Content::Number(_) | Content::Map(_) => true,
    }
}

impl Folded {
    /// A field, if somebody sets it.
    pub fn get(&self, name: &str) -> Option<&Joined> {
        let place = self.place(name).ok()?;
        self.fields.get(place).map(|(_, joined)| joined)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether nobody sets anything.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// All fields by name.
    pub fn iter(&self) -> impl Iterator<Item = (&SmolStr, &Joined)> {
        self.fields.iter().map(|(name, joined)| (name, joined))
    }

    /// Whose words the fields are made of.
    pub fn origins(&self) -> Origins {
        self.iter().map(|(name, joined)| (name.clone(), joined.origins.clone())).collect()
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.fields.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }
}
