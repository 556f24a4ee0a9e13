//! Layers patched one over the other, as RFC 7396 has it, with the exceptions that strategies know.

use std::collections::BTreeMap;

/// A value of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NaiveValue {
    /// A wish to remove, or nothing.
    Null,
    /// Text or number.
    Text(String),
    /// Items in order.
    List(Vec<NaiveValue>),
    /// Fields.
    Map(BTreeMap<String, NaiveValue>),
}

/// How layers meet.
#[derive(Clone, Debug, Default)]
pub struct NaivePatch {
    /// A null says nothing, instead of removing.
    pub ignores_nulls: bool,
    /// Lists under keys with this beginning add up.
    pub append: Option<String>,
    /// A field with a list whose items meet by a key.
    pub keyed: Option<NaiveKeyed>,
}

/// A list whose items meet by a key.
#[derive(Clone, Debug)]
pub struct NaiveKeyed {
    /// The field that holds the list.
    pub field: String,
    /// The field of an item by which two are the same.
    pub key: String,
    /// The field of an item whose values meet.
    pub payload: String,
    /// Items of better layers come first, and the earlier item of a layer is the better one.
    pub best_first: bool,
}

/// What layers come to, given from the worst to the best.
pub fn merged<'v>(worst_first: impl Iterator<Item = &'v NaiveValue>, how: &NaivePatch) -> Option<NaiveValue> {
    worst_first.fold(None, |target, patch| patched(target, patch, how))
}

/// RFC 7396: `patch` over `target`; nothing if that removes it.
fn patched(target: Option<NaiveValue>, patch: &NaiveValue, how: &NaivePatch) -> Option<NaiveValue> {
    match patch {
        NaiveValue::Null if how.ignores_nulls => target,
        NaiveValue::Null => None,
        NaiveValue::Text(_) | NaiveValue::List(_) => Some(patch.clone()),
        NaiveValue::Map(fields) => {
            let mut result = if let Some(NaiveValue::Map(target)) = target { target } else { BTreeMap::new() };
            for (key, value) in fields {
                let old = result.remove(key);
                result.extend(field(key, old, value, how).map(|new| (key.clone(), new)));
            }
            Some(NaiveValue::Map(result))
        }
    }
}

fn field(key: &str, old: Option<NaiveValue>, patch: &NaiveValue, how: &NaivePatch) -> Option<NaiveValue> {
    let appends = how.append.as_ref().is_some_and(|beginning| key.starts_with(beginning));
    let keyed = how.keyed.as_ref().filter(|keyed| keyed.field == key);
    match (old, patch) {
        // Nulls remove no list that others add to.
        (Some(NaiveValue::List(items)), NaiveValue::Null) if appends || keyed.is_some() => {
            Some(NaiveValue::List(items))
        }
        (old, NaiveValue::List(new)) if appends || keyed.is_some() => {
            let old = if let Some(NaiveValue::List(items)) = old { items } else { Vec::new() };
            Some(NaiveValue::List(match keyed.filter(|_| !appends) {
                Some(keyed) => by_key(old, new, keyed, how),
                None => old.into_iter().chain(new.iter().cloned()).collect(),
            }))
        }
        (old, patch) => patched(old, patch, how),
    }
}

/// Each new item takes the place of the old one with its key, payload over payload, and goes to the better end.
fn by_key(old: Vec<NaiveValue>, new: &[NaiveValue], keyed: &NaiveKeyed, how: &NaivePatch) -> Vec<NaiveValue> {
    let mut worst_first = old;
    let mut better = new.to_vec();
    if keyed.best_first {
        worst_first.reverse();
        better.reverse();
    }
    for item in better {
        let NaiveValue::Map(mut fields) = item else {
            worst_first.push(item);
            continue;
        };
        let same = |old: &NaiveValue| {
            let NaiveValue::Map(old) = old else { return false };
            old.get(&keyed.key) == fields.get(&keyed.key)
        };
        let place = worst_first.iter().position(same);
        let old = place.map(|place| worst_first.remove(place));
        let below = if let Some(NaiveValue::Map(mut old)) = old { old.remove(&keyed.payload) } else { None };
        let payload = match fields.remove(&keyed.payload) {
            Some(own) => patched(below, &own, how),
            None => below,
        };
        fields.extend(payload.map(|payload| (keyed.payload.clone(), payload)));
        worst_first.push(NaiveValue::Map(fields));
    }
    if keyed.best_first {
        worst_first.reverse();
    }
    worst_first
}
