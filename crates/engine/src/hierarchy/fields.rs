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

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use upheld_model::Act;
use upheld_model::config::{Config, Content};

pub use join::{Beaten, Joined, Part};
pub use origins::{Origins, Standing};
pub use rules::{
    Combiner, FieldRule, Inheritance, Join, Meeting, PlainWhenDeep, Prefer, Reach, Rules, SameLevel, Within,
};

use super::answer::Despite;

/// The fields of one policy.
#[derive(Clone, Debug)]
pub struct FieldLayer {
    /// Who says it: the asker's own number.
    pub by: usize,
    /// What it says, by the name of the field.
    pub fields: Vec<(SmolStr, Arc<Config>)>,
}

/// Layers of equal level.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// The layers, the best first.
    pub layers: Vec<FieldLayer>,
    /// How it meets the levels before it.
    pub inheritance: Inheritance,
    /// Policies of this level that are broken. With any, the level says nothing: half of a level could be weaker than either
    /// all of it or none.
    pub broken: Vec<usize>,
}

/// What levels come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    /// Each field that somebody sets, by name.
    pub fields: BTreeMap<SmolStr, Joined>,
    /// All that are broken, in ascending order.
    pub broken: Vec<usize>,
}

/// Folds levels, the most specific first.
pub fn fold(rules: &Rules, levels: &[Level]) -> Folded {
    let mut folded = Folded::default();
    for level in levels {
        folded.broken.extend(&level.broken);
        if !level.broken.is_empty() {
            continue;
        }
        let join = rules.across(level.inheritance);
        for (name, new) in within(rules, level) {
            let meeting = rules.meeting(&name);
            let act = join.act(meeting);
            meet(&mut folded.fields, name, act, meeting, new, despite(level.inheritance, act));
        }
    }
    folded.broken.sort_unstable();
    folded.broken.dedup();
    folded
}

/// The layers of one level among themselves.
fn within(rules: &Rules, level: &Level) -> BTreeMap<SmolStr, Joined> {
    let mut said: BTreeMap<&SmolStr, Vec<Part>> = BTreeMap::new();
    let mut seen = FxHashSet::default();
    // A policy that is attached twice counts once, where it is better.
    for layer in level.layers.iter().filter(|layer| seen.insert(layer.by)) {
        for (name, value) in layer.fields.iter().filter(|(_, value)| is_set(value)) {
            said.entry(name).or_default().push(Part { by: layer.by, value: value.clone() });
        }
    }
    let joined = said.into_iter().filter_map(|(name, parts)| {
        let meeting = rules.meeting(name);
        let act = rules.within(name, level.inheritance).act(meeting);
        Some((name.clone(), join::join_all(act, meeting, parts)?))
    });
    joined.collect()
}

/// Whether an act is the opposite of what a level says that merges deep.
fn despite(Inheritance { reach, prefer }: Inheritance, act: Act) -> Despite {
    match (reach, prefer, act) {
        (Reach::Deep, Prefer::Parent, Act::Keep) | (Reach::Deep, Prefer::Child, Act::Take) => Despite::Plain,
        _ => Despite::Nothing,
    }
}

fn meet(
    fields: &mut BTreeMap<SmolStr, Joined>,
    name: SmolStr,
    act: Act,
    meeting: &Meeting,
    new: Joined,
    despite: Despite,
) {
    let joined = match fields.remove(&name) {
        Some(acc) => join::join(act, meeting, acc, new, despite),
        None => new,
    };
    fields.insert(name, joined);
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
    /// Whose words the fields are made of.
    pub fn origins(&self) -> Origins {
        self.fields.iter().map(|(name, joined)| (name.clone(), joined.origins.clone())).collect()
    }
}
