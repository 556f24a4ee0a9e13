//! `{request: {add: […], set: […], remove: […], body: …}, response: {…}}`: operations are applied in order and the last one
//! wins, so the preferred side comes last. Other keys of a side stay as the lower one has them.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

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
