//! What holds across scopes: a nearer scope hides the same field of a wider one, part by part. Nothing is merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use upheld_model::Config;

use super::answer::{Despite, Field, Lost};
use super::fields::{Beaten, Joined, is_set};
use crate::ask::EntryId;

/// Which parts of a field hide each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Apart {
    /// The field is hidden as a whole.
    #[default]
    Whole,
    /// Its entries, each by itself.
    Entries,
    /// The items of a list, by a key of theirs; the switch turns all of them off.
    Items {
        /// The list.
        list: SmolStr,
        /// The key of an item.
        key: SmolStr,
        /// The switch.
        off: SmolStr,
    },
    /// The whole, by a key of its own; the switch turns all of them off.
    Keyed {
        /// The key.
        key: SmolStr,
        /// The switch.
        off: SmolStr,
    },
}

impl Apart {
    /// The parts of a value.
    fn parts(&self, value: &Arc<Config>) -> Vec<(Option<SmolStr>, Arc<Config>)> {
        let text = |value: &Config, key: &str| value.get(key).and_then(|name| name.as_text()).map(SmolStr::new);
        match self {
            Self::Whole => vec![(None, value.clone())],
            Self::Entries => value.entries().iter().map(|(key, value)| (Some(key.clone()), value.clone())).collect(),
            Self::Items { off, .. } | Self::Keyed { off, .. } if value.get(off).is_some_and(|off| is_set(off)) => {
                vec![(Some(off.clone()), value.clone())]
            }
            Self::Items { list, key, .. } if let Some(items) = value.get(list) => {
                items.items().iter().map(|item| (text(item, key), item.clone())).collect()
            }
            Self::Items { key, .. } | Self::Keyed { key, .. } => vec![(text(value, key), value.clone())],
        }
    }

    /// The part that turns all others off.
    fn off(&self) -> Option<&SmolStr> {
        match self {
            Self::Whole | Self::Entries => None,
            Self::Items { off, .. } | Self::Keyed { off, .. } => Some(off),
        }
    }

    /// Who of those that are in a field are in a part of it.
    fn speakers(&self, joined: &Joined, part: Option<&SmolStr>) -> Vec<usize> {
        let Self::Items { list, key, .. } = self else { return joined.origins.clone() };
        let names = |value: &Config| {
            let items = value.get(list).map_or(&[][..], |list| list.items());
            items.iter().any(|item| item.get(key).and_then(|name| name.as_text()) == part.map(SmolStr::as_str))
        };
        let mut naming: Vec<usize> =
            joined.parts.iter().filter(|said| names(&said.value)).map(|said| said.by).collect();
        naming.retain(|by| joined.origins.contains(by));
        naming.sort_unstable();
        naming.dedup();
        if naming.is_empty() { joined.origins.clone() } else { naming }
    }
}

/// A field of one scope: its name, and the part that it is from the beginning.
pub(super) type Key = (SmolStr, Option<SmolStr>);

/// What holds, given what each scope comes to by itself, the nearest first. `who` tells whether two are one policy: nobody
/// loses to himself, and whoever is in several scopes loses a field once.
pub(super) fn across<'f>(
    scopes: impl IntoIterator<Item = &'f BTreeMap<Key, Joined>>,
    apart: impl Fn(&str) -> Apart,
    who: impl Fn(usize) -> EntryId,
    omits: &[&str],
) -> Vec<Field> {
    let mut found: BTreeMap<Key, Field> = BTreeMap::new();
    let mut off: Vec<SmolStr> = Vec::new();
    for fields in scopes {
        for ((name, own_part), joined) in fields.iter().filter(|((name, _), _)| !omits.contains(&name.as_str())) {
            let rule = apart(name);
            let parts = match own_part {
                Some(part) => vec![(Some(part.clone()), joined.value.clone())],
                None => rule.parts(&joined.value),
            };
            for (place, (part, value)) in parts.into_iter().enumerate() {
                let by = rule.speakers(joined, part.as_ref());
                if part.is_some() && part.as_ref() == rule.off() {
                    off.push(name.clone());
                }
                // What was lost within the scope is told once, with the first part.
                let lost =
                    joined.over.iter().filter(|_| place == 0).filter_map(|beaten| lost_in(beaten, &who)).collect();
                match found.get_mut(&(name.clone(), part.clone())) {
                    Some(known) => hide(known, &by, &value, lost, &who),
                    None => {
                        let field = Field { name: name.clone(), part: part.clone(), value: Some(value), by, lost };
                        found.insert((name.clone(), part), field);
                    }
                }
            }
        }
    }
    for name in off {
        switch_off(&name, &apart(&name), &mut found);
    }
    found.into_values().collect()
}

/// What a switch turns off is lost to it.
fn switch_off(name: &SmolStr, apart: &Apart, found: &mut BTreeMap<Key, Field>) {
    let keys: Vec<Key> =
        found.keys().filter(|(own, part)| own == name && part.as_ref() != apart.off()).cloned().collect();
    let parts: Vec<Field> = keys.iter().filter_map(|key| found.remove(key)).collect();
    let Some(switch) = found.get_mut(&(name.clone(), apart.off().cloned())) else { return };
    let Some(to) = switch.by.first().copied() else { return };
    for Field { value, by, lost, .. } in parts {
        let losing = by.into_iter().filter(|by| !switch.by.contains(by)).zip(std::iter::repeat(value));
        let losing: Vec<Lost> =
            losing.filter_map(|(by, value)| Some(Lost { by, value: value?, to, despite: Despite::Off })).collect();
        switch.lost.extend(losing.into_iter().chain(lost));
    }
}

/// What a wider scope says to a field that is set already.
fn hide(known: &mut Field, by: &[usize], value: &Arc<Config>, lost: Vec<Lost>, who: &impl Fn(usize) -> EntryId) {
    let Some(winner) = known.by.first().copied() else { return };
    let hidden =
        by.iter().map(|loser| Lost { by: *loser, value: value.clone(), to: winner, despite: Despite::Nothing });
    let mut told: FxHashSet<EntryId> =
        known.by.iter().copied().chain(known.lost.iter().map(|lost| lost.by)).map(who).collect();
    known.lost.extend(lost.into_iter().chain(hidden).filter(|lost| told.insert(who(lost.by))));
}

/// What was lost within a scope.
fn lost_in(beaten: &Beaten, who: &impl Fn(usize) -> EntryId) -> Option<Lost> {
    let to = beaten.under.iter().copied().find(|to| who(*to) != who(beaten.by))?;
    Some(Lost { by: beaten.by, value: beaten.value.clone(), to, despite: beaten.despite })
}
