//! Fields with their own logic.
//!
//! - `providers`: each provider once, one switch for all
//! - `transformation`: operations in order, the preferred side last
//! - `access_list`: rules in order, the preferred side first, unless the two contradict each other

mod access_list;
mod providers;
mod transformation;

use std::mem;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::smallvec;
use smol_str::SmolStr;
use upheld_model::MergeAction;
use upheld_model::config::{Config, Content};

use super::join::{Beaten, Joined, Part, Parts, Preferred, join_each, prefer, together, united_as};
use super::rules::{Combiner, FieldMerge};
use crate::hierarchy::answer::{Contributors, Exception};
use crate::merge::{Layer, Merged, Strategy, fold};

/// What a combiner makes of one value.
pub(super) fn alone(combiner: &Combiner, by: usize, value: Arc<Config>) -> Joined {
    match combiner {
        // A null that has nothing to remove is not a value.
        Combiner::Patch(strategy) => patched(strategy, smallvec![Part { by, value }], Vec::new()),
        Combiner::Providers(_) | Combiner::Transformation | Combiner::AccessList => Joined::alone(by, value),
    }
}

/// What a combiner makes of what layers of one level say, the best first and preferred. `None` if nobody says anything.
pub(super) fn combine_all(combiner: &Combiner, parts: Parts) -> Option<Joined> {
    match combiner {
        Combiner::Transformation => together(parts, transformation::stacked_all),
        Combiner::AccessList => access_list::combine_all(parts),
        Combiner::Patch(_) if parts.is_empty() => None,
        Combiner::Patch(strategy) => Some(patched(strategy, parts, Vec::new())),
        Combiner::Providers(switch) => {
            join_each(MergeAction::KeepOver, &FieldMerge::Deep(Combiner::Providers(*switch)), parts)
        }
    }
}

/// What a combiner makes of both sides.
pub(super) fn combine(combiner: &Combiner, preferred: Preferred, acc: Joined, new: Joined) -> Joined {
    match combiner {
        Combiner::Providers(switch) => providers::combine(*switch, preferred, acc, new),
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
            let mut value = Arc::new(best.clone());
            access_list::append(&mut value, other);
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
fn patched(strategy: &Strategy, parts: Parts, mut over: Vec<Beaten>) -> Joined {
    let layers: Vec<Layer> = parts.iter().map(|part| Layer { by: part.by, config: part.value.clone() }).collect();
    let merged = fold(strategy, &layers);
    let mut origins: Contributors = merged.as_ref().map(Merged::contributors).unwrap_or_default().into();
    if origins.is_empty() {
        origins.extend(parts.first().map(|part| part.by));
    }
    let value = merged.and_then(|merged| merged.config()).unwrap_or_else(|| Config::made(Content::Null));
    let again: FxHashSet<usize> = parts.iter().map(|part| part.by).collect();
    over.retain(|beaten| !again.contains(&beaten.by));
    let under: Arc<[usize]> = origins.as_slice().into();
    let lost = parts.iter().filter(|part| origins.binary_search(&part.by).is_err());
    over.extend(lost.map(|part| Beaten {
        by: part.by,
        value: part.value.clone(),
        under: under.clone(),
        exception: Exception::None,
    }));
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

/// Changes the entries of a map. Whoever shares the map does not see it; a map that nobody shares is not copied.
fn edit(map: &mut Arc<Config>, change: impl FnOnce(&mut Vec<(SmolStr, Arc<Config>)>)) {
    let map = Arc::make_mut(map);
    map.at = None;
    let mut entries = match mem::replace(&mut map.content, Content::Null) {
        Content::Map(entries) => entries,
        _ => Vec::new(),
    };
    change(&mut entries);
    map.content = Content::Map(entries);
}

/// The value of a key, at its old place; nothing at the end if it is new.
fn slot<'e>(entries: &'e mut Vec<(SmolStr, Arc<Config>)>, name: &str) -> Option<&'e mut Arc<Config>> {
    let place = entries.iter().position(|(known, _)| known == name).unwrap_or(entries.len());
    if place == entries.len() {
        entries.push((name.into(), Config::made(Content::Null)));
    }
    entries.get_mut(place).map(|(_, value)| value)
}

/// Adds items to a list of a map, in the same manner.
fn extend(entries: &mut Vec<(SmolStr, Arc<Config>)>, name: &str, more: &[Arc<Config>]) {
    let Some(list) = slot(entries, name).map(Arc::make_mut) else { return };
    list.at = None;
    let mut items = match mem::replace(&mut list.content, Content::Null) {
        Content::List(items) => items,
        _ => Vec::new(),
    };
    items.extend_from_slice(more);
    list.content = Content::List(items);
}
