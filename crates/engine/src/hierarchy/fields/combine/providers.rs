//! `{providers: [{provider: …, …}], disable: …}`: each provider counts once, as the first one configured it. Whoever disables
//! turns all of them off, and nobody can undo that; so the providers are no longer part of the value. Where a switch is a value
//! like any other ([`Switch::Preferred`]), only the preferred side can turn the other off.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::super::join::{Joined, Part, Parts, Preferred, keep, prefer};
use super::super::origins::united;
use super::super::rules::Switch;
use crate::hierarchy::answer::{Contributors, Exception};

/// The list of providers.
const PROVIDERS: &str = "providers";
/// What names a provider.
const PROVIDER: &str = "provider";
/// The switch; what it says does not matter, except `false`.
const DISABLE: &str = "disable";

pub(super) fn combine(switch: Switch, preferred: Preferred, acc: Joined, new: Joined) -> Joined {
    let is_off = [disables(&acc.value), disables(&new.value)];
    match (switch, is_off) {
        (_, [false, false]) => {}
        (Switch::Preferred, _) => return prefer(preferred, acc, new),
        (Switch::Absorbs, [_, true]) => return keep(new, acc, Exception::Off),
        (Switch::Absorbs, [true, false]) => return keep(acc, new, Exception::Off),
    }
    let unseen = |item: &Arc<Config>| !has(&acc.value, item);
    let added: Vec<Arc<Config>> = listed(&new.value).iter().filter(|item| unseen(item)).cloned().collect();
    if added.is_empty() {
        return keep(acc, new, Exception::Known);
    }
    let known = listed(&acc.value).to_vec();
    let items: Vec<_> = match preferred {
        Preferred::Acc => known.into_iter().chain(added.iter().cloned()).collect(),
        Preferred::New => added.iter().cloned().chain(known).collect(),
    };
    let in_value = |part: &Part| added.iter().any(|item| has(&part.value, item));
    let (joining, losing): (Parts, Parts) = new.parts.into_iter().partition(in_value);
    let mut both = acc;
    // The rest of the new side brings only providers that are there already.
    both.lose(Joined { value: new.value, origins: new.origins, over: new.over, parts: losing }, Exception::Known);
    let origins: Contributors = joining.iter().map(|part| part.by).collect();
    both.value = Config::made(Content::Map(vec![(SmolStr::new(PROVIDERS), Config::made(Content::List(items)))]));
    both.origins = united(&both.origins, &origins);
    both.parts.extend(joining);
    both
}

fn disables(value: &Config) -> bool {
    value.get(DISABLE).is_some_and(|disable| !matches!(disable.content, Content::Bool(false) | Content::Null))
}

fn listed(value: &Config) -> &[Arc<Config>] {
    value.get(PROVIDERS).map_or(&[], |list| list.items())
}

fn has(value: &Config, item: &Config) -> bool {
    let name = item.get(PROVIDER);
    listed(value).iter().any(|known| known.get(PROVIDER) == name)
}
