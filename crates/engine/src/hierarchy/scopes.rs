//! What holds across scopes: a nearer scope hides the same field of a wider one, part by part. Nothing is merged.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use upheld_model::Config;

use super::answer::{Contributors, Exception, Field, Lost};
use super::fields::{Beaten, Joined, is_set};
use crate::ask::EntryId;

/// Which parts of a field hide each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FieldParts {
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
    /// The field is hidden as a whole, also by another field that says the same thing in other words.
    Shared {
        /// The other field.
        name: SmolStr,
        /// The part of it that is meant.
        part: SmolStr,
    },
}

impl FieldParts {
    /// Shows the parts of a value.
    fn for_each_part(&self, value: &Arc<Config>, mut show: impl FnMut(Option<SmolStr>, &Arc<Config>)) {
        let text = |value: &Config, key: &str| value.get(key).and_then(|name| name.as_text()).map(SmolStr::new);
        match self {
            Self::Whole | Self::Shared { .. } => show(None, value),
            Self::Entries => value.entries().iter().for_each(|(key, value)| show(Some(key.clone()), value)),
            Self::Items { off, .. } | Self::Keyed { off, .. } if value.get(off).is_some_and(|off| is_set(off)) => {
                show(Some(off.clone()), value);
            }
            Self::Items { list, key, .. } if let Some(items) = value.get(list) => {
                items.items().iter().for_each(|item| show(text(item, key), item));
            }
            Self::Items { key, .. } | Self::Keyed { key, .. } => show(text(value, key), value),
        }
    }

    /// The part that turns all others off.
    fn off(&self) -> Option<&SmolStr> {
        match self {
            Self::Whole | Self::Entries | Self::Shared { .. } => None,
            Self::Items { off, .. } | Self::Keyed { off, .. } => Some(off),
        }
    }

    /// Who of those that are in a field are in a part of it.
    fn speakers(&self, joined: &Joined, part: Option<&SmolStr>) -> Contributors {
        let Self::Items { list, key, .. } = self else { return joined.origins.clone() };
        let names = |value: &Config| {
            let items = value.get(list).map_or(&[][..], |list| list.items());
            items.iter().any(|item| item.get(key).and_then(|name| name.as_text()) == part.map(SmolStr::as_str))
        };
        let mut naming: Contributors =
            joined.parts.iter().filter(|said| names(&said.value)).map(|said| said.by).collect();
        naming.retain(|by| joined.origins.contains(by));
        naming.sort_unstable();
        naming.dedup();
        if naming.is_empty() { joined.origins.clone() } else { naming }
    }
}

/// A field of one scope: its name, and the part that it is from the beginning.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) name: SmolStr,
    pub(super) part: Option<SmolStr>,
}

impl Key {
    pub(super) fn borrowed(&self) -> (&SmolStr, Option<&SmolStr>) {
        (&self.name, self.part.as_ref())
    }
}

/// What holds, given what each scope comes to by itself, the nearest first; `most` fields, if none has parts. `who` tells whether two are one policy: nobody
/// loses to himself, and whoever is in several scopes loses a field once.
pub(super) fn across<'f>(
    scopes: impl IntoIterator<Item = impl Iterator<Item = ((&'f SmolStr, Option<&'f SmolStr>), &'f Joined)>>,
    most: usize,
    apart: impl Fn(&str) -> &'f FieldParts,
    who: impl Fn(usize) -> EntryId,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<Field> {
    let mut found = Fields { sorted: Vec::with_capacity(most) };
    let mut off: Vec<SmolStr> = Vec::new();
    for fields in scopes {
        for ((name, own_part), joined) in fields.filter(|((name, _), _)| is_meant(name.as_str())) {
            let rule = apart(name);
            let mut place = 0;
            let mut add = |part: Option<SmolStr>, value: &Arc<Config>| {
                let by = rule.speakers(joined, part.as_ref());
                if part.is_some() && part.as_ref() == rule.off() {
                    off.push(name.clone());
                }
                // What was lost within the scope is reported once, with the first part.
                let lost =
                    joined.over.iter().filter(|_| place == 0).filter_map(|beaten| lost_in(beaten, &who)).collect();
                place += 1;
                let (name, part) = found.taken(rule).unwrap_or((name, part));
                match found.get_mut(name, part.as_ref()) {
                    Ok(known) => hide(known, &by, value, lost, &who),
                    Err(free) => {
                        found.insert(free, Field { name: name.clone(), part, value: Some(value.clone()), by, lost });
                    }
                }
            };
            match own_part {
                Some(part) => add(Some(part.clone()), &joined.value),
                None => rule.for_each_part(&joined.value, add),
            }
        }
    }
    for name in off {
        switch_off(&name, apart(&name), &mut found);
    }
    found.sorted
}

/// Fields by name and part.
#[derive(Debug, Default)]
struct Fields {
    sorted: Vec<Field>,
}

impl Fields {
    /// A field, or the place at which it would stand.
    fn get_mut(&mut self, name: &SmolStr, part: Option<&SmolStr>) -> Result<&mut Field, usize> {
        let key = |field: &Field| field.name.cmp(name).then_with(|| field.part.as_ref().cmp(&part));
        match self.sorted.binary_search_by(key) {
            Ok(place) => self.sorted.get_mut(place).ok_or(place),
            Err(free) => Err(free),
        }
    }

    /// The field that says the same thing, if it is there already.
    fn taken<'f>(&mut self, rule: &'f FieldParts) -> Option<(&'f SmolStr, Option<SmolStr>)> {
        let FieldParts::Shared { name, part } = rule else { return None };
        self.get_mut(name, Some(part)).is_ok().then(|| (name, Some(part.clone())))
    }

    fn insert(&mut self, free: usize, field: Field) {
        self.sorted.insert(free, field);
    }
}

/// What a switch turns off is lost to it.
fn switch_off(name: &SmolStr, apart: &FieldParts, found: &mut Fields) {
    let is_turned_off = |field: &mut Field| field.name == *name && field.part.as_ref() != apart.off();
    let parts: Vec<Field> = found.sorted.extract_if(.., is_turned_off).collect();
    let Ok(switch) = found.get_mut(name, apart.off()) else { return };
    let Some(to) = switch.by.first().copied() else { return };
    for Field { value, by, lost, .. } in parts {
        let losing = by.into_iter().filter(|by| !switch.by.contains(by)).zip(std::iter::repeat(value));
        let losing: Vec<Lost> =
            losing.filter_map(|(by, value)| Some(Lost { by, value: value?, to, exception: Exception::Off })).collect();
        switch.lost.extend(losing.into_iter().chain(lost));
    }
}

/// What a wider scope says to a field that is set already.
fn hide(known: &mut Field, by: &[usize], value: &Arc<Config>, lost: Vec<Lost>, who: &impl Fn(usize) -> EntryId) {
    let Some(winner) = known.by.first().copied() else { return };
    let hidden =
        by.iter().map(|loser| Lost { by: *loser, value: value.clone(), to: winner, exception: Exception::None });
    let mut told: FxHashSet<EntryId> =
        known.by.iter().copied().chain(known.lost.iter().map(|lost| lost.by)).map(who).collect();
    known.lost.extend(lost.into_iter().chain(hidden).filter(|lost| told.insert(who(lost.by))));
}

/// What was lost within a scope.
fn lost_in(beaten: &Beaten, who: &impl Fn(usize) -> EntryId) -> Option<Lost> {
    let to = beaten.under.iter().copied().find(|to| who(*to) != who(beaten.by))?;
    Some(Lost { by: beaten.by, value: beaten.value.clone(), to, exception: beaten.exception })
}
