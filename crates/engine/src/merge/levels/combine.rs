//! Fields with their own logic.
//!
//! - [`providers`]: each provider once, one switch for all
//! - [`transformation`]: operations in order, the preferred side last
//! - [`access_list`]: rules in order, the preferred side first, unless the two contradict each other

mod access_list;
mod providers;
mod transformation;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::super::fold::{self, Layer, Merged};
use super::super::strategy::Strategy;
use super::join::{Beaten, Joined, Part, Preferred, prefer, united_as};
use super::rules::Combiner;

/// What a combiner makes of one value.
pub(super) fn alone(combiner: &Combiner, by: usize, value: Arc<Config>) -> Joined {
    match combiner {
        // A null that has nothing to remove is no value.
        Combiner::Patch(strategy) => patched(strategy, vec![Part { by, value }], Vec::new()),
        Combiner::Providers | Combiner::Transformation | Combiner::AccessList => Joined::alone(by, value),
    }
}

/// What a combiner makes of both sides.
pub(super) fn combine(combiner: &Combiner, preferred: Preferred, acc: Joined, new: Joined) -> Joined {
    match combiner {
        Combiner::Providers => providers::combine(preferred, acc, new),
        Combiner::Transformation => {
            let (below, above) = in_order(preferred, &acc, &new);
            let value = transformation::stacked(below, above);
            united_as(value, acc, new)
        }
        Combiner::AccessList => {
            let (other, best) = in_order(preferred, &acc, &new);
            if access_list::contradict(best, other) {
                return prefer(preferred, acc, new);
            }
            let value = access_list::joined(best, other);
            united_as(value, acc, new)
        }
        Combiner::Patch(strategy) => patch(strategy, preferred, acc, new),
    }
}

/// The two values, the preferred one last.
fn in_order<'j>(preferred: Preferred, acc: &'j Joined, new: &'j Joined) -> (&'j Config, &'j Config) {
    match preferred {
        Preferred::Acc => (&new.value, &acc.value),
        Preferred::New => (&acc.value, &new.value),
    }
}

fn patch(strategy: &Strategy, preferred: Preferred, acc: Joined, new: Joined) -> Joined {
    let (best, worse) = match preferred {
        Preferred::Acc => (acc, new),
        Preferred::New => (new, acc),
    };
    let parts = best.parts.into_iter().chain(worse.parts).collect();
    patched(strategy, parts, best.over.into_iter().chain(worse.over).collect())
}

/// Folds from the parts, because a null that had nothing to remove so far may have now.
fn patched(strategy: &Strategy, parts: Vec<Part>, mut over: Vec<Beaten>) -> Joined {
    let layers: Vec<Layer> = parts.iter().map(|part| Layer { by: part.by, config: part.value.clone() }).collect();
    let merged = fold::fold(strategy, &layers);
    let mut origins = merged.as_ref().map(Merged::contributors).unwrap_or_default();
    if origins.is_empty() {
        origins.extend(parts.first().map(|part| part.by));
    }
    let value = merged.and_then(|merged| merged.config()).unwrap_or_else(|| Config::made(Content::Null));
    over.retain(|beaten| parts.iter().all(|part| part.by != beaten.by));
    let lost = parts.iter().filter(|part| !origins.contains(&part.by));
    over.extend(lost.map(|part| Beaten { by: part.by, value: part.value.clone(), under: origins.clone() }));
    Joined { value, origins, over, parts }
}

/// Items of both lists, those of `first` first.
fn chained(first: Option<&Arc<Config>>, second: Option<&Arc<Config>>) -> Vec<Arc<Config>> {
    let items = |list: Option<&Arc<Config>>| list.map(|list| list.items().to_vec()).unwrap_or_default();
    let mut all = items(first);
    all.extend(items(second));
    all
}

/// A map with one field set to another value, at its old place.
fn with(entries: &[(SmolStr, Arc<Config>)], name: &str, value: Arc<Config>) -> Vec<(SmolStr, Arc<Config>)> {
    let mut entries = entries.to_vec();
    match entries.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = value,
        None => entries.push((name.into(), value)),
    }
    entries
}
