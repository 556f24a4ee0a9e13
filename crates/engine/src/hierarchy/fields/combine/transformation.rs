//! `{request: {add: […], set: […], remove: […], body: …}, response: {…}}`: operations are applied in order and the last one
//! wins, so the preferred side comes last. Other keys of a side stay as the lower one has them.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::super::join::Part;
use super::{chained, with};

const LISTS: [&str; 3] = ["add", "set", "remove"];
const BODY: &str = "body";

/// What is applied below, then what is applied above.
pub(super) fn stacked(below: &Config, above: &Config) -> Arc<Config> {
    let mut sides: Vec<(SmolStr, Arc<Config>)> = below.entries().to_vec();
    for (name, top) in above.entries() {
        let side = below.get(name).map_or_else(|| top.clone(), |base| stacked_side(base, top));
        sides = with(&sides, name, side);
    }
    Config::made(Content::Map(sides))
}

/// All of them, the first one last.
pub(super) fn stacked_all(parts: &[Part]) -> Arc<Config> {
    let mut sides: Vec<(SmolStr, Vec<&Arc<Config>>)> = Vec::new();
    for (name, side) in parts.iter().rev().flat_map(|part| part.value.entries()) {
        match sides.iter_mut().find(|(known, _)| known == name) {
            Some((_, stack)) => stack.push(side),
            None => sides.push((name.clone(), vec![side])),
        }
    }
    let side = |(name, stack): (SmolStr, Vec<&Arc<Config>>)| Some((name, stacked_sides(&stack)?));
    Config::made(Content::Map(sides.into_iter().filter_map(side).collect()))
}

/// Sides of a stack, the lowest first.
fn stacked_sides(stack: &[&Arc<Config>]) -> Option<Arc<Config>> {
    let (base, above) = stack.split_first()?;
    if above.is_empty() {
        return Some((*base).clone());
    }
    let mut entries = base.entries().to_vec();
    for name in LISTS {
        if above.iter().any(|side| side.get(name).is_some()) {
            let lists = stack.iter().filter_map(|side| side.get(name));
            let items = lists.flat_map(|list| list.items()).cloned().collect();
            entries = with(&entries, name, Config::made(Content::List(items)));
        }
    }
    if let Some(body) = above.iter().rev().find_map(|side| side.get(BODY)) {
        entries = with(&entries, BODY, body.clone());
    }
    Some(Config::made(Content::Map(entries)))
}

fn stacked_side(base: &Config, top: &Config) -> Arc<Config> {
    let mut entries = base.entries().to_vec();
    for name in LISTS {
        if top.get(name).is_some() {
            let items = chained(base.get(name), top.get(name));
            entries = with(&entries, name, Config::made(Content::List(items)));
        }
    }
    if let Some(body) = top.get(BODY) {
        entries = with(&entries, BODY, body.clone());
    }
    Config::made(Content::Map(entries))
}
